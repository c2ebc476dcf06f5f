// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-rewrite-tensor-descriptor='names-blocks=true marks-arguments=true' --canonicalize | FileCheck %s
// RUN: triton-opt %s -split-input-file --tt-rewrite-tensor-descriptor=names-blocks=true --canonicalize | FileCheck %s --check-prefix=PARTS

// Descriptors of a launcher that makes tensor maps are marked. Blocks have names whatever the padding. Of a descriptor
// that the loop carries it is not known which it is.
// CHECK-LABEL: @arguments
//  CHECK-SAME:   %arg0: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32, tt.divisibility = 16 : i32}
//  CHECK-SAME:   tt.descriptor_parts = 6 : i32
//       CHECK:   scf.for
//       CHECK:     %[[MASK:.*]] = tt.block_mask %{{.*}}, %arg0[
//       CHECK:     tt.load %{{.*}}, %[[MASK]], %{{.*}}
//   CHECK-NOT:     tt.block_mask
//       CHECK:     tt.dot
//       CHECK:     tt.block_mask %{{.*}}, %arg6[
//       CHECK:     tt.store
// PARTS-LABEL: @arguments
//   PARTS-NOT:   tt.descriptor_parts
//       PARTS:   tt.block_mask
tt.func public @arguments(%a: !tt.tensordesc<tensor<64x32xf16>>, %b: !tt.tensordesc<tensor<64x16xf16>>, %c: !tt.tensordesc<tensor<16x32xf16>>, %d: !tt.tensordesc<tensor<16x32xf16>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %r:3 = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zero, %e = %c, %f = %d) -> (tensor<64x16xf32>, !tt.tensordesc<tensor<16x32xf16>>, !tt.tensordesc<tensor<16x32xf16>>) : i32 {
    %x = tt.descriptor_load %a[%c0, %k] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
    %y = tt.descriptor_load %e[%c0, %k] : !tt.tensordesc<tensor<16x32xf16>> -> tensor<16x32xf16>
    %yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<16x32xf16> -> tensor<32x16xf16>
    %dot = tt.dot %x, %yt, %acc : tensor<64x32xf16> * tensor<32x16xf16> -> tensor<64x16xf32>
    %h = arith.truncf %dot : tensor<64x16xf32> to tensor<64x16xf16>
    tt.descriptor_store %b[%k, %c0], %h : !tt.tensordesc<tensor<64x16xf16>>, tensor<64x16xf16>
    scf.yield %dot, %f, %e : tensor<64x16xf32>, !tt.tensordesc<tensor<16x32xf16>>, !tt.tensordesc<tensor<16x32xf16>>
  }
  tt.return
}

// -----

// Without dots, large blocks that are loaded in front of all stores, and stored beside that, have names. They are rows.
// A block of few rows has none, nor one that is loaded in a loop.
// CHECK-LABEL: @moved
//       CHECK:   %[[MASK:.*]] = tt.block_mask %{{.*}}, %arg0[%arg{{.*}}, %c0_i32, %arg{{.*}}, %c0_i32]
//       CHECK:   %[[X:.*]] = tt.load %{{.*}}, %[[MASK]], %{{.*}} : tensor<128x64x!tt.ptr<f16>>
//   CHECK-NOT:   tt.block_mask
//       CHECK:   tt.trans
//       CHECK:   %[[OUT:.*]] = tt.block_mask %{{.*}} {block = array<i64: 1, 8, 16, 64>} : tensor<128x64xi1>
//       CHECK:   tt.store %{{.*}}, %{{.*}}, %[[OUT]]
//   CHECK-NOT:   tt.block_mask
// PARTS-LABEL: @moved
//   PARTS-NOT:   tt.block_mask
tt.func public @moved(%a: !tt.tensordesc<tensor<1x16x8x64xf16>>, %few: !tt.tensordesc<tensor<16x64xf16>>, %looped: !tt.tensordesc<tensor<64x64xf16>>, %b: !tt.tensordesc<tensor<1x8x16x64xf16>>, %late: !tt.tensordesc<tensor<64x64xf16>>, %n: i32, %p: tensor<16x64x!tt.ptr<f16>>, %q: tensor<64x64x!tt.ptr<f16>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf16>
  %x = tt.descriptor_load %a[%n, %c0, %n, %c0] : !tt.tensordesc<tensor<1x16x8x64xf16>> -> tensor<1x16x8x64xf16>
  %y = tt.descriptor_load %few[%n, %c0] : !tt.tensordesc<tensor<16x64xf16>> -> tensor<16x64xf16>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %none) -> (tensor<64x64xf16>) : i32 {
    %z = tt.descriptor_load %looped[%i, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %t = arith.addf %acc, %z : tensor<64x64xf16>
    scf.yield %t : tensor<64x64xf16>
  }
  %u = tt.trans %x {order = array<i32: 0, 2, 1, 3>} : tensor<1x16x8x64xf16> -> tensor<1x8x16x64xf16>
  tt.descriptor_store %b[%n, %n, %c0, %c0], %u : !tt.tensordesc<tensor<1x8x16x64xf16>>, tensor<1x8x16x64xf16>
  tt.store %p, %y : tensor<16x64x!tt.ptr<f16>>
  %w = tt.descriptor_load %late[%n, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
  %v = arith.addf %s, %w : tensor<64x64xf16>
  tt.store %q, %v : tensor<64x64x!tt.ptr<f16>>
  tt.return
}
