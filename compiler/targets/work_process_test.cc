// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/work_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "compiler/targets/compile_children.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/sanitizer.h"

namespace tritond::compiler {
namespace {

using ::testing::HasSubstr;

constexpr int kSeconds = 60;

// Memory that this process and those forked from it see alike.
struct Shared {
  volatile pid_t stubborn;  // a process that ignores SIGTERM
};
Shared& SharedMemory() {
  static auto* const memory =
      static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *memory;
}

// An assembler that never ends, nor does what it has started.
absl::StatusOr<std::string> Hang(absl::string_view) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGTERM, SIG_IGN);
    SharedMemory().stubborn = getpid();
    for (;;) pause();
  }
  for (;;) pause();
}

template <typename Condition>
bool Await(Condition condition, absl::Duration patience = absl::Seconds(20)) {
  for (const absl::Time until = absl::Now() + patience; absl::Now() < until; absl::SleepFor(absl::Milliseconds(2)))
    if (condition()) return true;
  return condition();
}

// A process that nobody has reaped is gone for this purpose.
bool IsGone(pid_t pid) {
  const int file = open(absl::StrCat("/proc/", pid, "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  char text[256] = {};
  const bool read_some = read(file, text, sizeof(text) - 1) > 0;
  close(file);
  const std::string stat = text;
  return !read_some || stat.find(") Z") != std::string::npos || stat.find(") X") != std::string::npos;
}

class WorkProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CompileChildren::Get().Begin();
    SharedMemory().stubborn = 0;
  }
};

TEST_F(WorkProcessTest, AnswersRequestsFromOneProcess) {
  int calls = 0;
  WorkProcess process("it", [&](absl::string_view request) -> absl::StatusOr<std::string> {
    return absl::StrCat(request, " ", ++calls, " ", getpid());
  });
  const auto first = process.Run("a", kSeconds), second = process.Run("b", kSeconds);
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  EXPECT_EQ(*first, absl::StrCat("a 1 ", process.pid()));
  EXPECT_EQ(*second, absl::StrCat("b 2 ", process.pid()));
  EXPECT_EQ(calls, 0);
  EXPECT_NE(process.pid(), getpid());
}

TEST_F(WorkProcessTest, CarriesLargeAndEmptyTexts) {
  WorkProcess process("it", [](absl::string_view request) -> absl::StatusOr<std::string> {
    return std::string(request.rbegin(), request.rend());
  });
  std::string large(3 << 20, '\0');
  large[0] = 'x';
  for (const std::string& text : {std::string(), large, std::string("ab")}) {
    const auto answer = process.Run(text, kSeconds);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_TRUE(*answer == std::string(text.rbegin(), text.rend()));
  }
}

TEST_F(WorkProcessTest, RequestsUseAgainWhatEarlierOnesFreed) {
  if (tests::kSanitized) GTEST_SKIP() << "another allocator";
  constexpr size_t kBlockBytes = 64 << 10, kBlocks = 400;
  WorkProcess process("it", [](absl::string_view) -> absl::StatusOr<std::string> {
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    std::vector<std::unique_ptr<char[]>> blocks;
    for (size_t i = 0; i < kBlocks; ++i) blocks.push_back(std::make_unique<char[]>(kBlockBytes));
    getrusage(RUSAGE_SELF, &after);
    return absl::StrCat(after.ru_minflt - before.ru_minflt);
  });
  int64_t first = 0, second = 0;
  ASSERT_TRUE(absl::SimpleAtoi(process.Run("", kSeconds).value_or(""), &first));
  ASSERT_TRUE(absl::SimpleAtoi(process.Run("", kSeconds).value_or(""), &second));
  EXPECT_GT(first, 1000);
  EXPECT_LT(second, 100);
}

TEST_F(WorkProcessTest, ReturnsTheErrorOfTheWork) {
  WorkProcess process(
      "it", [](absl::string_view) -> absl::StatusOr<std::string> { return absl::UnimplementedError("not yet"); });
  EXPECT_EQ(process.Run("", kSeconds).status(), absl::UnimplementedError("not yet"));
}

TEST_F(WorkProcessTest, AfterADeathTheNextRequestGetsAFreshProcess) {
  WorkProcess process("it", [](absl::string_view request) -> absl::StatusOr<std::string> {
    if (request == "die") abort();
    return std::string(request);
  });
  const absl::Status died = process.Run("die", kSeconds).status();
  EXPECT_TRUE(absl::IsInternal(died));
  EXPECT_THAT(std::string(died.message()), HasSubstr("it died of signal 6"));
  EXPECT_EQ(*process.Run("live", kSeconds), "live");
  kill(process.pid(), SIGKILL);
  EXPECT_EQ(*process.Run("again", kSeconds), "again");
}

