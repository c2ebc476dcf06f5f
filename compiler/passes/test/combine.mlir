// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-combine | FileCheck %s

// 64-bit offsets of two addptr are added.
// CHECK-LABEL: @add_ptr_64
//       CHECK:   %[[SUM:.*]] = arith.addi %[[I:.*]], %[[J:.*]] : tensor<8xi64>
//       CHECK:   tt.addptr %[[P:.*]], %[[SUM]] {tt.divisibility = dense<8> : tensor<1xi32>} :
//   CHECK-NOT:   tt.addptr
tt.func @add_ptr_64(%p: tensor<8x!tt.ptr<f32>>, %i: tensor<8xi64>, %j: tensor<8xi64>) -> tensor<8x!tt.ptr<f32>> {
  %0 = tt.addptr %p, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  %1 = tt.addptr %0, %j {tt.divisibility = dense<8> : tensor<1xi32>} : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  tt.return %1 : tensor<8x!tt.ptr<f32>>
}

// -----

// 32-bit offsets could wrap: they stay apart.
// CHECK-LABEL: @add_ptr_32
// CHECK-COUNT-2: tt.addptr
tt.func @add_ptr_32(%p: !tt.ptr<f32>, %i: i32, %j: i32) -> !tt.ptr<f32> {
  %0 = tt.addptr %p, %i : !tt.ptr<f32>, i32
  %1 = tt.addptr %0, %j : !tt.ptr<f32>, i32
  tt.return %1 : !tt.ptr<f32>
}

// -----

// Constants whose sum fits are added, others are not.
// CHECK-LABEL: @add_ptr_constants
//       CHECK:   %[[SUM:.*]] = arith.constant 24 : i32
//       CHECK:   tt.addptr %{{.*}}, %[[SUM]]
// CHECK-LABEL: @add_ptr_overflow
// CHECK-COUNT-2: tt.addptr
tt.func @add_ptr_constants(%p: !tt.ptr<f32>) -> !tt.ptr<f32> {
  %i = arith.constant 8 : i32
  %j = arith.constant 16 : i32
  %0 = tt.addptr %p, %i : !tt.ptr<f32>, i32
  %1 = tt.addptr %0, %j : !tt.ptr<f32>, i32
  tt.return %1 : !tt.ptr<f32>
}
tt.func @add_ptr_overflow(%p: !tt.ptr<f32>) -> !tt.ptr<f32> {
  %i = arith.constant 2147483647 : i32
  %j = arith.constant 16 : i32
  %0 = tt.addptr %p, %i : !tt.ptr<f32>, i32
  %1 = tt.addptr %0, %j : !tt.ptr<f32>, i32
  tt.return %1 : !tt.ptr<f32>
}

// -----

// A dot onto zero takes the other summand as its accumulator, on either side.
// CHECK-LABEL: @dot_add
//  CHECK-SAME:   %[[A:.*]]: tensor<16x16xf16>, %[[B:.*]]: tensor<16x16xf16>, %[[C:.*]]: tensor<16x16xf32>
//       CHECK:   %[[X:.*]] = tt.dot %[[A]], %[[B]], %[[C]], inputPrecision = tf32
//       CHECK:   %[[Y:.*]] = tt.dot %[[A]], %[[B]], %[[X]]
//       CHECK:   tt.return %[[Y]]
tt.func @dot_add(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %0 = tt.dot %a, %b, %zero, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %1 = arith.addf %0, %c : tensor<16x16xf32>
  %2 = tt.dot %a, %b, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %3 = arith.addf %1, %2 : tensor<16x16xf32>
  tt.return %3 : tensor<16x16xf32>
}

// -----

// Not with a second user, not onto another accumulator, not with reduced-precision accumulation.
// CHECK-LABEL: @dot_add_stays
// CHECK-COUNT-3: arith.addf
tt.func @dot_add_stays(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>)
    -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %one = arith.constant dense<1.0> : tensor<16x16xf32>
  %0 = tt.dot %a, %b, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %1 = arith.addf %0, %c : tensor<16x16xf32>
  %2 = tt.dot %a, %b, %one : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %3 = arith.addf %2, %c : tensor<16x16xf32>
  %4 = tt.dot %a, %b, %zero {maxNumImpreciseAcc = 32 : i32} :
      tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %5 = arith.addf %4, %c : tensor<16x16xf32>
  tt.return %0, %1, %3, %5 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}

// -----

// Integer dots merge too.
// CHECK-LABEL: @dot_add_int
//   CHECK-NOT:   arith.addi
tt.func @dot_add_int(%a: tensor<16x32xi8>, %b: tensor<32x16xi8>, %c: tensor<16x16xi32>) -> tensor<16x16xi32> {
  %zero = arith.constant dense<0> : tensor<16x16xi32>
  %0 = tt.dot %a, %b, %zero : tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xi32>
  %1 = arith.addi %c, %0 : tensor<16x16xi32>
  tt.return %1 : tensor<16x16xi32>
}

