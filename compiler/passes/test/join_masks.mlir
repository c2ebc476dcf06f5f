// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-join-masks --canonicalize | FileCheck %s

// Conditions on rows are combined as rows, those from outside first. The one on the block goes to the columns, of which
// a thread has one. Elements have one combination.
// CHECK-LABEL: @joined
//  CHECK-SAME:   %{{[a-z0-9]+}}: tensor<32x64x!tt.ptr<f16>, #blocked>, %[[R:[a-z0-9]+]]: tensor<32x1xi1, #blocked>, %[[C:[a-z0-9]+]]: tensor<1x64xi1, #blocked>
//       CHECK:   scf.for
//       CHECK:     %[[ROW:.*]] = arith.cmpi slt, {{.*}} : tensor<32x1xi32, #blocked>
//       CHECK:     %[[EXISTS:.*]] = arith.cmpi slt, {{.*}} : i32
//       CHECK:     %[[BLOCK:.*]] = tt.splat %[[EXISTS]] : i1 -> tensor<1x64xi1, #blocked>
//   CHECK-DAG:     %[[ROWS:.*]] = arith.andi %[[R]], %[[ROW]] : tensor<32x1xi1, #blocked>
//   CHECK-DAG:     %[[COLUMNS:.*]] = arith.andi %[[C]], %[[BLOCK]] : tensor<1x64xi1, #blocked>
//   CHECK-DAG:     %[[A:.*]] = tt.broadcast %[[ROWS]]
//   CHECK-DAG:     %[[B:.*]] = tt.broadcast %[[COLUMNS]]
//       CHECK:     %[[MASK:.*]] = arith.andi {{.*}} : tensor<32x64xi1, #blocked>
//       CHECK:     tt.load %{{.*}}, %[[MASK]]
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @joined(%p: tensor<32x64x!tt.ptr<f16>, #blocked>, %r: tensor<32x1xi1, #blocked>, %c: tensor<1x64xi1, #blocked>, %k: tensor<32x1xi32, #blocked>, %y: tensor<64x32xf16, #b>, %n: i32) -> tensor<32x32xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %last = arith.subi %n, %c1 : i32
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32, #mma>) : i32 {
      %wide = tt.splat %i : i32 -> tensor<32x1xi32, #blocked>
      %row = arith.cmpi slt, %wide, %k : tensor<32x1xi32, #blocked>
      %exists = arith.cmpi slt, %i, %last : i32
      %w0 = tt.broadcast %row : tensor<32x1xi1, #blocked> -> tensor<32x64xi1, #blocked>
      %w1 = tt.broadcast %c : tensor<1x64xi1, #blocked> -> tensor<32x64xi1, #blocked>
      %w2 = tt.broadcast %r : tensor<32x1xi1, #blocked> -> tensor<32x64xi1, #blocked>
      %w3 = tt.splat %exists : i1 -> tensor<32x64xi1, #blocked>
      %m0 = arith.andi %w0, %w1 : tensor<32x64xi1, #blocked>
      %m1 = arith.andi %m0, %w2 : tensor<32x64xi1, #blocked>
      %m2 = arith.andi %m1, %w3 : tensor<32x64xi1, #blocked>
      %x = tt.load %p, %m2 : tensor<32x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<32x64xf16, #blocked> -> tensor<32x64xf16, #a>
      %d = tt.dot %xa, %y, %acc : tensor<32x64xf16, #a> * tensor<64x32xf16, #b> -> tensor<32x32xf32, #mma>
      scf.yield %d : tensor<32x32xf32, #mma>
    }
    tt.return %s : tensor<32x32xf32, #mma>
  }
}

// -----

// A mask of the whole block that is there before the loop takes one combination, as it would if it were joined anew.
// CHECK-LABEL: @kept
//       CHECK:   %[[W:.*]] = arith.andi {{.*}} : tensor<32x64xi1, #blocked>
//       CHECK:   scf.for
//       CHECK:     %[[BLOCK:.*]] = tt.splat {{.*}} : i1 -> tensor<32x64xi1, #blocked>
//       CHECK:     arith.andi %[[W]], %[[BLOCK]] : tensor<32x64xi1, #blocked>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @kept(%p: tensor<32x64x!tt.ptr<f16>, #blocked>, %r: tensor<32x1xi1, #blocked>, %c: tensor<1x64xi1, #blocked>, %y: tensor<64x32xf16, #b>, %n: i32) -> tensor<32x32xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %last = arith.subi %n, %c1 : i32
    %w1 = tt.broadcast %c : tensor<1x64xi1, #blocked> -> tensor<32x64xi1, #blocked>
    %w2 = tt.broadcast %r : tensor<32x1xi1, #blocked> -> tensor<32x64xi1, #blocked>
    %w = arith.andi %w1, %w2 : tensor<32x64xi1, #blocked>
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32, #mma>) : i32 {
      %exists = arith.cmpi slt, %i, %last : i32
      %w3 = tt.splat %exists : i1 -> tensor<32x64xi1, #blocked>
      %m = arith.andi %w, %w3 : tensor<32x64xi1, #blocked>
      %x = tt.load %p, %m : tensor<32x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<32x64xf16, #blocked> -> tensor<32x64xf16, #a>
      %d = tt.dot %xa, %y, %acc : tensor<32x64xf16, #a> * tensor<64x32xf16, #b> -> tensor<32x32xf32, #mma>
      scf.yield %d : tensor<32x32xf32, #mma>
    }
    tt.return %s : tensor<32x32xf32, #mma>
  }
}
