// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file "--ttg-coalesce=cache-ratio=7 reads-whole-words=1" | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-coalesce=cache-ratio=7 | FileCheck %s --check-prefix=ALONE

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[EIGHT:.+]] = #ttg.blocked<{sizePerThread = [8]
// ALONE-NOT: sizePerThread = [8]
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {

// Nothing is known of where the row begins. A thread takes eight neighbours, as five words.
// CHECK-LABEL: @row
// CHECK: tt.load {{.*}} : tensor<2048x!tt.ptr<f16>, #[[EIGHT]]>
tt.func @row(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>) {
  %r = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>, #b>
  %a = tt.addptr %ps, %r : tensor<2048x!tt.ptr<f16>, #b>, tensor<2048xi32, #b>
  %x = tt.load %a : tensor<2048x!tt.ptr<f16>, #b>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%l: f16, %m: f16):
    %lm = arith.addf %l, %m : f16
    tt.reduce.return %lm : f16
  }) : (tensor<2048xf16, #b>) -> f16
  tt.store %q, %s : !tt.ptr<f16>
  tt.return
}
}

// -----

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-NOT: sizePerThread = [8]
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {

// Stores of such rows go element by element, and holes between lanes would cost more.
// CHECK-LABEL: @copy
// CHECK: tt.load
tt.func @copy(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>) {
  %r = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>, #b>
  %a = tt.addptr %ps, %r : tensor<2048x!tt.ptr<f16>, #b>, tensor<2048xi32, #b>
  %x = tt.load %a : tensor<2048x!tt.ptr<f16>, #b>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>, #b>
  %c = tt.addptr %qs, %r : tensor<2048x!tt.ptr<f16>, #b>, tensor<2048xi32, #b>
  tt.store %c, %x : tensor<2048x!tt.ptr<f16>, #b>
  tt.return
}
}
