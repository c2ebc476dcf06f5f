// SPDX-License-Identifier: Apache-2.0
#include "client/cc/spread_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "client/cc/rendezvous.h"
#include "client/cc/retry.h"
#include "google/rpc/error_details.pb.h"
#include "proto/request_key/request_key.h"

namespace tritond::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A daemon that answers with its own name, or with an error.
class FakeDaemon final : public Client {
 public:
  explicit FakeDaemon(std::string name) : name_(std::move(name)) {}

  absl::StatusOr<v1::CompileResponse> Compile(v1::CompileRequest request, absl::Time) override { return Named(); }
  absl::Status CompileBatch(const std::vector<v1::CompileRequest>& requests, const BatchCallback& on_result,
                            absl::Time) override {
    ++calls;
    if (on_batch) on_batch();
    for (size_t i = 0; i < requests.size(); ++i) {
      if (!error.ok() && i >= answers_before_error) return error;
      if (!item_error.ok()) {
        on_result(i, item_error);
        continue;
      }
      v1::CompileResponse response;
      response.set_key(name_);
      on_result(i, response);
    }
    return batch_end;
  }
  absl::StatusOr<v1::CompileResponse> Lookup(absl::string_view key, absl::Time) override {
    return error.ok() && !holds ? absl::NotFoundError("nothing") : Named();
  }
  absl::StatusOr<v1::Job> SubmitJob(const v1::CompileRequest&, absl::string_view key, absl::Time) override {
    submitted.insert(std::string(key));
    return JobOrError();
  }
  absl::StatusOr<v1::Job> WatchJob(absl::string_view, const std::function<void(const v1::Job&)>&, absl::Time) override {
    return error.ok() && !holds ? absl::NotFoundError("no such job") : JobOrError();
  }
  absl::StatusOr<std::vector<v1::Job>> ListJobs(const std::vector<v1::JobState>&, absl::Time) override {
    if (!error.ok()) return error;
    v1::Job job;
    job.set_id(name_);
    return std::vector<v1::Job>{job};
  }

  absl::StatusOr<v1::DescribeResponse> Describe(absl::Time) override {
    if (!error.ok()) return error;
    return v1::DescribeResponse();
  }
  absl::StatusOr<std::string> Fetch(absl::string_view, absl::Time) override { return Other(); }
  absl::StatusOr<v1::AutotuneResponse> Autotune(const v1::AutotuneRequest&,
                                                const std::function<void(const v1::AutotuneResponse&)>& on_event,
                                                absl::Time) override {
    ++calls;
    v1::AutotuneResponse event;
    event.mutable_candidate();
    on_event(event);
    return error;
  }
  absl::StatusOr<v1::Job> CancelJob(absl::string_view, absl::Time) override { return Other(); }
  absl::StatusOr<v1::GetStatsResponse> GetStats(uint32_t, absl::Time) override { return Other(); }
  absl::StatusOr<v1::ListWorkersResponse> ListWorkers(absl::Time) override { return Other(); }
  absl::StatusOr<v1::DrainResponse> Drain(bool resume, absl::Time) override {
    ++calls;
    if (!error.ok()) return error;
    v1::DrainResponse response;
    response.set_draining(!resume);
    response.set_remaining(2);
    return response;
  }
  absl::StatusOr<v1::EvictResponse> Evict(const v1::EvictRequest&, absl::Time) override { return Other(); }
  absl::StatusOr<v1::ListQuarantineResponse> ListQuarantine(absl::Time) override { return Other(); }
  absl::Status Release(absl::string_view, absl::Time) override {
    return holds ? absl::OkStatus() : absl::NotFoundError("not in");
  }
  absl::StatusOr<std::vector<std::string>> FindKeys(absl::string_view, absl::Time) override { return Other(); }
  absl::StatusOr<v1::ExplainResponse> Explain(absl::string_view, absl::string_view, absl::Time) override {
    return Other();
  }
  absl::Status ExportBundle(const std::vector<std::string>&, const std::function<absl::Status(absl::string_view)>& sink,
                            absl::Time) override {
    return error.ok() ? sink(name_) : error;
  }
  absl::StatusOr<v1::ImportResponse> ImportBundle(const std::function<absl::StatusOr<std::string>()>&,
                                                  absl::Time) override {
    return Other();
  }

  absl::Status error;
  absl::Status item_error;  // of each item of a batch
  absl::Status batch_end;   // after its items
  size_t answers_before_error = 0;
  std::function<void()> on_batch;  // before a batch is answered
  bool holds = false;
  std::atomic<int> calls{0};
  std::set<std::string> submitted;

