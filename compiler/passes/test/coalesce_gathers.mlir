// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-coalesce | FileCheck %s

// Rows are gathered along their columns: each warp has whole ones.
// CHECK: #[[ROWS:.+]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1]
// CHECK-LABEL: @rows
// CHECK: tt.load {{.*}} : tensor<4x256x!tt.ptr<f32>, #[[ROWS]]>
#d = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func @rows(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %index: tensor<4x256xi32, #d>) -> tensor<4x256xf32, #d> {
  %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #d}>>
  %e = tt.expand_dims %r {axis = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #d}>> -> tensor<1x256xi32, #d>
  %b = tt.broadcast %e : tensor<1x256xi32, #d> -> tensor<4x256xi32, #d>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x256x!tt.ptr<f32>, #d>
  %q = tt.addptr %ps, %b : tensor<4x256x!tt.ptr<f32>, #d>, tensor<4x256xi32, #d>
  %x = tt.load %q : tensor<4x256x!tt.ptr<f32>, #d>
  %y = tt.gather %x[%index] {axis = 1 : i32} : (tensor<4x256xf32, #d>, tensor<4x256xi32, #d>) -> tensor<4x256xf32, #d>
  tt.return %y : tensor<4x256xf32, #d>
}
}

// -----

// There are fewer rows than warps.
// CHECK: #[[ROWS:.+]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4]
// CHECK-LABEL: @two_rows
// CHECK: tt.load {{.*}} : tensor<2x512x!tt.ptr<f32>, #[[ROWS]]>
#d = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func @two_rows(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %index: tensor<2x512xi32, #d>) -> tensor<2x512xf32, #d> {
  %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #ttg.slice<{dim = 0, parent = #d}>>
  %e = tt.expand_dims %r {axis = 0 : i32} : tensor<512xi32, #ttg.slice<{dim = 0, parent = #d}>> -> tensor<1x512xi32, #d>
  %b = tt.broadcast %e : tensor<1x512xi32, #d> -> tensor<2x512xi32, #d>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<2x512x!tt.ptr<f32>, #d>
  %q = tt.addptr %ps, %b : tensor<2x512x!tt.ptr<f32>, #d>, tensor<2x512xi32, #d>
  %x = tt.load %q : tensor<2x512x!tt.ptr<f32>, #d>
  %y = tt.gather %x[%index] {axis = 1 : i32} : (tensor<2x512xf32, #d>, tensor<2x512xi32, #d>) -> tensor<2x512xf32, #d>
  tt.return %y : tensor<2x512xf32, #d>
}
}

// -----

// Neighbours by known indices, again and again: a shuffle for each eight elements of a thread costs less than one for
// each four, though accesses are worse.
// CHECK: #[[ROWS:.+]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1]
// CHECK-LABEL: @ring
// CHECK: tt.load {{.*}} : tensor<4x256x!tt.ptr<f32>, #[[ROWS]]>
#d = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func @ring(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<4x256xf32, #d> {
  %zero = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #d}>>
  %one = arith.constant dense<1> : tensor<256xi32, #ttg.slice<{dim = 0, parent = #d}>>
  %size = arith.constant dense<256> : tensor<256xi32, #ttg.slice<{dim = 0, parent = #d}>>
  %next = arith.addi %r, %one : tensor<256xi32, #ttg.slice<{dim = 0, parent = #d}>>
  %ring = arith.remsi %next, %size : tensor<256xi32, #ttg.slice<{dim = 0, parent = #d}>>
  %i = tt.expand_dims %ring {axis = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #d}>> -> tensor<1x256xi32, #d>
  %index = tt.broadcast %i : tensor<1x256xi32, #d> -> tensor<4x256xi32, #d>
  %e = tt.expand_dims %r {axis = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #d}>> -> tensor<1x256xi32, #d>
  %b = tt.broadcast %e : tensor<1x256xi32, #d> -> tensor<4x256xi32, #d>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x256x!tt.ptr<f32>, #d>
  %q = tt.addptr %ps, %b : tensor<4x256x!tt.ptr<f32>, #d>, tensor<4x256xi32, #d>
  %x = tt.load %q : tensor<4x256x!tt.ptr<f32>, #d>
  %y = scf.for %k = %zero to %n step %step iter_args(%u = %x) -> (tensor<4x256xf32, #d>) : i32 {
    %v = tt.gather %u[%index] {axis = 1 : i32} : (tensor<4x256xf32, #d>, tensor<4x256xi32, #d>) -> tensor<4x256xf32, #d>
    scf.yield %v : tensor<4x256xf32, #d>
  }
  tt.return %y : tensor<4x256xf32, #d>
}
}
