// SPDX-License-Identifier: Apache-2.0
#include "workers/measure/message_pipe.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "timing/steady/steady_time.h"

namespace tritond::workers {

MessagePipe::~MessagePipe() { close(descriptor_); }

absl::Status MessagePipe::Move(char* bytes, size_t size, bool out, absl::Time until) {
  for (size_t done = 0; done < size;) {
    pollfd ready{descriptor_, static_cast<short>(out ? POLLOUT : POLLIN), 0};
    const absl::Duration left = std::max(until - timing::SteadyNow(), absl::ZeroDuration());
    const int wait_ms =
        left == absl::InfiniteDuration() ? -1 : static_cast<int>(absl::ToInt64Milliseconds(left) + (done > 0 ? 1 : 0));
    const int polled = poll(&ready, 1, wait_ms);
    if (polled < 0 && errno == EINTR) continue;
    if (polled == 0) return absl::DeadlineExceededError("no answer in time");
    const ssize_t moved = out ? send(descriptor_, bytes + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT)
                              : recv(descriptor_, bytes + done, size - done, MSG_DONTWAIT);
    if (moved < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (moved <= 0) return absl::UnavailableError("the process has ended");
    done += static_cast<size_t>(moved);
  }
  return absl::OkStatus();
}

absl::Status MessagePipe::Send(const google::protobuf::MessageLite& message, absl::Duration within) {
  const size_t size = message.ByteSizeLong();
  if (size > INT_MAX) return absl::InvalidArgumentError(absl::StrCat("a message of ", size, " bytes is too long"));
  const auto length = static_cast<uint32_t>(size);
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  message.AppendToString(&bytes);
  return Move(bytes.data(), bytes.size(), /*out=*/true, timing::SteadyNow() + within);
}

absl::Status MessagePipe::Receive(google::protobuf::MessageLite* message, absl::Duration within) {
  const absl::Time until = timing::SteadyNow() + within;
  uint32_t length = 0;
  absl::Status status = Move(reinterpret_cast<char*>(&length), sizeof(length), /*out=*/false, until);
  if (!status.ok()) return status;
  if (length > INT_MAX) return absl::DataLossError("the other process sent no message");
  std::string bytes(length, '\0');
  status = Move(bytes.data(), bytes.size(), /*out=*/false, until);
  if (!status.ok()) return status;
  return message->ParseFromString(bytes) ? absl::OkStatus() : absl::DataLossError("the other process sent no message");
}

}  // namespace tritond::workers
