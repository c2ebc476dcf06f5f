// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/job_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/request_key/request_key.h"
#include "tests/support/task_queue_here.h"

namespace tritond::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// What a disk would hold; outlives the books over it.
class MapJournal final : public cache::Journal {
 public:
  absl::Status Put(absl::string_view name, absl::string_view value) override {
    if (!put_status.ok()) return put_status;
    records[std::string(name)] = std::string(value);
    return absl::OkStatus();
  }
  absl::Status Remove(absl::string_view name) override {
    records.erase(std::string(name));
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Get(absl::string_view name) override {
    if (!get_status.ok()) return get_status;
    auto it = records.find(std::string(name));
    if (it == records.end()) return absl::NotFoundError("no such record");
    return it->second;
  }
  absl::Status Visit(absl::string_view prefix, const Visitor& visitor) override {
    for (const auto& [name, value] : records)
      if (absl::StartsWith(name, prefix)) visitor(name, value);
    return absl::OkStatus();
  }

  std::map<std::string, std::string> records;
  absl::Status put_status, get_status;
};

class FakeRunner final : public JobRunner {
 public:
  bool HasRoom(uint64_t request_bytes) override { return request_bytes <= room; }
  bool MayRun(const std::string& target) override { return without_worker.count(target) == 0; }
  void Start(const std::string& id, JobRequest request, Keyed keyed, Done done) override {
    started.push_back(request.message.ir());
    as_sent += request.source.has_value() ? 0 : 1;
    running[id] = std::move(done);
    keyed(absl::StrCat("key of ", request.message.ir()));
  }
  void Stop(const std::string& id) override {
    stopped.insert(id);
    JobEnd end;
    end.status = absl::CancelledError("stopped");
    Finish(id, end);
  }
  void Finish(const std::string& id, const JobEnd& end) {
    auto it = running.find(id);
    ASSERT_NE(it, running.end()) << id;
    Done done = std::move(it->second);
    running.erase(it);
    done(end);
  }

  std::vector<std::string> started;  // the requests' IR
  int as_sent = 0;                   // requests that have to be prepared
  std::map<std::string, Done> running;
  std::set<std::string> stopped;
  std::set<std::string> without_worker;  // targets
  uint64_t room = UINT64_MAX;
};

absl::StatusOr<v1::Job> SubmitTo(JobStore& store, const v1::SubmitRequest& request) {
  const absl::StatusOr<proto::PreparedRequest> prepared = proto::Prepare(request.request());
  EXPECT_TRUE(prepared.ok()) << prepared.status();
  return store.Submit(*prepared, request.idempotency_key(), absl::StrCat("key of ", request.request().ir()));
}

class JobStoreTest : public testing::Test {
 protected:
  JobStoreTest() { Open(); }

  // A daemon that starts over what the last one left.
  void Open() {
    runner = std::make_unique<FakeRunner>();
    store = std::make_unique<JobStore>(
        config, [this] { return now; }, [this] { return now + ahead; }, journal, *runner, tasks);
    EXPECT_TRUE(store->Load([this](const std::string& line) { log.push_back(line); }).ok());
  }
  std::string Submit(const std::string& ir, const std::string& idempotency_key = "",
                     const std::string& tenant = "tenant", v1::Priority priority = v1::PRIORITY_UNSPECIFIED) {
    v1::SubmitRequest request;
    request.mutable_request()->set_ir(ir);
    request.mutable_request()->set_tenant(tenant);
    request.mutable_request()->set_priority(priority);
    request.set_idempotency_key(idempotency_key);
    absl::StatusOr<v1::Job> job = SubmitTo(*store, request);
    EXPECT_TRUE(job.ok()) << job.status();
    return job.ok() ? job->id() : "";
  }
  void Succeed(const std::string& id) {
    JobEnd end;
    end.response.set_key("result of " + id);
    runner->Finish(id, end);
  }
  v1::JobState StateOf(const std::string& id) {
    absl::StatusOr<v1::Job> job = store->Get(id);
    return job.ok() ? job->state() : v1::JOB_STATE_UNSPECIFIED;
  }

