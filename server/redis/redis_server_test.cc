// SPDX-License-Identifier: Apache-2.0
#include "server/redis/redis_server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "tests/support/fake_cache.h"
#include "tests/support/sanitizer.h"

namespace tritond::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr char kOk[] = "+OK\r\n";
constexpr uint64_t kRequestBytes = uint64_t{4} << 20;

// A map for several threads.
class LockedCache final : public cache::Cache {
 public:
  absl::StatusOr<cache::Blob> Get(const cache::Digest& key) override {
    absl::MutexLock lock(&mu_);
    return map_.Get(key);
  }
  absl::Status Put(const cache::Digest& key, cache::Blob value) override {
    absl::MutexLock lock(&mu_);
    return map_.Put(key, std::move(value));
  }
  absl::StatusOr<std::vector<cache::Digest>> FindMissing(absl::Span<const cache::Digest> keys) override {
    absl::MutexLock lock(&mu_);
    return map_.FindMissing(keys);
  }
  absl::Status Remove(const cache::Digest& key) override {
    absl::MutexLock lock(&mu_);
    return map_.Remove(key);
  }
  absl::StatusOr<std::vector<cache::Digest>> List() override {
    absl::MutexLock lock(&mu_);
    return map_.List();
  }

 private:
  absl::Mutex mu_;
  tests::FakeCache map_;
};

