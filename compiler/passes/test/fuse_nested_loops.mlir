// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-fuse-nested-loops --canonicalize | FileCheck %s

// Known iterations: one loop of 4 * 8, the prologue in the first iteration of eight and the epilogue in the last.
// CHECK-LABEL: @known
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: i32, %[[P:[a-z0-9]+]]: !tt.ptr<i32>
//   CHECK-DAG:   %[[POISON:.*]] = ub.poison : i32
//   CHECK-DAG:   %[[ALL:.*]] = arith.constant 32 : i64
//       CHECK:   %[[R:.*]]:{{[0-9]}} = scf.for %{{.*}} = %{{.*}} to %[[ALL]] step %{{.*}} iter_args(%[[A:[a-z0-9]+]] = %[[X]], %[[B:[a-z0-9]+]] = %[[POISON]], %[[I:[a-z0-9]+]] = %{{.*}}, %[[N:[a-z0-9]+]] = %{{.*}})
//       CHECK:     %[[FIRST:.*]] = arith.cmpi eq, %[[N]], %{{.*}} : i64
//       CHECK:     %[[START:.*]] = scf.if %[[FIRST]] -> (i32)
//       CHECK:       %[[Q:.*]] = tt.addptr %[[P]], %[[I]]
//       CHECK:       %[[V:.*]] = tt.load %[[Q]]
//       CHECK:       scf.yield %[[V]]
//       CHECK:     } else {
//       CHECK:       scf.yield %[[B]]
//       CHECK:     %[[D:.*]] = arith.addi %[[START]], %{{.*}} : i32
//       CHECK:     %[[NEXT:.*]] = arith.addi %[[N]], %{{.*}} : i64
//       CHECK:     %[[LAST:.*]] = arith.cmpi eq, %[[NEXT]], %{{.*}} : i64
//       CHECK:     scf.if %[[LAST]]
//       CHECK:       %[[E:.*]] = arith.addi %[[A]], %[[D]]
//       CHECK:       tt.store %[[P]], %[[E]]
//       CHECK:   } {tt.num_stages = 3 : i32}
//       CHECK:   tt.return %[[R]]#0
tt.func @known(%x: i32, %p: !tt.ptr<i32>) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> (i32) : i32 {
    %q = tt.addptr %p, %i : !tt.ptr<i32>, i32
    %v = tt.load %q : !tt.ptr<i32>
    %s = scf.for %j = %c0 to %c8 step %c1 iter_args(%b = %v) -> (i32) : i32 {
      %d = arith.addi %b, %j : i32
      scf.yield %d : i32
    } {tt.num_stages = 3 : i32}
    %e = arith.addi %a, %s : i32
    tt.store %p, %e : !tt.ptr<i32>
    scf.yield %e : i32
  } {tt.flatten}
  tt.return %r : i32
}

// -----

// Iterations that may be none: the choice is made in front, without them only prologue and epilogue are left.
// CHECK-LABEL: @dynamic
//       CHECK:   %[[RUNS:.*]] = arith.cmpi ne, %{{.*}}, %{{.*}} : i64
//       CHECK:   scf.if %[[RUNS]]
//       CHECK:     scf.for
//       CHECK:       tt.store
//       CHECK:   } else {
//       CHECK:     scf.for
//   CHECK-NOT:       scf.for
//       CHECK:       tt.store
//   CHECK-NOT:   tt.flatten
tt.func @dynamic(%p: !tt.ptr<i32>, %n: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %twice = arith.addi %k, %k : i32
    %s = scf.for %j = %c0 to %twice step %c1 iter_args(%b = %c0) -> (i32) : i32 {
      %d = arith.xori %b, %j : i32
      scf.yield %d : i32
    }
    tt.store %p, %s : !tt.ptr<i32>
  } {tt.flatten}
  tt.return
}

// -----

// Bounds that change with the outer counter: a loop counts the iterations, the body has a condition.
// CHECK-LABEL: @triangle
//       CHECK:   %[[ALL:.*]] = scf.for %{{.*}} iter_args(%{{.*}}) -> (i64)
//       CHECK:     arith.maxui
//       CHECK:   scf.for %{{.*}} = %{{.*}} to %[[ALL]]
//       CHECK:     scf.if
//       CHECK:     %[[RUNS:.*]] = arith.cmpi ne
//       CHECK:     scf.if %[[RUNS]]
//       CHECK:       arith.xori
//       CHECK:     scf.if
//       CHECK:       tt.store
//   CHECK-NOT:   scf.for
tt.func @triangle(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %s = scf.for %j = %c0 to %i step %c1 iter_args(%b = %c0) -> (i32) : i32 {
      %d = arith.xori %b, %j : i32
      scf.yield %d : i32
    }
    tt.store %p, %s : !tt.ptr<i32>
  } {tt.flatten}
  tt.return
}

