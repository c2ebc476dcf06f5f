// SPDX-License-Identifier: Apache-2.0
// More connections than there are file descriptors, and connections that reset their calls: callers are served, and the
// daemon says what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/fault/daemon_process.h"
#include "tests/support/raw_connection.h"
#include "tests/support/sanitizer.h"

namespace tritond::tests {
namespace {

using testing::HasSubstr;

constexpr int kDescriptors = 1024;
constexpr int kFlood = 1500;
constexpr uint8_t kReset = 3;  // RST_STREAM

int DescriptorsOf(pid_t pid) {
  std::error_code error;
  const std::filesystem::directory_iterator all("/proc/" + std::to_string(pid) + "/fd", error);
  return static_cast<int>(std::distance(begin(all), end(all)));
}

class ConnectionsTest : public testing::Test {
 protected:
  void SetUp() override {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < 2 * kFlood) GTEST_SKIP() << "this test needs " << 2 * kFlood << " file descriptors itself";
    daemon.descriptors = kDescriptors;
    daemon.http_port = FreePort();
    ASSERT_TRUE(daemon.Start());
  }
  grpc::Status CompileOnce(const std::string& address, uint64_t number) {
    Stubs stubs(address);
    v1::CompileResponse response;
    return Compile(stubs, NumberedRequest(number), &response, WithinReason(absl::Seconds(20)));
  }
  std::string Unix() const { return "unix:" + daemon.data_dir() + "/tritond.sock"; }
  httplib::Result Get(const char* path) { return httplib::Client("127.0.0.1", daemon.http_port).Get(path); }

  DaemonProcess daemon;
};

TEST_F(ConnectionsTest, SilentConnectionsBeyondTheLimitKeepNoCallerOut) {
  Stubs early(daemon.address());
  v1::CompileResponse response;
  ASSERT_TRUE(Compile(early, NumberedRequest(1), &response).ok());
  // A call that waits, on a connection from before the flood.
  v1::CompileRequest waits = NumberedRequest(2);
  (*waits.mutable_options()->mutable_fields())["wait_for_file"].set_string_value(daemon.folder() + "/go");
  grpc::Status waited;
  std::thread waiting([&] {
    v1::CompileResponse late;
    waited = Compile(early, waits, &late, WithinReason(absl::Seconds(60)));
  });
  std::vector<RawConnection> flood(kFlood);
  for (RawConnection& one : flood) {
    ASSERT_TRUE(one.Dial(daemon.port()));
    one.Send("P");  // of the preface
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(CompileOnce(daemon.address(), 1).ok());
    EXPECT_TRUE(CompileOnce(Unix(), 1).ok());
  }
  EXPECT_LT(DescriptorsOf(daemon.pid()), kDescriptors);
  auto ready = Get("/readyz");
  ASSERT_TRUE(ready != nullptr);
  EXPECT_EQ(ready->status, 200);
  EXPECT_THAT(ready->body, HasSubstr("ok, but connections are being closed"));
  auto metrics = Get("/metrics");
  ASSERT_TRUE(metrics != nullptr);
  EXPECT_THAT(metrics->body, HasSubstr("tritond_connections_closed_total{reason=\"silent\"}"));
  std::ofstream(daemon.folder() + "/go").flush();
  waiting.join();
  EXPECT_TRUE(waited.ok()) << waited.error_message();
}

TEST_F(ConnectionsTest, OneAddressThatMakesCallsOnAllItsConnectionsLeavesRoomForOthers) {
  std::vector<RawConnection> flood(kFlood);
  const std::string call = http2::Preface() + http2::Call(1, "/tritond.v1.CompileService/Describe", http2::Message(""));
  int answered = 0;
  for (RawConnection& one : flood) {
    ASSERT_TRUE(one.Dial(daemon.port(), "127.0.0.2"));
    one.Send(call);
    answered += one.ReadUntil("grpc-status", 5).find("grpc-status") != std::string::npos;
  }
  EXPECT_GT(answered, 300);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(CompileOnce(daemon.address(), 1).ok());
    EXPECT_TRUE(CompileOnce(Unix(), 1).ok());
  }
  EXPECT_LT(DescriptorsOf(daemon.pid()), kDescriptors);
  EXPECT_EQ(daemon.WorkerPids().size(), 2);
}

TEST_F(ConnectionsTest, OneThatResetsItsCallsIsClosedAndOthersStay) {
  Stubs honest(daemon.address());
  v1::CompileResponse response;
  ASSERT_TRUE(Compile(honest, NumberedRequest(1), &response).ok());
  RawConnection attacker;
  ASSERT_TRUE(attacker.Dial(daemon.port()));
  attacker.Send(http2::Preface());
  const std::string cancel("\0\0\0\x8", 4);
  const std::string message = http2::Message(NumberedRequest(2, 0, /*sleep_ms=*/60000).SerializeAsString());
  int calls = 0;
  for (; calls < 20000 && !attacker.Closed(); ++calls) {
    const uint32_t stream = 2 * calls + 1;
    attacker.Send(http2::Call(stream, "/tritond.v1.CompileService/Compile", message) +
                  http2::Frame(kReset, 0, stream, cancel));
  }
  EXPECT_LT(calls, 20000) << "it is still open";
  auto metrics = Get("/metrics");
  ASSERT_TRUE(metrics != nullptr);
  EXPECT_THAT(metrics->body, HasSubstr("tritond_connections_closed_total{reason=\"resets\"} 1"));
  ASSERT_TRUE(Compile(honest, NumberedRequest(1), &response).ok());
  EXPECT_EQ(response.cache(), v1::CACHE_STATUS_HIT);
  EXPECT_EQ(honest.channel->GetState(false), GRPC_CHANNEL_READY);
}

TEST_F(ConnectionsTest, ItAcceptsAgainWhenThereAreDescriptorsAgain) {
  httplib::Client page("127.0.0.1", daemon.http_port);  // Connected before.
  page.set_keep_alive(true);
  ASSERT_EQ(page.Get("/readyz")->status, 200);
  rlimit before{}, none{};
  ASSERT_EQ(prlimit(daemon.pid(), RLIMIT_NOFILE, nullptr, &before), 0);
  none = before;
  none.rlim_cur = 3;
  ASSERT_EQ(prlimit(daemon.pid(), RLIMIT_NOFILE, &none, nullptr), 0);
  std::vector<RawConnection> waiting(20);
  for (RawConnection& one : waiting) ASSERT_TRUE(one.Dial(daemon.port()));
  ASSERT_TRUE(Await([&] {
    auto ready = page.Get("/readyz");
    return ready != nullptr && ready->status == 503 && ready->body.find("file descriptors") != std::string::npos;
  }));
  ASSERT_EQ(prlimit(daemon.pid(), RLIMIT_NOFILE, &before, nullptr), 0);
  EXPECT_TRUE(CompileOnce(daemon.address(), 1).ok());
  EXPECT_TRUE(CompileOnce(Unix(), 1).ok());
  EXPECT_TRUE(Await([&] { return page.Get("/readyz")->status == 200; }));
}

}  // namespace
}  // namespace tritond::tests
