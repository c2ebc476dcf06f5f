// SPDX-License-Identifier: Apache-2.0
#include "client/cc/spread_client.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "client/cc/grpc_client.h"
#include "client/cc/reach.h"
#include "client/cc/rendezvous.h"
#include "client/cc/retry.h"
#include "client/cc/spread_batch.h"
#include "proto/request_key/request_key.h"

namespace tritond::client {
namespace {

template <typename T>
absl::Status StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

// The error of one daemon, with its name and its details.
absl::Status Named(const std::string& name, const absl::Status& error) {
  absl::Status named(error.code(), absl::StrCat(name, ": ", error.message()));
  error.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) { named.SetPayload(type, payload); });
  return named;
}

class SpreadClient final : public Client {
 public:
  SpreadClient(std::vector<Daemon> daemons, SpreadOptions options)
      : daemons_(std::move(daemons)), options_(std::move(options)), reach_(daemons_.size(), options_.clock) {
    for (const Daemon& daemon : daemons_) names_.push_back(daemon.name);
  }

  absl::StatusOr<v1::DescribeResponse> Describe(absl::Time deadline) override {
    return Ask(AsListed(), deadline, [&](Client& daemon) { return daemon.Describe(deadline); });
  }

  absl::StatusOr<v1::CompileResponse> Compile(v1::CompileRequest request, absl::Time deadline) override {
    return Ask(OrderOf(request), deadline, [&](Client& daemon) { return daemon.Compile(request, deadline); });
  }

  absl::StatusOr<v1::CompileResponse> Lookup(absl::string_view key, absl::Time deadline) override {
    return Find(deadline, [&](Client& daemon) { return daemon.Lookup(key, deadline); });
  }

  absl::StatusOr<std::string> Fetch(absl::string_view digest, absl::Time deadline) override {
    return Find(deadline, [&](Client& daemon) { return daemon.Fetch(digest, deadline); });
  }

  absl::Status CompileBatch(const std::vector<v1::CompileRequest>& requests, const BatchCallback& on_result,
                            absl::Time deadline) override {
    std::vector<Order> orders;
    for (const v1::CompileRequest& request : requests) orders.push_back(OrderOf(request));
    SpreadBatch batch(daemons_, &reach_, requests, std::move(orders), on_result, deadline);
    for (int attempts = 1;; ++attempts) {
      const absl::Status error = batch.Attempt();
      if (error.ok()) return error;
      if (!Wait(error, attempts, deadline)) return batch.End(error);
    }
  }

  absl::StatusOr<v1::AutotuneResponse> Autotune(const v1::AutotuneRequest& request,
                                                const std::function<void(const v1::AutotuneResponse&)>& on_event,
                                                absl::Time deadline) override {
    bool begun = false;
    const auto report = [&](const v1::AutotuneResponse& event) {
      begun |= event.has_candidate();
      on_event(event);
    };
    return Ask(AsListed(), deadline, [&](Client& daemon) -> absl::StatusOr<v1::AutotuneResponse> {
      auto response = daemon.Autotune(request, report, deadline);
      if (response.ok() || !begun) return response;
      return absl::AbortedError(absl::StrCat("the search broke off: ", response.status().message()));
    });
  }

  absl::StatusOr<v1::Job> SubmitJob(const v1::CompileRequest& request, absl::string_view idempotency_key,
                                    absl::Time deadline) override {
    const std::string key = idempotency_key.empty() ? RandomIdempotencyKey() : std::string(idempotency_key);
    return Ask(OrderOf(request), deadline, [&](Client& daemon) { return daemon.SubmitJob(request, key, deadline); });
  }

  absl::StatusOr<v1::Job> WatchJob(absl::string_view id, const std::function<void(const v1::Job&)>& on_change,
                                   absl::Time deadline) override {
    return Find(deadline, [&](Client& daemon) { return daemon.WatchJob(id, on_change, deadline); });
  }

