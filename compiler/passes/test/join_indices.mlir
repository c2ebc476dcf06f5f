// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-join-indices --canonicalize | FileCheck %s

// A pointer for each row takes the indices of rows and of the block, those from outside the loop first. Elements have
// one addition.
// CHECK-LABEL: @joined
//  CHECK-SAME:   %[[P:[a-z0-9]+]]: !tt.ptr<f16>, %[[R:[a-z0-9]+]]: tensor<32x1xi32, #blocked>, %[[C:[a-z0-9]+]]: tensor<1x64xi32, #blocked>
//       CHECK:   scf.for %[[I:[a-z0-9]+]] =
//       CHECK:     %[[ROWS:.*]] = arith.muli {{.*}} : tensor<32x1xi32, #blocked>
//       CHECK:     %[[COLUMNS:.*]] = arith.muli {{.*}} : tensor<1x64xi32, #blocked>
//       CHECK:     %[[BASE:.*]] = tt.addptr %[[P]], %[[I]] : !tt.ptr<f16>, i32
//       CHECK:     %[[START:.*]] = tt.splat %[[BASE]] : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>, #blocked>
//       CHECK:     %[[X:.*]] = tt.addptr %[[START]], %[[R]]
//       CHECK:     %[[Y:.*]] = tt.addptr %[[X]], %[[ROWS]]
//       CHECK:     %[[WIDE:.*]] = tt.broadcast %[[Y]] : tensor<32x1x!tt.ptr<f16>, #blocked> -> tensor<32x64x!tt.ptr<f16>, #blocked>
//       CHECK:     %[[OFFSET:.*]] = tt.broadcast %[[COLUMNS]] : tensor<1x64xi32, #blocked> -> tensor<32x64xi32, #blocked>
//       CHECK:     %[[ADDRESS:.*]] = tt.addptr %[[WIDE]], %[[OFFSET]]
//       CHECK:     tt.load %[[ADDRESS]]
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @joined(%p: !tt.ptr<f16>, %r: tensor<32x1xi32, #blocked>, %c: tensor<1x64xi32, #blocked>, %y: tensor<64x32xf16, #b>, %n: i32) -> tensor<32x32xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32, #mma>) : i32 {
      %u = tt.splat %i : i32 -> tensor<32x1xi32, #blocked>
      %rows = arith.muli %u, %r : tensor<32x1xi32, #blocked>
      %v = tt.splat %i : i32 -> tensor<1x64xi32, #blocked>
      %columns = arith.muli %v, %c : tensor<1x64xi32, #blocked>
      %w = tt.splat %i : i32 -> tensor<32x64xi32, #blocked>
      %base = tt.splat %p : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>, #blocked>
      %w0 = tt.broadcast %columns : tensor<1x64xi32, #blocked> -> tensor<32x64xi32, #blocked>
      %w1 = tt.broadcast %rows : tensor<32x1xi32, #blocked> -> tensor<32x64xi32, #blocked>
      %w2 = tt.broadcast %r : tensor<32x1xi32, #blocked> -> tensor<32x64xi32, #blocked>
      %p0 = tt.addptr %base, %w0 : tensor<32x64x!tt.ptr<f16>, #blocked>, tensor<32x64xi32, #blocked>
      %p1 = tt.addptr %p0, %w1 : tensor<32x64x!tt.ptr<f16>, #blocked>, tensor<32x64xi32, #blocked>
      %p2 = tt.addptr %p1, %w2 : tensor<32x64x!tt.ptr<f16>, #blocked>, tensor<32x64xi32, #blocked>
      %p3 = tt.addptr %p2, %w : tensor<32x64x!tt.ptr<f16>, #blocked>, tensor<32x64xi32, #blocked>
      %x = tt.load %p3 : tensor<32x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<32x64xf16, #blocked> -> tensor<32x64xf16, #a>
      %d = tt.dot %xa, %y, %acc : tensor<32x64xf16, #a> * tensor<64x32xf16, #b> -> tensor<32x32xf32, #mma>
      scf.yield %d : tensor<32x32xf32, #mma>
    }
    tt.return %s : tensor<32x32xf32, #mma>
  }
}

// -----

// Addresses that the loop carries take one addition already.
// CHECK-LABEL: @kept
//       CHECK:   scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[Q:.*]] = %{{.*}})
//       CHECK:     %[[OFFSET:.*]] = tt.broadcast
//       CHECK:     tt.addptr %[[Q]], %[[OFFSET]]
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @kept(%p: tensor<32x64x!tt.ptr<f16>, #blocked>, %r: tensor<32x1xi32, #blocked>, %y: tensor<64x32xf16, #b>, %n: i32) -> tensor<32x32xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %q = %p) -> (tensor<32x32xf32, #mma>, tensor<32x64x!tt.ptr<f16>, #blocked>) : i32 {
      %w = tt.broadcast %r : tensor<32x1xi32, #blocked> -> tensor<32x64xi32, #blocked>
      %t = tt.addptr %q, %w : tensor<32x64x!tt.ptr<f16>, #blocked>, tensor<32x64xi32, #blocked>
      %x = tt.load %t : tensor<32x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<32x64xf16, #blocked> -> tensor<32x64xf16, #a>
      %d = tt.dot %xa, %y, %acc : tensor<32x64xf16, #a> * tensor<64x32xf16, #b> -> tensor<32x32xf32, #mma>
      scf.yield %d, %t : tensor<32x32xf32, #mma>, tensor<32x64x!tt.ptr<f16>, #blocked>
    }
    tt.return %s#0 : tensor<32x32xf32, #mma>
  }
}
