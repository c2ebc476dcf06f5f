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