  absl::StatusOr<std::vector<v1::Job>> ListJobs(const std::vector<v1::JobState>& states, absl::Time deadline) override {
    std::vector<v1::Job> all;
    for (size_t i = 0; i < daemons_.size(); ++i) {
      auto jobs = Ask({i}, deadline, [&](Client& daemon) { return daemon.ListJobs(states, deadline); });
      if (!jobs.ok()) return Named(absl::StrCat("jobs of ", names_[i]), jobs.status());
      all.insert(all.end(), jobs->begin(), jobs->end());
    }
    // Ids of version 7 begin with their time.
    std::sort(all.begin(), all.end(), [](const v1::Job& a, const v1::Job& b) { return a.id() > b.id(); });
    return all;
  }

  absl::StatusOr<v1::Job> CancelJob(absl::string_view id, absl::Time deadline) override {
    return Find(deadline, [&](Client& daemon) { return daemon.CancelJob(id, deadline); });
  }

  absl::StatusOr<v1::GetStatsResponse> GetStats(uint32_t recent_jobs, absl::Time deadline) override {
    return Ask(AsListed(), deadline, [&](Client& daemon) { return daemon.GetStats(recent_jobs, deadline); });
  }

  absl::StatusOr<v1::ListWorkersResponse> ListWorkers(absl::Time deadline) override {
    return Ask(AsListed(), deadline, [&](Client& daemon) { return daemon.ListWorkers(deadline); });
  }

  absl::StatusOr<std::vector<std::string>> FindKeys(absl::string_view prefix, absl::Time deadline) override {
    std::set<std::string> all;
    const absl::Status status = TellAll([&](Client& daemon) {
      const auto one = daemon.FindKeys(prefix, deadline);
      if (one.ok()) all.insert(one->begin(), one->end());
      return one.status();
    });
    if (all.empty() && !status.ok()) return status;  // What one daemon has is found while another one is away.
    return std::vector<std::string>(all.begin(), all.end());
  }

  absl::StatusOr<v1::ExplainResponse> Explain(absl::string_view key_a, absl::string_view key_b,
                                              absl::Time deadline) override {
    return Find(deadline, [&](Client& daemon) { return daemon.Explain(key_a, key_b, deadline); });
  }

  absl::StatusOr<v1::DrainResponse> Drain(bool resume, absl::Time deadline) override {
    v1::DrainResponse all;
    all.set_draining(!resume);
    const absl::Status status = TellAll([&](Client& daemon) {
      const auto one = daemon.Drain(resume, deadline);
      if (one.ok()) all.set_remaining(all.remaining() + one->remaining());
      return one.status();
    });
    if (!status.ok()) return status;
    return all;
  }

  absl::StatusOr<v1::EvictResponse> Evict(const v1::EvictRequest& request, absl::Time deadline) override {
    v1::EvictResponse all;
    const absl::Status status = TellAll([&](Client& daemon) {
      const auto one = daemon.Evict(request, deadline);
      if (!one.ok()) return one.status();
      all.set_results(all.results() + one->results());
      all.set_artifacts(all.artifacts() + one->artifacts());
      all.set_shared_results(all.shared_results() + one->shared_results());
      all.set_shared_artifacts(all.shared_artifacts() + one->shared_artifacts());
      return absl::OkStatus();
    });
    if (!status.ok()) return status;
    return all;
  }

  absl::StatusOr<v1::ListQuarantineResponse> ListQuarantine(absl::Time deadline) override {
    v1::ListQuarantineResponse all;
    const absl::Status status = TellAll([&](Client& daemon) {
      const auto one = daemon.ListQuarantine(deadline);
      if (one.ok()) all.MergeFrom(*one);
      return one.status();
    });
    if (!status.ok()) return status;
    return all;
  }

  absl::Status Release(absl::string_view key, absl::Time deadline) override {
    bool released = false;
    const absl::Status status = TellAll([&](Client& daemon) {
      const absl::Status one = daemon.Release(key, deadline);
      released = released || one.ok();
      return absl::IsNotFound(one) ? absl::OkStatus() : one;
    });
    if (!status.ok() || released) return status;
    return absl::NotFoundError(absl::StrCat(key, " is in quarantine at none of the daemons"));
  }

