// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --tt-unroll-loop --canonicalize | FileCheck %s

// Iterations that are known and divisible leave no remainder.
// CHECK-LABEL: @divisible
//       CHECK:   scf.for %{{.*}} = %c0_i32 to %c16_i32 step %c4_i32
// CHECK-COUNT-4:   tt.store
//   CHECK-NOT:   tt.store
//   CHECK-NOT:   tt.loop_unroll_factor
tt.func @divisible(%p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  scf.for %i = %c0 to %c16 step %c1 : i32 {
    %q = tt.addptr %p, %i : !tt.ptr<i32>, i32
    tt.store %q, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 4 : i32}
  tt.return
}

// -----

// Unknown iterations leave a remainder that is not pipelined; the loop keeps its other attributes.
// CHECK-LABEL: @remainder
//       CHECK:   scf.for
// CHECK-COUNT-2:   tt.store
//       CHECK:   } {tt.num_stages = 4 : i32}
//       CHECK:   scf.for
//       CHECK:     tt.store
//   CHECK-NOT:     tt.store
//       CHECK:   } {tt.num_stages = 1 : i32}
tt.func @remainder(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %q = tt.addptr %p, %i : !tt.ptr<i32>, i32
    tt.store %q, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 2 : i32, tt.num_stages = 4 : i32}
  tt.return
}

// -----

// Carried values go from copy to copy and on to the remainder; 64-bit counters work too.
// CHECK-LABEL: @carried
//       CHECK:   %[[A:.*]] = scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}) -> (f32)
//       CHECK:     %[[Y:.*]] = arith.addf %[[X]]
//       CHECK:     %[[Z:.*]] = arith.addf %[[Y]]
//       CHECK:     scf.yield %[[Z]]
//       CHECK:   scf.for {{.*}} iter_args(%{{.*}} = %[[A]]) -> (f32)
tt.func @carried(%n: i64, %v: f32) -> f32 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %v) -> (f32) : i64 {
    %s = arith.addf %x, %v : f32
    scf.yield %s : f32
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return %r : f32
}

// -----

// A loop of as many iterations as the factor is dissolved.
// CHECK-LABEL: @dissolved
//   CHECK-NOT:   scf.for
// CHECK-COUNT-4: tt.store
tt.func @dissolved(%p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 4 : i32}
  tt.return
}

// -----

// Without a factor, or with one of one, nothing happens.
// CHECK-LABEL: @stays
//       CHECK:   tt.store
//   CHECK-NOT:   tt.store
tt.func @stays(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 1 : i32}
  tt.return
}

// -----

tt.func @too_much(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-error @below {{unrolling 1000000 times makes more than}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 1000000 : i32}
  tt.return
}
