// SPDX-License-Identifier: Apache-2.0
#include "server/app/unix_listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/synchronization/notification.h"
#include "proto/v1/admin.grpc.pb.h"

namespace tritond::server {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

// Answers Drain, and notes whose call it was.
class PeerService final : public v1::AdminService::CallbackService {
 public:
  explicit PeerService(const UnixPeers& peers) : peers_(peers) {}
  grpc::ServerUnaryReactor* Drain(grpc::CallbackServerContext* context, const v1::DrainRequest*,
                                  v1::DrainResponse*) override {
    user = peers_.UserOf(context->peer());
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
  std::optional<uid_t> user;

 private:
  const UnixPeers& peers_;
};

class UnixListenerTest : public testing::Test {
 protected:
  UnixListenerTest() {
    char name[] = "/tmp/tritond-unix-XXXXXX";
    folder_ = mkdtemp(name);
    grpc::ServerBuilder builder;
    builder.RegisterService(&service_);
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    server_ = builder.BuildAndStart();
  }
  ~UnixListenerTest() override {
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    fs::remove_all(folder_);
  }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  auto Open(const std::string& path, mode_t mode = 0) { return UnixListener::Open(path, mode, *server_, peers_); }
  static bool Answers(const std::string& address) {
    auto stub = v1::AdminService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    v1::DrainResponse response;
    return stub->Drain(&context, {}, &response).ok();
  }

  std::string folder_;
  UnixPeers peers_;
  PeerService service_{peers_};
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(UnixListenerTest, TellsWhoseACallIs) {
  auto listener = Open(Path("s"));
  ASSERT_TRUE(listener.ok()) << listener.status();
  for (int i = 0; i < 20; ++i) {
    service_.user.reset();
    ASSERT_TRUE(Answers("unix:" + Path("s")));
    EXPECT_EQ(service_.user, std::make_optional(getuid()));
  }
  ASSERT_TRUE(Answers("127.0.0.1:" + std::to_string(port_)));
  EXPECT_EQ(service_.user, std::nullopt);
}

TEST_F(UnixListenerTest, TheSocketHasTheModeAskedForAndGoesWithTheListener) {
  auto listener = Open(Path("s"), 0600);
  ASSERT_TRUE(listener.ok()) << listener.status();
  struct stat found {};
  ASSERT_EQ(stat(Path("s").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  listener->reset();
  EXPECT_FALSE(fs::exists(Path("s")));
}

TEST_F(UnixListenerTest, ASocketThatIsServedIsLeftAloneAndAnAbandonedOneReplaced) {
  auto listener = Open(Path("s"));
  ASSERT_TRUE(listener.ok());
  EXPECT_THAT(std::string(Open(Path("s")).status().message()), HasSubstr("another process serves it"));
  fs::rename(Path("s"), Path("kept"));  // The file stays when its listener goes, as after a kill.
  listener->reset();
  fs::rename(Path("kept"), Path("s"));
  listener = Open(Path("s"));
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_TRUE(Answers("unix:" + Path("s")));
}

TEST_F(UnixListenerTest, WhatIsNoSocketIsLeftAlone) {
  std::ofstream(Path("file")) << "precious";
  EXPECT_THAT(std::string(Open(Path("file")).status().message()), HasSubstr("no socket"));
  EXPECT_TRUE(fs::exists(Path("file")));
  EXPECT_TRUE(absl::IsUnavailable(Open(Path("no/such/folder")).status()));
  EXPECT_TRUE(absl::IsUnavailable(Open(Path(std::string(200, 'x'))).status()));
}

}  // namespace
}  // namespace tritond::server
