// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm=target=hip:gfx950 | FileCheck %s

// 8-bit floats of which a lane gives 32: their formats are numbers, and constants of 0 are no scales.
// CHECK-LABEL: llvm.func @formats
//       CHECK:   llvm.bitcast {{.*}} : vector<32xi8> to vector<8xi32>
//       CHECK:   llvm.bitcast {{.*}} : vector<32xi8> to vector<8xi32>
//  CHECK-NEXT:   %[[FP8:.*]] = llvm.mlir.constant(0 : i32) : i32
//  CHECK-NEXT:   %[[BF8:.*]] = llvm.mlir.constant(1 : i32) : i32
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4"(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[FP8]], %[[BF8]], %{{.*}}) : (vector<8xi32>, vector<8xi32>, vector<4xf32>, i32, i32, i32, i32, i32, i32)
//   CHECK-NOT:   llvm.amdgcn.mfma
#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [1, 1], instrShape = [16, 16], isTransposed = false}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 32}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 32}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @formats(%p: !tt.ptr<f32>) {
    %x = arith.constant dense<1.0> : tensor<16x128xf8E4M3FN, #a>
    %y = arith.constant dense<2.0> : tensor<128x16xf8E5M2, #b>
    %z = arith.constant dense<0.0> : tensor<16x16xf32, #mma>
    %d = tt.dot %x, %y, %z : tensor<16x128xf8E4M3FN, #a> * tensor<128x16xf8E5M2, #b> -> tensor<16x16xf32, #mma>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>, #mma>
    tt.store %q, %d : tensor<16x16x!tt.ptr<f32>, #mma>
    tt.return
  }
}
