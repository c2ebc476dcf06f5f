// SPDX-License-Identifier: Apache-2.0
// Kernels for AMD's emulated devices: of LLVM IR, with instructions that kernels may hold whether or not lowering emits
// them, and compiled ones.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/conformance/fault_kernels.h"

namespace tritond::conformance {
namespace {

constexpr int kThreads = 256;

// out[i] = in[i ^ 256] + in[(i ^ 256) + 1024], of 1024 elements. Two tiles go from global memory to LDS at once, and
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
  %next = getelementptr i8, ptr addrspace(1) %from, i32 4096
  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %from, ptr addrspace(3) %first, i32 16, i32 0, i32 0)
  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %next, ptr addrspace(3) %second, i32 16, i32 0, i32 0)
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
// zeros past its end, and one of 1008 drops what is stored there.
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

// out[i] = the sum of in over the 32 lanes of the wave, by DPP in rows and permlanex16 between them. The sums go
// through LDS, in front of and after a split barrier, so that every wave has the other one's.
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

}  // namespace

std::vector<FaultKernel> AmdFaultKernels() {
  std::vector<FaultKernel> kernels = {Copies(), Buffers(), Split(), ScaledFaultKernel("emulated:hip:gfx950")};
  for (const char* arch : {"gfx942", "gfx1100"}) {
    for (FaultKernel& kernel : TritonFaultKernels(absl::StrCat("emulated:hip:", arch))) {
      absl::StrAppend(&kernel.name, " ", arch);
      kernels.push_back(std::move(kernel));
    }
  }
  // Updates that order nothing: by buffers, without branches.
  for (size_t i = 0, count = kernels.size(); i < count; ++i) {
    if (!absl::StartsWith(kernels[i].name, "count ")) continue;
    FaultKernel relaxed = kernels[i];
    relaxed.name = absl::StrCat("relaxed ", relaxed.name);
    relaxed.ir = absl::StrReplaceAll(relaxed.ir, {{"acq_rel", "relaxed"}});
    kernels.push_back(std::move(relaxed));
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
