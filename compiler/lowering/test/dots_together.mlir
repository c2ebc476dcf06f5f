// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm | FileCheck %s

// Dots that share operands take one element of K after the other together. The third adds to the sums of the second.
// CHECK-LABEL: llvm.func internal @together
//  CHECK-SAME:   (%[[A0:[a-z0-9]+]]: f32, %[[A1:[a-z0-9]+]]: f32, %[[B0:[a-z0-9]+]]: f32, %[[B1:[a-z0-9]+]]: f32, %[[X0:[a-z0-9]+]]: f32, %[[X1:[a-z0-9]+]]: f32, %[[Y0:[a-z0-9]+]]: f32, %[[Y1:[a-z0-9]+]]: f32, %[[Z:[a-z0-9]+]]: f32
//       CHECK:   %[[D0:.*]] = llvm.intr.fma(%[[A0]], %[[X0]], %[[Z]])
//  CHECK-NEXT:   %[[E0:.*]] = llvm.intr.fma(%[[A0]], %[[Y0]], %[[Z]])
//  CHECK-NEXT:   %[[F0:.*]] = llvm.intr.fma(%[[B0]], %[[X0]], %[[E0]])
//  CHECK-NEXT:   llvm.intr.fma(%[[A1]], %[[X1]], %[[D0]])
//  CHECK-NEXT:   %[[E1:.*]] = llvm.intr.fma(%[[A1]], %[[Y1]], %[[F0]])
//  CHECK-NEXT:   llvm.intr.fma(%[[B1]], %[[X1]], %[[E1]])
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @together(%a: tensor<4x2xf32, #a>, %b: tensor<4x2xf32, #a>, %x: tensor<2x8xf32, #b>, %y: tensor<2x8xf32, #b>, %z: tensor<4x8xf32, #blocked>) -> (tensor<4x8xf32, #blocked>, tensor<4x8xf32, #blocked>) {
    %d = tt.dot %a, %x, %z : tensor<4x2xf32, #a> * tensor<2x8xf32, #b> -> tensor<4x8xf32, #blocked>
    %e = tt.dot %a, %y, %z : tensor<4x2xf32, #a> * tensor<2x8xf32, #b> -> tensor<4x8xf32, #blocked>
    %f = tt.dot %b, %x, %e : tensor<4x2xf32, #a> * tensor<2x8xf32, #b> -> tensor<4x8xf32, #blocked>
    tt.return %d, %f : tensor<4x8xf32, #blocked>, tensor<4x8xf32, #blocked>
  }
}

// -----

// Others do not: they share nothing, an operand is not there yet, or somebody else sees the sums.
// CHECK-LABEL: llvm.func internal @apart
//  CHECK-SAME:   (%[[A0:[a-z0-9]+]]: f32, %[[A1:[a-z0-9]+]]: f32, %[[B0:[a-z0-9]+]]: f32, %[[B1:[a-z0-9]+]]: f32, %[[X0:[a-z0-9]+]]: f32, %[[X1:[a-z0-9]+]]: f32, %[[Y0:[a-z0-9]+]]: f32, %[[Y1:[a-z0-9]+]]: f32, %[[Z:[a-z0-9]+]]: f32
//       CHECK:   %[[D0:.*]] = llvm.intr.fma(%[[A0]], %[[X0]], %[[Z]])
//  CHECK-NEXT:   %[[D:.*]] = llvm.intr.fma(%[[A1]], %[[X1]], %[[D0]])
//  CHECK-NEXT:   %[[E0:.*]] = llvm.intr.fma(%[[B0]], %[[Y0]], %[[Z]])
//  CHECK-NEXT:   llvm.intr.fma(%[[B1]], %[[Y1]], %[[E0]])
//       CHECK:   %[[F0:.*]] = llvm.intr.fma(%{{.*}}, %[[X0]], %[[D]])
//  CHECK-NEXT:   llvm.intr.fma(%{{.*}}, %[[X1]], %[[F0]])
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @apart(%a: tensor<4x2xf32, #a>, %b: tensor<4x2xf32, #a>, %x: tensor<2x8xf32, #b>, %y: tensor<2x8xf32, #b>, %z: tensor<4x8xf32, #blocked>) -> (tensor<4x8xf32, #blocked>, tensor<4x8xf32, #blocked>, tensor<4x8xf32, #blocked>) {
    %d = tt.dot %a, %x, %z : tensor<4x2xf32, #a> * tensor<2x8xf32, #b> -> tensor<4x8xf32, #blocked>
    %e = tt.dot %b, %y, %z : tensor<4x2xf32, #a> * tensor<2x8xf32, #b> -> tensor<4x8xf32, #blocked>
    %n = arith.negf %a : tensor<4x2xf32, #a>
    %f = tt.dot %n, %x, %d : tensor<4x2xf32, #a> * tensor<2x8xf32, #b> -> tensor<4x8xf32, #blocked>
    tt.return %d, %e, %f : tensor<4x8xf32, #blocked>, tensor<4x8xf32, #blocked>, tensor<4x8xf32, #blocked>
  }
}
