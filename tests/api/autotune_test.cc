// SPDX-License-Identifier: Apache-2.0
// Tunings: a real daemon that compiles with fake workers, and a device that is this test.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "proto/v1/autotune.grpc.pb.h"
#include "proto/v1/worker.grpc.pb.h"
#include "tests/support/cluster_fixture.h"

namespace tritond::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr char kElsewhere[] = "another daemon of the cluster works on this";

// Attaches with one device and measures as it is told.
class FakeDevice final {
 public:
  // What becomes of a candidate; 0 samples: it fails.
  struct Behaviour {
    double time_us = 100;
    int code = 0;
    std::string message;
    bool wrong = false;
    uint32_t group = 1;
  };
  using BehaviourOf = std::function<Behaviour(uint32_t index)>;

  FakeDevice(std::shared_ptr<grpc::Channel> channel, BehaviourOf behaviour, const std::string& driver = "1.0")
      : stub_(v1::WorkerService::NewStub(channel)), behaviour_(std::move(behaviour)) {
    stream_ = stub_->Attach(&context_);
    v1::WorkerMessage message;
    message.mutable_hello()->set_name("a device worker");
    v1::Hello::Device& device = *message.mutable_hello()->add_devices();
    device.set_name("cuda:0");
    device.set_model("Abacus 9000");
    device.set_target("cuda:90");
    device.set_driver(driver);
    device.mutable_limits()->set_threads_per_program(1024);
    device.mutable_limits()->set_shared_bytes_per_program(65536);
    (*message.mutable_hello()->mutable_labels())["rack"] = "7";
    Write(message);
    thread_ = std::thread([this] { Serve(); });
    heartbeats_ = std::thread([this] {
      v1::WorkerMessage beat;
      beat.mutable_heartbeat();
      while (!end_.WaitForNotificationWithTimeout(absl::Milliseconds(100))) Write(beat);
    });
  }
  ~FakeDevice() {
    Release();
    end_.Notify();
    heartbeats_.join();
    context_.TryCancel();
    thread_.join();
  }

  // From now on answers are kept back, until Release.
  void Hold() {
    absl::MutexLock lock(&mu_);
    held_ = true;
  }
  void Release() {
    absl::MutexLock lock(&mu_);
    held_ = false;
  }

  std::atomic<int> asked{0};
  std::atomic<int> jobs{0};
  std::atomic<bool> lose{false};  // the device with the next job
  std::atomic<bool> attached{false};

 private:
  void Serve() {
    v1::DaemonMessage message;
    while (stream_->Read(&message)) {
      if (message.has_welcome()) attached = true;
      if (!message.has_lease()) continue;
      ++asked;
      {
        absl::MutexLock lock(&mu_);
        auto released = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return !held_; };
        mu_.Await(absl::Condition(&released));
      }
      v1::WorkerMessage answer;
      *answer.mutable_measured() = Measure(message.lease().measure());
      answer.mutable_measured()->set_lease(message.lease().id());
      ++jobs;
      if (!Write(answer)) break;
    }
    stream_->Finish();
  }
  bool Write(const v1::WorkerMessage& message) {
    absl::MutexLock lock(&write_mu_);
    return stream_->Write(message);
  }
  v1::MeasureOutcome Measure(const v1::MeasureJob& job) {
    v1::MeasureOutcome outcome;
    if (lose) {
      outcome.set_code(static_cast<int>(grpc::StatusCode::INTERNAL));
      outcome.set_message("fell off the bus");
      outcome.set_device_lost(true);
      return outcome;
    }
    for (const auto& candidate : job.candidates()) {
      const Behaviour behaviour = behaviour_(candidate.index());
      v1::MeasureOutcome::Candidate& said = *outcome.add_candidates();
      said.set_index(candidate.index());
      said.mutable_facts()->set_registers(40 + candidate.index());
      if (job.rounds() == 0) continue;
      said.set_code(behaviour.code);
      said.set_message(behaviour.message);
      said.set_wrong(behaviour.wrong);
      if (behaviour.code == 0) said.set_output_group(behaviour.group);
      for (uint32_t round = 0; round < job.rounds(); ++round) {
        v1::MeasureOutcome::Visit& visit = *outcome.add_visits();
        visit.set_index(candidate.index());
        visit.set_round(round);
        for (uint32_t i = 0; i < job.samples() && behaviour.code == 0; ++i) visit.add_samples_us(behaviour.time_us);
      }
    }
    outcome.mutable_busy()->set_nanos(1000000);
    if (job.rounds() > 0) outcome.mutable_state()->set_clock_mhz(1755);
    return outcome;
  }

  std::unique_ptr<v1::WorkerService::Stub> stub_;
  const BehaviourOf behaviour_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::WorkerMessage, v1::DaemonMessage>> stream_;
  absl::Mutex write_mu_;
  absl::Mutex mu_;
  bool held_ ABSL_GUARDED_BY(mu_) = false;
  absl::Notification end_;
  std::thread thread_, heartbeats_;
};

