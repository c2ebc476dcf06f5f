// SPDX-License-Identifier: Apache-2.0
#include "server/errors/reason.h"

#include <gtest/gtest.h>

#include <set>

namespace tritond::server {
namespace {

TEST(Reason, EachHasANameOfItsOwnThatLeadsBackToIt) {
  std::set<absl::string_view> names;
  for (int i = 0; i <= static_cast<int>(Reason::kWorkerLost); ++i) {
    const auto reason = static_cast<Reason>(i);
    EXPECT_TRUE(names.insert(ReasonName(reason)).second) << ReasonName(reason);
    EXPECT_EQ(ReasonOfName(ReasonName(reason)), reason);
  }
  EXPECT_EQ(ReasonName(Reason::kQueueFull), "QUEUE_FULL");
}

TEST(Reason, AnUnknownNameIsNone) { EXPECT_EQ(ReasonOfName("OF_A_NEWER_DAEMON"), Reason::kNone); }

}  // namespace
}  // namespace tritond::server
