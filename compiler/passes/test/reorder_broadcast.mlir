// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-reorder-broadcast | FileCheck %s

// An operation on splats is an operation on scalars.
// CHECK-LABEL: @splats
//  CHECK-SAME:   %[[X:.*]]: f32, %[[Y:.*]]: f32
//       CHECK:   %[[S:.*]] = arith.addf %[[X]], %[[Y]] fastmath<fast> : f32
//       CHECK:   tt.splat %[[S]] : f32 -> tensor<128xf32>
tt.func @splats(%x: f32, %y: f32) -> tensor<128xf32> {
  %a = tt.splat %x : f32 -> tensor<128xf32>
  %b = tt.splat %y : f32 -> tensor<128xf32>
  %c = arith.addf %a, %b fastmath<fast> : tensor<128xf32>
  tt.return %c : tensor<128xf32>
}

// -----

// A constant of equal elements is a splat; the predicate of the comparison stays.
// CHECK-LABEL: @splat_and_constant
//       CHECK:   %[[C:.*]] = arith.constant 7 : i32
//       CHECK:   %[[S:.*]] = arith.cmpi slt, %{{.*}}, %[[C]] : i32
//       CHECK:   tt.splat %[[S]] : i1 -> tensor<128xi1>
tt.func @splat_and_constant(%x: i32) -> tensor<128xi1> {
  %a = tt.splat %x : i32 -> tensor<128xi32>
  %b = arith.constant dense<7> : tensor<128xi32>
  %c = arith.cmpi slt, %a, %b : tensor<128xi32>
  tt.return %c : tensor<128xi1>
}

// -----

// A constant of different elements is none.
// CHECK-LABEL: @splat_and_table
//       CHECK:   arith.addi %{{.*}}, %{{.*}} : tensor<2xi32>
tt.func @splat_and_table(%x: i32) -> tensor<2xi32> {
  %a = tt.splat %x : i32 -> tensor<2xi32>
  %b = arith.constant dense<[1, 2]> : tensor<2xi32>
  %c = arith.addi %a, %b : tensor<2xi32>
  tt.return %c : tensor<2xi32>
}

// -----

// The operation moves above the broadcast, with the splat made small.
// CHECK-LABEL: @broadcast_and_splat
//  CHECK-SAME:   %[[X:.*]]: tensor<128x1xf32>, %[[Y:.*]]: f32
//       CHECK:   %[[B:.*]] = tt.splat %[[Y]] : f32 -> tensor<128x1xf32>
//       CHECK:   %[[S:.*]] = arith.mulf %[[X]], %[[B]] : tensor<128x1xf32>
//       CHECK:   tt.broadcast %[[S]] : tensor<128x1xf32> -> tensor<128x64xf32>
tt.func @broadcast_and_splat(%x: tensor<128x1xf32>, %y: f32) -> tensor<128x64xf32> {
  %a = tt.broadcast %x : tensor<128x1xf32> -> tensor<128x64xf32>
  %b = tt.splat %y : f32 -> tensor<128x64xf32>
  %c = arith.mulf %a, %b : tensor<128x64xf32>
  tt.return %c : tensor<128x64xf32>
}

// -----

// Broadcasts along one dimension meet; those along different ones do not.
// CHECK-LABEL: @broadcasts
//       CHECK:   arith.addf %{{.*}}, %{{.*}} : tensor<128x1xf32>
//       CHECK:   arith.addf %{{.*}}, %{{.*}} : tensor<128x64xf32>
tt.func @broadcasts(%x: tensor<128x1xf32>, %y: tensor<128x1xf32>, %z: tensor<1x64xf32>) -> tensor<128x64xf32> {
  %a = tt.broadcast %x : tensor<128x1xf32> -> tensor<128x64xf32>
  %b = tt.broadcast %y : tensor<128x1xf32> -> tensor<128x64xf32>
  %c = arith.addf %a, %b : tensor<128x64xf32>
  %d = tt.broadcast %z : tensor<1x64xf32> -> tensor<128x64xf32>
  %e = arith.addf %c, %d : tensor<128x64xf32>
  tt.return %e : tensor<128x64xf32>
}

// -----

// A pointer of splats is one pointer; a select by a scalar keeps its condition.
// CHECK-LABEL: @pointer_and_select
//       CHECK:   %[[P:.*]] = tt.addptr %{{.*}}, %{{.*}} : !tt.ptr<f32>, i32
//       CHECK:   %[[S:.*]] = arith.select %{{.*}}, %[[P]], %{{.*}} : !tt.ptr<f32>
//       CHECK:   tt.splat %[[S]] : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
tt.func @pointer_and_select(%p: !tt.ptr<f32>, %i: i32, %c: i1) -> tensor<8x!tt.ptr<f32>> {
  %a = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %b = tt.splat %i : i32 -> tensor<8xi32>
  %d = tt.addptr %a, %b : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %e = arith.select %c, %d, %a : tensor<8x!tt.ptr<f32>>
  tt.return %e : tensor<8x!tt.ptr<f32>>
}

// -----

// Effects and packed assembly stay where they are.
// CHECK-LABEL: @stays
//       CHECK:   tt.elementwise_inline_asm "x" {{.*}} -> tensor<8xi32>
//       CHECK:   tt.elementwise_inline_asm "y" {{.*}} -> tensor<8xi32>
//       CHECK:   tt.elementwise_inline_asm "z" {{.*}} -> i32
tt.func @stays(%x: i32) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
  %a = tt.splat %x : i32 -> tensor<8xi32>
  %b = tt.elementwise_inline_asm "x" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %a :
      tensor<8xi32> -> tensor<8xi32>
  %c = tt.elementwise_inline_asm "y" {constraints = "=r,r", packed_element = 4 : i32, pure = true} %a :
      tensor<8xi32> -> tensor<8xi32>
  %d = tt.elementwise_inline_asm "z" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %a :
      tensor<8xi32> -> tensor<8xi32>
  tt.return %b, %c, %d : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
}

