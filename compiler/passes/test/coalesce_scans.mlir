// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-coalesce | FileCheck %s

// CHECK-DAG: #[[FOUR:.+]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32]
// CHECK-DAG: #[[ONE:.+]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32]
// CHECK-DAG: #[[EIGHT:.+]] = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32]
#row = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {

// Sums of segments: two values are exchanged for each group of neighbours that a thread has. One group of eight costs
// less than two of four, which the store asks for.
// CHECK-LABEL: @segments
//       CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<f32>, #[[EIGHT]]>
//       CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<i8>, #[[EIGHT]]>
//       CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, #[[EIGHT]]>
tt.func @segments(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %f: !tt.ptr<i8> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #row>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #row>
  %pr = tt.addptr %ps, %r : tensor<1024x!tt.ptr<f32>, #row>, tensor<1024xi32, #row>
  %x = tt.load %pr : tensor<1024x!tt.ptr<f32>, #row>
  %fs = tt.splat %f : !tt.ptr<i8> -> tensor<1024x!tt.ptr<i8>, #row>
  %fr = tt.addptr %fs, %r : tensor<1024x!tt.ptr<i8>, #row>, tensor<1024xi32, #row>
  %flags = tt.load %fr : tensor<1024x!tt.ptr<i8>, #row>
  %zero = arith.constant 0 : i8
  %sums:2 = "tt.scan"(%x, %flags) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %i: i8, %b: f32, %j: i8):
    %starts = arith.cmpi ne, %j, %zero : i8
    %ab = arith.addf %a, %b : f32
    %sum = arith.select %starts, %b, %ab : f32
    %any = arith.ori %i, %j : i8
    tt.scan.return %sum, %any : f32, i8
  }) : (tensor<1024xf32, #row>, tensor<1024xi8, #row>) -> (tensor<1024xf32, #row>, tensor<1024xi8, #row>)
  tt.store %pr, %sums#0 : tensor<1024x!tt.ptr<f32>, #row>
  tt.return
}

// No access takes eight neighbours at once.
// CHECK-LABEL: @recurrence
//       CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<f32>, #[[FOUR]]>
//       CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, #[[FOUR]]>
tt.func @recurrence(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #row>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #row>
  %pr = tt.addptr %ps, %r : tensor<1024x!tt.ptr<f32>, #row>, tensor<1024xi32, #row>
  %x = tt.load %pr : tensor<1024x!tt.ptr<f32>, #row>
  %states:2 = "tt.scan"(%x, %x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %h: f32, %b: f32, %g: f32):
    %ab = arith.mulf %a, %b : f32
    %bh = arith.mulf %b, %h : f32
    %state = arith.addf %bh, %g : f32
    tt.scan.return %ab, %state : f32, f32
  }) : (tensor<1024xf32, #row>, tensor<1024xf32, #row>) -> (tensor<1024xf32, #row>, tensor<1024xf32, #row>)
  tt.store %pr, %states#1 : tensor<1024x!tt.ptr<f32>, #row>
  tt.return
}

// Stores of single words would reach each sector eight times.
// CHECK-LABEL: @segments_anywhere
//       CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<f32>, #[[ONE]]>
//       CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, #[[ONE]]>
tt.func @segments_anywhere(%p: !tt.ptr<f32>, %f: !tt.ptr<i8> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #row>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #row>
  %pr = tt.addptr %ps, %r : tensor<1024x!tt.ptr<f32>, #row>, tensor<1024xi32, #row>
  %x = tt.load %pr : tensor<1024x!tt.ptr<f32>, #row>
  %fs = tt.splat %f : !tt.ptr<i8> -> tensor<1024x!tt.ptr<i8>, #row>
  %fr = tt.addptr %fs, %r : tensor<1024x!tt.ptr<i8>, #row>, tensor<1024xi32, #row>
  %flags = tt.load %fr : tensor<1024x!tt.ptr<i8>, #row>
  %zero = arith.constant 0 : i8
  %sums:2 = "tt.scan"(%x, %flags) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %i: i8, %b: f32, %j: i8):
    %starts = arith.cmpi ne, %j, %zero : i8
    %ab = arith.addf %a, %b : f32
    %sum = arith.select %starts, %b, %ab : f32
    %any = arith.ori %i, %j : i8
    tt.scan.return %sum, %any : f32, i8
  }) : (tensor<1024xf32, #row>, tensor<1024xi8, #row>) -> (tensor<1024xf32, #row>, tensor<1024xi8, #row>)
  tt.store %pr, %sums#0 : tensor<1024x!tt.ptr<f32>, #row>
  tt.return
}

// Threads take one value through shared memory and back instead.
// CHECK-LABEL: @counts
//       CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<i8>, #[[FOUR]]>
//       CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<i32>, #[[FOUR]]>
tt.func @counts(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %f: !tt.ptr<i8> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #row>
  %fs = tt.splat %f : !tt.ptr<i8> -> tensor<1024x!tt.ptr<i8>, #row>
  %fr = tt.addptr %fs, %r : tensor<1024x!tt.ptr<i8>, #row>, tensor<1024xi32, #row>
  %flags = tt.load %fr : tensor<1024x!tt.ptr<i8>, #row>
  %x = arith.extui %flags : tensor<1024xi8, #row> to tensor<1024xi32, #row>
  %sums = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: i32, %b: i32):
    %sum = arith.addi %a, %b : i32
    tt.scan.return %sum : i32
  }) : (tensor<1024xi32, #row>) -> tensor<1024xi32, #row>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #row>
  %pr = tt.addptr %ps, %r : tensor<1024x!tt.ptr<i32>, #row>, tensor<1024xi32, #row>
  tt.store %pr, %sums : tensor<1024x!tt.ptr<i32>, #row>
  tt.return
}
}
