// SPDX-License-Identifier: Apache-2.0
#include "tests/load/simulated_cluster.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cc/rendezvous.h"
#include "server/cluster/single_flight.h"
#include "server/cluster/work_sharing.h"
#include "server/scheduler/scheduler.h"
#include "tests/support/fake_cluster.h"

namespace tritond::tests {
namespace {

using server::Outcome;

constexpr absl::Duration kLimit = absl::Hours(1);
constexpr absl::Duration kAskAgain = absl::Milliseconds(500);
constexpr char kTarget[] = "cuda:90";
constexpr int kBuilds = 2;  // of the compiler: before and after an upgrade

std::string BuildId(int build) { return absl::StrCat("build-", build); }

// Counts what happens at one time, and the most within a second.
class Meter final {
 public:
  explicit Meter(const FakeTime& time) : time_(time) {}
  void Count(int operations = 1) {
    const int64_t second = absl::ToUnixSeconds(time_.Now());
    if (second != second_) now_ = 0;
    second_ = second;
    now_ += operations;
    total_ += operations;
    peak_ = std::max(peak_, now_);
  }
  void Restart() { now_ = total_ = peak_ = 0; }
  uint64_t total() const { return total_; }
  uint64_t peak() const { return peak_; }

 private:
  const FakeTime& time_;
  int64_t second_ = 0;
  uint64_t now_ = 0, total_ = 0, peak_ = 0;
};

// The engine's leases and values: each call is counted, and fails while its key's shard is lost.
class ShardedLeases final : public cache::KeyLeaseTable {
 public:
  ShardedLeases(FakeTime& time, int shards) : shards_(shards), table_(time), meter(time) {}

  absl::StatusOr<Answer> Ask(const cache::Digest& key, const std::string& owner, absl::Duration lifetime,
                             const Wish& wish) override {
    if (!Reaches(key)) return Lost();
    return table_.Ask(key, owner, lifetime, wish);
  }
  absl::StatusOr<Renewal> Renew(const cache::KeyLease& lease, absl::Duration lifetime) override {
    if (!Reaches(lease.key)) return Lost();
    return table_.Renew(lease, lifetime);
  }
  absl::Status Unfollow(const cache::Digest& key) override { return Reaches(key) ? table_.Unfollow(key) : Lost(); }
  absl::Status Release(const cache::KeyLease& lease) override {
    return Reaches(lease.key) ? table_.Release(lease) : Lost();
  }
  absl::StatusOr<bool> Publish(const cache::KeyLease& lease, cache::Blob value) override {
    if (!Reaches(lease.key)) return Lost();
    meter.Count();  // The artifact goes before its result.
    return table_.Publish(lease, std::move(value));
  }
  absl::StatusOr<bool> PublishError(const cache::KeyLease& lease, const std::string& error,
                                    absl::Duration lifetime) override {
    if (!Reaches(lease.key)) return Lost();
    return table_.PublishError(lease, error, lifetime);
  }
  absl::Status Tell(const cache::Digest& key, const std::string& owner, const std::string& error,
                    absl::Duration lifetime) override {
    return Reaches(key) ? table_.Tell(key, owner, error, lifetime) : Lost();
  }
  absl::Status ForgetError(const cache::Digest& key) override {
    return Reaches(key) ? table_.ForgetError(key) : Lost();
  }
  // Reads the result and its artifact; false when they cannot be had.
  bool Fetch(const cache::Digest& key) {
    meter.Count();
    return Reaches(key) && !table_.ValueOf(key).empty();
  }
  void SetLost(bool lost) { lost_ = lost; }

 private:
  bool Reaches(const cache::Digest& key) {
    meter.Count();
    return !lost_ || key.bytes()[0] % shards_ != 0;
  }
  static absl::Status Lost() { return absl::UnavailableError("the shard is lost"); }

  const int shards_;
  bool lost_ = false;
  FakeLeases table_;

