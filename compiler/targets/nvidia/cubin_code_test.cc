// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/cubin_code.h"

#include "absl/strings/str_cat.h"
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
  // what was loaded before it.
  CubinCode Loop(int loads, bool at_once) {
    std::string body, sums;
    for (int load = 0; load < loads; ++load) {
      const std::string name = absl::StrCat("%f", 4 * load), address = absl::StrCat(16 * load);
      absl::StrAppend(&body, "ld.volatile.global.v4.f32 {", name);
      for (int i = 1; i < 4; ++i) absl::StrAppend(&body, ", %f", 4 * load + i);
      absl::StrAppend(&body, "}, [%rd2+", address, "];\n");
      const std::string sum = absl::StrCat("add.f32 %s, %s, ", name, ";\n");
      absl::StrAppend(at_once ? &sums : &body, sum);
      if (!at_once) absl::StrAppend(&body, "cvt.rzi.u64.f32 %rd3, %s;\nadd.u64 %rd2, %rd2, %rd3;\n");
    }
    const std::string text = absl::StrCat(
        ".version 8.0\n.target sm_", GetParam(),
        "\n.address_size 64\n.visible .entry kernel(.param .u64 a, .param .u32 n)\n.reqntid 128\n",
        "{\n.reg .b64 %rd<4>;\n.reg .pred %p;\n.reg .b32 %r<3>;\n.reg .f32 %s;\n.reg .f32 %f<", 4 * loads,
        ">;\nld.param.u64 %rd1, [a];\nld.param.u32 %r1, [n];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r2, 0;\n",
        "mov.f32 %s, 0f00000000;\nloop:\n.pragma \"nounroll\";\n", body, sums,
        "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p, %r2, %r1;\n", "@%p bra loop;\nst.global.f32 [%rd1], %s;\nret;\n}\n");
    AssembleOptions options;
    options.arch = absl::StrCat("sm_", GetParam());
    auto binary = (*Toolchain::ForConfig(TargetConfig())->GetAssembler())->Assemble(text, options);
    EXPECT_TRUE(binary.ok()) << binary.status();
    return binary.ok() ? CodeOfCubin(*binary, "kernel", GetParam()) : CubinCode();
  }
};

TEST_P(CubinCodeTest, LoadsThatNothingWaitsForAreOneRound) {
  EXPECT_EQ(Loop(4, /*at_once=*/true).AtOnce(), 64);
  EXPECT_EQ(Loop(2, /*at_once=*/true).AtOnce(), 32);
}

TEST_P(CubinCodeTest, ALoadWhoseAddressNeedsAnotherOneIsARound) { EXPECT_EQ(Loop(4, /*at_once=*/false).AtOnce(), 16); }

TEST_P(CubinCodeTest, NothingIsKnownOfOtherBytes) {
  EXPECT_EQ(CodeOfCubin("no cubin", "kernel", GetParam()).bytes, 0);
  EXPECT_EQ(CodeOfCubin("", "kernel", GetParam()).AtOnce(), 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, CubinCodeTest, testing::Values(80, 90));

}  // namespace
}  // namespace tritond::compiler::nvidia
