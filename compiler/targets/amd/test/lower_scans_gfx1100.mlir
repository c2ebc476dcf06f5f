// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=hip:gfx1100 | FileCheck %s

// The upper row takes the lower one's total by a scalar register.
// CHECK-LABEL: llvm.func @wave
//   CHECK-NOT:   llvm.amdgcn.ds.
// CHECK-COUNT-4:   llvm.call_intrinsic "llvm.amdgcn.update.dpp"
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.readlane"
//   CHECK-NOT:   llvm.amdgcn.ds.
//       CHECK:   llvm.return
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @wave(%p: tensor<32x!tt.ptr<f32>, #blocked>, %x: tensor<32xf32, #blocked>) {
    %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }) : (tensor<32xf32, #blocked>) -> tensor<32xf32, #blocked>
    tt.store %p, %s : tensor<32x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

// Down the columns of a tile: lanes that are 8 and 16 apart.
// CHECK-LABEL: llvm.func @columns
//   CHECK-NOT:   llvm.amdgcn.ds.
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.update.dpp"
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.permlanex16"
//   CHECK-NOT:   llvm.amdgcn.ds.
//       CHECK:   llvm.return
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @columns(%p: tensor<4x8x!tt.ptr<f32>, #blocked>, %x: tensor<4x8xf32, #blocked>) {
    %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }) : (tensor<4x8xf32, #blocked>) -> tensor<4x8xf32, #blocked>
    tt.store %p, %s : tensor<4x8x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