// -----

// The select becomes the load's value for masked elements.
// CHECK-LABEL: @select_load
//       CHECK:   tt.load %{{.*}}, %{{.*}}, %[[OTHER:.*]] cacheModifier = ca
//   CHECK-NOT:   arith.select
tt.func @select_load(%p: tensor<8x!tt.ptr<f32>>, %c: i1, %o: tensor<8xf32>) -> tensor<8xf32> {
  %m = tt.splat %c : i1 -> tensor<8xi1>
  %0 = tt.load %p, %m cacheModifier = ca : tensor<8x!tt.ptr<f32>>
  %1 = arith.select %c, %0, %o : tensor<8xf32>
  tt.return %1 : tensor<8xf32>
}

// -----

// Not across a write, not with another condition, not when the load is used elsewhere.
// CHECK-LABEL: @select_load_stays
// CHECK-COUNT-3: arith.select
tt.func @select_load_stays(%p: tensor<8x!tt.ptr<f32>>, %c: i1, %d: i1, %o: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %m = tt.splat %c : i1 -> tensor<8xi1>
  %0 = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
  tt.store %p, %o : tensor<8x!tt.ptr<f32>>
  %1 = arith.select %c, %0, %o : tensor<8xf32>
  %2 = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
  %3 = arith.select %d, %2, %o : tensor<8xf32>
  %4 = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
  %5 = arith.select %c, %4, %o : tensor<8xf32>
  tt.return %1, %3, %4, %5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// A sum of products of broadcast matrices is a dot.
// CHECK-LABEL: @mul_reduce
//  CHECK-SAME:   %[[X:.*]]: tensor<32x16xf32>, %[[Y:.*]]: tensor<16x64xf32>
//       CHECK:   %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<32x64xf32>
//       CHECK:   tt.dot %[[X]], %[[Y]], %[[ZERO]] : tensor<32x16xf32> * tensor<16x64xf32> -> tensor<32x64xf32>
//   CHECK-NOT:   tt.reduce
tt.func @mul_reduce(%x: tensor<32x16xf32>, %y: tensor<16x64xf32>) -> tensor<32x64xf32> {
  %0 = tt.expand_dims %x {axis = 2 : i32} : tensor<32x16xf32> -> tensor<32x16x1xf32>
  %1 = tt.broadcast %0 : tensor<32x16x1xf32> -> tensor<32x16x64xf32>
  %2 = tt.expand_dims %y {axis = 0 : i32} : tensor<16x64xf32> -> tensor<1x16x64xf32>
  %3 = tt.broadcast %2 : tensor<1x16x64xf32> -> tensor<32x16x64xf32>
  %4 = arith.mulf %1, %3 : tensor<32x16x64xf32>
  %5 = "tt.reduce"(%4) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<32x16x64xf32>) -> tensor<32x64xf32>
  tt.return %5 : tensor<32x64xf32>
}

// -----

// A maximum of products is none.
// CHECK-LABEL: @mul_reduce_max
//   CHECK-NOT:   tt.dot
tt.func @mul_reduce_max(%x: tensor<32x16xf32>, %y: tensor<16x64xf32>) -> tensor<32x64xf32> {
  %0 = tt.expand_dims %x {axis = 2 : i32} : tensor<32x16xf32> -> tensor<32x16x1xf32>
  %1 = tt.broadcast %0 : tensor<32x16x1xf32> -> tensor<32x16x64xf32>
  %2 = tt.expand_dims %y {axis = 0 : i32} : tensor<16x64xf32> -> tensor<1x16x64xf32>
  %3 = tt.broadcast %2 : tensor<1x16x64xf32> -> tensor<32x16x64xf32>
  %4 = arith.mulf %1, %3 : tensor<32x16x64xf32>
  %5 = "tt.reduce"(%4) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.maximumf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<32x16x64xf32>) -> tensor<32x64xf32>
  tt.return %5 : tensor<32x64xf32>
}

// -----