 public:
  Meter meter;
};

class MeteredStreams final : public cache::JobStream {
 public:
  explicit MeteredStreams(FakeTime& time) : streams_(time), meter(time) {}
  absl::StatusOr<std::string> Add(const cache::StreamEntry& entry) override {
    meter.Count();
    return streams_.Add(entry);
  }
  absl::Status Remove(const cache::StreamName& stream, const std::string& id) override {
    meter.Count();
    return streams_.Remove(stream, id);
  }
  absl::StatusOr<std::vector<cache::StreamEntry>> Take(absl::Span<const cache::StreamName> streams,
                                                       const std::string& taker, int count) override {
    meter.Count();
    return streams_.Take(streams, taker, count);
  }
  absl::StatusOr<std::vector<cache::StreamEntry>> TakeOver(const cache::StreamName& stream, const std::string& taker,
                                                           absl::Duration idle, int count) override {
    meter.Count();
    return streams_.TakeOver(stream, taker, idle, count);
  }

 private:
  FakeStreams streams_;

 public:
  Meter meter;
};

struct Kernel {
  cache::Digest digest;
  std::string key;
  std::string build;  // of the compiler, which is part of the key
  absl::Duration compile;
  std::vector<size_t> order;  // of the daemons, as clients that name all of them prefer these
  int compiles = 0;
};

// What all parts share.
struct World {
  explicit World(const ClusterScenario& scenario) : scenario(scenario), leases(time, scenario.shards), streams(time) {}

  const ClusterScenario scenario;
  FakeTime time;
  ShardedLeases leases;
  MeteredStreams streams;
  // All kernels by the first build, then by the next one.
  std::vector<Kernel> kernels;
  std::map<std::string, int> by_key;
  ClusterFigures figures;
};

// One run of a daemon. After Kill it does nothing any more.
class SimulatedDaemon final : public server::Executor, server::SingleFlight::Host, server::WorkSharing::Host {
 public:
  using Done = std::function<void(bool)>;

  // `build` counts the compiler's builds from 0.
  SimulatedDaemon(World& world, const std::string& name, int build, std::unordered_set<std::string> stored)
      : stored(std::move(stored)),
        build(build),
        world_(world),
        scheduler_(
            {}, [this] { return world_.time.Now(); }, *this),
        flights_(FlightConfig(name), world.leases, {engine_calls_, engine_calls_, reminders_, engine_calls_}, *this),
        sharing_(
            SharingConfig(name), [this] { return world_.time.Now(); }, world.streams, engine_calls_, *this) {
    scheduler_.SetPeers(&flights_);
    server::WorkerOffer offer;
    offer.build_id = BuildId(build);
    offer.targets[kTarget] = true;
    for (int i = 0; i < world.scenario.workers; ++i) scheduler_.WorkerAttached(absl::StrCat("w", i), offer);
    sharing_.Begin();
  }

  // `done` hears false when the daemon dies before.
  void Ask(const std::string& key, Done done) {
    if (stored.count(key) > 0) return After(world_.scenario.round_trip, [done = std::move(done)] { done(true); });
    const uint64_t request = next_request_++;
    waiting_[request] = std::move(done);
    Submit(key, [this, request](bool ok) {
      auto waiting = waiting_.extract(request);
      if (!waiting.empty()) waiting.mapped()(ok);
    });
  }
  void Kill() {
    *alive_ = false;
    world_.figures.lost += running_;
    for (auto& waiting : std::exchange(waiting_, {}))
      world_.time.RunAfter(kAskAgain, [done = std::move(waiting.second)] { done(false); });
  }
  bool alive() const { return *alive_; }
  void Tick() { scheduler_.Tick(); }

  void Start(const std::string&, uint64_t lease, const server::JobSpec& job, absl::Time) override {
    Kernel& kernel = world_.kernels[world_.by_key[job.key]];
    ++kernel.compiles;
    ++world_.figures.compiles;
    ++running_;
    After(kernel.compile, [this, lease, &kernel] {
      --running_;
      flights_.Publish(
          kernel.key, [] { return absl::OkStatus(); }, cache::Blob(kernel.key));
      stored.insert(kernel.key);
      scheduler_.Finish(lease, Outcome());
    });
  }
  void Extend(const std::string&, uint64_t, absl::Time) override {}
  void Cancel(const std::string&, uint64_t) override {}

  std::unordered_set<std::string> stored;  // on its disk
  const int build;