 private:
  absl::StatusOr<v1::CompileResponse> Named() {
    ++calls;
    if (!error.ok()) return error;
    v1::CompileResponse response;
    response.set_key(name_);
    return response;
  }
  absl::StatusOr<v1::Job> JobOrError() {
    ++calls;
    if (!error.ok()) return error;
    v1::Job job;
    job.set_id(name_);
    return job;
  }
  static absl::Status Other() { return absl::UnimplementedError("not in this test"); }

  const std::string name_;
};

absl::Status WithReason(absl::Status status, const std::string& reason) {
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  status.SetPayload("type.googleapis.com/google.rpc.ErrorInfo",
                    absl::Cord(absl::string_view(info.SerializeAsString())));
  return status;
}

class SpreadClientTest : public testing::Test {
 protected:
  SpreadClientTest() {
    std::vector<Daemon> daemons;
    for (const std::string& name : names_) {
      auto fake = std::make_unique<FakeDaemon>(name);
      fakes_.push_back(fake.get());
      daemons.push_back({name, std::move(fake)});
    }
    SpreadOptions options;
    options.retry.max_attempts = 3;
    options.clock = [this] { return now_; };
    options.sleep = [this](absl::Duration delay) {
      slept_.push_back(delay);
      now_ += delay;
    };
    client_ = MakeSpreadClient(std::move(daemons), std::move(options));
  }

  static v1::CompileRequest Request(int i) {
    v1::CompileRequest request;
    request.set_ir(absl::StrCat("module ", i));
    return request;
  }
  // The daemons in the order in which the request prefers them.
  std::vector<FakeDaemon*> Preferred(const v1::CompileRequest& request) {
    std::vector<FakeDaemon*> order;
    for (size_t i : RendezvousOrder(proto::Prepare(request)->Key(""), names_)) order.push_back(fakes_[i]);
    return order;
  }
  absl::Time Soon() const { return now_ + absl::Seconds(60); }

  const std::vector<std::string> names_ = {"a:1", "b:1", "c:1"};
  std::vector<FakeDaemon*> fakes_;
  absl::Time now_ = absl::UnixEpoch();
  std::vector<absl::Duration> slept_;
  std::unique_ptr<Client> client_;
};

TEST_F(SpreadClientTest, EqualRequestsMeetAtOneDaemonAndOthersSpread) {
  std::set<std::string> seen;
  for (int i = 0; i < 50; ++i) {
    const auto first = client_->Compile(Request(i), Soon());
    const auto second = client_->Compile(Request(i), Soon());
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->key(), second->key());
    seen.insert(first->key());
  }
  EXPECT_THAT(seen, SizeIs(3));
}

TEST_F(SpreadClientTest, ADaemonOutOfReachIsReplacedAtOnceAndLeftAloneForAWhile) {
  const v1::CompileRequest request = Request(1);
  const auto preferred = Preferred(request);
  preferred[0]->error = absl::UnavailableError("refused");
  EXPECT_TRUE(client_->Compile(request, Soon()).ok());
  EXPECT_TRUE(client_->Compile(request, Soon()).ok());
  EXPECT_EQ(preferred[0]->calls, 1);
  EXPECT_EQ(preferred[1]->calls, 2);
  EXPECT_THAT(slept_, IsEmpty());

  now_ += absl::Seconds(2);
  preferred[0]->error = absl::OkStatus();
  EXPECT_TRUE(client_->Compile(request, Soon()).ok());
  EXPECT_EQ(preferred[0]->calls, 2);
}

TEST_F(SpreadClientTest, ACallThatADaemonDropsAsItEndsIsMadeElsewhere) {
  const v1::CompileRequest request = Request(1);
  const auto preferred = Preferred(request);
  preferred[0]->error = absl::CancelledError("CANCELLED");
  EXPECT_TRUE(client_->Compile(request, Soon()).ok());
  EXPECT_TRUE(client_->Compile(request, Soon()).ok());
  EXPECT_EQ(preferred[0]->calls, 1);
  EXPECT_EQ(preferred[1]->calls, 2);
  EXPECT_THAT(slept_, IsEmpty());
}

