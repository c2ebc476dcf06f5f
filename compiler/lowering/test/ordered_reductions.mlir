// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm=target=cuda:90 | FileCheck %s

// Operands that may not change places: the lowest lane combines in order, and all lanes take its result.
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func {{.*}}@many_steps
  //   CHECK-NOT: llvm.select
  // CHECK-COUNT-5: llvm.fsub
  //       CHECK: llvm.nvvm.shfl.sync.idx.i32
  //   CHECK-NOT: llvm.select
  //       CHECK: llvm.return
  tt.func public @many_steps(%p: !tt.ptr<f32>) {
    %x = arith.constant dense<1.0> : tensor<32xf32, #blocked>
    %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %d = arith.subf %a, %b : f32
      tt.reduce.return %d : f32
    }) : (tensor<32xf32, #blocked>) -> f32
    tt.store %p, %r : !tt.ptr<f32>
    tt.return
  }
}

// -----

// A single step: both lanes choose the order.
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func {{.*}}@one_step
  // CHECK-COUNT-2: llvm.select
  //       CHECK: llvm.fsub
  //   CHECK-NOT: shfl.sync.idx
  //       CHECK: llvm.return
  tt.func public @one_step(%p: tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #blocked}>>) {
    %x = arith.constant dense<1.0> : tensor<2x16xf32, #blocked>
    %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %d = arith.subf %a, %b : f32
      tt.reduce.return %d : f32
    }) : (tensor<2x16xf32, #blocked>) -> tensor<16xf32, #ttg.slice<{dim = 0, parent = #blocked}>>
    tt.store %p, %r : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #blocked}>>
    tt.return
  }
}
