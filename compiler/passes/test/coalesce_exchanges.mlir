// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-coalesce | FileCheck %s

// CHECK-DAG: #[[FOUR:.+]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32]
// CHECK-DAG: #[[EIGHT:.+]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32]
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}>
#pairs1 = #ttg.linear<{register = [[16, 0, 0], [32, 0, 0], [64, 0, 0], [128, 0, 0], [256, 0, 0]], lane = [[0, 1, 0], [1, 0, 0], [2, 0, 0], [4, 0, 0], [8, 0, 0]], warp = [], block = []}>
#pairs2 = #ttg.linear<{register = [[8, 0, 0], [16, 0, 0], [32, 0, 0], [64, 0, 0], [128, 0, 0]], lane = [[0, 0, 1], [0, 1, 0], [1, 0, 0], [2, 0, 0], [4, 0, 0]], warp = [], block = []}>
#pairs4 = #ttg.linear<{register = [[4, 0, 0], [8, 0, 0], [16, 0, 0], [32, 0, 0], [64, 0, 0]], lane = [[0, 0, 1], [0, 0, 2], [0, 1, 0], [1, 0, 0], [2, 0, 0]], warp = [], block = []}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {

// Pairs of a row are exchanged again and again. Eight elements of a thread cost less than the shuffles of four.
// CHECK-LABEL: @sort
// CHECK: tt.load {{.*}} : tensor<4x256x!tt.ptr<i32>, #[[EIGHT]]>
tt.func @sort(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #rows}>>
  %e = tt.expand_dims %r {axis = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x256xi32, #rows>
  %b = tt.broadcast %e : tensor<1x256xi32, #rows> -> tensor<4x256xi32, #rows>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x256x!tt.ptr<i32>, #rows>
  %q = tt.addptr %ps, %b : tensor<4x256x!tt.ptr<i32>, #rows>, tensor<4x256xi32, #rows>
  %x = tt.load %q : tensor<4x256x!tt.ptr<i32>, #rows>
  %y1 = tt.reshape %x : tensor<4x256xi32, #rows> -> tensor<512x2x1xi32, #pairs1>
  %s1_0 = "tt.reduce"(%y1) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<512x2x1xi32, #pairs1>) -> tensor<512x1xi32, #ttg.slice<{dim = 1, parent = #pairs1}>>
  %s1_1 = "tt.reduce"(%y1) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<512x2x1xi32, #pairs1>) -> tensor<512x1xi32, #ttg.slice<{dim = 1, parent = #pairs1}>>
  %s1_2 = "tt.reduce"(%y1) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<512x2x1xi32, #pairs1>) -> tensor<512x1xi32, #ttg.slice<{dim = 1, parent = #pairs1}>>
  %y2 = tt.reshape %x : tensor<4x256xi32, #rows> -> tensor<256x2x2xi32, #pairs2>
  %s2_0 = "tt.reduce"(%y2) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<256x2x2xi32, #pairs2>) -> tensor<256x2xi32, #ttg.slice<{dim = 1, parent = #pairs2}>>
  %s2_1 = "tt.reduce"(%y2) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<256x2x2xi32, #pairs2>) -> tensor<256x2xi32, #ttg.slice<{dim = 1, parent = #pairs2}>>
  %s2_2 = "tt.reduce"(%y2) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<256x2x2xi32, #pairs2>) -> tensor<256x2xi32, #ttg.slice<{dim = 1, parent = #pairs2}>>
  %y4 = tt.reshape %x : tensor<4x256xi32, #rows> -> tensor<128x2x4xi32, #pairs4>
  %s4_0 = "tt.reduce"(%y4) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<128x2x4xi32, #pairs4>) -> tensor<128x4xi32, #ttg.slice<{dim = 1, parent = #pairs4}>>
  %s4_1 = "tt.reduce"(%y4) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<128x2x4xi32, #pairs4>) -> tensor<128x4xi32, #ttg.slice<{dim = 1, parent = #pairs4}>>
  %s4_2 = "tt.reduce"(%y4) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<128x2x4xi32, #pairs4>) -> tensor<128x4xi32, #ttg.slice<{dim = 1, parent = #pairs4}>>
  tt.return
}

// A few shuffles cost no more than gaps between what the lanes load.
// CHECK-LABEL: @sums
// CHECK: tt.load {{.*}} : tensor<4x256x!tt.ptr<i32>, #[[FOUR]]>
tt.func @sums(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #rows}>>
  %e = tt.expand_dims %r {axis = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x256xi32, #rows>
  %b = tt.broadcast %e : tensor<1x256xi32, #rows> -> tensor<4x256xi32, #rows>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x256x!tt.ptr<i32>, #rows>
  %q = tt.addptr %ps, %b : tensor<4x256x!tt.ptr<i32>, #rows>, tensor<4x256xi32, #rows>
  %x = tt.load %q : tensor<4x256x!tt.ptr<i32>, #rows>
  %y1 = tt.reshape %x : tensor<4x256xi32, #rows> -> tensor<512x2x1xi32, #pairs1>
  %s1_0 = "tt.reduce"(%y1) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<512x2x1xi32, #pairs1>) -> tensor<512x1xi32, #ttg.slice<{dim = 1, parent = #pairs1}>>
  %y2 = tt.reshape %x : tensor<4x256xi32, #rows> -> tensor<256x2x2xi32, #pairs2>
  %s2_0 = "tt.reduce"(%y2) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<256x2x2xi32, #pairs2>) -> tensor<256x2xi32, #ttg.slice<{dim = 1, parent = #pairs2}>>
  %y4 = tt.reshape %x : tensor<4x256xi32, #rows> -> tensor<128x2x4xi32, #pairs4>
  %s4_0 = "tt.reduce"(%y4) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<128x2x4xi32, #pairs4>) -> tensor<128x4xi32, #ttg.slice<{dim = 1, parent = #pairs4}>>
  tt.return
}
}