TEST_F(SpreadClientTest, AFullDaemonIsReplacedToo) {
  const v1::CompileRequest request = Request(1);
  google::rpc::RetryInfo info;
  Preferred(request)[0]->error = absl::ResourceExhaustedError("queue full");
  Preferred(request)[0]->error.SetPayload("type.googleapis.com/google.rpc.RetryInfo",
                                          absl::Cord(absl::string_view(info.SerializeAsString())));
  EXPECT_TRUE(client_->Compile(request, Soon()).ok());
  EXPECT_EQ(Preferred(request)[1]->calls, 1);
}

TEST_F(SpreadClientTest, ACompileErrorIsFinal) {
  const v1::CompileRequest request = Request(1);
  Preferred(request)[0]->error = absl::InvalidArgumentError("bad IR");
  EXPECT_TRUE(absl::IsInvalidArgument(client_->Compile(request, Soon()).status()));
  EXPECT_EQ(Preferred(request)[1]->calls, 0);
}

TEST_F(SpreadClientTest, OtherDaemonsAreAskedForWhatOneLacks) {
  const v1::CompileRequest request = Request(1);
  const auto preferred = Preferred(request);
  preferred[0]->error = WithReason(absl::InvalidArgumentError("target is unknown"), "UNKNOWN_TARGET");
  preferred[1]->error = absl::UnimplementedError("Received http2 header with status: 404");
  EXPECT_EQ(client_->Compile(request, Soon())->key(), client_->Compile(request, Soon())->key());
  EXPECT_EQ(preferred[2]->calls, 2);
  EXPECT_EQ(preferred[1]->calls, 1);  // It is no daemon, and left alone for a while.

  preferred[2]->error = WithReason(absl::FailedPreconditionError("no assembler"), "BINARY_UNAVAILABLE");
  EXPECT_TRUE(absl::IsUnimplemented(client_->Compile(request, Soon()).status()));  // Who was left alone is asked last.
  EXPECT_THAT(slept_, IsEmpty());
}

TEST_F(SpreadClientTest, WhileADaemonIsAwayThatMayHelpTheOthersAnswerIsNotTheLastWord) {
  const v1::CompileRequest request = Request(1);
  const auto preferred = Preferred(request);
  preferred[0]->error = absl::UnavailableError("restarts");
  for (int i : {1, 2}) preferred[i]->error = WithReason(absl::InvalidArgumentError("unknown"), "UNKNOWN_TARGET");
  EXPECT_TRUE(absl::IsUnavailable(client_->Compile(request, Soon()).status()));
  EXPECT_EQ(preferred[0]->calls, 3);
  EXPECT_EQ(preferred[1]->calls, 1);
}

TEST_F(SpreadClientTest, OtherDaemonsDoThePartOfABatchThatOneLacks) {
  std::vector<v1::CompileRequest> requests;
  for (int i = 0; i < 60; ++i) requests.push_back(Request(i));
  fakes_[0]->item_error = WithReason(absl::InvalidArgumentError("unknown"), "UNKNOWN_TARGET");
  fakes_[1]->error = absl::UnimplementedError("Received http2 header with status: 404");
  std::vector<int> seen(requests.size());
  const auto count = [&](bool ok) {
    return [&seen, ok](size_t index, absl::StatusOr<v1::CompileResponse> result) {
      ++seen[index];
      EXPECT_EQ(result.ok(), ok);
    };
  };
  EXPECT_TRUE(client_->CompileBatch(requests, count(true), Soon()).ok());
  EXPECT_THAT(seen, testing::Each(1));
  fakes_[2]->item_error = fakes_[0]->item_error;
  EXPECT_TRUE(client_->CompileBatch(requests, count(false), Soon()).ok());
  EXPECT_THAT(seen, testing::Each(2));
  EXPECT_THAT(slept_, IsEmpty());
}

TEST_F(SpreadClientTest, ADaemonThatLacksAWorkerAndBreaksOffIsReplacedOnce) {
  const v1::CompileRequest request = Request(1);
  const auto preferred = Preferred(request);
  preferred[0]->item_error = WithReason(absl::FailedPreconditionError("no assembler"), "BINARY_UNAVAILABLE");
  preferred[0]->batch_end = absl::UnknownError("Stream removed");
  std::vector<std::string> keys;
  const auto keep = [&](size_t, absl::StatusOr<v1::CompileResponse> result) {
    keys.push_back(result.ok() ? result->key() : result.status().ToString());
  };
  EXPECT_TRUE(client_->CompileBatch({request}, keep, Soon()).ok());
  EXPECT_THAT(keys, ElementsAre(client_->Compile(request, Soon())->key()));
  EXPECT_EQ(preferred[1]->calls, 2);
}

