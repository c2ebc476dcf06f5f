// SPDX-License-Identifier: Apache-2.0
#include "server/redis/redis_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <prometheus/registry.h>

#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/support/fake_cache.h"

namespace tritond::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Progress = RedisClient::Progress;

constexpr char kOk[] = "+OK\r\n", kNull[] = "$-1\r\n";
constexpr uint64_t kRequestBytes = 1 << 20;

std::string Sha256Hex(const std::string& text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), size));
}

class RedisClientTest : public testing::Test {
 protected:
  static Credentials Encrypted() {
    Credentials credentials;
    credentials.encrypted = true;
    return credentials;
  }
  std::unique_ptr<RedisClient> Dial(Credentials credentials = Encrypted()) {
    return std::make_unique<RedisClient>(parts_, ++last_id_, std::move(credentials));
  }
  // What the client is sent for words without spaces.
  std::string Run(RedisClient& client, const std::string& words) {
    return Run(client, std::vector<std::string>(absl::StrSplit(words, ' ')));
  }
  std::string Run(RedisClient& client, std::vector<std::string> words,
                  RedisRequest::Kind kind = RedisRequest::Kind::kArray, bool without_room = false) {
    RedisRequest request{kind, std::move(words)};
    Progress progress = Progress::kMore;
    std::string text;
    for (runs_ = 0; progress == Progress::kMore; ++runs_) {
      progress = client.Run(request, without_room, &answer_);
      for (const cache::Blob& piece : answer_.out.Take()) absl::StrAppend(&text, piece.bytes());
      held_ = 0;
      for (const ByteBudget::Hold& hold : answer_.holds) held_ += hold.bytes();
      answer_.holds.clear();
    }
    if (progress == Progress::kNoRoom) text += "no room";
    return text;
  }
  double Counted(const std::string& command, const std::string& result) {
    for (const prometheus::MetricFamily& family : registry_.Collect()) {
      if (family.name != "tritond_redis_commands_total") continue;
      for (const prometheus::ClientMetric& metric : family.metric)
        if (metric.label[0].value == command && metric.label[1].value == result) return metric.counter.value;
    }
    return -1;
  }
  // Tokens reader (of no tenant), a and b (of tenants of these names), worker; nothing for anybody else.
  void WantTokens() {
    AccessRules rules;
    rules.anonymous.role = Role::kNone;
    rules.tokens = {{Sha256Hex("reader"), {Role::kRead, ""}},
                    {Sha256Hex("a"), {Role::kCompile, "a"}},
                    {Sha256Hex("b"), {Role::kPrebuild, "b"}},
                    {Sha256Hex("worker"), {Role::kWorker, ""}}};
    access_.Replace(rules);
  }

  tests::FakeCache records_, values_;
  absl::Time now_ = absl::FromUnixSeconds(1800000000);
  ValueStore store_{records_, values_, TenantIndex::Limits(), [this] { return now_; }};
  AccessPolicy access_{AccessRules()};
  prometheus::Registry registry_;
  RedisMetrics metrics_{registry_, RedisClient::CommandNames()};
  ByteBudget budget_{1 << 20};
  RedisParts parts_{store_, access_, metrics_, budget_, kRequestBytes, "1.2.3"};
  uint64_t last_id_ = 0;
  RedisAnswer answer_;
  int runs_ = 0;
  uint64_t held_ = 0;
  const std::unique_ptr<RedisClient> client_ = Dial();
};

