// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-split-dot-operands="matrix-operands=bf16,tf32" | FileCheck %s
// RUN: triton-opt %s -split-input-file --tt-split-dot-operands="matrix-operands=f16" | FileCheck %s --check-prefix=NONE

// Two parts of each operand: the upper bits and the rest. The accumulator comes last, after what is NaN has gone.
// CHECK-LABEL: @tf32x3
//  CHECK-SAME: (%[[A:.*]]: tensor<32x16xf32>, %[[B:.*]]: tensor<16x32xf32>, %[[C:.*]]: tensor<32x32xf32>)
//       CHECK:   %[[BITS:.*]] = tt.bitcast %[[A]] : tensor<32x16xf32> -> tensor<32x16xi32>
//       CHECK:   %[[MASK:.*]] = arith.constant dense<-8192> : tensor<32x16xi32>
//       CHECK:   %[[KEPT:.*]] = arith.andi %[[BITS]], %[[MASK]]
//       CHECK:   %[[A1:.*]] = tt.bitcast %[[KEPT]] : tensor<32x16xi32> -> tensor<32x16xf32>
//       CHECK:   %[[A2:.*]] = arith.subf %[[A]], %[[A1]]
//       CHECK:   %[[B1:.*]] = tt.bitcast {{.*}} -> tensor<16x32xf32>
//       CHECK:   %[[B2:.*]] = arith.subf %[[B]], %[[B1]]
//       CHECK:   %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
//       CHECK:   %[[S1:.*]] = tt.dot %[[A2]], %[[B1]], %[[ZERO]], inputPrecision = tf32
//       CHECK:   %[[S2:.*]] = tt.dot %[[A1]], %[[B2]], %[[S1]], inputPrecision = tf32
//       CHECK:   %[[ORDERED:.*]] = arith.cmpf ord, %[[S2]], %[[S2]]
//       CHECK:   %[[S:.*]] = arith.select %[[ORDERED]], %[[S2]], %{{.*}}
//       CHECK:   %[[P:.*]] = tt.dot %[[A1]], %[[B1]], %[[S]], inputPrecision = tf32
//       CHECK:   %[[D:.*]] = arith.addf %[[C]], %[[P]]
//       CHECK:   tt.return %[[D]]
//  NONE-LABEL: @tf32x3
//    NONE-NOT:   arith
//        NONE:   tt.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<32x16xf32>
tt.func @tf32x3(%a: tensor<32x16xf32>, %b: tensor<16x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<32x16xf32> * tensor<16x32xf32> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}

// -----

// An accumulator of zeros is not added.
// CHECK-LABEL: @bf16x3
//       CHECK:   arith.truncf {{.*}} : tensor<32x16xf32> to tensor<32x16xbf16>
// CHECK-COUNT-3:   tt.dot {{.*}} : tensor<32x16xbf16> * tensor<16x32xbf16> -> tensor<32x32xf32>
//   CHECK-NOT:   tt.dot
//   CHECK-NOT:   arith.addf
tt.func @bf16x3(%a: tensor<32x16xf32>, %b: tensor<16x32xf32>) -> tensor<32x32xf32> {
  %c = arith.constant dense<0.0> : tensor<32x32xf32>
  %d = tt.dot %a, %b, %c, inputPrecision = bf16x3 : tensor<32x16xf32> * tensor<16x32xf32> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}

// -----

// Three parts; of nine products the three smallest do not count.
// CHECK-LABEL: @bf16x6
// CHECK-COUNT-5:   tt.dot {{.*}} : tensor<32x16xbf16>
//       CHECK:   arith.cmpf ord
//       CHECK:   tt.dot {{.*}} : tensor<32x16xbf16>
//   CHECK-NOT:   tt.dot
tt.func @bf16x6(%a: tensor<32x16xf32>, %b: tensor<16x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = bf16x6 : tensor<32x16xf32> * tensor<16x32xf32> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}

// -----

// Operands that are narrow already have no parts; other precisions stay.
// CHECK-LABEL: @narrow
//       CHECK:   tt.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<32x16xf16>
// CHECK-LABEL: @tf32
//       CHECK:   tt.dot %{{.*}}, %{{.*}}, %{{.*}}, inputPrecision = tf32 : tensor<32x16xf32>
//   CHECK-NOT:   tt.dot
tt.func @narrow(%a: tensor<32x16xf16>, %b: tensor<16x32xf16>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = bf16x6 : tensor<32x16xf16> * tensor<16x32xf16> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}
tt.func @tf32(%a: tensor<32x16xf32>, %b: tensor<16x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<32x16xf32> * tensor<16x32xf32> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}
