// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --convert-tt-to-ttg="target=cuda:90 num-warps=4" --ttg-coalesce --ttg-remove-layout-conversions | FileCheck %s

// A thread has four of the sixteen maxima, of which eight lanes have copies. Each lane takes one of them to a pair, so
// that a thread multiplies two numbers, not eight.
// CHECK: #[[PAIRS:.+]] = #ttg.linear<{register = {{\[\[}}0, 1]], lane = {{.*}}[0, 0]], warp = {{\[\[}}0, 0], [0, 0]], block = []}>
// CHECK-LABEL: @maxima
// CHECK: arith.muli {{.*}} : tensor<16x2xi32, #[[PAIRS]]>
tt.func @maxima(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<i32>) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %s = tt.splat %p : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %q = tt.addptr %s, %i : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  %x = tt.load %q : tensor<512x!tt.ptr<i32>>
  %y = tt.reshape %x : tensor<512xi32> -> tensor<32x16xi32>
  %m = "tt.reduce"(%y) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.maxsi %a, %b : i32
    tt.reduce.return %c : i32
  }) : (tensor<32x16xi32>) -> tensor<16xi32>
  %r = tt.reshape %m : tensor<16xi32> -> tensor<4x4xi32>
  %t = tt.reshape %r : tensor<4x4xi32> -> tensor<16xi32>
  %j = tt.join %t, %t : tensor<16xi32> -> tensor<16x2xi32>
  %k = arith.muli %j, %j : tensor<16x2xi32>
  %n = tt.reshape %k : tensor<16x2xi32> -> tensor<32xi32>
  %oi = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %oq = tt.addptr %os, %oi : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  tt.store %oq, %n : tensor<32x!tt.ptr<i32>>
  tt.return
}
