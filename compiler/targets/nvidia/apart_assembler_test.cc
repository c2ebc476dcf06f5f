// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "compiler/targets/compile_children.h"
#include "compiler/targets/nvidia/assembler.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::HasSubstr;

template <typename Condition>
bool Await(Condition condition, absl::Duration patience = absl::Seconds(20)) {
  for (const absl::Time until = absl::Now() + patience; absl::Now() < until; absl::SleepFor(absl::Milliseconds(2)))
    if (condition()) return true;
  return condition();
}

// A process that nobody has reaped is gone for this purpose.
bool IsGone(pid_t pid) {
  std::ostringstream stat;
  stat << std::ifstream(absl::StrCat("/proc/", pid, "/stat")).rdbuf();
  return stat.str().empty() || stat.str().find(") Z") != std::string::npos;
}

class ApartAssemblerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CompileChildren::Get().Begin();
    std::string pattern = ::testing::TempDir() + "apartXXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A program that answers as ptxas does, and runs `body` for a text. A process whose number is written to the file
  // "started" is one that must end.
  std::unique_ptr<Assembler> FakePtxas(const std::string& body) {
    const std::filesystem::path program = folder_ / "ptxas";
    std::ofstream(program) << "#!/bin/sh\nif [ \"$1\" = --version ]; then echo release 13.0; exit; fi\ncd " << folder_
                           << "\n"
                           << body << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    auto opened = OpenPtxas(program.string());
    EXPECT_TRUE(opened.ok()) << opened.status();
    return RunApart(*std::move(opened));
  }

  // The processes that the program has started, once there are `count`.
  std::vector<pid_t> Started(size_t count) {
    std::vector<pid_t> pids;
    EXPECT_TRUE(Await([&] {
      pids.clear();
      std::ifstream file(folder_ / "started");
      for (pid_t pid; file >> pid;) pids.push_back(pid);
      return pids.size() == count;
    }));
    return pids;
  }

  void ExpectAllGone(const std::vector<pid_t>& pids) {
    for (const pid_t pid : pids)
      EXPECT_TRUE(Await([&] { return IsGone(pid); }, absl::Seconds(5))) << "process " << pid << " goes on";
  }

  std::filesystem::path folder_;
};

constexpr char kHangs[] = "echo $$ >> started; while :; do sleep 1000; done";
// It, its child and its grandchild ignore SIGTERM.
constexpr char kForksAndIgnoresSigterm[] =
    "trap '' TERM HUP INT\n"
    "(trap '' TERM; sh -c 'trap \"\" TERM; echo $$ >> started; while :; do sleep 1000; done' & "
    "while :; do sleep 1000; done) &\n"
    "echo $! >> started; echo $$ >> started; while :; do sleep 1000; done";

TEST_F(ApartAssemblerTest, AnAssemblerThatHangsEndsWithItsCompile) {
  auto assembler = FakePtxas(kHangs);
  std::vector<pid_t> pids;
  std::thread caller([&] {
    pids = Started(1);
    CompileChildren::Get().Abandon();
  });
  const absl::Time begun = absl::Now();
  EXPECT_TRUE(absl::IsCancelled(assembler->Assemble("", {.arch = "sm_90a"}).status()));
  EXPECT_LT(absl::Now() - begun, absl::Seconds(5));
  caller.join();
  ExpectAllGone(pids);
}

TEST_F(ApartAssemblerTest, SoDoesOneThatForksAndIgnoresSigterm) {
  auto assembler = FakePtxas(kForksAndIgnoresSigterm);
  std::vector<pid_t> pids;
  std::thread caller([&] {
    pids = Started(3);
    CompileChildren::Get().Abandon();
  });
  EXPECT_TRUE(absl::IsCancelled(assembler->Assemble("", {.arch = "sm_90a"}).status()));
  caller.join();
  ExpectAllGone(pids);
}

TEST_F(ApartAssemblerTest, AllOfItEndsWhenTheWorkerIsKilled) {
  auto assembler = FakePtxas(kForksAndIgnoresSigterm);
  const pid_t worker = fork();
  if (worker == 0) {
    assembler->Assemble("", {.arch = "sm_90a"}).status().IgnoreError();
    _exit(0);
  }
  const std::vector<pid_t> pids = Started(3);
  kill(worker, SIGKILL);
  waitpid(worker, nullptr, 0);
  ExpectAllGone(pids);
}

TEST_F(ApartAssemblerTest, TheNextCompileIsServed) {
  auto assembler = FakePtxas("echo \"line $2\"; exit 1");
  CompileChildren::Get().Abandon();
  EXPECT_TRUE(absl::IsCancelled(assembler->Assemble("", {.arch = "sm_90a"}).status()));
  CompileChildren::Get().Begin();
  const absl::Status status = assembler->Assemble("", {.arch = "sm_90a"}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("line --gpu-name=sm_90a"));
}

TEST_F(ApartAssemblerTest, ItsRequestArrivesWhole) {
  auto assembler = FakePtxas(
      "echo \"$@\" | sed 's/--output-file.*//'; eval in=\\${$(($# - 2))}; "
      "cat $in; exit 1");
  AssembleOptions options;
  options.arch = "sm_120a";
  options.fp_fusion = false;
  options.line_info = true;
  options.extra = {"--opt-level=1", "--verbose"};
  const absl::Status status = assembler->Assemble("first\nsecond\n\nlast", options).status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("-v --gpu-name=sm_120a --opt-level=3 --fmad=false --generate-line-info --opt-level=1 --verbose "
                        "kernel.ptx"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("first\nsecond\n\nlast"));
}

TEST_F(ApartAssemblerTest, ACrashIsAStatus) {
  auto assembler = FakePtxas("kill -SEGV $$");
  const absl::Status status = assembler->Assemble("", {.arch = "sm_90a"}).status();
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("died of signal 11"));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
