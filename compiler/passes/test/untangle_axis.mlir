// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-untangle-axis | FileCheck %s

// A lane bit that moves along both dimensions: the reduction works on a copy whose lanes lie along the axis.
// CHECK:       #[[ALONG:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [1, 1], order = [1, 0]}>
// CHECK:       #[[TANGLED:.*]] = #ttg.linear<{{.*}}[1, 1]
// CHECK-LABEL: @reduce
//       CHECK:   %[[A:.*]] = ttg.convert_layout %{{.*}} : tensor<2x16xi32, #[[TANGLED]]> -> tensor<2x16xi32, #[[ALONG]]>
//       CHECK:   %[[B:.*]] = "tt.reduce"(%[[A]]) <{axis = 1 : i32}>
//       CHECK:   (tensor<2x16xi32, #[[ALONG]]>) -> tensor<2xi32, #ttg.slice<{dim = 1, parent = #[[ALONG]]}>>
//       CHECK:   %[[C:.*]] = ttg.convert_layout %[[B]] : {{.*}} -> tensor<2xi32, #ttg.slice<{dim = 1, parent = #[[TANGLED]]}>>
//       CHECK:   tt.return %[[C]]
#tangled = #ttg.linear<{register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 1]], warp = [], block = []}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @reduce(%x: tensor<2x16xi32, #tangled>) -> tensor<2xi32, #ttg.slice<{dim = 1, parent = #tangled}>> {
    %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %1 = arith.addi %a, %b : i32
      tt.reduce.return %1 : i32
    }) : (tensor<2x16xi32, #tangled>) -> tensor<2xi32, #ttg.slice<{dim = 1, parent = #tangled}>>
    tt.return %0 : tensor<2xi32, #ttg.slice<{dim = 1, parent = #tangled}>>
  }
}

// -----

// A scalar result has no encoding; every operand of several is converted.
// CHECK:       #[[ALONG:.*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>
// CHECK-LABEL: @reduce_pairs_to_scalars
//       CHECK:   %[[A:.*]] = ttg.convert_layout %arg0 : {{.*}} -> tensor<64xi32, #[[ALONG]]>
//       CHECK:   %[[B:.*]] = ttg.convert_layout %arg1 : {{.*}} -> tensor<64xf32, #[[ALONG]]>
//       CHECK:   %[[C:.*]]:2 = "tt.reduce"(%[[A]], %[[B]])
//   CHECK-NOT:   ttg.convert_layout
//       CHECK:   tt.return %[[C]]#0
#twice = #ttg.linear<{register = [[1], [1]], lane = [[2], [4], [8], [16], [32]], warp = [[0]], block = []}>
module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @reduce_pairs_to_scalars(%x: tensor<64xi32, #twice>, %y: tensor<64xf32, #twice>) -> i32 {
    %0:2 = "tt.reduce"(%x, %y) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: f32, %c: i32, %d: f32):
      %1 = arith.addi %a, %c : i32
      %2 = arith.addf %b, %d : f32
      tt.reduce.return %1, %2 : i32, f32
    }) : (tensor<64xi32, #twice>, tensor<64xf32, #twice>) -> (i32, f32)
    tt.return %0#0 : i32
  }
}

// -----

// Warps on both sides of the lanes: fine for a reduction, in the way of a scan. Every user sees the encoding of before.
// CHECK:       #[[ALONG:.*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK:       #[[SPREAD:.*]] = #ttg.linear
// CHECK-LABEL: @scan
//       CHECK:   "tt.reduce"(%arg0)
//       CHECK:   %[[A:.*]] = ttg.convert_layout %arg0 : tensor<128xi32, #[[SPREAD]]> -> tensor<128xi32, #[[ALONG]]>
//       CHECK:   %[[B:.*]] = "tt.scan"(%[[A]]) <{axis = 0 : i32, reverse = true}>
//       CHECK:   %[[C:.*]] = ttg.convert_layout %[[B]] : tensor<128xi32, #[[ALONG]]> -> tensor<128xi32, #[[SPREAD]]>
//       CHECK:   %[[D:.*]] = arith.addi %[[C]], %[[C]] : tensor<128xi32, #[[SPREAD]]>
//       CHECK:   tt.return %{{.*}}, %[[D]]
#spread = #ttg.linear<{register = [], lane = [[2], [4], [8], [16], [32]], warp = [[1], [64]], block = []}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @scan(%x: tensor<128xi32, #spread>) -> (i32, tensor<128xi32, #spread>) {
    %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %1 = arith.addi %a, %b : i32
      tt.reduce.return %1 : i32
    }) : (tensor<128xi32, #spread>) -> i32
    %2 = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
    ^bb0(%a: i32, %b: i32):
      %1 = arith.addi %a, %b : i32
      tt.scan.return %1 : i32
    }) : (tensor<128xi32, #spread>) -> tensor<128xi32, #spread>
    %3 = arith.addi %2, %2 : tensor<128xi32, #spread>
    tt.return %0, %3 : i32, tensor<128xi32, #spread>
  }
}

// -----

// What lowering can follow stays: registers, then lanes, then warps along the axis.
// CHECK-LABEL: @in_order
//   CHECK-NOT:   ttg.convert_layout
//       CHECK:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [0, 1]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @in_order(%x: tensor<128x32xi32, #blocked>) -> tensor<128x32xi32, #blocked> {
    %2 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: i32, %b: i32):
      %1 = arith.addi %a, %b : i32
      tt.scan.return %1 : i32
    }) : (tensor<128x32xi32, #blocked>) -> tensor<128x32xi32, #blocked>
    tt.return %2 : tensor<128x32xi32, #blocked>
  }
}
