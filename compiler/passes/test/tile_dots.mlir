// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-tile-dots | FileCheck %s

// 32 accumulators a thread: slices of 16 keep 512 multiply-adds in the loop's body. Threads read groups along K
// of the rows of a, whose buffer is swizzled; they read rows of b along.
//       CHECK: #[[SWIZZLED:.*]] = #ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [1, 0]}>
//       CHECK: #[[PLAIN:.*]] = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// CHECK-LABEL: @sliced
//  CHECK-SAME: (%[[A:.*]]: tensor<64x64xf32, #blocked>, %[[B:.*]]: tensor<64x64xf32, #blocked>, %[[C:.*]]: tensor<64x64xf32, #blocked>)
//       CHECK:   %[[RA:.*]] = tt.reshape %[[A]] : tensor<64x64xf32, #blocked> -> tensor<64x4x16xf32
//       CHECK:   %[[TA:.*]] = tt.trans %[[RA]] {order = array<i32: 1, 0, 2>} : {{.*}} -> tensor<4x64x16xf32
//       CHECK:   %[[X:.*]] = ttg.local_alloc %[[TA]] : {{.*}} -> !ttg.memdesc<4x64x16xf32, #[[SWIZZLED]]
//       CHECK:   tt.reshape %[[B]] : tensor<64x64xf32, #blocked> -> tensor<4x16x64xf32
//       CHECK:   %[[Y:.*]] = ttg.local_alloc %{{.*}} -> !ttg.memdesc<4x16x64xf32, #[[PLAIN]]
//       CHECK:   %[[D:.*]] = scf.for %[[I:.*]] = %c0_i32 to %c4_i32 step %c1_i32 iter_args(%[[SUM:.*]] = %[[C]])
//       CHECK:     %[[XI:.*]] = ttg.memdesc_index %[[X]][%[[I]]]
//       CHECK:     %[[U:.*]] = ttg.local_load %[[XI]] : {{.*}} -> tensor<64x16xf32, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
//       CHECK:     %[[V:.*]] = ttg.local_load %{{.*}} -> tensor<16x64xf32, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
//       CHECK:     %[[S:.*]] = tt.dot %[[U]], %[[V]], %[[SUM]]
//       CHECK:     scf.yield %[[S]]
//       CHECK:   tt.return %[[D]]
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @sliced(%a: tensor<64x64xf32, #blocked>, %b: tensor<64x64xf32, #blocked>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #a>
    %y = ttg.convert_layout %b : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #b>
    %d = tt.dot %x, %y, %c : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// Columns of b come in groups along K: its buffer keeps them together, and is swizzled too.
//       CHECK: #[[COLUMNS:.*]] = #ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [0, 1]}>
// CHECK-LABEL: @columns
//       CHECK:   ttg.local_alloc {{.*}} -> !ttg.memdesc<4x16x64xf32, #[[COLUMNS]]
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [0, 1]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @columns(%x: tensor<64x64xf32, #a>, %b: tensor<64x64xf32, #columns>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %y = ttg.convert_layout %b : tensor<64x64xf32, #columns> -> tensor<64x64xf32, #b>
    %d = tt.dot %x, %y, %c : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// Small enough as it is.
// CHECK-LABEL: @small
//   CHECK-NOT:   scf.for
//       CHECK:   tt.dot
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @small(%x: tensor<64x16xf32, #a>, %y: tensor<16x64xf32, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %x, %y, %c : tensor<64x16xf32, #a> * tensor<16x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// The matrix unit needs no loop.
// CHECK-LABEL: @matrix_unit
//   CHECK-NOT:   scf.for
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @matrix_unit(%x: tensor<64x256xf16, #a>, %y: tensor<256x64xf16, #b>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %d = tt.dot %x, %y, %c : tensor<64x256xf16, #a> * tensor<256x64xf16, #b> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
}

// -----

// Operands from buffers are read at their use: 1024 multiply-adds stay in a row.
// CHECK-LABEL: @buffered
//   CHECK-NOT:   scf.for
//       CHECK:   tt.dot
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @buffered(%x: !ttg.memdesc<64x32xf32, #shared, #smem>, %y: !ttg.memdesc<32x64xf32, #shared, #smem>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %a = ttg.local_load %x : !ttg.memdesc<64x32xf32, #shared, #smem> -> tensor<64x32xf32, #a>
    %l = ttg.local_load %y : !ttg.memdesc<32x64xf32, #shared, #smem> -> tensor<32x64xf32, #blocked>
    %b = ttg.convert_layout %l : tensor<32x64xf32, #blocked> -> tensor<32x64xf32, #b>
    %d = tt.dot %a, %b, %c : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// What is loaded goes to the buffer as it is held, and not as the dot's threads hold it with all of K.
// CHECK-LABEL: @widened
//  CHECK-SAME:   %[[B:[a-z0-9]+]]: tensor<64x64xbf16, #blocked>
//       CHECK:   %[[W:.*]] = arith.extf %[[B]] : tensor<64x64xbf16, #blocked> to tensor<64x64xf32, #blocked>
//       CHECK:   tt.reshape %[[W]] : tensor<64x64xf32, #blocked>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @widened(%b: tensor<64x64xbf16, #blocked>, %x: tensor<64x64xf32, #a>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %z = ttg.convert_layout %b : tensor<64x64xbf16, #blocked> -> tensor<64x64xbf16, #b>
    %y = arith.extf %z : tensor<64x64xbf16, #b> to tensor<64x64xf32, #b>
    %d = tt.dot %x, %y, %c : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// Assembly that makes two values stays, and so does what must not run twice.
// CHECK-LABEL: @assembly
//       CHECK:   %[[Z:.*]] = ttg.convert_layout
//       CHECK:   %[[Y:.*]]:2 = tt.elementwise_inline_asm "two"{{.*}} %[[Z]]
//       CHECK:   tt.reshape %[[Y]]#1 :
//       CHECK:   tt.elementwise_inline_asm "once"
//   CHECK-NOT:   tt.elementwise_inline_asm
//       CHECK:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @assembly(%b: tensor<64x64xf32, #blocked>, %x: tensor<64x64xf32, #a>, %c: tensor<64x64xf32, #blocked>) -> (tensor<64x64xf32, #blocked>, tensor<64x64xf32, #blocked>) {
    %z = ttg.convert_layout %b : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #b>
    %y:2 = tt.elementwise_inline_asm "two" {constraints = "=r,=r,r", packed_element = 1 : i32, pure = true} %z : tensor<64x64xf32, #b> -> tensor<64x64xf32, #b>, tensor<64x64xf32, #b>
    %d = tt.dot %x, %y#1, %c : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #blocked>
    %w = ttg.convert_layout %b : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #b>
    %v = tt.elementwise_inline_asm "once" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %w : tensor<64x64xf32, #b> -> tensor<64x64xf32, #b>
    %e = tt.dot %x, %v, %c : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d, %e : tensor<64x64xf32, #blocked>, tensor<64x64xf32, #blocked>
  }
}
