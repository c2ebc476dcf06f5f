// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_ADMISSION_TARGET_CATALOG_H_
#define SERVER_ADMISSION_TARGET_CATALOG_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tritond::server {

struct KnownTarget {
  std::string name;
  std::string build_id;
  std::string binary_format;
  bool binary_available = false;
  std::string why_not;
  bool attached = false;  // false: remembered from before

  friend bool operator==(const KnownTarget& a, const KnownTarget& b) {
    return a.name == b.name && a.build_id == b.build_id && a.binary_format == b.binary_format &&
           a.binary_available == b.binary_available && a.why_not == b.why_not && a.attached == b.attached;
  }
};

// Which targets workers offer, and with which compiler build. Remembers what was offered before a restart, so that keys
// can be computed, and hits served, before any worker is back. Thread-safe; callbacks run without the lock.
class TargetCatalog final {
 public:
  struct Config {
    int expected_workers = 0;                         // local ones, which will surely come
    absl::Duration start_grace = absl::Seconds(15);   // until then an unknown target may still be offered
    absl::Duration return_grace = absl::Seconds(30);  // how long to wait for the return of a target's last worker
  };
  enum class Arrival {
    kAttached,  // a worker offers the target
    kUnknown,   // none does or did, and those that were expected are here
    kNoWorker,  // one did, but it has not come back
    kDeadline,
  };
  using WaiterId = uint64_t;

  TargetCatalog(Config config, std::function<absl::Time()> clock);

  // A worker offers `targets` with the compiler `build_id`. Of several builds for a target, the one that can make
  // binaries counts, then the one attached last.
  void WorkerAttached(const std::string& worker, const std::string& build_id, const std::vector<KnownTarget>& targets);
  void WorkerGone(const std::string& worker);

  std::optional<KnownTarget> Find(absl::string_view target) const;
  // Sorted by name.
  std::vector<KnownTarget> List() const;

  // Calls back once when the target is attached or will not be; at once when that is known already.
  WaiterId WhenAttached(const std::string& target, absl::Time deadline, std::function<void(Arrival)> callback);
  // False when the callback has been called or is being called.
  bool Leave(WaiterId waiter);
  void Tick();
  // Nobody is waited for any more: those who wait, and will, are told kNoWorker unless a worker is attached.
  void StopWaiting();

  // What is remembered, as JSON text. Restore: InvalidArgument when the text is not of that form; nothing changes then.
  std::string Remembered() const;
  absl::Status Restore(const std::string& text);

 private:
  struct Offer {
    std::string worker;
    uint64_t order;
    KnownTarget target;
  };
  struct Waiter {
    std::string target;
    absl::Time since, deadline;
    std::function<void(Arrival)> callback;
  };
  using Calls = std::vector<std::function<void()>>;

  const KnownTarget* BestLocked(const std::string& target) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::optional<Arrival> ArrivalLocked(const Waiter& waiter) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void AnswerLocked(Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Config config_;
  const std::function<absl::Time()> clock_;
  const absl::Time started_;

  mutable absl::Mutex mu_;
  uint64_t next_id_ ABSL_GUARDED_BY(mu_) = 1;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  int workers_seen_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<std::string, std::vector<Offer>> offers_ ABSL_GUARDED_BY(mu_);  // by target
  std::map<std::string, KnownTarget, std::less<>> known_ ABSL_GUARDED_BY(mu_);
  std::map<WaiterId, Waiter> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_ADMISSION_TARGET_CATALOG_H_
