// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_SCHEDULER_JOB_QUEUE_H_
#define SERVER_SCHEDULER_JOB_QUEUE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// The order in which waiting jobs are served: by class, then the tenant that was served longest ago, then first come
// first served. A job moves up one class for each `age_step` that it has waited, without end, so nothing starves.
// Jobs with different requirements do not stand in each other's way. Not thread-safe.
class JobQueue final {
 public:
  struct Entry {
    uint64_t id = 0;  // also the order of arrival
    Requirement needs;
    JobClass job_class = JobClass::kInteractive;
    std::string tenant;
    absl::Time enqueued;
  };

  explicit JobQueue(absl::Duration age_step) : age_step_(age_step) {}

  // An entry that comes back with its old id stands where it stood.
  void Push(const Entry& entry);
  // Takes out the next entry whose needs `can_run` accepts; nothing when there is none.
  std::optional<uint64_t> Pop(const std::function<bool(const Requirement&)>& can_run, absl::Time now);
  // False when it is not in the queue.
  bool Remove(uint64_t id);

  size_t size() const { return entries_.size(); }
  size_t CountOf(JobClass job_class) const { return counts_[static_cast<int>(job_class)]; }
  size_t CountOf(const std::string& tenant) const;
  // How many each tenant has, those that have any.
  const std::map<std::string, size_t>& tenants() const { return tenant_counts_; }
  // When the entry of this class that has waited longest came; InfiniteFuture when there is none.
  absl::Time OldestOf(JobClass job_class) const;
  // The different needs of the waiting entries.
  std::vector<Requirement> Needs() const;
  // The entries that came first.
  std::vector<uint64_t> Oldest(size_t limit) const;
  std::vector<uint64_t> IdsWith(const Requirement& needs) const;

 private:
  using Flow = std::pair<JobClass, std::string>;  // class and tenant
  using Lane = std::map<Flow, std::map<uint64_t, Entry>>;

  void MarkServed(const Flow& flow);

  const absl::Duration age_step_;
  std::map<Requirement, Lane> lanes_;
  std::map<uint64_t, std::pair<Requirement, Flow>> entries_;
  std::map<Flow, uint64_t> last_served_;
  uint64_t serves_ = 0;
  std::array<size_t, kJobClasses> counts_{};
  std::map<std::string, size_t> tenant_counts_;
};

}  // namespace tritond::server

#endif  // SERVER_SCHEDULER_JOB_QUEUE_H_
