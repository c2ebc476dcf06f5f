// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_SCHEDULER_JOB_QUEUE_H_
#define SERVER_SCHEDULER_JOB_QUEUE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// The order in which waiting jobs are served: by class, then the tenant that was served longest ago, then first come
// first served. The length and age of a backlog do not count. Nothing starves: a class whose oldest job has waited for
// `patience` gets one of every 8 starts of the workers that are fit for it. Two such classes share it. A tenant that
// comes anew goes before those that have been served within 64 starts, and after those that have waited longer. A job
// for which several tenants wait stands in the line of each, and begins when the first one's turn comes. Jobs with
// different requirements do not stand in each other's way. Not thread-safe.
//
// Each call takes time in the logarithm of the jobs, and linear in the different requirements and in the tenants that
// wait for the job.
class JobQueue final {
 public:
  struct Entry {
    uint64_t id = 0;  // also the order of arrival
    Requirement needs;
    JobClass job_class = JobClass::kInteractive;
    std::string tenant;  // whose it is, and who it counts for
    absl::Time enqueued;
    bool offerable = false;        // other daemons may have it
    std::set<std::string> joined;  // other tenants that wait for it
  };

  explicit JobQueue(absl::Duration patience);

  // An entry that comes back with its old id stands where it stood.
  void Push(const Entry& entry);
  // Takes out the next entry whose needs `can_run` accepts; nothing when there is none.
  std::optional<uint64_t> Pop(const std::function<bool(const Requirement&)>& can_run, absl::Time now);
  // False when it is not in the queue.
  bool Remove(uint64_t id);
  // The entry has begun elsewhere: takes it out, and its tenant and class have had their turn. False when it is not in
  // the queue.
  bool Serve(uint64_t id);
  // Another tenant waits for this entry too, or waits no longer; nothing when it is not in the queue.
  void Join(uint64_t id, const std::string& tenant);
  void Quit(uint64_t id, const std::string& tenant);

  size_t size() const { return entries_.size(); }
  size_t CountOf(JobClass job_class) const { return counts_[static_cast<int>(job_class)]; }
  size_t CountOf(const std::string& tenant) const;
  // How many each tenant has, those that have any.
  const std::map<std::string, size_t>& tenants() const { return tenant_counts_; }
  // When the entry of this class that has waited longest came; InfiniteFuture when there is none.
  absl::Time OldestOf(JobClass job_class) const;
  // The different needs of the waiting entries.
  std::vector<Requirement> Needs() const;
  // Those of entries that are offerable.
  std::vector<Requirement> OfferableNeeds() const;
  // The entries with these needs that would be served next, in that order, if one worker after the other took one.
  // There are up to `count` of those that are offerable, came by `before` and that `pick` accepts.
  std::vector<uint64_t> Next(const Requirement& needs, size_t count, absl::Time before, absl::Time now,
                             const std::function<bool(uint64_t id)>& pick) const;
  // The entry is not offerable, after all.
  void Withhold(uint64_t id);
  std::vector<uint64_t> IdsWith(const Requirement& needs) const;

 private:
  using Flow = std::pair<JobClass, std::string>;             // class and tenant
  using Rank = std::tuple<uint64_t, uint64_t, std::string>;  // a flow's turn, its first job, its tenant
  // The jobs of one class with the same needs.
  struct Line {
    std::map<std::string, std::set<uint64_t>> tenants;    // the jobs that they wait for
    std::map<std::string, std::set<uint64_t>> offerable;  // of these
    std::set<Rank> ranks;                                 // of its tenants
    std::set<uint64_t> ids;
    uint64_t passed_over = 0;  // starts of a more urgent class since its own last one, by workers fit for it
  };
  using Lane = std::array<Line, kJobClasses>;
  // What a worker may choose from in one class.
  struct Choice {
    std::optional<Rank> best;  // nullopt: nothing
    std::optional<uint64_t> oldest;
    uint64_t passed_over = 0;  // the most
  };
  using Choices = std::array<Choice, kJobClasses>;

  // The class that is served: the most urgent one, or one that has been passed over for too long.
  int ChooseClass(const Choices& choices, absl::Time now) const;
  // The class of these lines has been served, by a worker that might have served any of them.
  static void MarkClassServed(const std::vector<Lane*>& lanes, int served);
  // The flow's place among those of its class: of its last start, if that is not long ago.
  uint64_t TurnOf(const Flow& flow);
  void MarkServed(const Flow& flow);
  // Forgets the turn of a flow without jobs, unless it tells more than that of a newcomer.
  void ForgetTurn(const Flow& flow);
  bool IsWaiting(const Flow& flow) const;
  Line& LineOf(const Entry& entry);
  // The job's place in a tenant's line.
  void AddTo(Line& line, const Flow& flow, uint64_t id);
  void TakeFrom(Line& line, const Flow& flow, uint64_t id);
  static void TakeOffer(Line& line, const std::string& tenant, uint64_t id);

  const absl::Duration patience_;
  std::map<Requirement, Lane> lanes_;
  std::map<uint64_t, Entry> entries_;
  std::map<Flow, uint64_t> turns_;  // of flows that have jobs or were served lately
  uint64_t starts_;
  std::deque<Flow> served_;  // by the latest starts
  std::array<size_t, kJobClasses> counts_{};
  std::map<std::string, size_t> tenant_counts_;
};

}  // namespace tritond::server

#endif  // SERVER_SCHEDULER_JOB_QUEUE_H_
