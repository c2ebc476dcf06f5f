// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=4 max-shared-bytes=232448" | FileCheck %s
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=4 max-shared-bytes=229375" | FileCheck %s --check-prefix=LESS

// Threads turn the bytes of b on their way from the slot to a buffer of 32 KiB that wgmma reads. Beside it there is room for four
// slots of 48 KiB, but not for one more of a. Without room for the buffer there are three.
// CHECK-LABEL: @turned
//       CHECK:   tt.load %arg0 {tt.latency = 3 : i32}
//       CHECK:   tt.load %arg1 {tt.latency = 3 : i32}
//  LESS-LABEL: @turned
//        LESS:   tt.load %arg0 {{.*}}tt.latency = 2 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 256, 32]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @turned(%p: tensor<128x128x!tt.ptr<i8>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %q: tensor<128x256x!tt.ptr<i8>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 256]> : tensor<2xi32>}, %n: i32) -> tensor<128x256xi32, #mma> {
    %zero = arith.constant dense<0> : tensor<128x256xi32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xi32, #mma>) : i32 {
      %x = tt.load %p : tensor<128x128x!tt.ptr<i8>, #blocked>
      %y = tt.load %q : tensor<128x256x!tt.ptr<i8>, #blocked>
      %xa = ttg.convert_layout %x : tensor<128x128xi8, #blocked> -> tensor<128x128xi8, #a>
      %yb = ttg.convert_layout %y : tensor<128x256xi8, #blocked> -> tensor<128x256xi8, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<128x128xi8, #a> * tensor<128x256xi8, #b> -> tensor<128x256xi32, #mma>
      scf.yield %d : tensor<128x256xi32, #mma>
    }
    tt.return %r : tensor<128x256xi32, #mma>
  }
}
