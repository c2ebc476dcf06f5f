// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-coalesce | FileCheck %s

// Each version decides for itself, also those inside the branch of another one.
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[EIGHT:.+]] = #ttg.blocked<{sizePerThread = [8]
// CHECK-DAG: #[[TWO:.+]] = #ttg.blocked<{sizePerThread = [2]
// CHECK-DAG: #[[ONE:.+]] = #ttg.blocked<{sizePerThread = [1]
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @three
// CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f16>, #[[EIGHT]]>
// CHECK: } else {
// CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f16>, #[[TWO]]>
// CHECK: } else {
// CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f16>, #[[ONE]]>
tt.func public @three(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %eight: i1, %two: i1) {
  %c8 = arith.constant -8 : i32
  %c2 = arith.constant -2 : i32
  %zero = arith.constant dense<0.0> : tensor<1024xf16, #b>
  %n8 = arith.andi %n, %c8 : i32
  scf.if %eight {
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
    %row = tt.addptr %p, %n8 : !tt.ptr<f16>, i32
    %s = tt.splat %row : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #b>
    %q = tt.addptr %s, %r : tensor<1024x!tt.ptr<f16>, #b>, tensor<1024xi32, #b>
    tt.store %q, %zero : tensor<1024x!tt.ptr<f16>, #b>
  } else {
    %n2 = arith.andi %n, %c2 : i32
    scf.if %two {
      %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
      %row = tt.addptr %p, %n2 : !tt.ptr<f16>, i32
      %s = tt.splat %row : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #b>
      %q = tt.addptr %s, %r : tensor<1024x!tt.ptr<f16>, #b>, tensor<1024xi32, #b>
      tt.store %q, %zero : tensor<1024x!tt.ptr<f16>, #b>
    } else {
      %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
      %row = tt.addptr %p, %n : !tt.ptr<f16>, i32
      %s = tt.splat %row : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #b>
      %q = tt.addptr %s, %r : tensor<1024x!tt.ptr<f16>, #b>, tensor<1024xi32, #b>
      tt.store %q, %zero : tensor<1024x!tt.ptr<f16>, #b>
    }
  }
  tt.return
}
}
