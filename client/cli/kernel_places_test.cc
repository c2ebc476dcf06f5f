// SPDX-License-Identifier: Apache-2.0
#include "client/cli/kernel_places.h"

#include <gtest/gtest.h>

namespace tritond::client {
namespace {

TEST(LeadPlaces, LeadsEachPlaceToTheFile) {
  proto::SourceMap source;
  source.Add({1, 1}, {4, 1});
  EXPECT_EQ(LeadPlaces("ttir:14:5 load of 4 bytes; ttir:2:7", "ttir", source), "ttir:17:5 load of 4 bytes; ttir:5:7");
}

TEST(LeadPlaces, LeavesOtherTextAlone) {
  proto::SourceMap source;
  source.Add({1, 1}, {4, 1});
  for (const char* message :
       {"", "ttir", "ttir:", "ttir:1", "ttir:x:1", "a_ttir:1:2", "k.py:1:2", "ttir:99999999999:1"})
    EXPECT_EQ(LeadPlaces(message, "ttir", source), message);
}

}  // namespace
}  // namespace tritond::client
