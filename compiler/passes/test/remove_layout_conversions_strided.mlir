// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-remove-layout-conversions | FileCheck %s

// A row of weights for a block of eight columns a thread. Where neighbours are, each thread loads its own. Where they are
// four words apart, each load of eight would reach sixteen lines of the cache: each thread loads one, and they exchange.
// CHECK-LABEL: @neighbours
// CHECK-NOT: convert_layout
// CHECK-LABEL: @every_fourth
// CHECK: %[[W:.+]] = tt.load %{{.*}} : tensor<128x!tt.ptr<f32>, #[[ROW:.+]]>
// CHECK: ttg.convert_layout %[[W]] : tensor<128xf32, #[[ROW]]>

// A loop that carries one tensor more is another operation. The one that it replaces is nothing to look at.
// CHECK-LABEL: @after_a_carried_row
// CHECK: scf.for {{.*}} -> (tensor<128xi32, #[[ROW]]>, tensor<128xi32, #{{.*}}>)
// CHECK-NOT: convert_layout
// CHECK: scf.yield
// CHECK: tt.load %{{.*}} : tensor<128x!tt.ptr<f32>, #[[ROW]]>
#row = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#block = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.slice<{dim = 0, parent = #block}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @neighbours(%w: !tt.ptr<f32>, %x: tensor<32x128xf32, #block>, %y: tensor<32x128x!tt.ptr<f32>, #block>) {
    %at = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #row>
    %ws = tt.splat %w : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #row>
    %from = tt.addptr %ws, %at : tensor<128x!tt.ptr<f32>, #row>, tensor<128xi32, #row>
    %a = tt.load %from : tensor<128x!tt.ptr<f32>, #row>
    %b = ttg.convert_layout %a : tensor<128xf32, #row> -> tensor<128xf32, #columns>
    %c = tt.expand_dims %b {axis = 0 : i32} : tensor<128xf32, #columns> -> tensor<1x128xf32, #block>
    %d = tt.broadcast %c : tensor<1x128xf32, #block> -> tensor<32x128xf32, #block>
    %e = arith.mulf %d, %x : tensor<32x128xf32, #block>
    tt.store %y, %e : tensor<32x128x!tt.ptr<f32>, #block>
    tt.return
  }
  tt.func public @every_fourth(%w: !tt.ptr<f32>, %x: tensor<32x128xf32, #block>, %y: tensor<32x128x!tt.ptr<f32>, #block>) {
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #row>
    %pitch = arith.constant dense<4> : tensor<128xi32, #row>
    %at = arith.muli %i, %pitch : tensor<128xi32, #row>
    %ws = tt.splat %w : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #row>
    %from = tt.addptr %ws, %at : tensor<128x!tt.ptr<f32>, #row>, tensor<128xi32, #row>
    %a = tt.load %from : tensor<128x!tt.ptr<f32>, #row>
    %b = ttg.convert_layout %a : tensor<128xf32, #row> -> tensor<128xf32, #columns>
    %c = tt.expand_dims %b {axis = 0 : i32} : tensor<128xf32, #columns> -> tensor<1x128xf32, #block>
    %d = tt.broadcast %c : tensor<1x128xf32, #block> -> tensor<32x128xf32, #block>
    %e = arith.mulf %d, %x : tensor<32x128xf32, #block>
    tt.store %y, %e : tensor<32x128x!tt.ptr<f32>, #block>
    tt.return
  }
  tt.func public @after_a_carried_row(%w: !tt.ptr<f32>, %x: tensor<32x128xf32, #block>, %y: tensor<32x128x!tt.ptr<f32>, #block>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %ones = arith.constant dense<1.0> : tensor<128xf32, #row>
    %step = arith.constant dense<1> : tensor<128xi32, #row>
    %pitch = arith.constant dense<4> : tensor<128xi32, #row>
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #row>
    %last = scf.for %k = %zero to %n step %one iter_args(%j = %i) -> (tensor<128xi32, #row>) : i32 {
      %j1 = ttg.convert_layout %j : tensor<128xi32, #row> -> tensor<128xi32, #columns>
      %j2 = tt.expand_dims %j1 {axis = 0 : i32} : tensor<128xi32, #columns> -> tensor<1x128xi32, #block>
      %j3 = tt.broadcast %j2 : tensor<1x128xi32, #block> -> tensor<32x128xi32, #block>
      %to = tt.addptr %y, %j3 : tensor<32x128x!tt.ptr<f32>, #block>, tensor<32x128xi32, #block>
      tt.store %to, %x : tensor<32x128x!tt.ptr<f32>, #block>
      %ns = tt.splat %w : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #row>
      %np = tt.addptr %ns, %j : tensor<128x!tt.ptr<f32>, #row>, tensor<128xi32, #row>
      tt.store %np, %ones : tensor<128x!tt.ptr<f32>, #row>
      %next = arith.addi %j, %step : tensor<128xi32, #row>
      scf.yield %next : tensor<128xi32, #row>
    }
    %at = arith.muli %i, %pitch : tensor<128xi32, #row>
    %ws = tt.splat %w : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #row>
    %from = tt.addptr %ws, %at : tensor<128x!tt.ptr<f32>, #row>, tensor<128xi32, #row>
    %a = tt.load %from : tensor<128x!tt.ptr<f32>, #row>
    %b = ttg.convert_layout %a : tensor<128xf32, #row> -> tensor<128xf32, #columns>
    %c = tt.expand_dims %b {axis = 0 : i32} : tensor<128xf32, #columns> -> tensor<1x128xf32, #block>
    %d = tt.broadcast %c : tensor<1x128xf32, #block> -> tensor<32x128xf32, #block>
    %e = arith.mulf %d, %x : tensor<32x128xf32, #block>
    tt.store %y, %e : tensor<32x128x!tt.ptr<f32>, #block>
    tt.return
  }
}
