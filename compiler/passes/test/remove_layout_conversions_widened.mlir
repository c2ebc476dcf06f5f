// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-remove-layout-conversions | FileCheck %s

// All four warps hold operand a. They widen what they read of the copied bytes, rather than once and then by way of another buffer.
// CHECK-LABEL: @widened
//       CHECK:     %[[V:.*]] = tt.load
//       CHECK:     %[[C:.*]] = ttg.convert_layout %[[V]] : tensor<32x64xf8E4M3FN
//       CHECK:     tt.fp_to_fp %[[C]]
//   CHECK-NOT:     ttg.convert_layout
//       CHECK:     tt.dot
#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  tt.func @widened(%p: tensor<32x64x!tt.ptr<f8E4M3FN>, #blocked>, %y: tensor<64x128xf16, #b>, %n: i32) -> tensor<32x128xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<32x128xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x128xf32, #mma>) : i32 {
      %v = tt.load %p : tensor<32x64x!tt.ptr<f8E4M3FN>, #blocked>
      %w = tt.fp_to_fp %v : tensor<32x64xf8E4M3FN, #blocked> -> tensor<32x64xf16, #blocked>
      %x = ttg.convert_layout %w : tensor<32x64xf16, #blocked> -> tensor<32x64xf16, #a>
      %s = tt.dot %x, %y, %acc : tensor<32x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<32x128xf32, #mma>
      scf.yield %s : tensor<32x128xf32, #mma>
    }
    tt.return %d : tensor<32x128xf32, #mma>
  }
}
