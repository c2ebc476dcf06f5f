// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=2 least-copy-bytes=0 thread-registers=112" | FileCheck %s --check-prefixes=CHECK,FITS
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=2 least-copy-bytes=0 thread-registers=111" | FileCheck %s --check-prefixes=CHECK,FULL

// What waits stands beside 32 registers of accumulators that the loop carries, 8 and 32 of a step along K of the operands, and 32
// of addresses: the 8 of the load make 112.
// CHECK-LABEL: tt.func @waits
//        FITS:   tt.load %arg{{[0-9]+}} {loop.in_registers, tt.latency = 1 : i32}
//        FULL:   tt.load %arg{{[0-9]+}} :
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
#wmma = #ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {register = [[0, 1], [0, 2]], warp = [[1, 0], [2, 0]]}}>
#a = #ttg.dot_op<{opIdx = 0, parent = #wmma, kWidth = 16}>
#b = #ttg.dot_op<{opIdx = 1, parent = #wmma, kWidth = 16}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @waits(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %y: tensor<32x64xf16, #blocked>, %n: i32) -> tensor<64x64xf32, #wmma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #wmma>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #wmma>) : i32 {
      %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #a>
      %yb = ttg.convert_layout %y : tensor<32x64xf16, #blocked> -> tensor<32x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #wmma>
      scf.yield %d : tensor<64x64xf32, #wmma>
    }
    tt.return %sum : tensor<64x64xf32, #wmma>
  }
}
