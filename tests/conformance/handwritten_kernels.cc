// SPDX-License-Identifier: Apache-2.0
// Kernels as LLVM IR, by hand. In some, warps hand shared memory to each other. In others, lanes do something together
// without the rest of their warp.
#include "tests/conformance/fault_kernels.h"

namespace tritond::conformance {
namespace {

constexpr int kIterations = 4, kWriters = 64;

// Two warps write to shared memory and two others read it, four times over the same bytes. "full" says that there is
// something to read, "empty" that it may be written over. These are mbarriers, or barriers 1 and 2, at which those who
// need not wait arrive. Writer t puts in[iteration][t] into word t, reader t adds word 63 - t to its sum.
constexpr char kHandover[] = R"(
@global_smem = external addrspace(3) global [0 x i8], align 16

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, ptr addrspace(1) %g, ptr addrspace(1) %p) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %full = getelementptr i8, ptr addrspace(3) @global_smem, i32 256
  %empty = getelementptr i8, ptr addrspace(3) @global_smem, i32 264
  %is_first = icmp eq i32 %t, 0
  br i1 %is_first, label %init, label %begin

init:
  $INIT
  br label %begin

begin:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %writes = icmp ult i32 %t, 64
  %word = and i32 %t, 63
  br i1 %writes, label %write_iteration, label %read_iteration

write_iteration:
  %w = phi i32 [ 0, %begin ], [ %w1, %write ]
  %is_new = icmp eq i32 %w, 0
  br i1 %is_new, label %write, label %wait_empty

wait_empty:
  %w0 = sub i32 %w, 1
  %w_parity = and i32 %w0, 1
  $WAIT_EMPTY
  br label %write

write:
  %row = shl i32 %w, 6
  %from = add i32 %row, %word
  %address = getelementptr i32, ptr addrspace(1) %in, i32 %from
  %value = load i32, ptr addrspace(1) %address
  %to = getelementptr i32, ptr addrspace(3) @global_smem, i32 %word
  store i32 %value, ptr addrspace(3) %to
  $ARRIVE_FULL
  %w1 = add i32 %w, 1
  %w_more = icmp ult i32 %w1, 4
  br i1 %w_more, label %write_iteration, label %end

read_iteration:
  %r = phi i32 [ 0, %begin ], [ %r1, %read_iteration ]
  %sum = phi i32 [ 0, %begin ], [ %sum1, %read_iteration ]
  %r_parity = and i32 %r, 1
  $WAIT_FULL
  %mirror = sub i32 63, %word
  %place = getelementptr i32, ptr addrspace(3) @global_smem, i32 %mirror
  %read = load i32, ptr addrspace(3) %place
  %sum1 = add i32 %sum, %read
  $ARRIVE_EMPTY
  %r1 = add i32 %r, 1
  %r_more = icmp ult i32 %r1, 4
  br i1 %r_more, label %read_iteration, label %store

store:
  %result = getelementptr i32, ptr addrspace(1) %out, i32 %word
  store i32 %sum1, ptr addrspace(1) %result
  br label %end

end:
  ret void
}
)";

FaultKernel Handover(const std::string& name, std::vector<std::pair<std::string, std::string>> parts) {
  FaultKernel kernel;
  kernel.name = name;
  kernel.target = "emulated:cuda:90";
  kernel.llir = {Substitute(kHandover, std::move(parts)), 512, 0};
  const Array in = Moderate("i32", kIterations * kWriters, 1);
  kernel.expected = Array("i32", kWriters);
  for (int t = 0; t < kWriters; ++t) {
    int64_t sum = 0;
    for (int iteration = 0; iteration < kIterations; ++iteration)
      sum += in.Int(iteration * kWriters + kWriters - 1 - t);
    kernel.expected.SetInt(t, sum);
  }
  kernel.arrays = {in, Array("i32", kWriters)};
  return kernel;
}

std::string Assembly(const std::string& text, const std::string& constraints, const std::string& operands) {
  return "call void asm sideeffect \"" + text + "\", \"" + constraints + "\"(" + operands + ")";
}

std::string Wait(const std::string& barrier, const std::string& parity) {
  return Assembly(
      "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; @!done bra again; }",
      "r,r,~{memory}", "ptr addrspace(3) " + barrier + ", i32 " + parity);
}

std::string Arrive(const std::string& barrier) {
  return Assembly("mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}", "ptr addrspace(3) " + barrier);
}

std::string Init(const std::string& barrier) {
  return Assembly("mbarrier.init.shared::cta.b64 [$0], 64;", "r,~{memory}", "ptr addrspace(3) " + barrier);
}

std::string Barrier(const std::string& what, const std::string& number) {
  return Assembly("bar." + what + " " + number + ", 128;", "~{memory}", "");
}

// The first 16 lanes of each warp: their neighbour's value, all their values and all their odd ones.
constexpr char kSomeLanes[] = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)

define ptx_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, ptr addrspace(1) %g, ptr addrspace(1) %p) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr i32, ptr addrspace(1) %in, i32 %t
  %value = load i32, ptr addrspace(1) %from
  %lane = and i32 %t, 31
  %is_low = icmp ult i32 %lane, 16
  br i1 %is_low, label %some, label %end

some:
  %other = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 65535, i32 %value, i32 1, i32 31)
  %sum = call i32 @llvm.nvvm.redux.sync.add(i32 %value, i32 65535)
  %odd = trunc i32 %value to i1
  %ballot = call i32 @llvm.nvvm.vote.ballot.sync(i32 65535, i1 %odd)
  %two = add i32 %other, %sum
  %three = add i32 %two, %ballot
  br label %end

end:
  %result = phi i32 [ %value, %0 ], [ %three, %some ]
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %result, ptr addrspace(1) %to
  ret void
}
)";

FaultKernel SomeLanes() {
  constexpr int kThreads = 128, kSome = 16;
  FaultKernel kernel;
  kernel.name = "some_lanes";
  kernel.target = "emulated:cuda:80";
  kernel.llir = {kSomeLanes, 0, 0};
  const Array in = Moderate("i32", kThreads, 1);
  kernel.expected = in;
  for (int first = 0; first < kThreads; first += 32) {
    int64_t sum = 0, odd = 0;
    for (int lane = 0; lane < kSome; ++lane) {
      sum += in.Int(first + lane);
      odd |= (in.Int(first + lane) & 1) << lane;
    }
    for (int lane = 0; lane < kSome; ++lane)
      kernel.expected.SetInt(first + lane, in.Int(first + (lane ^ 1)) + sum + odd);
  }
  kernel.arrays = {in, Array("i32", kThreads)};
  return kernel;
}

}  // namespace

std::vector<FaultKernel> HandwrittenKernels() {
  return {SomeLanes(),
          Handover("mbarriers", {{"INIT", Init("%full") + "\n  " + Init("%empty")},
                                 {"WAIT_EMPTY", Wait("%empty", "%w_parity")},
                                 {"WAIT_FULL", Wait("%full", "%r_parity")},
                                 {"ARRIVE_FULL", Arrive("%full")},
                                 {"ARRIVE_EMPTY", Arrive("%empty")}}),
          Handover("part_barriers", {{"INIT", ""},
                                     {"WAIT_EMPTY", Barrier("sync", "2")},
                                     {"WAIT_FULL", Barrier("sync", "1")},
                                     {"ARRIVE_FULL", Barrier("arrive", "1")},
                                     {"ARRIVE_EMPTY", Barrier("arrive", "2")}})};
}

}  // namespace tritond::conformance
