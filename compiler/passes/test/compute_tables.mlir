// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-compute-tables=threads=128 --canonicalize --cse | FileCheck %s

// Sums of neighbours and their multiples are made in the table.
// CHECK-LABEL: @edges
//  CHECK-SAME:   %[[T:[a-z0-9]+]]: tensor<16xf32>, %[[N:[a-z0-9]+]]: tensor<2048xi32>
//   CHECK-DAG:   %[[HALF:.*]] = arith.constant dense<5.000000e-01> : tensor<16xf32>
//   CHECK-DAG:   %[[LAST:.*]] = arith.constant dense<15> : tensor<16xi32>
//       CHECK:   %[[I:.*]] = arith.addi %[[N]],
//       CHECK:   %[[R:.*]] = tt.make_range
//       CHECK:   %[[S:.*]] = arith.addi %[[R]], %[[LAST]]
//       CHECK:   %[[K:.*]] = arith.andi %[[S]], %[[LAST]]
//       CHECK:   %[[U:.*]] = tt.gather %[[T]][%[[K]]]
//       CHECK:   %[[V:.*]] = arith.addf %[[T]], %[[U]] : tensor<16xf32>
//       CHECK:   %[[W:.*]] = arith.mulf %[[V]], %[[HALF]] : tensor<16xf32>
//       CHECK:   %[[G:.*]] = tt.gather %[[W]][%[[I]]]
//       CHECK:   tt.return %[[G]]
tt.func @edges(%t: tensor<16xf32>, %n: tensor<2048xi32>) -> tensor<2048xf32> {
  %one = arith.constant dense<1> : tensor<2048xi32>
  %half = arith.constant dense<0.5> : tensor<2048xf32>
  %three = arith.constant dense<3> : tensor<2048xi32>
  %i = arith.addi %n, %three : tensor<2048xi32>
  %j = arith.subi %i, %one : tensor<2048xi32>
  %a = tt.gather %t[%i] {axis = 0 : i32} : (tensor<16xf32>, tensor<2048xi32>) -> tensor<2048xf32>
  %b = tt.gather %t[%j] {axis = 0 : i32} : (tensor<16xf32>, tensor<2048xi32>) -> tensor<2048xf32>
  %s = arith.addf %a, %b : tensor<2048xf32>
  %r = arith.mulf %s, %half : tensor<2048xf32>
  tt.return %r : tensor<2048xf32>
}

// -----

// Tables of several dimensions and types; numbers of the program count as constants.
// CHECK-LABEL: @scaled
//  CHECK-SAME:   %[[T:[a-z0-9]+]]: tensor<8x16xi8>, %[[I:[a-z0-9]+]]: tensor<8x256xi32>, %[[F:[a-z0-9]+]]: f32
//       CHECK:   %[[X:.*]] = arith.sitofp %[[T]] : tensor<8x16xi8> to tensor<8x16xf32>
//       CHECK:   %[[S:.*]] = tt.splat %[[F]] : f32 -> tensor<8x16xf32>
//       CHECK:   %[[M:.*]] = arith.mulf %[[X]], %[[S]] : tensor<8x16xf32>
//       CHECK:   %[[G:.*]] = tt.gather %[[M]][%[[I]]] {axis = 1 : i32} : (tensor<8x16xf32>, tensor<8x256xi32>)
//       CHECK:   tt.return %[[G]]
tt.func @scaled(%t: tensor<8x16xi8>, %i: tensor<8x256xi32>, %f: f32) -> tensor<8x256xf32> {
  %a = tt.gather %t[%i] {axis = 1 : i32} : (tensor<8x16xi8>, tensor<8x256xi32>) -> tensor<8x256xi8>
  %x = arith.sitofp %a : tensor<8x256xi8> to tensor<8x256xf32>
  %s = tt.splat %f : f32 -> tensor<8x256xf32>
  %r = arith.mulf %x, %s : tensor<8x256xf32>
  tt.return %r : tensor<8x256xf32>
}

// -----

// Not what each index multiplies, nor a table as large as what is gathered, nor a product beside its sum.
// CHECK-LABEL: @stays
//       CHECK:   tt.gather %{{.*}} -> tensor<2048xf32>
//       CHECK:   arith.mulf %{{.*}} : tensor<2048xf32>
//       CHECK:   tt.gather %{{.*}} -> tensor<2048xf32>
//       CHECK:   math.exp2 %{{.*}} : tensor<2048xf32>
//       CHECK:   tt.gather %{{.*}} -> tensor<2048xf32>
//       CHECK:   arith.mulf %{{.*}} : tensor<2048xf32>
//       CHECK:   arith.addf %{{.*}} : tensor<2048xf32>
tt.func @stays(%t: tensor<16xf32>, %l: tensor<2048xf32>, %i: tensor<2048xi32>, %k: tensor<2048xi32>,
              %f: tensor<2048xf32>) -> (tensor<2048xf32>, tensor<2048xf32>, tensor<2048xf32>) {
  %half = arith.constant dense<0.5> : tensor<2048xf32>
  %a = tt.gather %t[%i] {axis = 0 : i32} : (tensor<16xf32>, tensor<2048xi32>) -> tensor<2048xf32>
  %x = arith.mulf %a, %f : tensor<2048xf32>
  %b = tt.gather %l[%i] {axis = 0 : i32} : (tensor<2048xf32>, tensor<2048xi32>) -> tensor<2048xf32>
  %y = math.exp2 %b : tensor<2048xf32>
  %c = tt.gather %t[%k] {axis = 0 : i32} : (tensor<16xf32>, tensor<2048xi32>) -> tensor<2048xf32>
  %p = arith.mulf %c, %half : tensor<2048xf32>
  %z = arith.addf %p, %f : tensor<2048xf32>
  tt.return %x, %y, %z : tensor<2048xf32>, tensor<2048xf32>, tensor<2048xf32>
}

// -----

// Tables of pointers would be of no use: these are computed where they are wanted.
// CHECK-LABEL: @pointers
//       CHECK:   %[[G:.*]] = tt.gather
//       CHECK:   tt.addptr %{{.*}}, %[[G]] : tensor<2048x!tt.ptr<f32>>
tt.func @pointers(%p: !tt.ptr<f32>, %t: tensor<16xi32>, %n: tensor<2048xi32>) -> tensor<2048x!tt.ptr<f32>> {
  %a = tt.gather %t[%n] {axis = 0 : i32} : (tensor<16xi32>, tensor<2048xi32>) -> tensor<2048xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>>
  %r = tt.addptr %s, %a : tensor<2048x!tt.ptr<f32>>, tensor<2048xi32>
  tt.return %r : tensor<2048x!tt.ptr<f32>>
}
