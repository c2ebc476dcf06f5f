// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-sink-layout-conversions | FileCheck %s

// Both branches convert from one encoding: one conversion, after. The constant takes the encoding of the other branch.
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @both
  //  CHECK-SAME:   %{{.*}}: i1, %[[X:.*]]: tensor<512xf32, #[[A:[a-z0-9]+]]>
  //       CHECK:   %[[R:.*]]:2 = scf.if
  //   CHECK-NOT:     ttg.convert_layout
  //       CHECK:     scf.yield %[[Y:.*]], %[[X]] : tensor<512xf32, #[[A]]>, tensor<512xf32, #[[A]]>
  //       CHECK:   } else {
  //       CHECK:     %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<512xf32, #[[A]]>
  //       CHECK:     scf.yield %[[X]], %[[ZERO]] : tensor<512xf32, #[[A]]>, tensor<512xf32, #[[A]]>
  // CHECK-COUNT-2:   ttg.convert_layout %[[R]]#{{.}} : tensor<512xf32, #[[A]]>
  //       CHECK:   tt.return
  tt.func @both(%c: i1, %x: tensor<512xf32, #a>) -> (tensor<512xf32, #b>, tensor<512xf32, #b>) {
    %zero = arith.constant dense<0.0> : tensor<512xf32, #b>
    %r:2 = scf.if %c -> (tensor<512xf32, #b>, tensor<512xf32, #b>) {
      %y = arith.addf %x, %x : tensor<512xf32, #a>
      %u = ttg.convert_layout %y : tensor<512xf32, #a> -> tensor<512xf32, #b>
      %v = ttg.convert_layout %x : tensor<512xf32, #a> -> tensor<512xf32, #b>
      scf.yield %u, %v : tensor<512xf32, #b>, tensor<512xf32, #b>
    } else {
      %u = ttg.convert_layout %x : tensor<512xf32, #a> -> tensor<512xf32, #b>
      scf.yield %u, %zero : tensor<512xf32, #b>, tensor<512xf32, #b>
    }
    tt.return %r#0, %r#1 : tensor<512xf32, #b>, tensor<512xf32, #b>
  }
}

// -----

// Stays: another source, a branch that computes under the result's encoding, a conversion used inside as well, and
// branches that convert nothing.
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#c = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @stays
  //       CHECK:   scf.if
  // CHECK-COUNT-3:   ttg.convert_layout
  //       CHECK:   } else {
  // CHECK-COUNT-2:   ttg.convert_layout
  //       CHECK:     scf.yield
  //   CHECK-NOT:   ttg.convert_layout
  tt.func @stays(%k: i1, %x: tensor<512xf32, #a>, %y: tensor<512xf32, #b>, %z: tensor<512xf32, #c>,
                 %p: tensor<512x!tt.ptr<f32>, #b>)
      -> (tensor<512xf32, #b>, tensor<512xf32, #b>, tensor<512xf32, #b>, tensor<512xf32, #b>) {
    %zero = arith.constant dense<0.0> : tensor<512xf32, #b>
    %r:4 = scf.if %k -> (tensor<512xf32, #b>, tensor<512xf32, #b>, tensor<512xf32, #b>, tensor<512xf32, #b>) {
      %s = ttg.convert_layout %x : tensor<512xf32, #a> -> tensor<512xf32, #b>
      %t = ttg.convert_layout %x : tensor<512xf32, #a> -> tensor<512xf32, #b>
      %u = ttg.convert_layout %x : tensor<512xf32, #a> -> tensor<512xf32, #b>
      tt.store %p, %u : tensor<512x!tt.ptr<f32>, #b>
      scf.yield %s, %t, %u, %zero : tensor<512xf32, #b>, tensor<512xf32, #b>, tensor<512xf32, #b>, tensor<512xf32, #b>
    } else {
      %s = ttg.convert_layout %z : tensor<512xf32, #c> -> tensor<512xf32, #b>
      %u = ttg.convert_layout %x : tensor<512xf32, #a> -> tensor<512xf32, #b>
      scf.yield %s, %y, %u, %zero : tensor<512xf32, #b>, tensor<512xf32, #b>, tensor<512xf32, #b>, tensor<512xf32, #b>
    }
    tt.return %r#0, %r#1, %r#2, %r#3 : tensor<512xf32, #b>, tensor<512xf32, #b>, tensor<512xf32, #b>, tensor<512xf32, #b>
  }
}
