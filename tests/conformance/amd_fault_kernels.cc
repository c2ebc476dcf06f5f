// SPDX-License-Identifier: Apache-2.0
// Kernels for AMD's emulated devices: of LLVM IR, with instructions that kernels may hold whether or not lowering emits
// them, and compiled ones.
#include "absl/strings/str_cat.h"
#include "tests/conformance/fault_kernels.h"

namespace tritond::conformance {
namespace {

constexpr int kThreads = 256;

// out[i] = in[i ^ 256] + in[(i ^ 256) + 1024], of 1024 elements: two tiles go from global memory to LDS at once, and
// the first one is read while the second is on its way.
constexpr char kCopies[] = R"(
target triple = "amdgcn-amd-amdhsa"
@global_smem = external addrspace(3) global [0 x i8], align 16
define amdgpu_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, ptr addrspace(1) %s, ptr addrspace(1) %p) "tritond.kernel" {
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %mine = lshr i32 %tid, 6
  %wave = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %mine)
  %start = shl i32 %wave, 10
  %first = getelementptr i8, ptr addrspace(3) @global_smem, i32 %start
  %second = getelementptr i8, ptr addrspace(3) %first, i32 4096
  %bytes = shl i32 %tid, 4
  %from = getelementptr i8, ptr addrspace(1) %in, i32 %bytes
  %behind = getelementptr i8, ptr addrspace(1) %from, i32 4096
  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %from, ptr addrspace(3) %first, i32 16, i32 0, i32 0)
  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %behind, ptr addrspace(3) %second, i32 16, i32 0, i32 0)
  call void @llvm.amdgcn.s.waitcnt(i32 3953)
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %other = xor i32 %bytes, 1024
  %a = getelementptr i8, ptr addrspace(3) @global_smem, i32 %other
  %x = load <4 x float>, ptr addrspace(3) %a, align 16
  call void @llvm.amdgcn.s.waitcnt(i32 3952)
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %b = getelementptr i8, ptr addrspace(3) %a, i32 4096
  %y = load <4 x float>, ptr addrspace(3) %b, align 16
  %sum = fadd <4 x float> %x, %y
  %to = getelementptr i8, ptr addrspace(1) %out, i32 %bytes
  store <4 x float> %sum, ptr addrspace(1) %to, align 16
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare void @llvm.amdgcn.global.load.lds(ptr addrspace(1), ptr addrspace(3), i32, i32, i32)
declare void @llvm.amdgcn.s.waitcnt(i32)
declare void @llvm.amdgcn.s.barrier()
)";

// out[i] = 3 + in[i] + in[i - 1], the last one only within rows of 16 lanes, for i < 252. A buffer of 1000 bytes gives
// zeros behind its end, and one of 1008 drops what is stored there.
constexpr char kBuffers[] = R"(
target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, ptr addrspace(1) %s, ptr addrspace(1) %p) "tritond.kernel" {
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %source = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %in, i16 0, i64 1000, i32 159744)
  %target = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %out, i16 0, i64 1008, i32 159744)
  %offset = shl i32 %tid, 2
  %x = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) %source, i32 %offset, i32 0, i32 0)
  %y = call i32 @llvm.amdgcn.update.dpp.i32(i32 0, i32 %x, i32 273, i32 15, i32 15, i1 false)
  %z = add i32 %x, %y
  %lane = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %at = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %lane)
  %votes = icmp ult i32 %at, 3
  %ballot = call i64 @llvm.amdgcn.ballot.i64(i1 %votes)
  %count = call i64 @llvm.ctpop.i64(i64 %ballot)
  %three = trunc i64 %count to i32
  %r = add i32 %z, %three
  call void @llvm.amdgcn.raw.ptr.buffer.store.i32(i32 %r, ptr addrspace(8) %target, i32 %offset, i32 0, i32 0)
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)
declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)
declare i64 @llvm.amdgcn.ballot.i64(i1)
declare i64 @llvm.ctpop.i64(i64)
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32, i32, i32, i1)
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
declare i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8), i32, i32, i32)
declare void @llvm.amdgcn.raw.ptr.buffer.store.i32(i32, ptr addrspace(8), i32, i32, i32)
)";

