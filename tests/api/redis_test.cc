// SPDX-License-Identifier: Apache-2.0
// The port of the Redis protocol beside gRPC: whose values never meet compiles, and who may use it.
#include <gmock/gmock.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <fstream>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/request_key/request_key.h"
#include "tests/support/certificates.h"
#include "tests/support/daemon_fixture.h"
#include "tests/support/raw_connection.h"
#include "tests/support/scrape.h"

namespace tritond::tests {
namespace {

namespace asio = boost::asio;
using testing::HasSubstr;
using testing::StartsWith;

std::string Array(const std::vector<std::string>& words) {
  std::string text = absl::StrCat("*", words.size(), "\r\n");
  for (const std::string& word : words) absl::StrAppend(&text, "$", word.size(), "\r\n", word, "\r\n");
  return text;
}

class RedisTest : public DaemonTest {
 protected:
  RedisTest() { config.redis_listen = "127.0.0.1:0"; }

  void Write(const std::string& name, const std::string& text) const { std::ofstream(Path(name)) << text; }
  // What one connection is sent for these commands.
  std::string Ask(const std::vector<std::vector<std::string>>& commands) {
    RawConnection connection;
    EXPECT_TRUE(connection.Dial(daemon().redis_port()));
    std::string requests;
    for (const auto& words : commands) requests += Array(words);
    EXPECT_TRUE(connection.Send(requests + Array({"QUIT"})));
    const std::string answers = connection.ReadUntil("what never comes: it is closed", 30);
    return answers.substr(0, answers.rfind("+OK\r\n"));
  }
  // The same over TLS; the error that ends the connection when one does.
  std::string AskOverTls(const std::vector<std::string>& words, const KeyPair& own = {}) {
    asio::ssl::context context(asio::ssl::context::tls_client);
    context.add_certificate_authority(asio::buffer(authority_.certificate()));
    context.set_verify_mode(asio::ssl::verify_peer);
    if (!own.key.empty()) {
      context.use_certificate_chain(asio::buffer(own.certificate));
      context.use_private_key(asio::buffer(own.key), asio::ssl::context::pem);
    }
    asio::io_context io;
    asio::ssl::stream<asio::ip::tcp::socket> stream(io, context);
    boost::system::error_code error;
    stream.lowest_layer().connect({asio::ip::address_v4::loopback(), static_cast<uint16_t>(daemon().redis_port())},
                                  error);
    if (!error) stream.handshake(asio::ssl::stream_base::client, error);
    if (!error) asio::write(stream, asio::buffer(Array(words) + "QUIT\r\n"), error);
    std::string answers;
    if (!error) asio::read_until(stream, asio::dynamic_buffer(answers), "\r\n", error);
    return error ? error.message() : answers.substr(0, answers.find("\r\n"));
  }
  void ServeTls(const KeyPair& server) {
    Write("server.pem", server.certificate);
    Write("server.key", server.key);
    Write("ca.pem", authority_.certificate());
    config.tls_certificate = Path("server.pem");
    config.tls_key = Path("server.key");
    config.tls_client_ca = Path("ca.pem");
  }

  const CertificateAuthority authority_{"test authority"};
};

TEST_F(RedisTest, ValuesOfClientsNeverAnswerACompile) {
  Start();
  v1::CompileResponse compiled;
  ASSERT_TRUE(Compile(Request("kernel"), &compiled).ok());
  const std::string key = compiled.key(), raw_key = absl::HexStringToBytes(key);
  const std::string artifact = compiled.result().artifacts(0).digest();
  for (const std::string& name : {key, raw_key, artifact, absl::HexStringToBytes(artifact)})
    EXPECT_EQ(Ask({{"GET", name}}), "$-1\r\n") << "nor are results of compiles values";

  v1::EvictRequest everything;
  everything.set_everything(true);
  v1::EvictResponse evicted;
  grpc::ClientContext evict;
  ASSERT_TRUE(admin->Evict(&evict, everything, &evicted).ok());
  const std::string forged = compiled.result().SerializeAsString();
  for (const std::string& name : {key, raw_key, artifact, absl::HexStringToBytes(artifact)})
    EXPECT_EQ(Ask({{"SET", name, forged}}), "+OK\r\n");

  v1::LookupRequest lookup;
  lookup.set_key(key);
  v1::CompileResponse found;
  grpc::ClientContext look;
  EXPECT_EQ(compile->Lookup(&look, lookup, &found).error_code(), grpc::StatusCode::NOT_FOUND);
  v1::FindMissingRequest find;
  find.add_digests(artifact);
  find.add_digests(proto::Sha256Hex(forged));
  v1::FindMissingResponse missing;
  grpc::ClientContext ask;
  ASSERT_TRUE(artifacts->FindMissing(&ask, find, &missing).ok());
  EXPECT_EQ(missing.missing_size(), 2);
  v1::CompileResponse again;
  ASSERT_TRUE(Compile(Request("kernel"), &again).ok());
  EXPECT_EQ(again.key(), key);
  EXPECT_EQ(again.cache(), v1::CACHE_STATUS_MISS) << "it was compiled, not taken from a client";

  grpc::ClientContext forget;
  ASSERT_TRUE(admin->Evict(&forget, everything, &evicted).ok());
  EXPECT_EQ(Ask({{"EXISTS", key}}), ":1\r\n") << "nor does eviction of results touch values";
}

TEST_F(RedisTest, ValuesSurviveARestart) {
  Start(/*wait=*/false);
  EXPECT_EQ(Ask({{"SET", "k", "value"}, {"SETEX", "soon", "1000", "v"}}), "+OK\r\n+OK\r\n");
  Stop(absl::ZeroDuration());
  Start(/*wait=*/false);
  EXPECT_EQ(Ask({{"MGET", "k", "soon"}}), "*2\r\n$5\r\nvalue\r\n$1\r\nv\r\n");
  EXPECT_EQ(ScrapeMetric(daemon().http_port(), "tritond_redis_entries"), 2);
  EXPECT_EQ(ScrapeMetric(daemon().http_port(), "tritond_redis_commands_total{command=\"mget\",result=\"ok\"}"), 1);
}

TEST_F(RedisTest, ThereIsNoPortUnlessItIsAskedFor) {
  config.redis_listen.clear();
  Start(/*wait=*/false);
  EXPECT_EQ(daemon().redis_port(), 0);
  EXPECT_EQ(ScrapeMetric(daemon().http_port(), "tritond_redis_entries"), -1);
}

TEST_F(RedisTest, AnAddressThatIsTakenIsNamed) {
  Start(/*wait=*/false);
  const std::string taken = absl::StrCat("127.0.0.1:", daemon().redis_port());
  server::ServerConfig other = config;
  other.data_dir = Path("other");
  other.redis_listen = taken;
  const absl::Status status = server::Server::Start(other, [](const std::string&) {}).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("--redis-listen"), HasSubstr(taken)));
}