  JobStoreConfig config;
  absl::Time now = absl::FromUnixSeconds(1700000000);
  absl::Duration ahead;  // of the wall clock
  MapJournal journal;
  tests::TaskQueueHere tasks;
  std::unique_ptr<FakeRunner> runner;
  std::unique_ptr<JobStore> store;
  std::vector<std::string> log;
};

TEST_F(JobStoreTest, AJobRunsAndKeepsItsResponse) {
  const std::string id = Submit("kernel");
  EXPECT_TRUE(IsJobId(id)) << id;
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
  store->OnProgress("key of kernel", v1::STAGE_UNSPECIFIED);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(store->Get(id)->attempts(), 1u);
  store->OnProgress("key of kernel", v1::STAGE_LLIR);
  EXPECT_EQ(store->Get(id)->stage(), v1::STAGE_LLIR);
  Succeed(id);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(store->Get(id)->response().key(), "result of " + id);
  EXPECT_EQ(store->open(), 0u);
}

TEST_F(JobStoreTest, OpenJobsGoOnAfterARestartAndEndedOnesStay) {
  const std::string done = Submit("done");
  Succeed(done);
  const std::string open = Submit("open");
  store->OnProgress("key of open", v1::STAGE_UNSPECIFIED);
  Open();
  EXPECT_EQ(StateOf(done), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(StateOf(open), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(runner->started, ElementsAre("open"));
  Succeed(open);
  Open();
  EXPECT_EQ(StateOf(open), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(runner->started, IsEmpty());
}

TEST_F(JobStoreTest, AJobThatCannotBeWrittenIsRefused) {
  journal.put_status = absl::ResourceExhaustedError("disk full");
  v1::SubmitRequest request;
  EXPECT_TRUE(absl::IsResourceExhausted(SubmitTo(*store, request).status()));
  EXPECT_THAT(runner->started, IsEmpty());
  EXPECT_THAT(journal.records, IsEmpty());
}

TEST_F(JobStoreTest, AJobWhoseEndCannotBeWrittenRunsAgain) {
  const std::string id = Submit("kernel");
  journal.put_status = absl::ResourceExhaustedError("disk full");
  Succeed(id);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_SUCCEEDED);
  journal.put_status = absl::OkStatus();
  Open();
  EXPECT_THAT(runner->started, ElementsAre("kernel"));
}

TEST_F(JobStoreTest, AnUndecidedJobIsTriedAgainLater) {
  const std::string id = Submit("kernel");
  JobEnd end;
  end.status = absl::UnavailableError("no worker");
  end.retry_after = absl::Seconds(5);
  runner->Finish(id, end);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
  now += absl::Seconds(4);
  store->Tick();
  EXPECT_EQ(runner->started.size(), 1u);
  now += absl::Seconds(1);
  store->Tick();
  EXPECT_EQ(runner->started.size(), 2u);
  Succeed(id);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_SUCCEEDED);
}

TEST_F(JobStoreTest, AWallClockThatIsSteppedChangesNoPause) {
  JobEnd end;
  end.status = absl::UnavailableError("no worker");
  end.retry_after = absl::Seconds(5);
  const std::string id = Submit("kernel");
  runner->Finish(id, end);
  ahead = absl::Hours(1);
  store->Tick();
  EXPECT_EQ(runner->started.size(), 1u);
  ahead = -absl::Hours(1);
  now += absl::Seconds(5);
  store->Tick();
  EXPECT_EQ(runner->started.size(), 2u);
  Succeed(id);
  const absl::Duration off = absl::FromUnixSeconds(store->Get(id)->finished().seconds()) - (now + ahead);
  EXPECT_LE(absl::AbsDuration(off), absl::Seconds(1));
}

JobEnd WithoutWorker() {
  JobEnd end;
  end.status = absl::UnavailableError("no worker");
  end.failure.set_message("no worker");
  end.retry_after = absl::Seconds(2);
  end.waits_for_worker = true;
  return end;
}

TEST_F(JobStoreTest, AJobWithoutAWorkerSaysSoAndIsLookedAtUntilOneIsThere) {
  runner->without_worker = {""};
  const std::string id = Submit("kernel");
  runner->Finish(id, WithoutWorker());
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(store->Get(id)->failure().message(), "no worker");
  EXPECT_EQ(store->WaitingForWorkers().at(""), 1u);
  for (int i = 0; i < 100; ++i) {
    now += absl::Seconds(2);
    store->Tick();
  }
  EXPECT_EQ(runner->started.size(), 1u) << "nothing was read";
  runner->without_worker.clear();
  now += absl::Seconds(2);
  store->Tick();
  EXPECT_EQ(runner->started.size(), 2u);
  EXPECT_FALSE(store->Get(id)->has_failure());
  EXPECT_THAT(store->WaitingForWorkers(), IsEmpty());
  Succeed(id);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_SUCCEEDED);
}

TEST_F(JobStoreTest, AJobThatLosesItsWorkersIsTriedAgainWithGrowingPauses) {
  const std::string id = Submit("kernel");
  JobEnd end;
  end.status = absl::UnavailableError("lost 4 workers in a row");
  end.retry_after = absl::Seconds(5);
  end.waits_for_worker = true;
  for (const int pause : {5, 10, 20, 40, 60, 60}) {
    runner->Finish(id, end);
    const size_t tries = runner->started.size();
    now += absl::Seconds(pause - 1);
    store->Tick();
    EXPECT_EQ(runner->started.size(), tries) << pause;
    now += absl::Seconds(1);
    store->Tick();
    EXPECT_EQ(runner->started.size(), tries + 1) << pause;
  }
}

TEST_F(JobStoreTest, AJobThatWaitsForAWorkerCanBeCancelled) {
  const std::string id = Submit("kernel");
  runner->Finish(id, WithoutWorker());
  ASSERT_TRUE(store->Cancel(id).ok());
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_CANCELLED);
  EXPECT_FALSE(store->Get(id)->has_failure());
  EXPECT_THAT(store->WaitingForWorkers(), IsEmpty());
  now += absl::Minutes(5);
  store->Tick();
  EXPECT_EQ(runner->started.size(), 1u);
}

