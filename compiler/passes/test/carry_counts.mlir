// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-carry-counts --canonicalize | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {

// A mean by Welford's algorithm. All elements have the same count.
// CHECK-LABEL: @welford
//       CHECK:   %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[COUNT:.*]] = %{{.*}}) -> (tensor<512xf32, {{.*}}>, f32)
//       CHECK:     tt.splat %[[COUNT]] : f32
//       CHECK:     %[[NEXT:.*]] = arith.addf %[[COUNT]], %{{.*}} : f32
//       CHECK:     scf.yield %{{.*}}, %[[NEXT]]
//       CHECK:   tt.splat %[[LOOP]]#1 : f32
tt.func @welford(%p: tensor<512x!tt.ptr<f32>, #b>, %n: i32) -> (tensor<512xf32, #b>, tensor<512xf32, #b>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<512xf32, #b>
  %one = arith.constant dense<1.000000e+00> : tensor<512xf32, #b>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%mean = %zero, %count = %zero) -> (tensor<512xf32, #b>, tensor<512xf32, #b>) : i32 {
    %v = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    %next = arith.addf %count, %one : tensor<512xf32, #b>
    %d = arith.subf %v, %mean : tensor<512xf32, #b>
    %q = arith.divf %d, %next : tensor<512xf32, #b>
    %m = arith.addf %mean, %q : tensor<512xf32, #b>
    scf.yield %m, %next : tensor<512xf32, #b>, tensor<512xf32, #b>
  }
  tt.return %r#0, %r#1 : tensor<512xf32, #b>, tensor<512xf32, #b>
}

// Where a mask leaves some out, counts differ.
// CHECK-LABEL: @masked
//       CHECK:   scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<512xf32, {{.*}}>)
//   CHECK-NOT:   tt.splat
tt.func @masked(%mask: tensor<512xi1, #b>, %n: i32) -> tensor<512xf32, #b> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<512xf32, #b>
  %one = arith.constant dense<1.000000e+00> : tensor<512xf32, #b>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%count = %zero) -> (tensor<512xf32, #b>) : i32 {
    %more = arith.addf %count, %one : tensor<512xf32, #b>
    %next = arith.select %mask, %more, %count : tensor<512xi1, #b>, tensor<512xf32, #b>
    scf.yield %next : tensor<512xf32, #b>
  }
  tt.return %r : tensor<512xf32, #b>
}
}