TEST_F(RedisClientTest, StoresAndForgets) {
  RedisClient& client = *client_;
  EXPECT_EQ(Run(client, "GET k"), kNull);
  EXPECT_EQ(Run(client, "set k value"), kOk) << "in any case";
  EXPECT_EQ(Run(client, "GeT k"), "$5\r\nvalue\r\n");
  EXPECT_EQ(Run(client, "SET k2 v2"), kOk);
  EXPECT_EQ(Run(client, "MGET k none k2 k"), "*4\r\n$5\r\nvalue\r\n$-1\r\n$2\r\nv2\r\n$5\r\nvalue\r\n");
  EXPECT_EQ(Run(client, "EXISTS k none k2 k"), ":3\r\n");
  EXPECT_EQ(Run(client, "DEL k none k"), ":1\r\n");
  EXPECT_EQ(Run(client, "EXISTS k"), ":0\r\n");
  EXPECT_EQ(Counted("get", "ok"), 1);
  EXPECT_EQ(Counted("get", "miss"), 1);
  EXPECT_EQ(Counted("set", "ok"), 2);
  EXPECT_EQ(metrics_.requests(), 8u);
}

TEST_F(RedisClientTest, OptionsOfSet) {
  RedisClient& client = *client_;
  EXPECT_EQ(Run(client, "SET k v EX 10 NX"), kOk);
  EXPECT_EQ(Run(client, "SET k w NX"), kNull);
  EXPECT_EQ(Run(client, "SET k w nx px 5"), kNull);
  now_ += absl::Seconds(10);
  EXPECT_EQ(Run(client, "GET k"), kNull);
  EXPECT_EQ(Run(client, "SET k v PX 1500"), kOk);
  now_ += absl::Milliseconds(1499);
  EXPECT_EQ(Run(client, "SET k w XX PX 2"), kOk);
  now_ += absl::Milliseconds(1);
  EXPECT_EQ(Run(client, "GET k"), "$1\r\nw\r\n");
  EXPECT_EQ(Run(client, "SETEX k 3 three"), kOk);
  now_ += absl::Seconds(3);
  EXPECT_EQ(Run(client, "GET k"), kNull);
  EXPECT_EQ(Run(client, "SET far v EX 9223372036854775807"), kOk) << "longer than any clock";
  EXPECT_EQ(Run(client, "GET far"), "$1\r\nv\r\n");
  for (const char* wrong :
       {"SET k v EX", "SET k v EX 1 PX 1", "SET k v NX XX", "SET k v KEEPTTL", "SET k v GET", "SET k v 5"})
    EXPECT_THAT(Run(client, wrong), StartsWith("-ERR syntax error")) << wrong;
  for (const char* wrong :
       {"SET k v EX 0", "SET k v PX -1", "SET k v EX x", "SETEX k 0 v", "SET k v EX 99999999999999999999"})
    EXPECT_THAT(Run(client, wrong), StartsWith("-ERR invalid expire time")) << wrong;
  EXPECT_EQ(Run(client, "GET k"), kNull) << "none of them stored anything";
}

TEST_F(RedisClientTest, AnswersTheQuestionsOfClientsThatConnect) {
  RedisClient& client = *client_;
  EXPECT_EQ(Run(client, "PING"), "+PONG\r\n");
  EXPECT_EQ(Run(client, "PING hello"), "$5\r\nhello\r\n");
  EXPECT_EQ(Run(client, "CLIENT SETINFO LIB-NAME redis-py"), kOk);
  EXPECT_EQ(Run(client, "client setname me"), kOk);
  EXPECT_EQ(Run(client, "CLIENT ID"), ":1\r\n");
  EXPECT_EQ(Run(client, "SELECT 0"), kOk);
  EXPECT_THAT(Run(client, "SELECT 1"), StartsWith("-ERR DB index is out of range"));
  EXPECT_EQ(Run(client, "AUTH default anything"), kOk) << "everybody may do everything here, as over gRPC";
  EXPECT_THAT(Run(client, "INFO"), HasSubstr("redis_version:7."));
  EXPECT_THAT(Run(client, "INFO server"), HasSubstr("tritond_version:1.2.3\r\n"));
  EXPECT_EQ(Run(client, "COMMAND COUNT"), absl::StrCat(":", RedisClient::CommandNames().size(), "\r\n"));
  EXPECT_EQ(Run(client, "COMMAND DOCS"), "*0\r\n");
  EXPECT_THAT(Run(client, "COMMAND"), HasSubstr("*6\r\n$3\r\nget\r\n:2\r\n*0\r\n:1\r\n:1\r\n:1\r\n"));
  EXPECT_FALSE(client.ends());
  EXPECT_EQ(Run(client, "QUIT"), kOk);
  EXPECT_TRUE(client.ends());
}

