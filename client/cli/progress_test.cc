// SPDX-License-Identifier: Apache-2.0
#include "client/cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace tritond::client {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(Progress, IntoAFileWritesANumberedLineForEach) {
  std::ostringstream out;
  {
    Progress progress(2, /*terminal=*/false, out);
    progress.Done("softmax  hit", false);
    progress.Done("matmul   failed", true);
  }
  EXPECT_EQ(out.str(), "[1/2] softmax  hit\n[2/2] matmul   failed\n");
}

TEST(Progress, OnATerminalKeepsABarOnTheLastLineAndWhatIsNotableAboveIt) {
  std::ostringstream out;
  {
    Progress progress(4, /*terminal=*/true, out);
    progress.Done("softmax  hit", false);
    EXPECT_EQ(out.str(), "\r\x1b[K[##########..............................] 1/4");
    progress.Done("matmul   failed", true);
    EXPECT_THAT(out.str(), Not(HasSubstr("softmax")));
    EXPECT_THAT(out.str(), HasSubstr("\r\x1b[Kmatmul   failed\n"));
    EXPECT_THAT(out.str(), EndsWith("[####################....................] 2/4"));
  }
  EXPECT_THAT(out.str(), EndsWith("2/4\r\x1b[K"));  // The bar is gone at the end.
}

}  // namespace
}  // namespace tritond::client
