// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-coalesce=max-add-bytes=16 | FileCheck %s

// A target that adds to 16 bytes of floats at once: additions of floats are that wide, other atomics a word.
#b = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-DAG: #[[ONE:.+]] = #ttg.blocked<{sizePerThread = [1],
// CHECK-DAG: #[[FOUR:.+]] = #ttg.blocked<{sizePerThread = [4],
// CHECK: tt.atomic_rmw fadd, {{.*}} -> tensor<1024xf32, #[[FOUR]]>
// CHECK: tt.atomic_rmw max, {{.*}} -> tensor<2048xi32, #[[ONE]]>
tt.func @atomics(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %i: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %v = arith.constant dense<1.0> : tensor<1024xf32, #b>
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
  %q = tt.addptr %s, %r : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
  %old = tt.atomic_rmw fadd, relaxed, gpu, %q, %v : (tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xf32, #b>) -> tensor<1024xf32, #b>
  %w = arith.constant dense<1> : tensor<2048xi32, #b>
  %r2 = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32, #b>
  %s2 = tt.splat %i : !tt.ptr<i32> -> tensor<2048x!tt.ptr<i32>, #b>
  %q2 = tt.addptr %s2, %r2 : tensor<2048x!tt.ptr<i32>, #b>, tensor<2048xi32, #b>
  %old2 = tt.atomic_rmw max, relaxed, gpu, %q2, %w : (tensor<2048x!tt.ptr<i32>, #b>, tensor<2048xi32, #b>) -> tensor<2048xi32, #b>
  tt.return
}
}