// The other end of a connection.
class Peer final {
 public:
  explicit Peer(RedisServer& server, const std::string& group = "peer", int buffer_bytes = 0) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    fd_ = ends[0];
    if (buffer_bytes > 0) {
      for (int end : ends) setsockopt(end, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof(buffer_bytes));
    }
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    server.Welcome(ends[1], {group, /*local=*/true});
  }
  Peer(Peer&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Peer() {
    if (fd_ >= 0) close(fd_);
  }
  bool Send(absl::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  // So many bytes, or fewer when the server closes the connection or says nothing for half a minute.
  std::string Read(size_t count) {
    std::string all(count, '\0');
    size_t got = 0;
    while (got < count) {
      pollfd ready{fd_, POLLIN, 0};
      if (poll(&ready, 1, 30000) <= 0) break;
      const ssize_t now = recv(fd_, &all[got], count - got, 0);
      if (now <= 0) break;
      got += static_cast<size_t>(now);
    }
    all.resize(got);
    return all;
  }
  // Until the server closes the connection.
  std::string ReadAll() { return Read(1 << 20); }
  std::string Ask(const std::string& request, size_t answer_bytes) {
    EXPECT_TRUE(Send(request));
    return Read(answer_bytes);
  }
  void HalfClose() { shutdown(fd_, SHUT_WR); }

 private:
  int fd_ = -1;
};

std::string Array(const std::vector<std::string>& words) {
  std::string text = absl::StrCat("*", words.size(), "\r\n");
  for (const std::string& word : words) absl::StrAppend(&text, "$", word.size(), "\r\n", word, "\r\n");
  return text;
}

std::string Bulk(const std::string& value) { return absl::StrCat("$", value.size(), "\r\n", value, "\r\n"); }

class RedisServerTest : public testing::Test {
 protected:
  RedisServerTest() {
    limits_.request_bytes = kRequestBytes;
    limits_.memory_bytes = 2 * kRequestBytes;
  }
  void Start() { server_ = std::make_unique<RedisServer>(store_, access_, registry_, "1.2.3", limits_); }
  double Closed(const std::string& reason) {
    for (const prometheus::MetricFamily& family : registry_.Collect()) {
      if (family.name != "tritond_redis_connections_closed_total") continue;
      for (const prometheus::ClientMetric& metric : family.metric)
        if (metric.label[0].value == reason) return metric.counter.value;
    }
    return -1;
  }
  double Value(const std::string& name) {
    server_->ShowState();
    for (const prometheus::MetricFamily& family : registry_.Collect())
      if (family.name == name) return family.metric[0].gauge.value;
    return -1;
  }
  bool Becomes(const std::string& name, double value) {
    const absl::Time give_up = absl::Now() + absl::Seconds(30);
    while (Value(name) != value && absl::Now() < give_up) absl::SleepFor(absl::Milliseconds(1));
    return Value(name) == value;
  }

  LockedCache records_, values_;
  ValueStore store_{records_, values_, TenantIndex::Limits(), absl::Now};
  AccessPolicy access_{AccessRules()};
  prometheus::Registry registry_;
  RedisLimits limits_;
  std::unique_ptr<RedisServer> server_;
};

TEST_F(RedisServerTest, AnswersInTheOrderOfTheRequests) {
  Start();
  Peer peer(*server_);
  const std::string pipeline =
      Array({"SET", "a", "1"}) + "PING\r\n" + Array({"GET", "a"}) + Array({"NONE"}) + Array({"MGET", "a", "b"});
  const std::string expected = "+OK\r\n+PONG\r\n$1\r\n1\r\n-ERR unknown command 'NONE'\r\n*2\r\n$1\r\n1\r\n$-1\r\n";
  EXPECT_EQ(peer.Ask(pipeline, expected.size()), expected);
  for (char c : pipeline) ASSERT_TRUE(peer.Send(std::string(1, c)));
  EXPECT_EQ(peer.Read(expected.size()), expected) << "the same byte by byte";
  EXPECT_EQ(server_->requests(), 10u);
}

TEST_F(RedisServerTest, ManyPipelinedRequestsAreAllAnswered) {
  Start();
  Peer peer(*server_);
  std::string requests, answers;
  for (int i = 0; i < 5000; ++i) {
    const std::string value = std::string(static_cast<size_t>(i % 300), 'v');
    requests += Array({"SET", absl::StrCat("k", i % 50), value}) + Array({"GET", absl::StrCat("k", i % 50)});
    answers += kOk + Bulk(value);
  }
  std::thread sends([&] { EXPECT_TRUE(peer.Send(requests)); });
  EXPECT_TRUE(peer.Read(answers.size()) == answers);
  sends.join();
}

TEST_F(RedisServerTest, LargeValuesPassWhole) {
  Start();
  Peer peer(*server_);
  std::string value(3 << 20, '\0');
  for (size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>(i * 2654435761u >> 13);
  EXPECT_EQ(peer.Ask(Array({"SET", "k", value}) + Array({"GET", "k"}), 5), kOk);
  EXPECT_TRUE(peer.Read(Bulk(value).size()) == Bulk(value));
  EXPECT_TRUE(Becomes("tritond_redis_memory_bytes", 0)) << "and leave no memory behind";
}

TEST_F(RedisServerTest, ARequestThatIsTooLargeCostsNothingElse) {
  Start();
  Peer peer(*server_);
  const std::string answer =
      "-ERR the request is larger than 4194304 bytes, the most that this server takes (--redis-max-request-mb)\r\n";
  EXPECT_EQ(peer.Ask(Array({"SET", "k", std::string(5 << 20, 'v')}), answer.size()), answer);
  EXPECT_EQ(peer.Ask("EXISTS k\r\n", 4), ":0\r\n");
}

TEST_F(RedisServerTest, WithoutARoleOnlySmallRequestsAreTaken) {
  AccessRules rules;
  rules.anonymous.role = Role::kNone;
  access_.Replace(rules);
  Start();
  Peer peer(*server_);
  EXPECT_TRUE(peer.Send("*1\r\n$3000000\r\n" + std::string(2000000, 'v')));
  EXPECT_EQ(Value("tritond_redis_memory_bytes"), 0);
  EXPECT_TRUE(peer.Send(std::string(1000000, 'v') + "\r\n"));
  EXPECT_THAT(peer.Read(10), StartsWith("-NOAUTH "));
}

TEST_F(RedisServerTest, AMalformedRequestIsAnErrorAndClosesTheConnection) {
  Start();
  for (const char* bytes : {"*1\r\n$x\r\n", "*-5\r\n", "*1\r\n*1\r\n$4\r\nPING\r\n", "\x16\x03\x01\n*1\r\n:1\r\n"}) {
    Peer peer(*server_);
    EXPECT_TRUE(peer.Send(bytes));
    EXPECT_THAT(peer.ReadAll(), StartsWith("-ERR ")) << bytes;
  }
  Peer peer(*server_);
  EXPECT_TRUE(peer.Send("PING\r\n*1\r\n!" + std::string(100000, 'x')));
  EXPECT_THAT(peer.ReadAll(), StartsWith("+PONG\r\n-ERR Protocol error: expected '$'"))
      << "what came before is answered, and unread bytes do not take the error away";
  EXPECT_EQ(Closed("malformed"), 4);
  EXPECT_TRUE(Becomes("tritond_redis_connections", 0));
}

TEST_F(RedisServerTest, ABrowserCannotBeMadeToStoreAnything) {
  Start();
  Peer peer(*server_);
  EXPECT_TRUE(peer.Send("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nSET k evil\r\n"));
  EXPECT_EQ(peer.ReadAll(), "-ERR unknown command 'POST'\r\n");
  Peer get(*server_);
  EXPECT_TRUE(get.Send("GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nSET k evil\r\n"));
  EXPECT_THAT(get.ReadAll(), HasSubstr("unknown command 'Host:'"));
  EXPECT_EQ(store_.size(), 0u);
}

TEST_F(RedisServerTest, QuitEndsTheConnectionAfterItsAnswers) {
  Start();
  Peer peer(*server_);
  EXPECT_TRUE(peer.Send(Array({"SET", "k", "v"}) + Array({"QUIT"}) + Array({"DEL", "k"})));
  EXPECT_EQ(peer.ReadAll(), "+OK\r\n+OK\r\n");
  EXPECT_EQ(store_.size(), 1u);
  Peer other(*server_);
  EXPECT_TRUE(other.Send(Array({"GET", "k"})));
  other.HalfClose();
  EXPECT_EQ(other.ReadAll(), "$1\r\nv\r\n") << "who has sent all may say so";
}

TEST_F(RedisServerTest, AClientThatDoesNotReadLosesMemoryThatOthersWaitFor) {
  limits_.times.held = absl::Milliseconds(50);
  limits_.times.waited = absl::Milliseconds(20);
  limits_.times.room = absl::Minutes(1);
  limits_.times.stalled = absl::Minutes(10);
  Start();
  Peer writer(*server_);
  const std::string value(3 << 20, 'v');
  ASSERT_EQ(writer.Ask(Array({"SET", "k", value}), 5), kOk);
  std::vector<Peer> readers;
  for (int i = 0; i < 6; ++i) {
    readers.emplace_back(*server_, "peer", 4096);
    EXPECT_TRUE(readers.back().Send(Array({"GET", "k"})));
    EXPECT_EQ(readers.back().Read(1), "$") << "an answer has begun, and is not taken";
  }
  EXPECT_LE(Value("tritond_redis_memory_bytes"), 2.0 * kRequestBytes);
  EXPECT_TRUE(writer.Ask(Array({"GET", "k"}), Bulk(value).size()) == Bulk(value));
  EXPECT_EQ(Closed("memory"), 5) << "each made room for the next; two fit";
}

TEST_F(RedisServerTest, ARequestThatFindsNoRoomInTimeFailsAlone) {
  limits_.times.held = limits_.times.stalled = absl::Minutes(10);
  limits_.times.room = absl::Milliseconds(50);
  Start();
  Peer writer(*server_);
  const std::string value(3 << 20, 'v');
  ASSERT_EQ(writer.Ask(Array({"SET", "k", value}), 5), kOk);
  Peer one(*server_, "peer", 4096), two(*server_, "peer", 4096);
  for (Peer* peer : {&one, &two}) {
    EXPECT_TRUE(peer->Send(Array({"GET", "k"})));
    EXPECT_EQ(peer->Read(1), "$");
  }
  EXPECT_TRUE(writer.Send(Array({"SET", "other", value}) + Array({"GET", "k"}) + "PING\r\n"));
  const std::string expected =
      "-ERR there is no memory for this request now: try again\r\n"
      "-ERR there is no memory for this answer now: try again\r\n+PONG\r\n";
  EXPECT_EQ(writer.Read(expected.size()), expected);
  EXPECT_EQ(Closed("memory"), 0);
  EXPECT_TRUE(one.Read(Bulk(value).size() - 1) == Bulk(value).substr(1));
  EXPECT_EQ(writer.Ask(Array({"SET", "other", value}), 5), kOk);
}

TEST_F(RedisServerTest, StalledAndIdleConnectionsAreClosed) {
  limits_.times.stalled = absl::Milliseconds(100);
  Start();
  Peer idle(*server_), stalls(*server_);
  EXPECT_EQ(idle.Ask("PING\r\n", 7), "+PONG\r\n");
  EXPECT_TRUE(stalls.Send("*2\r\n$3\r\nGET\r\n$"));
  EXPECT_EQ(stalls.ReadAll(), "");
  EXPECT_EQ(Closed("stalled"), 1);
  EXPECT_EQ(idle.Ask("PING\r\n", 7), "+PONG\r\n");
  server_.reset();
  prometheus::Registry registry;
  limits_.times.idle = absl::Milliseconds(100);
  RedisServer second(store_, access_, registry, "1.2.3", limits_);
  Peer other(second);
  EXPECT_EQ(other.Ask("PING\r\n", 7), "+PONG\r\n");
  EXPECT_EQ(other.ReadAll(), "");
}

TEST_F(RedisServerTest, BeyondTheLimitThePeerWithMostConnectionsLosesTheOldest) {
  limits_.connections = 4;
  Start();
  std::vector<Peer> many;
  for (int i = 0; i < 3; ++i) {
    many.emplace_back(*server_, "many");
    EXPECT_EQ(many.back().Ask("PING\r\n", 7), "+PONG\r\n");
  }
  Peer one(*server_, "one");
  EXPECT_EQ(one.Ask("PING\r\n", 7), "+PONG\r\n");
  Peer newest(*server_, "one");
  EXPECT_EQ(newest.Ask("PING\r\n", 7), "+PONG\r\n");
  EXPECT_EQ(many[0].ReadAll(), "");
  EXPECT_EQ(many[1].Ask("PING\r\n", 7), "+PONG\r\n");
  EXPECT_EQ(one.Ask("PING\r\n", 7), "+PONG\r\n");
  EXPECT_EQ(Closed("room"), 1);
  EXPECT_EQ(Value("tritond_redis_connections_limit"), 4);
}

TEST_F(RedisServerTest, ManyClientsAtOnceSeeTheirOwnValues) {
  Start();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([this, t] {
      Peer peer(*server_);
      for (int i = 0; i < 50; ++i) {
        const std::string key = absl::StrCat(t, "/", i % 5),
                          value(static_cast<size_t>(i) * 2000, static_cast<char>('a' + t));
        ASSERT_EQ(peer.Ask(Array({"SET", key, value}), 5), kOk);
        ASSERT_TRUE(peer.Ask(Array({"GET", key}), Bulk(value).size()) == Bulk(value));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store_.size(), 40u);
  EXPECT_TRUE(Becomes("tritond_redis_connections", 0));
  EXPECT_TRUE(Becomes("tritond_redis_memory_bytes", 0));
}

TEST_F(RedisServerTest, EndsWithConnectionsInEveryState) {
  Start();
  Peer idle(*server_), half(*server_), untaken(*server_, "peer", 4096);
  ASSERT_EQ(idle.Ask(Array({"SET", "k", std::string(3 << 20, 'v')}), 5), kOk);
  EXPECT_TRUE(half.Send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3000000\r\nvvv"));
  EXPECT_TRUE(untaken.Send(Array({"GET", "k"})));
  EXPECT_EQ(untaken.Read(1), "$");
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(idle.Send(Array({"EXISTS", "k"})));
  server_.reset();
  EXPECT_EQ(half.ReadAll(), "");
}

TEST_F(RedisServerTest, UnsoundTlsTextsAreRefused) {
  Start();
  EXPECT_TRUE(absl::IsInvalidArgument(server_->UseTls({"no certificate", "no key", ""})));
  Peer peer(*server_);
  EXPECT_EQ(peer.Ask("PING\r\n", 7), "+PONG\r\n");
}

}  // namespace
}  // namespace tritond::server
