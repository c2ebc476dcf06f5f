// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=3 max-shared-bytes=65536" | FileCheck %s --check-prefix=FITS
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=3 max-shared-bytes=65535" | FileCheck %s --check-prefix=FULL

// The dot in the branch does not read the loads' buffers, of three slots of 8 KiB each. Its operands have buffers of
// their own, of 8 KiB each. Where these do not fit as well, there is a slot less.
// FITS-LABEL: @branch
// FITS-COUNT-2:   tt.load {{.*}} {tt.latency = 2 : i32}
// FULL-LABEL: @branch
// FULL-COUNT-2:   tt.load {{.*}} {tt.latency = 1 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @branch(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32, %flag: i1) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %e = scf.if %flag -> (tensor<64x64xf32, #mma>) {
        %ya = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
        %xb = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
        %f = tt.dot %ya, %xb, %d : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
        scf.yield %f : tensor<64x64xf32, #mma>
      } else {
        scf.yield %d : tensor<64x64xf32, #mma>
      }
      scf.yield %e : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