TEST_F(JobStoreTest, JobsWithoutWorkersDoNotKeepOthersFromTheirTurn) {
  config.max_started = 1;
  Open();
  const std::string without = Submit("without");
  Submit("first");
  Submit("second");
  JobEnd end;
  end.status = absl::UnavailableError("no worker");
  end.retry_after = absl::Seconds(1);
  end.waits_for_worker = true;
  runner->Finish(without, end);
  now += absl::Minutes(1);
  store->Tick();
  Succeed(runner->running.begin()->first);
  EXPECT_THAT(runner->started, ElementsAre("without", "first", "second"));
}

TEST_F(JobStoreTest, AnIdempotencyKeyIsForOneKernel) {
  const std::string id = Submit("kernel", "once");
  v1::SubmitRequest other;
  other.mutable_request()->set_tenant("tenant");
  other.mutable_request()->set_ir("another kernel");
  other.set_idempotency_key("once");
  const absl::Status status = SubmitTo(*store, other).status();
  EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
  EXPECT_NE(status.message().find(id), std::string::npos) << status;
  Open();
  EXPECT_TRUE(absl::IsAlreadyExists(SubmitTo(*store, other).status())) << "an open job's is known after a restart";
  EXPECT_EQ(Submit("kernel", "once"), id);
  Succeed(id);
  EXPECT_TRUE(absl::IsAlreadyExists(SubmitTo(*store, other).status()));
  EXPECT_EQ(Submit("kernel", "once"), id);
  Open();
  other.mutable_request()->set_target("cuda:80");
  EXPECT_TRUE(absl::IsAlreadyExists(SubmitTo(*store, other).status()));
  EXPECT_EQ(Submit("kernel", "once"), id);
}

