// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/cubin_code.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/targets/nvidia/test_loop.h"
#include "compiler/targets/nvidia/toolchain.h"
#include "gtest/gtest.h"

namespace tritond::compiler::nvidia {
namespace {

// Of devices with either form of branches.
class CubinCodeTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    auto assembler = Toolchain::ForConfig(TargetConfig())->GetAssembler();
    if (!assembler.ok()) GTEST_SKIP() << assembler.status();
  }

  // Of a kernel with a loop that loads 16 bytes so many times an iteration: at once, or each at an address that needs
  // what was loaded before it. Does `also`, besides.
  CubinCode Loop(int loads, bool at_once, absl::string_view also = "") {
    AssembleOptions options;
    options.arch = absl::StrCat("sm_", GetParam());
    auto binary = (*Toolchain::ForConfig(TargetConfig())->GetAssembler())
                      ->Assemble(absl::StrReplaceAll(LoopThatLoads(loads, at_once, options.arch),
                                                     {{"add.u32 %r1,", absl::StrCat(also, "add.u32 %r1,")}}),
                                 options);
    EXPECT_TRUE(binary.ok()) << binary.status();
    return binary.ok() ? CodeOfCubin(*binary, "kernel", GetParam()) : CubinCode();
  }

  // The same without the loop.
  CubinCode Code(int loads, bool at_once, absl::string_view after = "") {
    AssembleOptions options;
    options.arch = absl::StrCat("sm_", GetParam());
    auto binary = (*Toolchain::ForConfig(TargetConfig())->GetAssembler())
                      ->Assemble(absl::StrReplaceAll(CodeThatLoads(loads, at_once, options.arch),
                                                     {{"ret;\n", absl::StrCat(after, "ret;\n")}}),
                                 options);
    EXPECT_TRUE(binary.ok()) << binary.status();
    return binary.ok() ? CodeOfCubin(*binary, "kernel", GetParam()) : CubinCode();
  }
};

TEST_P(CubinCodeTest, LoadsThatNothingWaitsForAreOnTheirWayTogether) {
  EXPECT_NEAR(Loop(4, /*at_once=*/true).AtOnce(), 64, 6);
  EXPECT_NEAR(Loop(2, /*at_once=*/true).AtOnce(), 32, 3);
}

TEST_P(CubinCodeTest, ALoadWhoseAddressNeedsAnotherOneIsAlone) {
  EXPECT_NEAR(Loop(4, /*at_once=*/false).AtOnce(), 16, 1);
}

TEST_P(CubinCodeTest, AnIterationThatWaitsMoreThanOnceTakesLongerThanItHasTo) {
  const CubinCode once = Loop(4, /*at_once=*/true), often = Loop(4, /*at_once=*/false);
  EXPECT_NEAR(once.latencies, once.least_latencies, 0.05);
  EXPECT_NEAR(often.latencies, often.least_latencies + 3, 0.2);
}

TEST_P(CubinCodeTest, CodeWithoutLoopsRunsOnce) {
  const CubinCode once = Code(4, /*at_once=*/true), often = Code(4, /*at_once=*/false);
  EXPECT_EQ(once.loop_bytes, 0);
  EXPECT_EQ(once.loaded, 64);
  EXPECT_NEAR(once.AtOnce(), 64, 6);
  EXPECT_NEAR(often.AtOnce(), 16, 1);
}

// Threads that store what they have end there. The others load again.
TEST_P(CubinCodeTest, EachWayThroughTheCodeCountsByItself) {
  std::string stores;
  for (int i = 1; i <= 16; ++i) absl::StrAppend(&stores, "st.volatile.global.f32 [%rd1+", 4 * i, "], %s;\n");
  const CubinCode one = Code(4, /*at_once=*/true);
  const CubinCode two = Code(4, /*at_once=*/true,
                             absl::StrCat("setp.gt.f32 %p, %s, 0f00000000;\n@%p bra other;\n", stores,
                                          "ret;\nother:\nld.volatile.global.f32 %s, [%rd2+64];\n", stores));
  EXPECT_EQ(one.ways, 1);
  EXPECT_EQ(two.ways, 2);
  EXPECT_EQ(two.loaded, 68);
  EXPECT_NEAR(two.latencies, two.least_latencies, 0.2);
}

TEST_P(CubinCodeTest, BarriersOfLoopsAreCounted) {
  EXPECT_EQ(Loop(1, /*at_once=*/true).barriers, 0);
  EXPECT_EQ(Loop(1, /*at_once=*/true, "bar.sync 0;\n").barriers, 1);
}

