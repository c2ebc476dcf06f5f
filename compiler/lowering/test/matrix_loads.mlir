// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=cuda:90 | FileCheck %s

// Operand a, K together in memory: one load of four matrices is one fragment.
// CHECK-LABEL: llvm.func internal @straight
//       CHECK:   "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3"
//   CHECK-NOT:   ldmatrix
// Operand b, N together in memory: transposed.
// CHECK-LABEL: llvm.func internal @transposed
//       CHECK:   "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3"
//   CHECK-NOT:   ldmatrix
// Bytes cannot be transposed: single loads.
// CHECK-LABEL: llvm.func internal @bytes
//   CHECK-NOT:   ldmatrix
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 2], warpsPerCTA = [1, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 4, maxPhase = 2, order = [1, 0]}>
#flat = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @straight(%x: tensor<16x16xf16, #blocked>) -> tensor<16x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> {
    %m = ttg.local_alloc %x : (tensor<16x16xf16, #blocked>) -> !ttg.memdesc<16x16xf16, #shared, #smem>
    %y = ttg.local_load %m : !ttg.memdesc<16x16xf16, #shared, #smem> -> tensor<16x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    tt.return %y : tensor<16x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
  }
  tt.func private @transposed(%x: tensor<16x8xf16, #blocked>) -> tensor<16x8xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> {
    %m = ttg.local_alloc %x : (tensor<16x8xf16, #blocked>) -> !ttg.memdesc<16x8xf16, #flat, #smem>
    %y = ttg.local_load %m : !ttg.memdesc<16x8xf16, #flat, #smem> -> tensor<16x8xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
    tt.return %y : tensor<16x8xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
  }
  tt.func private @bytes(%x: tensor<32x8xi8, #blocked>) -> tensor<32x8xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> {
    %m = ttg.local_alloc %x : (tensor<32x8xi8, #blocked>) -> !ttg.memdesc<32x8xi8, #flat, #smem>
    %y = ttg.local_load %m : !ttg.memdesc<32x8xi8, #flat, #smem> -> tensor<32x8xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
    tt.return %y : tensor<32x8xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
  }
}
