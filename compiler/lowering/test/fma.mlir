// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm | FileCheck %s

// A fused multiply-add rounds once, so narrow floats stay narrow.
// CHECK-LABEL: llvm.func internal @narrow
//       CHECK:   llvm.intr.fma(%arg0, %arg0, %arg0) : (bf16, bf16, bf16) -> bf16
//       CHECK:   llvm.intr.fma(%arg1, %arg1, %arg1) : (f16, f16, f16) -> f16
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @narrow(%x: bf16, %y: f16) -> (bf16, f16) {
    %0 = math.fma %x, %x, %x : bf16
    %1 = math.fma %y, %y, %y : f16
    tt.return %0, %1 : bf16, f16
  }
}
