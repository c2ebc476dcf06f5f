// SPDX-License-Identifier: Apache-2.0
// Against real nodes of redis-server that speak TLS; skipped where those are not installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "cache/store/redis_cluster.h"
#include "tests/support/certificates.h"
#include "tests/support/redis_fixture.h"

namespace tritond::cache {
namespace {

using testing::HasSubstr;
using tests::CertificateAuthority;
using tests::RedisNodes;

class RedisTlsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!RedisNodes::TlsAvailable()) GTEST_SKIP() << "there is no redis-server with TLS";
    std::string pattern = (std::filesystem::temp_directory_path() / "tritond-redis-tls-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    own_ = {Write("ca.pem", authority_.certificate()), "", "", ""};
    const tests::KeyPair node = authority_.Issue("engine.example");
    node_files_ = {own_.ca_file, Write("node.pem", node.certificate), Write("node.key", node.key)};
    const tests::KeyPair daemon = authority_.Issue("daemon");
    own_.certificate_file = Write("daemon.pem", daemon.certificate);
    own_.key_file = Write("daemon.key", daemon.key);
  }
  void TearDown() override {
    nodes_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  void Start(int count) {
    nodes_ = std::make_unique<RedisNodes>(count, std::vector<std::string>{}, node_files_);
    ASSERT_TRUE(nodes_->ok());
  }
  std::unique_ptr<RedisCluster> Client(const RedisTls& tls) const {
    RedisOptions options;
    options.nodes = nodes_->addresses();
    options.tls = tls;
    options.connect_timeout = options.call_timeout = absl::Seconds(10);  // This machine may be busy.
    return std::make_unique<RedisCluster>(options);
  }
  absl::Status Set(const RedisTls& tls) const { return Client(tls)->Call("k", {"SET", "k", "v"}).status(); }

  const CertificateAuthority authority_{"engine authority"};
  const CertificateAuthority stranger_{"another authority"};
  std::filesystem::path folder_;
  RedisNodes::Tls node_files_;
  RedisTls own_;
  std::unique_ptr<RedisNodes> nodes_;
};

TEST_F(RedisTlsTest, AClusterIsUsedAsWithoutTls) {
  Start(3);
  auto engine = Client(own_);
  const std::string large(3 << 20, 'x');
  for (int i = 0; i < 20; ++i) {
    const std::string key = absl::StrCat("key", i);
    const absl::StatusOr<RedisReply> set = engine->Call(key, {"SET", key, large});
    ASSERT_TRUE(set.ok()) << set.status();
  }
  uint64_t failures = 0;
  for (const EngineNode& node : engine->Nodes()) {
    EXPECT_GT(node.calls, 0u) << node.address;
    failures += node.failures;
  }
  EXPECT_EQ(failures, 0u);
  int keys = 0;
  ASSERT_TRUE(engine->VisitKeys("key*", [&](absl::string_view) { ++keys; }).ok());
  EXPECT_EQ(keys, 20);
  const absl::StatusOr<uint64_t> deleted = engine->Delete(std::vector<std::string>{"key0", "key1", "key2", "none"});
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  EXPECT_EQ(*deleted, 3u);
}

TEST_F(RedisTlsTest, ANodeIsWhoItsCertificateSays) {
  Start(1);
  ASSERT_TRUE(Set(own_).ok()) << Set(own_);
  RedisTls named = own_;
  named.server_name = "engine.example";
  EXPECT_TRUE(Set(named).ok()) << Set(named);
  named.server_name = "another.example";
  EXPECT_TRUE(absl::IsFailedPrecondition(Set(named)));
  EXPECT_THAT(std::string(Set(named).message()), HasSubstr("not good for another.example: hostname mismatch"));
  named.server_name = "127.0.0.2";
  EXPECT_THAT(std::string(Set(named).message()), HasSubstr("IP address mismatch"));
  RedisTls strange = own_;
  strange.ca_file = Write("stranger.pem", stranger_.certificate());
  EXPECT_TRUE(absl::IsFailedPrecondition(Set(strange)));
  auto engine = Client(strange);
  EXPECT_THAT(std::string(engine->Call("k", {"GET", "k"}).status().message()), HasSubstr("not good for 127.0.0.1"));
  EXPECT_THAT(engine->Nodes()[0].trouble, HasSubstr("TLS: the certificate is not good for 127.0.0.1"));
}

TEST_F(RedisTlsTest, AnEngineMayAskForACertificate) {
  Start(1);  // As Redis does unless told otherwise.
  RedisTls nobody = own_;
  nobody.certificate_file = nobody.key_file = "";
  EXPECT_TRUE(absl::IsUnavailable(Set(nobody))) << Set(nobody);
  const tests::KeyPair pair = stranger_.Issue("daemon");
  RedisTls stranger = own_;
  stranger.certificate_file = Write("stranger.pem", pair.certificate);
  stranger.key_file = Write("stranger.key", pair.key);
  EXPECT_TRUE(absl::IsUnavailable(Set(stranger))) << Set(stranger);
  EXPECT_EQ(nodes_->Command(0, "exists k"), "0");
  nodes_->Command(0, "config set tls-auth-clients no");
  EXPECT_TRUE(Set(nobody).ok()) << Set(nobody);
}

TEST_F(RedisTlsTest, RenewedFilesCountFromTheNextConnectionOn) {
  Start(1);
  Write("ca.pem", stranger_.certificate());
  auto engine = Client(own_);
  EXPECT_FALSE(engine->Call("k", {"GET", "k"}).ok());
  Write("ca.pem", authority_.certificate());
  const absl::Status renewed = engine->Call("k", {"GET", "k"}).status();
  EXPECT_TRUE(renewed.ok()) << renewed;
}

TEST_F(RedisTlsTest, BothSidesSpeakItOrNoneDoes) {
  Start(1);
  EXPECT_TRUE(absl::IsUnavailable(Set({}))) << Set({});
  node_files_ = {};
  Start(1);
  RedisOptions options;
  options.nodes = nodes_->addresses();
  options.tls = own_;
  RedisCluster engine(options);
  const absl::Status status = engine.Call("k", {"GET", "k"}).status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("TLS: the handshake failed"));
}

TEST_F(RedisTlsTest, FilesAreCheckedAtTheStart) {
  EXPECT_TRUE(RedisConnection::CheckTls({}).ok());
  EXPECT_TRUE(RedisConnection::CheckTls(own_).ok());
  RedisTls wrong = own_;
  wrong.ca_file = (folder_ / "none.pem").string();
  EXPECT_TRUE(absl::IsInvalidArgument(RedisConnection::CheckTls(wrong)));
  EXPECT_THAT(std::string(RedisConnection::CheckTls(wrong).message()), HasSubstr("none.pem"));
  wrong = own_;
  wrong.key_file = node_files_.key;
  EXPECT_THAT(std::string(RedisConnection::CheckTls(wrong).message()), HasSubstr("key values mismatch"));
  wrong.key_file = "";
  EXPECT_THAT(std::string(RedisConnection::CheckTls(wrong).message()), HasSubstr("go together"));
  wrong = {"", own_.certificate_file, own_.key_file, ""};
  EXPECT_TRUE(absl::IsInvalidArgument(RedisConnection::CheckTls(wrong)));
  wrong = {"", "", "", "engine.example"};
  EXPECT_TRUE(absl::IsInvalidArgument(RedisConnection::CheckTls(wrong)));
}

}  // namespace
}  // namespace tritond::cache
