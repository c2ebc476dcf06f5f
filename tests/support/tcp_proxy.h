// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_TCP_PROXY_H_
#define TESTS_SUPPORT_TCP_PROXY_H_

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tritond::tests {

// Passes TCP connections on to a port of this machine. It can be told to misbehave as a network does. It then carries
// nothing more without closing anything, as with a cut cable or a lost peer. Thread-safe.
class TcpProxy final {
 public:
  explicit TcpProxy(int target_port);
  ~TcpProxy();

  int port() const { return port_; }
  // Carries nothing, in either direction and on new connections too, until Resume.
  void Stall() { to_target_ = to_caller_ = false; }
  // Carries nothing to who dialled: a caller that does not read.
  void StallToCaller() { to_caller_ = false; }
  // Carries so many bytes of each connection from who dialled, and then none: half a message. 0: all of them.
  void LimitToTarget(size_t bytes) { most_to_target_ = bytes; }
  void Resume() { to_target_ = to_caller_ = true; }
  // Carries everything to who dialled so much later: a round trip takes as long, the transfers of one connection after
  // each other.
  void DelayToCaller(absl::Duration delay) { delay_ms_ = static_cast<int>(absl::ToInt64Milliseconds(delay)); }

 private:
  void Accept();
  void Carry(int from, int to, const std::atomic<bool>& open, const std::atomic<size_t>& most,
             const std::atomic<int>& delay_ms);

  const int target_port_;
  int port_ = 0;
  int listener_ = -1;
  std::atomic<bool> to_target_{true}, to_caller_{true}, stopping_{false};
  std::atomic<size_t> most_to_target_{0}, no_limit_{0};
  std::atomic<int> delay_ms_{0}, no_delay_{0};
  absl::Mutex mu_;
  std::vector<int> fds_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mu_);
  std::thread accepter_;
};

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_TCP_PROXY_H_
