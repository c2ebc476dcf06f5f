// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-scale-maxima | FileCheck %s

// A constant scale is positive: the maximum is scaled.
// CHECK-LABEL: @constant
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: tensor<64x32xf32>
//       CHECK:   %[[S:.*]] = arith.mulf %[[X]], %cst
//       CHECK:   %[[R:.*]] = "tt.reduce"(%[[X]])
//       CHECK:   %[[C:.*]] = tt.splat %{{.*}} : f32 -> tensor<64xf32>
//       CHECK:   %[[M:.*]] = arith.mulf %[[R]], %[[C]]
//       CHECK:   tt.expand_dims %[[M]]
//       CHECK:   arith.subf %[[S]],
tt.func @constant(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %c = arith.constant dense<0.125> : tensor<64x32xf32>
  %s = arith.mulf %x, %c : tensor<64x32xf32>
  %m = "tt.reduce"(%s) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %h: f32):
    %g = arith.maxnumf %l, %h : f32
    tt.reduce.return %g : f32
  }) : (tensor<64x32xf32>) -> tensor<64xf32>
  %e = tt.expand_dims %m {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  %b = tt.broadcast %e : tensor<64x1xf32> -> tensor<64x32xf32>
  %d = arith.subf %s, %b : tensor<64x32xf32>
  tt.return %d : tensor<64x32xf32>
}

// -----

// A negative one would make minima of maxima.
// CHECK-LABEL: @negative
//       CHECK:   %[[S:.*]] = arith.mulf
//       CHECK:   "tt.reduce"(%[[S]])
tt.func @negative(%x: tensor<64x32xf32>) -> tensor<64xf32> {
  %c = arith.constant dense<-0.125> : tensor<64x32xf32>
  %s = arith.mulf %x, %c : tensor<64x32xf32>
  %m = "tt.reduce"(%s) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %h: f32):
    %g = arith.maxnumf %l, %h : f32
    tt.reduce.return %g : f32
  }) : (tensor<64x32xf32>) -> tensor<64xf32>
  tt.return %m : tensor<64xf32>
}

// -----

// What is stored needs the product in any case.
// CHECK-LABEL: @stored
//       CHECK:   %[[S:.*]] = arith.mulf
//       CHECK:   "tt.reduce"(%[[S]])
tt.func @stored(%p: tensor<64x32x!tt.ptr<f32>>, %x: tensor<64x32xf32>) -> tensor<64xf32> {
  %c = arith.constant dense<0.125> : tensor<64x32xf32>
  %s = arith.mulf %x, %c : tensor<64x32xf32>
  tt.store %p, %s : tensor<64x32x!tt.ptr<f32>>
  %m = "tt.reduce"(%s) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %h: f32):
    %g = arith.maxnumf %l, %h : f32
    tt.reduce.return %g : f32
  }) : (tensor<64x32xf32>) -> tensor<64xf32>
  tt.return %m : tensor<64xf32>
}

// -----

// The sign of an argument goes to the operand that the loop does not change.
// CHECK-LABEL: @argument
//  CHECK-SAME:   %[[Q:[a-z0-9]+]]: tensor<64x16xf16>, %{{.*}}, %[[SCALE:[a-z0-9]+]]: f32
//       CHECK:   %[[NEG:.*]] = arith.cmpf olt, %[[SCALE]], %{{.*}} : f32
//       CHECK:   %[[SIGN:.*]] = arith.select %[[NEG]], %{{.*}}, %{{.*}} : f16
//       CHECK:   %[[SIGNS:.*]] = tt.splat %[[SIGN]] : f16 -> tensor<64x16xf16>
//       CHECK:   %[[SQ:.*]] = arith.mulf %[[Q]], %[[SIGNS]]
//       CHECK:   %[[ABS:.*]] = math.absf %[[SCALE]] : f32
//       CHECK:   scf.for
//       CHECK:     %[[X:.*]] = tt.dot %[[SQ]],
//       CHECK:     %[[SPLAT:.*]] = tt.splat %[[ABS]] : f32 -> tensor<64x32xf32>
//       CHECK:     %[[S:.*]] = arith.mulf %[[X]], %[[SPLAT]]
//       CHECK:     "tt.reduce"(%[[X]])
//       CHECK:     tt.splat %[[ABS]] : f32 -> tensor<64xf32>
tt.func @argument(%q: tensor<64x16xf16>, %k: tensor<16x32xf16>, %scale: f32, %n: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %low = arith.constant dense<0xFF800000> : tensor<64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %low) -> (tensor<64xf32>) : i32 {
    %x = tt.dot %q, %k, %zero, inputPrecision = tf32 : tensor<64x16xf16> * tensor<16x32xf16> -> tensor<64x32xf32>
    %c = tt.splat %scale : f32 -> tensor<64x32xf32>
    %s = arith.mulf %x, %c : tensor<64x32xf32>
    %m = "tt.reduce"(%s) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %h: f32):
      %g = arith.maxnumf %l, %h : f32
      tt.reduce.return %g : f32
    }) : (tensor<64x32xf32>) -> tensor<64xf32>
    %t = arith.maxnumf %a, %m : tensor<64xf32>
    scf.yield %t : tensor<64xf32>
  }
  tt.return %r : tensor<64xf32>
}

