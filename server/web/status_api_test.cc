// SPDX-License-Identifier: Apache-2.0
#include "server/web/status_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tritond::server {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// SHA-256 of "reader".
constexpr char kReader[] = "3d0941964aa3ebdcb00ccef58b1bb399f9f898465e9886d5aec7f31090a0fb30";

std::shared_ptr<const JobRecord> Ended(const std::string& id, const std::string& tenant, absl::Status status) {
  JobRecord record;
  record.job.id = id;
  record.job.key = "key-of-" + id;
  record.job.label = "label-of-" + id;
  record.job.tenant = tenant;
  record.job.target = "cuda:90";
  record.job.status = std::move(status);
  record.job.queue_time = absl::Milliseconds(1);
  record.job.run_time = absl::Milliseconds(20);
  record.job.finished = absl::FromUnixSeconds(1000);
  record.stages = {{"ttgir", absl::Milliseconds(4)}};
  record.texts = {{"ttgir", "ttgir", "digest", 5}};
  record.input = "ttir";
  return std::make_shared<const JobRecord>(std::move(record));
}

class StatusApiTest : public testing::Test {
 protected:
  StatusApiTest() {
    view_.version = "1.2.3";
    view_.requests = {{"hit", 3}};
    view_.workers.push_back({"w1",
                             "node/17",
                             "local",
                             "busy",
                             "build",
                             "died of <secret IR>",
                             {"cuda:90"},
                             {},
                             12,
                             100,
                             2,
                             absl::FromUnixSeconds(1)});
    OpenJob open;
    open.id = "open";
    open.label = "label-of-open";
    open.tenant = "crimson";
    open.stage = "llir";
    open.started = absl::FromUnixSeconds(2);
    view_.scheduler.running["w1"] = {open};
    view_.scheduler.tenants = {{"blue", {1, 0}}, {"crimson", {0, 1}}};
    view_.levels = {{"results/rocksdb", 3, 1, 0}};
    view_.latency = {{"hit", {{absl::FromUnixSeconds(10), 2, absl::Milliseconds(1), absl::Milliseconds(2)}}}};
    view_.jobs = {Ended("one", "blue", absl::OkStatus()),
                  Ended("two", "crimson", absl::InvalidArgumentError("bad <op>"))};
  }
  StatusApi Api() {
    StatusApi::Sources sources;
    sources.status = [this] { return view_; };
    sources.job = [this](const std::string& id) -> std::optional<JobView> {
      JobView job;
      for (const auto& record : view_.jobs) {
        if (record->job.id == id) job.ended = record;
      }
      if (id == "open") job.open = view_.scheduler.running["w1"][0];
      job.making = making_;
      job.request_json = R"({"options":{"num_warps":4}})";
      if (job.ended == nullptr && !job.open.has_value()) return std::nullopt;
      return job;
    };
    sources.text = [](const JobRecord&, absl::string_view stage) -> absl::StatusOr<std::string> {
      if (stage == "ttgir") return "the text";
      return absl::NotFoundError("not kept");
    };
    sources.make_texts = [this](const JobRecord& record, const std::string& tenant) {
      made_ += record.job.id + "(" + tenant + ")";
      return make_;
    };
    return StatusApi(std::move(sources), policy_);
  }
  void Close(Role role, const std::string& tenant = "") {
    AccessRules rules;
    rules.anonymous = {Role::kNone, ""};
    rules.tokens.push_back({kReader, {role, tenant}});
    policy_.Replace(std::move(rules));
  }
  WebAnswer Get(const std::string& path, const std::string& token = "", bool local = true) {
    return Api().Get(path, {local, token});
  }

  WebAnswer Post(const std::string& path, const std::string& token = "", bool local = true, bool deliberate = true) {
    return Api().Post(path, {local, token, deliberate});
  }

  StatusView view_;
  std::string made_;
  absl::Status make_, making_;
  AccessPolicy policy_{AccessRules()};
};

TEST_F(StatusApiTest, TheStatusTellsOfEveryPart) {
  const json status = json::parse(Get("/api/status").body);
  EXPECT_EQ(status["version"], "1.2.3");
  EXPECT_EQ(status["requests"]["hit"], 3);
  EXPECT_EQ(status["workers"][0]["running"][0]["label"], "label-of-open");
  EXPECT_EQ(status["workers"][0]["running"][0]["stage"], "llir");
  EXPECT_EQ(status["tenants"].size(), 2u);
  EXPECT_EQ(status["cache"]["levels"][0]["hits"], 3);
  EXPECT_EQ(status["latency"]["hit"][0], json::parse("[10000, 2, 1.0, 2.0]"));
  EXPECT_EQ(status["jobs"][1]["outcome"], "INVALID_ARGUMENT");
  EXPECT_EQ(status["jobs"][1]["message"], "bad <op>");
  EXPECT_EQ(status["queues"].size(), 3u);
}

