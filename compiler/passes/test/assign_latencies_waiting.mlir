// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=3 max-shared-bytes=232448 reserved-shared-bytes=1024 registers=65536 issued-warps=4 word-instructions=25" | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=3 max-shared-bytes=232448 reserved-shared-bytes=1024 registers=65536 issued-warps=4 word-instructions=10" | FileCheck %s --check-prefix=FAST
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=2 max-shared-bytes=232448 reserved-shared-bytes=1024 registers=65536 issued-warps=4 word-instructions=25 bytes-on-the-way=25600" | FileCheck %s --check-prefix=MUCH
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=2 max-shared-bytes=232448 reserved-shared-bytes=1024 registers=65536 issued-warps=4 word-instructions=25 bytes-on-the-way=40000" | FileCheck %s --check-prefix=LITTLE
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=3 max-shared-bytes=232448 reserved-shared-bytes=1024 registers=65536 issued-warps=4 word-instructions=25 bytes-on-the-way=25600" | FileCheck %s --check-prefix=AHEAD

// A thread copies 32 words for products of 128 cycles: memory takes far longer. Without the slot that is read, 6 blocks
// fit instead of 4. Where memory is faster, that slot is in use. Alone it would make a block wait for each copy; 6 blocks
// have much on its way with two.
// CHECK-LABEL: @waits
//       CHECK:   tt.load %arg0 {loop.in_place, tt.latency = 2 : i32}
//       CHECK:   tt.load %arg1 {loop.in_place, tt.latency = 2 : i32}
//  FAST-LABEL: @waits
//        FAST:   tt.load %arg0 {tt.latency = 2 : i32}
//  MUCH-LABEL: @waits
//        MUCH:   tt.load %arg0 {tt.latency = 1 : i32}
// LITTLE-LABEL: @waits
//      LITTLE:   tt.load %arg0 {loop.in_place, tt.latency = 1 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @waits(%p: tensor<16x256x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[16, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 256]> : tensor<2xi32>}, %q: tensor<256x16x!tt.ptr<f16>, #blocked1> {tt.divisibility = dense<[16, 16]> : tensor<2xi32>, tt.contiguity = dense<[256, 1]> : tensor<2xi32>}, %n: i32) -> tensor<16x16xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<16x256x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<256x16x!tt.ptr<f16>, #blocked1>
      %xa = ttg.convert_layout %x : tensor<16x256xf16, #blocked> -> tensor<16x256xf16, #a>
      %yb = ttg.convert_layout %y : tensor<256x16xf16, #blocked1> -> tensor<256x16xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<16x256xf16, #a> * tensor<256x16xf16, #b> -> tensor<16x16xf32, #mma>
      scf.yield %d : tensor<16x16xf32, #mma>
    }
    tt.return %r : tensor<16x16xf32, #mma>
  }
}

// -----

// Without the slot that is read, 4 blocks fit instead of 3.
// CHECK-LABEL: @a_third_more
//       CHECK:   tt.load %arg0 {loop.in_place, tt.latency = 2 : i32}
//       CHECK:   tt.load %arg1 {loop.in_place, tt.latency = 2 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @a_third_more(%p: tensor<32x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[16, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %q: tensor<128x64x!tt.ptr<f16>, #blocked1> {tt.divisibility = dense<[16, 16]> : tensor<2xi32>, tt.contiguity = dense<[128, 1]> : tensor<2xi32>}, %n: i32) -> tensor<32x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<32x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<32x128x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<128x64x!tt.ptr<f16>, #blocked1>
      %xa = ttg.convert_layout %x : tensor<32x128xf16, #blocked> -> tensor<32x128xf16, #a>
      %yb = ttg.convert_layout %y : tensor<128x64xf16, #blocked1> -> tensor<128x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<32x128xf16, #a> * tensor<128x64xf16, #b> -> tensor<32x64xf32, #mma>
      scf.yield %d : tensor<32x64xf32, #mma>
    }
    tt.return %r : tensor<32x64xf32, #mma>
  }
}

