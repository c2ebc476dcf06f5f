// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-decompose-scaled-dot | FileCheck %s
// RUN: triton-opt %s -split-input-file --tt-decompose-scaled-dot="kept-tiles=mx:16x16x128:32,mx:32x32x64:32" | FileCheck %s --check-prefix=KEPT
// RUN: triton-opt %s -split-input-file --tt-decompose-scaled-dot=max-operand-bytes=4095 | FileCheck %s --check-prefix=LARGE

// Each scale stands for its group of K / groups elements; an operand without a scale is only widened.
// CHECK-LABEL: @scale_of_a
//       CHECK:   %[[W:.*]] = tt.fp_to_fp %[[A:.*]] : tensor<16x64xf8E4M3FN> -> tensor<16x64xbf16>
//       CHECK:   %[[BITS:.*]] = arith.extui %[[S:.*]] : tensor<16x2xi8> to tensor<16x2xi16>
//       CHECK:   %[[P:.*]] = tt.bitcast %{{.*}} : tensor<16x2xi16> -> tensor<16x2xbf16>
//       CHECK:   %[[E:.*]] = tt.expand_dims %[[P]] {axis = 2 : i32} : tensor<16x2xbf16> -> tensor<16x2x1xbf16>
//       CHECK:   %[[Q:.*]] = tt.broadcast %[[E]] : tensor<16x2x1xbf16> -> tensor<16x2x32xbf16>
//       CHECK:   %[[R:.*]] = tt.reshape %[[Q]] : tensor<16x2x32xbf16> -> tensor<16x64xbf16>
//       CHECK:   %[[X:.*]] = arith.mulf %[[W]], %[[R]] : tensor<16x64xbf16>
//       CHECK:   tt.dot %[[X]], %[[B:.*]], %[[C:.*]] : tensor<16x64xbf16> * tensor<64x16xbf16>
//   CHECK-NOT:   tt.dot_scaled
tt.func @scale_of_a(%a: tensor<16x64xf8E4M3FN>, %s: tensor<16x2xi8>, %b: tensor<64x16xbf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = bf16 : tensor<16x64xf8E4M3FN>, tensor<16x2xi8> * tensor<64x16xbf16> -> tensor<16x16xf32>
  tt.return %0 : tensor<16x16xf32>
}

// -----

// The scale of b has b's columns as rows: it is turned.
// CHECK-LABEL: @scale_of_b
//       CHECK:   %[[R:.*]] = tt.reshape %{{.*}} : tensor<8x2x32xbf16> -> tensor<8x64xbf16>
//       CHECK:   tt.trans %[[R]] {order = array<i32: 1, 0>} : tensor<8x64xbf16> -> tensor<64x8xbf16>
tt.func @scale_of_b(%a: tensor<16x64xbf16>, %b: tensor<64x8xf8E5M2>, %s: tensor<8x2xi8>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = tt.dot_scaled %a, %b scale %s, %c lhs = bf16 rhs = e5m2 : tensor<16x64xbf16> * tensor<64x8xf8E5M2>, tensor<8x2xi8> -> tensor<16x8xf32>
  tt.return %0 : tensor<16x8xf32>
}

// -----

// Two e2m1 a byte: along K for a; along N for b, whose K is not packed. As bf16 both have 4096 bytes together. Where this
// is too much, b is packed along K first.
// CHECK-LABEL: @packed
//       CHECK:   ttg.fp4_to_fp %{{.*}} {axis = 1 : i32} : tensor<16x32xi8> -> tensor<16x64xbf16>
//       CHECK:   ttg.fp4_to_fp %{{.*}} {axis = 1 : i32} : tensor<64x8xi8> -> tensor<64x16xbf16>
// LARGE-LABEL: @packed(
//       LARGE:   tt.split
//       LARGE:   %[[COLUMNS:.*]] = tt.join
//       LARGE:   %[[B:.*]] = tt.reshape %[[COLUMNS]] : tensor<32x8x2xi8> -> tensor<32x16xi8>
//       LARGE:   ttg.fp4_to_fp %{{.*}} {axis = 1 : i32} : tensor<16x32xi8> -> tensor<16x64xbf16>
//       LARGE:   ttg.fp4_to_fp %[[B]] {axis = 0 : i32} : tensor<32x16xi8> -> tensor<64x16xbf16>
tt.func @packed(%a: tensor<16x32xi8>, %b: tensor<64x8xi8>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = e2m1 {rhs_k_pack = false} : tensor<16x32xi8> * tensor<64x8xi8> -> tensor<16x16xf32>
  tt.return %0 : tensor<16x16xf32>
}