  // A transfer that has begun is not moved to another daemon: one that answers is looked for before.
  absl::Status ExportBundle(const std::vector<std::string>& keys,
                            const std::function<absl::Status(absl::string_view part)>& sink,
                            absl::Time deadline) override {
    if (const auto any = Describe(deadline); !any.ok()) return any.status();
    return daemons_[FirstInReach()].client->ExportBundle(keys, sink, deadline);
  }
  absl::StatusOr<v1::ImportResponse> ImportBundle(const std::function<absl::StatusOr<std::string>()>& source,
                                                  absl::Time deadline) override {
    if (const auto any = Describe(deadline); !any.ok()) return any.status();
    return daemons_[FirstInReach()].client->ImportBundle(source, deadline);
  }

 private:
  Order AsListed() const {
    Order order(daemons_.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  // Without the compiler's build id, which the client need not know.
  Order OrderOf(const v1::CompileRequest& request) const {
    const absl::StatusOr<proto::PreparedRequest> prepared = proto::Prepare(request);
    return prepared.ok() ? RendezvousOrder(prepared->Key(/*build_id=*/""), names_) : AsListed();
  }

  size_t FirstInReach() const { return reach_.InReachFirst(AsListed())[0]; }

  // Every daemon, also after an error; the first error, with the daemon's name.
  absl::Status TellAll(const std::function<absl::Status(Client&)>& tell) {
    absl::Status first;
    for (size_t i = 0; i < daemons_.size(); ++i) {
      const absl::Status status = tell(*daemons_[i].client);
      reach_.Learn(i, status);
      if (!status.ok()) first.Update(Named(names_[i], status));
    }
    return first;
  }

  // Sleeps before the next attempt; false when there is none.
  bool Wait(const absl::Status& error, int attempts, absl::Time deadline) {
    absl::BitGen random;
    const auto delay = RetryDelay(options_.retry, error, attempts, absl::Uniform(random, 0.0, 1.0));
    if (!delay || options_.clock() + *delay >= deadline) return false;
    options_.sleep(*delay);
    return true;
  }

  // The first answer that another daemon could not better; else an error that time may mend, else the last one. Who has
  // said that it cannot help is not asked again.
  template <typename Call>
  auto Ask(Order order, absl::Time deadline, const Call& call) -> decltype(call(std::declval<Client&>())) {
    for (int attempts = 1;; ++attempts) {
      absl::Status error;
      for (const size_t i : reach_.InReachFirst(order)) {
        auto result = call(*daemons_[i].client);
        const absl::Status status = StatusOf(result);
        reach_.Learn(i, status);
        if (!MayAskAgain(status) && !AnotherMayHelp(status)) return result;
        if (!MayAskAgain(status)) order.erase(std::find(order.begin(), order.end(), i));
        if (MayAskAgain(status) || !MayAskAgain(error)) error = status;
      }
      if (order.empty() || !Wait(error, attempts, deadline)) return error;
    }
  }

  // The same for what only some daemons have. NotFound only when every one of them said so.
  template <typename Call>
  auto Find(absl::Time deadline, const Call& call) -> decltype(call(std::declval<Client&>())) {
    for (int attempts = 1;; ++attempts) {
      absl::Status error;
      for (const size_t i : reach_.InReachFirst(AsListed())) {
        auto result = call(*daemons_[i].client);
        const absl::Status status = StatusOf(result);
        reach_.Learn(i, status);
        if (!MayAskAgain(status) && !absl::IsNotFound(status) && !AnotherMayHelp(status)) return result;
        if (error.ok() || absl::IsNotFound(error)) error = status;
      }
      if (absl::IsNotFound(error) || !Wait(error, attempts, deadline)) return error;
    }
  }

  const std::vector<Daemon> daemons_;
  const SpreadOptions options_;
  std::vector<std::string> names_;
  Reach reach_;
};

}  // namespace

std::unique_ptr<Client> MakeSpreadClient(std::vector<Daemon> daemons, SpreadOptions options) {
  return std::make_unique<SpreadClient>(std::move(daemons), std::move(options));
}

}  // namespace tritond::client
