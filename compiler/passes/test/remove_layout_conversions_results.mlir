// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-remove-layout-conversions | FileCheck %s

// Both halves of a byte become operand b. What unpacks them has one user for its two results, and so dies with it: threads unpack
// what they hold of the operand, each byte once as before. It is loaded for them.
#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#joined = #ttg.blocked<{sizePerThread = [1, 16, 2], threadsPerWarp = [8, 4, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 32], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [32, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: @two_results
//       CHECK:   scf.for
//       CHECK:     %[[V:.*]] = tt.load
//       CHECK:     %[[C:.*]] = ttg.convert_layout %[[V]] : tensor<64x64xi8
//       CHECK:     tt.elementwise_inline_asm {{.*}} %[[C]]
//   CHECK-NOT:     ttg.convert_layout
//       CHECK:     tt.dot
  tt.func @two_results(%p: tensor<64x64x!tt.ptr<i8>, #blocked>, %x: tensor<16x128xbf16, #a>, %n: i32) -> tensor<16x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<16x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x64xf32, #mma>) : i32 {
      %v = tt.load %p : tensor<64x64x!tt.ptr<i8>, #blocked>
      %low, %high = tt.elementwise_inline_asm "unpack $0, $1, $2, $3, $4;" {constraints = "=r,=r,=r,=r,r", packed_element = 4 : i32, pure = true} %v : tensor<64x64xi8, #blocked> -> tensor<64x64xbf16, #blocked>, tensor<64x64xbf16, #blocked>
      %j = tt.join %low, %high : tensor<64x64xbf16, #blocked> -> tensor<64x64x2xbf16, #joined>
      %r = tt.reshape %j : tensor<64x64x2xbf16, #joined> -> tensor<64x128xbf16, #rows>
      %t = tt.trans %r {order = array<i32: 1, 0>} : tensor<64x128xbf16, #rows> -> tensor<128x64xbf16, #columns>
      %y = ttg.convert_layout %t : tensor<128x64xbf16, #columns> -> tensor<128x64xbf16, #b>
      %s = tt.dot %x, %y, %acc : tensor<16x128xbf16, #a> * tensor<128x64xbf16, #b> -> tensor<16x64xf32, #mma>
      scf.yield %s : tensor<16x64xf32, #mma>
    }
    tt.return %d : tensor<16x64xf32, #mma>
  }
}
