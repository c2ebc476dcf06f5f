// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-remove-layout-conversions | FileCheck %s

// Parts of one value, the lowest used first. Alone it is cheaper to convert than to compute again; once the others have
// been computed under the other encoding, little is left to compute, and nothing of the first encoding.
// CHECK-LABEL: @parts
//       CHECK:   scf.for
//       CHECK:     %[[X:.*]] = tt.load
//       CHECK:     ttg.convert_layout %[[X]]
//   CHECK-NOT:     ttg.convert_layout
//   CHECK-NOT:     tt.bitcast {{.*}} -> tensor<128x32xi32, #blocked>
//       CHECK:     scf.yield
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#pairs = #ttg.blocked<{sizePerThread = [1, 2, 2], threadsPerWarp = [4, 8, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#half = #ttg.slice<{dim = 2, parent = #pairs}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @parts(%p: tensor<128x32x!tt.ptr<f32>, #blocked>, %y: tensor<32x64xbf16, #b>, %n: i32) -> tensor<128x64xf32, #mma> {
    %mask = arith.constant dense<-65536> : tensor<128x32xi32, #blocked>
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<128x32x!tt.ptr<f32>, #blocked>
      %bits0 = tt.bitcast %x : tensor<128x32xf32, #blocked> -> tensor<128x32xi32, #blocked>
      %upper0 = arith.andi %bits0, %mask : tensor<128x32xi32, #blocked>
      %high0 = tt.bitcast %upper0 : tensor<128x32xi32, #blocked> -> tensor<128x32xf32, #blocked>
      %rest0 = arith.subf %x, %high0 : tensor<128x32xf32, #blocked>
      %bits1 = tt.bitcast %rest0 : tensor<128x32xf32, #blocked> -> tensor<128x32xi32, #blocked>
      %upper1 = arith.andi %bits1, %mask : tensor<128x32xi32, #blocked>
      %high1 = tt.bitcast %upper1 : tensor<128x32xi32, #blocked> -> tensor<128x32xf32, #blocked>
      %rest1 = arith.subf %rest0, %high1 : tensor<128x32xf32, #blocked>
      %t = arith.truncf %high0 : tensor<128x32xf32, #blocked> to tensor<128x32xbf16, #blocked>
      %m = arith.truncf %high1 : tensor<128x32xf32, #blocked> to tensor<128x32xbf16, #blocked>
      %l = arith.truncf %rest1 : tensor<128x32xf32, #blocked> to tensor<128x32xbf16, #blocked>
      %low = ttg.convert_layout %l : tensor<128x32xbf16, #blocked> -> tensor<128x32xbf16, #a>
      %d0 = tt.dot %low, %y, %acc : tensor<128x32xbf16, #a> * tensor<32x64xbf16, #b> -> tensor<128x64xf32, #mma>
      %mid = ttg.convert_layout %m : tensor<128x32xbf16, #blocked> -> tensor<128x32xbf16, #a>
      %d1 = tt.dot %mid, %y, %d0 : tensor<128x32xbf16, #a> * tensor<32x64xbf16, #b> -> tensor<128x64xf32, #mma>
      %top = ttg.convert_layout %t : tensor<128x32xbf16, #blocked> -> tensor<128x32xbf16, #a>
      %d2 = tt.dot %top, %y, %d1 : tensor<128x32xbf16, #a> * tensor<32x64xbf16, #b> -> tensor<128x64xf32, #mma>
      scf.yield %d2 : tensor<128x64xf32, #mma>
    }
    tt.return %d : tensor<128x64xf32, #mma>
  }

// Real and imaginary parts lie side by side. Each is an operand; the load goes to shared memory anyway, from which
// threads read both as their dots need them.
// CHECK-LABEL: @halves
//       CHECK:   scf.for
//       CHECK:     %[[Z:.*]] = tt.load
//       CHECK:     ttg.convert_layout %[[Z]]
//   CHECK-NOT:     ttg.convert_layout
//       CHECK:     tt.split {{.*}} -> tensor<128x32xf16, #ttg.dot_op<{opIdx = 0
//       CHECK:     scf.yield
  tt.func @halves(%p: tensor<128x64x!tt.ptr<f16>, #blocked>, %y: tensor<32x64xf16, #b>, %n: i32) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %z = tt.load %p : tensor<128x64x!tt.ptr<f16>, #blocked>
      %pairs = tt.reshape %z : tensor<128x64xf16, #blocked> -> tensor<128x32x2xf16, #pairs>
      %re, %im = tt.split %pairs : tensor<128x32x2xf16, #pairs> -> tensor<128x32xf16, #half>
      %a0 = ttg.convert_layout %re : tensor<128x32xf16, #half> -> tensor<128x32xf16, #a>
      %d0 = tt.dot %a0, %y, %acc : tensor<128x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<128x64xf32, #mma>
      %a1 = ttg.convert_layout %im : tensor<128x32xf16, #half> -> tensor<128x32xf16, #a>
      %d1 = tt.dot %a1, %y, %d0 : tensor<128x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<128x64xf32, #mma>
      scf.yield %d1 : tensor<128x64xf32, #mma>
    }
    tt.return %d : tensor<128x64xf32, #mma>
  }
}
