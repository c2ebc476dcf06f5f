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

// -----

// Four results of four warps, two values each. A lane has one result after two steps, and the lowest of eight writes
// it. Of the sixteen partials each lane reads one. Then lanes give all of them the results.
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#kept = #ttg.slice<{dim = 1, parent = #rows}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func {{.*}}@shares_of_lanes
  // CHECK-COUNT-12: llvm.nvvm.shfl.sync.bfly.i32
  //   CHECK-NOT: llvm.nvvm.shfl.sync
  //       CHECK: llvm.cond_br
  // CHECK-COUNT-2: llvm.store %{{.*}} : {{f32|i32}}, !llvm.ptr<3>
  //   CHECK-NOT: llvm.store
  //       CHECK: nvvm.barrier.cta.sync
  // CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<3> -> {{f32|i32}}
  //   CHECK-NOT: llvm.load
  // CHECK-COUNT-4: llvm.nvvm.shfl.sync.bfly.i32
  // CHECK-COUNT-8: llvm.nvvm.shfl.sync.idx.i32
  //   CHECK-NOT: llvm.nvvm.shfl.sync
  //   CHECK-NOT: nvvm.barrier.cta.sync
  //       CHECK: llvm.return
  tt.func public @shares_of_lanes(%p: tensor<4x!tt.ptr<i32>, #kept>, %x: tensor<4x128xf32, #rows>,
                                  %n: tensor<4x128xi32, #rows>) {
    %r:2 = "tt.reduce"(%x, %n) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
      %gt = arith.cmpf ogt, %a, %b : f32
      %eq = arith.cmpf oeq, %a, %b : f32
      %lt = arith.cmpi slt, %i, %j : i32
      %first = arith.andi %eq, %lt : i1
      %left = arith.ori %gt, %first : i1
      %v = arith.select %left, %a, %b : f32
      %w = arith.select %left, %i, %j : i32
      tt.reduce.return %v, %w : f32, i32
    }) {allocation.offset = 0 : i32} : (tensor<4x128xf32, #rows>, tensor<4x128xi32, #rows>) -> (tensor<4xf32, #kept>, tensor<4xi32, #kept>)
    tt.store %p, %r#1 : tensor<4x!tt.ptr<i32>, #kept>
    tt.return
  }
}
