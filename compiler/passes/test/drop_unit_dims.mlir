// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-drop-unit-dims | FileCheck %s

// A product of a batch is a plain product: loads, the accumulator of the loop and the store lose their first dimension.
// CHECK-LABEL: @batch
//   CHECK-NOT:   tensor<1x64x64x
//       CHECK:   %[[ROWS:.*]] = tt.expand_dims %{{.*}} {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
//       CHECK:   scf.for {{.*}} -> (tensor<64x64xf32>)
//       CHECK:     %[[A:.*]] = tt.load %{{.*}} : tensor<64x64x!tt.ptr<f16>>
//       CHECK:     %[[D:.*]] = tt.dot %[[A]], %[[A]], %{{.*}}
//       CHECK:     scf.yield %[[D]] : tensor<64x64xf32>
//       CHECK:   tt.store %{{.*}} : tensor<64x64x!tt.ptr<f16>>
tt.func @batch(%a: !tt.ptr<f16>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<1x64x64xf32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r2 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %rows = tt.expand_dims %r2 {axis = 2 : i32} : tensor<1x64xi32> -> tensor<1x64x1xi32>
  %columns = tt.expand_dims %r2 {axis = 1 : i32} : tensor<1x64xi32> -> tensor<1x1x64xi32>
  %width = tt.splat %n : i32 -> tensor<1x64x1xi32>
  %starts = arith.muli %rows, %width : tensor<1x64x1xi32>
  %x = tt.broadcast %starts : tensor<1x64x1xi32> -> tensor<1x64x64xi32>
  %y = tt.broadcast %columns : tensor<1x1x64xi32> -> tensor<1x64x64xi32>
  %offsets = arith.addi %x, %y : tensor<1x64x64xi32>
  %base = tt.splat %a : !tt.ptr<f16> -> tensor<1x64x64x!tt.ptr<f16>>
  %p = tt.addptr %base, %offsets : tensor<1x64x64x!tt.ptr<f16>>, tensor<1x64x64xi32>
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<1x64x64xf32>) : i32 {
    %k = tt.splat %i : i32 -> tensor<1x64x64xi32>
    %q = tt.addptr %p, %k : tensor<1x64x64x!tt.ptr<f16>>, tensor<1x64x64xi32>
    %v = tt.load %q : tensor<1x64x64x!tt.ptr<f16>>
    %m = tt.reshape %v : tensor<1x64x64xf16> -> tensor<64x64xf16>
    %c = tt.reshape %acc : tensor<1x64x64xf32> -> tensor<64x64xf32>
    %d = tt.dot %m, %m, %c : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %e = tt.reshape %d : tensor<64x64xf32> -> tensor<1x64x64xf32>
    scf.yield %e : tensor<1x64x64xf32>
  }
  %h = arith.truncf %sum : tensor<1x64x64xf32> to tensor<1x64x64xf16>
  tt.store %p, %h : tensor<1x64x64x!tt.ptr<f16>>
  tt.return
}

// -----

// A reduction keeps its axis; the value that it reduces has another user, which gets the dimension back.
// CHECK-LABEL: @reduction
//       CHECK:   %[[X:.*]] = tt.load %{{.*}} : tensor<8x16x!tt.ptr<f32>>
//       CHECK:   %[[B:.*]] = tt.reshape %[[X]] : tensor<8x16xf32> -> tensor<8x1x16xf32>
//       CHECK:   %[[S:.*]] = "tt.reduce"(%[[X]]) <{axis = 1 : i32}>
//       CHECK:   tt.return %[[S]], %[[B]]
tt.func @reduction(%p: tensor<8x1x16x!tt.ptr<f32>>) -> (tensor<8xf32>, tensor<8x1x16xf32>) {
  %x = tt.load %p : tensor<8x1x16x!tt.ptr<f32>>
  %s = "tt.reduce"(%x) <{axis = 2 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tt.reduce.return %t : f32
  }) : (tensor<8x1x16xf32>) -> tensor<8x1xf32>
  %d = tt.reshape %s : tensor<8x1xf32> -> tensor<8xf32>
  tt.return %d, %x : tensor<8xf32>, tensor<8x1x16xf32>
}

// -----

// A reshape that moves elements between dimensions drops none.
// CHECK-LABEL: @other_shape
//       CHECK:   tt.load %{{.*}} : tensor<1x8x16x!tt.ptr<f32>>
tt.func @other_shape(%p: tensor<1x8x16x!tt.ptr<f32>>) -> tensor<128xf32> {
  %x = tt.load %p : tensor<1x8x16x!tt.ptr<f32>>
  %d = tt.reshape %x : tensor<1x8x16xf32> -> tensor<128xf32>
  tt.return %d : tensor<128xf32>
}

// -----

// The access of a block that a mask names keeps the block's shape.
// CHECK-LABEL: @named_block
//       CHECK:   tt.load %{{.*}}, %{{.*}} : tensor<1x8x16x!tt.ptr<f32>>
tt.func @named_block(%p: tensor<1x8x16x!tt.ptr<f32>>, %m: tensor<1x8x16xi1>, %b: !tt.ptr<f32>, %i: i32, %n: i64)
    -> tensor<8x16xf32> {
  %one = arith.constant 1 : i64
  %mask = tt.block_mask %m, %b[%i, %i, %i], [%n, %n, %n], [%n, %n, %one] {block = array<i64: 1, 8, 16>} : tensor<1x8x16xi1>, !tt.ptr<f32>
  %x = tt.load %p, %mask : tensor<1x8x16x!tt.ptr<f32>>
  %d = tt.reshape %x : tensor<1x8x16xf32> -> tensor<8x16xf32>
  tt.return %d : tensor<8x16xf32>
}