// -----

// Scores that a mask selects from get the scale without a sign; their maximum stays.
// CHECK-LABEL: @masked
//       CHECK:   %[[ABS:.*]] = math.absf
//       CHECK:   scf.for
//       CHECK:     %[[SPLAT:.*]] = tt.splat %[[ABS]] : f32 -> tensor<64x32xf32>
//       CHECK:     %[[S:.*]] = arith.mulf %{{.*}}, %[[SPLAT]]
//       CHECK:     %[[Y:.*]] = arith.select %{{.*}}, %[[S]],
//       CHECK:     "tt.reduce"(%[[Y]])
tt.func @masked(%q: tensor<64x16xf16>, %k: tensor<16x32xf16>, %mask: tensor<64x32xi1>, %scale: f32, %n: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %other = arith.constant dense<-1.0e6> : tensor<64x32xf32>
  %low = arith.constant dense<0xFF800000> : tensor<64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %low) -> (tensor<64xf32>) : i32 {
    %x = tt.dot %q, %k, %zero, inputPrecision = tf32 : tensor<64x16xf16> * tensor<16x32xf16> -> tensor<64x32xf32>
    %c = tt.splat %scale : f32 -> tensor<64x32xf32>
    %s = arith.mulf %x, %c : tensor<64x32xf32>
    %y = arith.select %mask, %s, %other : tensor<64x32xi1>, tensor<64x32xf32>
    %m = "tt.reduce"(%y) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %h: f32):
      %g = arith.maxnumf %l, %h : f32
      tt.reduce.return %g : f32
    }) : (tensor<64x32xf32>) -> tensor<64xf32>
    %t = arith.maxnumf %a, %m : tensor<64xf32>
    scf.yield %t : tensor<64xf32>
  }
  tt.return %r : tensor<64xf32>
}

// -----

// Floats of 8 bits take no sign.
// CHECK-LABEL: @narrow
//   CHECK-NOT:   math.absf
//       CHECK:   tt.return
tt.func @narrow(%q: tensor<64x32xf8E4M3FN>, %k: tensor<32x32xf8E4M3FN>, %scale: f32, %n: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %low = arith.constant dense<0xFF800000> : tensor<64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %low) -> (tensor<64xf32>) : i32 {
    %x = tt.dot %q, %k, %zero, inputPrecision = tf32 : tensor<64x32xf8E4M3FN> * tensor<32x32xf8E4M3FN> -> tensor<64x32xf32>
    %c = tt.splat %scale : f32 -> tensor<64x32xf32>
    %s = arith.mulf %x, %c : tensor<64x32xf32>
    %m = "tt.reduce"(%s) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %h: f32):
      %g = arith.maxnumf %l, %h : f32
      tt.reduce.return %g : f32
    }) : (tensor<64x32xf32>) -> tensor<64xf32>
    %t = arith.maxnumf %a, %m : tensor<64xf32>
    scf.yield %t : tensor<64xf32>
  }
  tt.return %r : tensor<64xf32>
}
