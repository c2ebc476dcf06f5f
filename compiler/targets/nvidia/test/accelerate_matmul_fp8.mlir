// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-accelerate-matmul=compute-capability=89 | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: triton-opt %s -split-input-file --nvidia-accelerate-matmul=compute-capability=90 | FileCheck %s --check-prefixes=CHECK,MADE
// RUN: triton-opt %s -split-input-file --nvidia-accelerate-matmul=compute-capability=120 | FileCheck %s --check-prefixes=CHECK,OWN

// Too few rows for wgmma, whose fp8 instruction there is. That of mma.sync is made of one of f16 on sm_90: it takes f16 at once.
// CHECK-LABEL: @few_rows
//         OWN:   tt.dot {{.*}} : tensor<32x64xf8E4M3FN, {{.*}}kWidth = 4
//        MADE:   tt.dot {{.*}} : tensor<32x64xf16, {{.*}}kWidth = 2
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @few_rows(%a: tensor<32x64xf8E4M3FN, #a>, %b: tensor<64x64xf8E4M3FN, #b>, %c: tensor<32x64xf32, #blocked>) -> tensor<32x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c {maxNumImpreciseAcc = 1073741824 : i32} : tensor<32x64xf8E4M3FN, #a> * tensor<64x64xf8E4M3FN, #b> -> tensor<32x64xf32, #blocked>
    tt.return %d : tensor<32x64xf32, #blocked>
  }
}
