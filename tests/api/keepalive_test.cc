// SPDX-License-Identifier: Apache-2.0
// Peers that ask whether the daemon is there: a gRPC server takes that for abuse unless told otherwise.
#include <gmock/gmock.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cc/client.h"
#include "tests/support/daemon_fixture.h"
#include "tests/support/raw_connection.h"

namespace tritond::tests {
namespace {

using testing::HasSubstr;

// Strikes that gRPC lets pass by itself, and some.
constexpr int kPings = 6;

class KeepaliveTest : public DaemonTest {
 protected:
  void SetUp() override {
    config.least_ping_seconds = 0.1;
    Start();
    v1::CompileRequest request = Request("kernel");
    SetOption(&request, "wait_for_file", Path("go"));
    ASSERT_TRUE(connection_.Dial(daemon().ports()[0]));
    ASSERT_TRUE(connection_.Send(http2::Preface() + http2::Call(1, "/tritond.v1.CompileService/Compile",
                                                                http2::Message(request.SerializeAsString()))));
    Await([this] { return daemon().broker().scheduler().GetStats().classes[0].running == 1; });
  }
  bool Ping(int number) { return connection_.Send(http2::Frame(http2::kPing, 0, 0, absl::StrCat("number ", number))); }

  RawConnection connection_;
};

TEST_F(KeepaliveTest, ACallThatWaitsIsKeptWhileItsCallerAsksAsOftenAsItMay) {
  for (int i = 0; i < kPings; ++i) {
    ASSERT_TRUE(Ping(i));
    const std::string answer = absl::StrCat("number ", i);
    ASSERT_THAT(connection_.ReadUntil(answer, 30), HasSubstr(answer));
    absl::SleepFor(absl::Seconds(config.least_ping_seconds) * 1.1);  // What a caller does between two questions.
  }
  EXPECT_FALSE(connection_.Closed());
  Touch("go");
  EXPECT_THAT(connection_.ReadUntil("cubin for", 30), HasSubstr("cubin for"));
}

TEST_F(KeepaliveTest, ACallerThatAsksMoreOftenIsToldToStop) {
  for (int i = 0; i < kPings; ++i) Ping(i);
  EXPECT_THAT(connection_.ReadUntil("too_many_pings", 30), HasSubstr("too_many_pings"));
  Touch("go");
}

TEST(Keepalive, OwnClientsAskNoMoreOftenThanTheDaemonLets) {
  EXPECT_GE(client::ClientOptions().keepalive, absl::Seconds(server::ServerConfig().least_ping_seconds));
}

}  // namespace
}  // namespace tritond::tests
