// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-fold-equal-elements | FileCheck %s

// The group of 128 that 64 neighbours from a multiple of 64 on lie in.
// CHECK-LABEL: @group
//       CHECK:   %[[K:.*]] = arith.muli %{{.*}}, %c64_i32
//       CHECK:   %[[F:.*]] = arith.addi %[[K]], %{{.*}} : i32
//       CHECK:   %[[G:.*]] = arith.divsi %[[F]], %{{.*}} : i32
//       CHECK:   %[[S:.*]] = tt.splat %[[G]] : i32 -> tensor<64x1xi32>
//       CHECK:   tt.return %[[S]]
tt.func @group() -> tensor<64x1xi32> {
  %n = tt.get_program_id x : i32
  %c64_i32 = arith.constant 64 : i32
  %size = arith.constant dense<128> : tensor<64x1xi32>
  %k = arith.muli %n, %c64_i32 : i32
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %e = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %ks = tt.splat %k : i32 -> tensor<64x1xi32>
  %i = arith.addi %ks, %e : tensor<64x1xi32>
  %g = arith.divsi %i, %size : tensor<64x1xi32>
  tt.return %g : tensor<64x1xi32>
}

// -----

// 64 neighbours from anywhere may lie in two groups. So may those that are negative, which divisions round up.
// CHECK-LABEL: @several
//       CHECK:   arith.divsi %{{.*}}, %{{.*}} : tensor<64xi32>
//       CHECK:   arith.divsi %{{.*}}, %{{.*}} : tensor<64xi32>
//       CHECK:   arith.shrui %{{.*}}, %{{.*}} : tensor<128xi32>
tt.func @several(%n: i32) -> (tensor<64xi32>, tensor<64xi32>, tensor<128xi32>) {
  %c64_i32 = arith.constant 64 : i32
  %size = arith.constant dense<128> : tensor<64xi32>
  %bits = arith.constant dense<6> : tensor<128xi32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %i = arith.addi %ns, %r : tensor<64xi32>
  %g = arith.divsi %i, %size : tensor<64xi32>
  %k = arith.muli %n, %c64_i32 : i32
  %ks = tt.splat %k : i32 -> tensor<64xi32>
  %j = arith.addi %ks, %r : tensor<64xi32>
  %f = arith.divsi %j, %size : tensor<64xi32>
  %long = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %h = arith.shrui %long, %bits : tensor<128xi32>
  tt.return %g, %f, %h : tensor<64xi32>, tensor<64xi32>, tensor<128xi32>
}

// -----

// The first element of what a kernel loads is not known.
// CHECK-LABEL: @loaded
//       CHECK:   arith.andi %{{.*}}, %{{.*}} : tensor<64xi32>
tt.func @loaded(%x: tensor<64xi32>) -> tensor<64xi32> {
  %none = arith.constant dense<0> : tensor<64xi32>
  %g = arith.andi %x, %none : tensor<64xi32>
  tt.return %g : tensor<64xi32>
}
