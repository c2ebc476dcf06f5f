// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-narrow-operand-buffers=float-words=true | FileCheck %s

// Both operands have K contiguous, and lanes take four neighbours: words of 8-bit floats. However little memory they
// take, the buffers are narrow. An operand in rows across K has no words, and integers take more instructions.
// CHECK-LABEL: @words
//       CHECK:   %[[M:.*]] = ttg.local_alloc %{{.*}} -> !ttg.memdesc<32x64xf8E4M3FN
//       CHECK:   %[[N:.*]] = ttg.local_alloc %{{.*}} -> !ttg.memdesc<64x32xf16
//       CHECK:   %[[I:.*]] = ttg.local_alloc %{{.*}} -> !ttg.memdesc<32x64xf16
//       CHECK:   %[[A8:.*]] = ttg.local_load %[[M]] : {{.*}} -> tensor<32x64xf8E4M3FN, #ttg.dot_op<{opIdx = 0
//  CHECK-NEXT:   tt.fp_to_fp %[[A8]] : {{.*}} -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 0
//       CHECK:   ttg.local_load %[[N]] : {{.*}} -> tensor<64x32xf16
//       CHECK:   ttg.local_load %[[I]] : {{.*}} -> tensor<32x64xf16
#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @words(%x: tensor<32x64xf8E4M3FN, #blocked>, %y: tensor<64x32xf8E4M3FN, #blocked>, %i: tensor<32x64xi8, #blocked>, %zero: tensor<32x32xf32, #mma>) -> (tensor<32x32xf32, #mma>, tensor<32x32xf32, #mma>) {
    %x16 = tt.fp_to_fp %x : tensor<32x64xf8E4M3FN, #blocked> -> tensor<32x64xf16, #blocked>
    %y16 = tt.fp_to_fp %y : tensor<64x32xf8E4M3FN, #blocked> -> tensor<64x32xf16, #blocked>
    %i16 = arith.sitofp %i : tensor<32x64xi8, #blocked> to tensor<32x64xf16, #blocked>
    %m = ttg.local_alloc %x16 : (tensor<32x64xf16, #blocked>) -> !ttg.memdesc<32x64xf16, #shared, #smem>
    %n = ttg.local_alloc %y16 : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
    %o = ttg.local_alloc %i16 : (tensor<32x64xf16, #blocked>) -> !ttg.memdesc<32x64xf16, #shared, #smem>
    %a = ttg.local_load %m : !ttg.memdesc<32x64xf16, #shared, #smem> -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
    %b = ttg.local_load %n : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
    %c = ttg.local_load %o : !ttg.memdesc<32x64xf16, #shared, #smem> -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
    %d = tt.dot %a, %b, %zero : tensor<32x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<64x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<32x32xf32, #mma>
    %e = tt.dot %c, %b, %zero : tensor<32x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<64x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<32x32xf32, #mma>
    tt.return %d, %e : tensor<32x32xf32, #mma>, tensor<32x32xf32, #mma>
  }
}
