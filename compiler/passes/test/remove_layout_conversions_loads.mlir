// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-remove-layout-conversions | FileCheck %s

// A row of numbers that was loaded under two encodings, each of which has changed since: sixteen registers of a thread
// cost more than a conversion. A store in between may change what is loaded.
// CHECK-LABEL: @twice
// CHECK: %[[X:.+]] = tt.load %{{.*}} : tensor<64x!tt.ptr<f32>
// CHECK-NOT: tt.load
// CHECK: ttg.convert_layout %[[X]] : tensor<64xf32
// CHECK-LABEL: @written_in_between
// CHECK: tt.load %{{.*}} : tensor<64x!tt.ptr<f32>
// CHECK: tt.store
// CHECK: tt.load %{{.*}} : tensor<64x!tt.ptr<f32>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.slice<{dim = 1, parent = #mma}>
#columns = #ttg.slice<{dim = 0, parent = #mma}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @twice(%p: !tt.ptr<f32>, %x: tensor<64x64xf32, #mma>, %q: tensor<64x64x!tt.ptr<f32>, #mma>) {
    %pitch = arith.constant dense<16> : tensor<64xi32, #rows>
    %pitch_b = arith.constant dense<16> : tensor<64xi32, #columns>
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #rows>
    %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #columns>
    %at = arith.muli %i, %pitch : tensor<64xi32, #rows>
    %at_b = arith.muli %j, %pitch_b : tensor<64xi32, #columns>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #rows>
    %ps_b = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #columns>
    %from = tt.addptr %ps, %at : tensor<64x!tt.ptr<f32>, #rows>, tensor<64xi32, #rows>
    %from_b = tt.addptr %ps_b, %at_b : tensor<64x!tt.ptr<f32>, #columns>, tensor<64xi32, #columns>
    %a = tt.load %from : tensor<64x!tt.ptr<f32>, #rows>
    %b = tt.load %from_b : tensor<64x!tt.ptr<f32>, #columns>
    %a1 = tt.expand_dims %a {axis = 1 : i32} : tensor<64xf32, #rows> -> tensor<64x1xf32, #mma>
    %b1 = tt.expand_dims %b {axis = 0 : i32} : tensor<64xf32, #columns> -> tensor<1x64xf32, #mma>
    %a2 = tt.broadcast %a1 : tensor<64x1xf32, #mma> -> tensor<64x64xf32, #mma>
    %b2 = tt.broadcast %b1 : tensor<1x64xf32, #mma> -> tensor<64x64xf32, #mma>
    %d = arith.subf %a2, %b2 : tensor<64x64xf32, #mma>
    %y = arith.mulf %d, %x : tensor<64x64xf32, #mma>
    tt.store %q, %y : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
  tt.func public @written_in_between(%p: !tt.ptr<f32>, %v: f32, %q: tensor<64x64x!tt.ptr<f32>, #mma>) {
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #rows>
    %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #columns>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #rows>
    %ps_b = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #columns>
    %from = tt.addptr %ps, %i : tensor<64x!tt.ptr<f32>, #rows>, tensor<64xi32, #rows>
    %from_b = tt.addptr %ps_b, %j : tensor<64x!tt.ptr<f32>, #columns>, tensor<64xi32, #columns>
    %a = tt.load %from : tensor<64x!tt.ptr<f32>, #rows>
    tt.store %p, %v : !tt.ptr<f32>
    %b = tt.load %from_b : tensor<64x!tt.ptr<f32>, #columns>
    %a1 = tt.expand_dims %a {axis = 1 : i32} : tensor<64xf32, #rows> -> tensor<64x1xf32, #mma>
    %b1 = tt.expand_dims %b {axis = 0 : i32} : tensor<64xf32, #columns> -> tensor<1x64xf32, #mma>
    %a2 = tt.broadcast %a1 : tensor<64x1xf32, #mma> -> tensor<64x64xf32, #mma>
    %b2 = tt.broadcast %b1 : tensor<1x64xf32, #mma> -> tensor<64x64xf32, #mma>
    %d = arith.subf %a2, %b2 : tensor<64x64xf32, #mma>
    tt.store %q, %d : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}
