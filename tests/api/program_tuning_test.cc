// SPDX-License-Identifier: Apache-2.0
// Programs that tune themselves: one measures, the others take its winner.
#include <gmock/gmock.h>
#include <httplib.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/request_key/request_key.h"
#include "proto/v1/autotune.grpc.pb.h"
#include "tests/support/cluster_fixture.h"

namespace tritond::tests {
namespace {

using Stub = v1::AutotuneService::Stub;

v1::ProgramTuningKey Key(const std::string& function = "matmul") {
  v1::ProgramTuningKey key;
  key.set_function(function);
  for (const char* configuration : {"BLOCK=128", "BLOCK=64"}) {
    key.add_configurations(configuration);
    key.add_kernels(proto::Sha256Hex(configuration));
  }
  key.set_target("cuda:90");
  key.add_arguments("M=4096");
  key.set_device_model("NVIDIA H200");
  key.set_driver("580.65");
  key.set_triton_version("3.6.0");
  key.set_benchmark("do_bench");
  return key;
}

v1::ProgramTuning Tuning(const std::string& winner = "BLOCK=64") {
  v1::ProgramTuning tuning;
  tuning.set_winner(winner);
  tuning.add_timings()->add_milliseconds(std::numeric_limits<double>::infinity());
  tuning.add_timings()->add_milliseconds(0.25);
  return tuning;
}

std::unique_ptr<grpc::ClientContext> Context(const std::string& token = "") {
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
  if (!token.empty()) context->AddMetadata("authorization", "Bearer " + token);
  return context;
}

grpc::Status Acquire(Stub& at, const v1::ProgramTuningKey& key, int wait_seconds,
                     v1::AcquireProgramTuningResponse* response, const std::string& token = "") {
  v1::AcquireProgramTuningRequest request;
  *request.mutable_key() = key;
  request.mutable_wait()->set_seconds(wait_seconds);
  return at.AcquireProgramTuning(Context(token).get(), request, response);
}

v1::AcquireProgramTuningResponse AcquireOk(Stub& at, const v1::ProgramTuningKey& key, int wait_seconds = 0,
                                           const std::string& token = "") {
  v1::AcquireProgramTuningResponse response;
  const grpc::Status status = Acquire(at, key, wait_seconds, &response, token);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

grpc::Status Store(Stub& at, const std::string& ticket, const v1::ProgramTuningKey& key,
                   const v1::ProgramTuning& tuning = Tuning(), const std::string& token = "") {
  v1::StoreProgramTuningRequest request;
  request.set_ticket(ticket);
  *request.mutable_key() = key;
  *request.mutable_tuning() = tuning;
  v1::StoreProgramTuningResponse response;
  return at.StoreProgramTuning(Context(token).get(), request, &response);
}

grpc::Status Renew(Stub& at, const std::string& ticket, const std::string& token = "") {
  v1::RenewProgramTuningRequest request;
  request.set_ticket(ticket);
  v1::RenewProgramTuningResponse response;
  return at.RenewProgramTuning(Context(token).get(), request, &response);
}

grpc::Status Abandon(Stub& at, const std::string& ticket, const std::string& token = "") {
  v1::AbandonProgramTuningRequest request;
  request.set_ticket(ticket);
  v1::AbandonProgramTuningResponse response;
  return at.AbandonProgramTuning(Context(token).get(), request, &response);
}

class ProgramTuningTest : public DaemonTest {
 protected:
  void Begin() {
    config.workers = 0;
    Start(/*wait=*/false);
    stub = v1::AutotuneService::NewStub(channel);
  }
  // A second daemon run over the same folder.
  void Restart() {
    stub.reset();
    Stop();
    Begin();
  }
  // A caller that waits.
  std::future<v1::AcquireProgramTuningResponse> AcquireLater(int wait_seconds) {
    auto waiting =
        std::async(std::launch::async, [this, wait_seconds] { return AcquireOk(*stub, Key(), wait_seconds); });
    return waiting;
  }
  void AwaitWaiting(uint64_t count) {
    Await([&] { return Stats().program_tunings().waiting() == count; });
  }

  std::unique_ptr<Stub> stub;
};

TEST_F(ProgramTuningTest, OneOfManyMeasuresAndTheOthersGetItsWinner) {
  Begin();
  const v1::AcquireProgramTuningResponse first = AcquireOk(*stub, Key());
  ASSERT_FALSE(first.ticket().empty());
  EXPECT_EQ(first.ticket_lifetime().seconds(), 15);
  std::vector<std::future<v1::AcquireProgramTuningResponse>> others;
  for (int i = 0; i < 7; ++i) others.push_back(AcquireLater(60));
  AwaitWaiting(7);
  EXPECT_TRUE(Renew(*stub, first.ticket()).ok());
  EXPECT_TRUE(Store(*stub, first.ticket(), Key()).ok());
  for (auto& other : others) {
    const v1::AcquireProgramTuningResponse answer = other.get();
    EXPECT_EQ(answer.stored().winner(), "BLOCK=64");
    ASSERT_EQ(answer.stored().timings_size(), 2);
    EXPECT_EQ(answer.stored().timings(1).milliseconds(0), 0.25);
    EXPECT_GT(answer.stored().created().seconds(), 0);
    EXPECT_EQ(answer.ticket(), "");
  }
  const v1::ProgramTuningStats stats = Stats().program_tunings();
  EXPECT_EQ(stats.granted(), 1u);
  EXPECT_EQ(stats.measured(), 1u);
  EXPECT_EQ(stats.shared(), 7u);
  EXPECT_EQ(stats.stored(), 1u);
}

TEST_F(ProgramTuningTest, AWaitThatIsOverIsNoError) {
  Begin();
  ASSERT_FALSE(AcquireOk(*stub, Key()).ticket().empty());
  const v1::AcquireProgramTuningResponse second = AcquireOk(*stub, Key(), 1);
  EXPECT_FALSE(second.has_stored());
  EXPECT_EQ(second.ticket(), "");
  EXPECT_EQ(Stats().program_tunings().refused(), 1u);
}

TEST_F(ProgramTuningTest, ATicketThatIsGivenBackGoesToTheNext) {
  Begin();
  const std::string ticket = AcquireOk(*stub, Key()).ticket();
  auto second = AcquireLater(60);
  AwaitWaiting(1);
  EXPECT_TRUE(Abandon(*stub, ticket).ok());
  EXPECT_FALSE(second.get().ticket().empty());
  EXPECT_TRUE(Abandon(*stub, ticket).ok());
  const grpc::Status late = Renew(*stub, ticket);
  EXPECT_EQ(late.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(ReasonOf(late), "TICKET_LOST");
  EXPECT_EQ(ReasonOf(Store(*stub, ticket, Key())), "TICKET_LOST");
}

TEST_F(ProgramTuningTest, AHolderThatDiesLosesItsTicket) {
  config.tuning_ticket_seconds = 0.2;
  Begin();
  ASSERT_FALSE(AcquireOk(*stub, Key()).ticket().empty());  // and is not heard of again
  EXPECT_FALSE(AcquireOk(*stub, Key(), 60).ticket().empty());
  EXPECT_EQ(Stats().program_tunings().lost(), 1u);
}

TEST_F(ProgramTuningTest, ACallerThatHasGoneDoesNotWait) {
  Begin();
  ASSERT_FALSE(AcquireOk(*stub, Key()).ticket().empty());
  v1::AcquireProgramTuningRequest request;
  *request.mutable_key() = Key();
  request.mutable_wait()->set_seconds(600);
  v1::AcquireProgramTuningResponse response;
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Milliseconds(300)));
  EXPECT_EQ(stub->AcquireProgramTuning(&context, request, &response).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  AwaitWaiting(0);
}

TEST_F(ProgramTuningTest, AStoredWinnerSurvivesARestart) {
  Begin();
  EXPECT_TRUE(Store(*stub, AcquireOk(*stub, Key()).ticket(), Key()).ok());
  Restart();
  EXPECT_EQ(AcquireOk(*stub, Key()).stored().winner(), "BLOCK=64");
  EXPECT_EQ(Stats().program_tunings().stored(), 1u);
}

TEST_F(ProgramTuningTest, TicketsDoNotSurviveARestart) {
  Begin();
  const std::string ticket = AcquireOk(*stub, Key()).ticket();
  Restart();
  EXPECT_EQ(ReasonOf(Store(*stub, ticket, Key())), "TICKET_LOST");
  EXPECT_FALSE(AcquireOk(*stub, Key()).ticket().empty());
}

TEST_F(ProgramTuningTest, EvictingEverythingForgetsWinners) {
  Begin();
  EXPECT_TRUE(Store(*stub, AcquireOk(*stub, Key()).ticket(), Key()).ok());
  v1::EvictRequest evict;
  evict.set_everything(true);
  v1::EvictResponse evicted;
  EXPECT_TRUE(admin->Evict(Context().get(), evict, &evicted).ok());
  EXPECT_FALSE(AcquireOk(*stub, Key()).ticket().empty());
}

TEST_F(ProgramTuningTest, WrongFieldsAreNamed) {
  Begin();
  const auto field_of = [](const grpc::Status& status) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    const auto detail = DetailOf<google::rpc::BadRequest>(status);
    return detail == nullptr ? "" : detail->field_violations(0).field();
  };
  v1::AcquireProgramTuningResponse response;
  EXPECT_EQ(field_of(Acquire(*stub, Key(), -1, &response)), "wait");
  EXPECT_EQ(field_of(Acquire(*stub, Key(""), 0, &response)), "key.function");
  const std::string ticket = AcquireOk(*stub, Key()).ticket();
  EXPECT_EQ(field_of(Store(*stub, ticket, Key(), Tuning("BLOCK=1"))), "tuning.winner");
  EXPECT_EQ(field_of(Store(*stub, ticket, Key("another"))), "ticket");
  EXPECT_TRUE(Store(*stub, ticket, Key()).ok());
}

TEST_F(ProgramTuningTest, LargeMessagesAreRefusedUnread) {
  Begin();
  v1::ProgramTuningKey key = Key();
  key.set_function(std::string(2 << 20, 'x'));
  v1::AcquireProgramTuningResponse response;
  const grpc::Status status = Acquire(*stub, key, 0, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ReasonOf(status), "MESSAGE_TOO_LARGE");
  EXPECT_EQ(ReasonOf(Renew(*stub, std::string(5000, 'x'))), "MESSAGE_TOO_LARGE");
}

TEST_F(ProgramTuningTest, MetricsCountThem) {
  Begin();
  EXPECT_TRUE(Store(*stub, AcquireOk(*stub, Key()).ticket(), Key()).ok());
  AcquireOk(*stub, Key());
  const httplib::Result page = httplib::Client("127.0.0.1", daemon().http_port()).Get("/metrics");
  ASSERT_TRUE(page);
  for (const char* line :
       {"tritond_program_tuning_events_total{event=\"shared\"} 1",
        "tritond_program_tuning_events_total{event=\"measured\"} 1", "tritond_program_tunings{state=\"stored\"} 1"})
    EXPECT_THAT(page->body, testing::HasSubstr(line));
}

class ProgramTuningAccessTest : public ProgramTuningTest {
 protected:
  ProgramTuningAccessTest() {
    std::string text = "anonymous: none\nunix: none\ntokens:\n";
    for (const auto& [token, rest] :
         {std::pair("reader", "role: read"), std::pair("builder", "role: prebuild"),
          std::pair("compiler", "role: compile, tenant: team-a"), std::pair("other", "role: compile, tenant: team-b"),
          std::pair("boss", "role: admin")})
      absl::StrAppend(&text, "  - {sha256: ", proto::Sha256Hex(token), ", ", rest, "}\n");
    std::ofstream(Path("access.yaml")) << text;
    config.access_file = Path("access.yaml");
    config.listen = {"unix:" + Path("s")};
  }
  void Begin() {
    config.workers = 0;
    Start(/*wait=*/false);
    channel = grpc::CreateChannel("unix:" + Path("s"), grpc::InsecureChannelCredentials());
    stub = v1::AutotuneService::NewStub(channel);
  }
};

TEST_F(ProgramTuningAccessTest, ReadersGetWinnersAndWriteNone) {
  Begin();
  const v1::ProgramTuningKey key = Key();
  const std::string ticket = AcquireOk(*stub, key, 0, "boss").ticket();
  ASSERT_FALSE(ticket.empty());
  for (const char* token : {"reader", "builder"}) {
    EXPECT_EQ(AcquireOk(*stub, Key("nobody measures"), 0, token).ticket(), "") << token;
    EXPECT_EQ(ReasonOf(Renew(*stub, ticket, token)), "PERMISSION_DENIED") << token;
    EXPECT_EQ(ReasonOf(Abandon(*stub, ticket, token)), "PERMISSION_DENIED") << token;
    EXPECT_EQ(ReasonOf(Store(*stub, ticket, key, Tuning(), token)), "PERMISSION_DENIED") << token;
  }
  EXPECT_TRUE(Store(*stub, ticket, key, Tuning(), "boss").ok());
  EXPECT_EQ(AcquireOk(*stub, key, 0, "reader").stored().winner(), "BLOCK=64");
  v1::AcquireProgramTuningResponse response;
  EXPECT_EQ(Acquire(*stub, key, 0, &response).error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(ProgramTuningAccessTest, TenantsDoNotChooseForEachOther) {
  Begin();
  EXPECT_TRUE(Store(*stub, AcquireOk(*stub, Key(), 0, "compiler").ticket(), Key(), Tuning(), "compiler").ok());
  EXPECT_TRUE(AcquireOk(*stub, Key(), 0, "compiler").has_stored());
  EXPECT_FALSE(AcquireOk(*stub, Key(), 0, "other").has_stored());
  EXPECT_FALSE(AcquireOk(*stub, Key(), 0, "reader").has_stored());
}

class ClusterTuningTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (IsSkipped()) return;
    config.workers = 0;
    Start(/*wait=*/false);
    StartOther();
    here = v1::AutotuneService::NewStub(channel);
    there = v1::AutotuneService::NewStub(
        grpc::CreateChannel(absl::StrCat("127.0.0.1:", other->ports()[0]), grpc::InsecureChannelCredentials()));
  }
  void TearDown() override {
    there.reset();
    ClusterTest::TearDown();
  }
  std::unique_ptr<Stub> here, there;
};

TEST_F(ClusterTuningTest, OneOfTheClusterMeasures) {
  const std::string ticket = AcquireOk(*here, Key()).ticket();
  ASSERT_FALSE(ticket.empty());
  EXPECT_EQ(AcquireOk(*there, Key()).ticket(), "");
  auto waiting = std::async(std::launch::async, [this] { return AcquireOk(*there, Key(), 60); });
  EXPECT_TRUE(Store(*here, ticket, Key()).ok());
  EXPECT_EQ(waiting.get().stored().winner(), "BLOCK=64");
}

TEST_F(ClusterTuningTest, AWinnerOutlivesTheDaemonThatStoredIt) {
  EXPECT_TRUE(Store(*here, AcquireOk(*here, Key()).ticket(), Key()).ok());
  here.reset();
  Stop();
  EXPECT_EQ(AcquireOk(*there, Key()).stored().winner(), "BLOCK=64");
}

TEST_F(ClusterTuningTest, WithoutTheEngineEachDaemonMeasures) {
  for (int node = 0; node < 3; ++node) nodes->Signal(node, SIGKILL);
  EXPECT_FALSE(AcquireOk(*here, Key()).ticket().empty());
  EXPECT_FALSE(AcquireOk(*there, Key()).ticket().empty());
}

}  // namespace
}  // namespace tritond::tests
