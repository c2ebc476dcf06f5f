// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-remove-layout-conversions | FileCheck %s

// Both halves of a byte go to an operand. Bytes are converted once for both, which costs less than the conversion of
// what is made of them; and it is this that counts, not the cost of each half.
// CHECK-LABEL: @halves
// CHECK: scf.for
// CHECK: %[[P:.+]] = tt.load %{{.*}} : tensor<32x64x!tt.ptr<i8>
// CHECK: ttg.convert_layout %[[P]] : tensor<32x64xi8
// CHECK-NOT: convert_layout
// CHECK: tt.join
// CHECK-NOT: convert_layout
// CHECK: tt.dot
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#pairs = #ttg.blocked<{sizePerThread = [1, 8, 2], threadsPerWarp = [4, 8, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#both = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#turned = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @halves(%x: tensor<16x128xbf16, #a>, %p: tensor<32x64x!tt.ptr<i8>, #rows>, %n: i32) -> tensor<16x32xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<16x32xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %mask = arith.constant dense<15> : tensor<32x64xi8, #rows>
    %shift = arith.constant dense<4> : tensor<32x64xi8, #rows>
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<16x32xf32, #mma>) : i32 {
      %w = tt.load %p : tensor<32x64x!tt.ptr<i8>, #rows>
      %low = arith.andi %w, %mask : tensor<32x64xi8, #rows>
      %high = arith.shrui %w, %shift : tensor<32x64xi8, #rows>
      %l = arith.uitofp %low : tensor<32x64xi8, #rows> to tensor<32x64xf32, #rows>
      %h = arith.uitofp %high : tensor<32x64xi8, #rows> to tensor<32x64xf32, #rows>
      %j = tt.join %l, %h : tensor<32x64xf32, #rows> -> tensor<32x64x2xf32, #pairs>
      %r = tt.reshape %j : tensor<32x64x2xf32, #pairs> -> tensor<32x128xf32, #both>
      %f = arith.truncf %r : tensor<32x128xf32, #both> to tensor<32x128xbf16, #both>
      %t = tt.trans %f {order = array<i32: 1, 0>} : tensor<32x128xbf16, #both> -> tensor<128x32xbf16, #turned>
      %y = ttg.convert_layout %t : tensor<128x32xbf16, #turned> -> tensor<128x32xbf16, #b>
      %d = tt.dot %x, %y, %sum : tensor<16x128xbf16, #a> * tensor<128x32xbf16, #b> -> tensor<16x32xf32, #mma>
      scf.yield %d : tensor<16x32xf32, #mma>
    }
    tt.return %s : tensor<16x32xf32, #mma>
  }
}
