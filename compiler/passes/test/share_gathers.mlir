// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-share-gathers | FileCheck %s

// Gathers of one tensor read one buffer. Lanes read four words from each other: bits 5 and 6 of an offset change bits 0
// and 1.
// CHECK: #[[SPREAD:.+]] = #ttg.shared_linear<{offset = {{\[\[}}1], [2], [4], [8], [16], [33], [66], [128], [256]], block = []}, alignment = 16>
// CHECK-LABEL: @shared
// CHECK: %[[BUFFER:.*]] = ttg.local_alloc %{{.*}} : (tensor<512xf32, #blocked>) -> !ttg.memdesc<512xf32, #[[SPREAD]], #smem>
// CHECK: ttg.local_gather %[[BUFFER]]
// CHECK: ttg.local_gather %[[BUFFER]]
#four = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @shared(%x: tensor<512xf32, #four>, %n: i32) -> tensor<512xf32, #four> {
    %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #four>
    %ns = tt.splat %n : i32 -> tensor<512xi32, #four>
    %i = arith.addi %r, %ns : tensor<512xi32, #four>
    %j = arith.xori %r, %ns : tensor<512xi32, #four>
    %a = tt.gather %x[%i] {axis = 0 : i32} : (tensor<512xf32, #four>, tensor<512xi32, #four>) -> tensor<512xf32, #four>
    %b = tt.gather %x[%j] {axis = 0 : i32} : (tensor<512xf32, #four>, tensor<512xi32, #four>) -> tensor<512xf32, #four>
    %c = arith.addf %a, %b : tensor<512xf32, #four>
    tt.return %c : tensor<512xf32, #four>
  }
}

// -----

// One gather, and gathers that take shuffles, stay.
// CHECK-LABEL: @single
// CHECK-NOT: ttg.local_alloc
// CHECK: tt.return
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#four = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @single(%x: tensor<512xf32, #four>, %i: tensor<512xi32, #four>) -> tensor<512xf32, #four> {
    %a = tt.gather %x[%i] {axis = 0 : i32} : (tensor<512xf32, #four>, tensor<512xi32, #four>) -> tensor<512xf32, #four>
    tt.return %a : tensor<512xf32, #four>
  }
  // CHECK-LABEL: @shuffled
  // CHECK-NOT: ttg.local_alloc
  // CHECK: tt.return
  tt.func @shuffled(%x: tensor<16xf32, #one>, %i: tensor<512xi32, #four>, %j: tensor<512xi32, #four>) -> tensor<512xf32, #four> {
    %a = tt.gather %x[%i] {axis = 0 : i32} : (tensor<16xf32, #one>, tensor<512xi32, #four>) -> tensor<512xf32, #four>
    %b = tt.gather %x[%j] {axis = 0 : i32} : (tensor<16xf32, #one>, tensor<512xi32, #four>) -> tensor<512xf32, #four>
    %c = arith.addf %a, %b : tensor<512xf32, #four>
    tt.return %c : tensor<512xf32, #four>
  }
}
