// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm=target=xpu:pvc | FileCheck %s

// Two steps along K; the accumulators go from one to the other.
// CHECK-LABEL: llvm.func @halves
//       CHECK:   %[[S0:.*]] = llvm.call @_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f({{.*}}) : (vector<8xi16>, vector<8xi32>, vector<8xf32>) -> vector<8xf32>
//       CHECK:   llvm.call @_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f(
//   CHECK-NOT:   llvm.call @_Z38
#dpas = #ttg.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, threadsPerWarp = 16, warpsPerCTA = [1, 1], repCluster = [1, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #dpas, kWidth = 1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #dpas, kWidth = 2}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @halves(%p: !tt.ptr<f32>) {
    %x = arith.constant dense<1.0> : tensor<8x32xf16, #a>
    %y = arith.constant dense<2.0> : tensor<32x16xf16, #b>
    %z = arith.constant dense<0.0> : tensor<8x16xf32, #dpas>
    %d = tt.dot %x, %y, %z : tensor<8x32xf16, #a> * tensor<32x16xf16, #b> -> tensor<8x16xf32, #dpas>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>, #dpas>
    tt.store %q, %d : tensor<8x16x!tt.ptr<f32>, #dpas>
    tt.return
  }
}

// -----

// Bytes, two or four to a word.
// CHECK-LABEL: llvm.func @bytes
//       CHECK:   llvm.call @_Z36intel_sub_group_i8_i8_matrix_mad_k32Dv8_sDv8_iS0_({{.*}}) : (vector<8xi16>, vector<8xi32>, vector<8xi32>) -> vector<8xi32>
#dpas = #ttg.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 4, threadsPerWarp = 16, warpsPerCTA = [1, 1], repCluster = [1, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #dpas, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #dpas, kWidth = 4}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @bytes(%p: !tt.ptr<i32>) {
    %x = arith.constant dense<1> : tensor<8x32xi8, #a>
    %y = arith.constant dense<2> : tensor<32x16xi8, #b>
    %z = arith.constant dense<0> : tensor<8x16xi32, #dpas>
    %d = tt.dot %x, %y, %z : tensor<8x32xi8, #a> * tensor<32x16xi8, #b> -> tensor<8x16xi32, #dpas>
    %q = tt.splat %p : !tt.ptr<i32> -> tensor<8x16x!tt.ptr<i32>, #dpas>
    tt.store %q, %d : tensor<8x16x!tt.ptr<i32>, #dpas>
    tt.return
  }
}

// -----

// A tile of one row has scalars, and one of two rows of tf32 a scalar of a.
// CHECK-LABEL: llvm.func @small
//       CHECK:   llvm.call @_Z38intel_sub_group_f16_f16_matrix_mad_k16sDv8_if({{.*}}) : (i16, vector<8xi32>, f32) -> f32
//       CHECK:   llvm.call @_Z39intel_sub_group_tf32_tf32_matrix_mad_k8fDv8_fDv2_f({{.*}}) : (f32, vector<8xf32>, vector<2xf32>) -> vector<2xf32>
//       CHECK:   llvm.call @_Z39intel_sub_group_tf32_tf32_matrix_mad_k8Dv4_fDv8_fS0_({{.*}}) : (vector<4xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
#one = #ttg.dpas<{repeatCount = 1, systolicDepth = 8, executionSize = 16, opsPerChan = 2, threadsPerWarp = 16, warpsPerCTA = [1, 1], repCluster = [1, 1]}>
#two = #ttg.dpas<{repeatCount = 2, systolicDepth = 8, executionSize = 16, opsPerChan = 1, threadsPerWarp = 16, warpsPerCTA = [1, 1], repCluster = [1, 1]}>
#eight = #ttg.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 1, threadsPerWarp = 16, warpsPerCTA = [1, 1], repCluster = [1, 1]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @small(%p: !tt.ptr<f32>) {
    %x = arith.constant dense<1.0> : tensor<1x16xf16, #ttg.dot_op<{opIdx = 0, parent = #one, kWidth = 1}>>
    %y = arith.constant dense<2.0> : tensor<16x16xf16, #ttg.dot_op<{opIdx = 1, parent = #one, kWidth = 2}>>
    %z = arith.constant dense<0.0> : tensor<1x16xf32, #one>
    %d = tt.dot %x, %y, %z : tensor<1x16xf16, #ttg.dot_op<{opIdx = 0, parent = #one, kWidth = 1}>> * tensor<16x16xf16, #ttg.dot_op<{opIdx = 1, parent = #one, kWidth = 2}>> -> tensor<1x16xf32, #one>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<1x16x!tt.ptr<f32>, #one>
    tt.store %q, %d : tensor<1x16x!tt.ptr<f32>, #one>
    %x2 = arith.constant dense<1.0> : tensor<1x8xf32, #ttg.dot_op<{opIdx = 0, parent = #two, kWidth = 1}>>
    %y2 = arith.constant dense<2.0> : tensor<8x16xf32, #ttg.dot_op<{opIdx = 1, parent = #two, kWidth = 1}>>
    %z2 = arith.constant dense<0.0> : tensor<1x16xf32, #two>
    %d2 = tt.dot %x2, %y2, %z2, inputPrecision = tf32 : tensor<1x8xf32, #ttg.dot_op<{opIdx = 0, parent = #two, kWidth = 1}>> * tensor<8x16xf32, #ttg.dot_op<{opIdx = 1, parent = #two, kWidth = 1}>> -> tensor<1x16xf32, #two>
    %q2 = tt.splat %p : !tt.ptr<f32> -> tensor<1x16x!tt.ptr<f32>, #two>
    tt.store %q2, %d2 : tensor<1x16x!tt.ptr<f32>, #two>
    %x8 = arith.constant dense<1.0> : tensor<8x8xf32, #ttg.dot_op<{opIdx = 0, parent = #eight, kWidth = 1}>>
    %y8 = arith.constant dense<2.0> : tensor<8x16xf32, #ttg.dot_op<{opIdx = 1, parent = #eight, kWidth = 1}>>
    %z8 = arith.constant dense<0.0> : tensor<8x16xf32, #eight>
    %d8 = tt.dot %x8, %y8, %z8, inputPrecision = tf32 : tensor<8x8xf32, #ttg.dot_op<{opIdx = 0, parent = #eight, kWidth = 1}>> * tensor<8x16xf32, #ttg.dot_op<{opIdx = 1, parent = #eight, kWidth = 1}>> -> tensor<8x16xf32, #eight>
    %q8 = tt.splat %p : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>, #eight>
    tt.store %q8, %d8 : tensor<8x16x!tt.ptr<f32>, #eight>
    tt.return
  }
}
