// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/second_assembly.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/test_second_assembly.h"
#include "gtest/gtest.h"

namespace tritond::compiler::nvidia {
namespace {

class SecondBlock : public SecondAssembly {};
class AllWarps : public SecondAssembly {};

TEST_F(SecondBlock, IsTakenWhereItCostsNothing) {
  TwoBinaries assembler(large_, small_);
  EXPECT_TRUE(Choose(assembler, Kernel(160, 1)) == small_);
  EXPECT_EQ(assembler.asked, 1);
}

TEST_F(SecondBlock, IsLeftWhereTheCodeGrows) {
  TwoBinaries assembler(large_, long_);
  EXPECT_TRUE(Choose(assembler, Kernel(160, 1)) == large_);
  EXPECT_EQ(assembler.asked, 1);
}

TEST_F(SecondBlock, IsLeftWhereProductsWaitForEachOther) {
  const std::string waits = Binary(Kernel(100, 1, kNote, 3));
  ASSERT_NE(waits, "");
  const std::string few = absl::StrCat(".maxnreg 168\n", kNote);
  TwoBinaries one_wait(Binary(Kernel(160, 1, few, 1)), waits), as_many(Binary(Kernel(160, 1, few, 3)), waits);
  EXPECT_FALSE(Choose(one_wait, Kernel(160, 1)) == waits);
  EXPECT_TRUE(Choose(as_many, Kernel(160, 1)) == waits);
}

TEST_F(SecondBlock, IsTakenWhereAllIsDoneOnceBetweenWaitsForMemory) {
  auto loads = [](const std::string& text) {
    return absl::StrReplaceAll(text, {{"ld.volatile.shared", "ld.volatile.global"}, {"[%at+", "[%rd2+"}});
  };
  const std::string waits = Binary(loads(Kernel(100, 1, kNote, 3)));
  ASSERT_NE(waits, "");
  TwoBinaries one_wait(Binary(loads(Kernel(160, 1, absl::StrCat(".maxnreg 168\n", kNote), 1))), waits);
  EXPECT_TRUE(Choose(one_wait, Kernel(160, 1)) == waits);
}

TEST_F(SecondBlock, IsLeftWhereProductsAddToTheOneBefore) {
  const std::string few = absl::StrCat(".maxnreg 168\n", kNote), in_chains = Binary(KernelWithProducts(100, 1));
  ASSERT_NE(in_chains, "");
  TwoBinaries apart(Binary(KernelWithProducts(160, 8, few)), in_chains);
  TwoBinaries as_many(Binary(KernelWithProducts(160, 1, few)), in_chains);
  EXPECT_FALSE(Choose(apart, Kernel(160, 1)) == in_chains);
  EXPECT_TRUE(Choose(as_many, Kernel(160, 1)) == in_chains);
}

// Registers leave room for two blocks.
TEST_F(SecondBlock, IsAskedForAgainWhereProductsWaitForEachOther) {
  const std::string few = absl::StrCat(".maxnreg 112\n", kNote);
  const std::string in_chains = Binary(KernelWithProducts(80, 1, few, 6));
  const std::string apart = Binary(KernelWithProducts(80, 8, few, 6));
  const std::string full = Binary(KernelWithProducts(116, 1, kNote, 6));
  ASSERT_NE(apart, "");
  ASSERT_GT(ResourcesOfCubin(full, "kernel").registers.value_or(0), 120);
  ASSERT_LE(ResourcesOfCubin(full, "kernel").registers.value_or(999), 128);
  TwoBinaries better(in_chains, apart), worse(apart, in_chains), has_all(full, apart);
  EXPECT_TRUE(Choose(better, Kernel(100, 1)) == apart);
  EXPECT_TRUE(Choose(worse, Kernel(100, 1)) == apart);
  // It has the registers that two blocks leave.
  EXPECT_TRUE(Choose(has_all, Kernel(100, 1)) == full);
  EXPECT_EQ(has_all.asked, 0);
}

// A kernel of two groups of two products, which it names in comments.
std::string KernelOfGroups(int live) {
  const std::string group = "// wgmma.mma_async\n// wgmma.mma_async\n// wgmma.commit_group.sync.aligned;\n";
  return absl::StrCat(Kernel(live, 1), group, group);
}

// Gives one binary to texts that wait for each group, and another one to all others. Of texts that ask for two blocks,
// only those that wait for each group get `two`.
class Groups final : public Assembler {
 public:
  Groups(std::string others, std::string groups, std::string two = "")
      : others_(std::move(others)), groups_(std::move(groups)), two_(std::move(two)) {}
  std::string Name() const override { return "groups"; }
  int PtxVersion() const override { return 80; }
  std::string Path() const override { return ""; }
  absl::StatusOr<std::string> Assemble(const std::string& ptx, const AssembleOptions&) const override {
    const bool in_groups = absl::StrContains(ptx, "commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
    if (in_groups && !two_.empty() && absl::StrContains(ptx, "\n.minnctapersm 2\n")) return two_;
    return in_groups ? groups_ : others_;
  }

 private:
  const std::string others_, groups_, two_;
};

TEST_F(SecondBlock, OrOneWaitsForGroupsWhereTheAssemblerMakesProductsWait) {
  const std::string serial = Binary(Kernel(60, 1, kNote, 8)), fewer = Binary(Kernel(60, 1, kNote, 4)),
                    more = Binary(Kernel(60, 1, kNote, 9)), overlapped = Binary(Kernel(60, 1, kNote, 5)),
                    large = Binary(Kernel(200, 1, kNote, 4));
  ASSERT_NE(fewer, "");
  EXPECT_TRUE(Choose(Groups(serial, fewer), KernelOfGroups(60)) == fewer);
  EXPECT_TRUE(Choose(Groups(serial, more), KernelOfGroups(60)) == serial);
  EXPECT_TRUE(Choose(Groups(serial, large), KernelOfGroups(60)) == serial);          // one block instead of two
  EXPECT_TRUE(Choose(Groups(overlapped, fewer), KernelOfGroups(60)) == overlapped);  // not each product
}

TEST_F(SecondBlock, OfGroupsThatAreWaitedFor) {
  const std::string few = absl::StrCat(".maxnreg 168\n", kNote);
  const std::string serial = Binary(Kernel(160, 1, few, 8)), groups = Binary(Kernel(160, 1, few, 4)),
                    two = Binary(Kernel(100, 1, kNote, 4)), in_vain = Binary(Kernel(100, 1, kNote, 8));
  EXPECT_TRUE(Choose(Groups(serial, groups, two), KernelOfGroups(160)) == two);
  // Only the second block makes products wait.
  TwoBinaries assembler(large_, in_vain);
  EXPECT_TRUE(Choose(assembler, KernelOfGroups(160)) == large_);
  EXPECT_EQ(assembler.asked, 1);
}

// Assembles no text that asks for blocks.
class Unable final : public Assembler {
 public:
  explicit Unable(std::string all) : all_(std::move(all)) {}
  std::string Name() const override { return "unable"; }
  int PtxVersion() const override { return 80; }
  std::string Path() const override { return ""; }
  absl::StatusOr<std::string> Assemble(const std::string& ptx, const AssembleOptions&) const override {
    if (absl::StrContains(ptx, "\n.minnctapersm ")) return absl::InternalError("Insufficient registers (32)");
    return all_;
  }