TEST_F(RedisClientTest, HelloChoosesTheProtocol) {
  RedisClient& client = *client_;
  EXPECT_THAT(Run(client, "HELLO"), AllOf(StartsWith("*14\r\n$6\r\nserver\r\n"), HasSubstr("$5\r\nproto\r\n:2\r\n")));
  EXPECT_THAT(Run(client, "HELLO 3 SETNAME me"), AllOf(StartsWith("%7\r\n"), HasSubstr("$5\r\nproto\r\n:3\r\n")));
  EXPECT_EQ(Run(client, "GET none"), "_\r\n");
  EXPECT_THAT(Run(client, "HELLO 4"), StartsWith("-NOPROTO "));
  EXPECT_THAT(Run(client, "HELLO 2 AUTH me"), StartsWith("-ERR syntax error"));
  EXPECT_EQ(Run(client, "GET none"), "_\r\n") << "a HELLO that fails changes nothing";
  EXPECT_THAT(Run(client, "HELLO 2"), StartsWith("*14\r\n"));
  EXPECT_EQ(Run(client, "GET none"), kNull);
}

TEST_F(RedisClientTest, AnUnknownCommandIsAnError) {
  RedisClient& client = *client_;
  EXPECT_EQ(Run(client, "FLUSHALL"), "-ERR unknown command 'FLUSHALL'\r\n");
  EXPECT_THAT(Run(client, "CONFIG GET save"), StartsWith("-ERR unknown command 'CONFIG'"));
  EXPECT_THAT(Run(client, std::vector<std::string>{""}), StartsWith("-ERR unknown command ''"));
  EXPECT_THAT(Run(client, std::vector<std::string>{std::string(100000, 'x')}), testing::SizeIs(testing::Lt(200)));
  for (const char* wrong : {"GET", "GET a b", "SET a", "MGET", "SETEX a 1", "PING a b", "CLIENT", "SELECT"})
    EXPECT_THAT(Run(client, wrong), StartsWith("-ERR wrong number of arguments")) << wrong;
  EXPECT_THAT(Run(client, "CLIENT KILL x"), StartsWith("-ERR unknown subcommand"));
  EXPECT_FALSE(client.ends()) << "errors in sound requests end nothing";
  EXPECT_THAT(Run(client, {"Host:", "x"}, RedisRequest::Kind::kInline), StartsWith("-ERR unknown command"));
  EXPECT_TRUE(client.ends()) << "but what is no Redis protocol does";
}

TEST_F(RedisClientTest, WithoutATokenNothingIsTold) {
  WantTokens();
  RedisClient& client = *client_;
  for (const char* command : {"GET k", "SET k v", "DEL k", "EXISTS k", "MGET k", "PING", "INFO", "COMMAND", "CLIENT ID",
                              "SELECT 0", "SETEX k 1 v"})
    EXPECT_THAT(Run(client, command), StartsWith("-NOAUTH ")) << command;
  EXPECT_THAT(Run(client, "HELLO 3"), StartsWith("-NOAUTH "));
  EXPECT_THAT(Run(client, std::vector<std::string>{}, RedisRequest::Kind::kTooLarge), StartsWith("-NOAUTH "));
  EXPECT_EQ(client.RequestLimit(), RequestParser::kFreeBytes);
  EXPECT_THAT(Run(client, "AUTH wrong"), StartsWith("-WRONGPASS "));
  EXPECT_THAT(Run(client, std::vector<std::string>{"AUTH", ""}), StartsWith("-WRONGPASS "));
  EXPECT_THAT(Run(client, "GET k"), StartsWith("-NOAUTH "));
  EXPECT_EQ(Counted("get", "denied"), 2);
  EXPECT_TRUE(records_.entries.empty());
  EXPECT_EQ(Run(client, "AUTH a"), kOk);
  EXPECT_EQ(client.RequestLimit(), kRequestBytes);
  EXPECT_EQ(Run(client, "SET k v"), kOk);
}