TEST_F(SpreadClientTest, ABundleComesFromADaemonThatAnswers) {
  fakes_[0]->error = absl::UnavailableError("refused");
  std::string from;
  const auto sink = [&](absl::string_view part) {
    from += std::string(part);
    return absl::OkStatus();
  };
  EXPECT_TRUE(client_->ExportBundle({}, sink, Soon()).ok());
  EXPECT_EQ(from, "b:1");
}

TEST_F(SpreadClientTest, AnErrorOfOneOfSeveralKeepsItsDetails) {
  fakes_[1]->error = WithReason(absl::PermissionDeniedError("not yours"), "ROLE");
  EXPECT_FALSE(IsForeign(client_->Drain(/*resume=*/false, Soon()).status()));
  EXPECT_FALSE(IsForeign(client_->ListJobs({}, Soon()).status()));
}

TEST_F(SpreadClientTest, CommandsOfOperatorsReachAllDaemons) {
  EXPECT_EQ(client_->Drain(/*resume=*/false, Soon())->remaining(), 6u);
  fakes_[0]->error = absl::UnavailableError("refused");
  EXPECT_THAT(std::string(client_->Drain(false, Soon()).status().message()), testing::HasSubstr("a:1: refused"));
  EXPECT_EQ(fakes_[2]->calls, 2);
  EXPECT_TRUE(absl::IsNotFound(client_->Release("key", Soon())));
  fakes_[1]->holds = true;
  EXPECT_TRUE(client_->Release("key", Soon()).ok());
}

TEST_F(SpreadClientTest, WhenNoneCanBeReachedItWaitsAndThenSaysSo) {
  for (FakeDaemon* fake : fakes_) fake->error = absl::UnavailableError("refused");
  EXPECT_TRUE(absl::IsUnavailable(client_->Compile(Request(1), Soon()).status()));
  EXPECT_THAT(slept_, SizeIs(2));
  EXPECT_EQ(fakes_[0]->calls + fakes_[1]->calls + fakes_[2]->calls, 9);
}

TEST_F(SpreadClientTest, ABatchIsSharedAndWhatOneDaemonLeavesOthersDo) {
  std::vector<v1::CompileRequest> requests;
  for (int i = 0; i < 60; ++i) requests.push_back(Request(i));
  fakes_[1]->error = absl::UnavailableError("killed");
  fakes_[1]->answers_before_error = 3;
  std::vector<int> seen(requests.size());
  const absl::Status status = client_->CompileBatch(
      requests,
      [&](size_t index, absl::StatusOr<v1::CompileResponse> result) {
        ++seen[index];
        EXPECT_TRUE(result.ok());
      },
      Soon());
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(seen, testing::Each(1));
  EXPECT_GT(fakes_[0]->calls, 0);
  EXPECT_GT(fakes_[2]->calls, 0);
  EXPECT_THAT(slept_, IsEmpty());
}

TEST_F(SpreadClientTest, OtherDaemonsDoThePartOfABatchThatADrainingOneRefuses) {
  std::vector<v1::CompileRequest> requests;
  for (int i = 0; i < 60; ++i) requests.push_back(Request(i));
  fakes_[1]->item_error = absl::UnavailableError("draining");
  std::vector<int> seen(requests.size());
  const absl::Status status = client_->CompileBatch(
      requests,
      [&](size_t index, absl::StatusOr<v1::CompileResponse> result) {
        ++seen[index];
        EXPECT_TRUE(result.ok());
      },
      Soon());
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(seen, testing::Each(1));
}

// Daemons that restart one after the other: whoever is asked is the next to go.
TEST_F(SpreadClientTest, ABatchThatMeetsEveryRestartIsAskedForAsOftenAsACall) {
  const v1::CompileRequest request = Request(1);
  int calls = 0;
  for (FakeDaemon* fake : fakes_) {
    fake->on_batch = [&, fake] {
      fake->item_error = ++calls < 9 ? absl::UnavailableError("draining") : absl::OkStatus();
    };
  }
  int reported = 0;
  const auto count = [&](size_t, absl::StatusOr<v1::CompileResponse> result) {
    ++reported;
    EXPECT_TRUE(result.ok()) << result.status();
  };
  EXPECT_TRUE(client_->CompileBatch({request}, count, Soon()).ok());
  EXPECT_EQ(reported, 1);
  EXPECT_EQ(calls, 9);  // three attempts at three daemons
  EXPECT_THAT(slept_, SizeIs(2));
}

