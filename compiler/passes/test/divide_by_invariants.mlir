// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-divide-by-invariants | FileCheck %s

// A signed remainder: the reciprocal of the magnitude comes in front of the loop. The result has the dividend's sign.
// CHECK-LABEL: @remainder
//  CHECK-SAME:   %[[X:.*]]: tensor<128xi64>, %[[D:[a-z0-9]+]]: i64
//       CHECK:   %[[S:.*]] = arith.shrsi %[[D]], %{{.*}} : i64
//       CHECK:   %[[F:.*]] = arith.xori %[[D]], %[[S]] : i64
//       CHECK:   %[[A:.*]] = arith.subi %[[F]], %[[S]] : i64
//       CHECK:   %[[P:.*]] = arith.maxui %[[A]], %{{.*}} : i64
//       CHECK:   %[[M:.*]] = arith.divui %c-1_i64{{.*}}, %[[P]] : i64
//       CHECK:   scf.for
//       CHECK:     %[[XS:.*]] = arith.shrsi %[[Y:.*]], %
//       CHECK:     %[[N:.*]] = arith.subi %{{.*}}, %[[XS]]
//       CHECK:     %[[PT:.*]] = tt.splat %[[P]]
//       CHECK:     %[[MT:.*]] = tt.splat %[[M]]
//       CHECK:     %[[Q:.*]] = tt.mulhiui %[[N]], %[[MT]]
//       CHECK:     %[[B:.*]] = arith.muli %[[Q]], %[[PT]]
//       CHECK:     %[[R:.*]] = arith.subi %[[N]], %[[B]]
//       CHECK:     %[[L:.*]] = arith.cmpi uge, %[[R]], %[[PT]]
//       CHECK:     %[[T:.*]] = arith.subi %[[R]], %[[PT]]
//       CHECK:     %[[U:.*]] = arith.select %[[L]], %[[T]], %[[R]]
//       CHECK:     arith.xori %[[U]], %[[XS]]
//   CHECK-NOT:     arith.remsi
//       CHECK:     scf.yield
tt.func @remainder(%x: tensor<128xi64>, %d: i64, %n: i32) -> tensor<128xi64> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ds = tt.splat %d : i64 -> tensor<128xi64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<128xi64>) : i32 {
    %s = arith.muli %y, %y : tensor<128xi64>
    %z = arith.remsi %s, %ds : tensor<128xi64>
    scf.yield %z : tensor<128xi64>
  }
  tt.return %r : tensor<128xi64>
}

// -----

// An unsigned quotient has no signs.
// CHECK-LABEL: @quotient
//       CHECK:   arith.divui %{{.*}} : i64
//       CHECK:   scf.for
//   CHECK-NOT:     arith.xori
//       CHECK:     tt.mulhiui
//       CHECK:     arith.addi
//       CHECK:     arith.select
tt.func @quotient(%x: tensor<128xi64>, %d: i64, %n: i32) -> tensor<128xi64> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ds = tt.splat %d : i64 -> tensor<128xi64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<128xi64>) : i32 {
    %z = arith.divui %y, %ds : tensor<128xi64>
    scf.yield %z : tensor<128xi64>
  }
  tt.return %r : tensor<128xi64>
}

// -----

// Divisors that the loop changes, constants, 32 bits, and divisions outside of loops stay.
// CHECK-LABEL: @others
//   CHECK-NOT:   tt.mulhiui
tt.func @others(%x: tensor<128xi64>, %w: tensor<128xi32>, %d: i64, %e: i32, %n: i64) -> (tensor<128xi64>, tensor<128xi32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %ten = arith.constant dense<10> : tensor<128xi64>
  %ds = tt.splat %d : i64 -> tensor<128xi64>
  %es = tt.splat %e : i32 -> tensor<128xi32>
  %first = arith.divsi %x, %ds : tensor<128xi64>
  %r:2 = scf.for %i = %c1 to %n step %c1 iter_args(%y = %first, %v = %w) -> (tensor<128xi64>, tensor<128xi32>) : i64 {
    %is = tt.splat %i : i64 -> tensor<128xi64>
    %a = arith.remsi %y, %is : tensor<128xi64>
    %b = arith.divsi %a, %ten : tensor<128xi64>
    %c = arith.remsi %v, %es : tensor<128xi32>
    scf.yield %b, %c : tensor<128xi64>, tensor<128xi32>
  }
  tt.return %r#0, %r#1 : tensor<128xi64>, tensor<128xi32>
}

// -----

// What the program says of the result is said of what replaces it.
// CHECK-LABEL: @hints
//   CHECK-NOT:   arith.remsi
//       CHECK:   arith.subi %{{.*}}, %{{.*}} {tt.contiguity = dense<128> : tensor<1xi32>, tt.divisibility = dense<128> : tensor<1xi32>}
tt.func @hints(%x: tensor<128xi64>, %d: i64, %n: i32) -> tensor<128xi64> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ds = tt.splat %d : i64 -> tensor<128xi64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<128xi64>) : i32 {
    %q = arith.remsi %y, %ds {tt.contiguity = dense<128> : tensor<1xi32>, tt.divisibility = dense<128> : tensor<1xi32>} : tensor<128xi64>
    scf.yield %q : tensor<128xi64>
  }
  tt.return %r : tensor<128xi64>
}

// -----

// What is known of a remainder is said of what replaces it, for nothing tells it any more.
// CHECK-LABEL: @known
//   CHECK-NOT:   arith.remsi
//       CHECK:   arith.subi %{{.*}}, %{{.*}} {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>}
tt.func @known(%d: i64 {tt.divisibility = 16 : i32}, %n: i32, %out: !tt.ptr<i64>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %ds = tt.splat %d : i64 -> tensor<128xi64>
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %p = tt.splat %out : !tt.ptr<i64> -> tensor<128x!tt.ptr<i64>>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %s = arith.muli %i, %c128 : i32
    %ss = tt.splat %s : i32 -> tensor<128xi32>
    %x = arith.addi %ss, %r : tensor<128xi32>
    %xl = arith.extsi %x : tensor<128xi32> to tensor<128xi64>
    %y = arith.remsi %xl, %ds : tensor<128xi64>
    tt.store %p, %y : tensor<128x!tt.ptr<i64>>
  }
  tt.return
}
