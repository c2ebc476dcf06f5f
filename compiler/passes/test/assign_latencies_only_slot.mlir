// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=2 max-shared-bytes=232448 registers=65536 issued-warps=4" | FileCheck %s
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=2 max-shared-bytes=99328 registers=65536 issued-warps=4" | FileCheck %s --check-prefix=NONE

// One slot of 130 KiB fits, two do not. A thread has 128 accumulators, and would need 256 registers for what it loads.
// CHECK-LABEL: @many_accumulators
//       CHECK:   tt.load %arg0 {loop.in_place, tt.latency = 1 : i32}
//       CHECK:   tt.load %arg1 {loop.in_place, tt.latency = 1 : i32}
// NONE-LABEL: @many_accumulators
//   NONE-NOT:   tt.latency
//       NONE:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @many_accumulators(%p: tensor<16x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x1024x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 1024]> : tensor<2xi32>}, %n: i32) -> tensor<16x1024xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<16x1024xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x1024xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<16x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x1024x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<16x64xf16, #blocked> -> tensor<16x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x1024xf16, #blocked> -> tensor<64x1024xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<16x64xf16, #a> * tensor<64x1024xf16, #b> -> tensor<16x1024xf32, #mma>
      scf.yield %d : tensor<16x1024xf32, #mma>
    }
    tt.return %r : tensor<16x1024xf32, #mma>
  }
}
