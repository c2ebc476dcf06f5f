// SPDX-License-Identifier: Apache-2.0
// The contract, where there is a CUDA device; it brings its kernels as PTX text. And what happens where there is none.
#include "workers/device/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/device_contract.h"
#include "workers/device/devices.h"

namespace tritond::workers {
namespace {

// The parts that every kernel below has: its program's index in %r9, its thread's in %r4.
constexpr char kRegisters[] = R"(
  .reg .pred %p<2>; .reg .b16 %h<3>; .reg .b32 %r<20>; .reg .b64 %l<12>; .reg .f32 %f<4>; .reg .f64 %d<8>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z; mov.u32 %r4, %tid.x;
  mov.u32 %r5, %nctaid.x; mov.u32 %r6, %nctaid.y;
  mad.lo.s32 %r9, %r3, %r6, %r2; mad.lo.s32 %r9, %r9, %r5, %r1;
)";

std::string ContractKernels() {
  return absl::StrCat(R"(.version 7.8
.target sm_75
.address_size 64
.extern .shared .align 16 .b8 smem[];
.visible .entry vector_add(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 n, .param .u64 g, .param .u64 p) {)",
                      kRegisters, R"(
  mad.lo.s32 %r10, %r1, 64, %r4; ld.param.u32 %r11, [n]; setp.ge.s32 %p1, %r10, %r11; @%p1 ret;
  ld.param.u64 %l1, [a]; ld.param.u64 %l2, [b]; ld.param.u64 %l3, [out]; mul.wide.s32 %l4, %r10, 4;
  add.s64 %l1, %l1, %l4; add.s64 %l2, %l2, %l4; add.s64 %l3, %l3, %l4;
  ld.global.f32 %f1, [%l1]; ld.global.f32 %f2, [%l2]; add.f32 %f3, %f1, %f2; st.global.f32 [%l3], %f3; ret; }
.visible .entry count_programs(.param .u64 out, .param .u64 g, .param .u64 p) {)",
                      kRegisters, R"(
  setp.ne.s32 %p1, %r4, 0; @%p1 ret;
  ld.param.u64 %l1, [out]; mul.wide.s32 %l2, %r9, 4; add.s64 %l1, %l1, %l2;
  ld.global.u32 %r10, [%l1]; add.s32 %r10, %r10, %r9; add.s32 %r10, %r10, 1; st.global.u32 [%l1], %r10; ret; }
.visible .entry store_scalars(.param .u64 out, .param .s8 a, .param .s16 b, .param .s32 c, .param .s64 d, .param .f32 e,
                              .param .f64 f, .param .u64 g, .param .u64 p) {)",
                      kRegisters, R"(
  setp.ne.s32 %p1, %r4, 0; @%p1 ret;
  ld.param.u64 %l1, [out]; ld.param.s8 %h1, [a]; ld.param.s16 %h2, [b]; ld.param.s32 %r10, [c]; ld.param.s64 %l2, [d];
  ld.param.f32 %f1, [e]; ld.param.f64 %d6, [f];
  cvt.rn.f64.s16 %d1, %h1; cvt.rn.f64.s16 %d2, %h2; cvt.rn.f64.s32 %d3, %r10; cvt.rn.f64.s64 %d4, %l2;
  cvt.f64.f32 %d5, %f1;
  st.global.f64 [%l1], %d1; st.global.f64 [%l1+8], %d2; st.global.f64 [%l1+16], %d3; st.global.f64 [%l1+24], %d4;
  st.global.f64 [%l1+32], %d5; st.global.f64 [%l1+40], %d6; ret; }
.visible .entry use_scratch(.param .u64 out, .param .u64 g, .param .u64 p) {)",
                      kRegisters, R"(
  ld.param.u64 %l1, [out]; ld.param.u64 %l2, [g]; mul.wide.s32 %l3, %r9, 64; add.s64 %l2, %l2, %l3;
  rem.s32 %r10, %r4, 16; mul.wide.s32 %l4, %r10, 4; add.s64 %l4, %l2, %l4; mad.lo.s32 %r11, %r9, 100, %r10;
  st.global.u32 [%l4], %r11; bar.sync 0; setp.ne.s32 %p1, %r4, 0; @%p1 ret;
  ld.global.u32 %r12, [%l2+60]; mul.wide.s32 %l5, %r9, 4; add.s64 %l1, %l1, %l5; st.global.u32 [%l1], %r12; ret; }
.visible .entry use_shared(.param .u64 out, .param .u64 g, .param .u64 p) {)",
                      kRegisters, R"(
  mov.u32 %r10, smem; mad.lo.s32 %r11, %r4, 4, %r10; mad.lo.s32 %r12, %r9, 100, %r4; st.shared.u32 [%r11], %r12;
  bar.sync 0; sub.s32 %r13, 63, %r4; mad.lo.s32 %r13, %r13, 4, %r10; ld.shared.u32 %r14, [%r13];
  ld.param.u64 %l1, [out]; mad.lo.s32 %r15, %r9, 64, %r4; mul.wide.s32 %l2, %r15, 4; add.s64 %l1, %l1, %l2;
  st.global.u32 [%l1], %r14; ret; }
)");
}

INSTANTIATE_TEST_SUITE_P(Cuda, DeviceContract,
                         testing::Values(DeviceMaker{"cuda", [] { return OpenDevice("cuda:0"); }, ContractKernels,
                                                     "cuda:"}));

TEST(CudaDevice, WithoutADriverThereIsNone) {
  const auto device = OpenCudaDevice(0, "libno_such_driver.so.1");
  EXPECT_EQ(device.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(device.status().message()), testing::HasSubstr("libno_such_driver.so.1"));
  EXPECT_EQ(CountCudaDevices("libno_such_driver.so.1").status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(CudaDevice, ALibraryThatIsNoDriverIsRefused) {
  const auto device = OpenCudaDevice(0, "libm.so.6");
  EXPECT_EQ(device.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(device.status().message()), testing::HasSubstr("cuInit"));
}

TEST(CudaDevice, EveryNamedDeviceOpens) {
  for (const std::string& name : DeviceNames()) {
    const auto device = OpenDevice(name);
    ASSERT_TRUE(device.ok()) << device.status();
    EXPECT_EQ((*device)->Name(), name);
  }
}

TEST(CudaDevice, IndicesBeyondTheLastAreNotFound) {
  const auto count = CountCudaDevices();
  if (!count.ok()) GTEST_SKIP() << count.status();
  EXPECT_EQ(OpenCudaDevice(*count).status().code(), absl::StatusCode::kNotFound);
}

TEST(CudaDevice, TooMuchSharedMemoryIsRefusedAtLoad) {
  auto device = OpenCudaDevice(0);
  if (!device.ok()) GTEST_SKIP() << device.status();
  KernelInfo info;
  info.name = "count_programs";
  info.shared = 1 << 20;
  EXPECT_EQ((*device)->Load(ContractKernels(), info).status().code(), absl::StatusCode::kResourceExhausted);
  info.shared = 64 << 10;
  info.num_warps = 2;
  const auto kernel = (*device)->Load(ContractKernels(), info);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const Buffer out = MakeBuffer(**device, std::vector<int32_t>(2, 0));
  const absl::Status launched = (*device)->Launch(**kernel, Grid{2}, {Argument::Pointer(out)});
  EXPECT_TRUE(launched.ok()) << launched;
}

}  // namespace
}  // namespace tritond::workers
