// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -allow-unregistered-dialect --ttg-share-k=pairs-share-reads | FileCheck %s

// 8 accumulators a thread: two parts of K give it 16, for half as many reads of b. What was summed up is added after the loop.
//   CHECK-DAG: #[[OLD:.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [0, 1]}>
//   CHECK-DAG: #[[PARTS:.*]] = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 2, 16], warpsPerCTA = [2, 2, 1], order = [1, 2, 0]}>
//   CHECK-DAG: #[[TOGETHER:.*]] = #ttg.blocked<{sizePerThread = [2, 1, 4], threadsPerWarp = [1, 2, 16], warpsPerCTA = [1, 4, 1], order = [1, 2, 0]}>
// CHECK-LABEL: @few_accumulators
//       CHECK:   %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<2x16x64xf32, #[[PARTS]]>
//       CHECK:   %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%[[UNCHANGED:.*]] = %{{.*}}, %[[SUMS:.*]] = %[[ZEROS]])
//       CHECK:     %[[A:.*]] = ttg.local_load %{{.*}} -> tensor<16x32xf32, #linear
//       CHECK:     %[[SPLIT:.*]] = tt.reshape %[[A]] : {{.*}} -> tensor<16x2x16xf32
//       CHECK:     %[[X:.*]] = tt.trans %[[SPLIT]] {order = array<i32: 1, 0, 2>} : {{.*}} -> tensor<2x16x16xf32, #ttg.dot_op<{opIdx = 0, parent = #[[PARTS]]}>>
//       CHECK:     %[[B:.*]] = ttg.local_load %{{.*}} -> tensor<32x64xf32, #linear
//       CHECK:     %[[Y:.*]] = tt.reshape %[[B]] : {{.*}} -> tensor<2x16x64xf32, #ttg.dot_op<{opIdx = 1, parent = #[[PARTS]]}>>
//       CHECK:     %[[D:.*]] = tt.dot %[[X]], %[[Y]], %[[SUMS]]
//       CHECK:     scf.yield %[[UNCHANGED]], %[[D]]
//       CHECK:   "test.between"
//       CHECK:   %[[ALL:.*]] = ttg.convert_layout %[[LOOP]]#1 : {{.*}} -> tensor<2x16x64xf32, #[[TOGETHER]]>
//       CHECK:   %[[R:.*]] = "tt.reduce"(%[[ALL]]) <{axis = 0 : i32}>
//       CHECK:     arith.addf
//       CHECK:   %[[SUM:.*]] = ttg.convert_layout %[[R]] : {{.*}} -> tensor<16x64xf32, #[[OLD]]>
//       CHECK:   tt.return %[[SUM]]
// Accumulators that start from something are added to it.
// CHECK-LABEL: @started
//       CHECK:   %[[R:.*]] = "tt.reduce"
//       CHECK:   %[[SUM:.*]] = ttg.convert_layout %[[R]]
//       CHECK:   arith.addf %arg2, %[[SUM]]
// One iteration does not pay for the reduction.
// CHECK-LABEL: @one_iteration
//   CHECK-NOT:   tt.reduce
// The loop uses the sum.
// CHECK-LABEL: @seen
//   CHECK-NOT:   tt.reduce
#acc = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [0, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
#groups = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @few_accumulators(%x: !ttg.memdesc<16x32xf32, #groups, #smem>, %y: !ttg.memdesc<32x64xf32, #rows, #smem>, %n: i32) -> tensor<16x64xf32, #acc> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<16x64xf32, #acc>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<16x64xf32, #acc>) : i32 {
      %u = ttg.local_load %x : !ttg.memdesc<16x32xf32, #groups, #smem> -> tensor<16x32xf32, #a>
      %v = ttg.local_load %y : !ttg.memdesc<32x64xf32, #rows, #smem> -> tensor<32x64xf32, #b>
      %d = tt.dot %u, %v, %sum : tensor<16x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<16x64xf32, #acc>
      scf.yield %d : tensor<16x64xf32, #acc>
    }
    "test.between"() : () -> ()
    tt.return %r : tensor<16x64xf32, #acc>
  }
  tt.func @started(%x: !ttg.memdesc<16x32xf32, #groups, #smem>, %y: !ttg.memdesc<32x64xf32, #rows, #smem>, %start: tensor<16x64xf32, #acc>, %n: i32) -> tensor<16x64xf32, #acc> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %start) -> (tensor<16x64xf32, #acc>) : i32 {
      %u = ttg.local_load %x : !ttg.memdesc<16x32xf32, #groups, #smem> -> tensor<16x32xf32, #a>
      %v = ttg.local_load %y : !ttg.memdesc<32x64xf32, #rows, #smem> -> tensor<32x64xf32, #b>
      %d = tt.dot %u, %v, %sum : tensor<16x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<16x64xf32, #acc>
      scf.yield %d : tensor<16x64xf32, #acc>
    }
    tt.return %r : tensor<16x64xf32, #acc>
  }
  tt.func @one_iteration(%x: !ttg.memdesc<16x32xf32, #groups, #smem>, %y: !ttg.memdesc<32x64xf32, #rows, #smem>) -> tensor<16x64xf32, #acc> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<16x64xf32, #acc>
    %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%sum = %zero) -> (tensor<16x64xf32, #acc>) : i32 {
      %u = ttg.local_load %x : !ttg.memdesc<16x32xf32, #groups, #smem> -> tensor<16x32xf32, #a>
      %v = ttg.local_load %y : !ttg.memdesc<32x64xf32, #rows, #smem> -> tensor<32x64xf32, #b>
      %d = tt.dot %u, %v, %sum : tensor<16x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<16x64xf32, #acc>
      scf.yield %d : tensor<16x64xf32, #acc>
    }
    tt.return %r : tensor<16x64xf32, #acc>
  }
  tt.func @seen(%x: !ttg.memdesc<16x32xf32, #groups, #smem>, %y: !ttg.memdesc<32x64xf32, #rows, #smem>, %n: i32) -> tensor<16x64xf32, #acc> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<16x64xf32, #acc>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<16x64xf32, #acc>) : i32 {
      %u = ttg.local_load %x : !ttg.memdesc<16x32xf32, #groups, #smem> -> tensor<16x32xf32, #a>
      %v = ttg.local_load %y : !ttg.memdesc<32x64xf32, #rows, #smem> -> tensor<32x64xf32, #b>
      %half = arith.mulf %sum, %sum : tensor<16x64xf32, #acc>
      %d = tt.dot %u, %v, %half : tensor<16x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<16x64xf32, #acc>
      scf.yield %d : tensor<16x64xf32, #acc>
    }
    tt.return %r : tensor<16x64xf32, #acc>
  }
}

// -----

// 32 accumulators a thread are enough.
// CHECK-LABEL: @many_accumulators
//   CHECK-NOT:   tt.reduce
#acc = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
#groups = #ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @many_accumulators(%x: !ttg.memdesc<64x16xf32, #groups, #smem>, %y: !ttg.memdesc<16x64xf32, #rows, #smem>, %n: i32) -> tensor<64x64xf32, #acc> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
      %u = ttg.local_load %x : !ttg.memdesc<64x16xf32, #groups, #smem> -> tensor<64x16xf32, #a>
      %v = ttg.local_load %y : !ttg.memdesc<16x64xf32, #rows, #smem> -> tensor<16x64xf32, #b>
      %d = tt.dot %u, %v, %sum : tensor<64x16xf32, #a> * tensor<16x64xf32, #b> -> tensor<64x64xf32, #acc>
      scf.yield %d : tensor<64x64xf32, #acc>
    }
    tt.return %r : tensor<64x64xf32, #acc>
  }
}
