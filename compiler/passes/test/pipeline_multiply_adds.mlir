// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-schedule-loops --ttg-pipeline --ttg-tile-dots --canonicalize --cse | FileCheck %s

// 1024 multiply-adds of a thread stay in a row where both operands are copied. Threads then read from the buffers what
// they multiply, without a conversion between.
// CHECK-LABEL: @whole
//       CHECK:   scf.for
//       CHECK:     %[[X:.*]] = ttg.local_load {{.*}} -> tensor<128x32xf32, #ttg.dot_op<{opIdx = 0
//       CHECK:     %[[Y:.*]] = ttg.local_load {{.*}} -> tensor<32x32xf32, #ttg.dot_op<{opIdx = 1
//   CHECK-NOT:     ttg.convert_layout
//       CHECK:     tt.dot %[[X]], %[[Y]]
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#sums = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 2], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #sums}>
#b = #ttg.dot_op<{opIdx = 1, parent = #sums}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @whole(%p: tensor<128x32x!tt.ptr<f32>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %q: tensor<32x32x!tt.ptr<f32>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %n: i32) -> tensor<128x32xf32, #sums> {
    %zero = arith.constant dense<0.0> : tensor<128x32xf32, #sums>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x32xf32, #sums>) : i32 {
      %x = tt.load %p {tt.latency = 1 : i32} : tensor<128x32x!tt.ptr<f32>, #blocked>
      %y = tt.load %q {tt.latency = 1 : i32} : tensor<32x32x!tt.ptr<f32>, #blocked>
      %xa = ttg.convert_layout %x : tensor<128x32xf32, #blocked> -> tensor<128x32xf32, #a>
      %yb = ttg.convert_layout %y : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<128x32xf32, #a> * tensor<32x32xf32, #b> -> tensor<128x32xf32, #sums>
      scf.yield %d : tensor<128x32xf32, #sums>
    }
    tt.return %r : tensor<128x32xf32, #sums>
  }
}

// -----

// Twice as many are cut into slices, from buffers of their own: the copies are read as they came.
// CHECK-LABEL: @sliced
//       CHECK:   scf.for
//       CHECK:     ttg.local_load {{.*}} -> tensor<128x32xf32, #blocked{{[0-9]*}}>
//       CHECK:     scf.for
//       CHECK:       tt.dot
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
#sums = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 2], warpsPerCTA = [2, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #sums}>
#b = #ttg.dot_op<{opIdx = 1, parent = #sums}>
module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @sliced(%p: tensor<128x32x!tt.ptr<f32>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %q: tensor<32x32x!tt.ptr<f32>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %n: i32) -> tensor<128x32xf32, #sums> {
    %zero = arith.constant dense<0.0> : tensor<128x32xf32, #sums>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x32xf32, #sums>) : i32 {
      %x = tt.load %p {tt.latency = 1 : i32} : tensor<128x32x!tt.ptr<f32>, #blocked>
      %y = tt.load %q {tt.latency = 1 : i32} : tensor<32x32x!tt.ptr<f32>, #blocked>
      %xa = ttg.convert_layout %x : tensor<128x32xf32, #blocked> -> tensor<128x32xf32, #a>
      %yb = ttg.convert_layout %y : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<128x32xf32, #a> * tensor<32x32xf32, #b> -> tensor<128x32xf32, #sums>
      scf.yield %d : tensor<128x32xf32, #sums>
    }
    tt.return %r : tensor<128x32xf32, #sums>
  }
}
