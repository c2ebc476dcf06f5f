// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_RUNNER_HANDOVER_H_
#define WORKERS_RUNNER_HANDOVER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tritond::workers {

// What a worker process leaves to its supervisor, however it dies, and what that hands on to the next one. It is the
// lease that the process had in hand. Made before the fork, in memory that both sides share. Each side's methods are
// for one process; the worker's are thread-safe.
class Handover final {
 public:
  // How a process ended that had a lease in hand.
  struct End {
    uint64_t lease = 0;
    int signal = 0;  // 0: none
    int exit_status = 0;
  };

  // Null when there is no memory to share.
  static std::unique_ptr<Handover> Create();
  ~Handover();

  // The worker's. It works under this lease from now on; 0: under none, and its end is nobody's fault.
  void Hold(uint64_t lease) { shared_->lease = lease; }
  // The worker's. A daemon knows what last() says.
  void MarkTold() { shared_->told = true; }

  // The supervisor's: the process has ended with this wait status, and another one may be forked.
  void Settle(int wait_status);

  // Of the latest process that died with a lease in hand, until a daemon has been told.
  const std::optional<End>& last() const { return last_; }
  // 32 hex digits that nobody else can guess.
  const std::string& supervisor() const { return supervisor_; }

 private:
  struct Shared {
    std::atomic<uint64_t> lease{0};
    std::atomic<bool> told{false};
  };
  static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

  Handover(Shared* shared, std::string supervisor) : shared_(shared), supervisor_(std::move(supervisor)) {}

  Shared* const shared_;
  const std::string supervisor_;
  std::optional<End> last_;
};

}  // namespace tritond::workers

#endif  // WORKERS_RUNNER_HANDOVER_H_
