// SPDX-License-Identifier: Apache-2.0
// What is stored under keys: forgetting it, and telling two keys apart.
#include <gmock/gmock.h>

#include <functional>
#include <map>

#include "absl/strings/ascii.h"
#include "tests/support/daemon_fixture.h"

namespace tritond::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class KeysTest : public DaemonTest {
 protected:
  v1::CompileResponse CompileOk(const v1::CompileRequest& request) {
    v1::CompileResponse response;
    const grpc::Status status = Compile(request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  grpc::Status Evict(const v1::EvictRequest& request, v1::EvictResponse* response) {
    grpc::ClientContext context;
    return admin->Evict(&context, request, response);
  }
  grpc::Status Explain(const std::string& a, const std::string& b, v1::ExplainResponse* response) {
    grpc::ClientContext context;
    v1::ExplainRequest request;
    request.set_key_a(a);
    request.set_key_b(b);
    return admin->Explain(&context, request, response);
  }
  std::map<std::string, std::pair<std::string, std::string>> Differences(const std::string& a, const std::string& b) {
    v1::ExplainResponse response;
    const grpc::Status status = Explain(a, b, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::map<std::string, std::pair<std::string, std::string>> differences;
    for (const auto& part : response.parts())
      if (part.differs()) differences[part.name()] = {part.a(), part.b()};
    return differences;
  }
};

TEST_F(KeysTest, EvictedResultsAreCompiledAnew) {
  Start();
  const v1::CompileResponse one = CompileOk(Request("one"));
  CompileOk(Request("two"));
  v1::EvictRequest request;
  request.add_keys(one.key());
  v1::EvictResponse evicted;
  ASSERT_TRUE(Evict(request, &evicted).ok());
  EXPECT_EQ(evicted.results(), 1u);
  EXPECT_GE(evicted.artifacts(), 1u);
  EXPECT_EQ(CompileOk(Request("one")).cache(), v1::CACHE_STATUS_MISS);
  EXPECT_EQ(CompileOk(Request("two")).cache(), v1::CACHE_STATUS_HIT);
  request.clear_keys();
  request.set_everything(true);
  ASSERT_TRUE(Evict(request, &evicted).ok());
  EXPECT_EQ(evicted.results(), 2u);
  EXPECT_EQ(CompileOk(Request("two")).cache(), v1::CACHE_STATUS_MISS);
}

TEST_F(KeysTest, EvictForgetsErrorsToo) {
  Start();
  v1::CompileResponse response;
  EXPECT_FALSE(Compile(Request("error invalid x"), &response).ok());
  EXPECT_FALSE(Compile(Request("error invalid x"), &response).ok());
  EXPECT_EQ(Stats().compiles(), 1u);
  v1::EvictRequest request;
  request.set_everything(true);
  v1::EvictResponse evicted;
  ASSERT_TRUE(Evict(request, &evicted).ok());
  EXPECT_FALSE(Compile(Request("error invalid x"), &response).ok());
  EXPECT_EQ(Stats().compiles(), 2u);
}

TEST_F(KeysTest, EvictWantsKeysOrEverything) {
  Start();
  v1::EvictRequest request;
  v1::EvictResponse evicted;
  EXPECT_EQ(Evict(request, &evicted).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request.add_keys("nonsense");
  EXPECT_EQ(Evict(request, &evicted).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(KeysTest, ResultsBeyondTheLimitAreEvicted) {
  config.max_stored_mb = 1;
  Start();
  v1::CompileRequest first = Request("first"), second = Request("second");
  SetOption(&first, "artifact_bytes", 700000);
  SetOption(&second, "artifact_bytes", 700001);
  CompileOk(first);
  CompileOk(second);
  EXPECT_EQ(CompileOk(second).cache(), v1::CACHE_STATUS_HIT);
  EXPECT_EQ(CompileOk(first).cache(), v1::CACHE_STATUS_MISS);
}

TEST_F(KeysTest, ExplainNamesWhatDiffers) {
  Start();
  v1::CompileRequest one = Request("module {\n  a loc(\"x\")\n}"), two = Request("module {\n  b\n}");
  SetOption(&one, "num_warps", 4);
  SetOption(&two, "num_warps", 8);
  SetOption(&two, "num_stages", 3);
  two.set_target("cuda:80");
  const std::string a = CompileOk(one).key(), b = CompileOk(two).key();
  const auto differences = Differences(a, b);
  EXPECT_EQ(differences.at("target"), std::pair(std::string("cuda:90"), std::string("cuda:80")));
  EXPECT_EQ(differences.at("options.num_warps"), std::pair(std::string("4"), std::string("8")));
  EXPECT_EQ(differences.at("options.num_stages"), std::pair(std::string("(absent)"), std::string("3")));
  EXPECT_THAT(differences.at("ir.first_difference").first, StartsWith("line 2:"));
  EXPECT_EQ(differences.count("outputs"), 0u);
  EXPECT_TRUE(Differences(a, a).empty());
  v1::ExplainResponse response;
  const grpc::Status unknown = Explain(a, std::string(64, 'f'), &response);
  EXPECT_EQ(unknown.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(unknown.error_message(), HasSubstr("ffff"));
  EXPECT_EQ(Explain(a, "nonsense", &response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(KeysTest, AKeyIsFoundByItsFirstDigitsHoweverOldItIs) {
  Start();
  std::vector<std::string> keys;
  for (int i = 0; i < 20; ++i) keys.push_back(CompileOk(Request(absl::StrCat("module { ", i, " }"))).key());
  const auto find = [&](const std::string& prefix, v1::FindKeysResponse* response) {
    v1::FindKeysRequest request;
    request.set_prefix(prefix);
    grpc::ClientContext context;
    return artifacts->FindKeys(&context, request, response);
  };
  for (const std::string& key : keys) {
    v1::FindKeysResponse response;
    ASSERT_TRUE(find(key.substr(0, 12), &response).ok());
    EXPECT_THAT(response.keys(), testing::ElementsAre(key));
    EXPECT_FALSE(response.more());
  }
  v1::FindKeysResponse response;
  EXPECT_TRUE(find(std::string(64, 'f'), &response).ok());
  EXPECT_TRUE(response.keys().empty());
  for (const char* prefix : {"", "abc", "ABCD", "xyzw"})
    EXPECT_EQ(find(prefix, &response).error_code(), grpc::StatusCode::INVALID_ARGUMENT) << prefix;
}

TEST_F(KeysTest, AKeyHasOneSpellingWhereverItIsNamed) {
  Start();
  const v1::CompileResponse stored = CompileOk(Request("one"));
  const std::string key = stored.key(), upper = absl::AsciiStrToUpper(key);
  ASSERT_NE(key, upper);
  const std::string digest = absl::AsciiStrToUpper(stored.result().artifacts(0).digest());
  const std::map<std::string, std::function<grpc::Status(grpc::ClientContext*)>> calls = {
      {"Lookup",
       [&](grpc::ClientContext* context) {
         v1::LookupRequest request;
         request.set_key(upper);
         v1::CompileResponse response;
         return compile->Lookup(context, request, &response);
       }},
      {"Fetch",
       [&](grpc::ClientContext* context) {
         v1::FetchRequest request;
         request.set_digest(digest);
         v1::FetchResponse response;
         auto stream = artifacts->Fetch(context, request);
         while (stream->Read(&response)) {
         }
         return stream->Finish();
       }},
      {"FindMissing",
       [&](grpc::ClientContext* context) {
         v1::FindMissingRequest request;
         request.add_digests(digest);
         v1::FindMissingResponse response;
         return artifacts->FindMissing(context, request, &response);
       }},
      {"Export",
       [&](grpc::ClientContext* context) {
         v1::ExportRequest request;
         request.add_keys(upper);
         v1::BundleChunk chunk;
         auto stream = artifacts->Export(context, request);
         while (stream->Read(&chunk)) {
         }
         return stream->Finish();
       }},
      {"Evict",
       [&](grpc::ClientContext* context) {
         v1::EvictRequest request;
         request.add_keys(key);
         request.add_keys(upper);
         v1::EvictResponse response;
         return admin->Evict(context, request, &response);
       }},
      {"Quarantine",
       [&](grpc::ClientContext* context) {
         v1::QuarantineRequest request;
         request.set_key(upper);
         v1::QuarantineResponse response;
         return admin->Quarantine(context, request, &response);
       }},
      {"Release",
       [&](grpc::ClientContext* context) {
         v1::ReleaseRequest request;
         request.set_key(upper);
         v1::ReleaseResponse response;
         return admin->Release(context, request, &response);
       }},
      {"Explain",
       [&](grpc::ClientContext* context) {
         v1::ExplainRequest request;
         request.set_key_a(key);
         request.set_key_b(upper);
         v1::ExplainResponse response;
         return admin->Explain(context, request, &response);
       }},
  };
  for (const auto& [name, call] : calls) {
    grpc::ClientContext context;
    const grpc::Status status = call(&context);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << name << ": " << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr("64 lowercase hexadecimal digits")) << name;
  }
  // Nothing of it went halfway.
  EXPECT_EQ(CompileOk(Request("one")).cache(), v1::CACHE_STATUS_HIT);
  grpc::ClientContext context;
  v1::ListQuarantineResponse quarantined;
  ASSERT_TRUE(admin->ListQuarantine(&context, {}, &quarantined).ok());
  EXPECT_EQ(quarantined.entries_size(), 0);
}

}  // namespace
}  // namespace tritond::tests
