// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=4 least-copy-bytes=4 most-copy-bytes=16 max-shared-bytes=232448" | FileCheck %s

// Lanes of one warp could shuffle the operands, but multiply-adds take slices of them from shared memory: 48 KiB beside
// three buffers of 48 KiB each. A fourth one does not fit.
// CHECK-LABEL: @tiled
//       CHECK:   tt.load %{{.*}} {tt.latency = 2 : i32} : tensor<128x64
//       CHECK:   tt.load %{{.*}} {tt.latency = 2 : i32} : tensor<64x64
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [1, 1], order = [1, 0]}>
#sum = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #sum}>
#b = #ttg.dot_op<{opIdx = 1, parent = #sum}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @tiled(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<128x64xf32, #sum> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #sum>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %column = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %columns = tt.expand_dims %column {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %ax = tt.broadcast %columns : tensor<1x64xi32, #rows> -> tensor<128x64xi32, #rows>
    %bx = tt.broadcast %columns : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %as = tt.splat %p : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>, #rows>
    %bs = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #rows>
    %ap = tt.addptr %as, %ax : tensor<128x64x!tt.ptr<f32>, #rows>, tensor<128x64xi32, #rows>
    %bp = tt.addptr %bs, %bx : tensor<64x64x!tt.ptr<f32>, #rows>, tensor<64x64xi32, #rows>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #sum>) : i32 {
      %x = tt.load %ap : tensor<128x64x!tt.ptr<f32>, #rows>
      %y = tt.load %bp : tensor<64x64x!tt.ptr<f32>, #rows>
      %u = arith.negf %x : tensor<128x64xf32, #rows>
      %v = arith.negf %y : tensor<64x64xf32, #rows>
      %ua = ttg.convert_layout %u : tensor<128x64xf32, #rows> -> tensor<128x64xf32, #a>
      %vb = ttg.convert_layout %v : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #b>
      %d = tt.dot %ua, %vb, %acc, inputPrecision = ieee : tensor<128x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<128x64xf32, #sum>
      scf.yield %d : tensor<128x64xf32, #sum>
    }
    tt.return %r : tensor<128x64xf32, #sum>
  }
}
