// SPDX-License-Identifier: Apache-2.0
// Workers of several daemons that they know by one name, as that of a headless service, or by one list.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/fault/daemon_process.h"
#include "tests/support/program.h"
#include "tests/support/tcp_proxy.h"

namespace tritond::tests {
namespace {

constexpr int kMostWorkers = 40;  // all at one daemon once in 2^39 times

class SpreadWorkers : public testing::Test {
 protected:
  // gRPC's own resolver asks no system that a test could speak for.
  void SetUp() override { setenv("GRPC_DNS_RESOLVER", "native", 1); }
  void TearDown() override { unsetenv("GRPC_DNS_RESOLVER"); }

  // Attaches workers, one after the other, until both daemons have one; then one daemon dies.
  void ExpectThatBothHaveSome(const std::string& server) {
    first.workers = second.workers = 0;
    ASSERT_TRUE(first.Start() && second.Start());
    std::vector<std::unique_ptr<Program>> workers;
    const auto attached = [](const DaemonProcess& daemon) { return daemon.Workers().workers_size(); };
    while (attached(first) == 0 || attached(second) == 0) {
      ASSERT_LT(workers.size(), kMostWorkers) << attached(first) << " and " << attached(second);
      workers.push_back(std::make_unique<Program>(
          std::vector<std::string>{TRITOND_FAKE_WORKER, "--server", server, "--name", absl::StrCat(workers.size())},
          first.folder() + "/worker", TRITOND_ONE_NAME));
      const int all = static_cast<int>(workers.size());
      ASSERT_TRUE(Await([&] { return attached(first) + attached(second) == all; })) << all;
    }
    first.Kill();
    const int all = static_cast<int>(workers.size());
    EXPECT_TRUE(Await([&] { return attached(second) == all; })) << attached(second) << " of " << all;
  }

  const int port_ = FreePort();  // of both, each at an address of its own
  DaemonProcess first{Listening("127.0.0.1")};
  DaemonProcess second{Listening("127.0.0.2")};

  std::vector<std::string> Listening(const std::string& host) const {
    return {"--listen", absl::StrCat(host, ":", port_)};
  }
};

TEST_F(SpreadWorkers, WithOneNameForAllDaemonsEachHasSomeAndALivingOneIsFound) {
  ExpectThatBothHaveSome(absl::StrCat("daemons.test:", port_));
}

TEST_F(SpreadWorkers, SoItIsWithAList) {
  ExpectThatBothHaveSome(absl::StrCat("ipv4:", first.address(), ",", second.address()));
}

TEST_F(SpreadWorkers, AnAddressThatIsSilentIsPassedOverSoon) {
  first.workers = second.workers = 0;
  ASSERT_TRUE(first.Start() && second.Start());
  TcpProxy silent(second.port());
  silent.Stall();
  const std::string server = absl::StrCat("ipv4:127.0.0.1:", silent.port(), ",", first.address());
  std::vector<std::unique_ptr<Program>> workers;
  for (int i = 0; i < 6; ++i) {  // half of them dial the silent one first
    workers.push_back(
        std::make_unique<Program>(std::vector<std::string>{TRITOND_FAKE_WORKER, "--server", server, "--once"}));
  }
  EXPECT_TRUE(Await([this] { return first.Workers().workers_size() == 6; }, absl::Seconds(12)))
      << first.Workers().workers_size();
}

}  // namespace
}  // namespace tritond::tests
