// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/outcome_table.h"

#include <gtest/gtest.h>

namespace tritond::conformance {
namespace {

TEST(OutcomeTable, CountsByGroupAndDevice) {
  OutcomeTable table;
  EXPECT_EQ(table.ToMarkdown(), "");
  table.Add("arith", "arith.addi", "host", Outcome::kRight);
  table.Add("arith", "arith.addi", "gpu", Outcome::kWrong);
  table.Add("arith", "arith.subi", "host", Outcome::kRight);
  table.Add("math", "math.sin", "gpu", Outcome::kRight);
  EXPECT_EQ(table.ToMarkdown(),
            "| | host | gpu |\n|---|---|---|\n| arith | 2 right | 1 WRONG |\n| math | – | 1 right |\n");
}

TEST(OutcomeTable, ListsWhatIsRefusedOnceForAllDevicesThatSayTheSame) {
  OutcomeTable table;
  table.Add("a", "a.x", "host", Outcome::kRefused, "no x");
  table.Add("a", "a.x", "gpu", Outcome::kRefused, "no x");
  table.Add("a", "a.y", "host", Outcome::kRight);
  table.Add("a", "a.y", "gpu", Outcome::kRefused, "no x");
  table.Add("a", "a.z", "gpu", Outcome::kRefused, "no x");
  EXPECT_EQ(table.ToMarkdown(),
            "| | host | gpu |\n|---|---|---|\n| a | 1 right, 1 refused | 3 refused |\n\n"
            "- Refused everywhere, \"no x\": a.x\n- Refused on gpu, \"no x\": a.y, a.z\n");
}

TEST(OutcomeTable, TakesTheLastOutcomeOfACase) {
  OutcomeTable table;
  table.Add("a", "a.x", "host", Outcome::kRight);
  table.Add("a", "a.x", "host", Outcome::kWrong);
  EXPECT_EQ(table.ToMarkdown(), "| | host |\n|---|---|\n| a | 1 WRONG |\n");
}

}  // namespace
}  // namespace tritond::conformance
