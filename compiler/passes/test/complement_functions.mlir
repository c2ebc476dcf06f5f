// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-complement-functions --canonicalize | FileCheck %s

// The sign is the argument's before it is scaled.
// CHECK-LABEL: @erf
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: tensor<64xf32>
//   CHECK-NOT:   math.erf
//       CHECK:   %[[A:.*]] = math.absf %[[X]]
//       CHECK:   %[[S:.*]] = arith.mulf %[[A]],
// CHECK-COUNT-7: math.fma
//       CHECK:   %[[P:.*]] = math.exp2
//       CHECK:   %[[L:.*]] = arith.subf %{{.*}}, %[[P]]
//       CHECK:   %[[N:.*]] = arith.cmpf olt, %[[X]],
//       CHECK:   %[[R:.*]] = arith.select %[[N]], %[[P]], %[[L]]
//       CHECK:   tt.return %[[R]]
tt.func @erf(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c = arith.constant dense<0.707106769> : tensor<64xf32>
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %s = arith.mulf %x, %c : tensor<64xf32>
  %e = math.erf %s : tensor<64xf32>
  %r = arith.addf %e, %one : tensor<64xf32>
  tt.return %r : tensor<64xf32>
}

// -----

// CHECK-LABEL: @libdevice
//   CHECK-NOT:   tt.extern_elementwise
//       CHECK:   arith.cmpf ogt, %{{.*}}
//       CHECK:   arith.select
tt.func @libdevice(%x: tensor<64xf32>) -> tensor<64xf32> {
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %e = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_erff"} : (tensor<64xf32>) -> tensor<64xf32>
  %r = arith.subf %one, %e : tensor<64xf32>
  tt.return %r : tensor<64xf32>
}

// -----

// CHECK-LABEL: @tanh
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: f32
//   CHECK-DAG:   %[[K:.*]] = arith.constant -2.885
//   CHECK-DAG:   %[[TWO:.*]] = arith.constant 2.0
//       CHECK:   %[[M:.*]] = arith.mulf %[[X]], %[[K]]
//       CHECK:   %[[E:.*]] = math.exp2 %[[M]]
//       CHECK:   %[[S:.*]] = arith.addf %[[E]], %
//       CHECK:   %[[R:.*]] = arith.divf %[[TWO]], %[[S]]
//       CHECK:   tt.return %[[R]]
tt.func @tanh(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %t = math.tanh %x : f32
  %r = arith.addf %one, %t : f32
  tt.return %r : f32
}

// -----

// Half of the sum, as half of each part.
// CHECK-LABEL: @factor
//   CHECK-NOT:   math.erf
//       CHECK:   %[[S:.*]] = arith.select
//       CHECK:   %[[R:.*]] = arith.mulf %[[S]], %
//       CHECK:   tt.return %[[R]]
tt.func @factor(%x: tensor<64xf32>) -> tensor<64xf32> {
  %half = arith.constant dense<0.5> : tensor<64xf32>
  %e = math.erf %x : tensor<64xf32>
  %p = arith.mulf %e, %half : tensor<64xf32>
  %r = arith.addf %half, %p : tensor<64xf32>
  tt.return %r : tensor<64xf32>
}

// -----

// The function itself is needed, or it is no sum with one, or another width.
// CHECK-LABEL: @stays
//       CHECK:   math.tanh
//       CHECK:   math.erf
//       CHECK:   math.tanh {{.*}} f64
tt.func @stays(%x: tensor<64xf32>, %y: f64) -> (tensor<64xf32>, tensor<64xf32>, f64) {
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %two = arith.constant dense<2.0> : tensor<64xf32>
  %wide = arith.constant 1.0 : f64
  %t = math.tanh %x : tensor<64xf32>
  %s = arith.addf %t, %one : tensor<64xf32>
  %p = arith.mulf %t, %s : tensor<64xf32>
  %e = math.erf %x : tensor<64xf32>
  %q = arith.addf %e, %two : tensor<64xf32>
  %w = math.tanh %y : f64
  %v = arith.addf %w, %wide : f64
  tt.return %p, %q, %v : tensor<64xf32>, tensor<64xf32>, f64
}