// A reshape that only a reduction or a histogram sees may reorder; not if a second operand keeps its order.
// CHECK-LABEL: @reshape_reduce
//       CHECK:   tt.reshape %{{.*}} allow_reorder
// CHECK-LABEL: @reshape_arg_reduce
//       CHECK:   tt.reshape %{{.*}} : tensor<4x4xf32>
// CHECK-LABEL: @reshape_histogram
//       CHECK:   tt.reshape %{{.*}} allow_reorder
//       CHECK:   tt.reshape %{{.*}} : tensor<4x4xi32>
tt.func @reshape_reduce(%x: tensor<4x4xf32>) -> f32 {
  %0 = tt.reshape %x : tensor<4x4xf32> -> tensor<16xf32>
  %1 = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<16xf32>) -> f32
  tt.return %1 : f32
}
tt.func @reshape_arg_reduce(%x: tensor<4x4xf32>) -> (f32, i32) {
  %0 = tt.reshape %x : tensor<4x4xf32> -> tensor<16xf32>
  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %1:2 = "tt.reduce"(%0, %i) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %k: i32, %b: f32, %l: i32):
    %c = arith.cmpf ogt, %a, %b : f32
    %s = arith.select %c, %a, %b : f32
    %t = arith.select %c, %k, %l : i32
    tt.reduce.return %s, %t : f32, i32
  }) : (tensor<16xf32>, tensor<16xi32>) -> (f32, i32)
  tt.return %1#0, %1#1 : f32, i32
}
tt.func @reshape_histogram(%x: tensor<4x4xi32>, %m: tensor<16xi1>) -> (tensor<8xi32>, tensor<8xi32>) {
  %0 = tt.reshape %x : tensor<4x4xi32> -> tensor<16xi32>
  %1 = tt.histogram %0 : tensor<16xi32> -> tensor<8xi32>
  %2 = tt.reshape %x : tensor<4x4xi32> -> tensor<16xi32>
  %3 = tt.histogram %2, %m : tensor<16xi32> -> tensor<8xi32>
  tt.return %1, %3 : tensor<8xi32>, tensor<8xi32>
}

// -----

// The microscaled dot takes its accumulator too.
// CHECK-LABEL: @dot_scaled_add
//       CHECK:   tt.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %[[C:.*]] lhs = e5m2 rhs = e5m2
//   CHECK-NOT:   arith.addf
tt.func @dot_scaled_add(%a: tensor<64x64xi8>, %x: tensor<64x2xi8>, %b: tensor<64x64xi8>, %y: tensor<64x2xi8>,
                        %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = tt.dot_scaled %a scale %x, %b scale %y, %zero lhs = e5m2 rhs = e5m2 {fastMath = false} :
      tensor<64x64xi8>, tensor<64x2xi8> * tensor<64x64xi8>, tensor<64x2xi8> -> tensor<64x64xf32>
  %1 = arith.addf %0, %c : tensor<64x64xf32>
  tt.return %1 : tensor<64x64xf32>
}

// -----

// A dot in front of a loop must not be computed in each of its iterations.
// CHECK-LABEL: @dot_add_loop
//       CHECK:   tt.dot
//       CHECK:   scf.for
//       CHECK:     arith.addf
tt.func @dot_add_loop(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>, %n: i32) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = tt.dot %a, %a, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c) -> (tensor<16x16xf32>) : i32 {
    %2 = arith.addf %s, %0 : tensor<16x16xf32>
    scf.yield %2 : tensor<16x16xf32>
  }
  tt.return %1 : tensor<16x16xf32>
}

// -----

// A volatile load stays as it is, and one without a mask has nothing to replace.
// CHECK-LABEL: @select_load_plain
// CHECK-COUNT-2: arith.select
tt.func @select_load_plain(%p: tensor<8x!tt.ptr<f32>>, %c: i1, %o: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %m = tt.splat %c : i1 -> tensor<8xi1>
  %0 = tt.load %p, %m {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  %1 = arith.select %c, %0, %o : tensor<8xf32>
  %2 = tt.load %p : tensor<8x!tt.ptr<f32>>
  %3 = arith.select %c, %2, %o : tensor<8xf32>
  tt.return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Products of few columns, and sums along another dimension, are no dots.
// CHECK-LABEL: @mul_reduce_stays
//   CHECK-NOT:   tt.dot
tt.func @mul_reduce_stays(%x: tensor<32x16xf32>, %y: tensor<16x8xf32>) -> (tensor<32x8xf32>, tensor<16x8xf32>) {
  %0 = tt.expand_dims %x {axis = 2 : i32} : tensor<32x16xf32> -> tensor<32x16x1xf32>
  %1 = tt.broadcast %0 : tensor<32x16x1xf32> -> tensor<32x16x8xf32>
  %2 = tt.expand_dims %y {axis = 0 : i32} : tensor<16x8xf32> -> tensor<1x16x8xf32>
  %3 = tt.broadcast %2 : tensor<1x16x8xf32> -> tensor<32x16x8xf32>
  %4 = arith.mulf %1, %3 : tensor<32x16x8xf32>
  %5 = "tt.reduce"(%4) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<32x16x8xf32>) -> tensor<32x8xf32>
  %6 = "tt.reduce"(%4) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<32x16x8xf32>) -> tensor<16x8xf32>
  tt.return %5, %6 : tensor<32x8xf32>, tensor<16x8xf32>
}

// -----

