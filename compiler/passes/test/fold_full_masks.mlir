// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-fold-full-masks --canonicalize | FileCheck %s

// 48 iterations of 8 columns are 384: no element is beyond the end.
// CHECK-LABEL: @divides
//       CHECK:   scf.for
//   CHECK-NOT:     arith.cmpi
//       CHECK:     tt.load %{{[a-z0-9_]+}} : tensor<8x!tt.ptr<f32>>
//   CHECK-NOT:   scf.for
tt.func @divides(%p: tensor<8x!tt.ptr<f32>>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c384 = arith.constant 384 : i32
  %end = arith.constant dense<384> : tensor<8xi32>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %sum = scf.for %i = %c0 to %c384 step %c8 iter_args(%acc = %zero) -> (tensor<8xf32>) : i32 {
    %s = tt.splat %i : i32 -> tensor<8xi32>
    %column = arith.addi %s, %r : tensor<8xi32>
    %mask = arith.cmpi slt, %column, %end : tensor<8xi32>
    %q = tt.addptr %p, %column : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %x = tt.load %q, %mask, %zero : tensor<8x!tt.ptr<f32>>
    %y = arith.addf %acc, %x : tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  tt.return %sum : tensor<8xf32>
}

// -----

// 1000 is 7 times 128 and 104: the last iteration alone is masked, and starts with what the others have summed.
// CHECK-LABEL: @rest
//   CHECK-DAG:   %[[BEGIN:.*]] = arith.constant 0 : i32
//   CHECK-DAG:   %[[FULL:.*]] = arith.constant 896 : i32
//       CHECK:   %[[MOST:.*]] = scf.for %{{.*}} = %[[BEGIN]] to %[[FULL]]
//       CHECK:     tt.load %{{[a-z0-9_]+}} : tensor<128x!tt.ptr<f32>>
//       CHECK:   arith.cmpi slt
//       CHECK:   %[[X:.*]] = tt.load %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{.*}} : tensor<128x!tt.ptr<f32>>
//       CHECK:   arith.addf %[[MOST]], %[[X]]
tt.func @rest(%p: tensor<128x!tt.ptr<f32>>) -> tensor<128xf32> {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %c1000 = arith.constant 1000 : i32
  %end = arith.constant dense<1000> : tensor<128xi32>
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %sum = scf.for %i = %c0 to %c1000 step %c128 iter_args(%acc = %zero) -> (tensor<128xf32>) : i32 {
    %s = tt.splat %i : i32 -> tensor<128xi32>
    %column = arith.addi %s, %r : tensor<128xi32>
    %mask = arith.cmpi slt, %column, %end : tensor<128xi32>
    %q = tt.addptr %p, %column : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %x = tt.load %q, %mask, %zero : tensor<128x!tt.ptr<f32>>
    %y = arith.addf %acc, %x : tensor<128xf32>
    scf.yield %y : tensor<128xf32>
  }
  tt.return %sum : tensor<128xf32>
}

// -----

// Bounds of which nothing is known, and few iterations: as they are.
// CHECK-LABEL: @unknown
// CHECK-COUNT-2:   scf.for
//     CHECK-NOT:   scf.for
tt.func @unknown(%p: tensor<8x!tt.ptr<f32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c30 = arith.constant 30 : i32
  %end = arith.constant dense<30> : tensor<8xi32>
  %last = tt.splat %n : i32 -> tensor<8xi32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  scf.for %i = %c0 to %n step %c8 : i32 {
    %s = tt.splat %i : i32 -> tensor<8xi32>
    %column = arith.addi %s, %r : tensor<8xi32>
    %mask = arith.cmpi slt, %column, %last : tensor<8xi32>
    %q = tt.addptr %p, %column : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    tt.store %q, %one, %mask : tensor<8x!tt.ptr<f32>>
  }
  scf.for %i = %c0 to %c30 step %c8 : i32 {
    %s = tt.splat %i : i32 -> tensor<8xi32>
    %column = arith.addi %s, %r : tensor<8xi32>
    %mask = arith.cmpi slt, %column, %end : tensor<8xi32>
    %q = tt.addptr %p, %column : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    tt.store %q, %one, %mask : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// Each predicate at its two ends; unsigned ones where no side can be negative. The elements are 3 … 10.
// CHECK-LABEL: @predicates
//   CHECK-DAG:   %[[TRUE:.*]] = arith.constant dense<true>
//   CHECK-DAG:   %[[FALSE:.*]] = arith.constant dense<false>
//       CHECK:   %[[UNKNOWN:.*]] = arith.cmpi sgt
//       CHECK:   %[[NEGATIVE:.*]] = arith.cmpi ult
//       CHECK:   tt.return %[[TRUE]], %[[TRUE]], %[[TRUE]], %[[FALSE]], %[[UNKNOWN]], %[[NEGATIVE]]
tt.func @predicates() -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %c2 = arith.constant dense<2> : tensor<8xi32>
  %c3 = arith.constant dense<3> : tensor<8xi32>
  %c10 = arith.constant dense<10> : tensor<8xi32>
  %c11 = arith.constant dense<11> : tensor<8xi32>
  %c100 = arith.constant dense<100> : tensor<8xi32>
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %x = arith.addi %r, %c3 : tensor<8xi32>
  %less = arith.cmpi slt, %x, %c11 : tensor<8xi32>
  %at_most = arith.cmpi ule, %x, %c10 : tensor<8xi32>
  %at_least = arith.cmpi sge, %x, %c3 : tensor<8xi32>
  %never = arith.cmpi ugt, %x, %c10 : tensor<8xi32>
  %some = arith.cmpi sgt, %x, %c3 : tensor<8xi32>
  %y = arith.subi %r, %c2 : tensor<8xi32>
  %negative = arith.cmpi ult, %y, %c100 : tensor<8xi32>
  tt.return %less, %at_most, %at_least, %never, %some, %negative : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}

// -----

// A sum of 8 bits may wrap around.
// CHECK-LABEL: @wraps
//       CHECK:   arith.cmpi slt
tt.func @wraps() -> tensor<128xi1> {
  %c100 = arith.constant dense<100> : tensor<128xi8>
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %n = arith.trunci %r : tensor<128xi32> to tensor<128xi8>
  %x = arith.addi %n, %c100 : tensor<128xi8>
  %c0 = arith.constant dense<0> : tensor<128xi8>
  %mask = arith.cmpi slt, %x, %c0 : tensor<128xi8>
  tt.return %mask : tensor<128xi1>
}

// -----

// The first iteration begins the sum, the others add to it.
// CHECK-LABEL: @first
//   CHECK-NOT:   arith.cmpi
//       CHECK:   %[[FIRST:.*]] = tt.load
//       CHECK:   scf.for %{{.*}} = %c1_i32 to %c9_i32 step %c1_i32 iter_args(%[[ACC:.*]] = %[[FIRST]])
//   CHECK-NOT:     scf.if
//       CHECK:     arith.addf %[[ACC]]
tt.func @first(%p: tensor<8x!tt.ptr<f32>>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c9 = arith.constant 9 : i32
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %sum = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<8xf32>) : i32 {
    %s = tt.splat %i : i32 -> tensor<8xi32>
    %q = tt.addptr %p, %s : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %x = tt.load %q : tensor<8x!tt.ptr<f32>>
    %is_first = arith.cmpi eq, %i, %c0 : i32
    %y = scf.if %is_first -> (tensor<8xf32>) {
      scf.yield %x : tensor<8xf32>
    } else {
      %z = arith.addf %acc, %x : tensor<8xf32>
      scf.yield %z : tensor<8xf32>
    }
    scf.yield %y : tensor<8xf32>
  }
  tt.return %sum : tensor<8xf32>
}
