// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-rewrite-tensor-descriptor=names-blocks=true --canonicalize | FileCheck %s

// A dot's operand that a loop loads: its mask says of which block it is. One that is loaded once has its mask alone.
// CHECK-LABEL: @operands
//   CHECK-NOT:   tt.block_mask
//       CHECK:   scf.for %[[K:[^ ]*]] =
//       CHECK:     %[[MASK:.*]] = tt.block_mask %{{.*}}, %arg0[%arg3, %[[K]]], [%{{.*}}, %{{.*}}], [%arg2, %c1_i64] {block = array<i64: 64, 32>} : tensor<64x32xi1>, <f16>
//       CHECK:     tt.load %{{.*}}, %[[MASK]],
//       CHECK:     tt.block_mask {{.*}} {block = array<i64: 1, 16, 32>} : tensor<16x32xi1>, <f16>
//       CHECK:     tt.dot
tt.func @operands(%a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %s: i64, %row: i32, %n: i32) -> (tensor<64x16xf32>, tensor<64x32xf16>) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c1 = arith.constant 1 : i64
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %d = tt.make_tensor_descriptor %a, [%n, %n], [%s, %c1] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x32xf16>>
  %e = tt.make_tensor_descriptor %b, [%n, %n, %n], [%s, %s, %c1] : !tt.ptr<f16>, !tt.tensordesc<tensor<1x16x32xf16>>
  %once = tt.descriptor_load %d[%row, %c0] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
  %r = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zero) -> (tensor<64x16xf32>) : i32 {
    %x = tt.descriptor_load %d[%row, %k] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
    %y3 = tt.descriptor_load %e[%row, %c0, %k] : !tt.tensordesc<tensor<1x16x32xf16>> -> tensor<1x16x32xf16>
    %y = tt.reshape %y3 : tensor<1x16x32xf16> -> tensor<16x32xf16>
    %yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<16x32xf16> -> tensor<32x16xf16>
    %dot = tt.dot %x, %yt, %acc : tensor<64x32xf16> * tensor<32x16xf16> -> tensor<64x16xf32>
    scf.yield %dot : tensor<64x16xf32>
  }
  tt.return %r, %once : tensor<64x16xf32>, tensor<64x32xf16>
}

// -----

// A block of images that becomes rows: the mask of the rows names the block of images.
// CHECK-LABEL: @images
//       CHECK:   scf.for %[[K:[^ ]*]] =
//       CHECK:     %[[MASK:.*]] = tt.block_mask %{{.*}}, %arg0[%arg4, %arg4, %arg4, %[[K]]], {{.*}} {block = array<i64: 2, 2, 16, 32>} : tensor<64x32xi1>, <f16>
//       CHECK:     tt.load %{{.*}}, %[[MASK]], %{{.*}} : tensor<64x32x!tt.ptr<f16>>
//   CHECK-NOT:     tt.reshape
//       CHECK:     tt.dot
tt.func @images(%a: !tt.ptr<f16>, %sb: i64, %sh: i64, %sw: i64, %row: i32, %n: i32, %y: tensor<32x64xf16>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c1 = arith.constant 1 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tt.make_tensor_descriptor %a, [%n, %n, %n, %n], [%sb, %sh, %sw, %c1] : !tt.ptr<f16>, !tt.tensordesc<tensor<2x2x16x32xf16>>
  %r = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %x0 = tt.descriptor_load %d[%row, %row, %row, %k] : !tt.tensordesc<tensor<2x2x16x32xf16>> -> tensor<2x2x16x32xf16>
    %x = tt.reshape %x0 : tensor<2x2x16x32xf16> -> tensor<64x32xf16>
    %dot = tt.dot %x, %y, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %dot : tensor<64x64xf32>
  }
  tt.return %r : tensor<64x64xf32>
}

// -----

// Elements that are changed before the dot.
// CHECK-LABEL: @changed
//       CHECK:   %[[MASK:.*]] = tt.block_mask {{.*}} {block = array<i64: 64, 32>}
//       CHECK:   %[[X:.*]] = tt.load %{{.*}}, %[[MASK]], %{{.*}}
//       CHECK:   arith.addf %[[X]], %[[X]]
tt.func @changed(%a: !tt.ptr<f16>, %s: i64, %n: i32, %y: tensor<32x64xf16>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c1 = arith.constant 1 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tt.make_tensor_descriptor %a, [%n, %n], [%s, %c1] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x32xf16>>
  %r = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %x0 = tt.descriptor_load %d[%c0, %k] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
    %x = arith.addf %x0, %x0 : tensor<64x32xf16>
    %dot = tt.dot %x, %y, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %dot : tensor<64x64xf32>
  }
  tt.return %r : tensor<64x64xf32>
}

