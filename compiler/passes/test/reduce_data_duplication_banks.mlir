// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-reduce-data-duplication | FileCheck %s

// A block that was loaded by rows, turned and reshaped. Sixteen lanes have every 64th row: as it is, they would write
// into one bank. Operand a stays in registers, so threads exchange what they multiply. For operand b they exchange
// elements and then write vectors.
#turned = #ttg.linear<{register = [[8, 0], [16, 0], [32, 0], [1, 0], [2, 0], [4, 0]], lane = [[64, 0], [128, 0], [256, 0], [512, 0], [0, 1]], warp = [[0, 2], [0, 4], [0, 8]], block = []}>
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [256, 0], [512, 0]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0], [128, 0]], block = []}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 16, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @turned
  //   CHECK-NOT:   ttg.local_alloc
  //       CHECK:   ttg.convert_layout %{{.*}} : tensor<1024x16xbf16, #linear{{.*}}> -> tensor<1024x16xbf16, #ttg.dot_op<{opIdx = 0
  tt.func @turned(%x: tensor<1024x16xbf16, #turned>, %y: tensor<16x16xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, %c: tensor<1024x16xf32, #mma>) -> tensor<1024x16xf32, #mma> {
    %a = ttg.convert_layout %x : tensor<1024x16xbf16, #turned> -> tensor<1024x16xbf16, #a>
    %d = tt.dot %a, %y, %c : tensor<1024x16xbf16, #a> * tensor<16x16xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<1024x16xf32, #mma>
    tt.return %d : tensor<1024x16xf32, #mma>
  }

  // CHECK-LABEL: @rows
  //   CHECK-NOT:   ttg.convert_layout
  //       CHECK:   ttg.local_alloc %arg0
  tt.func @rows(%x: tensor<1024x16xbf16, #rows>, %y: tensor<16x16xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, %c: tensor<1024x16xf32, #mma>) -> tensor<1024x16xf32, #mma> {
    %a = ttg.convert_layout %x : tensor<1024x16xbf16, #rows> -> tensor<1024x16xbf16, #a>
    %d = tt.dot %a, %y, %c : tensor<1024x16xbf16, #a> * tensor<16x16xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<1024x16xf32, #mma>
    tt.return %d : tensor<1024x16xf32, #mma>
  }

  // CHECK-LABEL: @turned_b
  //       CHECK:   %[[RUNS:.*]] = ttg.convert_layout %{{.*}} : tensor<1024x16xbf16, #linear{{.*}}> -> tensor<1024x16xbf16, #blocked{{.*}}>
  //       CHECK:   ttg.local_alloc %[[RUNS]]
  tt.func @turned_b(%x: tensor<1024x16xbf16, #turned>, %y: tensor<128x1024xbf16, #a>, %c: tensor<128x16xf32, #mma>) -> tensor<128x16xf32, #mma> {
    %b = ttg.convert_layout %x : tensor<1024x16xbf16, #turned> -> tensor<1024x16xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
    %d = tt.dot %y, %b, %c : tensor<128x1024xbf16, #a> * tensor<1024x16xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<128x16xf32, #mma>
    tt.return %d : tensor<128x16xf32, #mma>
  }

  // One matrix on both sides: operand a has each element once, and so it can fill the buffer of b.
  // CHECK-LABEL: @both_sides
  //   CHECK-NOT:   ttg.convert_layout
  //       CHECK:   ttg.local_alloc %arg0 : (tensor<128x128xbf16, #ttg.dot_op<{opIdx = 0
  tt.func @both_sides(%x: tensor<128x128xbf16, #a>, %c: tensor<128x128xf32, #mma>) -> tensor<128x128xf32, #mma> {
    %b = ttg.convert_layout %x : tensor<128x128xbf16, #a> -> tensor<128x128xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
    %d = tt.dot %x, %b, %c : tensor<128x128xbf16, #a> * tensor<128x128xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<128x128xf32, #mma>
    tt.return %d : tensor<128x128xf32, #mma>
  }
}
