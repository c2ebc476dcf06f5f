// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-accelerate-matmul=compute-capability=100 | FileCheck %s
// RUN: triton-opt %s -split-input-file --nvidia-accelerate-matmul=compute-capability=120 | FileCheck %s --check-prefix=NONE

// The loop does nothing with the accumulators but add to them. Only sm_100 has tensor memory.
//       CHECK: #[[MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 5, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [128, 64, 16]}>
// CHECK-LABEL: @carried
//       CHECK:   tt.dot {{.*}} -> tensor<128x64xf32, #[[MMA]]>
//    NONE-NOT: versionMajor = 5
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @carried(%a: tensor<128x32xf16, #blocked>, %b: tensor<32x64xf16, #blocked>, %c: tensor<128x64xf32, #blocked>, %n: i32) -> tensor<128x64xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x = ttg.convert_layout %a : tensor<128x32xf16, #blocked> -> tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
    %y = ttg.convert_layout %b : tensor<32x64xf16, #blocked> -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<128x64xf32, #blocked>) : i32 {
      %d = tt.dot %x, %y, %acc : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<128x64xf32, #blocked>
      scf.yield %d : tensor<128x64xf32, #blocked>
    }
    tt.return %r : tensor<128x64xf32, #blocked>
  }
}

// -----

// Accumulators that the loop scales are in registers; those that begin at zero need not be. Of eight warps the second four have rows, or
// columns, of their own.
//   CHECK-DAG: #[[SYNC:.*]] = #ttg.nvidia_mma<{versionMajor = 2,
//   CHECK-DAG: #[[BELOW:.*]] = #ttg.nvidia_mma<{versionMajor = 5, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [128, 64, 16]}>
//   CHECK-DAG: #[[BESIDE:.*]] = #ttg.nvidia_mma<{versionMajor = 5, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [64, 32, 16]}>
// CHECK-LABEL: @scaled
//       CHECK:   tt.dot {{.*}} -> tensor<128x64xf32, #[[SYNC]]>
// CHECK-LABEL: @below
//       CHECK:   tt.dot {{.*}} -> tensor<256x64xf32, #[[BELOW]]>
// CHECK-LABEL: @beside
//       CHECK:   tt.dot {{.*}} -> tensor<64x64xf32, #[[BESIDE]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @scaled(%a: tensor<128x32xf16, #a>, %b: tensor<32x64xf16, #b>, %c: tensor<128x64xf32, #blocked>, %n: i32) -> tensor<128x64xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<128x64xf32, #blocked>) : i32 {
      %scaled = arith.mulf %acc, %c : tensor<128x64xf32, #blocked>
      %d = tt.dot %a, %b, %scaled : tensor<128x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<128x64xf32, #blocked>
      scf.yield %d : tensor<128x64xf32, #blocked>
    }
    tt.return %r : tensor<128x64xf32, #blocked>
  }
  tt.func public @below(%a: tensor<256x32xf16, #a>, %b: tensor<32x64xf16, #b>) -> tensor<256x64xf32, #blocked> {
    %zero = arith.constant dense<0.0> : tensor<256x64xf32, #blocked>
    %d = tt.dot %a, %b, %zero : tensor<256x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<256x64xf32, #blocked>
    tt.return %d : tensor<256x64xf32, #blocked>
  }
  tt.func public @beside(%a: tensor<64x32xf16, #a>, %b: tensor<32x64xf16, #b>) -> tensor<64x64xf32, #blocked> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #blocked>
    %d = tt.dot %a, %b, %zero : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}
