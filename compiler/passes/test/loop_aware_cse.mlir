// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -allow-unregistered-dialect --tt-loop-aware-cse | FileCheck %s

// Equal starts, equal changes: one value.
// CHECK-LABEL: @pair
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: i32, %[[S:[a-z0-9]+]]: i32
//       CHECK:   %[[R:.*]] = scf.for %{{.*}} iter_args(%[[A:.*]] = %[[X]]) -> (i32)
//       CHECK:     "t.use"(%[[A]], %[[A]])
//       CHECK:     %[[B:.*]] = arith.addi %[[A]], %[[S]]
//   CHECK-NOT:     arith.addi
//       CHECK:     scf.yield %[[B]] : i32
//       CHECK:   } {tt.num_stages = 3 : i32}
//       CHECK:   tt.return %[[R]], %[[R]]
tt.func @pair(%x: i32, %s: i32, %n: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (i32, i32) : i32 {
    "t.use"(%a, %b) : (i32, i32) -> ()
    %c = arith.addi %a, %s : i32
    %d = arith.addi %b, %s : i32
    scf.yield %c, %d : i32, i32
  } {tt.num_stages = 3 : i32}
  tt.return %r#0, %r#1 : i32, i32
}

// -----

// Pairs that rest on each other: they swap roles in each iteration, and both pairs are equal all the same.
// CHECK-LABEL: @swapped
//       CHECK:   scf.for %{{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) -> (i32, i32)
//       CHECK:     "t.use"(%[[A]], %[[B]], %[[A]], %[[B]])
//       CHECK:     scf.yield %[[B]], %[[A]] : i32, i32
tt.func @swapped(%x: i32, %y: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %x, %d = %y) -> (i32, i32, i32, i32) : i32 {
    "t.use"(%a, %b, %c, %d) : (i32, i32, i32, i32) -> ()
    scf.yield %b, %a, %d, %c : i32, i32, i32, i32
  }
  tt.return
}

// -----

// Other starts, other changes, changes with effects, other types: all stay.
// CHECK-LABEL: @different
//       CHECK:   scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (i32, i32, i32, i32, i32)
tt.func @different(%x: i32, %y: i32, %n: i32, %p: !tt.ptr<i32>) -> (i32, i32, i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:5 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %x, %d = %x, %e = %x)
      -> (i32, i32, i32, i32, i32) : i32 {
    %f = arith.addi %a, %x : i32
    %g = arith.addi %b, %x : i32
    %h = arith.addi %c, %y : i32
    %j = tt.load %p {isVolatile = true} : !tt.ptr<i32>
    %k = tt.load %p {isVolatile = true} : !tt.ptr<i32>
    scf.yield %f, %g, %h, %j, %k : i32, i32, i32, i32, i32
  }
  tt.return %r#0, %r#1, %r#2, %r#3, %r#4 : i32, i32, i32, i32, i32
}

// -----

// Through an inner loop and a branch: one value at both levels.
// CHECK-LABEL: @nested
//       CHECK:   %[[R:.*]] = scf.for %{{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (i32)
//       CHECK:     %[[I:.*]] = scf.for %{{.*}} iter_args(%[[B:.*]] = %[[A]]) -> (i32)
//       CHECK:       %[[C:.*]] = arith.muli %[[B]], %[[B]]
//       CHECK:       scf.yield %[[C]] : i32
//       CHECK:     %[[D:.*]]:2 = scf.if
//       CHECK:       scf.yield %[[I]], %[[I]]
//       CHECK:     scf.yield %[[D]]#0 : i32
//       CHECK:   tt.return %[[R]], %[[R]]
tt.func @nested(%x: i32, %n: i32, %k: i1) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (i32, i32) : i32 {
    %s:2 = scf.for %j = %c0 to %n step %c1 iter_args(%c = %a, %d = %b) -> (i32, i32) : i32 {
      %e = arith.muli %c, %c : i32
      %f = arith.muli %d, %d : i32
      scf.yield %e, %f : i32, i32
    }
    %t:2 = scf.if %k -> (i32, i32) {
      scf.yield %s#0, %s#1 : i32, i32
    } else {
      %u = arith.addi %s#0, %a : i32
      %v = arith.addi %s#1, %b : i32
      scf.yield %u, %v : i32, i32
    }
    scf.yield %t#0, %t#1 : i32, i32
  }
  tt.return %r#0, %r#1 : i32, i32
}

// -----

// Equal reductions are equal values; other combiners are not.
// CHECK-LABEL: @reductions
//       CHECK:   scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (f32, f32)
//       CHECK:     arith.maximumf
//       CHECK:     arith.addf
//   CHECK-NOT:     tt.reduce"
//       CHECK:     scf.yield %{{.*}}, %{{.*}} : f32, f32
tt.func @reductions(%x: f32, %t: tensor<8xf32>, %n: i32) -> (f32, f32, f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x, %c = %x) -> (f32, f32, f32) : i32 {
    %d = tt.splat %a : f32 -> tensor<8xf32>
    %e = tt.splat %b : f32 -> tensor<8xf32>
    %f = "tt.reduce"(%d) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %m: f32):
      %s = arith.maximumf %l, %m : f32
      tt.reduce.return %s : f32
    }) : (tensor<8xf32>) -> f32
    %g = "tt.reduce"(%e) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %m: f32):
      %s = arith.maximumf %l, %m : f32
      tt.reduce.return %s : f32
    }) : (tensor<8xf32>) -> f32
    %h = "tt.reduce"(%e) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %m: f32):
      %s = arith.addf %l, %m : f32
      tt.reduce.return %s : f32
    }) : (tensor<8xf32>) -> f32
    scf.yield %f, %g, %h : f32, f32, f32
  }
  tt.return %r#0, %r#1, %r#2 : f32, f32, f32
}
