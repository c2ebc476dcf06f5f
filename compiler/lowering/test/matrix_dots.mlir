// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm=target=cuda:90 | FileCheck %s

// Two k-slices over two column tiles: the slices are the outer loop, each tile's accumulators go from slice to slice.
// CHECK-LABEL: llvm.func @slices
//       CHECK:   %[[D0:.*]] = llvm.inline_asm {{.*}}mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
//       CHECK:   %[[S0:.*]] = llvm.extractvalue %[[D0]][0]
//       CHECK:   llvm.inline_asm {{.*}}mma.sync.aligned.m16n8k16
//       CHECK:   llvm.inline_asm {{.*}}mma.sync.aligned.m16n8k16{{.*}} %[[S0]]
//       CHECK:   llvm.inline_asm {{.*}}mma.sync.aligned.m16n8k16
//   CHECK-NOT:   mma.sync
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @slices(%p: !tt.ptr<f16>) {
    %x = arith.constant dense<1.0> : tensor<16x32xf16, #a>
    %y = arith.constant dense<2.0> : tensor<32x16xf16, #b>
    %z = arith.constant dense<0.0> : tensor<16x16xf32, #mma>
    %d = tt.dot %x, %y, %z : tensor<16x32xf16, #a> * tensor<32x16xf16, #b> -> tensor<16x16xf32, #mma>
    %q = tt.splat %p : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>, #mma>
    %h = arith.truncf %d : tensor<16x16xf32, #mma> to tensor<16x16xf16, #mma>
    tt.store %q, %h : tensor<16x16x!tt.ptr<f16>, #mma>
    tt.return
  }
}

// -----

// Bytes go four a word, accumulators are i32 and do not wrap.
// CHECK-LABEL: llvm.func @bytes
//       CHECK:   llvm.inline_asm {{.*}}mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @bytes(%p: !tt.ptr<i32>) {
    %x = arith.constant dense<1> : tensor<16x32xi8, #a>
    %y = arith.constant dense<2> : tensor<32x8xi8, #b>
    %z = arith.constant dense<0> : tensor<16x8xi32, #mma>
    %d = tt.dot %x, %y, %z : tensor<16x32xi8, #a> * tensor<32x8xi8, #b> -> tensor<16x8xi32, #mma>
    %q = tt.splat %p : !tt.ptr<i32> -> tensor<16x8x!tt.ptr<i32>, #mma>
    tt.store %q, %d : tensor<16x8x!tt.ptr<i32>, #mma>
    tt.return
  }
}

// -----

// A column alone: the tile has eight, of which each lane holds two copies. Both go from slice to slice as they are.
// CHECK-LABEL: llvm.func @column
//       CHECK:   %[[D:.*]] = llvm.inline_asm {{.*}}mma.sync.aligned.m16n8k16
//       CHECK:   %[[S0:.*]] = llvm.extractvalue %[[D]][0]
//       CHECK:   %[[S1:.*]] = llvm.extractvalue %[[D]][1]
//       CHECK:   %[[S2:.*]] = llvm.extractvalue %[[D]][2]
//       CHECK:   %[[S3:.*]] = llvm.extractvalue %[[D]][3]
//       CHECK:   llvm.inline_asm {{.*}}mma.sync.aligned.m16n8k16{{.*}} %[[S0]], %[[S1]], %[[S2]], %[[S3]]
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @column(%p: !tt.ptr<f32>) {
    %x = arith.constant dense<1.0> : tensor<16x32xf16, #a>
    %y = arith.constant dense<2.0> : tensor<32x1xf16, #b>
    %z = arith.constant dense<0.0> : tensor<16x1xf32, #mma>
    %d = tt.dot %x, %y, %z : tensor<16x32xf16, #a> * tensor<32x1xf16, #b> -> tensor<16x1xf32, #mma>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>, #mma>
    tt.store %q, %d : tensor<16x1x!tt.ptr<f32>, #mma>
    tt.return
  }
}

// -----

// Accumulators of f16 lie two in a register, and go from slice to slice so. A result of bf16 is rounded at the end.
// CHECK-LABEL: llvm.func @halves
//       CHECK:   %[[D:.*]] = llvm.inline_asm {{.*}}m16n8k16.row.col.f16.f16.f16.f16 {$0, $1}, {$2, $3, $4, $5}, {$6, $7}, {$0, $1};", "=r,=r,r,r,r,r,r,r,0,1"
//       CHECK:   %[[S0:.*]] = llvm.extractvalue %[[D]][0] : !llvm.struct<(i32, i32)>
//       CHECK:   llvm.inline_asm {{.*}}m16n8k16.row.col.f16.f16.f16.f16
//   CHECK-NOT:   llvm.fptrunc
//       CHECK:   llvm.inline_asm {{.*}}m16n8k16.row.col.f32.bf16.bf16.f32
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @halves(%p: !tt.ptr<f16>, %s: !tt.ptr<bf16>) {
    %x = arith.constant dense<1.0> : tensor<16x32xf16, #a>
    %y = arith.constant dense<2.0> : tensor<32x8xf16, #b>
    %z = arith.constant dense<3.0> : tensor<16x8xf16, #mma>
    %d = tt.dot %x, %y, %z : tensor<16x32xf16, #a> * tensor<32x8xf16, #b> -> tensor<16x8xf16, #mma>
    %q = tt.splat %p : !tt.ptr<f16> -> tensor<16x8x!tt.ptr<f16>, #mma>
    tt.store %q, %d : tensor<16x8x!tt.ptr<f16>, #mma>
    %bx = arith.constant dense<1.0> : tensor<16x16xbf16, #a>
    %by = arith.constant dense<2.0> : tensor<16x8xbf16, #b>
    %bz = arith.constant dense<3.0> : tensor<16x8xbf16, #mma>
    %bd = tt.dot %bx, %by, %bz : tensor<16x16xbf16, #a> * tensor<16x8xbf16, #b> -> tensor<16x8xbf16, #mma>
    %bq = tt.splat %s : !tt.ptr<bf16> -> tensor<16x8x!tt.ptr<bf16>, #mma>
    tt.store %bq, %bd : tensor<16x8x!tt.ptr<bf16>, #mma>
    tt.return
  }
}
