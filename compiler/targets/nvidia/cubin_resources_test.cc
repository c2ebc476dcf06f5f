// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/codegen.h"
#include "gtest/gtest.h"

namespace tritond::compiler::nvidia {
namespace {

// A kernel with an array of 64 bytes that the assembler cannot keep in registers.
constexpr char kKernel[] = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 a, .param .u32 i)
{
.reg .b64 %rd<6>;
.reg .b32 %r<4>;
.local .align 4 .b8 array[64];
ld.param.u64 %rd1, [a];
cvta.to.global.u64 %rd2, %rd1;
ld.param.u32 %r1, [i];
mov.u64 %rd3, array;
mul.wide.u32 %rd4, %r1, 4;
add.u64 %rd5, %rd3, %rd4;
st.local.u32 [%rd5], %r1;
ld.local.u32 %r2, [array+4];
st.global.u32 [%rd2], %r2;
ret;
}
)";

class CubinResources : public testing::Test {
 protected:
  void SetUp() override {
    const std::shared_ptr<Toolchain> toolchain = Toolchain::ForConfig(TargetConfig());
    auto assembler = toolchain->GetAssembler();
    if (!assembler.ok()) GTEST_SKIP() << assembler.status();
    AssembleOptions options;
    options.arch = "sm_80";
    absl::StatusOr<std::string> cubin = (*assembler)->Assemble(kKernel, options);
    if (absl::IsFailedPrecondition(cubin.status())) GTEST_SKIP() << cubin.status();
    ASSERT_TRUE(cubin.ok()) << cubin.status();
    cubin_ = *std::move(cubin);
  }
  std::string cubin_;
};

TEST_F(CubinResources, TellsRegistersAndLocalMemory) {
  const BinaryResources resources = ResourcesOfCubin(cubin_, "kernel");
  ASSERT_TRUE(resources.registers.has_value());
  EXPECT_GE(*resources.registers, 4);
  EXPECT_LE(*resources.registers, 32);
  EXPECT_EQ(resources.local_bytes, 64);
}

TEST_F(CubinResources, TellsNothingOfAnotherKernel) {
  EXPECT_FALSE(ResourcesOfCubin(cubin_, "other").registers.has_value());
}

TEST_F(CubinResources, ReadsNothingOutsideOfACutFile) {
  for (size_t size = 0; size < cubin_.size(); size += 13) {
    const std::string cut = cubin_.substr(0, size);
    EXPECT_FALSE(ResourcesOfCubin(cut, "kernel").registers.has_value()) << size;
  }
}

}  // namespace
}  // namespace tritond::compiler::nvidia