TEST_P(CubinCodeTest, SpecialRegistersThatLoopsReadAreCounted) {
  const std::string reads = "{\n.reg .b32 %q;\nmov.u32 %q, %smid;\nst.volatile.global.u32 [%rd1], %q;\n}\n";
  EXPECT_EQ(Loop(1, /*at_once=*/true).specials, 0);
  EXPECT_EQ(Loop(1, /*at_once=*/true, reads).specials, 1);
  EXPECT_EQ(Code(1, /*at_once=*/true, reads).specials, 0);
}

TEST_P(CubinCodeTest, AccessesToLocalMemoryAreCountedInLoopsIfThereAreAny) {
  const std::string array =
      "{\n.local .b32 a[64];\n.reg .b32 %q<3>;\nand.b32 %q0, %r1, 60;\nmov.u32 %q1, a;\nadd.u32 %q1, %q1, %q0;\n"
      "st.local.u32 [%q1], %r1;\nxor.b32 %q1, %q1, 4;\nld.local.u32 %q2, [%q1];\nst.volatile.global.u32 [%rd1], "
      "%q2;\n}\n";
  EXPECT_EQ(Loop(1, /*at_once=*/true).locals, 0);
  EXPECT_EQ(Loop(1, /*at_once=*/true, array).locals, 2);
  EXPECT_EQ(Code(1, /*at_once=*/true, array).locals, 2);
}

// Eight products of mma, of which so many begin sums of their own.
std::string Products(int sums) {
  std::string text = "{\n.reg .f32 %m<32>;\n.reg .b32 %h<6>;\n";
  for (int i = 0; i < 6; ++i) absl::StrAppend(&text, "ld.volatile.global.u32 %h", i, ", [%rd2+", 4 * i, "];\n");
  for (int i = 0; i < 4 * sums; ++i) absl::StrAppend(&text, "mov.f32 %m", i, ", 0f00000000;\n");
  for (int i = 0; i < 8; ++i) {
    const int at = i % sums * 4;
    const std::string sum = absl::StrCat("{%m", at, ", %m", at + 1, ", %m", at + 2, ", %m", at + 3, "}");
    absl::StrAppend(&text, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ", sum,
                    ", {%h0, %h1, %h2, %h3}, {%h4, %h5}, ", sum, ";\n");
  }
  for (int i = 0; i < 4 * sums; ++i) absl::StrAppend(&text, "st.volatile.global.f32 [%rd2+", 4 * i, "], %m", i, ";\n");
  return absl::StrCat(text, "}\n");
}

TEST_P(CubinCodeTest, ProductsThatAddToTheOneBeforeTakeLonger) {
  const CubinCode one = Loop(1, /*at_once=*/true, Products(1)), four = Loop(1, /*at_once=*/true, Products(4));
  EXPECT_GE(four.product_bytes, 8 * 16);
  EXPECT_GT(one.product_cycles * four.product_bytes, 1.2 * four.product_cycles * one.product_bytes);
  EXPECT_EQ(Loop(1, /*at_once=*/true).product_bytes, 0);
}

// A product of mma whose operand comes from shared memory, by so many reads of which each needs the one before.
std::string ProductOfReads(int reads) {
  std::string text = "{\n.shared .b32 words[8];\n.reg .f32 %m<4>;\n.reg .b32 %h<1>;\nmov.u32 %h0, words;\n";
  for (int i = 0; i < 4; ++i) absl::StrAppend(&text, "mov.f32 %m", i, ", 0f00000000;\n");
  for (int i = 0; i < reads; ++i) absl::StrAppend(&text, "ld.volatile.shared.u32 %h0, [%h0];\n");
  absl::StrAppend(&text,
                  "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%m0, %m1, %m2, %m3}, {%h0, %h0, %h0, %h0}, ",
                  "{%h0, %h0}, {%m0, %m1, %m2, %m3};\n");
  for (int i = 0; i < 4; ++i) absl::StrAppend(&text, "st.volatile.global.f32 [%rd2+", 4 * i, "], %m", i, ";\n");
  return absl::StrCat(text, "}\n");
}

TEST_P(CubinCodeTest, ProductsWaitForReadsOfSharedMemory) {
  const CubinCode one = Loop(1, /*at_once=*/true, ProductOfReads(1)), nine = Loop(1, true, ProductOfReads(9));
  EXPECT_GE(nine.product_latency, one.product_latency + 8 * 25);
  EXPECT_LE(nine.product_bytes, one.product_bytes + 16 * 16);
}

TEST_P(CubinCodeTest, NothingIsKnownOfOtherBytes) {
  EXPECT_EQ(CodeOfCubin("no cubin", "kernel", GetParam()).bytes, 0);
  EXPECT_EQ(CodeOfCubin("", "kernel", GetParam()).AtOnce(), 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, CubinCodeTest, testing::Values(80, 90));

}  // namespace
}  // namespace tritond::compiler::nvidia
