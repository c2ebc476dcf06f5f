// SPDX-License-Identifier: Apache-2.0
#include "client/cli/session.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/v1/compile.grpc.pb.h"

namespace tritond::client {
namespace {

// A server of nothing would not even accept connections.
std::unique_ptr<grpc::Server> Listen(const std::string& address, grpc::Service* service) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(service);
  return builder.BuildAndStart();
}

TEST(Session, ConnectingAndTheCallShareTheFallbackLimit) {
  const std::string address = absl::StrCat("unix:", testing::TempDir(), "/session-test-", getpid());
  ServerFlags flags;
  flags.address = address;
  flags.wait_seconds = 60;
  flags.fallback_seconds = 10;
  const Session session{{std::cout, std::cerr}, flags};
  v1::CompileService::Service service;
  std::unique_ptr<grpc::Server> server;
  std::thread late([&] {
    absl::SleepFor(absl::Milliseconds(700));
    server = Listen(address, &service);
  });
  const absl::Time start = absl::Now();
  EXPECT_TRUE(session.Connect().ok());
  late.join();
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(700));
  EXPECT_LE(session.Deadline(), start + absl::Seconds(10) + absl::Milliseconds(300));
}

TEST(Session, NamesTheFileOfATokenThatNoHeaderCarries) {
  ServerFlags flags;
  flags.address = absl::StrCat("unix:", testing::TempDir(), "/no-such-socket");
  flags.token_file = absl::StrCat(testing::TempDir(), "/token-", getpid());
  std::ofstream(flags.token_file) << "secr\xc3\xa9t\n";
  const absl::Status status = Session{{std::cout, std::cerr}, flags}.Connect().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find(flags.token_file), std::string::npos) << status;
  EXPECT_EQ(status.message().find("secr"), std::string::npos) << status;
}

TEST(Session, WithoutAFallbackLimitConnectingCostsACallNothing) {
  ServerFlags flags;
  flags.timeout_seconds = 10;
  const Session session{{std::cout, std::cerr}, flags};
  EXPECT_GE(session.Deadline(), absl::Now() + absl::Seconds(9));
}

}  // namespace
}  // namespace tritond::client