// What the daemon told of a search.
struct Told {
  grpc::Status status;
  std::map<uint32_t, std::vector<v1::CandidateReport::State>> states;
  v1::AutotuneResponse last;
  const v1::CandidateReport& of(int index) const { return last.tuning().candidates(index); }
};

FakeDevice::Behaviour Takes(double time_us) {
  FakeDevice::Behaviour behaviour;
  behaviour.time_us = time_us;
  return behaviour;
}

struct Requests : DaemonTest {
  using DaemonTest::Request;
};

v1::AutotuneRequest Candidates(int count) {
  v1::AutotuneRequest request;
  for (int i = 0; i < count; ++i) {
    v1::Candidate& candidate = *request.add_candidates();
    candidate.set_name(absl::StrCat("BLOCK=", 16 << i));
    *candidate.mutable_compile() = Requests::Request(absl::StrCat("module { kernel ", i, " }"));
    candidate.mutable_grid()->set_x(1);
    candidate.mutable_grid()->set_y(1);
    candidate.mutable_grid()->set_z(1);
  }
  v1::Buffer& out = *request.mutable_launch()->add_arguments()->mutable_buffer();
  out.set_type("fp32");
  out.set_elements(64);
  out.set_role(v1::Buffer::ROLE_OUTPUT);
  return request;
}

// `waiting` is called with each reason for a wait.
Told TuneAt(v1::AutotuneService::Stub& stub, const v1::AutotuneRequest& request, grpc::ClientContext* context = nullptr,
            const std::function<void(const std::string& why)>& waiting = nullptr) {
  Told run;
  grpc::ClientContext own;
  if (context == nullptr) context = &own;
  context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  const auto reader = stub.Autotune(context, request);
  v1::AutotuneResponse event;
  while (reader->Read(&event)) {
    if (event.has_candidate()) run.states[event.candidate().index()].push_back(event.candidate().state());
    if (event.has_tuning()) run.last = event;
    if (!event.waiting().empty() && waiting) waiting(event.waiting());
  }
  run.status = reader->Finish();
  return run;
}

class AutotuneTest : public DaemonTest {
 protected:
  void StartWithDevice(FakeDevice::BehaviourOf behaviour, const std::string& driver = "1.0") {
    if (channel == nullptr) Start();
    device_ = std::make_unique<FakeDevice>(channel, std::move(behaviour), driver);
    Await([&] { return device_->attached.load() && HasDevice(); });
    autotune_ = v1::AutotuneService::NewStub(channel);
  }
  void TearDown() override { device_.reset(); }

  Told Tune(const v1::AutotuneRequest& request, grpc::ClientContext* context = nullptr) {
    return TuneAt(*autotune_, request, context);
  }

  // The daemon answers the attachment before it offers the device.
  bool HasDevice() {
    const v1::ListWorkersResponse workers = Workers();
    return std::any_of(workers.workers().begin(), workers.workers().end(),
                       [](const v1::Worker& worker) { return worker.devices_size() > 0; });
  }

  bool IsMeasuring() {
    const v1::ListWorkersResponse workers = Workers();
    return std::any_of(workers.workers().begin(), workers.workers().end(), [](const v1::Worker& worker) {
      return worker.devices_size() > 0 && worker.state() == v1::Worker::STATE_BUSY;
    });
  }

  std::unique_ptr<FakeDevice> device_;
  std::unique_ptr<v1::AutotuneService::Stub> autotune_;
};

