// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=5 max-shared-bytes=232448 registers=65536 issued-warps=4" | FileCheck %s

// Threads scale what the dot makes. Five buffers of 32 KiB leave each scheduler one warp, three two.
// CHECK-LABEL: @scaled
//       CHECK:   tt.load %arg0 {tt.latency = 2 : i32}
//       CHECK:   tt.load %arg1 {tt.latency = 2 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @scaled(%p: tensor<64x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %q: tensor<128x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %scale: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x128x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<128x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #a>
      %yb = ttg.convert_layout %y : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #b>
      %d = tt.dot %xa, %yb, %zero : tensor<64x128xf16, #a> * tensor<128x64xf16, #b> -> tensor<64x64xf32, #mma>
      %m = arith.mulf %d, %scale : tensor<64x64xf32, #mma>
      %s = arith.addf %acc, %m : tensor<64x64xf32, #mma>
      scf.yield %s : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

// Dots that run one after the other need nobody beside them, but copies far ahead.
// CHECK-LABEL: @runs_on
//       CHECK:   tt.load %arg0 {loop.read_on, tt.latency = 4 : i32}
//       CHECK:   tt.load %arg1 {loop.read_on, tt.latency = 4 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @runs_on(%p: tensor<64x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %q: tensor<128x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x128x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<128x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #a>
      %yb = ttg.convert_layout %y : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x128xf16, #a> * tensor<128x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

// Blocks of two warps: five buffers of 12 KiB leave room for three, and two schedulers with one warp. Four leave room
// for four blocks.
// CHECK-LABEL: @some_are_alone
//       CHECK:   tt.load %arg0 {tt.latency = 3 : i32}
//       CHECK:   tt.load %arg1 {tt.latency = 3 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @some_are_alone(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x32x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %scale: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x32x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #b>
      %d = tt.dot %xa, %yb, %zero : tensor<64x64xf16, #a> * tensor<64x32xf16, #b> -> tensor<64x32xf32, #mma>
      %m = arith.mulf %d, %scale : tensor<64x32xf32, #mma>
      %s = arith.addf %acc, %m : tensor<64x32xf32, #mma>
      scf.yield %s : tensor<64x32xf32, #mma>
    }
    tt.return %r : tensor<64x32xf32, #mma>
  }
}

// -----

// A thread has 256 accumulators, so it reads the other operand again and again from its 16 KiB. Beside these, two
// buffers leave room for four blocks.
// CHECK-LABEL: @reads_again
//       CHECK:   tt.load %arg1 {tt.latency = 1 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @reads_again(%x: tensor<128x64xf16, #blocked>, %q: tensor<64x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %n: i32) -> tensor<128x128xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x128xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %xa = ttg.convert_layout %x : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #a>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32, #mma>) : i32 {
      %y = tt.load %q : tensor<64x128x!tt.ptr<f16>, #blocked>
      %yb = ttg.convert_layout %y : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<128x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<128x128xf32, #mma>
      scf.yield %d : tensor<128x128xf32, #mma>
    }
    tt.return %r : tensor<128x128xf32, #mma>
  }
}
