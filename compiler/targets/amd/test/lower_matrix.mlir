// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm=target=hip:gfx942 | FileCheck %s

// kWidth of 8: each run of a lane's eight elements is two instructions; the accumulators go from one to the other.
// CHECK-LABEL: llvm.func @wide
//       CHECK:   %[[S0:.*]] = llvm.call_intrinsic "llvm.amdgcn.mfma.f32.32x32x8f16"({{.*}}) : (vector<4xf16>, vector<4xf16>, vector<16xf32>, i32, i32, i32)
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.mfma.f32.32x32x8f16"(%{{.*}}, %{{.*}}, %[[S0]],
//   CHECK-NOT:   llvm.amdgcn.mfma
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 32], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @wide(%p: !tt.ptr<f32>) {
    %x = arith.constant dense<1.0> : tensor<32x16xf16, #a>
    %y = arith.constant dense<2.0> : tensor<16x32xf16, #b>
    %z = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %d = tt.dot %x, %y, %z : tensor<32x16xf16, #a> * tensor<16x32xf16, #b> -> tensor<32x32xf32, #mma>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #mma>
    tt.store %q, %d : tensor<32x32x!tt.ptr<f32>, #mma>
    tt.return
  }
}

// -----

// bf16 travels as i16.
// CHECK-LABEL: llvm.func @brain
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x16bf16.1k"({{.*}}) : (vector<4xi16>, vector<4xi16>, vector<4xf32>, i32, i32, i32)
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [16, 16], isTransposed = false}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @brain(%p: !tt.ptr<f32>) {
    %x = arith.constant dense<1.0> : tensor<16x16xbf16, #a>
    %y = arith.constant dense<2.0> : tensor<16x16xbf16, #b>
    %z = arith.constant dense<0.0> : tensor<16x16xf32, #mma>
    %d = tt.dot %x, %y, %z : tensor<16x16xbf16, #a> * tensor<16x16xbf16, #b> -> tensor<16x16xf32, #mma>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>, #mma>
    tt.store %q, %d : tensor<16x16x!tt.ptr<f32>, #mma>
    tt.return
  }
}