TEST_F(AutotuneTest, TheFastestCandidateWinsAndEachStepIsTold) {
  StartWithDevice([](uint32_t index) { return Takes(index == 2 ? 80 : 100 + index); });
  const Told run = Tune(Candidates(5));
  ASSERT_TRUE(run.status.ok()) << run.status.error_message();
  EXPECT_EQ(run.last.tuning().winner(), 2u);
  EXPECT_TRUE(run.last.tuning().clear());
  EXPECT_EQ(run.last.cache(), v1::CACHE_STATUS_MISS);
  EXPECT_EQ(run.last.tuning().device_model(), "Abacus 9000");
  EXPECT_EQ(run.last.tuning().driver(), "1.0");
  EXPECT_EQ(run.last.tuning().worker(), "a device worker");
  ASSERT_EQ(run.last.tuning().candidates_size(), 5);
  EXPECT_EQ(run.of(2).median_us(), 80);
  EXPECT_EQ(run.of(2).facts().registers(), 42u);
  EXPECT_GE(run.of(2).samples_us_size(), 6);
  EXPECT_THAT(run.of(2).key(), SizeIs(64));
  for (const auto& [index, states] : run.states) {
    EXPECT_EQ(states.front(), v1::CandidateReport::STATE_COMPILED);
    EXPECT_EQ(states.back(), v1::CandidateReport::STATE_TIMED);
  }
}

TEST_F(AutotuneTest, ATuningIsStoredAndFoundAgainWithoutTheDevice) {
  StartWithDevice([](uint32_t index) { return Takes(100 + index); });
  const Told first = Tune(Candidates(3));
  ASSERT_TRUE(first.status.ok()) << first.status.error_message();
  const int jobs = device_->jobs;
  const Told second = Tune(Candidates(3));
  EXPECT_EQ(second.last.cache(), v1::CACHE_STATUS_HIT);
  EXPECT_EQ(second.last.tuning().SerializeAsString(), first.last.tuning().SerializeAsString());
  EXPECT_EQ(device_->jobs, jobs);
  grpc::ClientContext context;
  v1::GetTuningRequest request;
  v1::Tuning tuning;
  request.set_key(first.last.tuning().key());
  EXPECT_TRUE(autotune_->GetTuning(&context, request, &tuning).ok());
  EXPECT_EQ(tuning.winner(), 0u);
}

TEST_F(AutotuneTest, RefreshMeasuresAgain) {
  StartWithDevice([](uint32_t index) { return Takes(100 + index); });
  ASSERT_TRUE(Tune(Candidates(3)).status.ok());
  v1::AutotuneRequest again = Candidates(3);
  again.set_cache_mode(v1::CACHE_MODE_REFRESH);
  EXPECT_EQ(Tune(again).last.cache(), v1::CACHE_STATUS_MISS);
}

TEST_F(AutotuneTest, AnotherDriverIsAnotherTuning) {
  StartWithDevice([](uint32_t index) { return Takes(100 + index); });
  const Told old = Tune(Candidates(2));
  device_.reset();
  StartWithDevice([](uint32_t index) { return Takes(100 - index); }, "2.0");
  Told fresh;
  // The old worker may still count as attached for a moment.
  Await([&] { return (fresh = Tune(Candidates(2))).last.tuning().driver() == "2.0"; });
  EXPECT_EQ(old.last.tuning().winner(), 0u);
  EXPECT_EQ(fresh.last.tuning().winner(), 1u);
  EXPECT_NE(fresh.last.tuning().key(), old.last.tuning().key());
}

TEST_F(AutotuneTest, FailuresAndWrongOutputsAreReportedAndDoNotWin) {
  StartWithDevice([](uint32_t index) {
    FakeDevice::Behaviour behaviour = Takes(100 + index);
    if (index == 0) behaviour = {1, 10, "killed by signal 11"};
    if (index == 1) behaviour = {1, 3, "argument 0: 64 of 64 elements differ", true};
    if (index == 2) behaviour = {1, 0, "", false, 2};
    return behaviour;
  });
  v1::AutotuneRequest request = Candidates(6);
  request.mutable_candidates(5)->mutable_compile()->set_ir("error invalid unknown op\n");
  const Told run = Tune(request);
  ASSERT_TRUE(run.status.ok()) << run.status.error_message();
  EXPECT_EQ(run.last.tuning().winner(), 3u);
  EXPECT_EQ(run.of(0).state(), v1::CandidateReport::STATE_FAILED);
  EXPECT_THAT(run.of(0).reason(), HasSubstr("signal 11"));
  EXPECT_EQ(run.of(1).state(), v1::CandidateReport::STATE_WRONG);
  EXPECT_EQ(run.of(2).state(), v1::CandidateReport::STATE_WRONG);
  EXPECT_THAT(run.of(2).reason(), HasSubstr("2 of 3 candidates agree"));
  EXPECT_EQ(run.of(5).state(), v1::CandidateReport::STATE_FAILED);
  EXPECT_THAT(run.of(5).reason(), HasSubstr("unknown op"));
}

