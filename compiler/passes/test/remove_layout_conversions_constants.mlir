// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-remove-layout-conversions | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[OWN:.+]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[WIDE:.+]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {

// Both stores add one constant. That the first one wants it where the sums are says nothing about the second.
// CHECK-LABEL: @shared_constant
// CHECK: tt.store %{{.*}} : tensor<16x!tt.ptr<i32>, #ttg.slice<{dim = 1, parent = #[[WIDE]]}>>
// CHECK: tt.store %{{.*}} : tensor<16x!tt.ptr<i32>, #[[OWN]]>
tt.func @shared_constant(%p: tensor<16x32x!tt.ptr<i32>, #wide>, %q: tensor<16x!tt.ptr<i32>, #ttg.slice<{dim = 1, parent = #wide}>>, %n: i32, %o: !tt.ptr<i32>) {
  %k = arith.constant dense<7> : tensor<16xi32, #b>
  %x = tt.load %p : tensor<16x32x!tt.ptr<i32>, #wide>
  %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %c: i32):
    %d = arith.addi %a, %c : i32
    tt.reduce.return %d : i32
  }) : (tensor<16x32xi32, #wide>) -> tensor<16xi32, #ttg.slice<{dim = 1, parent = #wide}>>
  %v = ttg.convert_layout %s : tensor<16xi32, #ttg.slice<{dim = 1, parent = #wide}>> -> tensor<16xi32, #b>
  %w = arith.addi %v, %k : tensor<16xi32, #b>
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #b>
  %qs = ttg.convert_layout %q : tensor<16x!tt.ptr<i32>, #ttg.slice<{dim = 1, parent = #wide}>> -> tensor<16x!tt.ptr<i32>, #b>
  tt.store %qs, %w : tensor<16x!tt.ptr<i32>, #b>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>, #b>
  %ns = tt.splat %n : i32 -> tensor<16xi32, #b>
  %i = arith.muli %r, %ns : tensor<16xi32, #b>
  %to = tt.addptr %os, %i : tensor<16x!tt.ptr<i32>, #b>, tensor<16xi32, #b>
  %y = arith.muli %r, %k : tensor<16xi32, #b>
  tt.store %to, %y : tensor<16x!tt.ptr<i32>, #b>
  tt.return
}
}
