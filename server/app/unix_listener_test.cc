// SPDX-License-Identifier: Apache-2.0
#include "server/app/unix_listener.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
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
  auto Open(const std::string& path, mode_t mode = 0) {
    return UnixListener::Open(path, mode, *server_, peers_, connections_);
  }
  static bool Answers(const std::string& address) {
    auto stub = v1::AdminService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    v1::DrainResponse response;
    return stub->Drain(&context, {}, &response).ok();
  }

  std::string folder_;
  UnixPeers peers_;
  prometheus::Registry registry_;
  Connections connections_{100, absl::Now, registry_, [](const LogEvent&) {}};
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

// Whether a process of this user can connect; the error's number, or 0.
int ConnectAs(uid_t user, const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const pid_t child = fork();
  if (child == 0) {  // Nothing but system calls here: the parent has threads.
    if (setgroups(0, nullptr) != 0 || setgid(user) != 0 || setuid(user) != 0) _exit(255);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    _exit(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ? 0 : errno);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

TEST_F(UnixListenerTest, TheModeAndNotTheUmaskDecidesWhichUsersMayConnect) {
  if (getuid() != 0) GTEST_SKIP() << "only root can try as another user";
  constexpr uid_t kSomebody = 4321;
  chmod(folder_.c_str(), 0755);
  const mode_t umask_before = umask(0077);
  auto open = Open(Path("open"), 0666);
  auto closed = Open(Path("closed"));
  umask(umask_before);
  ASSERT_TRUE(open.ok() && closed.ok());
  EXPECT_EQ(ConnectAs(kSomebody, Path("open")), 0);
  EXPECT_EQ(ConnectAs(kSomebody, Path("closed")), EACCES);
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

TEST_F(UnixListenerTest, AFileThatIsNoSocketIsLeftAlone) {
  std::ofstream(Path("file")) << "precious";
  EXPECT_THAT(std::string(Open(Path("file")).status().message()), HasSubstr("no socket"));
  EXPECT_TRUE(fs::exists(Path("file")));
  EXPECT_TRUE(absl::IsUnavailable(Open(Path("no/such/folder")).status()));
  EXPECT_TRUE(absl::IsUnavailable(Open(Path(std::string(200, 'x'))).status()));
}

}  // namespace
}  // namespace tritond::server
