// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-coalesce | FileCheck %s

// The middle dimension is summed: lanes spread over the others first, so that a thread sums most of it by itself.
// CHECK-DAG: #[[W:.+]] = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [8, 1, 4], warpsPerCTA = [2, 2, 1], order = [2, 0, 1]}>
// CHECK-DAG: #[[ROWS:.+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
// CHECK: tt.load {{.*}} : tensor<16x32x16x!tt.ptr<f32>, #[[W]]>
#b = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 2, 16], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
#m = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#planes = #ttg.slice<{dim = 0, parent = #b}>
#last = #ttg.slice<{dim = 0, parent = #planes}>
#rows = #ttg.slice<{dim = 1, parent = #b}>
#first = #ttg.slice<{dim = 1, parent = #rows}>
#middle = #ttg.slice<{dim = 1, parent = #planes}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func @summed_middle(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) -> tensor<16x16xf32, #rows> {
  %k = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #last>
  %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<16xi32, #last> -> tensor<1x16xi32, #planes>
  %k2 = tt.expand_dims %k1 {axis = 0 : i32} : tensor<1x16xi32, #planes> -> tensor<1x1x16xi32, #b>
  %j = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #middle>
  %j1 = tt.expand_dims %j {axis = 1 : i32} : tensor<32xi32, #middle> -> tensor<32x1xi32, #planes>
  %j2 = tt.expand_dims %j1 {axis = 0 : i32} : tensor<32x1xi32, #planes> -> tensor<1x32x1xi32, #b>
  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #first>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<16xi32, #first> -> tensor<16x1xi32, #rows>
  %i2 = tt.expand_dims %i1 {axis = 1 : i32} : tensor<16x1xi32, #rows> -> tensor<16x1x1xi32, #b>
  %c16 = arith.constant dense<16> : tensor<1x32x1xi32, #b>
  %c512 = arith.constant dense<512> : tensor<16x1x1xi32, #b>
  %oj = arith.muli %j2, %c16 : tensor<1x32x1xi32, #b>
  %oi = arith.muli %i2, %c512 : tensor<16x1x1xi32, #b>
  %bk = tt.broadcast %k2 : tensor<1x1x16xi32, #b> -> tensor<16x32x16xi32, #b>
  %bj = tt.broadcast %oj : tensor<1x32x1xi32, #b> -> tensor<16x32x16xi32, #b>
  %bi = tt.broadcast %oi : tensor<16x1x1xi32, #b> -> tensor<16x32x16xi32, #b>
  %o = arith.addi %bi, %bj : tensor<16x32x16xi32, #b>
  %offsets = arith.addi %o, %bk : tensor<16x32x16xi32, #b>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x32x16x!tt.ptr<f32>, #b>
  %q = tt.addptr %s, %offsets : tensor<16x32x16x!tt.ptr<f32>, #b>, tensor<16x32x16xi32, #b>
  %v = tt.load %q : tensor<16x32x16x!tt.ptr<f32>, #b>
  %r = "tt.reduce"(%v) <{axis = 1 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    tt.reduce.return %z : f32
  }) : (tensor<16x32x16xf32, #b>) -> tensor<16x16xf32, #rows>
  tt.return %r : tensor<16x16xf32, #rows>
}

// Windows of an image: neighbours along neither dimension are neighbours in memory. Each thread reduces its own window.
// CHECK-LABEL: @windows
// CHECK: tt.load {{.*}} : tensor<128x16x!tt.ptr<f32>, #[[ROWS]]>
tt.func @windows(%p: !tt.ptr<f32>, %width: i32) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #m}>> {
  %c3 = arith.constant dense<3> : tensor<16xi32, #ttg.slice<{dim = 0, parent = #m}>>
  %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #m}>>
  %w = tt.splat %width : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #m}>>
  %c2 = arith.constant dense<2> : tensor<128xi32, #ttg.slice<{dim = 1, parent = #m}>>
  %x = arith.remsi %i, %w : tensor<128xi32, #ttg.slice<{dim = 1, parent = #m}>>
  %left = arith.muli %x, %c2 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #m}>>
  %t = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #m}>>
  %in_window = arith.remsi %t, %c3 : tensor<16xi32, #ttg.slice<{dim = 0, parent = #m}>>
  %l = tt.expand_dims %left {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #m}>> -> tensor<128x1xi32, #m>
  %r = tt.expand_dims %in_window {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #m}>> -> tensor<1x16xi32, #m>
  %lb = tt.broadcast %l : tensor<128x1xi32, #m> -> tensor<128x16xi32, #m>
  %rb = tt.broadcast %r : tensor<1x16xi32, #m> -> tensor<128x16xi32, #m>
  %offsets = arith.addi %lb, %rb : tensor<128x16xi32, #m>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<128x16x!tt.ptr<f32>, #m>
  %q = tt.addptr %s, %offsets : tensor<128x16x!tt.ptr<f32>, #m>, tensor<128x16xi32, #m>
  %v = tt.load %q : tensor<128x16x!tt.ptr<f32>, #m>
  %most = "tt.reduce"(%v) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<128x16xf32, #m>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #m}>>
  tt.return %most : tensor<128xf32, #ttg.slice<{dim = 1, parent = #m}>>
}
}