TEST_F(AutotuneTest, CandidatesWithTooManyThreadsAreNotCompiled) {
  StartWithDevice([](uint32_t index) { return Takes(100 - index); });
  v1::AutotuneRequest request = Candidates(2);
  SetOption(request.mutable_candidates(1)->mutable_compile(), "num_warps", 64);
  const Told run = Tune(request);
  ASSERT_TRUE(run.status.ok()) << run.status.error_message();
  EXPECT_EQ(run.last.tuning().winner(), 0u);
  EXPECT_EQ(run.of(1).state(), v1::CandidateReport::STATE_REJECTED);
  EXPECT_THAT(run.of(1).reason(), HasSubstr("2048 threads"));
  EXPECT_THAT(run.states.at(1), SizeIs(1));
}

TEST_F(AutotuneTest, CandidatesWithTooMuchSharedMemoryAreNotCompiled) {
  StartWithDevice([](uint32_t index) { return Takes(100 - index); });
  v1::AutotuneRequest request = Candidates(2);
  request.mutable_candidates(0)->set_least_shared_bytes(65536);
  request.mutable_candidates(1)->set_least_shared_bytes(65537);
  const Told run = Tune(request);
  ASSERT_TRUE(run.status.ok()) << run.status.error_message();
  EXPECT_EQ(run.last.tuning().winner(), 0u);
  EXPECT_EQ(run.of(1).state(), v1::CandidateReport::STATE_REJECTED);
  EXPECT_THAT(run.of(1).reason(), HasSubstr("65537 bytes of shared memory"));
  EXPECT_THAT(run.states.at(1), SizeIs(1));
}

TEST_F(AutotuneTest, LabelsChooseTheWorker) {
  StartWithDevice([](uint32_t) { return Takes(100); });
  v1::AutotuneRequest request = Candidates(2);
  (*request.mutable_device()->mutable_labels())["rack"] = "7";
  EXPECT_TRUE(Tune(request).status.ok());
  (*request.mutable_device()->mutable_labels())["rack"] = "8";
  EXPECT_EQ(ReasonOf(Tune(request).status), "NO_DEVICE");
}

TEST_F(AutotuneTest, TheStateOfTheDeviceIsStored) {
  StartWithDevice([](uint32_t) { return Takes(100); });
  const Told run = Tune(Candidates(2));
  EXPECT_EQ(run.last.tuning().device_state().clock_mhz(), 1755u);
}

