// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-flush-exponentials | FileCheck %s

// A logistic function: one more than a subnormal number is one.
// CHECK-LABEL: @logistic
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: tensor<64xf32>
//       CHECK:   %[[K:.*]] = arith.constant 1.44269
//       CHECK:   %[[S:.*]] = tt.splat %[[K]]
//       CHECK:   %[[P:.*]] = arith.mulf %[[X]], %[[S]]
//       CHECK:   %[[E:.*]] = math.exp2 %[[P]]
//       CHECK:   arith.addf %[[E]],
tt.func @logistic(%x: tensor<64xf32>) -> tensor<64xf32> {
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %e = math.exp %x : tensor<64xf32>
  %s = arith.addf %e, %one : tensor<64xf32>
  %r = arith.divf %one, %s : tensor<64xf32>
  tt.return %r : tensor<64xf32>
}

// -----

// Attention's block: a sum below the maximum, and a dot's operand.
// CHECK-LABEL: @attention
//   CHECK-NOT:   math.exp %
//       CHECK:   math.exp2
//   CHECK-NOT:   math.exp %
tt.func @attention(%s: tensor<64x32xf32>, %mask: tensor<64x32xi1>, %old: tensor<64xf32>, %v: tensor<32x64xbf16>,
                   %acc: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64x64xf32>) {
  %least = arith.constant dense<0xFF800000> : tensor<64x32xf32>
  %x = arith.select %mask, %s, %least : tensor<64x32xi1>, tensor<64x32xf32>
  %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %h: f32):
    %g = arith.maxnumf %l, %h : f32
    tt.reduce.return %g : f32
  }) : (tensor<64x32xf32>) -> tensor<64xf32>
  %n = arith.maxnumf %old, %m : tensor<64xf32>
  %e = tt.expand_dims %n {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  %b = tt.broadcast %e : tensor<64x1xf32> -> tensor<64x32xf32>
  %d = arith.subf %x, %b : tensor<64x32xf32>
  %p = math.exp %d : tensor<64x32xf32>
  %sum = "tt.reduce"(%p) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %h: f32):
    %g = arith.addf %l, %h : f32
    tt.reduce.return %g : f32
  }) : (tensor<64x32xf32>) -> tensor<64xf32>
  %q = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xbf16>
  %o = tt.dot %q, %v, %acc : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
  tt.return %sum, %o : tensor<64xf32>, tensor<64x64xf32>
}

// -----

// Its gradient: a factor of a dot's operand.
// CHECK-LABEL: @gradient
//       CHECK:   math.exp2
tt.func @gradient(%x: tensor<64x32xf32>, %y: tensor<64x32xf32>, %v: tensor<32x64xbf16>, %acc: tensor<64x64xf32>)
    -> tensor<64x64xf32> {
  %p = math.exp %x : tensor<64x32xf32>
  %d = arith.mulf %p, %y : tensor<64x32xf32>
  %q = arith.truncf %d : tensor<64x32xf32> to tensor<64x32xbf16>
  %o = tt.dot %q, %v, %acc : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
  tt.return %o : tensor<64x64xf32>
}

// -----

// CHECK-LABEL: @half
//       CHECK:   math.exp2
tt.func @half(%x: tensor<64xf32>) -> tensor<64xf16> {
  %e = math.exp %x : tensor<64xf32>
  %h = arith.truncf %e : tensor<64xf32> to tensor<64xf16>
  tt.return %h : tensor<64xf16>
}

// -----

// A sum of what may be subnormal numbers alone; what is as small as these; bf16 and f32 that are results.
// CHECK-LABEL: @seen
// CHECK-COUNT-4: math.exp %
//   CHECK-NOT:   math.exp2
tt.func @seen(%x: tensor<64xf32>, %y: tensor<64xf32>, %z: tensor<64xf32>)
    -> (f32, tensor<64xf32>, tensor<64xbf16>, tensor<64xf32>) {
  %tiny = arith.constant dense<1.0e-35> : tensor<64xf32>
  %e = math.exp %x : tensor<64xf32>
  %sum = "tt.reduce"(%e) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %h: f32):
    %g = arith.addf %l, %h : f32
    tt.reduce.return %g : f32
  }) : (tensor<64xf32>) -> f32
  %f = math.exp %y : tensor<64xf32>
  %s = arith.addf %f, %tiny : tensor<64xf32>
  %g = math.exp %z : tensor<64xf32>
  %t = arith.truncf %g : tensor<64xf32> to tensor<64xbf16>
  %w = arith.subf %x, %y : tensor<64xf32>
  %h = math.exp %w : tensor<64xf32>
  tt.return %sum, %s, %t, %h : f32, tensor<64xf32>, tensor<64xbf16>, tensor<64xf32>
}
