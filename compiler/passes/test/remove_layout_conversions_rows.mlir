// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --split-input-file --convert-tt-to-ttg="target=cuda:90 num-warps=4" --ttg-coalesce --ttg-remove-layout-conversions | FileCheck %s

// A loop multiplies a matrix by a vector. Each warp loads the part of the vector that its rows meet, eight neighbours a
// lane, and waits for no other warp.
// CHECK-LABEL: @vector
// CHECK: scf.for
// CHECK-NOT: ttg.convert_layout
// CHECK: scf.yield
tt.func @vector(%w: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32,
                %y: tensor<16x256x!tt.ptr<f16>>) {
  %c0 = arith.constant 0 : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant dense<0.0> : tensor<16x256xf16>
  %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %ws = tt.splat %w : !tt.ptr<f16> -> tensor<16x256x!tt.ptr<f16>>
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %re = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %stride = arith.constant dense<4096> : tensor<16x1xi32>
  %ro = arith.muli %re, %stride : tensor<16x1xi32>
  %rb = tt.broadcast %ro : tensor<16x1xi32> -> tensor<16x256xi32>
  %sum = scf.for %k = %c0 to %n step %c256 iter_args(%acc = %zero) -> (tensor<16x256xf16>) : i32 {
    %ks = tt.splat %k : i32 -> tensor<256xi32>
    %o = arith.addi %ks, %i : tensor<256xi32>
    %xp = tt.addptr %xs, %o : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
    %v = tt.load %xp : tensor<256x!tt.ptr<f16>>
    %oe = tt.expand_dims %o {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
    %ob = tt.broadcast %oe : tensor<1x256xi32> -> tensor<16x256xi32>
    %wo = arith.addi %rb, %ob : tensor<16x256xi32>
    %wp = tt.addptr %ws, %wo : tensor<16x256x!tt.ptr<f16>>, tensor<16x256xi32>
    %m = tt.load %wp : tensor<16x256x!tt.ptr<f16>>
    %ve = tt.expand_dims %v {axis = 0 : i32} : tensor<256xf16> -> tensor<1x256xf16>
    %vb = tt.broadcast %ve : tensor<1x256xf16> -> tensor<16x256xf16>
    %p = arith.mulf %m, %vb : tensor<16x256xf16>
    %a = arith.addf %acc, %p : tensor<16x256xf16>
    scf.yield %a : tensor<16x256xf16>
  }
  tt.store %y, %sum : tensor<16x256x!tt.ptr<f16>>
  tt.return
}

// -----

// Of a longer row each thread would have 64 elements.
// CHECK-LABEL: @long
// CHECK: scf.for
// CHECK: ttg.convert_layout {{.*}} : tensor<2048xf16
// CHECK: scf.yield
tt.func @long(%w: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32,
                %y: tensor<16x2048x!tt.ptr<f16>>) {
  %c0 = arith.constant 0 : i32
  %c2048 = arith.constant 2048 : i32
  %zero = arith.constant dense<0.0> : tensor<16x2048xf16>
  %i = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>>
  %ws = tt.splat %w : !tt.ptr<f16> -> tensor<16x2048x!tt.ptr<f16>>
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %re = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %stride = arith.constant dense<4096> : tensor<16x1xi32>
  %ro = arith.muli %re, %stride : tensor<16x1xi32>
  %rb = tt.broadcast %ro : tensor<16x1xi32> -> tensor<16x2048xi32>
  %sum = scf.for %k = %c0 to %n step %c2048 iter_args(%acc = %zero) -> (tensor<16x2048xf16>) : i32 {
    %ks = tt.splat %k : i32 -> tensor<2048xi32>
    %o = arith.addi %ks, %i : tensor<2048xi32>
    %xp = tt.addptr %xs, %o : tensor<2048x!tt.ptr<f16>>, tensor<2048xi32>
    %v = tt.load %xp : tensor<2048x!tt.ptr<f16>>
    %oe = tt.expand_dims %o {axis = 0 : i32} : tensor<2048xi32> -> tensor<1x2048xi32>
    %ob = tt.broadcast %oe : tensor<1x2048xi32> -> tensor<16x2048xi32>
    %wo = arith.addi %rb, %ob : tensor<16x2048xi32>
    %wp = tt.addptr %ws, %wo : tensor<16x2048x!tt.ptr<f16>>, tensor<16x2048xi32>
    %m = tt.load %wp : tensor<16x2048x!tt.ptr<f16>>
    %ve = tt.expand_dims %v {axis = 0 : i32} : tensor<2048xf16> -> tensor<1x2048xf16>
    %vb = tt.broadcast %ve : tensor<1x2048xf16> -> tensor<16x2048xf16>
    %p = arith.mulf %m, %vb : tensor<16x2048xf16>
    %a = arith.addf %acc, %p : tensor<16x2048xf16>
    scf.yield %a : tensor<16x2048xf16>
  }
  tt.store %y, %sum : tensor<16x2048x!tt.ptr<f16>>
  tt.return
}
