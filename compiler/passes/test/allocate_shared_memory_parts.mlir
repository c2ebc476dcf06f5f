// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory=max-bytes=8192 | FileCheck %s

// The block has 8 KiB, and the tensor 16: its halves are converted one after the other.
// CHECK: ttg.shared = 8192
// CHECK-LABEL: @halves
//       CHECK:   ttg.convert_layout {{.*}}allocation.offset = 0 : i32, conversion.parts_log2 = 1 : i32
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
#columns = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @halves(%x: tensor<64x64xf32, #rows>) -> tensor<64x64xf32, #columns> {
    %y = ttg.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    tt.return %y : tensor<64x64xf32, #columns>
  }
}

// -----

// What fits is converted at once.
// CHECK: ttg.shared = 4096
// CHECK-LABEL: @fits
//   CHECK-NOT:   parts
//       CHECK:   tt.return
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
#columns = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @fits(%x: tensor<32x32xf32, #rows>) -> tensor<32x32xf32, #columns> {
    %y = ttg.convert_layout %x : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
    tt.return %y : tensor<32x32xf32, #columns>
  }
}
