// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/fatal_errors.h"

#include <gtest/gtest.h>

#include "llvm/Support/ErrorHandling.h"

namespace tritond::compiler {
namespace {

TEST(CatchFatalErrors, WorkThatEndsIsFine) {
  bool done = false;
  EXPECT_TRUE(CatchFatalErrors([&] { done = true; }).ok());
  EXPECT_TRUE(done);
}

TEST(CatchFatalErrors, AFatalErrorIsAStatusAndTheNextWorkRuns) {
  for (int i = 0; i < 3; ++i) {
    absl::Status status = CatchFatalErrors([] { llvm::report_fatal_error("no such instruction"); });
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_EQ(status.message(), "no such instruction");
  }
  EXPECT_TRUE(CatchFatalErrors([] {}).ok());
}

}  // namespace
}  // namespace tritond::compiler