TEST_F(RedisTest, AccessRulesAreThoseOfTheDaemon) {
  Write("access.yaml", absl::StrCat("anonymous: none\ntokens:\n  - {sha256: ", proto::Sha256Hex("builder"),
                                    ", role: prebuild, tenant: a}\n  - {sha256: ", proto::Sha256Hex("reader"),
                                    ", role: read, tenant: a}\n"));
  config.access_file = Path("access.yaml");
  Start(/*wait=*/false);
  EXPECT_THAT(Ask({{"GET", "k"}}), StartsWith("-NOAUTH "));
  EXPECT_EQ(Ask({{"AUTH", "default", "builder"}, {"SET", "k", "v"}}), "+OK\r\n+OK\r\n")
      << "the loopback may carry a token: nobody can read it there";
  EXPECT_THAT(Ask({{"AUTH", "reader"}, {"GET", "k"}, {"DEL", "k"}}), StartsWith("+OK\r\n$1\r\nv\r\n-NOPERM "));
  EXPECT_EQ(ScrapeMetric(daemon().http_port(), "tritond_redis_commands_total{command=\"del\",result=\"denied\"}"), 1);
}

TEST_F(RedisTest, TlsIsThatOfTheDaemon) {
  ServeTls(authority_.Issue("tritond"));
  Write("access.yaml", absl::StrCat("anonymous: none\ntokens:\n  - {sha256: ", proto::Sha256Hex("token"),
                                    ", role: compile}\ncertificates:\n  - {common_name: \"ci-*\", role: prebuild}\n"));
  config.access_file = Path("access.yaml");
  Start(/*wait=*/false);
  RawConnection plain;
  ASSERT_TRUE(plain.Dial(daemon().redis_port()));
  EXPECT_TRUE(plain.Send(Array({"PING"})));
  EXPECT_THAT(plain.ReadUntil("PONG", 10), testing::Not(HasSubstr("PONG"))) << "no plain text where TLS is";
  EXPECT_THAT(AskOverTls({"GET", "k"}), StartsWith("-NOAUTH "));
  EXPECT_EQ(AskOverTls({"AUTH", "token"}), "+OK");
  EXPECT_EQ(AskOverTls({"SET", "k", std::string(200000, 'v')}, authority_.Issue("ci-7")), "+OK");
  EXPECT_EQ(AskOverTls({"STRLEN", "k"}, authority_.Issue("ci-7")), "-ERR unknown command 'STRLEN'");
  EXPECT_THAT(AskOverTls({"GET", "k"}, authority_.Issue("stranger")), StartsWith("-NOAUTH "));
  const CertificateAuthority other("another authority");
  EXPECT_THAT(AskOverTls({"GET", "k"}, other.Issue("ci-7")), testing::Not(StartsWith("$")));
}

TEST_F(RedisTest, RenewedCertificatesAreTaken) {
  const CertificateAuthority renewed("renewed authority");
  ServeTls(renewed.Issue("tritond"));
  Start(/*wait=*/false);
  EXPECT_THAT(AskOverTls({"PING"}), HasSubstr("verify")) << "its authority is not known here";
  ServeTls(authority_.Issue("tritond"));
  Await([this] { return AskOverTls({"PING"}, authority_.Issue("ci")) == "+PONG"; });
}

}  // namespace
}  // namespace tritond::tests
