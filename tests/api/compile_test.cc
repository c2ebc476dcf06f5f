// SPDX-License-Identifier: Apache-2.0
// CompileService.Compile and Lookup: reads like the manual.
#include <gmock/gmock.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "proto/request_key/request_key.h"
#include "tests/support/daemon_fixture.h"

namespace tritond::tests {
namespace {

using testing::HasSubstr;

class CompileTest : public DaemonTest {};

TEST_F(CompileTest, AMissIsCompiledAndTheNextRequestIsAHit) {
  Start();
  v1::CompileResponse miss, hit;
  ASSERT_TRUE(Compile(Request(), &miss).ok());
  EXPECT_EQ(miss.cache(), v1::CACHE_STATUS_MISS);
  ASSERT_EQ(miss.result().artifacts_size(), 1);
  EXPECT_EQ(miss.result().artifacts(0).kind(), v1::STAGE_BINARY);
  EXPECT_EQ(miss.result().artifacts(0).format(), "cubin");
  ASSERT_EQ(miss.blobs_size(), 1);
  EXPECT_EQ(proto::Sha256Hex(miss.blobs(0).data()), miss.result().artifacts(0).digest());
  EXPECT_THAT(miss.result().metadata_json(), HasSubstr("\"num_warps\":4"));
  EXPECT_EQ(miss.result().target(), "cuda:90");
  EXPECT_THAT(miss.result().build_id(), HasSubstr("fake-build"));
  EXPECT_NE(miss.result().worker(), "");
  EXPECT_GT(miss.result().stage_times_size(), 0);

  ASSERT_TRUE(Compile(Request(), &hit).ok());
  EXPECT_EQ(hit.cache(), v1::CACHE_STATUS_HIT);
  EXPECT_EQ(hit.key(), miss.key());
  EXPECT_EQ(hit.result().SerializeAsString(), miss.result().SerializeAsString());
  EXPECT_EQ(hit.blobs(0).data(), miss.blobs(0).data());
  EXPECT_EQ(Stats().compiles(), 1u);
}

TEST_F(CompileTest, TheClientComputesTheSameKeyFromWhatDescribeSays) {
  Start();
  grpc::ClientContext context;
  v1::DescribeResponse description;
  ASSERT_TRUE(compile->Describe(&context, {}, &description).ok());
  EXPECT_EQ(description.key_schema_version(), static_cast<uint32_t>(proto::kKeySchemaVersion));
  EXPECT_EQ(description.max_ir_bytes(), uint64_t{64} << 20);
  std::string build_id;
  for (const auto& target : description.targets()) {
    if (target.name() == "cuda:90") build_id = target.build_id();
  }
  v1::CompileResponse response;
  ASSERT_TRUE(Compile(Request(), &response).ok());
  EXPECT_EQ(response.key(), proto::Prepare(Request())->Key(build_id));
}

TEST_F(CompileTest, DescribeTellsTheOptionsThatWorkersTell) {
  Start();
  grpc::ClientContext context;
  v1::DescribeResponse description;
  ASSERT_TRUE(compile->Describe(&context, {}, &description).ok());
  ASSERT_GT(description.targets_size(), 0);
  ASSERT_EQ(description.targets(0).options_size(), 2);
  const v1::OptionRule& warps = description.targets(0).options(0);
  EXPECT_EQ(warps.name(), "num_warps");
  EXPECT_EQ(warps.kind(), v1::OPTION_KIND_POWER_OF_TWO);
  EXPECT_EQ(warps.least(), 1);
  EXPECT_EQ(warps.most(), 32);
}

TEST_F(CompileTest, LookupFindsWithoutIrAndSaysNotFoundOtherwise) {
  Start();
  v1::CompileResponse compiled, found;
  ASSERT_TRUE(Compile(Request(), &compiled).ok());
  v1::LookupRequest lookup;
  lookup.set_key(compiled.key());
  {
    grpc::ClientContext context;
    ASSERT_TRUE(compile->Lookup(&context, lookup, &found).ok());
    EXPECT_EQ(found.cache(), v1::CACHE_STATUS_HIT);
    EXPECT_EQ(found.blobs(0).data(), compiled.blobs(0).data());
  }
  {
    lookup.set_key(std::string(64, '0'));
    grpc::ClientContext context;
    const grpc::Status status = compile->Lookup(&context, lookup, &found);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
    EXPECT_EQ(ReasonOf(status), "NOT_FOUND");
  }
  {
    lookup.set_key("nonsense");
    grpc::ClientContext context;
    EXPECT_EQ(compile->Lookup(&context, lookup, &found).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  }
}

TEST_F(CompileTest, AHitAfterARestartTouchesNoWorker) {
  Start();
  v1::CompileResponse miss, hit;
  ASSERT_TRUE(Compile(Request(), &miss).ok());
  Stop();
  config.workers = 0;
  Start(/*wait=*/false);
  ASSERT_TRUE(Compile(Request(), &hit).ok());
  EXPECT_EQ(hit.cache(), v1::CACHE_STATUS_HIT);
  EXPECT_EQ(hit.blobs(0).data(), miss.blobs(0).data());
  EXPECT_EQ(Stats().compiles(), 0u);
}

TEST_F(CompileTest, ARequestBeforeAnyWorkerIsThereWaitsForOne) {
  Start(/*wait=*/false);
  v1::CompileResponse response;
  const grpc::Status status = Compile(Request(), &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(CompileTest, ManyIdenticalRequestsAtOnceAreOneCompile) {
  constexpr int kCallers = 200;
  Start();
  v1::CompileRequest request = Request();
  SetOption(&request, "wait_for_file", Path("go"));
  std::atomic<int> misses{0}, others{0}, failures{0};
  std::vector<v1::CompileResponse> responses(kCallers);
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&, &response = responses[i]] {
      if (!Compile(request, &response).ok()) {
        ++failures;
      } else if (response.cache() == v1::CACHE_STATUS_MISS) {
        ++misses;
      } else {
        ++others;
      }
    });
  }
  Await([&] { return Stats().compiles() == 1; });
  Touch("go");
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(misses, 1);
  EXPECT_EQ(others, kCallers - 1);
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(Stats().compiles(), 1u);
  for (const v1::CompileResponse& response : responses) {  // The ranks of a job go on with one and the same binary.
    ASSERT_EQ(response.blobs_size(), 1);
    ASSERT_EQ(response.blobs(0).data(), responses[0].blobs(0).data());
  }
}

TEST_F(CompileTest, AHitWaitsForNoCompile) {
  config.workers = 1;
  config.max_queued = 2;
  Start();
  v1::CompileResponse hit;
  ASSERT_TRUE(Compile(Request("stored"), &hit).ok());
  std::vector<std::thread> callers;
  for (const char* ir : {"runs", "waits", "waits too"}) {
    callers.emplace_back([this, ir] {
      v1::CompileRequest request = Request(ir);
      SetOption(&request, "wait_for_file", Path("go"));
      v1::CompileResponse response;
      EXPECT_TRUE(Compile(request, &response).ok());
    });
    const size_t busy = callers.size();
    Await([&] { return Stats().queues(0).running() + Stats().queues(0).queued() == busy; });
  }
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(Compile(Request("stored"), &hit, absl::Seconds(5)).ok());
    EXPECT_EQ(hit.cache(), v1::CACHE_STATUS_HIT);
  }
  EXPECT_EQ(Stats().queues(0).queued(), 2u);
  Touch("go");
  for (std::thread& caller : callers) caller.join();
}

TEST_F(CompileTest, RefreshCompilesAgain) {
  Start();
  v1::CompileResponse response;
  ASSERT_TRUE(Compile(Request(), &response).ok());
  v1::CompileRequest request = Request();
  request.set_cache_mode(v1::CACHE_MODE_REFRESH);
  ASSERT_TRUE(Compile(request, &response).ok());
  EXPECT_EQ(response.cache(), v1::CACHE_STATUS_MISS);
  EXPECT_EQ(Stats().compiles(), 2u);
}

TEST_F(CompileTest, OutputsAreReturnedInPipelineOrder) {
  Start();
  v1::CompileRequest request = Request();
  request.add_outputs(v1::STAGE_BINARY);
  request.add_outputs(v1::STAGE_TTGIR);
  request.add_outputs(v1::STAGE_ASM);
  v1::CompileResponse response;
  ASSERT_TRUE(Compile(request, &response).ok());
  ASSERT_EQ(response.result().artifacts_size(), 3);
  EXPECT_EQ(response.result().artifacts(0).kind(), v1::STAGE_TTGIR);
  EXPECT_EQ(response.result().artifacts(2).kind(), v1::STAGE_BINARY);
  EXPECT_EQ(response.blobs_size(), 3);
}

TEST_F(CompileTest, IgnoredOptionsAreNamed) {
  Start();
  v1::CompileRequest request = Request();
  SetOption(&request, "unknown_thing", 1);
  v1::CompileResponse response;
  ASSERT_TRUE(Compile(request, &response).ok());
  EXPECT_THAT(response.result().ignored_options(), testing::ElementsAre("unknown_thing"));
}

TEST_F(CompileTest, ANewBuildOfTheCompilerDoesNotUseTheOldOnesResults) {
  Start();
  v1::CompileResponse old_build, new_build;
  ASSERT_TRUE(Compile(Request(), &old_build).ok());
  Stop();
  std::filesystem::create_symlink(config.worker_binary, Path("newer-worker"));
  config.worker_binary = Path("newer-worker");
  Start();
  ASSERT_TRUE(Compile(Request(), &new_build).ok());
  EXPECT_EQ(new_build.cache(), v1::CACHE_STATUS_MISS);
  EXPECT_NE(new_build.key(), old_build.key());
}

TEST_F(CompileTest, ALostArtifactIsBuiltAgain) {
  Start();
  v1::CompileResponse first, second;
  v1::CompileRequest request = Request();
  request.set_debug_info(true);  // Else the artifact is kept once more, under the compile's steps and somewhat later.
  ASSERT_TRUE(Compile(request, &first).ok());
  const auto digest = cache::Digest::FromHex(first.result().artifacts(0).digest());
  ASSERT_TRUE(daemon().broker().blobs().Remove(*digest).ok());
  // The result is still at hand; a request for the lost bytes finds out.
  ASSERT_TRUE(Compile(request, &second).ok());
  EXPECT_EQ(second.blobs(0).data(), first.blobs(0).data());
  v1::FetchRequest fetch;
  fetch.set_digest(first.result().artifacts(0).digest());
  grpc::ClientContext context;
  v1::FetchResponse part;
  const auto reader = artifacts->Fetch(&context, fetch);
  EXPECT_FALSE(reader->Read(&part));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
  ASSERT_TRUE(Compile(request, &second).ok());
  EXPECT_EQ(second.cache(), v1::CACHE_STATUS_MISS);
  EXPECT_EQ(second.blobs(0).data(), first.blobs(0).data());
}

TEST_F(CompileTest, EveryClassAndTenantIsServed) {
  Start();
  for (auto priority : {v1::PRIORITY_INTERACTIVE, v1::PRIORITY_AUTOTUNE, v1::PRIORITY_PREBUILD}) {
    v1::CompileRequest request = Request(absl::StrCat("module {} of_class ", static_cast<int>(priority)));
    request.set_priority(priority);
    request.set_tenant("team");
    v1::CompileResponse response;
    EXPECT_TRUE(Compile(request, &response).ok());
  }
  EXPECT_EQ(Stats().recent_size(), 3);
  EXPECT_EQ(Stats().recent(0).tenant(), "team");
  EXPECT_EQ(Stats().recent(0).label(), "kernel");
}

}  // namespace
}  // namespace tritond::tests
