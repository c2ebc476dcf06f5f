// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-coalesce | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 1, 32], warpsPerCTA = [1, 1, 4], order = [2, 1, 0]}>
#rr = #ttg.slice<{dim = 2, parent = #b}>
#r = #ttg.slice<{dim = 0, parent = #rr}>
#cc = #ttg.slice<{dim = 1, parent = #b}>
#c = #ttg.slice<{dim = 0, parent = #cc}>
// CHECK-DAG: #[[DOWN:.+]] = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 32, 1], {{.*}} order = [1, 2, 0]
// CHECK-DAG: #[[ALONG:.+]] = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 1, 32], warpsPerCTA = [1, 2, 2], order = [2, 1, 0]
// CHECK-DAG: #[[BOTH:.+]] = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 4, 8], {{.*}} order = [1, 2, 0]
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {

// Loads are near along four rows, stores along a row. With lanes along both, each is near to most, and nothing is
// converted. The dimension of one element has no neighbours.
// CHECK-LABEL: @short
// CHECK: tt.load {{.*}} : tensor<1x4x64x!tt.ptr<f16>, #[[BOTH]]>
// CHECK: tt.store {{.*}} : tensor<1x4x64x!tt.ptr<f16>, #[[BOTH]]>
tt.func @short(%p: !tt.ptr<f16>, %o: !tt.ptr<f16>, %s: i32, %t: i32 {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32, #r>
  %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #c>
  %i2 = tt.expand_dims %i {axis = 0 : i32} : tensor<4xi32, #r> -> tensor<1x4xi32, #rr>
  %i3 = tt.expand_dims %i2 {axis = 2 : i32} : tensor<1x4xi32, #rr> -> tensor<1x4x1xi32, #b>
  %j2 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #c> -> tensor<1x64xi32, #cc>
  %j3 = tt.expand_dims %j2 {axis = 1 : i32} : tensor<1x64xi32, #cc> -> tensor<1x1x64xi32, #b>
  %si = tt.splat %s : i32 -> tensor<1x4x1xi32, #b>
  %ti = tt.splat %t : i32 -> tensor<1x4x1xi32, #b>
  %sj = tt.splat %s : i32 -> tensor<1x1x64xi32, #b>
  %tj = tt.splat %t : i32 -> tensor<1x1x64xi32, #b>
  %near = arith.muli %i3, %si : tensor<1x4x1xi32, #b>
  %far = arith.muli %j3, %tj : tensor<1x1x64xi32, #b>
  %nears = tt.broadcast %near : tensor<1x4x1xi32, #b> -> tensor<1x4x64xi32, #b>
  %fars = tt.broadcast %far : tensor<1x1x64xi32, #b> -> tensor<1x4x64xi32, #b>
  %from = arith.addi %nears, %fars : tensor<1x4x64xi32, #b>
  %down = arith.muli %i3, %ti : tensor<1x4x1xi32, #b>
  %along = arith.muli %j3, %sj : tensor<1x1x64xi32, #b>
  %downs = tt.broadcast %down : tensor<1x4x1xi32, #b> -> tensor<1x4x64xi32, #b>
  %alongs = tt.broadcast %along : tensor<1x1x64xi32, #b> -> tensor<1x4x64xi32, #b>
  %to = arith.addi %downs, %alongs : tensor<1x4x64xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<1x4x64x!tt.ptr<f16>, #b>
  %os = tt.splat %o : !tt.ptr<f16> -> tensor<1x4x64x!tt.ptr<f16>, #b>
  %source = tt.addptr %ps, %from : tensor<1x4x64x!tt.ptr<f16>, #b>, tensor<1x4x64xi32, #b>
  %target = tt.addptr %os, %to : tensor<1x4x64x!tt.ptr<f16>, #b>, tensor<1x4x64xi32, #b>
  %v = tt.load %source : tensor<1x4x64x!tt.ptr<f16>, #b>
  tt.store %target, %v : tensor<1x4x64x!tt.ptr<f16>, #b>
  tt.return
}

// Where rows are many, a conversion costs less than accesses that are far from each other.
// CHECK-LABEL: @long
// CHECK: tt.load {{.*}} : tensor<1x64x64x!tt.ptr<f16>, #[[DOWN]]>
// CHECK: tt.store {{.*}} : tensor<1x64x64x!tt.ptr<f16>, #[[ALONG]]>
tt.func @long(%p: !tt.ptr<f16>, %o: !tt.ptr<f16>, %s: i32, %t: i32 {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #r>
  %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #c>
  %i2 = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32, #r> -> tensor<1x64xi32, #rr>
  %i3 = tt.expand_dims %i2 {axis = 2 : i32} : tensor<1x64xi32, #rr> -> tensor<1x64x1xi32, #b>
  %j2 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #c> -> tensor<1x64xi32, #cc>
  %j3 = tt.expand_dims %j2 {axis = 1 : i32} : tensor<1x64xi32, #cc> -> tensor<1x1x64xi32, #b>
  %si = tt.splat %s : i32 -> tensor<1x64x1xi32, #b>
  %ti = tt.splat %t : i32 -> tensor<1x64x1xi32, #b>
  %sj = tt.splat %s : i32 -> tensor<1x1x64xi32, #b>
  %tj = tt.splat %t : i32 -> tensor<1x1x64xi32, #b>
  %near = arith.muli %i3, %si : tensor<1x64x1xi32, #b>
  %far = arith.muli %j3, %tj : tensor<1x1x64xi32, #b>
  %nears = tt.broadcast %near : tensor<1x64x1xi32, #b> -> tensor<1x64x64xi32, #b>
  %fars = tt.broadcast %far : tensor<1x1x64xi32, #b> -> tensor<1x64x64xi32, #b>
  %from = arith.addi %nears, %fars : tensor<1x64x64xi32, #b>
  %down = arith.muli %i3, %ti : tensor<1x64x1xi32, #b>
  %along = arith.muli %j3, %sj : tensor<1x1x64xi32, #b>
  %downs = tt.broadcast %down : tensor<1x64x1xi32, #b> -> tensor<1x64x64xi32, #b>
  %alongs = tt.broadcast %along : tensor<1x1x64xi32, #b> -> tensor<1x64x64xi32, #b>
  %to = arith.addi %downs, %alongs : tensor<1x64x64xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<1x64x64x!tt.ptr<f16>, #b>
  %os = tt.splat %o : !tt.ptr<f16> -> tensor<1x64x64x!tt.ptr<f16>, #b>
  %source = tt.addptr %ps, %from : tensor<1x64x64x!tt.ptr<f16>, #b>, tensor<1x64x64xi32, #b>
  %target = tt.addptr %os, %to : tensor<1x64x64x!tt.ptr<f16>, #b>, tensor<1x64x64xi32, #b>
  %v = tt.load %source : tensor<1x64x64x!tt.ptr<f16>, #b>
  tt.store %target, %v : tensor<1x64x64x!tt.ptr<f16>, #b>
  tt.return
}
}