// -----

// Hints about the large tensor do not hold for the small one.
// CHECK-LABEL: @hints
//   CHECK-NOT:   tt.contiguity
tt.func @hints(%x: i32, %y: i32) -> tensor<128xi32> {
  %a = tt.splat %x : i32 -> tensor<128xi32>
  %b = tt.splat %y : i32 -> tensor<128xi32>
  %c = arith.addi %a, %b {tt.contiguity = dense<1> : tensor<1xi32>} : tensor<128xi32>
  tt.return %c : tensor<128xi32>
}

// -----

// Broadcasts of broadcasts and of splats are one.
// CHECK-LABEL: @chains
//  CHECK-SAME:   %[[X:.*]]: tensor<1x1xf32>, %[[Y:.*]]: f32
//       CHECK:   tt.broadcast %[[X]] : tensor<1x1xf32> -> tensor<8x16xf32>
//       CHECK:   tt.splat %[[Y]] : f32 -> tensor<8x16xf32>
//       CHECK:   tt.splat %[[Y]] : f32 -> tensor<1x8xf32>
tt.func @chains(%x: tensor<1x1xf32>, %y: f32) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<1x8xf32>) {
  %a = tt.broadcast %x : tensor<1x1xf32> -> tensor<8x1xf32>
  %b = tt.broadcast %a : tensor<8x1xf32> -> tensor<8x16xf32>
  %c = tt.splat %y : f32 -> tensor<8x1xf32>
  %d = tt.broadcast %c : tensor<8x1xf32> -> tensor<8x16xf32>
  %e = tt.splat %y : f32 -> tensor<8xf32>
  %f = tt.expand_dims %e {axis = 0 : i32} : tensor<8xf32> -> tensor<1x8xf32>
  tt.return %b, %d, %f : tensor<8x16xf32>, tensor<8x16xf32>, tensor<1x8xf32>
}

// -----

// An operand that is neither keeps the operation on the large tensor; so does a broadcast from another shape.
// CHECK-LABEL: @mixed
//       CHECK:   arith.addf %{{.*}}, %{{.*}} : tensor<8x16xf32>
//       CHECK:   arith.addf %{{.*}}, %{{.*}} : tensor<8x16xf32>
tt.func @mixed(%x: tensor<8x1xf32>, %y: tensor<1x1xf32>, %z: tensor<8x16xf32>)
    -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %a = tt.broadcast %x : tensor<8x1xf32> -> tensor<8x16xf32>
  %b = arith.addf %a, %z : tensor<8x16xf32>
  %c = tt.broadcast %y : tensor<1x1xf32> -> tensor<8x16xf32>
  %d = arith.addf %a, %c : tensor<8x16xf32>
  tt.return %b, %d : tensor<8x16xf32>, tensor<8x16xf32>
}

// -----

// Each address is read once: all rows of one block, and one element.
// CHECK-LABEL: @loads
//       CHECK:   %[[R:.*]] = tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<1x16x!tt.ptr<f32>>
//       CHECK:   %[[B:.*]] = tt.broadcast %[[R]] : tensor<1x16xf32> -> tensor<8x16xf32>
//       CHECK:   %[[E:.*]] = tt.load %{{.*}} : !tt.ptr<f32>
//       CHECK:   %[[S:.*]] = tt.splat %[[E]] : f32 -> tensor<8x16xf32>
//       CHECK:   tt.return %[[B]], %[[S]]
tt.func @loads(%p: tensor<1x16x!tt.ptr<f32>>, %m: tensor<1x16xi1>, %q: !tt.ptr<f32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %ps = tt.broadcast %p : tensor<1x16x!tt.ptr<f32>> -> tensor<8x16x!tt.ptr<f32>>
  %ms = tt.broadcast %m : tensor<1x16xi1> -> tensor<8x16xi1>
  %rows = tt.load %ps, %ms, %zero : tensor<8x16x!tt.ptr<f32>>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %one = tt.load %qs : tensor<8x16x!tt.ptr<f32>>
  tt.return %rows, %one : tensor<8x16xf32>, tensor<8x16xf32>
}

// -----

// A mask of other rows, and a volatile load, stay.
// CHECK-LABEL: @loads_that_stay
//       CHECK:   tt.load %{{.*}}, %{{.*}} : tensor<8x16x!tt.ptr<f32>>
//       CHECK:   tt.load %{{.*}} {isVolatile = true} : tensor<8x16x!tt.ptr<f32>>
tt.func @loads_that_stay(%p: tensor<1x16x!tt.ptr<f32>>, %m: tensor<8x1xi1>, %q: !tt.ptr<f32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %ps = tt.broadcast %p : tensor<1x16x!tt.ptr<f32>> -> tensor<8x16x!tt.ptr<f32>>
  %ms = tt.broadcast %m : tensor<8x1xi1> -> tensor<8x16xi1>
  %rows = tt.load %ps, %ms : tensor<8x16x!tt.ptr<f32>>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %one = tt.load %qs {isVolatile = true} : tensor<8x16x!tt.ptr<f32>>
  tt.return %rows, %one : tensor<8x16xf32>, tensor<8x16xf32>
}
