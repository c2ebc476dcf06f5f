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

// Across K a warp reads eight neighbouring words of four rows. Along K it reads four of eight rows.
// CHECK-DAG: #[[S:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [0, 1]}>
// CHECK-DAG: #[[T:.*]] = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [0, 1]}>
// CHECK-LABEL: @across
//       CHECK:   ttg.local_alloc %{{.*}} -> !ttg.memdesc<64x32xf32, #[[S]], #smem>
//       CHECK:   ttg.local_alloc %{{.*}} -> !ttg.memdesc<32x64xf32, #[[T]], #smem>
#blocked = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @across(%a: tensor<64x32xf32, #blocked>, %b: tensor<32x64xf32, #blocked>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %x = ttg.convert_layout %a : tensor<64x32xf32, #blocked> -> tensor<64x32xf32, #a>
    %y = ttg.convert_layout %b : tensor<32x64xf32, #blocked> -> tensor<32x64xf32, #b>
    %d = tt.dot %x, %y, %c : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
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

// -----

// An operand that another dot takes turned: a view of its buffer.
// CHECK-LABEL: @turned
//       CHECK:   %[[A:.*]] = ttg.local_alloc %arg0
//   CHECK-NOT:   ttg.local_alloc
//       CHECK:   %[[T:.*]] = ttg.memdesc_trans %[[A]] {order = array<i32: 1, 0>}
//       CHECK:   ttg.local_load %[[A]]
//       CHECK:   ttg.local_load %[[T]]
#blocked = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#turned = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#mma1 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @turned(%a: tensor<64x32xf16, #blocked>) -> (tensor<64x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma1, kWidth = 2}>>) {
    %x = ttg.convert_layout %a : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
    %t = tt.trans %a {order = array<i32: 1, 0>} : tensor<64x32xf16, #blocked> -> tensor<32x64xf16, #turned>
    %y = ttg.convert_layout %t : tensor<32x64xf16, #turned> -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma1, kWidth = 2}>>
    tt.return %x, %y : tensor<64x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma1, kWidth = 2}>>
  }
}

// -----

// The same of batches, where the operand that is turned comes first.
// CHECK-LABEL: @turned_batches
//       CHECK:   %[[A:.*]] = ttg.local_alloc %arg0
//   CHECK-NOT:   ttg.local_alloc
//       CHECK:   %[[T:.*]] = ttg.memdesc_trans %[[A]] {order = array<i32: 0, 2, 1>}
//   CHECK-NOT:   ttg.local_alloc
//   CHECK-DAG:   ttg.local_load %[[A]]
//   CHECK-DAG:   ttg.local_load %[[T]]
#blocked = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [1, 4, 8], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
#turned = #ttg.blocked<{sizePerThread = [1, 8, 1], threadsPerWarp = [1, 8, 4], warpsPerCTA = [1, 1, 4], order = [1, 2, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1, 1], instrShape = [1, 16, 8]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @turned_batches(%a: tensor<16x16x64xf16, #blocked>) -> (tensor<16x16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, tensor<16x64x16xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>) {
    %t = tt.trans %a {order = array<i32: 0, 2, 1>} : tensor<16x16x64xf16, #blocked> -> tensor<16x64x16xf16, #turned>
    %y = ttg.convert_layout %t : tensor<16x64x16xf16, #turned> -> tensor<16x64x16xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
    %x = ttg.convert_layout %a : tensor<16x16x64xf16, #blocked> -> tensor<16x16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
    tt.return %x, %y : tensor<16x16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, tensor<16x64x16xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
  }
}

// -----

// wgmma reads words with K contiguous alone. Threads read runs along K from the other buffer, and widen these.
// CHECK-DAG: #[[RUNS:.*]] = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
// CHECK-DAG: #[[K:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 32}>
// CHECK-LABEL: @runs
//       CHECK:   %[[X:.*]] = ttg.local_load %arg0 : {{.*}} -> tensor<16x128xf16, #[[RUNS]]>
//       CHECK:   %[[E:.*]] = arith.extf %[[X]]
//       CHECK:   %[[A:.*]] = ttg.local_alloc %[[E]] : (tensor<16x128xf32, #[[RUNS]]>) -> !ttg.memdesc<16x128xf32, #[[K]], #smem>
//
// Values from elsewhere are converted. Operands of 16 bits may have either order.
//       CHECK:   %[[C:.*]] = ttg.convert_layout %arg1 : tensor<16x128xf32, #{{.*}}> -> tensor<16x128xf32, #[[RUNS]]>
//       CHECK:   ttg.local_alloc %[[C]]
//   CHECK-NOT:   ttg.convert_layout
//       CHECK:   ttg.local_alloc %arg2
//       CHECK:   ttg.local_load %[[A]]
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 8]}>
#mma1 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>
#b1 = #ttg.dot_op<{opIdx = 1, parent = #mma1, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @runs(%m: !ttg.memdesc<16x128xf16, #shared, #smem>, %v: tensor<16x128xf32, #blocked>, %h: tensor<16x128xf16, #blocked>) -> (tensor<16x128xf32, #b>, tensor<16x128xf32, #b>, tensor<16x128xf16, #b1>) {
    %x = ttg.local_load %m : !ttg.memdesc<16x128xf16, #shared, #smem> -> tensor<16x128xf16, #blocked>
    %e = arith.extf %x : tensor<16x128xf16, #blocked> to tensor<16x128xf32, #blocked>
    %y = ttg.convert_layout %e : tensor<16x128xf32, #blocked> -> tensor<16x128xf32, #b>
    %z = ttg.convert_layout %v : tensor<16x128xf32, #blocked> -> tensor<16x128xf32, #b>
    %w = ttg.convert_layout %h : tensor<16x128xf16, #blocked> -> tensor<16x128xf16, #b1>
    tt.return %y, %z, %w : tensor<16x128xf32, #b>, tensor<16x128xf32, #b>, tensor<16x128xf16, #b1>
  }
}

// -----

// Accumulators of wgmma: eight lanes have neighbours along K, and the others rows that the swizzle puts elsewhere. They
// write words as they are.
// CHECK-DAG: #[[MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 3
// CHECK-DAG: #[[K:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 32}>
// CHECK-LABEL: @accumulators
//   CHECK-NOT:   ttg.convert_layout
//       CHECK:   ttg.local_alloc %arg0 : (tensor<64x64xf32, #[[MMA]]>) -> !ttg.memdesc<64x64xf32, #[[K]], #smem>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 8]}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @accumulators(%x: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #b> {
    %y = ttg.convert_layout %x : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #b>
    tt.return %y : tensor<64x64xf32, #b>
  }
}

// -----

// Threads load a row of each matrix of a batch. The unit reads neighbouring rows of one: they are neighbours in memory.
// CHECK: #[[S:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [2, 1, 0]}>
// CHECK-LABEL: @batch
//       CHECK:   ttg.local_alloc %{{.*}} -> !ttg.memdesc<16x16x64xf16, #[[S]], #smem>
#blocked = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [4, 1, 8], warpsPerCTA = [4, 1, 1], order = [2, 0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1, 1], instrShape = [1, 16, 8]}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @batch(%b: tensor<16x16x64xf16, #blocked>) -> tensor<16x16x64xf16, #b> {
    %y = ttg.convert_layout %b : tensor<16x16x64xf16, #blocked> -> tensor<16x16x64xf16, #b>
    tt.return %y : tensor<16x16x64xf16, #b>
  }
}