 private:
  static server::SingleFlight::Config FlightConfig(const std::string& name) {
    server::SingleFlight::Config config;
    config.owner = name;
    return config;
  }
  static server::WorkSharing::Config SharingConfig(const std::string& name) {
    server::WorkSharing::Config config;
    config.taker = name;
    return config;
  }
  void After(absl::Duration delay, std::function<void()> task) {
    world_.time.RunAfter(delay, [alive = alive_, task = std::move(task)] {
      if (*alive) task();
    });
  }
  void Submit(const std::string& key, Done done) {
    server::JobSpec spec;
    spec.key = key;
    spec.needs = {kTarget, world_.kernels[world_.by_key[key]].build, true};
    scheduler_.Submit(spec, absl::InfiniteFuture(), nullptr,
                      [this, key, done = std::move(done)](const Outcome& outcome, bool) {
                        if (outcome.status.ok()) stored.insert(key);
                        done(outcome.status.ok());
                      });
  }
  // Each task begins so much later: what it asks the engine takes a round trip.
  class Timer final : public server::TaskTimer {
   public:
    Timer(SimulatedDaemon& daemon, absl::Duration later) : daemon_(daemon), later_(later) {}
    void RunAfter(absl::Duration delay, std::function<void()> task) override {
      daemon_.After(delay + later_, std::move(task));
    }

   private:
    SimulatedDaemon& daemon_;
    const absl::Duration later_;
  };

  std::optional<Outcome> Fetch(const std::string& key) override {
    if (!world_.leases.Fetch(world_.kernels[world_.by_key[key]].digest)) return std::nullopt;
    return Outcome();
  }
  std::optional<Outcome> ReadError(const std::string&, const std::string&, const std::string&) override {
    return std::nullopt;
  }
  void Decide(uint64_t job, server::Verdict verdict) override { scheduler_.Decide(job, std::move(verdict)); }
  void OnSettled(uint64_t job, bool taken) override { sharing_.Settled(job, taken); }
  void OnRenewed(const std::string&, bool) override {}
  std::vector<server::Scheduler::WaitingJob> NextWaiting(absl::Duration at_least,
                                                         const server::OfferFilter& filter) override {
    return scheduler_.NextWaiting(at_least, filter);
  }
  std::map<server::Requirement, int> IdleSlots() override { return scheduler_.IdleSlots(); }
  std::optional<std::string> WriteOffer(const server::JobSpec& spec, const std::string&) override { return spec.key; }
  void RunOffer(const cache::StreamEntry& entry, const server::Requirement&, Done done) override {
    Submit(entry.key, [done = std::move(done)](bool) { done(true); });
  }
  void WatchJob(uint64_t job) override { flights_.Watch(job); }

  World& world_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::map<uint64_t, Done> waiting_;  // clients' requests
  uint64_t next_request_ = 0;
  int running_ = 0;
  Timer engine_calls_{*this, world_.scenario.round_trip};
  Timer reminders_{*this, absl::ZeroDuration()};
  server::Scheduler scheduler_;
  server::SingleFlight flights_;
  server::WorkSharing sharing_;
};

class Simulation final {
 public:
  explicit Simulation(const ClusterScenario& scenario) : world_(scenario), weight_(Weight(scenario)) {
    std::vector<std::string> names;
    for (int i = 0; i < scenario.daemons; ++i) {
      names.push_back(absl::StrCat("daemon-", i));
      daemons_.push_back(std::make_unique<SimulatedDaemon>(world_, names.back(), 0, std::unordered_set<std::string>()));
    }
    std::mt19937_64 random(1);
    std::lognormal_distribution<double> factor(0, 0.5);
    for (int i = 0; i < kBuilds * scenario.kernels; ++i) {
      Kernel& kernel = world_.kernels.emplace_back();
      kernel.digest = cache::Digest::Of(absl::StrCat("kernel ", i));
      kernel.key = kernel.digest.ToHex();
      kernel.build = BuildId(i / scenario.kernels);
      kernel.compile = scenario.median_compile * factor(random);
      kernel.order = client::RendezvousOrder(kernel.key, names);
      world_.by_key[kernel.key] = i;
      if (scenario.warm) world_.leases.Publish({kernel.digest, "before", 0}, cache::Blob(kernel.key)).IgnoreError();
    }
    world_.leases.meter.Restart();
    groups_.resize(static_cast<size_t>(scenario.daemons) * scenario.groups);
    std::uniform_real_distribution<double> share(0, 1);
    for (size_t i = 0; i < groups_.size(); ++i) {
      groups_[i].home = i % scenario.daemons;
      world_.time.RunAfter(scenario.start_spread * share(random), [this, i] { GoOn(i); });
    }
    if (scenario.restart_every != absl::InfiniteDuration()) RestartLater(0);
    if (scenario.shard_lost_at != absl::InfiniteDuration()) {
      world_.time.RunAfter(scenario.shard_lost_at, [this] { world_.leases.SetLost(true); });
      world_.time.RunAfter(scenario.shard_lost_at + scenario.shard_lost_for, [this] { world_.leases.SetLost(false); });
    }
  }

