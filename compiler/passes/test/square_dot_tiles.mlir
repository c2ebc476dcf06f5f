// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-square-dot-tiles | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-square-dot-tiles=pairs-share-reads | FileCheck %s --check-prefix=PAIRS

// 32 accumulators a thread: 4 rows and 8 columns, or the reverse. The rows of lanes lie together, since K is contiguous in a;
// in b it is not, so four columns of a thread do. Operands come from before their conversions. Where pairs of lanes
// share reads, two lanes along one dimension come first.
//       CHECK: #[[OLD:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32]
//       CHECK: #[[SQUARE:.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-LABEL: @square
//  CHECK-SAME: (%[[A:.*]]: tensor<64x16xf32, #[[OLD]]>, %[[B:.*]]: tensor<16x64xf32, #[[OLD]]>, %[[C:.*]]: tensor<64x64xf32, #[[OLD]]>)
//   CHECK-DAG:   %[[X:.*]] = ttg.convert_layout %[[A]] : {{.*}} -> tensor<64x16xf32, #ttg.dot_op<{opIdx = 0, parent = #[[SQUARE]]}>>
//   CHECK-DAG:   %[[Y:.*]] = ttg.convert_layout %[[B]] : {{.*}} -> tensor<16x64xf32, #ttg.dot_op<{opIdx = 1, parent = #[[SQUARE]]}>>
//   CHECK-DAG:   %[[Z:.*]] = ttg.convert_layout %[[C]] : {{.*}} -> tensor<64x64xf32, #[[SQUARE]]>
//       CHECK:   %[[D:.*]] = tt.dot %[[X]], %[[Y]], %[[Z]]
//       CHECK:   ttg.convert_layout %[[D]] : tensor<64x64xf32, #[[SQUARE]]> -> tensor<64x64xf32, #[[OLD]]>
//       PAIRS: #[[SQUARE:.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [1, 0]}>
// PAIRS-LABEL: @square
//       PAIRS:   tt.dot {{.*}} -> tensor<64x64xf32, #[[SQUARE]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @square(%a: tensor<64x16xf32, #blocked>, %b: tensor<16x64xf32, #blocked>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<64x16xf32, #blocked> -> tensor<64x16xf32, #a>
    %y = ttg.convert_layout %b : tensor<16x64xf32, #blocked> -> tensor<16x64xf32, #b>
    %d = tt.dot %x, %y, %c : tensor<64x16xf32, #a> * tensor<16x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// Warps share the batches; fewer accumulators than threads are computed more than once.
//   CHECK-DAG: #[[BATCH:.*]] = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 8, 4], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
//   CHECK-DAG: #[[FEW:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
// CHECK-LABEL: @batch
//       CHECK:   tt.dot {{.*}} -> tensor<4x16x16xf32, #[[BATCH]]>
// CHECK-LABEL: @few
//       CHECK:   tt.dot {{.*}} -> tensor<8x8xf32, #[[FEW]]>
#three = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 2, 16], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
#two = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #three}>
#b = #ttg.dot_op<{opIdx = 1, parent = #three}>
#x = #ttg.dot_op<{opIdx = 0, parent = #two}>
#y = #ttg.dot_op<{opIdx = 1, parent = #two}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @batch(%a: tensor<4x16x16xf32, #a>, %b: tensor<4x16x16xf32, #b>, %c: tensor<4x16x16xf32, #three>) -> tensor<4x16x16xf32, #three> {
    %d = tt.dot %a, %b, %c : tensor<4x16x16xf32, #a> * tensor<4x16x16xf32, #b> -> tensor<4x16x16xf32, #three>
    tt.return %d : tensor<4x16x16xf32, #three>
  }
  tt.func @few(%a: tensor<8x16xf32, #x>, %b: tensor<16x8xf32, #y>, %c: tensor<8x8xf32, #two>) -> tensor<8x8xf32, #two> {
    %d = tt.dot %a, %b, %c : tensor<8x16xf32, #x> * tensor<16x8xf32, #y> -> tensor<8x8xf32, #two>
    tt.return %d : tensor<8x8xf32, #two>
  }
}

// -----

// Few rows: a thread has 2 and 4 columns. Of the pairs that share reads, the two that read one column come first.
// PAIRS: #[[WIDE:.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [0, 1]}>
// PAIRS-LABEL: @wide
//       PAIRS:   tt.dot {{.*}} -> tensor<16x64xf32, #[[WIDE]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @wide(%a: tensor<16x32xf32, #blocked>, %b: tensor<32x64xf32, #blocked>, %c: tensor<16x64xf32, #blocked>) -> tensor<16x64xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<16x32xf32, #blocked> -> tensor<16x32xf32, #a>
    %y = ttg.convert_layout %b : tensor<32x64xf32, #blocked> -> tensor<32x64xf32, #b>
    %d = tt.dot %x, %y, %c : tensor<16x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<16x64xf32, #blocked>
    tt.return %d : tensor<16x64xf32, #blocked>
  }
}

// -----

// K is contiguous in both operands, and in neither: the rows, and the columns, of a thread lie apart or together.
//   PAIRS-DAG: #[[APART:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [0, 1]}>
//   PAIRS-DAG: #[[TOGETHER:.*]] = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [0, 1]}>
// PAIRS-LABEL: @both
//       PAIRS:   tt.dot {{.*}} -> tensor<64x64xf32, #[[APART]]>
// PAIRS-LABEL: @neither
//       PAIRS:   tt.dot {{.*}} -> tensor<64x64xf32, #[[TOGETHER]]>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #rows}>
#b = #ttg.dot_op<{opIdx = 1, parent = #rows}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @both(%a: tensor<64x16xf32, #rows>, %b: tensor<16x64xf32, #columns>, %c: tensor<64x64xf32, #rows>) -> tensor<64x64xf32, #rows> {
    %x = ttg.convert_layout %a : tensor<64x16xf32, #rows> -> tensor<64x16xf32, #a>
    %y = ttg.convert_layout %b : tensor<16x64xf32, #columns> -> tensor<16x64xf32, #b>
    %d = tt.dot %x, %y, %c : tensor<64x16xf32, #a> * tensor<16x64xf32, #b> -> tensor<64x64xf32, #rows>
    tt.return %d : tensor<64x64xf32, #rows>
  }
  tt.func @neither(%a: tensor<64x16xf32, #columns>, %b: tensor<16x64xf32, #rows>, %c: tensor<64x64xf32, #rows>) -> tensor<64x64xf32, #rows> {
    %x = ttg.convert_layout %a : tensor<64x16xf32, #columns> -> tensor<64x16xf32, #a>
    %y = ttg.convert_layout %b : tensor<16x64xf32, #rows> -> tensor<16x64xf32, #b>
    %d = tt.dot %x, %y, %c : tensor<64x16xf32, #a> * tensor<16x64xf32, #b> -> tensor<64x64xf32, #rows>
    tt.return %d : tensor<64x64xf32, #rows>
  }
}

// -----

// A matrix unit's dot stays.
// CHECK-LABEL: @matrix_unit
//   CHECK-NOT:   ttg.convert_layout
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @matrix_unit(%a: tensor<64x16xf16, #a>, %b: tensor<16x64xf16, #b>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %d = tt.dot %a, %b, %c : tensor<64x16xf16, #a> * tensor<16x64xf16, #b> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
}