TEST_F(StatusApiTest, TheStatusTellsOfTheCluster) {
  EXPECT_TRUE(json::parse(Get("/api/status").body)["cluster"].is_null());
  view_.cluster.emplace();
  view_.cluster->name = "red";
  view_.cluster->nodes = {{"a:1", true, "", false, 8192, 10, 0, absl::Milliseconds(2)},
                          {"b:1", false, "NOAUTH", true, 8192, 0, 0, {}}};
  view_.cluster->leases_held = 2;
  view_.cluster->followed = 5;
  view_.cluster->jobs_taken = 7;
  const json cluster = json::parse(Get("/api/status").body)["cluster"];
  EXPECT_EQ(cluster["name"], "red");
  EXPECT_EQ(cluster["answers"], true);
  EXPECT_EQ(cluster["nodes"][0]["latency_ms"], 2.0);
  EXPECT_EQ(cluster["nodes"][1]["answers"], false);
  EXPECT_EQ(cluster["nodes"][1]["trouble"], "NOAUTH");
  EXPECT_EQ(cluster["nodes"][1]["slow"], true);
  EXPECT_TRUE(cluster["nodes"][1]["latency_ms"].is_null());
  EXPECT_EQ(cluster["leases"]["held"], 2);
  EXPECT_EQ(cluster["followed"], 5);
  EXPECT_EQ(cluster["jobs"]["taken"], 7);
}

TEST_F(StatusApiTest, AJobTellsItsStagesAndItsRequest) {
  const json job = json::parse(Get("/api/jobs/one").body);
  EXPECT_EQ(job["stages"][0]["stage"], "ttgir");
  EXPECT_EQ(job["stages"][0]["ms"], 4.0);
  EXPECT_EQ(job["request"]["options"]["num_warps"], 4);
  EXPECT_TRUE(job["cpu_s"].is_null());  // Not known, so nothing is made up.
  EXPECT_EQ(json::parse(Get("/api/jobs/open").body)["state"], "running");
}

TEST_F(StatusApiTest, AJobTellsWhatItTookAndWhoseItWas) {
  JobRecord record = *view_.jobs[0];
  record.cpu_seconds = 0.5;
  record.peak_memory_bytes = 3 << 20;
  record.followed = "red";
  record.resources.shared_bytes = 0;
  record.signer = "0123";
  view_.jobs[0] = std::make_shared<const JobRecord>(std::move(record));
  const json job = json::parse(Get("/api/jobs/one").body);
  EXPECT_EQ(job["cpu_s"], 0.5);
  EXPECT_EQ(job["peak_memory_bytes"], 3 << 20);
  EXPECT_EQ(job["followed"], "red");
  EXPECT_EQ(job["resources"]["shared_bytes"], 0);
  EXPECT_EQ(job["signer"], "0123");
  EXPECT_EQ(json::parse(Get("/api/status").body)["jobs"][0]["followed"], "red");
  EXPECT_TRUE(json::parse(Get("/api/jobs/two").body)["peak_memory_bytes"].is_null());
  EXPECT_TRUE(json::parse(Get("/api/jobs/two").body)["resources"]["shared_bytes"].is_null());
}

TEST_F(StatusApiTest, TextsAreServedAsTexts) {
  const WebAnswer answer = Get("/api/jobs/one/ir/ttgir");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.type, "text/plain; charset=utf-8");
  EXPECT_EQ(answer.body, "the text");
  EXPECT_EQ(Get("/api/jobs/one/ir/llir").status, 404);
  EXPECT_EQ(Get("/api/jobs/open/ir/ttgir").status, 404);
}

TEST_F(StatusApiTest, TextsThatAreNotKeptAreMadeForWhoMayCompile) {
  EXPECT_EQ(Post("/api/jobs/one/ir").status, 202);
  EXPECT_EQ(made_, "one()");
  make_ = absl::FailedPreconditionError("another compiler");
  EXPECT_EQ(Post("/api/jobs/one/ir").status, 409);
  make_ = absl::NotFoundError("not stored any more");
  EXPECT_EQ(Post("/api/jobs/one/ir").status, 404);
  EXPECT_EQ(Post("/api/jobs/open/ir").status, 409);
  EXPECT_EQ(Post("/api/jobs/three/ir").status, 404);
  EXPECT_EQ(Post("/api/jobs/one").status, 404);
  EXPECT_EQ(Post("/api/jobs/one/ir/llir").status, 404);
}

TEST_F(StatusApiTest, APageFromElsewhereHasNothingMade) {
  EXPECT_EQ(Post("/api/jobs/one/ir", "", true, /*deliberate=*/false).status, 403);
  EXPECT_EQ(Post("/api/jobs/one/ir", "", /*local=*/false).status, 403);
  Close(Role::kRead);
  EXPECT_EQ(Post("/api/jobs/one/ir").status, 401);
  EXPECT_EQ(Post("/api/jobs/one/ir", "reader").status, 403);
  EXPECT_EQ(made_, "");
  Close(Role::kCompile, "blue");
  EXPECT_EQ(Post("/api/jobs/two/ir", "reader").status, 404);  // Another tenant's.
  EXPECT_EQ(Post("/api/jobs/one/ir", "reader").status, 202);
  EXPECT_EQ(made_, "one(blue)");
}