TEST_F(RedisClientTest, RolesReadAndWrite) {
  WantTokens();
  RedisClient& client = *client_;
  EXPECT_EQ(Run(client, "AUTH someone reader"), kOk) << "the name does not count";
  EXPECT_EQ(Run(client, "GET k"), kNull);
  for (const char* command : {"SET k v", "SETEX k 1 v", "DEL k"})
    EXPECT_THAT(Run(client, command), StartsWith("-NOPERM role read is not enough")) << command;
  EXPECT_EQ(Run(client, "AUTH worker"), kOk);
  EXPECT_THAT(Run(client, "GET k"), StartsWith("-NOPERM "));
  EXPECT_THAT(Run(client, "HELLO 3 AUTH default wrong"), StartsWith("-WRONGPASS "));
  EXPECT_THAT(Run(client, "HELLO 3 AUTH default b"), StartsWith("%7\r\n"));
  EXPECT_EQ(Run(client, "SET k v"), kOk) << "prebuild may write";
}

TEST_F(RedisClientTest, TenantsDoNotMeet) {
  WantTokens();
  const auto a = Dial(), b = Dial(), reader = Dial();
  Run(*a, "AUTH a");
  Run(*b, "AUTH b");
  Run(*reader, "AUTH reader");
  EXPECT_EQ(Run(*a, "SET k of-a"), kOk);
  EXPECT_EQ(Run(*b, "GET k"), kNull);
  EXPECT_EQ(Run(*reader, "GET k"), kNull);
  EXPECT_EQ(Run(*b, "DEL k"), ":0\r\n");
  EXPECT_EQ(Run(*b, "SET k of-b"), kOk);
  EXPECT_EQ(Run(*a, "GET k"), "$4\r\nof-a\r\n");
  EXPECT_THAT(Run(*a, "INFO"), testing::Not(HasSubstr("keys="))) << "nor hear of each other";
  EXPECT_THAT(Run(*reader, "INFO"), HasSubstr("keys=2"));
}

TEST_F(RedisClientTest, ATokenDoesNotComeInTheClear) {
  WantTokens();
  const auto plain = Dial(Credentials{});
  EXPECT_THAT(Run(*plain, "AUTH a"), AllOf(StartsWith("-WRONGPASS "), HasSubstr("plain TCP")));
  EXPECT_THAT(Run(*plain, "GET k"), StartsWith("-NOAUTH "));
}

TEST_F(RedisClientTest, ARevokedTokenEndsAtOnce) {
  WantTokens();
  RedisClient& client = *client_;
  Run(client, "AUTH a");
  EXPECT_EQ(Run(client, "SET k v"), kOk);
  AccessRules rules;
  rules.anonymous.role = Role::kRead;
  rules.tokens = {{Sha256Hex("other"), {Role::kAdmin, ""}}};
  access_.Replace(rules);
  EXPECT_THAT(Run(client, "GET k"), StartsWith("-NOAUTH ")) << "not even what anybody may";
}

TEST_F(RedisClientTest, ACertificateIsACredential) {
  AccessRules rules;
  rules.anonymous.role = Role::kNone;
  rules.certificates = {{"node-*", {Role::kCompile, "nodes"}}};
  access_.Replace(rules);
  RedisClient& client = *client_;
  EXPECT_THAT(Run(client, "GET k"), StartsWith("-NOAUTH "));
  client.SetCommonNames({"node-7"});
  EXPECT_EQ(Run(client, "SET k v"), kOk);
}

