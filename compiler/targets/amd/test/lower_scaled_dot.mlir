// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm=target=hip:gfx950 | FileCheck %s

// Four scales of a lane are the bytes of a word. Without a scale it is 127, which is 1. Of e2m1 a lane gives half as many
// bytes.
// CHECK-LABEL: llvm.func @words
//       CHECK:   %[[WORD:.*]] = llvm.bitcast %{{.*}} : vector<4xi8> to i32
//       CHECK:   %[[X:.*]] = llvm.bitcast %{{.*}} : vector<32xi8> to vector<8xi32>
//       CHECK:   %[[Y:.*]] = llvm.bitcast %{{.*}} : vector<16xi8> to vector<4xi32>
//       CHECK:   %[[ONE:.*]] = llvm.mlir.constant(127 : i32) : i32
//       CHECK:   %[[FP4:.*]] = llvm.mlir.constant(4 : i32) : i32
//  CHECK-NEXT:   %[[FIRST:.*]] = llvm.mlir.constant(0 : i32) : i32
//  CHECK-NEXT:   %[[NONE:.*]] = llvm.mlir.constant(0 : i32) : i32
//  CHECK-NEXT:   llvm.call_intrinsic "llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4"(%[[X]], %[[Y]], %{{[^,]*}}, %{{[^,]*}}, %[[FP4]], %[[FIRST]], %[[WORD]], %[[NONE]], %[[ONE]]) : (vector<8xi32>, vector<4xi32>, vector<4xf32>, i32, i32, i32, i32, i32, i32)
//       CHECK:   %[[ONE:.*]] = llvm.mlir.constant(127 : i32) : i32
//       CHECK:   llvm.mlir.constant(4 : i32) : i32
//  CHECK-NEXT:   %[[SECOND:.*]] = llvm.mlir.constant(1 : i32) : i32
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4"(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[SECOND]], %[[WORD]], %{{[^,]*}}, %[[ONE]])
//   CHECK-NOT:   llvm.amdgcn.mfma
#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [1, 1], instrShape = [16, 16], isTransposed = false}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>
#s = #ttg.linear<{register = [[0, 4]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2]], warp = [], block = []}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @words(%p: !tt.ptr<f32>, %i: i8) {
    %x = arith.constant dense<1.0> : tensor<16x256xf8E5M2, #a>
    %y = arith.constant dense<2> : tensor<128x16xi8, #b>
    %z = arith.constant dense<0.0> : tensor<16x16xf32, #mma>
    %s = tt.splat %i : i8 -> tensor<16x8xi8, #s>
    %d = tt.dot_scaled %x scale %s, %y, %z lhs = e5m2 rhs = e2m1 : tensor<16x256xf8E5M2, #a>, tensor<16x8xi8, #s> * tensor<128x16xi8, #b> -> tensor<16x16xf32, #mma>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>, #mma>
    tt.store %q, %d : tensor<16x16x!tt.ptr<f32>, #mma>
    tt.return
  }
}

// -----

// The product of the turned operands: they change places, and so do their formats and scales.
// CHECK-LABEL: llvm.func @turned
//       CHECK:   %[[WORD:.*]] = llvm.bitcast %{{.*}} : vector<4xi8> to i32
//   CHECK-DAG:   %[[A:.*]] = llvm.bitcast %{{.*}} : vector<32xi8> to vector<8xi32>
//   CHECK-DAG:   %[[B:.*]] = llvm.bitcast %{{.*}} : vector<16xi8> to vector<4xi32>
//       CHECK:   %[[ONE:.*]] = llvm.mlir.constant(127 : i32) : i32
//       CHECK:   "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4"(%[[B]], %[[A]], %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[ONE]], %{{[^,]*}}, %[[WORD]]) : (vector<4xi32>, vector<8xi32>, vector<16xf32>
#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [1, 1], instrShape = [32, 32], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>
#s = #ttg.linear<{register = [], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1]], warp = [], block = []}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @turned(%p: !tt.ptr<f32>, %i: i8) {
    %x = arith.constant dense<1.0> : tensor<32x64xf8E4M3FN, #a>
    %y = arith.constant dense<2> : tensor<32x32xi8, #b>
    %z = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %s = tt.splat %i : i8 -> tensor<32x2xi8, #s>
    %d = tt.dot_scaled %x scale %s, %y, %z lhs = e4m3 rhs = e2m1 : tensor<32x64xf8E4M3FN, #a>, tensor<32x2xi8, #s> * tensor<32x32xi8, #b> -> tensor<32x32xf32, #mma>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #mma>
    tt.store %q, %d : tensor<32x32x!tt.ptr<f32>, #mma>
    tt.return
  }
}
