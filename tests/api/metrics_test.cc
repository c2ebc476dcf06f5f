// SPDX-License-Identifier: Apache-2.0
// What /metrics says about requests, by tenant and class, and whom it tells of tenants.
#include <gmock/gmock.h>
#include <httplib.h>

#include <fstream>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/request_key/request_key.h"
#include "tests/support/daemon_fixture.h"

namespace tritond::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class MetricsTest : public DaemonTest {
 protected:
  std::string Text(const std::string& token = "") {
    httplib::Headers headers;
    if (!token.empty()) headers.emplace("Authorization", "Bearer " + token);
    const httplib::Result result = httplib::Client("127.0.0.1", daemon().http_port()).Get("/metrics", headers);
    return result ? result->body : "";
  }
  // The value of a series as it stands in the text, labels included; -1 when it is not there.
  double Value(const std::string& series) {
    for (absl::string_view line : absl::StrSplit(Text(), '\n')) {
      double value = 0;
      if (absl::ConsumePrefix(&line, series + " ") && absl::SimpleAtod(line, &value)) return value;
    }
    return -1;
  }
  double Requests(const std::string& tenant, const std::string& outcome) {
    return Value(absl::StrCat("tritond_tenant_requests_total{outcome=\"", outcome, "\",tenant=\"", tenant, "\"}"));
  }
  static v1::CompileRequest Of(const std::string& tenant, const std::string& ir) {
    v1::CompileRequest request = Request(ir);
    request.set_tenant(tenant);
    return request;
  }
  double Cost(const v1::CompileRequest& request) {
    v1::CompileResponse response;
    const grpc::Status status = Compile(request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.result().cost_cpu_seconds();
  }
};

constexpr char kSaved[] = "tritond_saved_cpu_seconds_total";
constexpr char kSavedByBlue[] = "tritond_tenant_saved_cpu_seconds_total{tenant=\"blue\"}";

TEST_F(MetricsTest, RequestsCountForTheirTenantByOutcome) {
  Start();
  const double cost = Cost(Of("blue", "module {} one"));
  EXPECT_GT(cost, 0);
  EXPECT_EQ(Requests("blue", "compiled"), 1);
  EXPECT_EQ(Value(kSaved), 0);
  Cost(Of("blue", "module {} one"));
  EXPECT_EQ(Requests("blue", "hit"), 1);
  EXPECT_NEAR(Value(kSaved), cost, cost / 100);
  EXPECT_NEAR(Value(kSavedByBlue), cost, cost / 100);
  Cost(Of("red", "module {} one"));
  EXPECT_EQ(Requests("red", "hit"), 1);
  EXPECT_EQ(Requests("blue", "hit"), 1);
  v1::CompileResponse response;
  EXPECT_FALSE(Compile(Of("blue", "error invalid wrong"), &response).ok());
  EXPECT_EQ(Requests("blue", "failed"), 1);
  daemon().broker().scheduler().SetDraining(true);
  EXPECT_FALSE(Compile(Of("blue", "module {} late"), &response).ok());
  EXPECT_EQ(Requests("blue", "rejected"), 1);
  EXPECT_EQ(Requests("blue", "failed"), 1);
  EXPECT_EQ(Requests("", "hit"), 0);
}

TEST_F(MetricsTest, ACallerThatJoinsACompileSavesItsCost) {
  Start();
  v1::CompileRequest request = Of("blue", "module {} shared");
  SetOption(&request, "wait_for_file", Path("go"));
  double cost = 0;
  std::thread first([&] { cost = Cost(request); });
  Await([&] { return Stats().queues(0).running() == 1; });
  std::thread second([&] { Cost(request); });
  Await([&] {
    for (const auto& [worker, jobs] : daemon().broker().scheduler().GetStats().running) {
      if (!jobs.empty() && jobs[0].waiters == 2) return true;
    }
    return false;
  });
  Touch("go");
  first.join();
  second.join();
  EXPECT_EQ(Requests("blue", "compiled"), 1);
  EXPECT_EQ(Requests("blue", "joined"), 1);
  EXPECT_GT(cost, 0);
  EXPECT_NEAR(Value(kSaved), cost, cost / 100);
  EXPECT_NEAR(Value(kSavedByBlue), cost, cost / 100);
}

TEST_F(MetricsTest, EveryAnswerIsCountedOnceWithItsReason) {
  Start();
  const auto answers = [this] {
    double sum = 0;
    for (const char* answer : {"hit", "miss", "joined", "error_hit", "failed", "refused", "cancelled"})
      sum += Value(absl::StrCat("tritond_requests_total{answer=\"", answer, "\"}"));
    return sum;
  };
  const auto refusals = [this](const std::string& reason) {
    return Value(absl::StrCat("tritond_refusals_total{reason=\"", reason, "\"}"));
  };
  Cost(Of("blue", "module {} known"));  // A refused request adds no series for its tenant.
  v1::CompileResponse response;
  v1::CompileRequest unknown = Of("blue", "module {}"), binary = unknown, option = unknown;
  unknown.set_target("cuda:42");
  binary.set_target("cuda:100");
  SetOption(&option, "num_warps", 3);
  EXPECT_FALSE(Compile(unknown, &response).ok());
  EXPECT_FALSE(Compile(binary, &response).ok());
  EXPECT_FALSE(Compile(option, &response).ok());
  EXPECT_EQ(refusals("unknown_target"), 1);
  EXPECT_EQ(refusals("binary_unavailable"), 1);
  EXPECT_EQ(refusals("bad_request"), 1);
  EXPECT_EQ(Requests("blue", "failed"), 3);
  daemon().broker().scheduler().SetDraining(true);
  EXPECT_FALSE(Compile(Of("blue", "module {} late"), &response).ok());
  daemon().broker().scheduler().SetDraining(false);
  EXPECT_EQ(refusals("draining"), 1);
  EXPECT_EQ(Requests("blue", "rejected"), 1);
  EXPECT_EQ(answers(), 5);
  v1::CompileRequest slow = Of("blue", "module {} slow");
  SetOption(&slow, "wait_for_file", Path("never"));
  EXPECT_FALSE(Compile(slow, &response, absl::Milliseconds(200)).ok());
  Await([&] { return answers() == 6; });
  EXPECT_EQ(refusals("other"), 0);
}

TEST_F(MetricsTest, ARefusedTenantAddsNoSeriesAndHitsOfAnyNameCount) {
  Start();
  Cost(Of("blue", "module {} one"));
  v1::CompileResponse response;
  v1::CompileRequest wrong = Of("never-seen", "module {} two");
  wrong.set_target("Not A Target");
  EXPECT_EQ(Compile(wrong, &response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  for (const std::string& tenant :
       {std::string("evil\nname"), std::string("evil\x1b[2J"), std::string("evil\xc2\x9b")}) {
    EXPECT_EQ(Compile(Of(tenant, "module {} three"), &response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_TRUE(Compile(Of(tenant, "module {} one"), &response).ok());
  }
  EXPECT_THAT(Text(), Not(HasSubstr("never-seen")));
  EXPECT_THAT(Text(), Not(HasSubstr("evil")));
  EXPECT_EQ(Requests("other", "failed"), 4);
  EXPECT_EQ(Requests("other", "hit"), 3);
  EXPECT_EQ(Requests("blue", "compiled"), 1);
}

TEST_F(MetricsTest, CallersThatWaitForAWorkerAreShownByTarget) {
  config.workers = 0;
  Start(/*wait=*/false);
  EXPECT_EQ(Value("tritond_target_waiting{target=\"other\"}"), 0);
  grpc::ClientContext context;
  std::thread caller([&] {
    v1::CompileResponse response;
    compile->Compile(&context, Of("blue", "module {}"), &response);
  });
  Await([&] { return Value("tritond_target_waiting{target=\"other\"}") == 1; });
  context.TryCancel();
  caller.join();
  Await([&] { return Value("tritond_target_waiting{target=\"other\"}") == 0; });
  EXPECT_EQ(Value("tritond_requests_total{answer=\"cancelled\"}"), 1);
  EXPECT_EQ(Requests("blue", "cancelled"), 1);
}

TEST_F(MetricsTest, TargetsTellOfTheirWorkers) {
  Start();
  Await([&] { return Value("tritond_target_workers{target=\"cuda:90\",build=\"active\"}") == 2; });
  EXPECT_EQ(Value("tritond_target_ready{target=\"cuda:90\"}"), 1);
  EXPECT_EQ(Value("tritond_target_workers{target=\"cuda:90\",build=\"other\"}"), 0);
}

TEST_F(MetricsTest, WaitsCountForTheirClass) {
  Start();
  v1::CompileRequest request = Request("module {} prebuilt");
  request.set_priority(v1::PRIORITY_PREBUILD);
  Cost(request);
  EXPECT_EQ(Value("tritond_queue_seconds_count{class=\"prebuild\"}"), 1);
  EXPECT_EQ(Value("tritond_queue_seconds_count{class=\"interactive\"}"), 0);
}

TEST_F(MetricsTest, TenantsAreShownToCallersWhoMaySeeThem) {
  std::ofstream(Path("access.yaml")) << "unix: admin\ntokens:\n  - {sha256: " << proto::Sha256Hex("boss")
                                     << ", role: admin}\n  - {sha256: " << proto::Sha256Hex("red")
                                     << ", role: read, tenant: red}\n";
  config.access_file = Path("access.yaml");
  Start(/*wait=*/false);
  const auto local =
      v1::CompileService::NewStub(grpc::CreateChannel(daemon().local_address(), grpc::InsecureChannelCredentials()));
  for (const char* tenant : {"blue", "red"}) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    v1::CompileResponse response;
    const grpc::Status status = local->Compile(&context, Of(tenant, absl::StrCat("module {} ", tenant)), &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
  EXPECT_THAT(Text(), Not(HasSubstr("tenant=")));
  EXPECT_THAT(Text(), HasSubstr("tritond_requests_total{answer=\"miss\"} 2"));
  EXPECT_THAT(Text("wrong"), Not(HasSubstr("tenant=")));
  EXPECT_THAT(Text("boss"), HasSubstr("tenant=\"blue\""));
  EXPECT_THAT(Text("red"), HasSubstr("tenant=\"red\""));
  EXPECT_THAT(Text("red"), Not(HasSubstr("tenant=\"blue\"")));
  Stop();
  config.metrics_show_tenants = true;
  Start(/*wait=*/false);
  EXPECT_THAT(Text(), HasSubstr("tritond_tenant_requests_total{"));
}

}  // namespace
}  // namespace tritond::tests
