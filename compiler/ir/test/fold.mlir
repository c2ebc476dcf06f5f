// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --canonicalize | FileCheck %s

// A cast back to where a value came from is the value.
// CHECK-LABEL: @casts
//  CHECK-SAME:   %[[I:.*]]: i64, %[[P:.*]]: !tt.ptr<f32>, %[[T:.*]]: tensor<8xf32>
//  CHECK-NEXT:   tt.return %[[I]], %[[P]], %[[T]], %[[T]]
tt.func @casts(%i: i64, %p: !tt.ptr<f32>, %t: tensor<8xf32>) -> (i64, !tt.ptr<f32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
  %1 = tt.ptr_to_int %0 : !tt.ptr<f32> -> i64
  %2 = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  %3 = tt.int_to_ptr %2 : i64 -> !tt.ptr<f32>
  %4 = tt.bitcast %t : tensor<8xf32> -> tensor<8xi32>
  %5 = tt.bitcast %4 : tensor<8xi32> -> tensor<8xf32>
  %6 = tt.fp_to_fp %t : tensor<8xf32> -> tensor<8xf32>
  tt.return %1, %3, %5, %6 : i64, !tt.ptr<f32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// A round trip through another type is none: the pointee changed.
// CHECK-LABEL: @casts_stay
//       CHECK:   tt.int_to_ptr
tt.func @casts_stay(%p: !tt.ptr<f32>) -> !tt.ptr<i32> {
  %0 = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  %1 = tt.int_to_ptr %0 : i64 -> !tt.ptr<i32>
  tt.return %1 : !tt.ptr<i32>
}

// -----

// Constants convert to the nearest; not towards zero, not to eight bits.
// CHECK-LABEL: @float_constants
//   CHECK-DAG:   arith.constant 1.000980e+00 : f16
//   CHECK-DAG:   arith.constant dense<1.000000e+00> : tensor<8xbf16>
//       CHECK:   tt.fp_to_fp %{{.*}}, rounding = rtz : f32 -> f16
//       CHECK:   tt.fp_to_fp %{{.*}}, rounding = rtne : f32 -> f8E5M2
tt.func @float_constants() -> (f16, tensor<8xbf16>, f16, f8E5M2) {
  %a = arith.constant 1.0007 : f32
  %t = arith.constant dense<1.001> : tensor<8xf32>
  %0 = tt.fp_to_fp %a : f32 -> f16
  %1 = tt.fp_to_fp %t : tensor<8xf32> -> tensor<8xbf16>
  %2 = tt.fp_to_fp %a, rounding = rtz : f32 -> f16
  %3 = tt.fp_to_fp %a, rounding = rtne : f32 -> f8E5M2
  tt.return %0, %1, %2, %3 : f16, tensor<8xbf16>, f16, f8E5M2
}

// -----

// Nothing added to a pointer is the pointer; no step of a block pointer is none.
// CHECK-LABEL: @no_offset
//  CHECK-SAME:   %[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[B:.*]]: !tt.ptr<tensor<8xf32>>
//       CHECK:   %[[Q:.*]] = tt.advance %[[B]], [%c1_i32]
//       CHECK:   tt.return %[[P]], %[[B]], %[[Q]]
tt.func @no_offset(%p: tensor<8x!tt.ptr<f32>>, %b: !tt.ptr<tensor<8xf32>>)
    -> (tensor<8x!tt.ptr<f32>>, !tt.ptr<tensor<8xf32>>, !tt.ptr<tensor<8xf32>>) {
  %zeros = arith.constant dense<0> : tensor<8xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = tt.addptr %p, %zeros : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %1 = tt.advance %b, [%c0] : <tensor<8xf32>>
  %2 = tt.advance %b, [%c1] : <tensor<8xf32>>
  tt.return %0, %1, %2 : tensor<8x!tt.ptr<f32>>, !tt.ptr<tensor<8xf32>>, !tt.ptr<tensor<8xf32>>
}

// -----

// Shape operations on equal elements yield equal elements.
// CHECK-LABEL: @constants
//   CHECK-DAG:   arith.constant dense<7> : tensor<8xi32>
//   CHECK-DAG:   arith.constant dense<7> : tensor<8x1xi32>
//   CHECK-DAG:   arith.constant dense<7> : tensor<8x4xi32>
//   CHECK-DAG:   arith.constant dense<7> : tensor<32xi32>
//   CHECK-DAG:   arith.constant dense<7> : tensor<4x8xi32>
//   CHECK-DAG:   arith.constant dense<3> : tensor<1xi32>
//   CHECK-NOT:   tt.splat
tt.func @constants() -> (tensor<8xi32>, tensor<8x1xi32>, tensor<8x4xi32>, tensor<32xi32>, tensor<4x8xi32>, tensor<1xi32>) {
  %c7 = arith.constant 7 : i32
  %0 = tt.splat %c7 : i32 -> tensor<8xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %2 = tt.broadcast %1 : tensor<8x1xi32> -> tensor<8x4xi32>
  %3 = tt.reshape %2 : tensor<8x4xi32> -> tensor<32xi32>
  %4 = tt.trans %2 {order = array<i32: 1, 0>} : tensor<8x4xi32> -> tensor<4x8xi32>
  %5 = tt.make_range {start = 3 : i32, end = 4 : i32} : tensor<1xi32>
  tt.return %0, %1, %2, %3, %4, %5 : tensor<8xi32>, tensor<8x1xi32>, tensor<8x4xi32>, tensor<32xi32>, tensor<4x8xi32>, tensor<1xi32>
}

// -----

// Operations that change nothing vanish; a reordering is not nothing.
// CHECK-LABEL: @nothing
//  CHECK-SAME:   %[[T:.*]]: tensor<8x4xf32>
//  CHECK-NEXT:   %[[R:.*]] = tt.reshape %[[T]] allow_reorder
//  CHECK-NEXT:   tt.return %[[T]], %[[T]], %[[T]], %[[R]]
tt.func @nothing(%t: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = tt.broadcast %t : tensor<8x4xf32> -> tensor<8x4xf32>
  %1 = tt.reshape %t : tensor<8x4xf32> -> tensor<8x4xf32>
  %2 = tt.trans %t {order = array<i32: 0, 1>} : tensor<8x4xf32> -> tensor<8x4xf32>
  %3 = tt.reshape %t allow_reorder : tensor<8x4xf32> -> tensor<8x4xf32>
  tt.return %0, %1, %2, %3 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}
