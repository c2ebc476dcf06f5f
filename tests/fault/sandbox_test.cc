// SPDX-License-Identifier: Apache-2.0
// A worker that was taken over tries to get out. Each attack is also tried by the same worker with --no-sandbox, where
// it works: so it would be seen if it did.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/fault/daemon_process.h"
#include "tests/fault/remote_worker.h"
#include "tests/support/attacks.h"
#include "tests/support/sanitizer.h"

namespace tritond::tests {
namespace {

// Some containers, and every chroot, refuse them even to root.
bool PermitsUserNamespaces() {
  const pid_t child = fork();
  if (child == 0) _exit(unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

// Root with its capabilities, in a machine of its own.
bool IsPowerful() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  return geteuid() == 0 && syscall(SYS_capget, &header, data) == 0 && (data[0].effective >> CAP_SYS_ADMIN & 1) != 0 &&
         PermitsUserNamespaces();
}

// A socket that listens while it lives.
class Listener final {
 public:
  explicit Listener(const sockaddr* address, socklen_t size)
      : fd_(socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(bind(fd_, address, size), 0);
    EXPECT_EQ(listen(fd_, 64), 0);
  }
  ~Listener() { close(fd_); }

 private:
  const int fd_;
};

class Sandbox : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer opens files and traces on its own";
    daemon_.workers = 0;
    ASSERT_TRUE(daemon_.Start());
    victim_ = std::make_unique<Program>(std::vector<std::string>{"/bin/sleep", "600"});
    prey_.data = daemon_.data_dir();
    prey_.victim = victim_->pid();
    prey_.daemon = daemon_.pid();
    prey_.port = daemon_.port();
    prey_.abstract = absl::StrCat("tritond-attack-", getpid());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path + 1, prey_.abstract.data(), prey_.abstract.size());
    abstract_ =
        std::make_unique<Listener>(reinterpret_cast<sockaddr*>(&address),
                                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + prey_.abstract.size()));
  }

  // A worker that is given an open file and a secret in its environment; it is called `as`.
  void StartAttacker(const std::string& as, const std::vector<std::string>& more) {
    prey_.folder = daemon_.folder() + "/" + as;
    std::filesystem::create_directory(prey_.folder);
    PrepareFolder(prey_.folder);
    const std::string program = daemon_.folder() + "/triton-worker-" + as;
    std::filesystem::create_symlink(TRITOND_ATTACKER, program);
    std::vector<std::string> words{
        "/bin/sh",
        "-c",
        "exec 9<\"$0\"; TRITOND_ATTACK_SECRET=hush; export TRITOND_ATTACK_SECRET; exec \"$@\"",
        prey_.folder + "/secret",
        program,
        "--server",
        daemon_.address(),
        "--name",
        as};
    words.insert(words.end(), more.begin(), more.end());
    worker_ = std::make_unique<Program>(words, daemon_.folder() + "/" + as + ".log");
    ASSERT_TRUE(Await([&] { return Attached(daemon_, as); })) << Log(as);
  }

  std::string Log(const std::string& as) {
    std::ifstream file(daemon_.folder() + "/" + as + ".log");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  // 0: it worked; an errno; -1: no answer.
  int Try(const std::string& attack) {
    v1::CompileRequest request = NumberedRequest(1);
    auto& options = *request.mutable_options()->mutable_fields();
    options["attack"].set_string_value(attack);
    options["folder"].set_string_value(prey_.folder);
    options["data"].set_string_value(prey_.data);
    options["abstract"].set_string_value(prey_.abstract);
    options["victim"].set_number_value(prey_.victim);
    options["daemon"].set_number_value(prey_.daemon);
    options["port"].set_number_value(prey_.port);
    Stubs stubs(daemon_.address());
    v1::CompileResponse response;
    const grpc::Status status = Compile(stubs, request, &response);
    int outcome = -1;
    if (!status.ok() || response.blobs_size() != 1 || !absl::SimpleAtoi(response.blobs(0).data(), &outcome))
      ADD_FAILURE() << attack << ": " << status.error_message();
    return outcome;
  }

  std::string Confinement(const std::string& as) {
    const v1::ListWorkersResponse list = daemon_.Workers();
    for (const v1::Worker& worker : list.workers()) {
      if (worker.name() == as) return worker.confinement();
    }
    return "not attached";
  }

  // `known`: one that is known to work.
  void ExpectAllFail(const std::string& known = "") {
    for (const Attack& attack : AllAttacks()) {
      if (attack.name != known) EXPECT_GT(Try(attack.name), 0) << attack.name << " works";
    }
    EXPECT_FALSE(victim_->Ended());
    EXPECT_EQ(daemon_.Stats().workers_lost(), 0u);
  }

  DaemonProcess daemon_;
  std::unique_ptr<Program> victim_, worker_;
  std::unique_ptr<Listener> abstract_;
  Prey prey_;
};

TEST_F(Sandbox, ThereAreManyWaysOut) { EXPECT_GE(AllAttacks().size(), 100u); }

TEST_F(Sandbox, NoAttackWorksUnderLandlock) {
  StartAttacker("attacker", {});
  if (!absl::StartsWith(Confinement("attacker"), "landlock"))
    GTEST_SKIP() << "this kernel has no Landlock: " << Confinement("attacker");
  ExpectAllFail();
}

TEST_F(Sandbox, NoAttackWorksInNamespaces) {
  StartAttacker("attacker-in-namespaces", {});
  if (Confinement("attacker-in-namespaces") != "namespaces") GTEST_SKIP() << "this system permits no namespaces";
  // /proc is the system's: root can count the descriptors of other processes there, and open none of them.
  ExpectAllFail("descriptors_of_the_daemon");
}

TEST_F(Sandbox, WithoutEitherAWorkerWarnsAndSaysSoAndReachesNoOtherProcess) {
  StartAttacker("attacker-unconfined", {});
  EXPECT_EQ(Confinement("attacker-unconfined"), "");
  EXPECT_NE(Log("attacker-unconfined").find("WARNING"), std::string::npos);
  EXPECT_EQ(Try("open_a_file"), 0);
  for (const char* attack : {"ptrace", "signal_a_process", "process_vm_readv", "tcp_connect", "unshare_user", "mount",
                             "chmod", "remove", "inherited_descriptor", "secret_of_the_environment"})
    EXPECT_GT(Try(attack), 0) << attack;
}

// What fails here would prove nothing above. Descriptors and environment are scrubbed all the same.
TEST_F(Sandbox, TheAttacksWorkWhereNothingIsConfined) {
  StartAttacker("free", {"--no-sandbox"});
  EXPECT_EQ(Confinement("free"), "");
  const bool powerful = IsPowerful();
  for (const Attack& attack : AllAttacks()) {
    if (attack.needs == Needs::kSystem || (attack.needs == Needs::kRoot && !powerful)) continue;
    EXPECT_EQ(Try(attack.name), 0) << attack.name << ": " << strerror(Try(attack.name));
  }
}

}  // namespace
}  // namespace tritond::tests
