// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-accelerate-matmul=compute-capability=90 | FileCheck %s

// Weights of 4 bits, two of a byte along K, with K contiguous: a lane takes the eight that a word of memory holds, and
// eight of the other operand.
// CHECK-LABEL: @four_bits
// CHECK: tt.dot {{.*}} : tensor<16x128xbf16, #ttg.dot_op<{opIdx = 0, parent = #{{.*}}, kWidth = 8}>> * tensor<128x32xbf16, #ttg.dot_op<{opIdx = 1, parent = #{{.*}}, kWidth = 8}>>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#default = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#pairs = #ttg.blocked<{sizePerThread = [1, 8, 2], threadsPerWarp = [4, 8, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#both = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#turned = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #default}>
#b = #ttg.dot_op<{opIdx = 1, parent = #default}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @four_bits(%x: tensor<16x128xbf16, #a>, %p: tensor<32x64x!tt.ptr<i8>, #rows>, %c: tensor<16x32xf32, #default>) -> tensor<16x32xf32, #default> {
    %mask = arith.constant dense<15> : tensor<32x64xi8, #rows>
    %shift = arith.constant dense<4> : tensor<32x64xi8, #rows>
    %w = tt.load %p : tensor<32x64x!tt.ptr<i8>, #rows>
    %low = arith.andi %w, %mask : tensor<32x64xi8, #rows>
    %high = arith.shrui %w, %shift : tensor<32x64xi8, #rows>
    %l = arith.uitofp %low : tensor<32x64xi8, #rows> to tensor<32x64xbf16, #rows>
    %h = arith.uitofp %high : tensor<32x64xi8, #rows> to tensor<32x64xbf16, #rows>
    %j = tt.join %l, %h : tensor<32x64xbf16, #rows> -> tensor<32x64x2xbf16, #pairs>
    %r = tt.reshape %j : tensor<32x64x2xbf16, #pairs> -> tensor<32x128xbf16, #both>
    %t = tt.trans %r {order = array<i32: 1, 0>} : tensor<32x128xbf16, #both> -> tensor<128x32xbf16, #turned>
    %y = ttg.convert_layout %t : tensor<128x32xbf16, #turned> -> tensor<128x32xbf16, #b>
    %d = tt.dot %x, %y, %c : tensor<16x128xbf16, #a> * tensor<128x32xbf16, #b> -> tensor<16x32xf32, #default>
    tt.return %d : tensor<16x32xf32, #default>
  }
}

// -----

// Bytes of which N is contiguous, and K of a single instruction: as always.
// CHECK-LABEL: @other_order
// CHECK: tt.dot {{.*}}kWidth = 2}>> * {{.*}}kWidth = 2}>>
// CHECK-LABEL: @bytes
// CHECK: tt.dot {{.*}}kWidth = 4}>> * {{.*}}kWidth = 4}>>
// CHECK-LABEL: @thin
// CHECK: tt.dot {{.*}}kWidth = 2}>> * {{.*}}kWidth = 2}>>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#default = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #default}>
#b = #ttg.dot_op<{opIdx = 1, parent = #default}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @other_order(%x: tensor<16x64xf16, #a>, %p: tensor<64x32x!tt.ptr<i8>, #rows>, %c: tensor<16x32xf32, #default>) -> tensor<16x32xf32, #default> {
    %w = tt.load %p : tensor<64x32x!tt.ptr<i8>, #rows>
    %f = arith.sitofp %w : tensor<64x32xi8, #rows> to tensor<64x32xf16, #rows>
    %y = ttg.convert_layout %f : tensor<64x32xf16, #rows> -> tensor<64x32xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<16x64xf16, #a> * tensor<64x32xf16, #b> -> tensor<16x32xf32, #default>
    tt.return %d : tensor<16x32xf32, #default>
  }
  tt.func @bytes(%x: tensor<16x64xf16, #a>, %p: tensor<64x32x!tt.ptr<i8>, #columns>, %c: tensor<16x32xf32, #default>) -> tensor<16x32xf32, #default> {
    %w = tt.load %p : tensor<64x32x!tt.ptr<i8>, #columns>
    %f = arith.sitofp %w : tensor<64x32xi8, #columns> to tensor<64x32xf16, #columns>
    %y = ttg.convert_layout %f : tensor<64x32xf16, #columns> -> tensor<64x32xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<16x64xf16, #a> * tensor<64x32xf16, #b> -> tensor<16x32xf32, #default>
    tt.return %d : tensor<16x32xf32, #default>
  }
  tt.func @thin(%x: tensor<16x16xf16, #a>, %p: tensor<16x32x!tt.ptr<i8>, #columns>, %c: tensor<16x32xf32, #default>) -> tensor<16x32xf32, #default> {
    %w = tt.load %p : tensor<16x32x!tt.ptr<i8>, #columns>
    %f = arith.sitofp %w : tensor<16x32xi8, #columns> to tensor<16x32xf16, #columns>
    %y = ttg.convert_layout %f : tensor<16x32xf16, #columns> -> tensor<16x32xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<16x16xf16, #a> * tensor<16x32xf16, #b> -> tensor<16x32xf32, #default>
    tt.return %d : tensor<16x32xf32, #default>
  }
}

// -----

// Weights of 4 bits that are scaled in groups along K, for which they have a dimension more.
// CHECK-LABEL: @groups_of_four_bits
// CHECK: tt.dot {{.*}}kWidth = 8}>> * {{.*}}kWidth = 8}>>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#default = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#pairs = #ttg.blocked<{sizePerThread = [1, 8, 2], threadsPerWarp = [4, 8, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#groups = #ttg.blocked<{sizePerThread = [1, 1, 16], threadsPerWarp = [4, 4, 2], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#both = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#turned = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #default}>
#b = #ttg.dot_op<{opIdx = 1, parent = #default}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @groups_of_four_bits(%x: tensor<16x128xbf16, #a>, %p: tensor<32x64x!tt.ptr<i8>, #rows>, %scales: tensor<32x4x32xbf16, #groups>, %c: tensor<16x32xf32, #default>) -> tensor<16x32xf32, #default> {
    %shift = arith.constant dense<4> : tensor<32x64xi8, #rows>
    %w = tt.load %p : tensor<32x64x!tt.ptr<i8>, #rows>
    %high = arith.shrui %w, %shift : tensor<32x64xi8, #rows>
    %l = arith.uitofp %w : tensor<32x64xi8, #rows> to tensor<32x64xbf16, #rows>
    %h = arith.uitofp %high : tensor<32x64xi8, #rows> to tensor<32x64xbf16, #rows>
    %j = tt.join %l, %h : tensor<32x64xbf16, #rows> -> tensor<32x64x2xbf16, #pairs>
    %g = tt.reshape %j : tensor<32x64x2xbf16, #pairs> -> tensor<32x4x32xbf16, #groups>
    %s = arith.mulf %g, %scales : tensor<32x4x32xbf16, #groups>
    %r = tt.reshape %s : tensor<32x4x32xbf16, #groups> -> tensor<32x128xbf16, #both>
    %t = tt.trans %r {order = array<i32: 1, 0>} : tensor<32x128xbf16, #both> -> tensor<128x32xbf16, #turned>
    %y = ttg.convert_layout %t : tensor<128x32xbf16, #turned> -> tensor<128x32xbf16, #b>
    %d = tt.dot %x, %y, %c : tensor<16x128xbf16, #a> * tensor<128x32xbf16, #b> -> tensor<16x32xf32, #default>
    tt.return %d : tensor<16x32xf32, #default>
  }
}