// -----

// Where no bulk copy is possible, the block may begin between two groups of 16 bytes, where its tensor may end within
// one. So the whole group is loaded and what lies outside replaced.
// CHECK-LABEL: @in_groups
//       CHECK:   %[[UP:.*]] = arith.addi %{{.*}}, %c7_i64
//       CHECK:   %[[WHOLE:.*]] = arith.andi %[[UP]], %c-8_i64
//       CHECK:   %[[GROUPS:.*]] = tt.load %{{.*}}, %{{.*}}, %[[ZERO:[^ ]*]] :
//       CHECK:   %[[INSIDE:.*]] = tt.broadcast %{{.*}} : tensor<1x32xi1> -> tensor<64x32xi1>
//       CHECK:   arith.select %[[INSIDE]], %[[GROUPS]], %[[ZERO]]
tt.func @in_groups(%a: !tt.ptr<f16>, %s: i64, %n: i32) -> tensor<64x32xf16> {
  %c32 = arith.constant 32 : i32
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %a, [%n, %n], [%s, %c1] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x32xf16>>
  %x = tt.descriptor_load %d[%n, %c32] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
  tt.return %x : tensor<64x32xf16>
}

// -----

// A row whose size is a stride too is a multiple of groups, as all strides are. An operation of the descriptor's own
// says so, for elsewhere the number may be another one. So is a base that is computed. A block that begins anywhere has
// its mask alone.
// CHECK-LABEL: @promised
//       CHECK:   %[[BASE:.*]] = tt.addptr %arg0, %arg1 {tt.divisibility = 16 : i32}
//       CHECK:   %[[ROW:.*]] = arith.extsi %arg2 {tt.divisibility = 8 : i32}
//   CHECK-NOT:   arith.select
//       CHECK:   tt.return
tt.func @promised(%a: !tt.ptr<f16>, %at: i32, %n: i32, %k: i32) -> (tensor<64x32xf16>, tensor<64x32xf16>, !tt.ptr<f16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i64
  %base = tt.addptr %a, %at : !tt.ptr<f16>, i32
  %s = arith.extsi %n : i32 to i64
  %d = tt.make_tensor_descriptor %base, [%n, %n], [%s, %c1] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x32xf16>>
  %e = tt.make_tensor_descriptor %base, [%n, %k], [%s, %c1] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x32xf16>>
  %x = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
  %y = tt.descriptor_load %e[%c0, %k] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
  tt.return %x, %y, %base : tensor<64x32xf16>, tensor<64x32xf16>, !tt.ptr<f16>
}

// -----

// Rows whose elements are not neighbours, and padding that is not zero.
// CHECK-LABEL: @others
//   CHECK-NOT:   tt.block_mask
tt.func @others(%a: !tt.ptr<f16>, %s: i64, %n: i32, %x: tensor<64x32xf16>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c1 = arith.constant 1 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %e = tt.make_tensor_descriptor %a, [%n, %n], [%c1, %s] : !tt.ptr<f16>, !tt.tensordesc<tensor<32x64xf16>>
  %f = tt.make_tensor_descriptor %a, [%n, %n], [%s, %c1] {padding = 2 : i32} : !tt.ptr<f16>, !tt.tensordesc<tensor<32x64xf16>>
  %r = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %y = tt.descriptor_load %e[%k, %c0] : !tt.tensordesc<tensor<32x64xf16>> -> tensor<32x64xf16>
    %z = tt.descriptor_load %f[%k, %c0] : !tt.tensordesc<tensor<32x64xf16>> -> tensor<32x64xf16>
    %first = tt.dot %x, %y, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %dot = tt.dot %x, %z, %first : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %dot : tensor<64x64xf32>
  }
  tt.return %r : tensor<64x64xf32>
}

// -----

