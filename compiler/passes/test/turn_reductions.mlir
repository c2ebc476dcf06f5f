// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-turn-reductions | FileCheck %s

// Lanes along the axis hold many columns each. The operand is the product of two smaller tensors, which change their
// encodings at little cost: threads reduce by themselves, and have no copies of the results.
// CHECK-DAG:   #[[TURNED:.*]] = #ttg.linear<{register = {{.*}}[1, 0, 0]{{.*}} lane =
// CHECK-LABEL: @product
//   CHECK-DAG:   ttg.convert_layout %arg0 : tensor<2x32xf32, #{{.*}}> -> tensor<2x32xf32, #ttg.slice<{dim = 2, parent = #[[TURNED]]}>>
//   CHECK-DAG:   ttg.convert_layout %arg1 : tensor<2x64xf32, #{{.*}}> -> tensor<2x64xf32, #ttg.slice<{dim = 1, parent = #[[TURNED]]}>>
//       CHECK:   arith.mulf %{{.*}} : tensor<2x32x64xf32, #[[TURNED]]>
//       CHECK:   "tt.reduce"(%{{.*}}) <{axis = 0 : i32}>
//       CHECK:   (tensor<2x32x64xf32, #[[TURNED]]>) -> tensor<32x64xf32, #ttg.slice<{dim = 0, parent = #[[TURNED]]}>>
#rows = #ttg.linear<{register = [[0, 0, 1], [0, 0, 2], [0, 0, 4], [0, 0, 32], [0, 1, 0], [0, 2, 0], [0, 4, 0]], lane = [[1, 0, 0], [0, 0, 8], [0, 0, 16], [0, 8, 0], [0, 16, 0]], warp = [], block = []}>
#of_x = #ttg.slice<{dim = 2, parent = #rows}>
#of_y = #ttg.slice<{dim = 1, parent = #rows}>
#wide = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @product(%x: tensor<2x32xf32, #of_x>, %y: tensor<2x64xf32, #of_y>) -> tensor<32x64xf32, #wide> {
    %xe = tt.expand_dims %x {axis = 2 : i32} : tensor<2x32xf32, #of_x> -> tensor<2x32x1xf32, #rows>
    %ye = tt.expand_dims %y {axis = 1 : i32} : tensor<2x64xf32, #of_y> -> tensor<2x1x64xf32, #rows>
    %a = tt.broadcast %xe : tensor<2x32x1xf32, #rows> -> tensor<2x32x64xf32, #rows>
    %b = tt.broadcast %ye : tensor<2x1x64xf32, #rows> -> tensor<2x32x64xf32, #rows>
    %p = arith.mulf %a, %b : tensor<2x32x64xf32, #rows>
    %s = "tt.reduce"(%p) <{axis = 0 : i32}> ({
    ^bb0(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      tt.reduce.return %w : f32
    }) : (tensor<2x32x64xf32, #rows>) -> tensor<32x64xf32, #ttg.slice<{dim = 0, parent = #rows}>>
    %c = ttg.convert_layout %s : tensor<32x64xf32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<32x64xf32, #wide>
    tt.return %c : tensor<32x64xf32, #wide>
  }
}

// -----

// The same of an operand that is there already: its conversion would take registers for both.
// CHECK-LABEL: @given
//   CHECK-NOT:   -> tensor<2x32x64xf32
#rows = #ttg.linear<{register = [[0, 0, 1], [0, 0, 2], [0, 0, 4], [0, 0, 32], [0, 1, 0], [0, 2, 0], [0, 4, 0]], lane = [[1, 0, 0], [0, 0, 8], [0, 0, 16], [0, 8, 0], [0, 16, 0]], warp = [], block = []}>
#wide = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @given(%p: tensor<2x32x64xf32, #rows>) -> tensor<32x64xf32, #wide> {
    %s = "tt.reduce"(%p) <{axis = 0 : i32}> ({
    ^bb0(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      tt.reduce.return %w : f32
    }) : (tensor<2x32x64xf32, #rows>) -> tensor<32x64xf32, #ttg.slice<{dim = 0, parent = #rows}>>
    %c = ttg.convert_layout %s : tensor<32x64xf32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<32x64xf32, #wide>
    tt.return %c : tensor<32x64xf32, #wide>
  }
}

// -----

// An operand that is there already costs more to convert than its few results to exchange.
// CHECK-LABEL: @few_results
//   CHECK-NOT:   ttg.convert_layout
#wide = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @few_results(%x: tensor<16x128xf32, #wide>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #wide}>> {
    %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      tt.reduce.return %w : f32
    }) : (tensor<16x128xf32, #wide>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #wide}>>
    tt.return %s : tensor<16xf32, #ttg.slice<{dim = 1, parent = #wide}>>
  }
}