TEST_F(JobStoreTest, AJobWaitsInTheJournalUntilItsRequestHasRoom) {
  runner->room = 100;
  const std::string large = Submit(std::string(200, 'x'));
  store->Tick();
  EXPECT_THAT(runner->started, IsEmpty());
  EXPECT_EQ(StateOf(large), v1::JOB_STATE_QUEUED);
  runner->room = 1000;
  store->Tick();
  EXPECT_THAT(runner->started, ElementsAre(std::string(200, 'x')));
  Succeed(large);
  EXPECT_EQ(StateOf(large), v1::JOB_STATE_SUCCEEDED);
}

TEST_F(JobStoreTest, AJobIsRunWithTheRequestThatTheJournalHas) {
  runner->room = 0;
  Submit("kernel");
  for (auto& [name, value] : journal.records) {
    if (!absl::StartsWith(name, "prepared/")) continue;
    std::optional<JobRequest> request = DecodeJobRequest(value);
    ASSERT_TRUE(request.has_value());
    request->message.set_ir("as it is on disk");
    value = EncodeJobRequest(proto::PreparedRequest(request->message, *request->source));
  }
  runner->room = UINT64_MAX;
  store->Tick();
  EXPECT_THAT(runner->started, ElementsAre("as it is on disk"));
}

TEST_F(JobStoreTest, ARequestOfAnEarlierVersionIsPreparedWhenItsJobRuns) {
  runner->room = 0;
  const std::string id = Submit("kernel", "idempotency key");
  std::optional<JobRequest> request = DecodeJobRequest(journal.records["prepared/" + id]);
  ASSERT_TRUE(request.has_value());
  journal.records.erase("prepared/" + id);
  journal.records["request/" + id] = request->message.SerializeAsString();
  Open();
  EXPECT_THAT(runner->started, ElementsAre("kernel"));
  EXPECT_EQ(runner->as_sent, 1);
  EXPECT_EQ(Submit("kernel", "idempotency key"), id);
  Succeed(id);
  EXPECT_EQ(journal.records.count("request/" + id), 0u);
}

TEST_F(JobStoreTest, AJobWhoseRequestIsLostFailsAndOneThatCannotBeReadNowWaits) {
  runner->room = 0;
  const std::string id = Submit("kernel"), lost = Submit("lost");
  journal.records.erase("prepared/" + lost);
  runner->room = UINT64_MAX;
  journal.get_status = absl::UnavailableError("disk trouble");
  store->Tick();
  EXPECT_THAT(runner->started, IsEmpty());
  EXPECT_EQ(StateOf(lost), v1::JOB_STATE_QUEUED);
  journal.get_status = absl::OkStatus();
  now += absl::Seconds(5);
  store->Tick();
  EXPECT_THAT(runner->started, ElementsAre("kernel"));
  EXPECT_EQ(StateOf(lost), v1::JOB_STATE_FAILED);
  EXPECT_EQ(store->Get(lost)->failure().code(), static_cast<int>(absl::StatusCode::kDataLoss));
  EXPECT_EQ(store->open(), 1u);
  Succeed(id);
}

