// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --split-input-file --ttg-remove-layout-conversions | FileCheck %s

// All lanes of a warp have the sum of its row. Each makes one element of the row of multiples.
// CHECK: #[[LANES:.+]] = #ttg.linear<{register = [], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[\[}}1, 0], [2, 0]], block = []}>
// CHECK-LABEL: @sums
// CHECK: "tt.reduce"
// CHECK: arith.muli {{.*}} : tensor<4x32xi32, #[[LANES]]>
// CHECK: tt.store
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#rows = #ttg.linear<{register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], block = []}>
#row = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#sums = #ttg.linear<{register = [], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = [[1, 0], [2, 0]], block = []}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func @sums(%p: tensor<128x!tt.ptr<i32>, #b>, %q: !tt.ptr<i32>) {
  %x = tt.load %p : tensor<128x!tt.ptr<i32>, #b>
  %r = tt.reshape %x : tensor<128xi32, #b> -> tensor<4x32xi32, #rows>
  %s = "tt.reduce"(%r) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<4x32xi32, #rows>) -> tensor<4xi32, #ttg.slice<{dim = 1, parent = #rows}>>
  %t = tt.reshape %s : tensor<4xi32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<4x1xi32, #sums>
  %u = tt.broadcast %t : tensor<4x1xi32, #sums> -> tensor<4x32xi32, #sums>
  %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #sums}>>
  %j = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #sums}>> -> tensor<1x32xi32, #sums>
  %k = tt.broadcast %j : tensor<1x32xi32, #sums> -> tensor<4x32xi32, #sums>
  %m = arith.muli %u, %k : tensor<4x32xi32, #sums>
  %n = ttg.convert_layout %m : tensor<4x32xi32, #sums> -> tensor<4x32xi32, #row>
  %qs = tt.splat %q : !tt.ptr<i32> -> tensor<4x32x!tt.ptr<i32>, #row>
  %o = ttg.convert_layout %k : tensor<4x32xi32, #sums> -> tensor<4x32xi32, #row>
  %ps = tt.addptr %qs, %o : tensor<4x32x!tt.ptr<i32>, #row>, tensor<4x32xi32, #row>
  tt.store %ps, %n : tensor<4x32x!tt.ptr<i32>, #row>
  tt.return
}
}
