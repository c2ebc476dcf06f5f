// SPDX-License-Identifier: Apache-2.0
// The status page in a real browser, over a real daemon.
#include <gmock/gmock.h>
#include <httplib.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/request_key/request_key.h"
#include "tests/support/browser.h"
#include "tests/support/daemon_fixture.h"
#include "tests/support/sanitizer.h"

namespace tritond::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class StatusPageTest : public DaemonTest {
 protected:
  std::string Url(const std::string& fragment = "") {
    return absl::StrCat("http://127.0.0.1:", daemon().http_port(), "/", fragment);
  }
  httplib::Result Get(const std::string& path, const std::string& token = "") {
    httplib::Headers headers;
    if (!token.empty()) headers.emplace("Authorization", "Bearer " + token);
    return httplib::Client("127.0.0.1", daemon().http_port()).Get(path, headers);
  }
  v1::CompileResponse Compiled(v1::CompileRequest request) {
    v1::CompileResponse response;
    const grpc::Status status = Compile(request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  static v1::CompileRequest Named(const std::string& label, const std::string& ir = "module {}") {
    v1::CompileRequest request = Request(ir);
    request.set_label(label);
    return request;
  }

  Browser browser_{Path("browser")};
};

#define SKIP_WITHOUT_BROWSER() \
  if (!browser_.available()) GTEST_SKIP() << "no Chromium on this machine (Debian: apt-get install chromium)"

TEST_F(StatusPageTest, ShowsQueueWorkersCachesAndJobs) {
  SKIP_WITHOUT_BROWSER();
  Start();
  v1::CompileRequest request = Named("matmul_f16");
  request.set_tenant("team-a");
  Compiled(request);
  Compiled(request);
  v1::CompileRequest slow = Named("slow_kernel", "slow");
  slow.set_tenant("team-b");
  SetOption(&slow, "wait_for_file", Path("go"));
  std::thread running([&] { Compiled(slow); });
  Await([&] { return Stats().queues(0).running() == 1; });
  const std::string page = browser_.Dump(Url());
  Touch("go");
  running.join();
  for (const char* text : {"ready", "50.0 %", "matmul_f16", "team-a", "slow_kernel", "team-b", "interactive",
                           "prebuild", "idle", "busy", "results/rocksdb", "blobs/memory", "compiled", "3 targets"}) {
    EXPECT_THAT(page, HasSubstr(text)) << text;
  }
  EXPECT_THAT(page, HasSubstr("class=\"chart\""));
}

TEST_F(StatusPageTest, AJobsPageShowsItsStagesSideBySideAndHowToGetTheOthers) {
  SKIP_WITHOUT_BROWSER();
  Start();
  v1::CompileRequest request = Named("softmax", "module { the input }");
  for (v1::Stage stage : {v1::STAGE_TTGIR, v1::STAGE_ASM, v1::STAGE_BINARY}) request.add_outputs(stage);
  const v1::CompileResponse response = Compiled(request);
  ASSERT_FALSE(response.job().empty());
  const std::string page = browser_.Dump(Url("#job/" + response.job()));
  EXPECT_THAT(page, HasSubstr(response.key()));
  EXPECT_THAT(page, HasSubstr(">module { the input }</span>"));  // ttir, as it was sent
  EXPECT_THAT(page, HasSubstr("<span>ttgir for cuda:90 with"));  // as it is stored
  EXPECT_THAT(page, HasSubstr("<span>ptx for cuda:90 with"));
  EXPECT_THAT(page, Not(HasSubstr("<span>llir for cuda:90 with")));  // not asked for, so not made up
  EXPECT_THAT(page, HasSubstr("<dt>Shared memory</dt><dd>1 KiB</dd>"));
  EXPECT_THAT(page, HasSubstr("<dt>Options</dt><dd>num_warps=4</dd>"));
  EXPECT_THAT(page, HasSubstr("<dt>Registers</dt><dd>40 a thread</dd>"));
  EXPECT_THAT(page, HasSubstr("<dt>Spills</dt><dd>none</dd>"));
  EXPECT_THAT(page, HasSubstr("<dt>Occupancy</dt><dd>75.0 %: 48 of 64 warps, limited by registers</dd>"));
  EXPECT_THAT(page, HasSubstr("--option num_warps=4 --emit llir -o softmax.llir"));
  EXPECT_THAT(page, HasSubstr(">Make all stages</button>"));
  EXPECT_THAT(page, HasSubstr("binary <b>10 µs</b>"));  // the time of a stage
}

TEST_F(StatusPageTest, AllStagesAreMadeWhenSomebodyWantsToLook) {
  Start();
  v1::CompileRequest request = Named("softmax", "module { the input }");
  request.set_tenant("team-a");
  const v1::CompileResponse response = Compiled(request);
  const std::string job = "/api/jobs/" + response.job(), ir = job + "/ir";
  for (const char* stage : {"/ttgir", "/llir", "/asm"}) EXPECT_EQ(Get(ir + stage)->status, 404) << stage;
  httplib::Client client("127.0.0.1", daemon().http_port());
  EXPECT_EQ(client.Post(ir, "", "text/plain")->status, 403);  // As a page from elsewhere could.
  ASSERT_EQ(client.Post(ir, {{"X-Tritond-Intent", "test"}}, "", "text/plain")->status, 202);
  Await([&] { return json::parse(Get(job)->body)["making"].is_null(); });
  EXPECT_THAT(Get(ir + "/ttgir")->body, HasSubstr("ttgir for cuda:90 with"));
  EXPECT_THAT(Get(ir + "/llir")->body, HasSubstr("llir for cuda:90 with"));
  EXPECT_THAT(Get(ir + "/asm")->body, HasSubstr("ptx for cuda:90 with"));
  EXPECT_THAT(Get(ir + "/disassembly")->body, HasSubstr("sass for cuda:90 with"));
  EXPECT_EQ(Get(ir + "/ttir")->body, "module { the input }");
  EXPECT_EQ(Stats().recent(0).tenant(), "team-a");  // Whose job it was pays for it,
  EXPECT_EQ(Stats().misses(), 2u);                  // once:
  ASSERT_EQ(client.Post(ir, {{"X-Tritond-Intent", "test"}}, "", "text/plain")->status, 202);
  EXPECT_TRUE(json::parse(Get(job)->body)["making"].is_null());
  EXPECT_EQ(Stats().misses(), 2u);
  if (!browser_.available()) return;
  const std::string page = browser_.Dump(Url("#job/" + response.job()));
  EXPECT_THAT(page, HasSubstr("<span>llir for cuda:90 with"));
  EXPECT_THAT(page, HasSubstr("<span>sass for cuda:90 with"));
  EXPECT_THAT(page, HasSubstr("made again, 2 lines"));
  EXPECT_THAT(page, Not(HasSubstr(">Make all stages</button>")));
}

TEST_F(StatusPageTest, StagesThatCannotBeMadeAreSaidSo) {
  Start();
  const v1::CompileResponse response = Compiled(Named("softmax"));
  const std::string job = "/api/jobs/" + response.job();
  daemon().broker().scheduler().SetDraining(true);
  httplib::Client client("127.0.0.1", daemon().http_port());
  ASSERT_EQ(client.Post(job + "/ir", {{"X-Tritond-Intent", "test"}}, "", "text/plain")->status, 202);
  Await([&] { return !json::parse(Get(job)->body)["making"].value("under_way", true); });
  EXPECT_THAT(json::parse(Get(job)->body)["making"]["error"], HasSubstr("drain"));
  if (!browser_.available()) return;
  EXPECT_THAT(browser_.Dump(Url("#job/" + response.job())),
              HasSubstr("The stages could not be made: this server is draining"));
}

TEST_F(StatusPageTest, AJobsPageShowsWhatItsWorkerUsed) {
  SKIP_WITHOUT_BROWSER();
  Start();
  v1::CompileRequest request = Named("large");
  SetOption(&request, "use_memory_mb", 300);
  const v1::CompileResponse response = Compiled(request);
  const uint64_t peak = response.result().peak_memory_bytes();
  EXPECT_GT(peak, uint64_t{300} << 20);
  EXPECT_GT(response.result().cost_cpu_seconds(), 0);
  const std::string page = browser_.Dump(Url("#job/" + response.job()));
  EXPECT_THAT(page, HasSubstr("<dt>CPU time</dt>"));
  EXPECT_THAT(page, HasSubstr(absl::StrCat("<dt>Peak memory</dt><dd>", kSanitized ? "" : "3")));  // 3… MiB
  EXPECT_EQ(Stats().recent(0).peak_memory_bytes(), peak);
  EXPECT_EQ(Stats().recent(0).stage_times_size(), 5);
  EXPECT_EQ(Stats().recent(0).daemon(), "");
}

TEST_F(StatusPageTest, AFailedJobShowsItsMessage) {
  SKIP_WITHOUT_BROWSER();
  Start();
  v1::CompileResponse response;
  const grpc::Status status = Compile(Named("broken", "error invalid no such op\n"), &response);
  const auto info = DetailOf<google::rpc::ErrorInfo>(status);
  ASSERT_NE(info, nullptr);
  const std::string page = browser_.Dump(Url("#job/" + info->metadata().at("job")));
  EXPECT_THAT(page, HasSubstr("invalid argument"));
  EXPECT_THAT(page, HasSubstr("no such op"));
  EXPECT_THAT(page, HasSubstr("COMPILE_FAILED"));
  // What was sent, and how to have the failure again.
  const std::string ir = "/api/jobs/" + info->metadata().at("job") + "/ir/ttir";
  EXPECT_EQ(Get(ir)->body, "error invalid no such op");
  EXPECT_THAT(page, HasSubstr(">error invalid no such op</span>"));
  EXPECT_THAT(page, HasSubstr(absl::StrCat("curl -sf ", Url().substr(0, Url().size() - 1), ir,
                                           " -o broken.ttir &amp;&amp; triton-client ")));
  EXPECT_THAT(page, HasSubstr("compile broken.ttir --target cuda:90 --option num_warps=4 --emit binary -o broken.bin"));
}

// The line that the address names is marked in every stage that has a line from the same place.
TEST_F(StatusPageTest, AnAddressNamesALineWhosePlacesAreMarkedInAllStages) {
  SKIP_WITHOUT_BROWSER();
  Start();
  v1::CompileRequest request = Named("placed", "  %0 = tt.load %p loc(\"k.py\":7:3)\n  tt.return loc(\"k.py\":8:1)");
  request.set_debug_info(true);
  request.add_outputs(v1::STAGE_TTGIR);
  const v1::CompileResponse response = Compiled(request);
  const std::string page =
      browser_.DumpWith("1 line of ttir, 1 line of ttgir", Url("#job/" + response.job() + "/ttir/1"));
  // The fake compiler's ttgir repeats the text that it was given.
  EXPECT_THAT(page, testing::ContainsRegex("placed linked\">  %0 = tt.load(.|\n)*placed linked\">  %0 = tt.load"));
  EXPECT_THAT(page, HasSubstr("k.py:7: 1 line of ttir, 1 line of ttgir"));
  EXPECT_THAT(page, HasSubstr("Open it here to see it beside its stages"));
}

TEST_F(StatusPageTest, TwoCompilesAreComparedSideBySide) {
  SKIP_WITHOUT_BROWSER();
  Start();
  std::vector<std::string> jobs;
  for (int warps : {4, 8}) {
    v1::CompileRequest request = Named("softmax", "module { the input }");
    SetOption(&request, "num_warps", warps);
    request.add_outputs(v1::STAGE_ASM);
    jobs.push_back(Compiled(request).job());
  }
  EXPECT_THAT(browser_.Dump(Url("#job/" + jobs[0])), HasSubstr("<option value=\"" + jobs[1]));
  const std::string page = browser_.Dump(Url("#compare/" + jobs[0] + "/" + jobs[1] + "/asm"));
  EXPECT_THAT(page, HasSubstr("<td>Option num_warps</td><td class=\"differs\">4</td><td class=\"differs\">8</td>"));
  EXPECT_THAT(page, HasSubstr("<td>Registers</td><td>40 a thread</td><td>40 a thread</td>"));
  EXPECT_THAT(page, HasSubstr("1 lines differ"));
  EXPECT_THAT(page, HasSubstr("<td class=\"code\">module { the input }</td>"));
}

TEST_F(StatusPageTest, AHostileKernelIsShownAndNotRun) {
  SKIP_WITHOUT_BROWSER();
  Start();
  const std::string attack = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>";
  v1::CompileRequest request = Named(attack, "module { " + attack + " }");
  request.set_tenant("'\"><svg onload=document.title='owned'>");
  request.add_outputs(v1::STAGE_TTGIR);
  const v1::CompileResponse response = Compiled(request);
  for (const std::string& page : {browser_.Dump(Url()), browser_.Dump(Url("#job/" + response.job())),
                                  browser_.Dump(Url("#job/%3Cimg%20src=x%20onerror=document.title='owned'%3E"))}) {
    EXPECT_THAT(page, HasSubstr("&lt;img"));
    EXPECT_THAT(page, Not(HasSubstr("<img")));
    EXPECT_THAT(page, Not(HasSubstr("<svg onload")));
    EXPECT_THAT(page, Not(HasSubstr("<title>owned")));
  }
  // A file name that a shell would take apart is not offered to one.
  EXPECT_THAT(browser_.Dump(Url("#job/" + response.job())), Not(HasSubstr("triton-client compile &lt;")));
}

TEST_F(StatusPageTest, AnUnknownJobIsSaidSo) {
  SKIP_WITHOUT_BROWSER();
  Start();
  EXPECT_THAT(browser_.Dump(Url("#job/nothing")), HasSubstr("there is no such job"));
}

TEST_F(StatusPageTest, WorkersAttachedAtTheTimeOfTheWallClock) {
  const int64_t before = absl::ToUnixMillis(absl::Now());
  Start();
  const json status = json::parse(Get("/api/status")->body);
  ASSERT_EQ(status["workers"].size(), 2u);
  for (const json& worker : status["workers"]) {
    EXPECT_GE(worker["attached_unix_ms"], before - 100);
    EXPECT_LE(worker["attached_unix_ms"], absl::ToUnixMillis(absl::Now()) + 100);
  }
}

// What guards the IR does not need a browser.
class GuardedPageTest : public StatusPageTest {
 protected:
  GuardedPageTest() {
    std::ofstream(Path("access.yaml")) << "unix: compile\ntokens:\n  - {sha256: " << proto::Sha256Hex("reader")
                                       << ", role: read}\n  - {sha256: " << proto::Sha256Hex("blue")
                                       << ", role: compile, tenant: blue}\n";
    config.access_file = Path("access.yaml");
  }
  // Compiles over the Unix socket; the job's id.
  std::string CompileLocally(const std::string& label, const std::string& tenant) {
    auto stub =
        v1::CompileService::NewStub(grpc::CreateChannel(daemon().local_address(), grpc::InsecureChannelCredentials()));
    v1::CompileRequest request = Named(label, absl::StrCat("module { ", label, " }"));
    request.set_tenant(tenant);
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    v1::CompileResponse response;
    const grpc::Status status = stub->Compile(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.job();
  }
};

TEST_F(GuardedPageTest, OnlyAReaderSeesNamesAndIr) {
  Start(/*wait=*/false);
  const std::string id = CompileLocally("secret_kernel", "red"), ir = absl::StrCat("/api/jobs/", id, "/ir/ttir");
  EXPECT_EQ(json::parse(Get("/api/status")->body)["requests"]["miss"], 1);
  EXPECT_THAT(Get("/api/status")->body, Not(HasSubstr("secret_kernel")));
  EXPECT_EQ(Get("/api/jobs/" + id)->status, 401);
  EXPECT_EQ(Get(ir)->status, 401);
  EXPECT_EQ(Get(ir, "wrong")->status, 403);
  EXPECT_EQ(Get(ir, "blue")->status, 404);  // Another tenant's.
  EXPECT_EQ(Get(ir, "reader")->status, 200);
  EXPECT_EQ(Get(ir, "reader")->body, "module { secret_kernel }");
  EXPECT_THAT(Get("/api/status", "reader")->body, HasSubstr("secret_kernel"));
  EXPECT_THAT(Get("/metrics")->body, Not(HasSubstr("secret_kernel")));
}

TEST_F(GuardedPageTest, IrIsHiddenWhereOthersCanDial) {
  config.http = "0.0.0.0:0";
  Start(/*wait=*/false);
  const std::string ir = absl::StrCat("/api/jobs/", CompileLocally("secret_kernel", ""), "/ir/ttir");
  for (const char* token : {"", "reader"}) {
    EXPECT_THAT(Get(ir, token)->status, testing::AnyOf(401, 403));
    EXPECT_THAT(Get(ir, token)->body, Not(HasSubstr("secret_kernel")));
  }
}

TEST_F(GuardedPageTest, TheBrowserAsksForAToken) {
  SKIP_WITHOUT_BROWSER();
  Start(/*wait=*/false);
  const std::string id = CompileLocally("secret_kernel", "");
  EXPECT_THAT(browser_.Dump(Url()), HasSubstr("Names and messages are hidden"));
  const std::string page = browser_.Dump(Url("#job/" + id));
  EXPECT_THAT(page, HasSubstr("type=\"password\""));
  EXPECT_THAT(page, Not(HasSubstr("secret_kernel")));
}

}  // namespace
}  // namespace tritond::tests
