// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/key_check.h"

#include <gtest/gtest.h>

namespace tritond::tests {
namespace {

using Verdict = KeyCheck::Verdict;

std::string Kernel(const std::string& body) {
  return "module {\n  tt.func public @k(%p: !tt.ptr<i32> loc(unknown), %c: i32) {\n" + body + "    tt.return\n  }\n}\n";
}

TEST(KeyCheck, TakesWhatHidesFromALineReader) {
  KeyCheck check;
  EXPECT_EQ(check.Check(Kernel("    tt.store %p, %c : !tt.ptr<i32> loc(unknown // (\n)\n"
                               "    tt.store %p, %c : !tt.ptr<i32>  // )\n")),
            Verdict::kSame)
      << check.why();
  EXPECT_EQ(check.Check(Kernel("    // \r    tt.store %p, %c : !tt.ptr<i32>\n")), Verdict::kSame) << check.why();
}

TEST(KeyCheck, SaysWhatIsNoIr) {
  KeyCheck check;
  EXPECT_EQ(check.Check("module {"), Verdict::kNoIr);
  EXPECT_EQ(check.Check(Kernel("    tt.store %p, %d : !tt.ptr<i32>\n")), Verdict::kNoIr);
}

// MLIR finds the end of the type at the comment's bracket.
TEST(KeyCheck, TextsWithTwoReadingsAreRefused) {
  KeyCheck check;
  EXPECT_NE(check.Check("module {\n  tt.func @k(%p: !tt.ptr<i32 // >) {tt.return} tt.func @l(%q: !tt.ptr<i32\n>) {\n"
                        "    tt.return\n  }\n}\n"),
            Verdict::kDiffers);
}

// Attributes that an operation's own syntax does not show count, too.
TEST(KeyCheck, DiscardableAttributesAreInTheSemanticKey) {
  KeyCheck check;
  EXPECT_EQ(check.Check(Kernel("    \"tt.store\"(%p, %c) <{operandSegmentSizes = array<i32: 1, 1, 0>}> {tt.hidden = 1 "
                               ": i32} : (!tt.ptr<i32>, i32) -> ()\n")),
            Verdict::kSame)
      << check.why();
}

}  // namespace
}  // namespace tritond::tests
