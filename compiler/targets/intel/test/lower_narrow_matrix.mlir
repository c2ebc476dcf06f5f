// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm=target=xpu:dg2:8 | FileCheck %s

// In sub-groups of 8 a lane has two halves of each row of a, in a word of 32 bits. A tile of one row has a scalar.
// CHECK-LABEL: llvm.func @halves
//       CHECK:   llvm.call @_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_iS_Dv8_f({{.*}}) : (vector<8xi32>, vector<8xi32>, vector<8xf32>) -> vector<8xf32>
//       CHECK:   llvm.call @_Z38intel_sub_group_f16_f16_matrix_mad_k16iDv8_if({{.*}}) : (i32, vector<8xi32>, f32) -> f32
#eight = #ttg.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 8, opsPerChan = 2, threadsPerWarp = 8, warpsPerCTA = [1, 1], repCluster = [1, 1]}>
#one = #ttg.dpas<{repeatCount = 1, systolicDepth = 8, executionSize = 8, opsPerChan = 2, threadsPerWarp = 8, warpsPerCTA = [1, 1], repCluster = [1, 1]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 8 : i32} {
  tt.func public @halves(%p: !tt.ptr<f32>) {
    %x = arith.constant dense<1.0> : tensor<8x16xf16, #ttg.dot_op<{opIdx = 0, parent = #eight, kWidth = 2}>>
    %y = arith.constant dense<2.0> : tensor<16x8xf16, #ttg.dot_op<{opIdx = 1, parent = #eight, kWidth = 2}>>
    %z = arith.constant dense<0.0> : tensor<8x8xf32, #eight>
    %d = tt.dot %x, %y, %z : tensor<8x16xf16, #ttg.dot_op<{opIdx = 0, parent = #eight, kWidth = 2}>> * tensor<16x8xf16, #ttg.dot_op<{opIdx = 1, parent = #eight, kWidth = 2}>> -> tensor<8x8xf32, #eight>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<8x8x!tt.ptr<f32>, #eight>
    tt.store %q, %d : tensor<8x8x!tt.ptr<f32>, #eight>
    %x1 = arith.constant dense<1.0> : tensor<1x16xf16, #ttg.dot_op<{opIdx = 0, parent = #one, kWidth = 2}>>
    %y1 = arith.constant dense<2.0> : tensor<16x8xf16, #ttg.dot_op<{opIdx = 1, parent = #one, kWidth = 2}>>
    %z1 = arith.constant dense<0.0> : tensor<1x8xf32, #one>
    %d1 = tt.dot %x1, %y1, %z1 : tensor<1x16xf16, #ttg.dot_op<{opIdx = 0, parent = #one, kWidth = 2}>> * tensor<16x8xf16, #ttg.dot_op<{opIdx = 1, parent = #one, kWidth = 2}>> -> tensor<1x8xf32, #one>
    %q1 = tt.splat %p : !tt.ptr<f32> -> tensor<1x8x!tt.ptr<f32>, #one>
    tt.store %q1, %d1 : tensor<1x8x!tt.ptr<f32>, #one>
    tt.return
  }
}

// -----

// Four bytes.
// CHECK-LABEL: llvm.func @bytes
//       CHECK:   llvm.call @_Z36intel_sub_group_i8_i8_matrix_mad_k32Dv8_iS_S_({{.*}}) : (vector<8xi32>, vector<8xi32>, vector<8xi32>) -> vector<8xi32>
#dpas = #ttg.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 8, opsPerChan = 4, threadsPerWarp = 8, warpsPerCTA = [1, 1], repCluster = [1, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #dpas, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #dpas, kWidth = 4}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 8 : i32} {
  tt.func public @bytes(%p: !tt.ptr<i32>) {
    %x = arith.constant dense<1> : tensor<8x32xi8, #a>
    %y = arith.constant dense<2> : tensor<32x8xi8, #b>
    %z = arith.constant dense<0> : tensor<8x8xi32, #dpas>
    %d = tt.dot %x, %y, %z : tensor<8x32xi8, #a> * tensor<32x8xi8, #b> -> tensor<8x8xi32, #dpas>
    %q = tt.splat %p : !tt.ptr<i32> -> tensor<8x8x!tt.ptr<i32>, #dpas>
    tt.store %q, %d : tensor<8x8x!tt.ptr<i32>, #dpas>
    tt.return
  }
}
