// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=4 max-shared-bytes=232448 reserved-shared-bytes=1024 registers=65536 issued-warps=4" | FileCheck %s
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=3 max-shared-bytes=232448 reserved-shared-bytes=1024 registers=65536 issued-warps=4" | FileCheck %s --check-prefix=THREE

// Four slots of 24 KiB leave each scheduler two warps, three slots leave it three. Where no more than three are asked
// for, copies go to a slot of their own.
// CHECK-LABEL: @sums
//       CHECK:   tt.load %arg0 {loop.in_place, tt.latency = 3 : i32}
//       CHECK:   tt.load %arg1 {loop.in_place, tt.latency = 3 : i32}
// THREE-LABEL: @sums
//       THREE:   tt.load %arg0 {tt.latency = 2 : i32}
//       THREE:   tt.load %arg1 {tt.latency = 2 : i32}
// Threads compute with what the dot makes, and may lack the registers for a third warp.
// CHECK-LABEL: @maxima
//       CHECK:   tt.load %arg0 {tt.latency = 3 : i32}
//       CHECK:   tt.load %arg1 {tt.latency = 3 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @sums(%p: tensor<32x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %q: tensor<128x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<32x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<32x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<32x128x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<128x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<32x128xf16, #blocked> -> tensor<32x128xf16, #a>
      %yb = ttg.convert_layout %y : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<32x128xf16, #a> * tensor<128x64xf16, #b> -> tensor<32x64xf32, #mma>
      scf.yield %d : tensor<32x64xf32, #mma>
    }
    tt.return %r : tensor<32x64xf32, #mma>
  }
  tt.func @maxima(%p: tensor<32x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %q: tensor<128x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<32x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<32x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<32x128x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<128x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<32x128xf16, #blocked> -> tensor<32x128xf16, #a>
      %yb = ttg.convert_layout %y : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #b>
      %d = tt.dot %xa, %yb, %zero : tensor<32x128xf16, #a> * tensor<128x64xf16, #b> -> tensor<32x64xf32, #mma>
      %m = arith.maximumf %d, %acc : tensor<32x64xf32, #mma>
      scf.yield %m : tensor<32x64xf32, #mma>
    }
    tt.return %r : tensor<32x64xf32, #mma>
  }
}
