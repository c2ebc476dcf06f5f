// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --amd-accelerate-matmul=arch=gfx950 | FileCheck %s
// RUN: triton-opt %s -split-input-file --amd-accelerate-matmul="arch=gfx950 tile-rows=16" | FileCheck %s --check-prefix=SMALL

// Operands have 16 bytes a lane, whatever a byte holds. Lanes that go on along K have the scales of further groups; the
// scale of b has b's columns as rows.
// CHECK-DAG: #[[MMA:.*]] = #ttg.amd_mfma<{version = 4, warpsPerCTA = [1, 1], instrShape = [32, 32], isTransposed = true}>
// CHECK-DAG: #[[SA:.*]] = #ttg.linear<{register = {{\[\[0, 2\], \[32, 0\]\]}}, lane = {{\[\[1, 0\], \[2, 0\], \[4, 0\], \[8, 0\], \[16, 0\], \[0, 1\]\]}}, warp = [], block = []}>
// CHECK-DAG: #[[SB:.*]] = #ttg.linear<{register = {{\[\[0, 2\]\]}}, lane = {{\[\[1, 0\], \[2, 0\], \[4, 0\], \[8, 0\], \[16, 0\], \[0, 1\]\]}}, warp = [], block = []}>
// CHECK-LABEL: @mixed
//   CHECK-DAG:   %[[X:.*]] = ttg.convert_layout %{{.*}} -> tensor<64x128xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #[[MMA]], kWidth = 16}>>
//   CHECK-DAG:   %[[Y:.*]] = ttg.convert_layout %{{.*}} -> tensor<64x32xi8, #ttg.dot_op<{opIdx = 1, parent = #[[MMA]], kWidth = 16}>>
//   CHECK-DAG:   %[[S:.*]] = ttg.convert_layout %{{.*}} -> tensor<64x4xi8, #[[SA]]>
//   CHECK-DAG:   %[[T:.*]] = ttg.convert_layout %{{.*}} -> tensor<32x4xi8, #[[SB]]>
//       CHECK:   %[[D:.*]] = tt.dot_scaled %[[X]] scale %[[S]], %[[Y]] scale %[[T]], %{{.*}} lhs = e4m3 rhs = e2m1
//       CHECK:   ttg.convert_layout %[[D]] : tensor<64x32xf32, #[[MMA]]> -> tensor<64x32xf32, #blocked>
// SMALL-DAG: instrShape = [16, 16]
// SMALL-DAG: #ttg.linear<{register = {{\[\[16, 0\], \[32, 0\]\]}}, lane = {{\[\[1, 0\], \[2, 0\], \[4, 0\], \[8, 0\], \[0, 1\], \[0, 2\]\]}}, warp = [], block = []}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 32], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @mixed(%a: tensor<64x128xf8E4M3FN, #blocked>, %s: tensor<64x4xi8, #blocked>, %b: tensor<64x32xi8, #blocked>, %t: tensor<32x4xi8, #blocked>, %c: tensor<64x32xf32, #blocked>) -> tensor<64x32xf32, #blocked> {
    %d = tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e4m3 rhs = e2m1 : tensor<64x128xf8E4M3FN, #blocked>, tensor<64x4xi8, #blocked> * tensor<64x32xi8, #blocked>, tensor<32x4xi8, #blocked> -> tensor<64x32xf32, #blocked>
    tt.return %d : tensor<64x32xf32, #blocked>
  }
}

// -----

// Warps that share rows have copies of a's scales, those that share columns of b's. K of 64 is for large tiles alone.
// CHECK-DAG: #[[MMA:.*]] = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32], isTransposed = true}>
// CHECK-DAG: lane = {{\[\[1, 0\], \[2, 0\], \[4, 0\], \[8, 0\], \[16, 0\], \[0, 1\]\]}}, warp = {{\[\[0, 0\], \[32, 0\]\]}}
// CHECK-DAG: lane = {{\[\[1, 0\], \[2, 0\], \[4, 0\], \[8, 0\], \[16, 0\], \[0, 1\]\]}}, warp = {{\[\[32, 0\], \[0, 0\]\]}}
// CHECK-LABEL: @warps
//       CHECK:   tt.dot_scaled {{.*}} -> tensor<64x64xf32, #[[MMA]]>
// SMALL: instrShape = [32, 32]
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @warps(%a: tensor<64x64xf8E5M2, #blocked>, %s: tensor<64x2xi8, #blocked>, %b: tensor<64x64xf8E4M3FN, #blocked>, %t: tensor<64x2xi8, #blocked>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e5m2 rhs = e4m3 : tensor<64x64xf8E5M2, #blocked>, tensor<64x2xi8, #blocked> * tensor<64x64xf8E4M3FN, #blocked>, tensor<64x2xi8, #blocked> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}
