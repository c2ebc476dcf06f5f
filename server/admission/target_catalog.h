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
#include "server/admission/option_rule.h"
#include "server/admission/worker_wait.h"

namespace tritond::server {

struct KnownTarget {
  std::string name;
  std::string build_id;
  std::string binary_format;
  bool binary_available = false;
  std::string why_not;    // a sentence; after a semicolon, where the worker has looked
  bool attached = false;  // false: remembered from before
  std::vector<OptionRule> options = {};
  bool disassembly_available = false;

  absl::string_view WhyNotInOneSentence() const { return absl::string_view(why_not).substr(0, why_not.find(';')); }

  friend bool operator==(const KnownTarget& a, const KnownTarget& b) {
    return a.name == b.name && a.build_id == b.build_id && a.binary_format == b.binary_format &&
           a.binary_available == b.binary_available && a.why_not == b.why_not && a.attached == b.attached &&
           a.options == b.options && a.disassembly_available == b.disassembly_available;
  }
};

// Which targets workers offer, and with which compiler build. Remembers what was offered before a restart, so that keys
// can be computed, and hits served, before any worker is back. Thread-safe; callbacks run without the lock.
//
// Every key holds a build, so one of several builds for a target is active. It is the first, as long as a worker of it
// is attached. When its last one has been gone for `build_grace`, another build takes over, and stays in turn. It is
// that of the daemon's own workers, or else the one that most have. So a worker that comes or restarts changes no key.
// Two things come first: a build that can make binaries beats one that cannot, at once. And the build of the daemon's
// own workers beats one that is only remembered from before a restart, as both were upgraded then.
class TargetCatalog final : public WorkerWait {
 public:
  struct Config {
    int expected_workers = 0;                        // local ones, which will surely come
    absl::Duration start_grace = absl::Seconds(15);  // until then an unknown target may still be offered
    absl::Duration worker_wait = absl::Seconds(30);  // how long callers wait for a worker of their target
    absl::Duration build_grace = absl::Seconds(10);  // the same, while workers of another build are here
    // Most targets without a worker that are remembered; those whose worker left first are forgotten. A worker that
    // comes back with other names each time must not fill memory.
    size_t most_remembered = 1024;
  };
  // How a target stands, for those who watch.
  struct Standing {
    std::string target;  // "": all that are not known
    bool ready = false;
    size_t waiting = 0;                 // calls that wait for a worker
    size_t workers = 0, of_others = 0;  // attached: of the active build, and of other builds, which idle
  };

  // `switched` gets a line for the operator when another build takes a target over.
  TargetCatalog(Config config, std::function<absl::Time()> clock,
                std::function<void(const std::string&)> switched = nullptr);

  // A worker, one of the daemon's own if `local`, offers `targets` with the compiler `build_id`.
  void WorkerAttached(const std::string& worker, const std::string& build_id, const std::vector<KnownTarget>& targets,
                      bool local = false);
  void WorkerGone(const std::string& worker);

  std::optional<KnownTarget> Find(absl::string_view target) const;
  // Whether a worker of the target is attached, or may be soon. Its last one has just gone, it was offered before a
  // restart, or the first workers of this run are still to come.
  bool IsAwaited(absl::string_view target) const;
  // Sorted by name.
  std::vector<KnownTarget> List() const;
  // The same order; what is not known comes first, and only while somebody waits for it.
  std::vector<Standing> Standings() const;

  // WorkerWait.
  WaiterId WhenAttached(const std::string& target, absl::Time deadline, std::function<void(Arrival)> callback) override;
  bool Leave(WaiterId waiter) override;
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
    bool local;
    KnownTarget target;
  };
  struct Waiter {
    std::string target;
    absl::Time since, deadline;
    std::function<void(Arrival)> callback;
  };
  // A target with its active build.
  struct Force {
    KnownTarget target;
    // When it last had a worker that could do as much as `target` says. InfiniteFuture while it has one, InfinitePast
    // if it had none since the start.
    absl::Time fit = absl::InfinitePast();
  };
  using Calls = std::vector<std::function<void()>>;

  // The best offer of this build, or of all others; null when there is none.
  const Offer* BestLocked(const std::string& target, const std::string& build_id, bool others) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool SettledLocked(absl::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether the active build, which lacks what it had, gives way to this offer.
  bool GivesWayLocked(const Force& force, const Offer& rival, absl::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Decides which build of the target is active.
  void DecideLocked(const std::string& target, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SwitchLocked(Force& force, const KnownTarget& to, Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Forgets what is more than `most_remembered`.
  void ForgetLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::optional<Arrival> ArrivalLocked(const Waiter& waiter) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void AnswerLocked(Calls* calls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Config config_;
  const std::function<absl::Time()> clock_;
  const std::function<void(const std::string&)> switched_;
  const absl::Time started_;

  mutable absl::Mutex mu_;
  uint64_t next_id_ ABSL_GUARDED_BY(mu_) = 1;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  int workers_seen_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<std::string, std::vector<Offer>> offers_ ABSL_GUARDED_BY(mu_);  // by target
  std::map<std::string, Force, std::less<>> known_ ABSL_GUARDED_BY(mu_);
  std::map<WaiterId, Waiter> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_ADMISSION_TARGET_CATALOG_H_