 private:
  const std::string all_;
};

TEST_F(SecondBlock, IsNoMoreAskedForWhereItLeavesTooFewRegisters) {
  EXPECT_TRUE(Choose(Unable(large_), Kernel(160, 1, absl::StrCat(kNote, ".minnctapersm 16\n"))) == large_);
}

TEST_F(SecondBlock, IsLeftWhereItStillDoesNotFit) {
  TwoBinaries assembler(large_, large_);
  EXPECT_TRUE(Choose(assembler, Kernel(160, 1)) == large_);
}

TEST_F(SecondBlock, IsNotTriedWhereTheTextDoesNotSaySo) {
  TwoBinaries assembler(large_, small_);
  EXPECT_TRUE(Choose(assembler, Kernel(160, 1, "")) == large_);
  EXPECT_EQ(assembler.asked, 0);
}

TEST_F(SecondBlock, IsNotTriedWhereSharedMemoryIsFull) {
  TwoBinaries assembler(large_, small_);
  const std::string text = Kernel(160, 1, "// second block: 131072 bytes of shared memory\n");
  EXPECT_TRUE(Choose(assembler, text) == large_);
  EXPECT_EQ(assembler.asked, 0);
}

TEST_F(SecondBlock, IsNotTriedWhereRegistersAreFarTooMany) {
  const std::string most = Binary(Kernel(200, 1));
  ASSERT_GT(ResourcesOfCubin(most, "kernel").registers.value_or(0), 180);
  TwoBinaries assembler(most, small_);
  EXPECT_TRUE(Choose(assembler, Kernel(200, 1)) == most);
  EXPECT_EQ(assembler.asked, 0);
}

TEST_F(SecondBlock, IsTriedWhereCodeAroundALoopTakesFarTooMany) {
  const std::string most = Binary(KernelWithProducts(200, 1)), two = Binary(KernelWithProducts(100, 1));
  ASSERT_GT(ResourcesOfCubin(most, "kernel").registers.value_or(0), 180);
  TwoBinaries assembler(most, two), unknown(most, two);
  EXPECT_TRUE(Choose(assembler, KernelWithProducts(200, 1, absl::StrCat(kNote, "// loops keep 20 words\n"))) == two);
  EXPECT_TRUE(Choose(unknown, KernelWithProducts(200, 1)) == most);
  EXPECT_EQ(unknown.asked, 0);
  const std::string stores = Binary(KernelWithProducts(150, 1, ".maxnreg 128\n"));
  ASSERT_GT(ResourcesOfCubin(stores, "kernel").local_bytes.value_or(0), 32);
  EXPECT_TRUE(Choose(TwoBinaries(most, stores),
                     KernelWithProducts(200, 1, absl::StrCat(kNote, "// loops keep 20 words\n"))) == most);
}

TEST_F(SecondBlock, IsNotTriedWhereItFitsAnyway) {
  TwoBinaries assembler(small_, long_);
  EXPECT_TRUE(Choose(assembler, Kernel(100, 1)) == small_);
  EXPECT_EQ(assembler.asked, 0);
}

// Two blocks of eight warps leave a thread 128 registers.
TEST_F(SecondBlock, IsNotTriedWhereALoopKeepsAsManyWords) {
  TwoBinaries few(large_, small_), many(large_, small_);
  EXPECT_TRUE(Choose(few, Kernel(160, 1, absl::StrCat(kNote, "// loops keep 116 words\n"))) == small_);
  EXPECT_EQ(few.asked, 1);
  EXPECT_TRUE(Choose(many, Kernel(160, 1, absl::StrCat(kNote, "// loops keep 117 words\n"))) == large_);
  EXPECT_EQ(many.asked, 0);
}

// Registers leave room for three blocks of four warps, or for four.
TEST_F(SecondBlock, IsTriedForLoopsOfProductsWhereItIsAThirdMore) {
  const std::string three = Binary(KernelWithProducts(150, 1, ".maxnreg 168\n")),
                    four = Binary(KernelWithProducts(100, 1, ".maxnreg 128\n")),
                    without_loops = Binary(Kernel(100, 1, ".maxnreg 128\n")), small = Binary(Kernel(70, 1));
  ASSERT_GT(ResourcesOfCubin(three, "kernel").registers.value_or(0), 128);
  ASSERT_GT(ResourcesOfCubin(four, "kernel").registers.value_or(0), 96);
  ASSERT_GT(ResourcesOfCubin(without_loops, "kernel").registers.value_or(0), 96);
  const std::string text = Kernel(160, 1, "// second block: 16384 bytes of shared memory\n");
  TwoBinaries fourth(three, small_, /*blocks=*/4), fifth(four, small, 5), fifth_without_loops(without_loops, small, 5);
  Choose(fourth, text, /*num_warps=*/4);
  EXPECT_EQ(fourth.asked, 1);
  EXPECT_TRUE(Choose(fifth, text, /*num_warps=*/4) == four);
  EXPECT_EQ(fifth.asked, 0);
  EXPECT_TRUE(Choose(fifth_without_loops, text, /*num_warps=*/4) == small);
}

// The text asks for two blocks. What they store is stored before the loop.
TEST_F(SecondBlock, ThatWasAskedForMayStoreAFewValuesOnce) {
  const std::string one = Binary(KernelWithProducts(130, 1, ".maxnreg 168\n"));
  const std::string two = Binary(KernelWithProducts(130, 1, ".maxnreg 128\n"));
  const std::string many = Binary(KernelWithProducts(160, 1, ".maxnreg 128\n"));
  ASSERT_GT(ResourcesOfCubin(one, "kernel").registers.value_or(0), 128);
  ASSERT_EQ(ResourcesOfCubin(one, "kernel").local_bytes.value_or(1), 0);
  ASSERT_GT(ResourcesOfCubin(two, "kernel").local_bytes.value_or(0), 8);
  ASSERT_LE(ResourcesOfCubin(two, "kernel").local_bytes.value_or(0), 32);
  ASSERT_GT(ResourcesOfCubin(many, "kernel").local_bytes.value_or(0), 32);
  const std::string text = KernelWithProducts(130, 1, absl::StrCat(kNote, ".minnctapersm 2\n"));
  EXPECT_TRUE(Choose(TwoBinaries(one, two), text) == two);
  EXPECT_TRUE(Choose(TwoBinaries(one, many), text) == one);
}

// Eight blocks of eight warps are all warps, and leave a thread 32 registers.
TEST_F(AllWarps, FitWhereAFewRegistersAreTooMany) {
  const std::string text = Kernel(24, 1, kAllWarpsNote);
  const std::string more = Binary(Kernel(35, 1)), few = Binary(Kernel(24, 1));
  ASSERT_GT(ResourcesOfCubin(more, "kernel").registers.value_or(0), 32);
  ASSERT_LE(ResourcesOfCubin(more, "kernel").registers.value_or(99), 40);
  TwoBinaries assembler(more, few, /*blocks=*/8);
  EXPECT_TRUE(Choose(assembler, text) == few);
  EXPECT_EQ(assembler.asked, 1);
  TwoBinaries grows(more, Binary(Kernel(24, 4)), /*blocks=*/8), stays(more, more, /*blocks=*/8);
  EXPECT_TRUE(Choose(grows, text) == more);
  EXPECT_TRUE(Choose(stays, text) == more);
}

TEST_F(AllWarps, AreLeftWhereTheyStoreValues) {
  const std::string stores = Binary(Kernel(30, 1, ".maxnreg 24\n")), more = Binary(Kernel(34, 8));
  ASSERT_GT(ResourcesOfCubin(stores, "kernel").local_bytes.value_or(0), 0);
  TwoBinaries assembler(more, stores, /*blocks=*/8);
  EXPECT_TRUE(Choose(assembler, Kernel(35, 1, kAllWarpsNote)) == more);
  EXPECT_EQ(assembler.asked, 1);
}

TEST_F(AllWarps, AreNotTriedWhereRegistersAreFarTooManyOrFewEnough) {
  for (int live : {24, 60}) {
    const std::string binary = Binary(Kernel(live, 1));
    TwoBinaries assembler(binary, small_, /*blocks=*/8);
    EXPECT_TRUE(Choose(assembler, Kernel(live, 1, kAllWarpsNote)) == binary) << live;
    EXPECT_EQ(assembler.asked, 0) << live;
  }
}

// A kernel without loops stores them once. Six blocks load one value after the other. What is stored may take one
// instruction in 32.
TEST_F(AllWarps, MayStoreAFewValuesForFarMoreLoads) {
  auto padded = [&](const std::string& text, int instructions) {
    std::string others;
    for (int i = 0; i < instructions; ++i) absl::StrAppend(&others, "st.volatile.global.f32 [%rd1], %s;\n");
    return Binary(absl::StrReplaceAll(text, {{"ret;\n", absl::StrCat(others, "ret;\n")}}));
  };
  auto all_warps = [&](int held, int instructions) {
    return padded(absl::StrReplaceAll(CodeThatLoads(4, true, "sm_90a", held), {{"256\n{", "256\n.maxnreg 32\n{"}}),
                  instructions);
  };
  auto one_by_one = [&](int instructions) {
    return padded(CodeThatLoads(12, false, "sm_90a", /*held=*/24), instructions);
  };
  const std::string few = all_warps(24, 500), many = all_warps(26, 500), in_short_code = all_warps(24, 0);
  ASSERT_GT(ResourcesOfCubin(one_by_one(0), "kernel").registers.value_or(0), 32);
  ASSERT_GT(ResourcesOfCubin(few, "kernel").local_bytes.value_or(0), 0);
  ASSERT_LE(ResourcesOfCubin(in_short_code, "kernel").local_bytes.value_or(99), 32);
  ASSERT_GT(ResourcesOfCubin(many, "kernel").local_bytes.value_or(0), 32);
  auto chosen = [&](const std::string& stores, int instructions) {
    return Choose(TwoBinaries(one_by_one(instructions), stores, /*blocks=*/8), Kernel(35, 1, kAllWarpsNote));
  };
  EXPECT_TRUE(chosen(few, 500) == few);
  EXPECT_TRUE(chosen(many, 500) == one_by_one(500));
  EXPECT_TRUE(chosen(in_short_code, 0) == one_by_one(0));
  // Six blocks have 24 bytes of a thread each on their way, of 20 that memory delivers until it answers.
  info_.multiprocessors = 1;
  info_.rates.memory_bytes = kWarps * 32;
  info_.rates.memory_latency = 20;
  EXPECT_TRUE(chosen(few, 500) == one_by_one(500));
}

// Three blocks of eight warps leave a thread 80 registers, two 128.
TEST_F(AllWarps, OrOneBlockMoreFits) {
  const std::string two = Binary(Kernel(90, 1, ".maxnreg 104\n")), three = Binary(Kernel(70, 1));
  const std::string stores = Binary(Kernel(90, 1, ".maxnreg 80\n"));
  ASSERT_GT(ResourcesOfCubin(two, "kernel").registers.value_or(0), 80);
  ASSERT_LE(ResourcesOfCubin(two, "kernel").registers.value_or(999), 104);
  ASSERT_GT(ResourcesOfCubin(stores, "kernel").local_bytes.value_or(0), 0);
  const std::string text = Kernel(90, 1, kAllWarpsNote);
  TwoBinaries assembler(two, three, /*blocks=*/3), spills(two, stores, 3);
  EXPECT_TRUE(Choose(assembler, text) == three);
  EXPECT_EQ(assembler.asked, 1);
  EXPECT_TRUE(Choose(spills, text) == two);
}

// Each costs a thread more than an instruction.
TEST_F(AllWarps, OfLoopsThatDoNotReadSpecialRegistersAgain) {
  auto binary = [this](int held, absl::string_view read) {
    std::string end;
    // What is held is loaded and stored.
    for (int i = 0; i < 50 - 2 * held; ++i) absl::StrAppend(&end, "st.volatile.global.f32 [%rd1], %s;\n");
    const std::string body =
        absl::StrCat("{\n.reg .b32 %q;\n", read, "st.volatile.global.u32 [%rd1], %q;\n}\nadd.u32 %r1, %r1, 1;\n");
    return Binary(absl::StrReplaceAll(LoopThatLoads(2, true, "sm_90a", held),
                                      {{"ret;\n", absl::StrCat(end, "ret;\n")}, {"add.u32 %r1, %r1, 1;\n", body}}));
  };
  const std::string once = binary(/*held=*/18, "mov.u32 %q, %r1;\n"), plain = binary(8, "mov.u32 %q, %r1;\n"),
                    reads = binary(8, "mov.u32 %q, %smid;\nst.volatile.global.u32 [%rd1], %q;\nmov.u32 %q, %smid;\n");
  ASSERT_GT(ResourcesOfCubin(once, "kernel").registers.value_or(0), 32);
  ASSERT_LE(ResourcesOfCubin(once, "kernel").registers.value_or(99), 40);
  TwoBinaries stays(once, plain, /*blocks=*/8), waits(once, reads, 8);
  EXPECT_TRUE(Choose(stays, Kernel(24, 1, kAllWarpsNote)) == plain);
  EXPECT_TRUE(Choose(waits, Kernel(24, 1, kAllWarpsNote)) == once);
}

// A thread has half as many registers more than all warps leave.
TEST_F(AllWarps, AlsoOfFarFewerRegistersWhereMemoryDeliversMore) {
  info_.multiprocessors = 1;
  info_.rates.memory_bytes = 16;
  const std::string once = Binary(LoopThatLoads(4, true, "sm_90a", /*held=*/22)),
                    few = Binary(LoopThatLoads(4, true, "sm_90a", /*held=*/6));
  ASSERT_GT(ResourcesOfCubin(once, "kernel").registers.value_or(0), 40);
  ASSERT_LE(ResourcesOfCubin(once, "kernel").registers.value_or(99), 48);
  const std::string text = Kernel(60, 1, absl::StrCat(kAllWarpsNote, ".minnctapersm 8\n"));
  for (const bool is_busy : {false, true}) {
    info_.rates.memory_latency = is_busy ? 1024 : 20480;
    EXPECT_TRUE(Choose(TwoBinaries(once, few, /*blocks=*/16), text, /*num_warps=*/4) == (is_busy ? once : few));
  }
}

// A multiprocessor has no more than its share of the programs of a persistent kernel.
TEST_F(AllWarps, AreNotTriedWhereProgramsAreFew) {
  info_.multiprocessors = 132;
  for (const int programs : {132, 132 * 8}) {
    const std::string note = absl::StrCat(kAllWarpsNote, "// has ", programs, " programs\n");
    TwoBinaries assembler(large_, small_);
    EXPECT_TRUE(Choose(assembler, Kernel(160, 1, note)) == (programs == 132 ? large_ : small_));
    EXPECT_EQ(assembler.asked, programs == 132 ? 0 : 1);
  }
}

// The code may grow by a sixteenth where all warps have a quarter more on its way.
TEST_F(AllWarps, OfALoopWhoseCodeGrowsWhereTheyLoadMore) {
  info_.rates.memory_bytes = 1 << 20;
  info_.rates.memory_latency = 700;
  auto binary = [&](int loads, int held, int stores) {
    std::string end;
    for (int i = 0; i < stores; ++i) absl::StrAppend(&end, "st.volatile.global.f32 [%rd1], %s;\n");
    return Binary(
        absl::StrReplaceAll(LoopThatLoads(loads, true, "sm_90a", held), {{"ret;\n", absl::StrCat(end, "ret;\n")}}));
  };
  const std::string text = Kernel(60, 1, absl::StrCat(kAllWarpsNote, ".minnctapersm 8\n"));
  const std::string once = binary(2, /*held=*/24, 300);
  TwoBinaries grows(once, binary(2, 8, 340), /*blocks=*/16), more(once, binary(2, 8, 370), 16);
  TwoBinaries loads_less(once, binary(1, 8, 345), 16);
  EXPECT_FALSE(Choose(grows, text, /*num_warps=*/4) == once);
  EXPECT_TRUE(Choose(more, text, 4) == once);
  EXPECT_TRUE(Choose(loads_less, text, 4) == once);
}

// Three blocks of four warps become four. What they store is stored before the loop.
TEST_F(AllWarps, OrOneBlockMoreThatStoresLittleWhereWarpsAreFew) {
  const std::string text = KernelWithProducts(126, 1, kAllWarpsNote);
  const std::string three = Binary(KernelWithProducts(126, 1, ".maxnreg 168\n"));
  const std::string four = Binary(KernelWithProducts(126, 1, ".maxnreg 128\n"));
  ASSERT_GT(ResourcesOfCubin(three, "kernel").registers.value_or(0), 128);
  ASSERT_EQ(ResourcesOfCubin(three, "kernel").local_bytes.value_or(1), 0);
  ASSERT_GT(ResourcesOfCubin(four, "kernel").local_bytes.value_or(0), 0);
  ASSERT_LE(ResourcesOfCubin(four, "kernel").local_bytes.value_or(0), 32);
  TwoBinaries assembler(three, four, /*blocks=*/4);
  EXPECT_TRUE(Choose(assembler, text, /*num_warps=*/4) == four);
  info_.rates.issued_warps = 2;  // twelve warps are enough for these
  EXPECT_TRUE(Choose(assembler, text, /*num_warps=*/4) == three);
}

// Registers for 32 warps were asked for, and are too few.
TEST_F(AllWarps, FewerFitWhereValuesWouldBeStored) {
  const std::string stores = Binary(Kernel(90, 1, ".maxnreg 64\n")), all = Binary(Kernel(90, 1));
  ASSERT_GT(ResourcesOfCubin(stores, "kernel").local_bytes.value_or(0), 8);
  TwoBinaries assembler(all, stores, /*blocks=*/4);
  const std::string text = Kernel(90, 1, absl::StrCat(kAllWarpsNote, ".minnctapersm 4\n"));
  EXPECT_TRUE(Choose(assembler, text) == all);
}

// More registers were asked for, and the loops of the kernel do not need them.
TEST_F(AllWarps, OfLoopsThatLoadWhereTheCodeStays) {
  const auto registers = [](const std::string& binary) {
    return ResourcesOfCubin(binary, "kernel").registers.value_or(0);
  };
  const std::string text = Kernel(24, 1, absl::StrCat(kAllWarpsNote, ".minnctapersm 4\n"));
  const std::string few_more = Binary(Kernel(33, 1, ".maxnreg 36\n")), many_more = Binary(Kernel(50, 1));
  const std::string few = Binary(Kernel(24, 1)), longer = Binary(Kernel(20, 2));
  ASSERT_GT(registers(few_more), 32);
  ASSERT_LE(registers(few_more), 36);
  ASSERT_GT(registers(many_more), 48);
  TwoBinaries stays(few_more, few, /*blocks=*/8), grows(few_more, longer, 8), needs(many_more, few, 8);
  EXPECT_TRUE(Choose(stays, text) == few);
  EXPECT_TRUE(Choose(grows, text) == few_more);
  EXPECT_EQ(grows.asked, 1);
  EXPECT_TRUE(Choose(needs, text) == many_more);
  EXPECT_EQ(needs.asked, 0);
  // It is the bytes alone that make the difference.
  TwoBinaries others(few_more, longer, 8);
  EXPECT_TRUE(Choose(others, Kernel(24, 1, kAllWarpsNote)) == longer);
}

// One block has a few registers more than two blocks leave; the large binary has far too many.
TEST_F(AllWarps, OrTwiceTheBlocksFit) {
  const std::string one = Binary(Kernel(130, 1, ".maxnreg 152\n")), stores = Binary(Kernel(130, 1, ".maxnreg 128\n"));
  ASSERT_GT(ResourcesOfCubin(one, "kernel").registers.value_or(0), 128);
  ASSERT_GT(ResourcesOfCubin(stores, "kernel").local_bytes.value_or(0), 0);
  TwoBinaries assembler(one, small_), far(large_, small_), grows(large_, long_), spills(one, stores);
  EXPECT_TRUE(Choose(assembler, Kernel(110, 1, kAllWarpsNote)) == small_);
  // Without loops, what a thread stores is traffic that nothing pays for.
  EXPECT_TRUE(Choose(spills, Kernel(110, 1, kAllWarpsNote)) == one);
  // Of large blocks, also where the registers are more than a quarter too many.
  EXPECT_TRUE(Choose(far, Kernel(160, 1, kAllWarpsNote)) == small_);
  EXPECT_TRUE(Choose(grows, Kernel(160, 1, kAllWarpsNote)) == large_);
  // A block that is alone gets company, unless a thread stores more than a few values then.
  const std::string most = Binary(Kernel(200, 1)), much = Binary(Kernel(200, 1, ".maxnreg 128\n"));
  ASSERT_GT(ResourcesOfCubin(much, "kernel").local_bytes.value_or(0), 32);
  TwoBinaries farther(most, small_), stores_much(most, much);
  EXPECT_TRUE(Choose(farther, Kernel(200, 1, kAllWarpsNote)) == small_);
  EXPECT_TRUE(Choose(stores_much, Kernel(200, 1, kAllWarpsNote)) == most);
}

TEST_F(AllWarps, OfABlockThatIsAloneMayStoreTheMoreTheMoreTheyLoad) {
  const std::string alone = Binary(LoopThatLoads(4, false, "sm_90a", /*held=*/200));
  const std::string stores = Binary(absl::StrReplaceAll(LoopThatLoads(4, true, "sm_90a", /*held=*/120),
                                                        {{".reqntid 256\n", ".reqntid 256\n.maxnreg 128\n"}}));
  ASSERT_GT(ResourcesOfCubin(stores, "kernel").local_bytes.value_or(0), 32);
  TwoBinaries more(alone, stores);
  EXPECT_TRUE(Choose(more, Kernel(200, 1, kAllWarpsNote)) == stores);
}

// Code without loops stores 28 bytes. Memory has to deliver what two blocks load at once.
TEST_F(AllWarps, OfABlockThatIsAloneMayStoreAFewValuesOnceForFarMoreLoads) {
  std::string others;
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&others, "st.volatile.global.f32 [%rd1], %s;\n");
  auto padded = [&](const std::string& text) {
    return Binary(absl::StrReplaceAll(text, {{"ret;\n", absl::StrCat(others, "ret;\n")}}));
  };
  const std::string alone = padded(CodeThatLoads(12, false, "sm_90a", /*held=*/120));
  const std::string two =
      padded(absl::StrReplaceAll(CodeThatLoads(8, true, "sm_90a", /*held=*/122), {{"256\n{", "256\n.maxnreg 128\n{"}}));
  ASSERT_GT(ResourcesOfCubin(alone, "kernel").registers.value_or(0), 128);
  ASSERT_GT(ResourcesOfCubin(two, "kernel").local_bytes.value_or(0), 8);
  ASSERT_LE(ResourcesOfCubin(two, "kernel").local_bytes.value_or(99), 32);
  TwoBinaries assembler(alone, two);
  EXPECT_TRUE(Choose(assembler, Kernel(200, 1, kAllWarpsNote)) == two);
  info_.multiprocessors = 1;
  info_.rates.memory_bytes = 16;
  info_.rates.memory_latency = 100;
  EXPECT_TRUE(Choose(assembler, Kernel(200, 1, kAllWarpsNote)) == alone);
}

// With four blocks of 16 warps each load waits for the one before.
TEST_F(AllWarps, OneBlockLessThatLoadsMoreAtOnce) {
  const std::string alone = OneByOne(), at_once = Binary(LoopThatLoads(4, true, "sm_90a", /*held=*/14));
  ASSERT_NE(alone, "");
  ASSERT_NE(at_once, "");
  const std::string text = Kernel(24, 1, absl::StrCat(kAllWarpsNote, "// loads 64 bytes at once\n"));
  TwoBinaries more(alone, at_once, /*blocks=*/3), unknown(alone, at_once, 3), same(at_once, alone, 3);
  EXPECT_TRUE(Choose(more, text, /*num_warps=*/16) == at_once);
  EXPECT_TRUE(Choose(unknown, Kernel(24, 1, kAllWarpsNote), /*num_warps=*/16) == alone);
  EXPECT_EQ(unknown.asked, 0);
  EXPECT_TRUE(Choose(same, text, /*num_warps=*/16) == at_once);
  EXPECT_EQ(same.asked, 0);
  // The text says what one iteration loads. The assembler has unrolled the loop.
  TwoBinaries unrolled(alone, at_once, /*blocks=*/3);
  const std::string one_load = absl::StrCat(kAllWarpsNote, "// loads 16 bytes at once\n");
  EXPECT_TRUE(Choose(unrolled, Kernel(24, 1, one_load), /*num_warps=*/16) == at_once);
  // The registers of as many blocks are enough.
  TwoBinaries as_many(alone, at_once, /*blocks=*/4);
  EXPECT_TRUE(Choose(as_many, text, /*num_warps=*/16) == at_once);
  EXPECT_EQ(as_many.asked, 1);
  EXPECT_EQ(as_many.plain, 1);
  // The text asks for four blocks, which is one too many.
  TwoBinaries fewer(alone, at_once, /*blocks=*/3);
  const std::string asks = absl::StrCat(kAllWarpsNote, "// loads 64 bytes at once\n.minnctapersm 4\n");
  EXPECT_TRUE(Choose(fewer, Kernel(24, 1, asks), /*num_warps=*/16) == at_once);
  EXPECT_EQ(fewer.plain, 1);
}

// Blocks of four warps that keep one load of 16 bytes on its way: 16 of them leave a thread 32 registers.
TEST_F(AllWarps, OfAKernelThatLoadsLittleAtOnce) {
  info_.rates.memory_latency = 700;
  info_.rates.clock = 1.8;
  const std::string some = Binary(LoopThatLoads(1, true, "sm_90a", /*held=*/24)),
                    many = Binary(LoopThatLoads(1, true, "sm_90a", /*held=*/60)),
                    few = Binary(LoopThatLoads(1, true, "sm_90a", /*held=*/8));
  auto text = [](int loads) {
    return Kernel(60, 1, absl::StrCat(kAllWarpsNote, "// loads ", loads, " bytes at once\n.minnctapersm 8\n"));
  };
  TwoBinaries all(some, few, /*blocks=*/16), is_far(many, few, 16);
  EXPECT_TRUE(Choose(all, text(16), /*num_warps=*/4) == few);
  EXPECT_TRUE(Choose(is_far, text(16), /*num_warps=*/4) == many);
  EXPECT_EQ(is_far.asked, 0);
}

// Two blocks of 32 warps, of which each has 16 KiB on its way, have enough where memory delivers 6 KB until it answers.
TEST_F(AllWarps, ASecondBlockOfThoseThatLoadEnough) {
  const std::string alone = Binary(LoopThatLoads(4, true, "sm_90a", /*held=*/16)), two = OneByOne();
  auto chosen = [&](const std::string& first, const std::string& second, int blocks) {
    TwoBinaries assembler(first, second, blocks);
    const std::string loads = absl::StrCat(kAllWarpsNote, "// loads 64 bytes at once\n");
    return Choose(assembler, Kernel(24, 1, loads), /*num_warps=*/32);
  };
  ASSERT_GT(ResourcesOfCubin(alone, "kernel").registers.value_or(0), 32);
  ASSERT_LE(ResourcesOfCubin(two, "kernel").registers.value_or(99), 32);
  // What memory delivers is not known.
  EXPECT_TRUE(chosen(alone, two, /*blocks=*/2) == alone);
  EXPECT_TRUE(chosen(two, alone, /*blocks=*/1) == alone);
  info_.multiprocessors = 132;
  info_.rates.memory_bytes = 1200;
  info_.rates.memory_latency = 700;
  EXPECT_TRUE(chosen(alone, two, /*blocks=*/2) == two);
  EXPECT_TRUE(chosen(two, alone, /*blocks=*/1) == two);
}

// Fifteen blocks of four warps leave a thread 32 registers, as sixteen do. Twelve leave 40.
TEST_F(AllWarps, SeveralBlocksLessWhereMemoryIsNotBusy) {
  const std::string alone = OneByOne(), at_once = Binary(LoopThatLoads(4, true, "sm_90a", /*held=*/14));
  ASSERT_GT(ResourcesOfCubin(at_once, "kernel").registers.value_or(0), 32);
  ASSERT_LE(ResourcesOfCubin(at_once, "kernel").registers.value_or(99), 40);
  const std::string text = Kernel(24, 1, absl::StrCat(kAllWarpsNote, "// loads 64 bytes at once\n"));
  info_.multiprocessors = 1;
  info_.rates.memory_bytes = 16;
  for (const bool is_busy : {false, true}) {
    info_.rates.memory_latency = is_busy ? 1024 : 10240;
    TwoBinaries twelve(alone, at_once, /*blocks=*/12), in_vain(alone, alone, 12);
    EXPECT_TRUE(Choose(twelve, text, /*num_warps=*/4) == (is_busy ? alone : at_once));
    EXPECT_TRUE(Choose(in_vain, text, 4) == alone);
    EXPECT_EQ(twelve.asked, is_busy ? 0 : 1);
  }
}

TEST_F(AllWarps, AreAssembledOnceForEachNumberOfRegisters) {
  const std::string alone = Binary(LoopThatLoads(4, false, "sm_90a"));
  const std::string text = Kernel(24, 1, absl::StrCat(kAllWarpsNote, "// loads 64 bytes at once\n"));
  // Fifteen blocks of four warps leave a thread 32 registers, as sixteen do.
  TwoBinaries sixteen(alone, alone, /*blocks=*/16), fifteen(alone, alone, 15);
  EXPECT_TRUE(Choose(sixteen, text, /*num_warps=*/4) == alone);
  EXPECT_TRUE(Choose(fifteen, text, /*num_warps=*/4) == alone);
  EXPECT_EQ(sixteen.asked, 1);
  EXPECT_EQ(fifteen.asked, 0);
  // Asked for as all warps, and then for what it loads at once.
  TwoBinaries all(Binary(Kernel(35, 1)), alone, /*blocks=*/8);
  EXPECT_TRUE(Choose(all, text) == alone);
  EXPECT_EQ(all.asked, 1);
}

// Without a loop, a thread that loads a long row waits as often as in one.
TEST_F(AllWarps, FewerOfCodeThatWaitsManyTimes) {
  const std::string one_by_one = OneByOne(32, /*loads=*/32, /*loops=*/false),
                    at_once = Binary(CodeThatLoads(32, true, "sm_90a"));
  auto text = [](int loads) {
    return Kernel(24, 1, absl::StrCat(kAllWarpsNote, "// loads ", loads, " bytes at once\n"));
  };
  const std::string others = OneByOne(40, 32, false);
  TwoBinaries row(one_by_one, at_once, /*blocks=*/4, others), piece(one_by_one, at_once, 4, others);
  EXPECT_TRUE(Choose(row, text(512)) == at_once);
  EXPECT_TRUE(Choose(piece, text(256)) == one_by_one);
  EXPECT_EQ(piece.asked, 0);
}

// Without loops, all that a kernel loads is what one iteration loads elsewhere.
TEST_F(AllWarps, OfAllRegistersWhereTheCodeThenWaitsOnce) {
  const std::string alone = Binary(CodeThatLoads(4, false, "sm_90a")),
                    at_once = Binary(CodeThatLoads(4, true, "sm_90a"));
  ASSERT_NE(alone, "");
  ASSERT_NE(at_once, "");
  const std::string text = Kernel(24, 1, absl::StrCat(kAllWarpsNote, "// loads 64 bytes at once\n"));
  TwoBinaries more(alone, at_once, /*blocks=*/8), less(at_once, alone, /*blocks=*/8);
  EXPECT_TRUE(Choose(more, text) == at_once);
  EXPECT_TRUE(Choose(less, text) == at_once);
  EXPECT_EQ(less.asked, 0);
  // Blocks of 16 warps, of which one less would leave more registers.
  TwoBinaries fewer(alone, at_once, /*blocks=*/3);
  EXPECT_TRUE(Choose(fewer, text, /*num_warps=*/16) == alone);
  EXPECT_EQ(fewer.asked, 0);
}

// Four loads need one another, whatever registers there are.
TEST_F(AllWarps, NoOtherBlocksWhereLoadsFollowOneAnother) {
  const std::string one_by_one = Binary(CodeThatLoads(4, false, "sm_90a")),
                    at_once = Binary(CodeThatLoads(4, true, "sm_90a"));
  auto text = [](int waits) {
    return Kernel(
        24, 1,
        absl::StrCat(kAllWarpsNote, "// loads ", 64 / waits, " bytes at once\n// waits ", waits, " times for that\n"));
  };
  TwoBinaries four(one_by_one, at_once, /*blocks=*/8), two(one_by_one, at_once, 8);
  EXPECT_TRUE(Choose(four, text(4)) == one_by_one);
  EXPECT_TRUE(Choose(two, text(2)) == at_once);
  EXPECT_EQ(four.asked, 0);
}

// A thread of the four blocks that the text asks for may have 128 registers, and takes a quarter of them.
TEST_F(AllWarps, NoFewerRegistersThanTheTextLeftFree) {
  const std::string alone = Binary(CodeThatLoads(4, false, "sm_90a")),
                    at_once = Binary(CodeThatLoads(4, true, "sm_90a"));
  const std::string asks = absl::StrCat(kAllWarpsNote, "// loads 64 bytes at once\n.minnctapersm 4\n");
  TwoBinaries more(alone, at_once, /*blocks=*/16);
  EXPECT_TRUE(Choose(more, Kernel(24, 1, asks), /*num_warps=*/4) == alone);
  EXPECT_EQ(more.asked, 0);
}

// The text asks for eight blocks of four warps, and nine fit. A bound of these changes the order of the loads.
TEST_F(AllWarps, AlsoABoundThatFitsWhereCodeWaitsOften) {
  const std::string alone = Binary(CodeThatLoads(4, false, "sm_90a", /*held=*/40)),
                    at_once = Binary(CodeThatLoads(4, true, "sm_90a", 20));
  ASSERT_GT(ResourcesOfCubin(alone, "kernel").registers.value_or(0), 48);
  ASSERT_LE(ResourcesOfCubin(alone, "kernel").registers.value_or(99), 56);
  const std::string asks = absl::StrCat(kAllWarpsNote, "// loads 64 bytes at once\n.minnctapersm 8\n");
  TwoBinaries more(alone, at_once, /*blocks=*/9);
  EXPECT_TRUE(Choose(more, Kernel(24, 1, asks), /*num_warps=*/4) == at_once);
}

// A thread has a long row to load, and starts far more of it at once where half of the blocks fit.
TEST_F(AllWarps, HalfOfTheBlocksThatLoadFarMoreAtOnce) {
  const std::string little = OneByOne(), others = OneByOne(40), much = Binary(LoopThatLoads(8, true, "sm_90a"));
  TwoBinaries row(little, much, /*blocks=*/4, others), piece(little, much, 4, others),
      no_more(little, little, 4, others);
  TwoBinaries wants_no_more(little, much, /*blocks=*/4);
  const std::string long_row = absl::StrCat(kAllWarpsNote, "// loads 512 bytes at once\n");
  EXPECT_TRUE(Choose(row, Kernel(24, 1, long_row)) == much);
  EXPECT_TRUE(Choose(piece, Kernel(24, 1, absl::StrCat(kAllWarpsNote, "// loads 256 bytes at once\n"))) == little);
  EXPECT_EQ(piece.asked, 0);
  EXPECT_TRUE(Choose(no_more, Kernel(24, 1, long_row)) == little);
  EXPECT_EQ(no_more.asked, 1);
  // It could take 40 registers, and takes 32.
  EXPECT_TRUE(Choose(wants_no_more, Kernel(24, 1, long_row)) == little);
  EXPECT_EQ(wants_no_more.asked, 0);
}

// Of a long row, seven blocks of four warps load a sixth more at once than eight do.
TEST_F(AllWarps, NotOneBlockLessForMoreThanMemoryDelivers) {
  std::string loop = LoopThatLoads(4, false, "sm_90a", /*held=*/53);
  const std::string needs = "add.u64 %rd2, %rd2, %rd3;\n";
  loop.erase(loop.find(needs), needs.size());  // so that two of four loads start together
  const std::string alone = OneByOne(64), more = Binary(loop), much = Binary(LoopThatLoads(4, true, "sm_90a", 44));
  for (const std::string& binary : {more, much}) {
    ASSERT_GT(ResourcesOfCubin(binary, "kernel").registers.value_or(0), 64);
    ASSERT_LE(ResourcesOfCubin(binary, "kernel").registers.value_or(99), 72);
  }
  const std::string text = Kernel(24, 1, absl::StrCat(kAllWarpsNote, "// loads 512 bytes at once\n"));
  info_.multiprocessors = 1;
  info_.rates.memory_bytes = 16;
  for (const bool is_busy : {false, true}) {
    info_.rates.memory_latency = is_busy ? 512 : 10240;
    EXPECT_TRUE(Choose(TwoBinaries(alone, more, /*blocks=*/7), text, /*num_warps=*/4) == (is_busy ? alone : more));
    EXPECT_TRUE(Choose(TwoBinaries(alone, much, 7), text, 4) == much);
  }
}

// Registers that were there before more blocks took them, and were of no use for that.
TEST_F(AllWarps, NoFewerBlocksWhereMoreRegistersLoadedNoMore) {
  const auto registers = [](const std::string& binary) {
    return ResourcesOfCubin(binary, "kernel").registers.value_or(0);
  };
  const std::string more = Binary(LoopThatLoads(4, false, "sm_90a", /*held=*/25)),
                    few = Binary(LoopThatLoads(4, false, "sm_90a", /*held=*/10));
  ASSERT_GT(registers(more), 32);
  ASSERT_LE(registers(more), 40);
  ASSERT_LE(registers(few), 32);
  TwoBinaries assembler(more, few, /*blocks=*/8);
  const std::string long_row = absl::StrCat(kAllWarpsNote, "// loads 512 bytes at once\n");
  EXPECT_TRUE(Choose(assembler, Kernel(24, 1, long_row)) == few);
  EXPECT_EQ(assembler.plain, 1);
}

// The assembler has unrolled the loop. Half of the blocks load twice as much at once, if memory delivers that.
TEST_F(AllWarps, HalfOfTheBlocksWhereMemoryDeliversMore) {
  const std::string little = OneByOne(), others = OneByOne(40),
                    much = Binary(LoopThatLoads(4, true, "sm_90a", /*held=*/36));
  const std::string text = Kernel(24, 1, absl::StrCat(kAllWarpsNote, "// loads 16 bytes at once\n"));
  info_.multiprocessors = 1;
  info_.rates.memory_bytes = 16;
  for (const bool delivers : {true, false}) {
    info_.rates.memory_latency = delivers ? 10240 : 1024;
    TwoBinaries half(little, much, /*blocks=*/2, others, /*all=*/4);
    EXPECT_TRUE(Choose(half, text, /*num_warps=*/16) == (delivers ? much : little));
    EXPECT_EQ(half.asked, 1);
  }
}

// No register lets loads start earlier that already start together.
TEST_F(AllWarps, NoOtherBlocksWhereAnIterationWaitsOnce) {
  const std::string together = Binary(LoopThatLoads(2, true, "sm_90a")),
                    more = Binary(LoopThatLoads(8, true, "sm_90a"));
  const std::string loads = absl::StrCat(kAllWarpsNote, "// loads 512 bytes at once\n");
  for (const int blocks : {4, 7, 8}) {
    TwoBinaries assembler(together, more, blocks);
    EXPECT_TRUE(Choose(assembler, Kernel(24, 1, loads)) == together);
    EXPECT_EQ(assembler.asked, 0);
  }
}

// Blocks of one warp, for which all registers were asked for.
TEST_F(AllWarps, OfOneWarpKeepTheRegistersOfTheAssemblerWhereMoreAreOfNoUse) {
  const std::string text = Kernel(160, 1, absl::StrCat(kAllWarpsNote, ".minnctapersm 8\n"));
  TwoBinaries own(small_, large_, /*blocks=*/8), longer(long_, large_, 8);
  EXPECT_TRUE(Choose(own, text, /*num_warps=*/1) == small_);
  EXPECT_TRUE(Choose(longer, text, /*num_warps=*/1) == large_);
  const std::string alone = Binary(LoopThatLoads(4, false, "sm_90a")),
                    at_once = Binary(LoopThatLoads(4, true, "sm_90a"));
  TwoBinaries loads_less(alone, at_once, /*blocks=*/8);
  EXPECT_TRUE(Choose(loads_less, text, /*num_warps=*/1) == at_once);
  // Registers keep no block out.
  const std::string few = Binary(Kernel(40, 1));
  TwoBinaries fits(alone, few, /*blocks=*/8);
  EXPECT_TRUE(Choose(fits, text, /*num_warps=*/1) == few);
  EXPECT_EQ(fits.plain, 0);
}

}  // namespace
}  // namespace tritond::compiler::nvidia