// -----

// What only the epilogue uses is computed there; a reduction is not, its tensor would have to be carried.
// CHECK-LABEL: @sink
//       CHECK:   scf.for
//       CHECK:     scf.if
//       CHECK:       "tt.reduce"
//       CHECK:     } else {
//       CHECK:     scf.if
//       CHECK:       tt.splat
//       CHECK:       tt.store
tt.func @sink(%p: tensor<8x!tt.ptr<f32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %f0 = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = tt.splat %i : i32 -> tensor<8xi32>
    %q = tt.addptr %p, %t : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %v = tt.load %p : tensor<8x!tt.ptr<f32>>
    %m = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %h: f32):
      %s = arith.maximumf %l, %h : f32
      tt.reduce.return %s : f32
    }) : (tensor<8xf32>) -> f32
    %s = scf.for %j = %c0 to %c8 step %c1 iter_args(%b = %f0) -> (f32) : i32 {
      %d = arith.sitofp %j : i32 to f32
      %e = arith.addf %b, %d : f32
      scf.yield %e : f32
    }
    %f = arith.addf %s, %m : f32
    %g = tt.splat %f : f32 -> tensor<8xf32>
    tt.store %q, %g : tensor<8x!tt.ptr<f32>>
  } {tt.flatten}
  tt.return
}

// -----

// Stays: nobody asks; two inner loops; bounds from memory; bounds that the outer loop carries.
// CHECK-LABEL: @stays
// CHECK-COUNT-9: scf.for
tt.func @stays(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      tt.store %p, %j : !tt.ptr<i32>
    }
  }
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      tt.store %p, %j : !tt.ptr<i32>
    }
    scf.for %j = %c0 to %n step %c1 : i32 {
      tt.store %p, %i : !tt.ptr<i32>
    }
  } {tt.flatten}
  scf.for %i = %c0 to %n step %c1 : i32 {
    %k = tt.load %p : !tt.ptr<i32>
    scf.for %j = %c0 to %k step %c1 : i32 {
      tt.store %p, %j : !tt.ptr<i32>
    }
  } {tt.flatten}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %n) -> (i32) : i32 {
    scf.for %j = %c0 to %k step %c1 : i32 {
      tt.store %p, %j : !tt.ptr<i32>
    }
    %l = arith.muli %k, %k : i32
    scf.yield %l : i32
  } {tt.flatten}
  tt.store %p, %r : !tt.ptr<i32>
  tt.return
}

// -----

// A product whose loads can be made ahead in the inner loop, but not across the outer one's store, stays; without the
// store the loops become one.
// CHECK-LABEL: @loads_ahead
// CHECK-COUNT-2: scf.for
//       CHECK:   tt.store
// CHECK-LABEL: @loads_ahead_of_nothing
// CHECK-COUNT-1: scf.for
//   CHECK-NOT:   scf.for
tt.func @loads_ahead(%p: tensor<16x16x!tt.ptr<f16>>, %q: tensor<16x16x!tt.ptr<f32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %s = scf.for %j = %c0 to %c8 step %c1 iter_args(%a = %zero) -> (tensor<16x16xf32>) : i32 {
      %v = tt.load %p : tensor<16x16x!tt.ptr<f16>>
      %d = tt.dot %v, %v, %a : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    tt.store %q, %s : tensor<16x16x!tt.ptr<f32>>
  } {tt.flatten}
  tt.return
}
tt.func @loads_ahead_of_nothing(%p: tensor<16x16x!tt.ptr<f16>>, %n: i32) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %zero) -> (tensor<16x16xf32>) : i32 {
    %s = scf.for %j = %c0 to %c8 step %c1 iter_args(%a = %b) -> (tensor<16x16xf32>) : i32 {
      %v = tt.load %p : tensor<16x16x!tt.ptr<f16>>
      %d = tt.dot %v, %v, %a : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    scf.yield %s : tensor<16x16xf32>
  } {tt.flatten}
  tt.return %r : tensor<16x16xf32>
}