TEST_F(JobStoreTest, CancelledJobsStayCancelled) {
  const std::string running = Submit("running");
  EXPECT_EQ(store->Cancel(running)->state(), v1::JOB_STATE_CANCELLED);
  EXPECT_EQ(runner->stopped.count(running), 1u);
  EXPECT_EQ(store->Cancel(running)->state(), v1::JOB_STATE_CANCELLED);
  const std::string done = Submit("done");
  Succeed(done);
  EXPECT_EQ(store->Cancel(done)->state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_TRUE(absl::IsNotFound(store->Cancel("unknown").status()));
  Open();
  EXPECT_EQ(StateOf(running), v1::JOB_STATE_CANCELLED);
  EXPECT_THAT(runner->started, IsEmpty());
}

TEST_F(JobStoreTest, FailuresKeepTheirDetails) {
  const std::string id = Submit("kernel");
  JobEnd end;
  end.status = absl::InvalidArgumentError("wrong");
  end.failure.set_code(3);
  end.failure.set_message("wrong");
  runner->Finish(id, end);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_FAILED);
  EXPECT_EQ(store->Get(id)->failure().message(), "wrong");
}

TEST_F(JobStoreTest, AnIdempotencyKeyGivesTheSameJobAlsoAfterARestart) {
  const std::string id = Submit("kernel", "deploy 7");
  EXPECT_EQ(Submit("kernel", "deploy 7"), id);
  Open();
  EXPECT_EQ(Submit("kernel", "deploy 7"), id);
  EXPECT_NE(Submit("kernel", "deploy 8"), id);
  EXPECT_NE(Submit("kernel"), Submit("kernel"));
}

TEST_F(JobStoreTest, OnlySoManyAreHandedOverAtOnce) {
  config.max_started = 2;
  Open();
  std::vector<std::string> ids;
  for (const char* ir : {"a", "b", "c"}) ids.push_back(Submit(ir));
  EXPECT_THAT(runner->started, ElementsAre("a", "b"));
  Succeed(ids[0]);
  EXPECT_THAT(runner->started, ElementsAre("a", "b", "c"));
}

TEST_F(JobStoreTest, AFloodOfOneTenantIsPassedByOthersAndByMoreUrgentJobs) {
  config.max_started = 1;
  Open();
  std::string running = Submit("running", "", "flood", v1::PRIORITY_PREBUILD);
  for (const char* ir : {"f1", "f2", "f3"}) Submit(ir, "", "flood", v1::PRIORITY_PREBUILD);
  now += absl::Minutes(10);
  for (const char* ir : {"h1", "h2"}) Submit(ir, "", "human", v1::PRIORITY_PREBUILD);
  Submit("urgent", "", "flood");
  const auto finish_all = [&] {
    while (!runner->running.empty()) Succeed(runner->running.begin()->first);
  };
  finish_all();
  EXPECT_THAT(runner->started, ElementsAre("running", "urgent", "h1", "f1", "h2", "f2", "f3"));
}

TEST_F(JobStoreTest, TheOrderIsTheSameAfterARestart) {
  config.max_started = 1;
  Open();
  for (const char* ir : {"f1", "f2", "f3"}) Submit(ir, "", "flood", v1::PRIORITY_PREBUILD);
  for (const char* ir : {"h1", "h2"}) Submit(ir, "", "human", v1::PRIORITY_PREBUILD);
  Submit("urgent", "", "late");
  Open();
  while (!runner->running.empty()) Succeed(runner->running.begin()->first);
  EXPECT_THAT(runner->started, ElementsAre("urgent", "f1", "h1", "f2", "h2", "f3"));
}

TEST_F(JobStoreTest, AJobThatIsCancelledWhileItWaitsIsNotHandedOver) {
  config.max_started = 1;
  Open();
  const std::string running = Submit("a");
  const std::string waiting = Submit("b");
  Submit("c");
  EXPECT_EQ(store->Cancel(waiting)->state(), v1::JOB_STATE_CANCELLED);
  Succeed(running);
  EXPECT_THAT(runner->started, ElementsAre("a", "c"));
}

