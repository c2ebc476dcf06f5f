// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-drop-masked-selects --canonicalize | FileCheck %s

// Where the mask holds, the select takes the column.
// CHECK-LABEL: @columns
//   CHECK-NOT:   arith.select
//       CHECK:   tt.load
//       CHECK:   tt.return
tt.func @columns(%base: !tt.ptr<f32>, %rows: tensor<32x128xi64>, %inside: tensor<32x128xi1>) -> tensor<32x128xf32> {
  %zero = arith.constant dense<0> : tensor<128xi32>
  %half = arith.constant dense<64> : tensor<128xi32>
  %column = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %left = arith.cmpi slt, %column, %half : tensor<128xi32>
  %some = arith.select %left, %column, %zero : tensor<128xi1>, tensor<128xi32>
  %row = tt.expand_dims %some {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %long = arith.extsi %row : tensor<1x128xi32> to tensor<1x128xi64>
  %columns = tt.broadcast %long : tensor<1x128xi64> -> tensor<32x128xi64>
  %offsets = arith.addi %rows, %columns : tensor<32x128xi64>
  %lefts = tt.expand_dims %left {axis = 0 : i32} : tensor<128xi1> -> tensor<1x128xi1>
  %all_left = tt.broadcast %lefts : tensor<1x128xi1> -> tensor<32x128xi1>
  %mask = arith.andi %inside, %all_left : tensor<32x128xi1>
  %pointers = tt.splat %base : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>>
  %p = tt.addptr %pointers, %offsets : tensor<32x128x!tt.ptr<f32>>, tensor<32x128xi64>
  %v = tt.load %p, %mask : tensor<32x128x!tt.ptr<f32>>
  tt.return %v : tensor<32x128xf32>
}

// -----

// The mask says it of rows, the select asks it of columns.
// CHECK-LABEL: @other_dimension
//       CHECK:   arith.select
tt.func @other_dimension(%base: !tt.ptr<f32>) -> tensor<128x128xf32> {
  %zero = arith.constant dense<0> : tensor<128xi32>
  %half = arith.constant dense<64> : tensor<128xi32>
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %left = arith.cmpi slt, %range, %half : tensor<128xi32>
  %some = arith.select %left, %range, %zero : tensor<128xi1>, tensor<128xi32>
  %row = tt.expand_dims %some {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %columns = tt.broadcast %row : tensor<1x128xi32> -> tensor<128x128xi32>
  %tops = tt.expand_dims %left {axis = 1 : i32} : tensor<128xi1> -> tensor<128x1xi1>
  %mask = tt.broadcast %tops : tensor<128x1xi1> -> tensor<128x128xi1>
  %pointers = tt.splat %base : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>>
  %p = tt.addptr %pointers, %columns : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
  %v = tt.load %p, %mask : tensor<128x128x!tt.ptr<f32>>
  tt.return %v : tensor<128x128xf32>
}

// -----

// The select keeps zero away from a division.
// CHECK-LABEL: @divisor
//       CHECK:   %[[SAFE:.*]] = arith.select
//       CHECK:   arith.divsi %{{.*}}, %[[SAFE]]
tt.func @divisor(%base: !tt.ptr<f32>, %n: tensor<64xi32>, %inside: tensor<64xi1>) -> tensor<64xf32> {
  %one = arith.constant dense<1> : tensor<64xi32>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %some = arith.select %inside, %n, %one : tensor<64xi1>, tensor<64xi32>
  %place = arith.divsi %range, %some : tensor<64xi32>
  %pointers = tt.splat %base : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %pointers, %place : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p, %inside : tensor<64x!tt.ptr<f32>>
  tt.return %v : tensor<64xf32>
}

// -----

// The value that the other load takes stays as it is.
// CHECK-LABEL: @also_unmasked
//       CHECK:   %[[SOME:.*]] = arith.select
//   CHECK-DAG:   %[[P:.*]] = tt.addptr %{{.*}}, %[[SOME]]
//   CHECK-DAG:   %[[Q:.*]] = tt.addptr %{{.*}}, %{{arg.*}}
//   CHECK-DAG:   tt.load %[[Q]], %{{.*}}
//   CHECK-DAG:   tt.load %[[P]] :
tt.func @also_unmasked(%base: !tt.ptr<f32>, %n: tensor<64xi32>, %inside: tensor<64xi1>)
    -> (tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %some = arith.select %inside, %n, %zero : tensor<64xi1>, tensor<64xi32>
  %pointers = tt.splat %base : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %pointers, %some : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p, %inside : tensor<64x!tt.ptr<f32>>
  %w = tt.load %p : tensor<64x!tt.ptr<f32>>
  tt.return %v, %w : tensor<64xf32>, tensor<64xf32>
}
