// SPDX-License-Identifier: Apache-2.0
// Where requests' texts are read: parsed, made canonical, hashed and looked up. That takes time linear in the text, so
// tens of MiB would keep gRPC's few threads from the hits of others.
#ifndef SERVER_COMPILE_TEXT_POOL_H_
#define SERVER_COMPILE_TEXT_POOL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/admission/turn_queue.h"

namespace tritond::server {

// Threads that read texts. Callers take turns by bytes (TurnQueue). Small texts have threads of their own, so none
// waits longer than another small one takes. All of them give way to everything else on the machine.
// Thread-safe.
class TextPool final {
 public:
  // Smaller texts are read on the calling thread, which takes about 0.3 ms.
  static constexpr uint64_t kInlineBytes = uint64_t{64} << 10;
  static constexpr uint64_t kSmallBytes = uint64_t{1} << 20;

  struct Config {
    int threads = 1;             // for small texts, and as many for large ones
    uint64_t waiting_bytes = 0;  // most of those that TryRun took; 0: no limit
  };
  // Called once on a thread of the pool: with Ok when it is to read its text, else with why not.
  using Task = std::function<void(const absl::Status& status)>;
  using Ticket = uint64_t;

  explicit TextPool(const Config& config);
  ~TextPool();

  // Reads a text whose bytes are accounted for elsewhere. `caller` is whose turn it is.
  Ticket Run(const std::string& caller, uint64_t bytes, Task task);
  // The same for a text that nobody accounts for: nothing when too much waits, of all or of this caller, who may have
  // half. What comes while its caller has nothing waiting is only refused for the total.
  std::optional<Ticket> TryRun(const std::string& caller, uint64_t bytes, Task task);
  // Takes the task back: true when it is never called.
  bool Drop(Ticket ticket);

  // Calls what waits with Unavailable (DRAINING), on this thread; from now on tasks are called so.
  void Refuse();
  // Ends when those that run have ended; what waits is dropped. Idempotent; not from a task.
  void Stop();

  // Texts that wait, and the bytes of those that TryRun took.
  size_t waiting() const;
  uint64_t waiting_bytes() const;

 private:
  struct Waiting {
    Task task;
    std::string caller;
    uint64_t counted_bytes = 0;
    bool small = false;
  };

  Ticket Enqueue(const std::string& caller, uint64_t bytes, uint64_t counted_bytes, Task task)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes it off the account.
  Waiting TakeLocked(Ticket ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Loop(TurnQueue TextPool::*turns);

  const Config config_;
  mutable absl::Mutex mu_;
  TurnQueue small_ ABSL_GUARDED_BY(mu_);
  TurnQueue large_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<Ticket, Waiting> waiting_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, uint64_t> bytes_of_ ABSL_GUARDED_BY(mu_);  // callers, counted
  uint64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;                                   // counted
  Ticket next_ ABSL_GUARDED_BY(mu_) = 1;
  absl::Status refusal_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

// One caller's place among the texts that wait, which it may leave at any time. Thread-safe.
class TextTurn final {
 public:
  explicit TextTurn(TextPool& pool) : pool_(pool) {}

  // The place that the pool has given, once. True when the caller left before: then the task is never called.
  bool Hold(TextPool::Ticket ticket) {
    absl::MutexLock lock(&mu_);
    ticket_ = ticket;
    return left_ && pool_.Drop(ticket_);
  }
  // The caller goes. True when the task is never called, to one caller of this or Hold.
  bool Leave() {
    absl::MutexLock lock(&mu_);
    left_ = true;
    return ticket_ != 0 && pool_.Drop(ticket_);
  }
  bool left() const {
    absl::MutexLock lock(&mu_);
    return left_;
  }

 private:
  TextPool& pool_;
  mutable absl::Mutex mu_;
  TextPool::Ticket ticket_ ABSL_GUARDED_BY(mu_) = 0;
  bool left_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace tritond::server

#endif  // SERVER_COMPILE_TEXT_POOL_H_