TEST_F(JobStoreTest, ATenantsOpenJobsAreBoundedAlsoAfterARestart) {
  config.max_open_per_tenant = 2;
  Open();
  const std::string id = Submit("a", "", "greedy");
  Submit("b", "", "greedy");
  Open();
  v1::SubmitRequest request;
  request.mutable_request()->set_tenant("greedy");
  EXPECT_TRUE(absl::IsResourceExhausted(SubmitTo(*store, request).status()));
  EXPECT_NE(Submit("c", "", "modest"), "");
  Succeed(id);
  EXPECT_NE(Submit("d", "", "greedy"), "");
}

TEST_F(JobStoreTest, TooManyOpenJobsAreRefused) {
  config.max_open = 1;
  Open();
  const std::string id = Submit("a");
  v1::SubmitRequest request;
  EXPECT_TRUE(absl::IsResourceExhausted(SubmitTo(*store, request).status()));
  Succeed(id);
  EXPECT_NE(Submit("b"), "");
}

TEST_F(JobStoreTest, ListsNewestFirstInPages) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(Submit(absl::StrCat("kernel ", i)));
  Succeed(ids[1]);
  const auto list = [&](const std::set<v1::JobState>& states, const std::string& after, size_t limit) {
    std::vector<std::string> found;
    for (const v1::Job& job : store->List(states, "", after, limit)) found.push_back(job.id());
    return found;
  };
  EXPECT_THAT(list({}, "", 2), ElementsAre(ids[4], ids[3]));
  EXPECT_THAT(list({}, ids[3], 9), ElementsAre(ids[2], ids[1], ids[0]));
  EXPECT_THAT(list({v1::JOB_STATE_SUCCEEDED}, "", 9), ElementsAre(ids[1]));
  EXPECT_EQ(store->List({}, "tenant", "", 9).size(), 5u);
  EXPECT_TRUE(store->List({}, "another", "", 9).empty());
}

TEST_F(JobStoreTest, WatchersSeeEveryChangeUntilTheEnd) {
  const std::string id = Submit("kernel");
  std::vector<v1::JobState> seen, left;
  ASSERT_TRUE(store->Watch(id, [&](const v1::Job& job) { seen.push_back(job.state()); }).ok());
  absl::StatusOr<uint64_t> other = store->Watch(id, [&](const v1::Job& job) { left.push_back(job.state()); });
  ASSERT_TRUE(other.ok());
  store->Unwatch(*other);
  store->OnProgress("key of kernel", v1::STAGE_UNSPECIFIED);
  Succeed(id);
  EXPECT_THAT(seen, ElementsAre(v1::JOB_STATE_QUEUED, v1::JOB_STATE_RUNNING, v1::JOB_STATE_SUCCEEDED));
  EXPECT_THAT(left, ElementsAre(v1::JOB_STATE_QUEUED));
  seen.clear();
  ASSERT_TRUE(store->Watch(id, [&](const v1::Job& job) { seen.push_back(job.state()); }).ok());
  EXPECT_THAT(seen, ElementsAre(v1::JOB_STATE_SUCCEEDED));
  EXPECT_TRUE(absl::IsNotFound(store->Watch("unknown", [](const v1::Job&) {}).status()));
}

TEST_F(JobStoreTest, AnEndThatComesDuringAWatchersCallIsToldAfterIt) {
  const std::string id = Submit("kernel");
  store->OnProgress("key of kernel", v1::STAGE_UNSPECIFIED);
  std::vector<v1::JobState> seen;
  ASSERT_TRUE(store
                  ->Watch(id,
                          [&](const v1::Job& job) {
                            // As if this thread was put off here while another one ended the job.
                            if (job.state() == v1::JOB_STATE_RUNNING) std::thread([&] { Succeed(id); }).join();
                            seen.push_back(job.state());
                          })
                  .ok());
  EXPECT_THAT(seen, ElementsAre(v1::JOB_STATE_RUNNING, v1::JOB_STATE_SUCCEEDED));
}

