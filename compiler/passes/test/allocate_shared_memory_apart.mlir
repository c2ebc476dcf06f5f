// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --convert-scf-to-cf --ttg-allocate-shared-memory | FileCheck %s

#row = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

// Small scratch before a loop and after it: threads may write the second one while others still read the first one.
// Of two branches a program takes one, so they share a place.
module attributes {"ttg.num-warps" = 4 : i32} {
  // CHECK-LABEL: tt.func @around_loop
  //  CHECK-SAME:   allocation.bytes = 32 : i32
  //       CHECK:   {allocation.offset = 0 : i32} : (tensor<512xf32
  //       CHECK:   {allocation.offset = 16 : i32} : (tensor<512xf32
  tt.func @around_loop(%x: tensor<512xf32, #row>, %out: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %e = arith.addf %a, %b : f32
      tt.reduce.return %e : f32
    }) : (tensor<512xf32, #row>) -> f32
    %mean = tt.splat %sum : f32 -> tensor<512xf32, #row>
    %squares = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (tensor<512xf32, #row>) : i32 {
      %d = arith.subf %s, %mean : tensor<512xf32, #row>
      scf.yield %d : tensor<512xf32, #row>
    }
    %square = "tt.reduce"(%squares) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %e = arith.addf %a, %b : f32
      tt.reduce.return %e : f32
    }) : (tensor<512xf32, #row>) -> f32
    tt.store %out, %square : !tt.ptr<f32>
    tt.return
  }

  // CHECK-LABEL: tt.func @branches
  //  CHECK-SAME:   allocation.bytes = 16 : i32
  // CHECK-COUNT-2: {allocation.offset = 0 : i32} : (tensor<512xf32
  tt.func @branches(%x: tensor<512xf32, #row>, %out: !tt.ptr<f32>, %c: i1) {
    %r = scf.if %c -> f32 {
      %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %e = arith.addf %a, %b : f32
        tt.reduce.return %e : f32
      }) : (tensor<512xf32, #row>) -> f32
      scf.yield %sum : f32
    } else {
      %most = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %e = arith.maxnumf %a, %b : f32
        tt.reduce.return %e : f32
      }) : (tensor<512xf32, #row>) -> f32
      scf.yield %most : f32
    }
    tt.store %out, %r : !tt.ptr<f32>
    tt.return
  }
}