// out[i] = the sum of in over the 32 lanes of the wave, by DPP in rows and permlanex16 between them, in front of and
// behind a split barrier; through LDS so that every wave has the other one's.
constexpr char kSplit[] = R"(
target triple = "amdgcn-amd-amdhsa"
@global_smem = external addrspace(3) global [0 x i8], align 16
define amdgpu_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, ptr addrspace(1) %s, ptr addrspace(1) %p) "tritond.kernel" {
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %from = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %x = load i32, ptr addrspace(1) %from
  %x1 = call i32 @llvm.amdgcn.update.dpp.i32(i32 0, i32 %x, i32 353, i32 15, i32 15, i1 true)
  %s1 = add i32 %x, %x1
  %x2 = call i32 @llvm.amdgcn.update.dpp.i32(i32 0, i32 %s1, i32 354, i32 15, i32 15, i1 true)
  %s2 = add i32 %s1, %x2
  %x4 = call i32 @llvm.amdgcn.update.dpp.i32(i32 0, i32 %s2, i32 356, i32 15, i32 15, i1 true)
  %s4 = add i32 %s2, %x4
  %x8 = call i32 @llvm.amdgcn.update.dpp.i32(i32 0, i32 %s4, i32 360, i32 15, i32 15, i1 true)
  %s8 = add i32 %s4, %x8
  %x16 = call i32 @llvm.amdgcn.permlanex16.i32(i32 0, i32 %s8, i32 1985229328, i32 -19088744, i1 false, i1 false)
  %sum = add i32 %s8, %x16
  %mine = getelementptr i32, ptr addrspace(3) @global_smem, i32 %tid
  store i32 %sum, ptr addrspace(3) %mine
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier.signal(i32 -1)
  call void @llvm.amdgcn.s.barrier.wait(i16 -1)
  fence syncscope("workgroup") acquire
  %other = xor i32 %tid, 32
  %theirs = getelementptr i32, ptr addrspace(3) @global_smem, i32 %other
  %r = load i32, ptr addrspace(3) %theirs
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  store i32 %r, ptr addrspace(1) %to
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32, i32, i32, i1)
declare i32 @llvm.amdgcn.permlanex16.i32(i32, i32, i32, i32, i1, i1)
declare void @llvm.amdgcn.s.barrier.signal(i32)
declare void @llvm.amdgcn.s.barrier.wait(i16)
)";

// out = a (16 x 256, e4m3) * b (256 x 16, e2m1), with a scale for 32 elements along K each: two products of a wave.
constexpr char kScaled[] = R"(
module {
  tt.func public @kernel(%a: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %b: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %sa: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %sb: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %a_i = tt.make_range {start = 0 : i32, end = 4096 : i32} : tensor<4096xi32>
    %b_i = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32>
    %s_i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %o_i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %a_s = tt.splat %a : !tt.ptr<f8E4M3FN> -> tensor<4096x!tt.ptr<f8E4M3FN>>
    %b_s = tt.splat %b : !tt.ptr<i8> -> tensor<2048x!tt.ptr<i8>>
    %sa_s = tt.splat %sa : !tt.ptr<i8> -> tensor<128x!tt.ptr<i8>>
    %sb_s = tt.splat %sb : !tt.ptr<i8> -> tensor<128x!tt.ptr<i8>>
    %o_s = tt.splat %out : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %a_p = tt.addptr %a_s, %a_i : tensor<4096x!tt.ptr<f8E4M3FN>>, tensor<4096xi32>
    %b_p = tt.addptr %b_s, %b_i : tensor<2048x!tt.ptr<i8>>, tensor<2048xi32>
    %sa_p = tt.addptr %sa_s, %s_i : tensor<128x!tt.ptr<i8>>, tensor<128xi32>
    %sb_p = tt.addptr %sb_s, %s_i : tensor<128x!tt.ptr<i8>>, tensor<128xi32>
    %o_p = tt.addptr %o_s, %o_i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %a_l = tt.load %a_p : tensor<4096x!tt.ptr<f8E4M3FN>>
    %b_l = tt.load %b_p : tensor<2048x!tt.ptr<i8>>
    %sa_l = tt.load %sa_p : tensor<128x!tt.ptr<i8>>
    %sb_l = tt.load %sb_p : tensor<128x!tt.ptr<i8>>
    %x = tt.reshape %a_l : tensor<4096xf8E4M3FN> -> tensor<16x256xf8E4M3FN>
    %y = tt.reshape %b_l : tensor<2048xi8> -> tensor<128x16xi8>
    %s = tt.reshape %sa_l : tensor<128xi8> -> tensor<16x8xi8>
    %t = tt.reshape %sb_l : tensor<128xi8> -> tensor<16x8xi8>
    %d = tt.dot_scaled %x scale %s, %y scale %t, %zero lhs = e4m3 rhs = e2m1 : tensor<16x256xf8E4M3FN>, tensor<16x8xi8> * tensor<128x16xi8>, tensor<16x8xi8> -> tensor<16x16xf32>
    %r = tt.reshape %d : tensor<16x16xf32> -> tensor<256xf32>
    tt.store %o_p, %r : tensor<256x!tt.ptr<f32>>
    tt.return
  }
}
)";