// Stores in loops of dots. One outside of them, and one to rows that begin between two groups of 16 bytes, have their
// masks alone.
// CHECK-LABEL: @stores
//       CHECK:   scf.for %[[I:[^ ]*]] =
//       CHECK:     %[[MASK:.*]] = tt.block_mask %{{.*}}, %arg1[%[[I]], %c0_i32], [%{{.*}}, %{{.*}}], [%arg2, %c1_i64] {block = array<i64: 64, 16>} : tensor<64x16xi1>, <f32>
//       CHECK:     tt.store %{{.*}}, %{{.*}}, %[[MASK]]
//   CHECK-NOT:   tt.block_mask
tt.func @stores(%a: tensor<64x32xf16>, %p: !tt.ptr<f32>, %s: i64, %n: i32, %b: tensor<32x16xf16>) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c1 = arith.constant 1 : i64
  %c90 = arith.constant 90 : i64
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %c1] : !tt.ptr<f32>, !tt.tensordesc<tensor<64x16xf32>>
  %e = tt.make_tensor_descriptor %p, [%n, %n], [%c90, %c1] : !tt.ptr<f32>, !tt.tensordesc<tensor<64x16xf32>>
  scf.for %i = %c0 to %n step %c64 : i32 {
    %dot = tt.dot %a, %b, %zero : tensor<64x32xf16> * tensor<32x16xf16> -> tensor<64x16xf32>
    tt.descriptor_store %d[%i, %c0], %dot : !tt.tensordesc<tensor<64x16xf32>>, tensor<64x16xf32>
    tt.descriptor_store %e[%i, %c0], %dot : !tt.tensordesc<tensor<64x16xf32>>, tensor<64x16xf32>
  }
  scf.for %i = %c0 to %n step %c64 : i32 {
    tt.descriptor_store %d[%i, %c0], %zero : !tt.tensordesc<tensor<64x16xf32>>, tensor<64x16xf32>
  }
  tt.return
}

// -----

// Descriptors that the host makes have rows whose elements are neighbours. What they pad with is known at the launch.
// CHECK-LABEL: @of_the_host
//       CHECK:   %[[PAD:.*]] = arith.select %arg5, %{{.*}}, %{{.*}} : f16
//       CHECK:   %[[OTHER:.*]] = tt.splat %[[PAD]]
//       CHECK:   %[[MASK:.*]] = tt.block_mask %{{.*}}, %arg0[%{{.*}}], [%arg1, %arg2], [%arg3, %c1_i64]
//       CHECK:   tt.load %{{.*}}, %[[MASK]], %[[OTHER]]
tt.func public @of_the_host(%d: !tt.tensordesc<tensor<64x32xf16>>, %row: i32, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %x = tt.descriptor_load %d[%row, %k] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
    %xt = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x32xf16> -> tensor<32x64xf16>
    %dot = tt.dot %x, %xt, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %dot : tensor<64x64xf32>
  }
  tt.return %r : tensor<64x64xf32>
}

// -----

// Nobody has promised anything of the strides that another function hands over.
// CHECK-LABEL: @of_a_caller
//   CHECK-NOT:   tt.block_mask
tt.func private @of_a_caller(%d: !tt.tensordesc<tensor<64x32xf16>>, %row: i32, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %x = tt.descriptor_load %d[%row, %k] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
    %xt = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x32xf16> -> tensor<32x64xf16>
    %dot = tt.dot %x, %xt, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %dot : tensor<64x64xf32>
  }
  tt.return %r : tensor<64x64xf32>
}

// -----

// Loaded in front of the loop of the dot, in each iteration of another one: no bulk copy goes on beside that. It is
// read in groups of 16 bytes.
// CHECK-LABEL: @beside_loop
//       CHECK:   scf.for
//   CHECK-NOT:     tt.block_mask
//       CHECK:     %[[LOADED:.*]] = tt.load
//       CHECK:     arith.select %{{.*}}, %[[LOADED]], %{{.*}} : tensor<64x32xi1>, tensor<64x32xf16>
//       CHECK:     scf.for
//       CHECK:       tt.block_mask {{.*}} {block = array<i64: 16, 32>}
tt.func @beside_loop(%a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %s: i64, %n: i32, %tiles: i32, %p: tensor<64x16x!tt.ptr<f32>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %one = arith.constant 1 : i64
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %d = tt.make_tensor_descriptor %a, [%n, %n], [%s, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x32xf16>>
  %e = tt.make_tensor_descriptor %b, [%n, %n], [%s, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<16x32xf16>>
  scf.for %t = %c0 to %tiles step %c1 : i32 {
    %q = tt.descriptor_load %d[%t, %c0] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
    %r = scf.for %k = %c0 to %n step %c16 iter_args(%acc = %zero) -> (tensor<64x16xf32>) : i32 {
      %y = tt.descriptor_load %e[%k, %c0] : !tt.tensordesc<tensor<16x32xf16>> -> tensor<16x32xf16>
      %yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<16x32xf16> -> tensor<32x16xf16>
      %dot = tt.dot %q, %yt, %acc : tensor<64x32xf16> * tensor<32x16xf16> -> tensor<64x16xf32>
      scf.yield %dot : tensor<64x16xf32>
    }
    tt.store %p, %r : tensor<64x16x!tt.ptr<f32>>
  }
  tt.return
}
