// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=3 registers=65536 max-shared-bytes=204800" | FileCheck %s --check-prefix=FITS
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=3 registers=65536 max-shared-bytes=204799" | FileCheck %s --check-prefix=FULL
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=3 registers=65536 max-shared-bytes=204800 reserved-shared-bytes=1024" | FileCheck %s --check-prefix=FULL

// An operand that is made before the loop keeps its buffer of 8 KiB. With four slots for the other one a block has 40
// KiB, and five blocks fit. Where they would not, or not beside what each block takes for itself, there are three slots.
// FITS-LABEL: @invariant
//       FITS:   tt.load %arg1 {loop.read_on, tt.latency = 2 : i32}
// FULL-LABEL: @invariant
//       FULL:   tt.load %arg1 {tt.latency = 2 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @invariant(%x: tensor<64x64xf16, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
