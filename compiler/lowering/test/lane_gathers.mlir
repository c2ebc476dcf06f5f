// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=cuda:90 | FileCheck %s

// Neighbours on a ring of 256 elements, of which each warp has a row: one word of each lane comes from the next lane.
// The others change their names.
// CHECK-LABEL: llvm.func @ring
//   CHECK-NOT:   !llvm.ptr<3>
//   CHECK-NOT:   llvm.select
//       CHECK:   llvm.nvvm.shfl.sync.idx.i32
//   CHECK-NOT:   !llvm.ptr<3>
//   CHECK-NOT:   llvm.select
//   CHECK-NOT:   llvm.nvvm.shfl
//       CHECK:   llvm.return
#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @ring(%p: !tt.ptr<f32>) {
    %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #row}>>
    %one = arith.constant dense<1> : tensor<256xi32, #ttg.slice<{dim = 0, parent = #row}>>
    %size = arith.constant dense<256> : tensor<256xi32, #ttg.slice<{dim = 0, parent = #row}>>
    %next = arith.addi %r, %one : tensor<256xi32, #ttg.slice<{dim = 0, parent = #row}>>
    %ring = arith.remsi %next, %size : tensor<256xi32, #ttg.slice<{dim = 0, parent = #row}>>
    %e = tt.expand_dims %ring {axis = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #row}>> -> tensor<1x256xi32, #row>
    %index = tt.broadcast %e : tensor<1x256xi32, #row> -> tensor<4x256xi32, #row>
    %c = tt.expand_dims %r {axis = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #row}>> -> tensor<1x256xi32, #row>
    %places = tt.broadcast %c : tensor<1x256xi32, #row> -> tensor<4x256xi32, #row>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<4x256x!tt.ptr<f32>, #row>
    %ps = tt.addptr %s, %places : tensor<4x256x!tt.ptr<f32>, #row>, tensor<4x256xi32, #row>
    %x = tt.load %ps : tensor<4x256x!tt.ptr<f32>, #row>
    %v = tt.gather %x[%index] {axis = 1 : i32} : (tensor<4x256xf32, #row>, tensor<4x256xi32, #row>) -> tensor<4x256xf32, #row>
    tt.store %ps, %v : tensor<4x256x!tt.ptr<f32>, #row>
    tt.return
  }
}

// -----

// Every warp has a table of 16: a shuffle for each index.
// CHECK-LABEL: llvm.func @table
//   CHECK-NOT:   llvm.store {{.*}} !llvm.ptr<3>
// CHECK-COUNT-4: llvm.nvvm.shfl.sync.idx.i32
//   CHECK-NOT:   llvm.nvvm.shfl
//       CHECK:   llvm.return
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#four = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @table(%p: !tt.ptr<f32>, %t: !tt.ptr<f32>, %i: !tt.ptr<i32>) {
    %ts = tt.splat %t : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #one>
    %table = tt.load %ts : tensor<16x!tt.ptr<f32>, #one>
    %is = tt.splat %i : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #four>
    %index = tt.load %is : tensor<512x!tt.ptr<i32>, #four>
    %v = tt.gather %table[%index] {axis = 0 : i32} : (tensor<16xf32, #one>, tensor<512xi32, #four>) -> tensor<512xf32, #four>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #four>
    tt.store %ps, %v : tensor<512x!tt.ptr<f32>, #four>
    tt.return
  }
}

// -----

// A thread has whole rows of two: a select for each index.
// CHECK-LABEL: llvm.func @pairs
//   CHECK-NOT:   !llvm.ptr<3>
//   CHECK-NOT:   llvm.nvvm.shfl
//       CHECK:   llvm.select
//       CHECK:   llvm.select
//   CHECK-NOT:   llvm.nvvm.shfl
//       CHECK:   llvm.return
#two = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @pairs(%p: !tt.ptr<f32>, %i: !tt.ptr<i32>) {
    %is = tt.splat %i : !tt.ptr<i32> -> tensor<128x2x!tt.ptr<i32>, #two>
    %index = tt.load %is : tensor<128x2x!tt.ptr<i32>, #two>
    %r = tt.make_range {start = 0 : i32, end = 2 : i32} : tensor<2xi32, #ttg.slice<{dim = 0, parent = #two}>>
    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<2xi32, #ttg.slice<{dim = 0, parent = #two}>> -> tensor<1x2xi32, #two>
    %places = tt.broadcast %e : tensor<1x2xi32, #two> -> tensor<128x2xi32, #two>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<128x2x!tt.ptr<f32>, #two>
    %ps = tt.addptr %s, %places : tensor<128x2x!tt.ptr<f32>, #two>, tensor<128x2xi32, #two>
    %x = tt.load %ps : tensor<128x2x!tt.ptr<f32>, #two>
    %v = tt.gather %x[%index] {axis = 1 : i32} : (tensor<128x2xf32, #two>, tensor<128x2xi32, #two>) -> tensor<128x2xf32, #two>
    tt.store %ps, %v : tensor<128x2x!tt.ptr<f32>, #two>
    tt.return
  }
}

// -----

// Many shuffles would take longer than shared memory, in which a warp still has its rows for itself.
// CHECK-LABEL: llvm.func @rows
//       CHECK:   llvm.store %{{.*}} : {{.*}}, !llvm.ptr<3>
//   CHECK-NOT:   nvvm.barrier
//       CHECK:   nvvm.bar.warp.sync
//   CHECK-NOT:   nvvm.barrier
//       CHECK:   llvm.load %{{.*}} : !llvm.ptr<3> -> f32
//       CHECK:   llvm.return
#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @rows(%p: !tt.ptr<f32>, %i: !tt.ptr<i32>) {
    %is = tt.splat %i : !tt.ptr<i32> -> tensor<4x256x!tt.ptr<i32>, #row>
    %index = tt.load %is : tensor<4x256x!tt.ptr<i32>, #row>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x256x!tt.ptr<f32>, #row>
    %x = tt.load %ps : tensor<4x256x!tt.ptr<f32>, #row>
    %v = tt.gather %x[%index] {axis = 1 : i32} : (tensor<4x256xf32, #row>, tensor<4x256xi32, #row>) -> tensor<4x256xf32, #row>
    tt.store %ps, %v : tensor<4x256x!tt.ptr<f32>, #row>
    tt.return
  }
}