TEST_F(StatusApiTest, AJobTellsHowTheMakingOfItsTextsGoes) {
  EXPECT_TRUE(json::parse(Get("/api/jobs/one").body)["making"].is_null());
  making_ = absl::UnavailableError("under way");
  EXPECT_EQ(json::parse(Get("/api/jobs/one").body)["making"], json::parse(R"({"under_way": true})"));
  making_ = absl::InternalError("no luck");
  EXPECT_EQ(json::parse(Get("/api/jobs/one").body)["making"],
            json::parse(R"({"under_way": false, "error": "no luck"})"));
}

TEST_F(StatusApiTest, AMissingJobOrStageIsNotFound) {
  for (const char* path :
       {"/api/", "/api/jobs", "/api/jobs/three", "/api/jobs/three/ir/ttgir", "/api/jobs/one/text/ttgir"}) {
    EXPECT_EQ(Get(path).status, 404) << path;
    EXPECT_TRUE(json::parse(Get(path).body).contains("error")) << path;
  }
}

TEST_F(StatusApiTest, StrangersSeeNumbersAlone) {
  Close(Role::kRead);
  const std::string body = Get("/api/status").body;
  const json status = json::parse(body);
  EXPECT_EQ(status["jobs"].size(), 2u);
  EXPECT_EQ(status["jobs"][0]["outcome"], "OK");
  for (const char* secret : {"label-of", "key-of", "bad <op>", "secret IR", "blue", "crimson"})
    EXPECT_THAT(body, Not(HasSubstr(secret))) << secret;
  EXPECT_EQ(Get("/api/jobs/one").status, 401);
  EXPECT_EQ(Get("/api/jobs/one/ir/ttgir").status, 401);
  EXPECT_EQ(Get("/api/jobs/one/ir/ttgir", "guess").status, 403);
  EXPECT_EQ(Get("/api/jobs/one/ir/ttgir", "reader").status, 200);
  EXPECT_THAT(Get("/api/status", "reader").body, HasSubstr("label-of-one"));
}

TEST_F(StatusApiTest, IrIsHiddenFromOtherMachines) {
  EXPECT_EQ(Get("/api/jobs/one", "", false).status, 200);
  EXPECT_TRUE(json::parse(Get("/api/jobs/one", "", false).body)["request"].is_null());
  const WebAnswer refused = Get("/api/jobs/one/ir/ttgir", "", false);
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, Not(HasSubstr("the text")));
  Close(Role::kAdmin);
  EXPECT_EQ(Get("/api/jobs/one/ir/ttgir", "reader", false).status, 403);
}

TEST_F(StatusApiTest, ATenantSeesItsOwnJobsAlone) {
  Close(Role::kCompile, "blue");
  const std::string body = Get("/api/status", "reader").body;
  EXPECT_EQ(json::parse(body)["jobs"].size(), 1u);
  EXPECT_THAT(body, HasSubstr("label-of-one"));
  EXPECT_THAT(body, Not(HasSubstr("label-of-two")));
  EXPECT_THAT(body, Not(HasSubstr("label-of-open")));
  EXPECT_THAT(body, Not(HasSubstr("secret IR")));
  EXPECT_EQ(Get("/api/jobs/one/ir/ttgir", "reader").status, 200);
  EXPECT_EQ(Get("/api/jobs/two", "reader").status, 404);
  EXPECT_EQ(Get("/api/jobs/two/ir/ttgir", "reader").status, 404);
}

TEST_F(StatusApiTest, TuningsAreShownWithTheirCandidatesToTheirTenantAlone) {
  StatusView::Tuning tuning;
  tuning.key = "key-of-tuning";
  tuning.tenant = "blue";
  tuning.state = "done";
  tuning.winner = 1;
  tuning.candidates = {{"slow", "timed", "", 12.5, 0.5}, {"fast", "timed", "", 10, 0.25}};
  view_.tunings = {tuning};
  Close(Role::kCompile, "blue");
  const json shown = json::parse(Get("/api/status", "reader").body)["tunings"];
  ASSERT_EQ(shown.size(), 1u);
  EXPECT_EQ(shown[0]["winner"], 1);
  EXPECT_EQ(shown[0]["candidates"][0], json::parse(R"(["slow", 12.5, 0.5, "timed", ""])"));
  view_.tunings[0].tenant = "crimson";
  EXPECT_THAT(Get("/api/status", "reader").body, Not(HasSubstr("key-of-tuning")));
  EXPECT_THAT(Get("/api/status").body, Not(HasSubstr("key-of-tuning")));
}

TEST_F(StatusApiTest, BytesThatAreNoTextDoNotBreakTheJson) {
  view_.workers[0].last_death = "\xff\xfe";
  EXPECT_FALSE(json::parse(Get("/api/status").body, nullptr, false).is_discarded());
}

}  // namespace
}  // namespace tritond::server