TEST_F(AutotuneTest, WhereAllFailTheErrorSaysWhy) {
  StartWithDevice([](uint32_t) { return FakeDevice::Behaviour{1, 10, "killed by signal 11"}; });
  const Told run = Tune(Candidates(2));
  EXPECT_EQ(run.status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(ReasonOf(run.status), "NO_WINNER");
  EXPECT_THAT(run.status.error_message(), HasSubstr("signal 11"));
}

TEST_F(AutotuneTest, WithoutADeviceThatMatchesItIsAFailedPrecondition) {
  StartWithDevice([](uint32_t) { return Takes(100); });
  v1::AutotuneRequest request = Candidates(2);
  request.mutable_device()->set_model("Abacus 9001");
  const Told run = Tune(request);
  EXPECT_EQ(run.status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(run.status), "NO_DEVICE");
  EXPECT_THAT(run.status.error_message(), HasSubstr("Abacus 9000"));
}

TEST_F(AutotuneTest, ALostDeviceEndsTheTuningAndIsOutOfServiceWithItsReason) {
  StartWithDevice([](uint32_t) { return Takes(100); });
  device_->lose = true;
  const Told run = Tune(Candidates(2));
  EXPECT_EQ(run.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(run.status), "DEVICE_LOST");
  const Told next = Tune(Candidates(2));
  EXPECT_EQ(next.status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(next.status.error_message(), HasSubstr("fell off the bus"));
}

TEST_F(AutotuneTest, ADeviceThatIsLostMidwayEndsTheTuning) {
  StartWithDevice([](uint32_t) { return Takes(100); });
  device_->Hold();
  Told run;
  std::thread caller([&] { run = Tune(Candidates(2)); });
  Await([&] { return IsMeasuring(); });
  device_->lose = true;
  device_->Release();
  caller.join();
  EXPECT_EQ(run.status.error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(AutotuneTest, CallersOfOneTuningShareIt) {
  StartWithDevice([](uint32_t index) { return Takes(100 + index); });
  device_->Hold();
  std::vector<Told> runs(3);
  std::vector<std::thread> callers;
  for (Told& run : runs) callers.emplace_back([&] { run = Tune(Candidates(3)); });
  std::this_thread::yield();
  device_->Release();
  for (std::thread& caller : callers) caller.join();
  int misses = 0;
  for (const Told& run : runs) {
    ASSERT_TRUE(run.status.ok()) << run.status.error_message();
    misses += run.last.cache() == v1::CACHE_STATUS_MISS;
    EXPECT_EQ(run.last.tuning().key(), runs[0].last.tuning().key());
  }
  EXPECT_EQ(misses, 1);
}

TEST_F(AutotuneTest, BadRequestsNameTheField) {
  StartWithDevice([](uint32_t) { return Takes(100); });
  const auto field = [this](const v1::AutotuneRequest& request) {
    const Told run = Tune(request);
    EXPECT_EQ(run.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << run.status.error_message();
    const auto bad = DetailOf<google::rpc::BadRequest>(run.status);
    return bad == nullptr ? "" : bad->field_violations(0).field();
  };
  EXPECT_EQ(field(v1::AutotuneRequest()), "candidates");
  v1::AutotuneRequest request = Candidates(2);
  request.mutable_candidates(1)->mutable_grid()->set_y(0);
  EXPECT_EQ(field(request), "candidates[1].grid");
  request = Candidates(2);
  request.mutable_launch()->add_arguments();
  EXPECT_EQ(field(request), "launch.arguments[1]");
  request = Candidates(2);
  request.mutable_candidates(0)->mutable_compile()->set_target("cuda:80");
  EXPECT_EQ(field(request), "candidates[0].compile.target");
  request = Candidates(2);
  request.mutable_strategy()->set_error_level(2);
  EXPECT_EQ(field(request), "strategy.error_level");
  request = Candidates(2);
  request.mutable_launch()->mutable_arguments(0)->mutable_buffer()->mutable_fill()->set_digest(std::string(64, 'a'));
  EXPECT_EQ(field(request), "launch.arguments[0].buffer.fill");
}

TEST_F(AutotuneTest, AnUnknownTuningIsNotFoundAndABadKeyIsInvalid) {
  StartWithDevice([](uint32_t) { return Takes(100); });
  const auto get = [this](const std::string& key) {
    grpc::ClientContext context;
    v1::GetTuningRequest request;
    v1::Tuning tuning;
    request.set_key(key);
    return autotune_->GetTuning(&context, request, &tuning).error_code();
  };
  EXPECT_EQ(get(std::string(64, 'a')), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(get("x"), grpc::StatusCode::INVALID_ARGUMENT);
  v1::CompileResponse compiled;
  ASSERT_TRUE(Compile(Request(), &compiled).ok());
  EXPECT_EQ(get(compiled.key()), grpc::StatusCode::NOT_FOUND);  // A result, but no tuning.
}

TEST_F(AutotuneTest, ACallerWhoLeavesEndsTheTuning) {
  StartWithDevice([](uint32_t) { return Takes(100); });
  device_->Hold();
  grpc::ClientContext context;
  std::thread caller([&] { Tune(Candidates(2), &context); });
  Await([&] { return IsMeasuring(); });
  context.TryCancel();
  caller.join();
  device_->Release();
  // The device is free for others.
  EXPECT_TRUE(Tune(Candidates(3)).status.ok());
}

TEST_F(AutotuneTest, WithoutACompileWorkerTheWaitIsToldAndEnds) {
  config.workers = 0;
  config.worker_wait_seconds = 1;
  Start(/*wait=*/false);
  StartWithDevice([](uint32_t) { return Takes(100); });
  std::vector<std::string> told;
  const Told run = TuneAt(*autotune_, Candidates(2), nullptr, [&](const std::string& why) { told.push_back(why); });
  EXPECT_EQ(ReasonOf(run.status), "NO_WORKER") << run.status.error_message();
  EXPECT_THAT(told, ElementsAre("no worker compiles for cuda:90 yet"));
}

TEST_F(AutotuneTest, ACallerHearsThatTheDeviceMeasuresAnotherTuning) {
  StartWithDevice([](uint32_t) { return Takes(100); });
  device_->Hold();
  Told first;
  std::thread caller([&] { first = Tune(Candidates(2)); });
  Await([&] { return device_->asked > 0; });
  std::vector<std::string> told;
  const Told second = TuneAt(*autotune_, Candidates(3), nullptr, [&](const std::string& why) {
    told.push_back(why);
    device_->Release();
  });
  caller.join();
  EXPECT_THAT(told, ElementsAre("cuda:0 measures another tuning"));
  EXPECT_TRUE(first.status.ok()) << first.status.error_message();
  EXPECT_TRUE(second.status.ok()) << second.status.error_message();
}

// Two daemons, each with a device of the same model.
class ClusterAutotuneTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (IsSkipped()) return;
    config.cluster_lease_seconds = 1;
    Start();
    StartOther();
    const auto other_channel =
        grpc::CreateChannel(absl::StrCat("127.0.0.1:", other->ports()[0]), grpc::InsecureChannelCredentials());
    here = v1::AutotuneService::NewStub(channel);
    there = v1::AutotuneService::NewStub(other_channel);
    device_here = std::make_unique<FakeDevice>(channel, [](uint32_t index) { return Takes(100 + index); });
    device_there = std::make_unique<FakeDevice>(other_channel, [](uint32_t index) { return Takes(100 - index); });
    Await([&] { return device_here->attached && device_there->attached; });
  }
  void TearDown() override {
    device_here.reset();
    device_there.reset();
    ClusterTest::TearDown();
  }

  std::unique_ptr<v1::AutotuneService::Stub> here, there;
  std::unique_ptr<FakeDevice> device_here, device_there;
};

TEST_F(ClusterAutotuneTest, OneDaemonTunesForAll) {
  device_here->Hold();
  Told first;
  std::thread caller([&] { first = TuneAt(*here, Candidates(3)); });
  Await([&] { return device_here->asked > 0; });
  bool waited = false;
  const Told second = TuneAt(*there, Candidates(3), nullptr, [&](const std::string& why) {
    if (why != kElsewhere) return;
    waited = true;
    device_here->Release();
  });
  caller.join();
  ASSERT_TRUE(first.status.ok()) << first.status.error_message();
  ASSERT_TRUE(second.status.ok()) << second.status.error_message();
  EXPECT_TRUE(waited);
  EXPECT_EQ(second.last.cache(), v1::CACHE_STATUS_JOINED);
  EXPECT_EQ(second.last.tuning().SerializeAsString(), first.last.tuning().SerializeAsString());
  EXPECT_EQ(device_there->asked, 0);
}

TEST_F(ClusterAutotuneTest, WhenTheFirstEndsWithoutAWinnerTheNextTunes) {
  device_here->Hold();
  device_here->lose = true;
  Told first;
  std::thread caller([&] { first = TuneAt(*here, Candidates(3)); });
  Await([&] { return device_here->asked > 0; });
  const Told second = TuneAt(*there, Candidates(3), nullptr, [&](const std::string& why) {
    if (why == kElsewhere) device_here->Release();
  });
  caller.join();
  EXPECT_EQ(ReasonOf(first.status), "DEVICE_LOST");
  ASSERT_TRUE(second.status.ok()) << second.status.error_message();
  EXPECT_EQ(second.last.cache(), v1::CACHE_STATUS_MISS);
  EXPECT_EQ(second.last.tuning().winner(), 2u);
}

TEST_F(ClusterAutotuneTest, ARefreshReplacesTheWinnerForAll) {
  ASSERT_TRUE(TuneAt(*here, Candidates(3)).status.ok());
  v1::AutotuneRequest again = Candidates(3);
  again.set_cache_mode(v1::CACHE_MODE_REFRESH);
  const Told fresh = TuneAt(*there, again);
  ASSERT_TRUE(fresh.status.ok()) << fresh.status.error_message();
  EXPECT_EQ(fresh.last.tuning().winner(), 2u);
  // A daemon that has neither.
  other.reset();
  device_there.reset();
  std::filesystem::remove_all(Path("other"));
  StartOther();
  v1::AutotuneService::Stub newcomer(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", other->ports()[0]), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  v1::GetTuningRequest request;
  v1::Tuning tuning;
  request.set_key(fresh.last.tuning().key());
  const grpc::Status found = newcomer.GetTuning(&context, request, &tuning);
  ASSERT_TRUE(found.ok()) << found.error_message();
  EXPECT_EQ(tuning.winner(), 2u);
}

}  // namespace
}  // namespace tritond::tests