// A load by descriptor gives its block without leading ones; not if the block is used as it is, not across other
// dimensions.
// CHECK-LABEL: @descriptor_load
//       CHECK:   tt.descriptor_load %{{.*}} -> tensor<8x16xf32>
//   CHECK-NOT:   tt.reshape
// CHECK-LABEL: @descriptor_load_stays
//       CHECK:   tt.descriptor_load %{{.*}} -> tensor<1x8x16xf32>
//       CHECK:   tt.descriptor_load %{{.*}} -> tensor<1x8x16xf32>
tt.func @descriptor_load(%d: !tt.tensordesc<tensor<1x8x16xf32>>, %i: i32) -> tensor<8x16xf32> {
  %0 = tt.descriptor_load %d[%i, %i, %i] : !tt.tensordesc<tensor<1x8x16xf32>> -> tensor<1x8x16xf32>
  %1 = tt.reshape %0 : tensor<1x8x16xf32> -> tensor<8x16xf32>
  tt.return %1 : tensor<8x16xf32>
}
tt.func @descriptor_load_stays(%d: !tt.tensordesc<tensor<1x8x16xf32>>, %i: i32)
    -> (tensor<1x8x16xf32>, tensor<8x16xf32>, tensor<16x8xf32>) {
  %0 = tt.descriptor_load %d[%i, %i, %i] : !tt.tensordesc<tensor<1x8x16xf32>> -> tensor<1x8x16xf32>
  %1 = tt.reshape %0 : tensor<1x8x16xf32> -> tensor<8x16xf32>
  %2 = tt.descriptor_load %d[%i, %i, %i] : !tt.tensordesc<tensor<1x8x16xf32>> -> tensor<1x8x16xf32>
  %3 = tt.reshape %2 : tensor<1x8x16xf32> -> tensor<16x8xf32>
  tt.return %0, %1, %3 : tensor<1x8x16xf32>, tensor<8x16xf32>, tensor<16x8xf32>
}

// -----

// Numbers are transposed before they are converted, if nobody else takes the converted ones.
// CHECK-LABEL: @transposed_cast
//       CHECK:   %[[T:.*]] = tt.trans %{{.*}} {order = array<i32: 1, 0>} : tensor<8x16xbf16> -> tensor<16x8xbf16>
//       CHECK:   %[[F:.*]] = arith.extf %[[T]] : tensor<16x8xbf16> to tensor<16x8xf32>
//       CHECK:   %[[E:.*]] = arith.extf %{{.*}} : tensor<8x16xbf16> to tensor<8x16xf32>
//       CHECK:   %[[S:.*]] = tt.trans %[[E]]
//       CHECK:   tt.return %[[F]], %[[E]], %[[S]]
tt.func @transposed_cast(%x: tensor<8x16xbf16>, %y: tensor<8x16xbf16>) -> (tensor<16x8xf32>, tensor<8x16xf32>, tensor<16x8xf32>) {
  %a = arith.extf %x : tensor<8x16xbf16> to tensor<8x16xf32>
  %b = tt.trans %a {order = array<i32: 1, 0>} : tensor<8x16xf32> -> tensor<16x8xf32>
  %c = arith.extf %y : tensor<8x16xbf16> to tensor<8x16xf32>
  %d = tt.trans %c {order = array<i32: 1, 0>} : tensor<8x16xf32> -> tensor<16x8xf32>
  tt.return %b, %c, %d : tensor<16x8xf32>, tensor<8x16xf32>, tensor<16x8xf32>
}

// -----

// A condition as the bound of a loop: it runs once or not at all. Where the loop begins elsewhere, it stays.
// CHECK-LABEL: @one_iteration
//  CHECK-SAME:   (%[[C:.*]]: i1, %[[P:.*]]: !tt.ptr<f32>, %[[X:.*]]: f32
//       CHECK:   %[[Y:.*]] = scf.if %[[C]] -> (f32) {
//       CHECK:     %[[Z:.*]] = arith.addf %[[X]], %[[X]]
//       CHECK:     tt.store %{{.*}}, %[[Z]]
//       CHECK:     scf.yield %[[Z]]
//       CHECK:   } else {
//       CHECK:     scf.yield %[[X]]
//       CHECK:   scf.if %[[C]] {
//   CHECK-NOT:   else
//       CHECK:   scf.for %{{.*}} = %{{.*}} to
//       CHECK:   tt.return %[[Y]]
tt.func @one_iteration(%c: i1, %p: !tt.ptr<f32>, %x: f32, %first: i32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = arith.extui %c : i1 to i32
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f32) : i32 {
    %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
    %z = arith.addf %a, %a : f32
    tt.store %q, %z : !tt.ptr<f32>
    scf.yield %z : f32
  }
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.store %p, %x : !tt.ptr<f32>
  }
  scf.for %i = %first to %n step %c1 : i32 {
    tt.store %p, %x : !tt.ptr<f32>
  }
  tt.return %y : f32
}
