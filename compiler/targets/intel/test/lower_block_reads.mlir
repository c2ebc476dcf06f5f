// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm=target=xpu:pvc | FileCheck %s

// The surface begins at the line of 64 bytes before the warp's first element.
// CHECK-LABEL: llvm.func @plain
//       CHECK:   llvm.call @_Z17sub_group_shufflejj(
//       CHECK:   %[[WORDS:.*]] = llvm.alloca %{{.*}} x !llvm.array<16 x i16>
//       CHECK:   %[[ADDRESS:.*]] = llvm.ptrtoint %[[FIRST:[^ ]*]] : !llvm.ptr<1> to i64
//       CHECK:   %[[BASE:.*]] = llvm.getelementptr %[[FIRST]][%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
//       CHECK:   llvm.call @_Z41intel_sub_group_2d_block_read_16b_8r16x2cPU3AS1viiiDv2_iPt(%[[BASE]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[WORDS]])
//       CHECK:   llvm.load %[[WORDS]] {{.*}} -> vector<16xi16>
//       CHECK:   llvm.call @_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f(
#dpas = #ttg.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, threadsPerWarp = 16, warpsPerCTA = [2, 1], repCluster = [1, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #dpas, kWidth = 1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #dpas, kWidth = 2}>
module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @plain(%p: !tt.ptr<f16>, %out: !tt.ptr<f32>, %pitch: i64) {
    %x = ttig.block_read %p, %pitch {contiguous = 1 : i32} : <f16> -> tensor<16x32xf16, #a>
    %y = arith.constant dense<2.0> : tensor<32x16xf16, #b>
    %z = arith.constant dense<0.0> : tensor<16x16xf32, #dpas>
    %d = tt.dot %x, %y, %z : tensor<16x32xf16, #a> * tensor<32x16xf16, #b> -> tensor<16x16xf32, #dpas>
    %q = tt.splat %out : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>, #dpas>
    tt.store %q, %d : tensor<16x16x!tt.ptr<f32>, #dpas>
    tt.return
  }
}

// -----

// Limits are the surface's height and width. Where the width would be less than 64 bytes, 64 more come in front.
// CHECK-LABEL: llvm.func @limited
//       CHECK:   llvm.call_intrinsic "llvm.smax"
//       CHECK:   llvm.icmp "ult"
//       CHECK:   llvm.select
//       CHECK:   llvm.call @_Z51intel_sub_group_2d_block_read_transpose_32b_16r8x1cPU3AS1viiiDv2_iPj(
#dpas = #ttg.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, threadsPerWarp = 16, warpsPerCTA = [1, 1], repCluster = [1, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #dpas, kWidth = 1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #dpas, kWidth = 2}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @limited(%p: !tt.ptr<f16>, %out: !tt.ptr<f32>, %pitch: i64, %k: i64, %n: i64) {
    %x = arith.constant dense<2.0> : tensor<8x16xf16, #a>
    %y = ttig.block_read %p, %pitch below %k, %n {contiguous = 0 : i32} : <f16> -> tensor<16x16xf16, #b>
    %z = arith.constant dense<0.0> : tensor<8x16xf32, #dpas>
    %d = tt.dot %x, %y, %z : tensor<8x16xf16, #a> * tensor<16x16xf16, #b> -> tensor<8x16xf32, #dpas>
    %q = tt.splat %out : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>, #dpas>
    tt.store %q, %d : tensor<8x16x!tt.ptr<f32>, #dpas>
    tt.return
  }
}
