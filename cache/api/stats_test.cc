// SPDX-License-Identifier: Apache-2.0
#include "cache/api/stats.h"

#include <gtest/gtest.h>

namespace tritond::cache {
namespace {

EngineNode Node(const std::string& address, bool answers, const std::string& trouble = "", bool slow = false) {
  EngineNode node;
  node.address = address;
  node.answers = answers;
  node.trouble = trouble;
  node.slow = slow;
  return node;
}

TEST(DescribeTrouble, SaysNothingWhereAllIsWell) {
  EXPECT_EQ(DescribeTrouble({}), "");
  EXPECT_EQ(DescribeTrouble({Node("a:1", true), Node("b:1", true)}), "");
}

TEST(DescribeTrouble, TellsANodeThatIsAwayFromOneThatRefuses) {
  EXPECT_EQ(DescribeTrouble({Node("a:1", true), Node("b:1", false), Node("c:1", false, "OOM: full")}),
            "of the cluster's engine b:1, c:1 (OOM: full) do not answer; kernels whose keys lie there are not shared");
}

TEST(DescribeTrouble, NamesEachReasonOnceWhenNoneAnswers) {
  EXPECT_EQ(DescribeTrouble({Node("a:1", false)}), "the cluster's engine does not answer; this daemon goes on alone");
  EXPECT_EQ(DescribeTrouble({Node("a:1", false, "NOAUTH: x"), Node("b:1", false, "NOAUTH: x")}),
            "the cluster's engine does not answer as it should (NOAUTH: x); what is compiled here is not shared");
}

TEST(DescribeTrouble, NamesSlowNodesBesideThoseThatAreAway) {
  EXPECT_EQ(DescribeTrouble({Node("a:1", true, "", true), Node("b:1", false, "", true), Node("c:1", true)}),
            "of the cluster's engine b:1 does not answer; kernels whose keys lie there are not shared; the cluster's "
            "engine is slow at a:1; kernels that must be compiled wait for it");
}

}  // namespace
}  // namespace tritond::cache
