// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-carry-scalars --canonicalize | FileCheck %s

// All indices move by a number that the body makes.
// CHECK-LABEL: @step
//  CHECK-SAME:   (%[[START:.*]]: i32, %[[STEP:.*]]: i32, %{{.*}}: i32, %{{.*}}: tensor<64x1x!tt.ptr<i32>>)
//       CHECK:   %[[RANGE:.*]] = tt.make_range
//       CHECK:   scf.for {{.*}} iter_args(%[[S:.*]] = %[[START]]) -> (i32)
//       CHECK:     %[[T:.*]] = tt.splat %[[S]] : i32 -> tensor<64xi32>
//       CHECK:     %[[INDICES:.*]] = arith.addi %[[T]], %[[RANGE]]
//       CHECK:     tt.expand_dims %[[INDICES]]
//       CHECK:     %[[MOVES:.*]] = arith.muli %{{.*}}, %[[STEP]]
//       CHECK:     %[[N:.*]] = arith.addi %[[S]], %[[MOVES]]
//       CHECK:     scf.yield %[[N]] : i32
tt.func @step(%start: i32, %step: i32, %n: i32, %p: tensor<64x1x!tt.ptr<i32>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %s = tt.splat %start : i32 -> tensor<64xi32>
  %first = arith.addi %s, %range : tensor<64xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first) -> (tensor<64xi32>) : i32 {
    %column = tt.expand_dims %t {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    tt.store %p, %column : tensor<64x1x!tt.ptr<i32>>
    %moves = arith.muli %i, %step : i32
    %m = tt.splat %moves : i32 -> tensor<64xi32>
    %next = arith.addi %t, %m : tensor<64xi32>
    scf.yield %next : tensor<64xi32>
  }
  tt.return
}

// -----

// From zero on, by a constant. The indices after the last iteration are made of the scalar, too.
// CHECK-LABEL: @result
//       CHECK:   %[[S:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %c0_i32) -> (i32)
//       CHECK:   %[[T:.*]] = tt.splat %[[S]] : i32 -> tensor<64x1xi32>
//       CHECK:   %[[R:.*]] = arith.addi %[[T]], %{{.*}}
//       CHECK:   tt.return %[[R]]
tt.func @result(%n: i32, %p: tensor<64x1x!tt.ptr<i32>>) -> tensor<64x1xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant dense<64> : tensor<64x1xi32>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %first = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first) -> (tensor<64x1xi32>) : i32 {
    tt.store %p, %t : tensor<64x1x!tt.ptr<i32>>
    %next = arith.addi %t, %step : tensor<64x1xi32>
    scf.yield %next : tensor<64x1xi32>
  }
  tt.return %r : tensor<64x1xi32>
}

// -----

// What the range begins with is part of it where it is spread before.
// CHECK-LABEL: @spread_start
//       CHECK:   %[[FIRST:.*]] = tt.expand_dims
//       CHECK:   scf.for {{.*}} iter_args(%[[S:.*]] = %c0_i32) -> (i32)
//       CHECK:     %[[T:.*]] = tt.splat %[[S]] : i32 -> tensor<64x1xi32>
//       CHECK:     arith.addi %[[T]], %[[FIRST]]
tt.func @spread_start(%start: i32, %n: i32, %p: tensor<64x1x!tt.ptr<i32>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant dense<64> : tensor<64x1xi32>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %s = tt.splat %start : i32 -> tensor<64xi32>
  %row = arith.addi %s, %range : tensor<64xi32>
  %first = tt.expand_dims %row {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first) -> (tensor<64x1xi32>) : i32 {
    tt.store %p, %t : tensor<64x1x!tt.ptr<i32>>
    %next = arith.addi %t, %step : tensor<64x1xi32>
    scf.yield %next : tensor<64x1xi32>
  }
  tt.return
}

// -----

// Each element moves by a number of its own, or what moves was loaded, or is spread over no tile.
// CHECK-LABEL: @others
//       CHECK:   scf.for {{.*}} -> (tensor<64x1xi32>, tensor<64x1xi32>, tensor<64xi32>)
tt.func @others(%n: i32, %p: tensor<64x1x!tt.ptr<i32>>, %q: tensor<64x!tt.ptr<i32>>, %loaded: tensor<64x1xi32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant dense<64> : tensor<64x1xi32>
  %row_step = arith.constant dense<64> : tensor<64xi32>
  %row = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %range = tt.expand_dims %row {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %range, %u = %loaded, %v = %row) -> (tensor<64x1xi32>, tensor<64x1xi32>, tensor<64xi32>) : i32 {
    tt.store %p, %t : tensor<64x1x!tt.ptr<i32>>
    tt.store %p, %u : tensor<64x1x!tt.ptr<i32>>
    tt.store %q, %v : tensor<64x!tt.ptr<i32>>
    %next = arith.addi %t, %loaded : tensor<64x1xi32>
    %moved = arith.addi %u, %step : tensor<64x1xi32>
    %along = arith.addi %v, %row_step : tensor<64xi32>
    scf.yield %next, %moved, %along : tensor<64x1xi32>, tensor<64x1xi32>, tensor<64xi32>
  }
  tt.return
}
