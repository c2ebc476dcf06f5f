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

// -----

// Four neighbours of a thread would make lanes meet in banks, again and again. So each has one.
// CHECK: #[[ONE:.+]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4]
// CHECK-LABEL: @shifted
// CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<i32>, #[[ONE]]>
#d = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func @shifted(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %none = arith.constant dense<0> : tensor<1024xi32, #d>
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #d>
  %y = scf.for %k = %zero to %n step %step iter_args(%u = %none) -> (tensor<1024xi32, #d>) : i32 {
    %by = tt.splat %k : i32 -> tensor<1024xi32, #d>
    %from = arith.subi %r, %by : tensor<1024xi32, #d>
    %index = arith.maxsi %from, %none : tensor<1024xi32, #d>
    %v = tt.gather %u[%index] {axis = 0 : i32} : (tensor<1024xi32, #d>, tensor<1024xi32, #d>) -> tensor<1024xi32, #d>
    %w = arith.addi %v, %by : tensor<1024xi32, #d>
    scf.yield %w : tensor<1024xi32, #d>
  }
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #d>
  %q = tt.addptr %ps, %r : tensor<1024x!tt.ptr<i32>, #d>, tensor<1024xi32, #d>
  tt.store %q, %y : tensor<1024x!tt.ptr<i32>, #d>
  tt.return
}
}

// -----

// Scans exchange less between four neighbours.
// CHECK: #[[FOUR:.+]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4]
// CHECK-LABEL: @shifted_sums
// CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<i32>, #[[FOUR]]>
#d = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func @shifted_sums(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %k: i32) {
  %none = arith.constant dense<0> : tensor<1024xi32, #d>
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #d>
  %by = tt.splat %k : i32 -> tensor<1024xi32, #d>
  %from = arith.subi %r, %by : tensor<1024xi32, #d>
  %index = arith.maxsi %from, %none : tensor<1024xi32, #d>
  %v = tt.gather %r[%index] {axis = 0 : i32} : (tensor<1024xi32, #d>, tensor<1024xi32, #d>) -> tensor<1024xi32, #d>
  %sums = "tt.scan"(%v) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tt.scan.return %c : i32
  }) : (tensor<1024xi32, #d>) -> tensor<1024xi32, #d>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #d>
  %q = tt.addptr %ps, %r : tensor<1024x!tt.ptr<i32>, #d>, tensor<1024xi32, #d>
  tt.store %q, %sums : tensor<1024x!tt.ptr<i32>, #d>
  tt.return
}
}
