// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --inline --symbol-dce | FileCheck %s

// A helper of one block disappears into its caller, also inside a loop.
//   CHECK-NOT: @helper
// CHECK-LABEL: tt.func public @kernel
//       CHECK:   scf.for
//       CHECK:     arith.addf
//   CHECK-NOT:   tt.call
tt.func private @helper(%x: f32) -> f32 attributes {noinline = false} {
  %0 = arith.addf %x, %x : f32
  tt.return %0 : f32
}
tt.func public @kernel(%x: f32, %n: i32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f32) : i32 {
    %b = tt.call @helper(%a) : (f32) -> f32
    scf.yield %b : f32
  }
  tt.return %r : f32
}

// -----

// noinline is respected.
// CHECK-LABEL: tt.func private @helper
// CHECK-LABEL: tt.func public @kernel
//       CHECK:   tt.call @helper
tt.func private @helper(%x: f32) -> f32 attributes {noinline = true} {
  tt.return %x : f32
}
tt.func public @kernel(%x: f32) -> f32 {
  %b = tt.call @helper(%x) : (f32) -> f32
  tt.return %b : f32
}

// -----

// A helper with early returns becomes blocks of its caller, but cannot enter a loop's body.
// CHECK-LABEL: tt.func private @early
// CHECK-LABEL: tt.func public @kernel
//       CHECK:   cf.cond_br
//       CHECK:   scf.for
//       CHECK:     tt.call @early
tt.func private @early(%x: f32, %c: i1) -> f32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return %x : f32
^bb2:
  %0 = arith.negf %x : f32
  tt.return %0 : f32
}
tt.func public @kernel(%x: f32, %c: i1, %n: i32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = tt.call @early(%x, %c) : (f32, i1) -> f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %b) -> (f32) : i32 {
    %d = tt.call @early(%a, %c) : (f32, i1) -> f32
    scf.yield %d : f32
  }
  tt.return %r : f32
}
