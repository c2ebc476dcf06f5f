// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-reduce-data-duplication | FileCheck %s

// Rows of 128 bytes in K: eight groups of 16 bytes, swizzled by the row. Both buffers are filled before either is read.
// CHECK-DAG: #[[S:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-DAG: #[[T:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
// CHECK-LABEL: @operands
//       CHECK:   %[[A:.*]] = ttg.local_alloc %{{.*}} -> !ttg.memdesc<64x64xf16, #[[S]], #smem>
//       CHECK:   %[[B:.*]] = ttg.local_alloc %{{.*}} -> !ttg.memdesc<64x32xf16, #[[T]], #smem>
//       CHECK:   %[[X:.*]] = ttg.local_load %[[A]]
//       CHECK:   %[[Y:.*]] = ttg.local_load %[[B]]
//       CHECK:   tt.dot %[[X]], %[[Y]]
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @operands(%a: tensor<64x64xf16, #blocked>, %b: tensor<64x32xf16, #blocked>, %c: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
    %x = ttg.convert_layout %a : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    %y = ttg.convert_layout %b : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x32xf16, #b> -> tensor<64x32xf32, #mma>
    tt.return %d : tensor<64x32xf32, #mma>
  }
}

// -----

// Of 64 bits a group has four elements, and half a warp reads it from four rows.
// CHECK-DAG: #[[S:.*]] = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>
// CHECK-DAG: #[[T:.*]] = #ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 2, order = [1, 0]}>
// CHECK-LABEL: @doubles
//       CHECK:   ttg.local_alloc %{{.*}} -> !ttg.memdesc<64x16xf64, #[[S]], #smem>
//       CHECK:   ttg.local_alloc %{{.*}} -> !ttg.memdesc<16x8xf64, #[[T]], #smem>
#blocked = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @doubles(%a: tensor<64x16xf64, #blocked>, %b: tensor<16x8xf64, #blocked>, %c: tensor<64x8xf64, #mma>) -> tensor<64x8xf64, #mma> {
    %x = ttg.convert_layout %a : tensor<64x16xf64, #blocked> -> tensor<64x16xf64, #a>
    %y = ttg.convert_layout %b : tensor<16x8xf64, #blocked> -> tensor<16x8xf64, #b>
    %d = tt.dot %x, %y, %c : tensor<64x16xf64, #a> * tensor<16x8xf64, #b> -> tensor<64x8xf64, #mma>
    tt.return %d : tensor<64x8xf64, #mma>
  }
}

// -----

// A dot's result becomes an operand within its thread; operands of multiply-adds are the business of ttg-tile-dots.
// CHECK-LABEL: @stay
//   CHECK-NOT:   ttg.local_alloc
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @stay(%a: tensor<64x64xf16, #mma>, %b: tensor<64x64xf16, #blocked>) -> (tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>) {
    %x = ttg.convert_layout %a : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    %y = ttg.convert_layout %b : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
    tt.return %x, %y : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
  }
}

// -----

// Any placement of the source: the dimension of which a thread holds neighbours is the fast one.
// CHECK-DAG: #[[S:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
// CHECK-LABEL: @linear
//       CHECK:   ttg.local_alloc %{{.*}} -> !ttg.memdesc<64x32xf16, #[[S]], #smem>
#linear = #ttg.linear<{register = [[1, 0], [2, 0], [4, 0], [0, 16]], lane = [[8, 0], [16, 0], [32, 0], [0, 1], [0, 2]], warp = [[0, 4], [0, 8]], block = []}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @linear(%b: tensor<64x32xf16, #linear>) -> tensor<64x32xf16, #b> {
    %y = ttg.convert_layout %b : tensor<64x32xf16, #linear> -> tensor<64x32xf16, #b>
    tt.return %y : tensor<64x32xf16, #b>
  }
}

// -----

// Two dots of other shapes read one tensor: one buffer.
// CHECK-LABEL: @two_dots
//       CHECK:   %[[A:.*]] = ttg.local_alloc %arg0
//   CHECK-NOT:   ttg.local_alloc %arg0
//       CHECK:   ttg.local_load %[[A]] {{.*}}parent = #[[M:mma[0-9]*]],
//       CHECK:   ttg.local_load %[[A]]
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#mma1 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @two_dots(%a: tensor<64x64xf16, #blocked>) -> (tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma1, kWidth = 2}>>) {
    %x = ttg.convert_layout %a : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    %y = ttg.convert_layout %a : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma1, kWidth = 2}>>
    tt.return %x, %y : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma1, kWidth = 2}>>
  }
}
