// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_MEASURE_MESSAGE_PIPE_H_
#define WORKERS_MEASURE_MESSAGE_PIPE_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/protobuf/message_lite.h"

namespace tritond::workers {

// One end of a stream socket over which two processes of one machine exchange messages. Owns the descriptor. One thread
// at a time.
class MessagePipe final {
 public:
  explicit MessagePipe(int descriptor) : descriptor_(descriptor) {}
  MessagePipe(const MessagePipe&) = delete;
  MessagePipe& operator=(const MessagePipe&) = delete;
  ~MessagePipe();

  // Unavailable: the other end is gone. DeadlineExceeded: it did not take, or say, everything in time; the pipe is of
  // no use any more. DataLoss: what came is no such message. InvalidArgument: the message is too long (2 GiB).
  absl::Status Send(const google::protobuf::MessageLite& message, absl::Duration within);
  absl::Status Receive(google::protobuf::MessageLite* message, absl::Duration within);

 private:
  absl::Status Move(char* bytes, size_t size, bool out, absl::Time until);

  const int descriptor_;
};

}  // namespace tritond::workers

#endif  // WORKERS_MEASURE_MESSAGE_PIPE_H_
