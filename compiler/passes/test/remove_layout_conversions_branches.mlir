// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-remove-layout-conversions | FileCheck %s
// Conversions of what branches give.

// The conversion that goes is the operation after the branch.
// CHECK-LABEL: @sums_in_a_branch
//       CHECK:   %[[R:.*]] = scf.if
//       CHECK:     %[[S:.*]] = "tt.reduce"
//       CHECK:     %[[C:.*]] = ttg.convert_layout %[[S]]
//  CHECK-NEXT:     scf.yield %[[C]]
//   CHECK-NOT:   ttg.convert_layout
//       CHECK:   tt.store %{{.*}}, %[[R]]
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#many = #ttg.slice<{dim = 1, parent = #blocked}>
#few = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @sums_in_a_branch(%c: i1, %p: tensor<128x128x!tt.ptr<f32>, #blocked>, %q: tensor<128x!tt.ptr<f32>, #few>) {
    %zero = arith.constant dense<0.0> : tensor<128xf32, #many>
    %r = scf.if %c -> (tensor<128xf32, #many>) {
      %x = tt.load %p : tensor<128x128x!tt.ptr<f32>, #blocked>
      %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %t = arith.addf %a, %b : f32
        tt.reduce.return %t : f32
      }) : (tensor<128x128xf32, #blocked>) -> tensor<128xf32, #many>
      scf.yield %s : tensor<128xf32, #many>
    } else {
      scf.yield %zero : tensor<128xf32, #many>
    }
    %y = ttg.convert_layout %r : tensor<128xf32, #many> -> tensor<128xf32, #few>
    tt.store %q, %y : tensor<128x!tt.ptr<f32>, #few>
    tt.return
  }
}
