// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --amd-accelerate-matmul=arch=gfx942 | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: sed -f %S/Inputs/wave32.sed %s | triton-opt -split-input-file --amd-accelerate-matmul=arch=gfx1100 | FileCheck %s --check-prefixes=CHECK,GFX1100
// RUN: sed -f %S/Inputs/wave32.sed %s | triton-opt -split-input-file --amd-accelerate-matmul=arch=gfx1201 | FileCheck %s --check-prefixes=CHECK,GFX1201
// RUN: sed -f %S/Inputs/wave32.sed %s | triton-opt -split-input-file --amd-accelerate-matmul=arch=gfx1030 | FileCheck %s --check-prefixes=CHECK,GFX1030

// Operands come from before their conversion, 16 bytes of a row or column to a lane; each of the four warps holds a
// tile. A GPU without matrix instructions keeps the dot as it is.
// GFX942: #[[MMA:.*]] = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32], isTransposed = true}>
// GFX1100: #[[MMA:.*]] = #ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {register = [], warp = {{\[\[0, 1\], \[1, 0\]\]}}}}>
// GFX1201: #[[MMA:.*]] = #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {register = [], warp = {{\[\[0, 1\], \[1, 0\]\]}}}}>
// CHECK-LABEL: @f16
//  CHECK-SAME: (%[[A:.*]]: tensor<64x32xf16, #blocked>, %[[B:.*]]: tensor<32x64xf16, #blocked>, %[[C:.*]]: tensor<64x64xf32, #blocked>)
//   GFX942-DAG:   %[[X:.*]] = ttg.convert_layout %[[A]] : {{.*}} -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[MMA]], kWidth = 8}>>
//   GFX942-DAG:   %[[Y:.*]] = ttg.convert_layout %[[B]] : {{.*}} -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #[[MMA]], kWidth = 8}>>
//   GFX942-DAG:   %[[Z:.*]] = ttg.convert_layout %[[C]] : {{.*}} -> tensor<64x64xf32, #[[MMA]]>
//       GFX942:   %[[D:.*]] = tt.dot %[[X]], %[[Y]], %[[Z]]
//       GFX942:   ttg.convert_layout %[[D]] : tensor<64x64xf32, #[[MMA]]> -> tensor<64x64xf32, #blocked>
//      GFX1100:   ttg.convert_layout %[[A]] : {{.*}} -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[MMA]], kWidth = 16}>>
//      GFX1201:   ttg.convert_layout %[[A]] : {{.*}} -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[MMA]], kWidth = 8}>>
//      GFX1030:   tt.dot {{.*}} -> tensor<64x64xf32, #blocked>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 16], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f16(%a: tensor<64x32xf16, #blocked>, %b: tensor<32x64xf16, #blocked>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #a>
    %y = ttg.convert_layout %b : tensor<32x64xf16, #blocked> -> tensor<32x64xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// A dot whose result is operand a of the next: each warp holds whole rows, and the second dot takes its operand as the
// lanes hold the first one's result.
// GFX942: warpsPerCTA = [4, 1], instrShape = [16, 16]
// GFX1201: warp = {{\[\[1, 0\], \[2, 0\]\]}}
// CHECK-LABEL: @chained
//  GFX942: tt.dot {{.*}}kWidth = 8
//  GFX942: tt.dot {{.*}}kWidth = 4
// GFX1201: tt.dot {{.*}}kWidth = 8
// GFX1201: tt.dot {{.*}}kWidth = 8
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 16], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @chained(%a: tensor<64x32xf16, #a>, %b: tensor<32x32xf16, #b>, %c: tensor<64x32xf32, #blocked>) -> tensor<64x32xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #blocked>
    %t = arith.truncf %d : tensor<64x32xf32, #blocked> to tensor<64x32xf16, #blocked>
    %x = ttg.convert_layout %t : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #a>
    %e = tt.dot %x, %b, %c : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #blocked>
    tt.return %e : tensor<64x32xf32, #blocked>
  }
}

// -----

// 8-bit floats of a format that the GPU has no instructions for become f16.
// CHECK-LABEL: @ocp
//  GFX942: tt.fp_to_fp {{.*}} -> tensor<64x32xf16, #ttg.dot_op
//  GFX942: tt.dot {{.*}} tensor<64x32xf16
// GFX1100: tt.dot {{.*}} tensor<64x32xf16
// GFX1201-NOT: tt.fp_to_fp
// GFX1201: tt.dot {{.*}} tensor<64x32xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = {{.*}}, kWidth = 16}>>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 16], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @ocp(%a: tensor<64x32xf8E4M3FN, #blocked>, %b: tensor<32x64xf8E4M3FN, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<64x32xf8E4M3FN, #blocked> -> tensor<64x32xf8E4M3FN, #a>
    %d = tt.dot %x, %b, %c : tensor<64x32xf8E4M3FN, #a> * tensor<32x64xf8E4M3FN, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// Doubles go to the tiles of 16, which no encoding transposes; RDNA has nothing for them.
// GFX942: instrShape = [16, 16], isTransposed = false, elementBitWidth = 64
// CHECK-LABEL: @doubles
//  GFX942: tt.dot {{.*}}kWidth = 2
// GFX1100: tt.dot {{.*}} -> tensor<32x32xf64, #blocked>
// GFX1201: tt.dot {{.*}} -> tensor<32x32xf64, #blocked>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 16], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @doubles(%a: tensor<32x32xf64, #a>, %b: tensor<32x32xf64, #b>, %c: tensor<32x32xf64, #blocked>) -> tensor<32x32xf64, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<32x32xf64, #a> * tensor<32x32xf64, #b> -> tensor<32x32xf64, #blocked>
    tt.return %d : tensor<32x32xf64, #blocked>
  }
}

// -----

// Too little of K for any instruction. Of rows there may be fewer than it computes.
//  GFX942: instrShape = [16, 16]
// CHECK-LABEL: @small
//       CHECK: tt.dot {{.*}} -> tensor<16x64xf32, #blocked>
// CHECK-LABEL: @few_rows
//  GFX942: tt.dot {{.*}}kWidth = 8
// GFX1030: tt.dot {{.*}} -> tensor<8x64xf32, #blocked>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @small(%a: tensor<16x4xf16, #a>, %b: tensor<4x64xf16, #b>, %c: tensor<16x64xf32, #blocked>) -> tensor<16x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<16x4xf16, #a> * tensor<4x64xf16, #b> -> tensor<16x64xf32, #blocked>
    tt.return %d : tensor<16x64xf32, #blocked>
  }
  tt.func @few_rows(%a: tensor<8x32xf16, #a>, %b: tensor<32x64xf16, #b>, %c: tensor<8x64xf32, #blocked>) -> tensor<8x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<8x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<8x64xf32, #blocked>
    tt.return %d : tensor<8x64xf32, #blocked>
  }
}