// -----

// b packed along K, its first dimension.
// CHECK-LABEL: @packed_k
//       CHECK:   ttg.fp4_to_fp %{{.*}} {axis = 0 : i32} : tensor<32x16xi8> -> tensor<64x16xbf16>
tt.func @packed_k(%a: tensor<16x64xbf16>, %b: tensor<32x16xi8>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = tt.dot_scaled %a, %b, %c lhs = bf16 rhs = e2m1 : tensor<16x64xbf16> * tensor<32x16xi8> -> tensor<16x16xf32>
  tt.return %0 : tensor<16x16xf32>
}

// -----

// fp16 fits into tf32, not into bf16.
// CHECK-LABEL: @fp16
//       CHECK:   tt.dot %{{.*}}, inputPrecision = tf32 : tensor<16x32xf32> * tensor<32x16xf32>
tt.func @fp16(%a: tensor<16x32xf16>, %b: tensor<32x16xf8E5M2>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = tt.dot_scaled %a, %b, %c lhs = fp16 rhs = e5m2 : tensor<16x32xf16> * tensor<32x16xf8E5M2> -> tensor<16x16xf32>
  tt.return %0 : tensor<16x16xf32>
}

// -----

// Where the device multiplies with scales, whole tiles of such products stay; bf16 has none.
// CHECK-LABEL: @whole_tiles
//   CHECK-NOT:   tt.dot_scaled
//  KEPT-LABEL: @whole_tiles
//        KEPT:   tt.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} lhs = e4m3 rhs = e2m1
//        KEPT:   tt.dot_scaled %{{.*}}, %{{.*}}, %{{.*}} lhs = e4m3 rhs = e4m3
//        KEPT:   tt.dot {{.*}} : tensor<32x64xbf16> * tensor<64x32xbf16>
tt.func @whole_tiles(%a: tensor<16x128xf8E4M3FN>, %sa: tensor<16x4xi8>, %b: tensor<64x16xi8>, %sb: tensor<16x4xi8>, %c: tensor<16x16xf32>, %x: tensor<32x64xf8E4M3FN>, %y: tensor<64x32xf8E4M3FN>, %z: tensor<32x32xf32>, %w: tensor<64x32xbf16>) -> (tensor<16x16xf32>, tensor<32x32xf32>) {
  %0 = tt.dot_scaled %a scale %sa, %b scale %sb, %c lhs = e4m3 rhs = e2m1 : tensor<16x128xf8E4M3FN>, tensor<16x4xi8> * tensor<64x16xi8>, tensor<16x4xi8> -> tensor<16x16xf32>
  %1 = tt.dot_scaled %x, %y, %z lhs = e4m3 rhs = e4m3 : tensor<32x64xf8E4M3FN> * tensor<64x32xf8E4M3FN> -> tensor<32x32xf32>
  %2 = tt.dot_scaled %x, %w, %1 lhs = e4m3 rhs = bf16 : tensor<32x64xf8E4M3FN> * tensor<64x32xbf16> -> tensor<32x32xf32>
  tt.return %0, %2 : tensor<16x16xf32>, tensor<32x32xf32>
}

// -----

