// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=3 max-shared-bytes=233472" | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=3 max-shared-bytes=57344" | FileCheck %s --check-prefix=FULL
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=3 max-shared-bytes=233472 registers=65536" | FileCheck %s --check-prefix=BLOCKS
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=2 max-shared-bytes=174080 registers=65536" | FileCheck %s --check-prefix=SECOND

// wgmma reads the buffers itself, and the iteration does not use its accumulators: a slot more, which would take 64 KiB. With less
// memory, and where a multiprocessor would then hold three blocks instead of four, there is none.
// CHECK-LABEL: @sums_wait
//       CHECK:   tt.load %arg0 {loop.read_on, tt.latency = 2 : i32}
//       CHECK:   tt.load %arg1 {loop.read_on, tt.latency = 2 : i32}
//        FULL:   tt.load %arg0 {tt.latency = 2 : i32}
//      BLOCKS:   tt.load %arg0 {tt.latency = 2 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @sums_wait(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

// The iteration itself uses the accumulators.
// CHECK-LABEL: @sums_are_used
//   CHECK-NOT:   loop.read_on
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @sums_are_used(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %e = tt.dot %xa, %yb, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %d = arith.addf %e, %acc : tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

// A thread has 256 accumulators. Not all have registers, so a dot's first rows end before the others begin.
// CHECK-LABEL: @lacks_registers
//       CHECK:   tt.load %arg0 {loop.read_on
//      BLOCKS:   tt.func @lacks_registers
//  BLOCKS-NOT:   loop.read_on
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @lacks_registers(%p: tensor<256x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %n: i32) -> tensor<256x128xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<256x128xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<256x128xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<256x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x128x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<256x64xf16, #blocked> -> tensor<256x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<256x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<256x128xf32, #mma>
      scf.yield %d : tensor<256x128xf32, #mma>
    }
    tt.return %r : tensor<256x128xf32, #mma>
  }
}

// -----

// Threads make an operand, which has a buffer of 16 KiB, or two where blocks are alone. Beside one of these and two slots
// of the load a second block fits, beside two buffers or a third slot it does not. So there is no third slot.
// CHECK-LABEL: @second_block
//       CHECK:   tt.load %arg0 {loop.read_on, tt.latency = 2 : i32}
// SECOND-LABEL: @second_block
//       SECOND:   tt.load %arg0 {tt.latency = 1 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @second_block(%q: tensor<128x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %n: i32) -> tensor<64x128xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x128xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x128xf32, #mma>) : i32 {
      %y = tt.load %q : tensor<128x128x!tt.ptr<f16>, #blocked>
      %s = tt.splat %i : i32 -> tensor<64x128xi32, #blocked>
      %x = arith.sitofp %s : tensor<64x128xi32, #blocked> to tensor<64x128xf16, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #a>
      %yb = ttg.convert_layout %y : tensor<128x128xf16, #blocked> -> tensor<128x128xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x128xf16, #a> * tensor<128x128xf16, #b> -> tensor<64x128xf32, #mma>
      scf.yield %d : tensor<64x128xf32, #mma>
    }
    tt.return %r : tensor<64x128xf32, #mma>
  }
}
