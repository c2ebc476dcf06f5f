// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_DESCRIPTOR_H_
#define SERVER_APP_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace tritond::server {

// A file descriptor that closes itself unless it is given away. Movable; below zero: none.
class Descriptor final {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace tritond::server

#endif  // SERVER_APP_DESCRIPTOR_H_