  ClusterFigures Run() {
    const absl::Time start = world_.time.Now();
    while (ended_ < groups_.size() && world_.time.Now() - start < kLimit) {
      world_.time.Pass(absl::Seconds(1));
      for (const auto& daemon : daemons_) {
        if (daemon->alive()) daemon->Tick();
      }
    }
    ClusterFigures figures = world_.figures;
    for (const Kernel& kernel : world_.kernels)
      figures.most_of_a_key = std::max(figures.most_of_a_key, kernel.compiles);
    figures.operations = world_.leases.meter.total();
    figures.peak_operations = world_.leases.meter.peak();
    figures.polls = world_.streams.meter.total();
    figures.last_answer = last_answer_ - start;
    figures.unanswered = static_cast<int>(groups_.size() - ended_) * weight_;
    return figures;
  }

 private:
  // Clients that go in step.
  struct Group {
    size_t home = 0;  // its daemon, where it keeps to one
    int next = 0, open = 0, answered = 0;
  };

  static int Weight(const ClusterScenario& scenario) { return scenario.clients / (scenario.daemons * scenario.groups); }

  void GoOn(size_t group) {
    Group& one = groups_[group];
    while (one.open < world_.scenario.parallel && one.next < world_.scenario.kernels) {
      ++one.open;
      Ask(group, one.next++);
    }
  }
  // Of the daemon that the group asks, or of the next one that lives.
  SimulatedDaemon& DaemonFor(size_t group, const Kernel& kernel) {
    for (size_t i = 0; i < daemons_.size(); ++i) {
      SimulatedDaemon& daemon =
          *daemons_[world_.scenario.by_key ? kernel.order[i] : (groups_[group].home + i) % daemons_.size()];
      if (daemon.alive()) return daemon;
    }
    return *daemons_[0];  // At most one is down at a time.
  }
  void Ask(size_t group, int index) {
    // Which daemon is asked does not depend on its build; the key does.
    SimulatedDaemon& daemon = DaemonFor(group, world_.kernels[index]);
    const Kernel& kernel = world_.kernels[index + daemon.build * world_.scenario.kernels];
    daemon.Ask(kernel.key, [this, group, index](bool ok) {
      if (!ok) return Ask(group, index);
      Group& one = groups_[group];
      --one.open;
      world_.figures.requests += weight_;
      last_answer_ = world_.time.Now();
      if (++one.answered == world_.scenario.kernels) ++ended_;
      GoOn(group);
    });
  }
  void RestartLater(size_t index) {
    world_.time.RunAfter(world_.scenario.restart_every, [this, index] {
      daemons_[index]->Kill();
      world_.time.RunAfter(world_.scenario.restart_takes, [this, index] {
        const int build = world_.scenario.upgrade ? 1 : 0;
        auto again = std::make_unique<SimulatedDaemon>(world_, absl::StrCat("daemon-", index, "-again-", dead_.size()),
                                                       build, daemons_[index]->stored);
        dead_.push_back(std::exchange(daemons_[index], std::move(again)));
        const bool done = world_.scenario.upgrade && index + 1 == daemons_.size();
        if (!done) RestartLater((index + 1) % daemons_.size());
      });
    });
  }

  World world_;
  const int weight_;
  std::vector<std::unique_ptr<SimulatedDaemon>> daemons_;
  std::vector<std::unique_ptr<SimulatedDaemon>> dead_;  // Tasks of theirs may be on their way still.
  std::vector<Group> groups_;
  size_t ended_ = 0;
  absl::Time last_answer_ = absl::InfinitePast();
};

}  // namespace

ClusterFigures SimulateCluster(const ClusterScenario& scenario) { return Simulation(scenario).Run(); }

}  // namespace tritond::tests