TEST_F(WorkProcessTest, EachRequestHasItsOwnTime) {
  volatile bool forever = true;
  WorkProcess process("it", [&](absl::string_view) -> absl::StatusOr<std::string> {
    while (forever) {
    }
    return "";
  });
  for (int iteration = 0; iteration < 2; ++iteration) {
    const absl::Status late = process.Run("", 1).status();
    EXPECT_TRUE(absl::IsResourceExhausted(late)) << late;
    EXPECT_THAT(std::string(late.message()), HasSubstr("more than 1 s"));
  }
}

TEST_F(WorkProcessTest, AbandonedWorkEndsAtOnceWithAllThatItStarted) {
  WorkProcess process("it", Hang);
  std::thread caller([] {
    ASSERT_TRUE(Await([] { return SharedMemory().stubborn != 0; }));
    CompileChildren::Get().Abandon();
  });
  const absl::Time begun = absl::Now();
  EXPECT_TRUE(absl::IsCancelled(process.Run("", kSeconds).status()));
  EXPECT_LT(absl::Now() - begun, absl::Seconds(5));
  caller.join();
  EXPECT_TRUE(Await([] { return IsGone(SharedMemory().stubborn); }));
  EXPECT_TRUE(absl::IsCancelled(process.Run("", kSeconds).status())) << "abandoned until the next compile begins";
}

TEST_F(WorkProcessTest, ACompileAfterAnAbandonedOneIsServed) {
  WorkProcess process("it",
                      [](absl::string_view request) -> absl::StatusOr<std::string> { return std::string(request); });
  CompileChildren::Get().Abandon();
  EXPECT_TRUE(absl::IsCancelled(process.Run("a", kSeconds).status()));
  CompileChildren::Get().Begin();
  EXPECT_EQ(*process.Run("b", kSeconds), "b");
}

// The worker is killed while its assembler hangs: nothing is left of either.
TEST_F(WorkProcessTest, NothingOutlivesItsOwner) {
  const pid_t owner = fork();
  if (owner == 0) {
    WorkProcess process("it", Hang);
    process.Run("", kSeconds).IgnoreError();
    _exit(0);
  }
  ASSERT_TRUE(Await([] { return SharedMemory().stubborn != 0; }));
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  EXPECT_TRUE(Await([] { return IsGone(SharedMemory().stubborn); }, absl::Seconds(5)));
}

TEST_F(WorkProcessTest, TheEndOfItsOwnerEndsIt) {
  pid_t pid = 0;
  {
    WorkProcess process("it", [](absl::string_view) -> absl::StatusOr<std::string> { return ""; });
    ASSERT_TRUE(process.Run("", kSeconds).ok());
    pid = process.pid();
  }
  EXPECT_TRUE(IsGone(pid));
}

TEST_F(WorkProcessTest, AnotherThreadGetsAProcessOfItsOwn) {
  WorkProcess process("it", [](absl::string_view) -> absl::StatusOr<std::string> { return absl::StrCat(getpid()); });
  for (int iteration = 0; iteration < 20; ++iteration) {
    std::thread([&] { EXPECT_TRUE(process.Run("", kSeconds).ok()); }).join();
    EXPECT_TRUE(process.Run("", kSeconds).ok());
  }
}

TEST_F(WorkProcessTest, InheritsNoDescriptor) {
  const int secret = open("/dev/null", O_RDONLY);
  WorkProcess process(
      "it", [&](absl::string_view) -> absl::StatusOr<std::string> { return absl::StrCat(fcntl(secret, F_GETFD)); });
  EXPECT_EQ(*process.Run("", kSeconds), "-1");
  close(secret);
}

TEST_F(WorkProcessTest, TellsWhatTheWorkUsed) {
  WorkProcess process("it", [](absl::string_view) -> absl::StatusOr<std::string> {
    const clock_t until = clock() + CLOCKS_PER_SEC / 20;
    while (clock() < until) {
    }
    return "";
  });
  ASSERT_TRUE(process.Run("", kSeconds).ok());
  EXPECT_GE(CompileChildren::Get().usage().cpu, absl::Milliseconds(40));
  CompileChildren::Get().Begin();
  EXPECT_EQ(CompileChildren::Get().usage().cpu, absl::ZeroDuration());
}

}  // namespace
}  // namespace tritond::compiler
