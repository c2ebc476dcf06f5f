// SPDX-License-Identifier: Apache-2.0
// What a worker may not do, seen from outside.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <fstream>
#include <sstream>

#include "tests/fault/daemon_process.h"
#include "tests/fault/remote_worker.h"
#include "tests/support/sanitizer.h"

namespace tritond::tests {
namespace {

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The rest of the line of a file in /proc that begins with `name`, single spaces between its words.
std::string FieldOf(pid_t pid, const std::string& file, const std::string& name) {
  std::istringstream lines(Read("/proc/" + std::to_string(pid) + "/" + file));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(name, 0) != 0) continue;
    std::istringstream words(line.substr(name.size()));
    std::string field;
    for (std::string word; words >> word;) field += (field.empty() ? "" : " ") + word;
    return field;
  }
  return "";
}

void ExpectLimits(pid_t worker) {
  EXPECT_EQ(FieldOf(worker, "status", "NoNewPrivs:"), "1");
  EXPECT_EQ(FieldOf(worker, "status", "Seccomp:"), "2");
  EXPECT_EQ(FieldOf(worker, "limits", "Max open files"), "512 512 files");
  EXPECT_EQ(FieldOf(worker, "limits", "Max file size"), "1073741824 1073741824 bytes");
  EXPECT_EQ(FieldOf(worker, "limits", "Max core file size"), "0 0 bytes");
  if (!kSanitized) EXPECT_EQ(FieldOf(worker, "limits", "Max address space"), "17179869184 17179869184 bytes");
}

grpc::Status CompileWith(const DaemonProcess& daemon, const std::string& fault) {
  v1::CompileRequest request = NumberedRequest(7);
  (*request.mutable_options()->mutable_fields())["fault"].set_string_value(fault);
  Stubs stubs(daemon.address());
  v1::CompileResponse response;
  return Compile(stubs, request, &response);
}

class Limits : public testing::Test {
 protected:
  void SetUp() override {
    daemon.workers = 0;
    ASSERT_TRUE(daemon.Start());
  }
  DaemonProcess daemon;
};

TEST_F(Limits, HoldForAWorkerOnAnotherMachineWithoutBeingAskedFor) {
  auto worker = RemoteWorker(daemon.port(), "far");
  ASSERT_TRUE(Await([&] { return Attached(daemon, "far"); }));
  EXPECT_TRUE(CompileWith(daemon, "socket").ok());  // After this the sockets are forbidden too.
  ExpectLimits(ChildrenOf(worker->pid()).at(0));
  EXPECT_TRUE(CompileWith(daemon, "many_files").ok());
}

TEST_F(Limits, WithoutASandboxSocketsMayBeOpened) {
  auto worker = RemoteWorker(daemon.port(), "free", {"--no-sandbox"});
  ASSERT_TRUE(Await([&] { return Attached(daemon, "free"); }));
  EXPECT_FALSE(CompileWith(daemon, "socket").ok());
  EXPECT_GE(daemon.Stats().workers_lost(), 1u);
}

TEST_F(Limits, AWorkerWhoseSystemPermitsNoSandboxDoesNotRun) {
  const std::string log = daemon.folder() + "/worker.log";
  auto worker = RemoteWorker(daemon.port(), "bare", {}, log, TRITOND_NO_SECCOMP);
  const int status = worker->Wait();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_NE(Read(log).find("--no-sandbox"), std::string::npos) << Read(log);
  EXPECT_EQ(daemon.Stats().workers_lost(), 0u);
}

TEST_F(Limits, UnlessItIsToldTo) {
  auto worker = RemoteWorker(daemon.port(), "bare", {"--no-sandbox"}, "", TRITOND_NO_SECCOMP);
  ASSERT_TRUE(Await([&] { return Attached(daemon, "bare"); }));
  EXPECT_TRUE(CompileWith(daemon, "").ok());
  EXPECT_EQ(FieldOf(ChildrenOf(worker->pid()).at(0), "status", "NoNewPrivs:"), "1");
}

TEST(LimitsOfAChild, AreTheSame) {
  DaemonProcess daemon;
  daemon.workers = 1;
  ASSERT_TRUE(daemon.Start());
  EXPECT_TRUE(CompileWith(daemon, "socket").ok());
  ExpectLimits(daemon.WorkerPids().at(0));
}

}  // namespace
}  // namespace tritond::tests
