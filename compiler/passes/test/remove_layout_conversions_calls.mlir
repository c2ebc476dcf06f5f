// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --split-input-file --ttg-remove-layout-conversions | FileCheck %s

// A power takes longer than the exchange of its results, a root does not.
#a = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#t = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @power
// CHECK-COUNT-1: "__nv_powf"
//     CHECK-NOT: tt.extern_elementwise
//         CHECK: ttg.convert_layout
tt.func @power(%p: tensor<256x!tt.ptr<f32>, #a>, %q: tensor<256x!tt.ptr<f32>, #t>, %y: f32) {
  %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #a>
  %f = arith.sitofp %r : tensor<256xi32, #a> to tensor<256xf32, #a>
  %s = tt.splat %y : f32 -> tensor<256xf32, #a>
  %e = tt.extern_elementwise %f, %s {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<256xf32, #a>, tensor<256xf32, #a>) -> tensor<256xf32, #a>
  tt.store %p, %e : tensor<256x!tt.ptr<f32>, #a>
  %h = ttg.convert_layout %e : tensor<256xf32, #a> -> tensor<256xf32, #t>
  tt.store %q, %h : tensor<256x!tt.ptr<f32>, #t>
  tt.return
}

// CHECK-LABEL: @root
// CHECK-COUNT-2: "__nv_rsqrtf"
//     CHECK-NOT: ttg.convert_layout
tt.func @root(%p: tensor<256x!tt.ptr<f32>, #a>, %q: tensor<256x!tt.ptr<f32>, #t>) {
  %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #a>
  %f = arith.sitofp %r : tensor<256xi32, #a> to tensor<256xf32, #a>
  %e = tt.extern_elementwise %f {libname = "", libpath = "", pure = true, symbol = "__nv_rsqrtf"} : (tensor<256xf32, #a>) -> tensor<256xf32, #a>
  tt.store %p, %e : tensor<256x!tt.ptr<f32>, #a>
  %h = ttg.convert_layout %e : tensor<256xf32, #a> -> tensor<256xf32, #t>
  tt.store %q, %h : tensor<256x!tt.ptr<f32>, #t>
  tt.return
}
}

// -----

// Under #mma two warps would each have a power: 4 of 8 warps have all rows of the tile. The sums are converted instead.
// A root is short, so that warps may share it.
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 8]}>
// CHECK-DAG: #[[ROWS:.+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16]
// CHECK-DAG: #[[MMA:.+]] = #ttg.nvidia_mma
module attributes {"ttg.num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @powers_of_rows
//       CHECK: "__nv_powf"}{{.*}} -> tensor<32x32xf32, #[[ROWS]]>
//       CHECK: tt.reduce
//       CHECK: ttg.convert_layout %{{.*}} : tensor<32xf32, {{.*}}> -> tensor<32xf32, {{.*}}#[[MMA]]}>>
tt.func @powers_of_rows(%sums: tensor<32x16xf32, #mma>, %y: f32) -> tensor<32x16xf32, #mma> {
  %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
  %f = arith.sitofp %r : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> to tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows}>>
  %x = tt.expand_dims %f {axis = 0 : i32} : tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xf32, #rows>
  %b = tt.broadcast %x : tensor<1x32xf32, #rows> -> tensor<32x32xf32, #rows>
  %s = tt.splat %y : f32 -> tensor<32x32xf32, #rows>
  %e = tt.extern_elementwise %b, %s {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<32x32xf32, #rows>, tensor<32x32xf32, #rows>) -> tensor<32x32xf32, #rows>
  %w = arith.mulf %e, %s : tensor<32x32xf32, #rows>
  %sum = "tt.reduce"(%w) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %h: f32):
    %a = arith.addf %l, %h : f32
    tt.reduce.return %a : f32
  }) : (tensor<32x32xf32, #rows>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
  %c = ttg.convert_layout %sum : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #mma}>>
  %c1 = tt.expand_dims %c {axis = 1 : i32} : tensor<32xf32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<32x1xf32, #mma>
  %c2 = tt.broadcast %c1 : tensor<32x1xf32, #mma> -> tensor<32x16xf32, #mma>
  %d = arith.addf %sums, %c2 : tensor<32x16xf32, #mma>
  tt.return %d : tensor<32x16xf32, #mma>
}

// CHECK-LABEL: @roots_of_rows
//       CHECK: "__nv_rsqrtf"}{{.*}} -> tensor<32x32xf32, #[[MMA]]>
//   CHECK-NOT: ttg.convert_layout
tt.func @roots_of_rows(%sums: tensor<32x16xf32, #mma>) -> tensor<32x16xf32, #mma> {
  %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
  %f = arith.sitofp %r : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> to tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows}>>
  %x = tt.expand_dims %f {axis = 0 : i32} : tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xf32, #rows>
  %b = tt.broadcast %x : tensor<1x32xf32, #rows> -> tensor<32x32xf32, #rows>
  %e = tt.extern_elementwise %b {libname = "", libpath = "", pure = true, symbol = "__nv_rsqrtf"} : (tensor<32x32xf32, #rows>) -> tensor<32x32xf32, #rows>
  %sum = "tt.reduce"(%e) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %h: f32):
    %a = arith.addf %l, %h : f32
    tt.reduce.return %a : f32
  }) : (tensor<32x32xf32, #rows>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
  %c = ttg.convert_layout %sum : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #mma}>>
  %c1 = tt.expand_dims %c {axis = 1 : i32} : tensor<32xf32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<32x1xf32, #mma>
  %c2 = tt.broadcast %c1 : tensor<32x1xf32, #mma> -> tensor<32x16xf32, #mma>
  %d = arith.addf %sums, %c2 : tensor<32x16xf32, #mma>
  tt.return %d : tensor<32x16xf32, #mma>
}
}
