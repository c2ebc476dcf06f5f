// SPDX-License-Identifier: Apache-2.0
#include "client/cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace tritond::client {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST(Progress, ResultsGoToStandardOutputAndComplaintsToStandardError) {
  std::ostringstream out, err;
  {
    Progress progress(2, Console{out, err});
    progress.Done("softmax  hit", "");
    progress.Done("", "matmul   failed");
  }
  EXPECT_EQ(out.str(), "softmax  hit\n");
  EXPECT_EQ(err.str(), "matmul   failed\n");
}

TEST(Progress, OnATerminalKeepsABarOnTheLastLineAndWhatIsPrintedAboveIt) {
  std::ostringstream terminal;
  Console console{terminal, terminal};
  console.err_is_terminal = true;
  {
    Progress progress(4, console);
    progress.Done("", "");
    EXPECT_EQ(terminal.str(), "\r\x1b[K[##########..............................] 1/4");
    progress.Done("", "matmul   failed");
    EXPECT_THAT(terminal.str(), HasSubstr("1/4\r\x1b[Kmatmul   failed\n"));
    EXPECT_THAT(terminal.str(), EndsWith("[####################....................] 2/4"));
    progress.Done("softmax  hit", "");
    EXPECT_THAT(terminal.str(), HasSubstr("2/4\r\x1b[Ksoftmax  hit\n"));
  }
  EXPECT_THAT(terminal.str(), EndsWith("3/4\r\x1b[K"));  // The bar is gone at the end.
}

}  // namespace
}  // namespace tritond::client
