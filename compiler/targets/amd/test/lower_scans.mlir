// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=hip:gfx942 | FileCheck %s --check-prefixes=CHECK,GFX9
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=hip:gfx950 | FileCheck %s --check-prefixes=CHECK,GFX9

// A whole wave: from one to eight lanes before within rows of 16, then from the last lanes of the rows and of the half
// before.
// CHECK-LABEL: llvm.func @wave
//   CHECK-NOT:   llvm.amdgcn.ds.
//       CHECK:   llvm.mlir.constant(273 : i32)
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.update.dpp"
//       CHECK:   llvm.mlir.constant(274 : i32)
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.update.dpp"
//       CHECK:   llvm.mlir.constant(276 : i32)
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.update.dpp"
//       CHECK:   llvm.mlir.constant(280 : i32)
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.update.dpp"
//       CHECK:   llvm.mlir.constant(322 : i32)
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.update.dpp"
//       CHECK:   llvm.mlir.constant(323 : i32)
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.update.dpp"
//   CHECK-NOT:   llvm.amdgcn.ds.
//       CHECK:   llvm.return
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @wave(%p: !tt.ptr<i32>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
    %s = "tt.scan"(%r) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.scan.return %c : i32
    }) : (tensor<64xi32, #blocked>) -> tensor<64xi32, #blocked>
    %q = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #blocked>
    %o = tt.addptr %q, %r : tensor<64x!tt.ptr<i32>, #blocked>, tensor<64xi32, #blocked>
    tt.store %o, %s : tensor<64x!tt.ptr<i32>, #blocked>
    tt.return
  }
}

// -----

// Eight lanes, backward, of a tile with eight columns; what four neighbours of a thread add up to goes on.
// CHECK-LABEL: llvm.func @part_of_a_row
//   CHECK-NOT:   llvm.amdgcn.ds.
// CHECK-COUNT-4:   llvm.call_intrinsic "llvm.amdgcn.update.dpp"
//   CHECK-NOT:   llvm.amdgcn.ds.
//       CHECK:   llvm.return
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @part_of_a_row(%p: tensor<8x32x!tt.ptr<f32>, #blocked>, %x: tensor<8x32xf32, #blocked>) {
    %s = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }) : (tensor<8x32xf32, #blocked>) -> tensor<8x32xf32, #blocked>
    tt.store %p, %s : tensor<8x32x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

// The first of the largest in eight lanes: the last lane combines, and all take its value. No move goes through LDS.
// GFX9-LABEL: llvm.func @largest
//   GFX9-NOT:   llvm.amdgcn.ds.
//       GFX9:   llvm.return
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#slice = #ttg.slice<{dim = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @largest(%p: tensor<8x!tt.ptr<i32>, #slice>, %x: tensor<8x8xf32, #blocked>, %i: tensor<8x8xi32, #blocked>) {
    %s:2 = "tt.reduce"(%x, %i) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %j: i32, %b: f32, %k: i32):
      %c = arith.cmpf oge, %a, %b : f32
      %d = arith.select %c, %a, %b : f32
      %e = arith.select %c, %j, %k : i32
      tt.reduce.return %d, %e : f32, i32
    }) : (tensor<8x8xf32, #blocked>, tensor<8x8xi32, #blocked>) -> (tensor<8xf32, #slice>, tensor<8xi32, #slice>)
    tt.store %p, %s#1 : tensor<8x!tt.ptr<i32>, #slice>
    tt.return
  }
}
