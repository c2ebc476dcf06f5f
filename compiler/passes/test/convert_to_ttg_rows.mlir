// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --convert-tt-to-ttg=num-warps=4 | FileCheck %s

// Distances of each to each are summed up along rows: a warp has whole rows, and waits for no other one.
//       CHECK: #[[ROWS:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-LABEL: @rows
//       CHECK:   arith.subf %{{.*}}, %{{.*}} : tensor<16x64xf32, #[[ROWS]]>
tt.func @rows(%x: tensor<16x1xf32>, %y: tensor<1x64xf32>) -> tensor<16xf32> {
  %xs = tt.broadcast %x : tensor<16x1xf32> -> tensor<16x64xf32>
  %ys = tt.broadcast %y : tensor<1x64xf32> -> tensor<16x64xf32>
  %d = arith.subf %xs, %ys : tensor<16x64xf32>
  %s = "tt.reduce"(%d) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tt.reduce.return %t : f32
  }) : (tensor<16x64xf32>) -> tensor<16xf32>
  tt.return %s : tensor<16xf32>
}

// -----

// Where columns are summed up, warps lie along rows, too.
//   CHECK-NOT: threadsPerWarp = [1, 32], warpsPerCTA = [4, 1]
// CHECK-LABEL: @columns
tt.func @columns(%x: tensor<16x1xf32>, %y: tensor<1x64xf32>) -> tensor<64xf32> {
  %xs = tt.broadcast %x : tensor<16x1xf32> -> tensor<16x64xf32>
  %ys = tt.broadcast %y : tensor<1x64xf32> -> tensor<16x64xf32>
  %d = arith.subf %xs, %ys : tensor<16x64xf32>
  %s = "tt.reduce"(%d) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tt.reduce.return %t : f32
  }) : (tensor<16x64xf32>) -> tensor<64xf32>
  tt.return %s : tensor<64xf32>
}

// -----

// Memory says how threads hold what is loaded.
//       CHECK: #[[LOADED:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
// CHECK-LABEL: @loaded
//       CHECK:   tt.load %{{.*}} : tensor<16x64x!tt.ptr<f32>, #[[LOADED]]>
tt.func @loaded(%p: tensor<16x64x!tt.ptr<f32>>) -> tensor<16xf32> {
  %d = tt.load %p : tensor<16x64x!tt.ptr<f32>>
  %s = "tt.reduce"(%d) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tt.reduce.return %t : f32
  }) : (tensor<16x64xf32>) -> tensor<16xf32>
  tt.return %s : tensor<16xf32>
}
