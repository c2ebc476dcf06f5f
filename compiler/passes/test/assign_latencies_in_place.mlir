// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=2 max-shared-bytes=232448 registers=65536 issued-warps=4" | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=3 max-shared-bytes=99328 registers=65536 issued-warps=4" | FileCheck %s --check-prefix=SMALL
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=2 max-shared-bytes=232448 registers=65536" | FileCheck %s --check-prefix=APART

// Two slots of 66 KiB leave a multiprocessor one block of four warps. With one slot it holds three. Where 97 KiB are all there is, two
// slots do not fit.
// CHECK-LABEL: @one_warp_a_scheduler
//       CHECK:   tt.load %arg0 {loop.in_place, tt.latency = 1 : i32}
//       CHECK:   tt.load %arg1 {loop.in_place, tt.latency = 1 : i32}
//       SMALL:   tt.load %arg0 {loop.in_place, tt.latency = 1 : i32}
//       APART:   tt.load %arg0 {tt.latency = 1 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @one_warp_a_scheduler(%p: tensor<16x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x512x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 512]> : tensor<2xi32>}, %n: i32) -> tensor<16x512xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<16x512xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x512xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<16x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x512x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<16x64xf16, #blocked> -> tensor<16x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x512xf16, #blocked> -> tensor<64x512xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<16x64xf16, #a> * tensor<64x512xf16, #b> -> tensor<16x512xf32, #mma>
      scf.yield %d : tensor<16x512xf32, #mma>
    }
    tt.return %r : tensor<16x512xf32, #mma>
  }
}

// -----

// Two slots leave room for six blocks: their warps have enough to issue.
// CHECK-LABEL: @many_warps
//   CHECK-NOT:   loop.in_place
//       CHECK:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @many_warps(%p: tensor<16x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %n: i32) -> tensor<16x128xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<16x128xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x128xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<16x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x128x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<16x64xf16, #blocked> -> tensor<16x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<16x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<16x128xf32, #mma>
      scf.yield %d : tensor<16x128xf32, #mma>
    }
    tt.return %r : tensor<16x128xf32, #mma>
  }
}

// -----

// wgmma reads the buffers itself, while threads go on.
// CHECK-LABEL: @read_by_the_unit
//   CHECK-NOT:   loop.in_place
//       CHECK:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @read_by_the_unit(%p: tensor<64x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %q: tensor<128x256x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 256]> : tensor<2xi32>}, %n: i32) -> tensor<64x256xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x256xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x256xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x128x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<128x256x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #a>
      %yb = ttg.convert_layout %y : tensor<128x256xf16, #blocked> -> tensor<128x256xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x128xf16, #a> * tensor<128x256xf16, #b> -> tensor<64x256xf32, #mma>
      scf.yield %d : tensor<64x256xf32, #mma>
    }
    tt.return %r : tensor<64x256xf32, #mma>
  }
}
