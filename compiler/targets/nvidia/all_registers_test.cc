// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/test_second_assembly.h"
#include "gtest/gtest.h"

namespace tritond::compiler::nvidia {
namespace {

class AllRegisters : public SecondAssembly {};

TEST_F(AllRegisters, AreTakenWhereOtherwiseValuesAreStored) {
  const std::string stores = Binary(Kernel(160, 1, ".maxnreg 64\n"));
  ASSERT_GT(ResourcesOfCubin(stores, "kernel").local_bytes.value_or(0), 0);
  TwoBinaries assembler(stores, large_, /*blocks=*/1);
  EXPECT_TRUE(Choose(assembler, Kernel(160, 1, "")) == large_);
  EXPECT_EQ(assembler.asked, 1);
  TwoBinaries no_better(stores, stores, /*blocks=*/1);
  EXPECT_TRUE(Choose(no_better, Kernel(160, 1, "")) == stores);
}

// Four blocks of eight warps leave a thread 64 registers, which are enough where the assembler has to do with them.
TEST_F(AllRegisters, AreNotTakenWhereAsManyBlocksStoreNothing) {
  const std::string stores = Binary(Kernel(64, 1, ".maxnreg 64\n")), fits = Binary(Kernel(40, 1));
  ASSERT_GT(ResourcesOfCubin(stores, "kernel").local_bytes.value_or(0), 0);
  ASSERT_LE(ResourcesOfCubin(stores, "kernel").local_bytes.value_or(0), 64);
  TwoBinaries assembler(stores, fits, /*blocks=*/4);
  EXPECT_TRUE(Choose(assembler, Kernel(64, 1, kAllWarpsNote)) == fits);
}

// As many blocks leave no registers for as much as it stores: they are not tried.
TEST_F(AllRegisters, AreTakenAtOnceWhereMuchIsStored) {
  const std::string stores = Binary(Kernel(160, 1, ".maxnreg 64\n"));
  ASSERT_GT(ResourcesOfCubin(stores, "kernel").local_bytes.value_or(0), 64);
  TwoBinaries assembler(stores, large_, /*blocks=*/1);
  EXPECT_TRUE(Choose(assembler, Kernel(160, 1, kAllWarpsNote)) == large_);
  EXPECT_EQ(assembler.asked, 1);
}

// Far more is live at once than fits: what asks for one block is assembled first, and alone where it stores values.
TEST_F(AllRegisters, AreAskedForAtFirstWhereFarMoreIsLive) {
  const std::string stores = Binary(Kernel(160, 1, ".maxnreg 64\n"));
  const auto live = [](int64_t words) {
    return absl::StrCat(Kernel(160, 1, kAllWarpsNote), "\n// ", words, " words live at once\n");
  };
  TwoBinaries far(large_, stores, /*blocks=*/1), fits(large_, large_, /*blocks=*/1), near(large_, stores, /*blocks=*/1);
  EXPECT_TRUE(Choose(far, live(510)) == stores);
  EXPECT_EQ(far.plain, 0);
  EXPECT_TRUE(Choose(fits, live(510)) == large_);
  EXPECT_GT(fits.plain, 0);
  EXPECT_TRUE(Choose(near, live(509)) == large_);
  EXPECT_EQ(near.asked, 0);
}

// The array of the text is as large as what the binary has in local memory, or smaller.
TEST_F(AllRegisters, AreNotAskedForWhereAllThatIsStoredIsAnArray) {
  const std::string stores = Binary(Kernel(160, 1, ".maxnreg 64\n"));
  const int64_t bytes = ResourcesOfCubin(stores, "kernel").local_bytes.value_or(0);
  ASSERT_GT(bytes, 16);
  const auto with_array = [](int64_t of, absl::string_view note) {
    std::string text = Kernel(160, 1, note);
    return text.insert(text.find("{\n") + 2, absl::StrCat("\t.local .align 4 .b8 \t__local_depot0[", of, "];\n"));
  };
  TwoBinaries all(stores, large_, /*blocks=*/1), most(stores, large_, /*blocks=*/1);
  EXPECT_TRUE(Choose(all, with_array(bytes - 4, "")) == stores);
  EXPECT_EQ(all.asked, 0);
  EXPECT_TRUE(Choose(most, with_array(bytes - 16, "")) == large_);
  // Nor where the least number of blocks is not what makes a thread store.
  const std::string asks = absl::StrCat(kAllWarpsNote, ".minnctapersm 4\n");
  TwoBinaries few(large_, stores, /*blocks=*/4), many(large_, stores, /*blocks=*/4);
  EXPECT_TRUE(Choose(few, with_array(bytes - 4, asks)) == stores);
  EXPECT_TRUE(Choose(many, with_array(bytes - 16, asks)) == large_);
}

// A thread of 32 warps has 64 registers at most.
TEST_F(AllRegisters, AreNotAskedForWhereTheyAreTaken) {
  const std::string stores = Binary(Kernel(160, 1, ".maxnreg 64\n"));
  TwoBinaries taken(stores, large_, /*blocks=*/1);
  EXPECT_TRUE(Choose(taken, Kernel(160, 1, ""), /*num_warps=*/32) == stores);
  EXPECT_EQ(taken.asked, 0);
}

TEST_F(AllRegisters, AreNotAskedForWhereNothingIsStoredOrALimitIsGiven) {
  TwoBinaries fits(large_, small_, /*blocks=*/1);
  EXPECT_TRUE(Choose(fits, Kernel(160, 1, "")) == large_);
  EXPECT_EQ(fits.asked, 0);
  const std::string limit = ".maxnreg 64\n";
  TwoBinaries limited(Binary(Kernel(160, 1, limit)), large_, /*blocks=*/1);
  EXPECT_FALSE(Choose(limited, Kernel(160, 1, limit)) == large_);
  EXPECT_EQ(limited.plain, 1);
}

}  // namespace
}  // namespace tritond::compiler::nvidia
