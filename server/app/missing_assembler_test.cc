// SPDX-License-Identifier: Apache-2.0
#include "server/app/missing_assembler.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

KnownTarget Target(const std::string& name, const std::string& why_not, bool attached = true) {
  return {name, "build", "bin", why_not.empty(), why_not, attached};
}

TEST(DescribeMissingAssemblers, NamesFamiliesWithoutAnyBinary) {
  EXPECT_EQ(
      DescribeMissingAssemblers({Target("toy:1", "install toyas"), Target("toy:2", "install toyas"), Target("host", ""),
                                 Target("pet:1", "set PET_HOME; nothing is in /pet, /usr/pet")}),
      "no worker makes a bin for pet targets: set PET_HOME; no worker makes a bin for toy targets: install toyas");
}

TEST(DescribeMissingAssemblers, SaysNothingWhereOneTargetOfTheFamilyHasABinaryOrNoWorkerIsThere) {
  EXPECT_EQ(DescribeMissingAssemblers({Target("toy:1", "too new"), Target("toy:2", ""), Target("toy:3", "too new")}),
            "");
  EXPECT_EQ(DescribeMissingAssemblers({Target("toy:1", "install toyas", /*attached=*/false)}), "");
  EXPECT_EQ(DescribeMissingAssemblers({}), "");
}

TEST(DescribeMissingAssemblers, BoundsAndEscapesWhatWorkersSay) {
  const std::string text = DescribeMissingAssemblers({Target("toy:1", "\x1b[2J" + std::string(100000, 'x'))});
  EXPECT_LT(text.size(), 1000u);
  EXPECT_NE(text.find("\\x1b[2J"), std::string::npos) << text;
}

}  // namespace
}  // namespace tritond::server
