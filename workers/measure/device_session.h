// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_MEASURE_DEVICE_SESSION_H_
#define WORKERS_MEASURE_DEVICE_SESSION_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/v1/worker.pb.h"
#include "workers/measure/message_pipe.h"

namespace tritond::workers {

// One device, through a process of its own in which its kernels run (kernel_process.h). A kernel that crashes, hangs or
// breaks the device's context costs that process; the next command starts another. One thread at a time.
class DeviceSession final {
 public:
  struct Options {
    // The program of that process with its first arguments. It gets the device's name and the number of its descriptor
    // as further ones.
    std::vector<std::string> command;
    absl::Duration open_limit = absl::Seconds(60);
  };

  DeviceSession(Options options, std::string device) : options_(std::move(options)), device_(std::move(device)) {}
  ~DeviceSession() { End(); }

  const std::string& device() const { return device_; }
  bool is_open() const { return pipe_ != nullptr; }

  // Starts the process, unless it runs; what the device says of itself. Fails as the device's opening does, or with
  // Internal when the process does not start.
  absl::StatusOr<v1::Hello::Device> Open();
  // While open. The reply, which may hold an error of its own. Aborted: the process ended; the message says how.
  // DeadlineExceeded: it gave no answer in time. After both, and after End, the session is not open.
  absl::StatusOr<v1::DeviceReply> Ask(const v1::DeviceCommand& command, absl::Duration within);
  // Ends the process at once.
  void End();

 private:
  absl::Status Start();
  // Ends the process and says how it ended, if by itself.
  std::string Bury();

  const Options options_;
  const std::string device_;
  pid_t pid_ = -1;
  std::unique_ptr<MessagePipe> pipe_;
  v1::Hello::Device description_;
};

}  // namespace tritond::workers

#endif  // WORKERS_MEASURE_DEVICE_SESSION_H_