TEST_F(JobStoreTest, NoCallBeginsAfterUnwatch) {
  const std::string id = Submit("kernel");
  std::vector<v1::JobState> seen;
  uint64_t watch = 0;
  absl::StatusOr<uint64_t> begun = store->Watch(id, [&](const v1::Job& job) {
    seen.push_back(job.state());
    if (job.state() != v1::JOB_STATE_RUNNING) return;
    Succeed(id);
    store->Unwatch(watch);
  });
  watch = begun.value();
  store->OnProgress("key of kernel", v1::STAGE_UNSPECIFIED);
  EXPECT_THAT(seen, ElementsAre(v1::JOB_STATE_QUEUED, v1::JOB_STATE_RUNNING));
}

TEST_F(JobStoreTest, ManyThreadsNeverMixUpAWatchersStates) {
  for (int round = 0; round < 200; ++round) {
    const std::string id = Submit("kernel", absl::StrCat(round));
    std::vector<v1::Stage> stages;
    v1::JobState last = v1::JOB_STATE_UNSPECIFIED;
    std::thread other([&] {
      for (v1::Stage stage : {v1::STAGE_TTGIR, v1::STAGE_LLIR, v1::STAGE_ASM})
        store->OnProgress("key of kernel", stage);
      Succeed(id);
    });
    absl::StatusOr<uint64_t> watch = store->Watch(id, [&](const v1::Job& job) {
      stages.push_back(job.stage());
      last = job.state();
    });
    other.join();
    store->Unwatch(watch.value());
    EXPECT_TRUE(std::is_sorted(stages.begin(), stages.end()));
    if (!stages.empty() && JobStore::HasEnded(last)) continue;
    ADD_FAILURE() << "the end was not told last, but " << v1::JobState_Name(last);
  }
}

TEST_F(JobStoreTest, EndedJobsAreForgottenInTime) {
  config.max_ended = 2;
  Open();
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) Succeed(ids.emplace_back(Submit("kernel", absl::StrCat(i))));
  store->Tick();
  EXPECT_TRUE(absl::IsNotFound(store->Get(ids[0]).status()));
  EXPECT_EQ(StateOf(ids[1]), v1::JOB_STATE_SUCCEEDED);
  now += config.keep_ended;
  store->Tick();
  EXPECT_TRUE(absl::IsNotFound(store->Get(ids[2]).status()));
  EXPECT_THAT(journal.records, IsEmpty());
  EXPECT_NE(Submit("kernel", "2"), ids[2]);
}

TEST_F(JobStoreTest, AClosedBookLeavesOpenJobsForTheNextRun) {
  const std::string id = Submit("kernel");
  store->Close();
  Succeed(id);
  v1::SubmitRequest request;
  EXPECT_TRUE(absl::IsUnavailable(SubmitTo(*store, request).status()));
  Open();
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(runner->started, ElementsAre("kernel"));
}

TEST_F(JobStoreTest, RecordsThatCannotBeReadAreReportedAndKept) {
  journal.records["job/broken"] = "\xff\xff";
  journal.records["request/orphan"] = "\xff\xff";
  journal.records["prepared/orphan"] = "\xff\xff";
  Open();
  EXPECT_EQ(log.size(), 3u);
  EXPECT_EQ(journal.records.size(), 3u);
}

TEST(JobIdMaker, IdsOfOneMakerGrowEvenWhenTheClockStepsBack) {
  JobIdMaker maker;
  const absl::Time now = absl::FromUnixSeconds(1700000000);
  std::string last;
  for (int i = 0; i < 10000; ++i) {
    const std::string id = maker.Next(now - absl::Milliseconds(i % 3));
    EXPECT_TRUE(IsJobId(id)) << id;
    EXPECT_GT(id, last);
    last = id;
  }
  EXPECT_FALSE(IsJobId("018bcfe5-6800-7000-8000-00000000000G"));
  EXPECT_FALSE(IsJobId(""));
}

}  // namespace
}  // namespace tritond::server