TEST_F(SpreadClientTest, ItemsThatOneDaemonLeavesDoNotWaitForTheSharesOfOthers) {
  std::vector<v1::CompileRequest> requests;
  for (int i = 0; i < 60; ++i) requests.push_back(Request(i));
  fakes_[0]->error = absl::UnavailableError("killed");
  absl::Notification others_asked_again;
  fakes_[1]->on_batch = [&, calls = 0]() mutable {
    if (++calls == 2) others_asked_again.Notify();
  };
  fakes_[2]->on_batch = [&, calls = 0]() mutable {
    if (++calls > 1) return;
    EXPECT_TRUE(others_asked_again.WaitForNotificationWithTimeout(absl::Seconds(20)));
  };
  EXPECT_TRUE(client_
                  ->CompileBatch(
                      requests, [](size_t, auto) {}, Soon())
                  .ok());
}

TEST_F(SpreadClientTest, AnItemThatAllDaemonsRefuseIsReportedOnce) {
  for (FakeDaemon* fake : fakes_) fake->item_error = absl::UnavailableError("no worker");
  int reported = 0;
  const absl::Status status = client_->CompileBatch(
      {Request(1), Request(2)},
      [&](size_t, absl::StatusOr<v1::CompileResponse> result) {
        ++reported;
        EXPECT_TRUE(absl::IsUnavailable(result.status()));
      },
      Soon());
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(reported, 2);
}

TEST_F(SpreadClientTest, ABatchThatNoDaemonTakesEnds) {
  for (FakeDaemon* fake : fakes_) fake->error = absl::UnavailableError("refused");
  const absl::Status status = client_->CompileBatch(
      {Request(1), Request(2)}, [](size_t, absl::StatusOr<v1::CompileResponse>) { FAIL(); }, Soon());
  EXPECT_TRUE(absl::IsUnavailable(status));
}

TEST_F(SpreadClientTest, AKeyIsLookedUpEverywhere) {
  fakes_[2]->holds = true;
  EXPECT_EQ(client_->Lookup("key", Soon())->key(), "c:1");
  fakes_[2]->holds = false;
  EXPECT_TRUE(absl::IsNotFound(client_->Lookup("key", Soon()).status()));
}

TEST_F(SpreadClientTest, AJobOfADaemonThatIsAwayIsNotCalledUnknown) {
  fakes_[1]->error = absl::UnavailableError("restarts");
  EXPECT_TRUE(absl::IsUnavailable(client_
                                      ->WatchJob(
                                          "id", [](const v1::Job&) {}, Soon())
                                      .status()));
  fakes_[1]->error = absl::OkStatus();
  fakes_[1]->holds = true;
  EXPECT_EQ(client_
                ->WatchJob(
                    "id", [](const v1::Job&) {}, Soon())
                ->id(),
            "b:1");
}

TEST_F(SpreadClientTest, ASubmissionKeepsItsIdempotencyKeyFromDaemonToDaemon) {
  const v1::CompileRequest request = Request(1);
  Preferred(request)[0]->error = absl::UnavailableError("refused");
  EXPECT_TRUE(client_->SubmitJob(request, "", Soon()).ok());
  EXPECT_THAT(Preferred(request)[0]->submitted, SizeIs(1));
  EXPECT_EQ(Preferred(request)[0]->submitted, Preferred(request)[1]->submitted);
}

TEST_F(SpreadClientTest, JobsOfAllDaemonsAreListedOrNone) {
  const auto jobs = client_->ListJobs({}, Soon());
  ASSERT_TRUE(jobs.ok());
  std::vector<std::string> ids;
  for (const v1::Job& job : *jobs) ids.push_back(job.id());
  EXPECT_THAT(ids, ElementsAre("c:1", "b:1", "a:1"));
  fakes_[0]->error = absl::UnavailableError("refused");
  EXPECT_TRUE(absl::IsUnavailable(client_->ListJobs({}, Soon()).status()));
}

TEST_F(SpreadClientTest, ASearchThatHasBegunIsNotBegunElsewhere) {
  fakes_[0]->error = absl::UnavailableError("killed");
  EXPECT_TRUE(absl::IsAborted(client_
                                  ->Autotune(
                                      {}, [](const v1::AutotuneResponse&) {}, Soon())
                                  .status()));
  EXPECT_EQ(fakes_[1]->calls, 0);
}

}  // namespace
}  // namespace tritond::client