// e2m1 packed along M and N: halves of neighbours along K change places, and the dot is packed along K.
// KEPT-LABEL: @packed_anew
//       KEPT:   %[[PA:.*]] = tt.reshape %{{.*}} : tensor<8x128xi8> -> tensor<8x64x2xi8>
//       KEPT:   %[[X:.*]], %[[Y:.*]] = tt.split %[[PA]] : tensor<8x64x2xi8> -> tensor<8x64xi8>
//       KEPT:   %[[XL:.*]] = arith.andi %[[X]], %{{.*}} : tensor<8x64xi8>
//       KEPT:   %[[YH:.*]] = arith.shli %[[Y]], %{{.*}} : tensor<8x64xi8>
//       KEPT:   %[[EVEN:.*]] = arith.ori %[[XL]], %[[YH]] : tensor<8x64xi8>
//       KEPT:   %[[XR:.*]] = arith.shrui %[[X]], %{{.*}} : tensor<8x64xi8>
//       KEPT:   %[[YK:.*]] = arith.andi %[[Y]], %{{.*}} : tensor<8x64xi8>
//       KEPT:   %[[ODD:.*]] = arith.ori %[[XR]], %[[YK]] : tensor<8x64xi8>
//       KEPT:   %[[ROWS:.*]] = tt.join %[[EVEN]], %[[ODD]] : tensor<8x64xi8> -> tensor<8x64x2xi8>
//       KEPT:   %[[T:.*]] = tt.trans %[[ROWS]] {order = array<i32: 0, 2, 1>} : tensor<8x64x2xi8> -> tensor<8x2x64xi8>
//       KEPT:   %[[A:.*]] = tt.reshape %[[T]] : tensor<8x2x64xi8> -> tensor<16x64xi8>
//       KEPT:   %[[PB:.*]] = tt.reshape %{{.*}} : tensor<128x8xi8> -> tensor<64x2x8xi8>
//       KEPT:   %[[TB:.*]] = tt.trans %[[PB]] {order = array<i32: 0, 2, 1>} : tensor<64x2x8xi8> -> tensor<64x8x2xi8>
//       KEPT:   tt.split %[[TB]]
//       KEPT:   %[[COLUMNS:.*]] = tt.join {{.*}} -> tensor<64x8x2xi8>
//       KEPT:   %[[B:.*]] = tt.reshape %[[COLUMNS]] : tensor<64x8x2xi8> -> tensor<64x16xi8>
//       KEPT:   tt.dot_scaled %[[A]], %[[B]], %{{.*}} lhs = e2m1 rhs = e2m1 : tensor<16x64xi8> * tensor<64x16xi8>
tt.func @packed_anew(%a: tensor<8x128xi8>, %b: tensor<128x8xi8>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = e2m1 {lhs_k_pack = false, rhs_k_pack = false} : tensor<8x128xi8> * tensor<128x8xi8> -> tensor<16x16xf32>
  tt.return %0 : tensor<16x16xf32>
}

// -----

// Tiles that are not whole, groups of 16, and scales that are numbers of a wider range.
// KEPT-LABEL: @not_for_the_unit
//   KEPT-NOT:   tt.dot_scaled
tt.func @not_for_the_unit(%a: tensor<16x64xf8E4M3FN>, %b: tensor<64x16xf8E4M3FN>, %c: tensor<16x16xf32>, %x: tensor<16x64xi8>, %y: tensor<64x16xi8>, %s16: tensor<16x8xi8>, %sf: tensor<16x4xf8E4M3FN>) -> tensor<16x16xf32> {
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e4m3 : tensor<16x64xf8E4M3FN> * tensor<64x16xf8E4M3FN> -> tensor<16x16xf32>
  %1 = tt.dot_scaled %x scale %s16, %y, %0 lhs = e2m1 rhs = e2m1 : tensor<16x64xi8>, tensor<16x8xi8> * tensor<64x16xi8> -> tensor<16x16xf32>
  %2 = tt.dot_scaled %x scale %sf, %y, %1 lhs = e2m1 rhs = e2m1 : tensor<16x64xi8>, tensor<16x4xf8E4M3FN> * tensor<64x16xi8> -> tensor<16x16xf32>
  tt.return %2 : tensor<16x16xf32>
}
