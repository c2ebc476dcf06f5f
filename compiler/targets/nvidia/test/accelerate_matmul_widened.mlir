// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-accelerate-matmul=compute-capability=90 | FileCheck %s

// Each warp makes bf16 of the bytes of its columns. So no two warps share columns, though they then share all rows.
// CHECK: #[[MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
// CHECK-LABEL: @bytes
// CHECK: tt.dot {{.*}} -> tensor<32x64xf32, #[[MMA]]>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#default = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #default}>
#b = #ttg.dot_op<{opIdx = 1, parent = #default}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @bytes(%x: tensor<32x64xbf16, #a>, %p: tensor<64x64x!tt.ptr<i8>, #columns>, %c: tensor<32x64xf32, #default>) -> tensor<32x64xf32, #default> {
    %w = tt.load %p : tensor<64x64x!tt.ptr<i8>, #columns>
    %f = arith.sitofp %w : tensor<64x64xi8, #columns> to tensor<64x64xbf16, #columns>
    %y = ttg.convert_layout %f : tensor<64x64xbf16, #columns> -> tensor<64x64xbf16, #b>
    %d = tt.dot %x, %y, %c : tensor<32x64xbf16, #a> * tensor<64x64xbf16, #b> -> tensor<32x64xf32, #default>
    tt.return %d : tensor<32x64xf32, #default>
  }
}

// -----

// Operands that need no instructions: squares.
// CHECK: #[[MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
// CHECK-LABEL: @halves
// CHECK: tt.dot {{.*}} -> tensor<32x64xf32, #[[MMA]]>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#default = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #default}>
#b = #ttg.dot_op<{opIdx = 1, parent = #default}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @halves(%x: tensor<32x64xbf16, #a>, %p: tensor<64x64x!tt.ptr<bf16>, #columns>, %c: tensor<32x64xf32, #default>) -> tensor<32x64xf32, #default> {
    %w = tt.load %p : tensor<64x64x!tt.ptr<bf16>, #columns>
    %y = ttg.convert_layout %w : tensor<64x64xbf16, #columns> -> tensor<64x64xbf16, #b>
    %d = tt.dot %x, %y, %c : tensor<32x64xbf16, #a> * tensor<64x64xbf16, #b> -> tensor<32x64xf32, #default>
    tt.return %d : tensor<32x64xf32, #default>
  }
}
