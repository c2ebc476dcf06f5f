// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=cuda:90 | FileCheck %s

// The source lies in row-major order. Four neighbours of a thread go there at once, and each is read by itself.
// CHECK-LABEL: llvm.func @anywhere
//       CHECK:   llvm.store %{{.*}} : vector<4xf32>, !llvm.ptr<3>
//   CHECK-NOT:   llvm.xor
// CHECK-COUNT-4: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
#four = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @anywhere(%p: !tt.ptr<f32>, %x: f32, %i: !tt.ptr<i32>) {
    %xs = tt.splat %x : f32 -> tensor<512xf32, #four>
    %is = tt.splat %i : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #four>
    %index = tt.load %is : tensor<512x!tt.ptr<i32>, #four>
    %v = tt.gather %xs[%index] {axis = 0 : i32} : (tensor<512xf32, #four>, tensor<512xi32, #four>) -> tensor<512xf32, #four>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #four>
    tt.store %ps, %v : tensor<512x!tt.ptr<f32>, #four>
    tt.return
  }
}

// -----

// The index is computed: lanes read four words from each other, as they hold elements. Bits 5 and 6 of an offset change
// bits 0 and 1, so that 32 lanes read 32 banks.
// CHECK-LABEL: llvm.func @shifted
//       CHECK:   llvm.store %{{.*}} : f32, !llvm.ptr<3>
//       CHECK:   %[[HIGH:.*]] = llvm.lshr %[[OFFSET:.*]], %{{.*}} : i32
//       CHECK:   %[[LOW:.*]] = llvm.and %[[HIGH]], %{{.*}} : i32
//       CHECK:   llvm.xor %[[OFFSET]], %[[LOW]] : i32
//       CHECK:   llvm.load %{{.*}} : !llvm.ptr<3> -> f32
#four = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @shifted(%p: !tt.ptr<f32>, %x: !tt.ptr<f32>, %by: i32) {
    %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #four>
    %bys = tt.splat %by : i32 -> tensor<512xi32, #four>
    %index = arith.addi %r, %bys : tensor<512xi32, #four>
    %from = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #four>
    %xs = tt.load %from : tensor<512x!tt.ptr<f32>, #four>
    %v = tt.gather %xs[%index] {axis = 0 : i32} : (tensor<512xf32, #four>, tensor<512xi32, #four>) -> tensor<512xf32, #four>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #four>
    tt.store %ps, %v : tensor<512x!tt.ptr<f32>, #four>
    tt.return
  }
}
