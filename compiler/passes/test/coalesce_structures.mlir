// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s "--convert-tt-to-ttg=target=cuda:90 num-warps=4" --ttg-coalesce | FileCheck %s

// Pairs beside a row of the same length: a thread takes the pairs of the elements that it has of the row, so that
// nothing has to be converted.
// CHECK-DAG: #[[ROW:.+]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[PAIRS:.+]] = #ttg.blocked<{sizePerThread = [4, 2], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-LABEL: @pairs
// CHECK: tt.load %{{.*}} : tensor<1024x2x!tt.ptr<f32>, #[[PAIRS]]>
// CHECK: tt.store %{{.*}} : tensor<1024x!tt.ptr<f32>, #[[ROW]]>
tt.func public @pairs(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %two = arith.constant dense<2> : tensor<1024xi32>
  %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %j = tt.make_range {start = 0 : i32, end = 2 : i32} : tensor<2xi32>
  %at = arith.muli %i, %two : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %p = tt.addptr %xs, %at : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %p1 = tt.expand_dims %p {axis = 1 : i32} : tensor<1024x!tt.ptr<f32>> -> tensor<1024x1x!tt.ptr<f32>>
  %p2 = tt.broadcast %p1 : tensor<1024x1x!tt.ptr<f32>> -> tensor<1024x2x!tt.ptr<f32>>
  %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
  %j2 = tt.broadcast %j1 : tensor<1x2xi32> -> tensor<1024x2xi32>
  %q = tt.addptr %p2, %j2 : tensor<1024x2x!tt.ptr<f32>>, tensor<1024x2xi32>
  %v = tt.load %q : tensor<1024x2x!tt.ptr<f32>>
  %a, %b = tt.split %v : tensor<1024x2xf32> -> tensor<1024xf32>
  %c = arith.addf %a, %b : tensor<1024xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %r = tt.addptr %ys, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %r, %c : tensor<1024x!tt.ptr<f32>>
  tt.return
}