FaultKernel OfLlir(const std::string& name, const std::string& target, const char* llir, int warps, int shared,
                   std::vector<Array> arrays, Array expected) {
  FaultKernel kernel;
  kernel.name = name;
  kernel.target = target;
  kernel.llir = {llir, shared, 0};
  kernel.num_warps = warps;
  kernel.arrays = std::move(arrays);
  kernel.expected = std::move(expected);
  return kernel;
}

FaultKernel Copies() {
  Array in = Moderate("f32", 8 * kThreads, 1), out("f32", 4 * kThreads), expected = out;
  for (int i = 0; i < 4 * kThreads; ++i) expected.SetFloat(i, in.Float(i ^ 256) + in.Float((i ^ 256) + 4 * kThreads));
  return OfLlir("copies", "emulated:hip:gfx950", kCopies, 4, 8192, {in, out}, expected);
}

FaultKernel Buffers() {
  Array in = Moderate("i32", 250, 1), out("i32", 252), expected = out;
  const auto at = [&](int i) { return i < 250 ? in.Int(i) : 0; };
  for (int i = 0; i < 252; ++i) expected.SetInt(i, 3 + at(i) + (i % 16 ? at(i - 1) : 0));
  return OfLlir("buffers", "emulated:hip:gfx942", kBuffers, 4, 0, {in, out}, expected);
}

FaultKernel Split() {
  Array in = Moderate("i32", 64, 1), out("i32", 64), expected = out;
  for (int i = 0; i < 64; ++i) {
    int64_t sum = 0;
    for (int l = 0; l < 32; ++l) sum += in.Int((i / 32 ^ 1) * 32 + l);
    expected.SetInt(i, sum);
  }
  return OfLlir("split", "emulated:hip:gfx1201", kSplit, 2, 256, {in, out}, expected);
}

FaultKernel Scaled() {
  FaultKernel kernel;
  kernel.name = "scaled";
  kernel.target = "emulated:hip:gfx950";
  kernel.ir = kScaled;
  kernel.num_warps = 1;
  kernel.tolerance = 1e-4;
  Array a_scales("i8", 128), b_scales = a_scales;
  for (int i = 0; i < 128; ++i) {
    a_scales.SetInt(i, 122 + i % 11);
    b_scales.SetInt(i, 125 + i % 7);
  }
  kernel.arrays = {Moderate("f8E4M3FN", 16 * 256, 1), Values("i8", 128 * 16, 2), a_scales, b_scales,
                   Array("f32", 16 * 16)};
  return kernel;
}

}  // namespace

std::vector<FaultKernel> AmdFaultKernels() {
  std::vector<FaultKernel> kernels = {Copies(), Buffers(), Split(), Scaled()};
  for (const char* arch : {"gfx942", "gfx1100"}) {
    for (FaultKernel& kernel : TritonFaultKernels(absl::StrCat("emulated:hip:", arch))) {
      absl::StrAppend(&kernel.name, " ", arch);
      kernels.push_back(std::move(kernel));
    }
  }
  // Tiles go straight to LDS, two iterations ahead.
  for (const char* arch : {"gfx950", "gfx1250"}) {
    FaultKernel product = std::move(TritonFaultKernels(absl::StrCat("emulated:hip:", arch))[0]);
    product.name = absl::StrCat("staged ", arch);
    product.options = "\"num_stages\": 3";
    kernels.push_back(std::move(product));
  }
  return kernels;
}

}  // namespace tritond::conformance