// -----

// Threads compute with all that the dot makes: how many registers that takes is not known here.
// CHECK-LABEL: @computes
//   CHECK-NOT:   loop.in_place
//       CHECK:   tt.load %arg0 {tt.latency = 2 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @computes(%p: tensor<16x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[16, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %q: tensor<128x64x!tt.ptr<f16>, #blocked1> {tt.divisibility = dense<[16, 16]> : tensor<2xi32>, tt.contiguity = dense<[128, 1]> : tensor<2xi32>}, %n: i32) -> tensor<16x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<16x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<16x128x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<128x64x!tt.ptr<f16>, #blocked1>
      %xa = ttg.convert_layout %x : tensor<16x128xf16, #blocked> -> tensor<16x128xf16, #a>
      %yb = ttg.convert_layout %y : tensor<128x64xf16, #blocked1> -> tensor<128x64xf16, #b>
      %d = tt.dot %xa, %yb, %zero : tensor<16x128xf16, #a> * tensor<128x64xf16, #b> -> tensor<16x64xf32, #mma>
      %m = arith.maximumf %d, %acc : tensor<16x64xf32, #mma>
      scf.yield %m : tensor<16x64xf32, #mma>
    }
    tt.return %r : tensor<16x64xf32, #mma>
  }
}

// -----

// What the dot makes is little, and the loop keeps no sum. With one slot, 6 blocks fit instead of 2: they have as much on
// its way as 3 blocks of two slots, also where they run once.
// CHECK-LABEL: @scores
//       CHECK:   tt.load %arg0 {loop.in_place, tt.latency = 1 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @scores(%p: tensor<128x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[16, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %y: tensor<128x8xf16, #b>, %o: tensor<128x8x!tt.ptr<f32>, #mma>, %n: i32) {
    %zero = arith.constant dense<0.0> : tensor<128x8xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %p : tensor<128x128x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<128x128xf16, #blocked> -> tensor<128x128xf16, #a>
      %d = tt.dot %xa, %y, %zero : tensor<128x128xf16, #a> * tensor<128x8xf16, #b> -> tensor<128x8xf32, #mma>
      %s = tt.splat %i : i32 -> tensor<128x8xi32, #mma>
      %q = tt.addptr %o, %s : tensor<128x8x!tt.ptr<f32>, #mma>, tensor<128x8xi32, #mma>
      tt.store %q, %d : tensor<128x8x!tt.ptr<f32>, #mma>
    }
    tt.return
  }
}

// -----

// Three slots of 24 KiB leave some schedulers one warp, two leave each two. In place these hold what is two iterations
// ahead. Copies that shall be one iteration ahead need no more than that.
// AHEAD-LABEL: @keeps_ahead
//       AHEAD:   tt.load %arg0 {loop.in_place, tt.latency = 2 : i32}
//       AHEAD:   tt.load %arg1 {loop.in_place, tt.latency = 2 : i32}
//  MUCH-LABEL: @keeps_ahead
//        MUCH:   tt.load %arg0 {tt.latency = 1 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [2, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 2], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @keeps_ahead(%p: tensor<16x256x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[16, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 256]> : tensor<2xi32>}, %q: tensor<256x32x!tt.ptr<f16>, #blocked1> {tt.divisibility = dense<[16, 16]> : tensor<2xi32>, tt.contiguity = dense<[256, 1]> : tensor<2xi32>}, %n: i32) -> tensor<16x32xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<16x32xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x32xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<16x256x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<256x32x!tt.ptr<f16>, #blocked1>
      %xa = ttg.convert_layout %x : tensor<16x256xf16, #blocked> -> tensor<16x256xf16, #a>
      %yb = ttg.convert_layout %y : tensor<256x32xf16, #blocked1> -> tensor<256x32xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<16x256xf16, #a> * tensor<256x32xf16, #b> -> tensor<16x32xf32, #mma>
      scf.yield %d : tensor<16x32xf32, #mma>
    }
    tt.return %r : tensor<16x32xf32, #mma>
  }
}
