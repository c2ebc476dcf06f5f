// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --ttg-allocate-warp-groups="group-warps=4 registers=65536" --ttg-split-warp-specialize --ttg-allocate-shared-memory --ttg-insert-barriers --lower-to-llvm=target=cuda:90 | FileCheck %s

// The function's warps go on; the others wait for what the first thread tells them, with the capture that they cannot
// compute. All meet before and after; the registers that partitions leave are taken and given back beyond that.
// CHECK-LABEL: llvm.func @kernel(%arg0: !llvm.ptr<1>, %arg1: i32
//  CHECK-SAME: ["tritond.registers", "248"]
//       CHECK:   %[[WARP:.*]] = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"
//       CHECK:   %[[OWN:.*]] = llvm.icmp "ult" %[[WARP]], %{{.*}} : i32
//       CHECK:   llvm.cond_br %[[OWN]], ^bb1, ^[[WORKERS:.*]]
//       CHECK: ^bb1:
//       CHECK:   %[[SUM:.*]] = llvm.add %arg1, %arg1
//       CHECK:   llvm.cond_br
//       CHECK:   llvm.store %[[SUM]]
//   CHECK-NOT:   llvm.store %arg
//       CHECK:   llvm.store
//       CHECK:   llvm.br
//       CHECK:   "llvm.nvvm.barrier.cta.sync.aligned.count"
//   CHECK-NOT:   setmaxnreg
//       CHECK:   "llvm.nvvm.barrier.cta.sync.aligned.count"
//       CHECK:   llvm.store
//       CHECK:   "llvm.nvvm.barrier.cta.sync.aligned.count"
//       CHECK:   llvm.return
//       CHECK: ^[[WORKERS]]:
//       CHECK:   llvm.br ^[[WAIT:.*]]
//       CHECK: ^[[WAIT]]:
//       CHECK:   "llvm.nvvm.barrier.cta.sync.aligned.count"
//       CHECK:   %[[STATE:.*]] = llvm.load
//       CHECK:   llvm.switch %[[STATE]] : i32, ^[[LEAVE:.*]] [
//  CHECK-NEXT:     1: ^
//       CHECK: ^[[LEAVE]]:
//  CHECK-NEXT:   llvm.return
//       CHECK:   "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32"
//       CHECK:   "llvm.nvvm.barrier.cta.sync.aligned.count"
//       CHECK:   "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"
//       CHECK:   llvm.br ^[[WAIT]]

// The partition: its thread, which LLVM cannot know before; its capture; and four words at once by a pointer of which the
// function's argument says that it is aligned.
//       CHECK:   "llvm.nvvm.shfl.sync.idx.i32"
//       CHECK:   llvm.load %{{.*}} : !llvm.ptr<3> -> i32
//       CHECK:   llvm.getelementptr %arg0
//       CHECK:   llvm.load %{{.*}} : !llvm.ptr<1> -> vector<4xi32>
#one = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %i: i32) {
    %s = arith.addi %i, %i : i32
    ttg.warp_specialize(%p, %s) attributes {requestedRegisters = array<i32: 24>}
    default { ttg.warp_yield }
    partition0(%q: !tt.ptr<i32>, %v: i32) num_warps(1) {
      %k = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
      %a = tt.splat %q : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #one>
      %b = tt.addptr %a, %k : tensor<128x!tt.ptr<i32>, #one>, tensor<128xi32, #one>
      %x = tt.load %b : tensor<128x!tt.ptr<i32>, #one>
      %w = tt.splat %v : i32 -> tensor<128xi32, #one>
      %y = arith.addi %x, %w : tensor<128xi32, #one>
      tt.store %b, %y : tensor<128x!tt.ptr<i32>, #one>
      ttg.warp_return
    } : (!tt.ptr<i32>, i32) -> ()
    tt.return
  }
}
