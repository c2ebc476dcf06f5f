// SPDX-License-Identifier: Apache-2.0
// What is compiled once although its requests differ: other spellings of a kernel, and other assemblers after the same
// assembly.
#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include "absl/strings/match.h"
#include "tests/support/daemon_fixture.h"

namespace tritond::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class StepsTest : public DaemonTest {
 protected:
  // The stages that ran for it.
  static std::vector<int> StagesOf(const v1::CompileResponse& response) {
    std::vector<int> stages;
    for (const v1::StageTime& time : response.result().stage_times()) stages.push_back(time.stage());
    return stages;
  }
  // A worker program of another name has another build id, and the same compiler but for its assembler.
  void UseNewerAssembler() {
    const std::string newer = Path("triton-worker-newer");
    std::filesystem::create_symlink(config.worker_binary, newer);
    config.worker_binary = newer;
  }
  v1::CompileResponse Compiled(const v1::CompileRequest& request) {
    v1::CompileResponse response;
    const grpc::Status status = Compile(request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
};

TEST_F(StepsTest, AnotherSpellingOfAKernelIsAHit) {
  Start();
  const v1::CompileResponse first = Compiled(Request("module {}"));
  const v1::CompileResponse second = Compiled(Request("spelling a\nmodule {}"));
  EXPECT_NE(second.key(), first.key());
  EXPECT_EQ(second.cache(), v1::CACHE_STATUS_HIT);
  EXPECT_EQ(second.result().artifacts(0).digest(), first.result().artifacts(0).digest());
  EXPECT_EQ(second.blobs(0).data(), first.blobs(0).data());
  EXPECT_NE(second.result().request().digest(), first.result().request().digest());
  EXPECT_EQ(Stats().stored_results(), 2u);
}

TEST_F(StepsTest, ItsRequestKeyIsAHitFromThenOn) {
  Start();
  Compiled(Request("module {}"));
  const v1::CompileResponse second = Compiled(Request("spelling a\nmodule {}"));
  const uint64_t compiles = Stats().compiles();
  EXPECT_EQ(Compiled(Request("spelling a\nmodule {}")).key(), second.key());
  EXPECT_EQ(Stats().compiles(), compiles);
}

TEST_F(StepsTest, ARefreshThatJoinsACompileWhichTurnsOutToBeStoredIsCompiled) {
  Start();
  const auto waiting = [&](const std::string& ir) {
    v1::CompileRequest request = Request(ir);
    SetOption(&request, "wait_for_file", Path("go"));
    return request;
  };
  Touch("go");
  Compiled(waiting("module {}"));
  std::filesystem::remove(Path("go"));
  const v1::CompileRequest other = waiting("spelling a\nmodule {}");
  v1::CompileRequest refresh = other;
  refresh.set_cache_mode(v1::CACHE_MODE_REFRESH);
  v1::CompileResponse normal_response, refresh_response;
  std::thread normal_caller([&] { normal_response = Compiled(other); });
  Await([&] { return Stats().queues(0).running() == 1; });
  std::thread refresh_caller([&] { refresh_response = Compiled(refresh); });
  Await([&] { return daemon().broker().scheduler().GetStats().running.begin()->second.at(0).waiters == 2; });
  Touch("go");
  normal_caller.join();
  refresh_caller.join();
  EXPECT_EQ(normal_response.cache(), v1::CACHE_STATUS_HIT);
  EXPECT_EQ(refresh_response.cache(), v1::CACHE_STATUS_JOINED);
  EXPECT_THAT(StagesOf(refresh_response), Not(IsEmpty()));
  EXPECT_EQ(Stats().compiles(), 3u);
}

TEST_F(StepsTest, ADaemonThatStartsAgainStillKnowsOtherSpellings) {
  Start();
  Compiled(Request("module {}"));
  Stop();
  Start();
  EXPECT_EQ(Compiled(Request("spelling a\nmodule {}")).cache(), v1::CACHE_STATUS_HIT);
}

TEST_F(StepsTest, RefreshCompilesEverySpelling) {
  Start();
  Compiled(Request("module {}"));
  v1::CompileRequest request = Request("spelling a\nmodule {}");
  request.set_cache_mode(v1::CACHE_MODE_REFRESH);
  EXPECT_EQ(Compiled(request).cache(), v1::CACHE_STATUS_MISS);
}

TEST_F(StepsTest, AnEvictedKernelIsCompiledAgainInEverySpelling) {
  Start();
  const v1::CompileResponse first = Compiled(Request("module {}"));
  v1::EvictRequest evict;
  evict.add_keys(first.key());
  v1::EvictResponse evicted;
  grpc::ClientContext context;
  ASSERT_TRUE(admin->Evict(&context, evict, &evicted).ok());
  EXPECT_EQ(evicted.results(), 1u);
  EXPECT_EQ(Stats().stored_bytes(), 0u);
  const v1::CompileResponse second = Compiled(Request("spelling a\nmodule {}"));
  EXPECT_EQ(second.cache(), v1::CACHE_STATUS_MISS);
  EXPECT_THAT(StagesOf(second),
              ElementsAre(v1::STAGE_TTIR, v1::STAGE_TTGIR, v1::STAGE_LLIR, v1::STAGE_ASM, v1::STAGE_BINARY));
}

TEST_F(StepsTest, ANewAssemblerRedoesOnlyTheLastStep) {
  Start();
  const v1::CompileResponse first = Compiled(Request());
  Stop();
  UseNewerAssembler();
  Start();
  Await([&] {
    v1::DescribeResponse description;
    grpc::ClientContext context;
    compile->Describe(&context, {}, &description);
    return description.targets_size() > 0 && absl::StrContains(description.targets(0).build_id(), "newer");
  });
  const v1::CompileResponse second = Compiled(Request());
  EXPECT_NE(second.key(), first.key());
  EXPECT_EQ(second.cache(), v1::CACHE_STATUS_MISS);
  EXPECT_THAT(second.result().build_id(), HasSubstr("newer"));
  EXPECT_THAT(StagesOf(second), ElementsAre(v1::STAGE_TTIR, v1::STAGE_BINARY));
  EXPECT_EQ(second.result().metadata_json(), first.result().metadata_json());
}

}  // namespace
}  // namespace tritond::tests
