// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm=target=xpu:pvc | FileCheck %s
// RUN: not triton-opt %s -split-input-file --lower-to-llvm=target=xpu:dg2 2>&1 | FileCheck %s --check-prefix=DG2

// LLVM's intrinsics where there are some, OpenCL's functions elsewhere; other vendors' functions by what they compute.
// CHECK-LABEL: llvm.func @functions
//       CHECK:   llvm.call_intrinsic "llvm.exp2"
//       CHECK:   llvm.call @_Z3erff(
//       CHECK:   llvm.fdiv {{.*}} : f32
//       CHECK:   llvm.call @_Z10native_expf(
//       CHECK:   llvm.call @_Z5ldexpfi(
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @functions(%p: !tt.ptr<f32>, %x: f32, %n: i32) {
    %a = math.exp2 %x : f32
    %b = math.erf %a : f32
    %c = arith.divf %b, %x : f32
    %d = tt.extern_elementwise %c {libname = "", libpath = "", pure = true, symbol = "__nv_fast_expf"} : (f32) -> f32
    %e = tt.extern_elementwise %d, %n {libname = "", libpath = "", pure = true, symbol = "__nv_ldexpf"} : (f32, i32) -> f32
    tt.store %p, %e : !tt.ptr<f32>
    tt.return
  }
}

// -----

// Rounded correctly: through f64, which dg2 lacks.
// CHECK-LABEL: llvm.func @precise
//       CHECK:   llvm.fdiv {{.*}} : f64
//       CHECK:   llvm.fptrunc {{.*}} : f64 to f32
//       CHECK:   llvm.intr.sqrt({{.*}}) : (f64) -> f64
// DG2: error: dg2 has no f64, which tt.precise_divf needs to be rounded correctly
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @precise(%p: !tt.ptr<f32>, %x: f32) {
    %a = tt.precise_divf %x, %x : f32
    %b = tt.precise_sqrt %a : f32
    tt.store %p, %b : !tt.ptr<f32>
    tt.return
  }
}

// -----

// Upper halves of products: by twice the width, but of i64 by a function.
// CHECK-LABEL: llvm.func @upper_halves
//       CHECK:   llvm.mul {{.*}} : i64
//       CHECK:   llvm.call @_Z6mul_himm(
//       CHECK:   llvm.mul {{.*}} : i64
//       CHECK:   llvm.call @_Z6mul_hill(
//   CHECK-NOT:   i128
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @upper_halves(%p: !tt.ptr<i32>, %q: !tt.ptr<i64>, %x: i32, %y: i64) {
    %a = tt.mulhiui %x, %x : i32
    %b = tt.mulhiui %y, %y : i64
    %low, %high = arith.mulsi_extended %b, %y : i64
    tt.store %p, %a : !tt.ptr<i32>
    tt.store %q, %low : !tt.ptr<i64>
    tt.store %q, %high : !tt.ptr<i64>
    tt.return
  }
}
