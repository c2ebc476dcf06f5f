// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-coalesce | FileCheck %s

// The load of bytes goes to a dot alone: it takes 16 bytes a thread, though the store of its shape takes 16 bytes of
// twice as wide elements.
// CHECK-DAG: #[[BYTES:.*]] = #ttg.blocked<{sizePerThread = [1, 16],
// CHECK-DAG: #[[HALVES:.*]] = #ttg.blocked<{sizePerThread = [1, 8],
// CHECK-LABEL: @operand
//       CHECK:   tt.load %{{.*}} : tensor<128x128x!tt.ptr<f8E4M3FN>, #[[BYTES]]>
//       CHECK:   tt.store %{{.*}} : tensor<128x128x!tt.ptr<f16>, #[[HALVES]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @operand(%p: tensor<128x128x!tt.ptr<f8E4M3FN>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %q: tensor<128x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %c: tensor<128x128xf32, #blocked>, %v: tensor<128x128xf16, #blocked>) -> tensor<128x128xf32, #blocked> {
    %x = tt.load %p : tensor<128x128x!tt.ptr<f8E4M3FN>, #blocked>
    %xa = ttg.convert_layout %x : tensor<128x128xf8E4M3FN, #blocked> -> tensor<128x128xf8E4M3FN, #a>
    %xb = ttg.convert_layout %x : tensor<128x128xf8E4M3FN, #blocked> -> tensor<128x128xf8E4M3FN, #b>
    %d = tt.dot %xa, %xb, %c : tensor<128x128xf8E4M3FN, #a> * tensor<128x128xf8E4M3FN, #b> -> tensor<128x128xf32, #blocked>
    tt.store %q, %v : tensor<128x128x!tt.ptr<f16>, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }
}
