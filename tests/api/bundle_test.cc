// SPDX-License-Identifier: Apache-2.0
// Results that travel from one daemon to another in a file.
#include <gmock/gmock.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/app/key_files.h"
#include "tests/support/daemon_fixture.h"

namespace tritond::tests {
namespace {

using testing::HasSubstr;

class BundleTest : public DaemonTest {
 protected:
  grpc::Status Export(const std::vector<std::string>& keys, std::string* bundle) {
    grpc::ClientContext context;
    v1::ExportRequest request;
    request.mutable_keys()->Assign(keys.begin(), keys.end());
    auto stream = artifacts->Export(&context, request);
    v1::BundleChunk chunk;
    while (stream->Read(&chunk)) bundle->append(chunk.data());
    return stream->Finish();
  }
  grpc::Status Import(const std::string& bundle, v1::ImportResponse* response) {
    grpc::ClientContext context;
    auto stream = artifacts->Import(&context, response);
    for (size_t at = 0; at < bundle.size(); at += 1000) {
      v1::BundleChunk chunk;
      chunk.set_data(bundle.substr(at, 1000));
      if (!stream->Write(chunk)) break;
    }
    stream->WritesDone();
    return stream->Finish();
  }
  grpc::Status Evict() {
    grpc::ClientContext context;
    v1::EvictRequest request;
    request.set_everything(true);
    v1::EvictResponse response;
    return admin->Evict(&context, request, &response);
  }
  v1::DescribeResponse Describe() {
    grpc::ClientContext context;
    v1::DescribeResponse response;
    EXPECT_TRUE(compile->Describe(&context, {}, &response).ok());
    return response;
  }
  v1::CompileResponse CompileOk(const std::string& ir) {
    v1::CompileRequest request = Request(ir);
    request.add_outputs(v1::STAGE_ASM);
    request.add_outputs(v1::STAGE_BINARY);
    v1::CompileResponse response;
    const grpc::Status status = Compile(request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
};

TEST_F(BundleTest, BringsResultsToADaemonThatDoesNotHaveThem) {
  Start();
  const v1::CompileResponse one = CompileOk("one"), two = CompileOk("two");
  std::string bundle;
  ASSERT_TRUE(Export({}, &bundle).ok());
  ASSERT_TRUE(Evict().ok());
  v1::ImportResponse imported;
  const grpc::Status status = Import(bundle, &imported);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(imported.results(), 2u);
  EXPECT_EQ(imported.artifacts(), 4u);
  EXPECT_EQ(imported.bytes(), bundle.size());
  for (const auto& [ir, before] : {std::pair("one", one), std::pair("two", two)}) {
    const v1::CompileResponse after = CompileOk(ir);
    EXPECT_EQ(after.cache(), v1::CACHE_STATUS_HIT);
    ASSERT_EQ(after.blobs_size(), 2);
    EXPECT_EQ(after.blobs(1).data(), before.blobs(1).data());
  }
}

TEST_F(BundleTest, HoldsOnlyTheNamedKeys) {
  Start();
  const std::string key = CompileOk("one").key();
  CompileOk("two");
  std::string bundle;
  ASSERT_TRUE(Export({key}, &bundle).ok());
  ASSERT_TRUE(Evict().ok());
  v1::ImportResponse imported;
  ASSERT_TRUE(Import(bundle, &imported).ok());
  EXPECT_EQ(imported.results(), 1u);
  const std::string unknown(64, 'a');
  const grpc::Status status = Export({key, unknown}, &bundle);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr(unknown));
  EXPECT_EQ(Export({"no key"}, &bundle).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(BundleTest, NoMoreAreOnTheirWayThanThereAreThreadsFor) {
  Start();
  CompileOk("one");
  struct Stalled {
    grpc::ClientContext context;
    v1::ImportResponse response;
    std::unique_ptr<grpc::ClientWriter<v1::BundleChunk>> stream;
  };
  std::vector<std::unique_ptr<Stalled>> stalled;
  std::string bundle;
  grpc::Status refused;
  Await([&] {  // Which begin in the background.
    Stalled& import = *stalled.emplace_back(std::make_unique<Stalled>());
    import.stream = artifacts->Import(&import.context, &import.response);
    import.stream->Write(v1::BundleChunk());
    refused = Export({}, &bundle);
    return !refused.ok();
  });
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << refused.error_message();
  EXPECT_EQ(ReasonOf(refused), "TRANSFERS_FULL");
  EXPECT_NE(DetailOf<google::rpc::RetryInfo>(refused), nullptr);
  EXPECT_GE(stalled.size(), 14u);  // An Export of before may not have given back its thread yet.
  EXPECT_LE(stalled.size(), 30u);
  for (const auto& import : stalled) {
    import->context.TryCancel();
    EXPECT_FALSE(import->stream->Finish().ok());
  }
  Await([&] { return Export({}, &bundle).ok(); });
}

TEST_F(BundleTest, ADamagedBundleStoresNothing) {
  Start();
  CompileOk("one");
  CompileOk("two");
  std::string bundle;
  ASSERT_TRUE(Export({}, &bundle).ok());
  ASSERT_TRUE(Evict().ok());
  v1::ImportResponse imported;
  EXPECT_EQ(Import(bundle.substr(0, bundle.size() - 3), &imported).error_code(), grpc::StatusCode::DATA_LOSS);
  bundle[bundle.size() / 2] ^= 1;
  EXPECT_EQ(Import(bundle, &imported).error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(Import("", &imported).error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_NE(CompileOk("one").cache(), v1::CACHE_STATUS_HIT);
}

TEST_F(BundleTest, AnswersWithoutAnyWorker) {
  Start();
  const v1::CompileResponse made = CompileOk("one");
  std::string bundle;
  ASSERT_TRUE(Export({}, &bundle).ok());
  Stop();
  config.signing_key = Path("data/signing.key");
  config.data_dir = Path("other");
  config.workers = 0;
  config.worker_wait_seconds = 1;
  Start(/*wait=*/false);
  v1::ImportResponse imported;
  ASSERT_TRUE(Import(bundle, &imported).ok());
  const v1::CompileResponse answered = CompileOk("one");
  EXPECT_EQ(answered.cache(), v1::CACHE_STATUS_HIT);
  EXPECT_EQ(answered.key(), made.key());
  EXPECT_EQ(answered.result().build_id(), made.result().build_id());
  EXPECT_EQ(answered.blobs(1).data(), made.blobs(1).data());
  const v1::DescribeResponse description = Describe();
  ASSERT_EQ(description.targets_size(), 1);
  EXPECT_EQ(description.targets(0).name(), "cuda:90");
  EXPECT_EQ(description.targets(0).build_id(), made.result().build_id());
  EXPECT_FALSE(description.targets(0).attached());

  v1::CompileResponse response;
  const absl::Time start = absl::Now();
  const grpc::Status refused = Compile(Request("not stored"), &response);
  EXPECT_EQ(ReasonOf(refused), "NO_WORKER") << refused.error_message();
  EXPECT_LT(absl::Now() - start, absl::Seconds(15));  // Of which one is the limit.
  ASSERT_TRUE(Evict().ok());
  EXPECT_EQ(Describe().targets_size(), 0);
}

TEST_F(BundleTest, IsNotServedInPlaceOfABuildThatIsAttached) {
  Start();
  const v1::CompileResponse old_one = CompileOk("one"), old_two = CompileOk("two");
  std::string bundle;
  ASSERT_TRUE(Export({}, &bundle).ok());
  Stop();
  config.signing_key = Path("data/signing.key");
  config.data_dir = Path("other");
  std::filesystem::create_symlink(config.worker_binary, Path("newer"));
  config.worker_binary = Path("newer");
  Start();
  v1::ImportResponse imported;
  ASSERT_TRUE(Import(bundle, &imported).ok());
  const v1::CompileResponse new_one = CompileOk("one");
  EXPECT_EQ(new_one.cache(), v1::CACHE_STATUS_MISS);
  EXPECT_NE(new_one.result().build_id(), old_one.result().build_id());
  v1::DescribeResponse description = Describe();
  for (const auto& target : description.targets()) EXPECT_EQ(target.build_id(), new_one.result().build_id());
  grpc::ClientContext context;
  v1::LookupRequest lookup;
  lookup.set_key(old_one.key());
  v1::CompileResponse found;
  EXPECT_TRUE(compile->Lookup(&context, lookup, &found).ok()) << "whoever asks for it gets it";

  // A request may ask for the results of any build. The active build's own comes first.
  v1::CompileRequest any_build = Request("two");
  any_build.add_outputs(v1::STAGE_ASM);
  any_build.add_outputs(v1::STAGE_BINARY);
  any_build.set_cache_mode(v1::CACHE_MODE_ANY_BUILD);
  ASSERT_TRUE(Compile(any_build, &found).ok());
  EXPECT_EQ(found.cache(), v1::CACHE_STATUS_HIT);
  EXPECT_EQ(found.key(), old_two.key());
  EXPECT_EQ(found.result().build_id(), old_two.result().build_id());
  any_build.set_ir(Request("one").ir());
  ASSERT_TRUE(Compile(any_build, &found).ok());
  EXPECT_EQ(found.key(), new_one.key());
  any_build.set_ir(Request("three").ir());
  ASSERT_TRUE(Compile(any_build, &found).ok());
  EXPECT_EQ(found.cache(), v1::CACHE_STATUS_MISS) << "what no build has made is compiled";

  // Without that worker the active build comes first, and others where it made no result.
  Stop();
  config.workers = 0;
  config.worker_wait_seconds = 1;
  Start(/*wait=*/false);
  EXPECT_EQ(CompileOk("one").key(), new_one.key());
  const v1::CompileResponse two = CompileOk("two");
  EXPECT_EQ(two.cache(), v1::CACHE_STATUS_HIT);
  EXPECT_EQ(two.key(), old_two.key());
  std::vector<std::string> builds;
  description = Describe();
  for (const auto& target : description.targets()) {
    if (target.name() == "cuda:90") builds.push_back(target.build_id());
  }
  EXPECT_THAT(builds, testing::ElementsAre(new_one.result().build_id(), old_one.result().build_id()));
  v1::CompileRequest refresh = Request("two");
  refresh.set_cache_mode(v1::CACHE_MODE_REFRESH);
  EXPECT_EQ(ReasonOf(Compile(refresh, &found)), "NO_WORKER");
}

TEST_F(BundleTest, AnotherDaemonsBundleIsTakenOnlyIfItsKeyIsTrusted) {
  Start();
  const v1::CompileResponse made = CompileOk("one");
  const std::string line = server::TrustedKeys::FormatLine({daemon().broker().notary().public_key(), "author", false});
  std::string bundle;
  ASSERT_TRUE(Export({}, &bundle).ok());
  Stop();
  config.data_dir = Path("another");
  Start();
  v1::ImportResponse imported;
  const grpc::Status refused = Import(bundle, &imported);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(refused), "BUNDLE_REFUSED");
  EXPECT_THAT(refused.error_message(), HasSubstr("--trusted-keys"));
  EXPECT_EQ(daemon().broker().notary().refused(server::Origin::kBundle, server::Refusal::kUnknownSigner), 1u);
  EXPECT_EQ(daemon().broker().store().index().size(), 0u);
  ASSERT_EQ(server::ReplaceFile(config.data_dir + "/trusted.keys", line + "\n", 0644), absl::OkStatus());
  Await([&] { return Import(bundle, &imported).ok(); });
  const v1::CompileResponse taken = CompileOk("one");
  EXPECT_EQ(taken.cache(), v1::CACHE_STATUS_HIT);
  EXPECT_EQ(taken.result().signer(), made.result().signer());
  // It can be handed on: what is in it stays signed by its author.
  std::string second;
  ASSERT_TRUE(Export({}, &second).ok());
  ASSERT_TRUE(Import(second, &imported).ok());
}

}  // namespace
}  // namespace tritond::tests
