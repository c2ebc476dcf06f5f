// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/isolated_work.h"

#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

using ::testing::HasSubstr;

TEST(IsolatedWork, ReturnsWhatTheWorkDid) {
  const std::string large(1 << 20, '\0');
  auto result = RunIsolated("it", [&]() -> absl::StatusOr<std::string> { return large; });
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(*result == large);
  result = RunIsolated("it", [&]() -> absl::StatusOr<std::string> { return std::string(); });
  EXPECT_TRUE(result.ok() && result->empty()) << result.status();
}

TEST(IsolatedWork, ReturnsItsError) {
  auto result = RunIsolated("it", []() -> absl::StatusOr<std::string> { return absl::UnimplementedError("not yet"); });
  EXPECT_EQ(result.status(), absl::UnimplementedError("not yet"));
}

TEST(IsolatedWork, ChangesNothingHere) {
  int calls = 0;
  ASSERT_TRUE(RunIsolated("it", [&]() -> absl::StatusOr<std::string> { return ++calls, ""; }).ok());
  EXPECT_EQ(calls, 0);
}

TEST(IsolatedWork, SurvivesADeath) {
  auto result = RunIsolated("it", []() -> absl::StatusOr<std::string> { abort(); });
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("died of signal 6"));
  result = RunIsolated("it", []() -> absl::StatusOr<std::string> { _exit(3); });
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("exit status 3"));
}

TEST(IsolatedWork, EndsWhatDoesNotEnd) {
  volatile bool forever = true;
  auto result = RunIsolated("it",
                            [&]() -> absl::StatusOr<std::string> {
                              while (forever) {
                              }
                              return "";
                            },
                            {/*cpu_seconds=*/1});
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("takes more than 1 s"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(IsolatedWork, EndsWhatTakesAllMemory) {
  auto result = RunIsolated("it", []() -> absl::StatusOr<std::string> {
    std::vector<std::string> held;
    while (held.size() < 64) held.push_back(std::string(uint64_t{1} << 28, 'x'));
    return "";
  });
  EXPECT_FALSE(result.ok());
}
#endif

}  // namespace
}  // namespace tritond::compiler
