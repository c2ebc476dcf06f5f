// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-hoist-invariants | FileCheck %s

// Arithmetic leaves the loop, and loads masked by the loop's condition, and what depends on them.
// CHECK-LABEL: @load
//       CHECK:   %[[ENTERS:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i32
//       CHECK:   %[[SPLAT:.*]] = tt.splat %[[ENTERS]] : i1 -> tensor<8xi1>
//       CHECK:   %[[MASK:.*]] = arith.andi %{{.*}}, %[[SPLAT]] : tensor<8xi1>
//       CHECK:   %[[V:.*]] = tt.load %{{.*}}, %[[MASK]] : tensor<8x!tt.ptr<f32>>
//       CHECK:   %[[W:.*]] = arith.mulf %[[V]], %[[V]]
//       CHECK:   scf.for
//   CHECK-NOT:     tt.load
//       CHECK:     arith.addf %{{.*}}, %[[W]]
tt.func @load(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %n: i32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8xf32>) : i32 {
    %v = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
    %w = arith.mulf %v, %v : tensor<8xf32>
    %s = arith.addf %acc, %w : tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  tt.return %r : tensor<8xf32>
}

// -----

// A loop that certainly runs needs no guard; a scalar load without a mask gets one otherwise.
// CHECK-LABEL: @guards
//       CHECK:   tt.load %{{[a-z0-9]+}} : !tt.ptr<f32>
//       CHECK:   scf.for
//       CHECK:   %[[ENTERS:.*]] = arith.cmpi slt
//       CHECK:   tt.load %{{[a-z0-9]+}}, %[[ENTERS]] : !tt.ptr<f32>
//       CHECK:   scf.for
tt.func @guards(%p: !tt.ptr<f32>, %n: i32) -> (f32, f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> (f32) : i32 {
    %v = tt.load %p : !tt.ptr<f32>
    %s = arith.addf %acc, %v : f32
    scf.yield %s : f32
  }
  %t = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) : i32 {
    %v = tt.load %p : !tt.ptr<f32>
    %s = arith.addf %acc, %v : f32
    scf.yield %s : f32
  }
  tt.return %r, %t : f32, f32
}

// -----

// Loads stay where the loop writes, also deep inside.
// CHECK-LABEL: @writes
//       CHECK:   scf.for
//       CHECK:     tt.load
//       CHECK:     tt.store
tt.func @writes(%p: !tt.ptr<f32>, %n: i32, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %v = tt.load %p : !tt.ptr<f32>
    scf.if %c {
      tt.store %p, %v : !tt.ptr<f32>
    }
  }
  tt.return
}

// -----

// Volatile and conditional loads stay, and those at an address that changes.
// CHECK-LABEL: @stays
//       CHECK:   scf.for
// CHECK-COUNT-3: tt.load
tt.func @stays(%p: !tt.ptr<f32>, %n: i32, %c: i1) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) : i32 {
    %v = tt.load %p {isVolatile = true} : !tt.ptr<f32>
    %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
    %w = tt.load %q : !tt.ptr<f32>
    %x = scf.if %c -> f32 {
      %y = tt.load %p : !tt.ptr<f32>
      scf.yield %y : f32
    } else {
      scf.yield %zero : f32
    }
    %s = arith.addf %acc, %v : f32
    %t = arith.addf %s, %w : f32
    %u = arith.addf %t, %x : f32
    scf.yield %u : f32
  }
  tt.return %r : f32
}

// -----

// A loop that asks for it is left alone.
// CHECK-LABEL: @disabled
//       CHECK:   scf.for
//       CHECK:     arith.muli
tt.func @disabled(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = arith.muli %n, %n : i32
    tt.store %p, %x : !tt.ptr<i32>
  } {llvm.loop_annotation = #llvm.loop_annotation<licm = <disable = true>>}
  tt.return
}

// -----

// Out of two loops at once; assumptions do not count as writes.
// CHECK-LABEL: @nested
//       CHECK:   tt.load
//       CHECK:   scf.for
//       CHECK:     scf.for
//   CHECK-NOT:       tt.load
tt.func @nested(%p: !tt.ptr<f32>, %n: i32, %c: i1) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (f32) : i32 {
    %t = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %a) -> (f32) : i32 {
      llvm.intr.assume %c : i1
      %v = tt.load %p : !tt.ptr<f32>
      %s = arith.addf %acc, %v : f32
      scf.yield %s : f32
    }
    scf.yield %t : f32
  }
  tt.return %r : f32
}

// -----

// A remainder may be by zero where the loop would not have computed it. Not so in front of a loop that runs.
// CHECK-LABEL: @remainders
//       CHECK:   arith.remsi %{{.*}}, %{{.*}} {ttg.any_divisor} : i32
//  CHECK-NEXT:   scf.for
//       CHECK:   arith.remui %{{.*}}, %{{.*}} : i32
//  CHECK-NEXT:   scf.for
tt.func @remainders(%p: !tt.ptr<i32>, %x: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %r = arith.remsi %x, %n : i32
    tt.store %p, %r : !tt.ptr<i32>
  }
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    %r = arith.remui %x, %n : i32
    tt.store %p, %r : !tt.ptr<i32>
  }
  tt.return
}