TEST_F(RedisClientTest, LargeAnswersTakeRoom) {
  RedisClient& client = *client_;
  const std::string value(600 << 10, 'v');
  for (const char* key : {"a", "b"}) EXPECT_EQ(Run(client, {"SET", key, value}), kOk);
  const std::string answer = absl::StrCat("$", value.size(), "\r\n", value, "\r\n");
  EXPECT_EQ(Run(client, "GET a"), answer);
  EXPECT_EQ(held_, value.size());
  std::optional<ByteBudget::Hold> other = budget_.Take(600 << 10);
  EXPECT_EQ(Run(client, "GET a"), "no room");
  EXPECT_EQ(Counted("get", "ok"), 1) << "it is not done";
  EXPECT_THAT(Run(client, {"GET", "a"}, RedisRequest::Kind::kArray, /*without_room=*/true),
              StartsWith("-ERR there is no memory for this answer"));
  EXPECT_EQ(Run(client, {"MGET", "a", "none"}, RedisRequest::Kind::kArray, /*without_room=*/true),
            absl::StrCat("*2\r\n", kNull, kNull))
      << "a cache may miss";
  other.reset();
  EXPECT_EQ(Run(client, "GET a"), answer);
  EXPECT_EQ(budget_.held(), 0u);
}

TEST_F(RedisClientTest, ManyKeysTakeTurnsAndAnswerOnce) {
  RedisClient& client = *client_;
  const std::string value(300 << 10, 'v');
  Run(client, {"SET", "large", value});
  Run(client, "SET small s");
  const std::string large = absl::StrCat("$", value.size(), "\r\n", value, "\r\n");
  EXPECT_EQ(Run(client, "MGET large large small large"), absl::StrCat("*4\r\n", large, large, "$1\r\ns\r\n", large));
  EXPECT_EQ(runs_, 3) << "no more than a large one at once";
  std::vector<std::string> words{"MGET"};
  std::string expected = "*1000\r\n";
  for (int i = 0; i < 1000; ++i) {
    words.push_back("small");
    expected += "$1\r\ns\r\n";
  }
  EXPECT_EQ(Run(client, words), expected);
  EXPECT_GT(runs_, 3);
  words[0] = "EXISTS";
  EXPECT_EQ(Run(client, words), ":1000\r\n");
  EXPECT_EQ(runs_, 4);
  words[0] = "DEL";
  EXPECT_EQ(Run(client, words), ":1\r\n");
}

TEST_F(RedisClientTest, AnAnswerThatHasBegunGoesOnUnderOtherRules) {
  RedisClient& client = *client_;
  Run(client, {"SET", "large", std::string(300 << 10, 'v')});
  RedisRequest request{RedisRequest::Kind::kArray, {"MGET", "large", "large"}};
  ASSERT_EQ(client.Run(request, false, &answer_), Progress::kMore);
  answer_.out.Take();
  WantTokens();
  EXPECT_EQ(client.Run(request, false, &answer_), Progress::kDone);
  std::string text;
  for (const cache::Blob& piece : answer_.out.Take()) absl::StrAppend(&text, piece.bytes());
  EXPECT_EQ(text.substr(0, 9), "$307200\r\n") << "an error in the middle would be no answer";
  EXPECT_EQ(Run(client, "GET large").substr(0, 8), "-NOAUTH ");
}

TEST_F(RedisClientTest, RequestsThatWereReadPastAreToldWhy) {
  EXPECT_THAT(Run(*client_, std::vector<std::string>{}, RedisRequest::Kind::kTooLarge),
              HasSubstr("--redis-max-request-mb"));
  EXPECT_THAT(Run(*client_, std::vector<std::string>{}, RedisRequest::Kind::kNoRoom), HasSubstr("try again"));
  EXPECT_EQ(Counted("other", "error"), 2);
}

TEST_F(RedisClientTest, AFullDiskIsAnError) {
  values_.full = true;
  EXPECT_THAT(Run(*client_, "SET k v"), StartsWith("-ERR full"));
  EXPECT_EQ(Run(*client_, "GET k"), kNull);
  EXPECT_EQ(Counted("set", "error"), 1);
}

}  // namespace
}  // namespace tritond::server
