// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-reduce-data-duplication="max-buffer-bytes=32768 registers=207" | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-reduce-data-duplication="max-buffer-bytes=7000" | FileCheck %s --check-prefix=FULL
// RUN: triton-opt %s -split-input-file --ttg-reduce-data-duplication | FileCheck %s --check-prefix=FULL

// Both operands of a dot by multiply-adds come from other threads: each has its buffer, if there is room for these.
// CHECK-LABEL: @both
//       CHECK:   %[[X:.*]] = ttg.local_alloc %arg0
//       CHECK:   %[[Y:.*]] = ttg.local_alloc %arg1
//   CHECK-NOT:   ttg.convert_layout
//       CHECK:   %[[A:.*]] = ttg.local_load %[[X]]
//       CHECK:   %[[B:.*]] = ttg.local_load %[[Y]]
//       CHECK:   tt.dot %[[A]], %[[B]]
// FULL-LABEL: @both
//   FULL-NOT:   ttg.local_alloc
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked1}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @both(%x: tensor<32x32xf32, #blocked>, %y: tensor<32x32xf32, #blocked>, %z: tensor<32x32xf32, #blocked1>) -> tensor<32x32xf32, #blocked1> {
    %xa = ttg.convert_layout %x : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #a>
    %yb = ttg.convert_layout %y : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #b>
    %d = tt.dot %xa, %yb, %z : tensor<32x32xf32, #a> * tensor<32x32xf32, #b> -> tensor<32x32xf32, #blocked1>
    tt.return %d : tensor<32x32xf32, #blocked1>
  }
}

// -----

// Dots that share operands find each in one buffer, which is filled when the operand is there.
// CHECK-LABEL: @shared
//       CHECK:   %[[X:.*]] = ttg.local_alloc %arg0
//       CHECK:   %[[Y:.*]] = ttg.local_alloc %arg1
//       CHECK:   arith.negf
//  CHECK-NEXT:   %[[N:.*]] = ttg.local_alloc
//   CHECK-NOT:   ttg.convert_layout
//       CHECK:   %[[A:.*]] = ttg.local_load %[[X]]
//       CHECK:   %[[B:.*]] = ttg.local_load %[[Y]]
//       CHECK:   tt.dot %[[A]], %[[B]]
//       CHECK:   %[[C:.*]] = ttg.local_load %[[N]]
//       CHECK:   tt.dot %[[A]], %[[C]]
// FULL-LABEL: @shared
//   FULL-NOT:   ttg.local_alloc
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked1}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @shared(%x: tensor<32x32xf32, #blocked>, %y: tensor<32x32xf32, #blocked>, %z: tensor<32x32xf32, #blocked1>) -> (tensor<32x32xf32, #blocked1>, tensor<32x32xf32, #blocked1>) {
    %xa = ttg.convert_layout %x : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #a>
    %yb = ttg.convert_layout %y : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #b>
    %n = arith.negf %y : tensor<32x32xf32, #blocked>
    %d = tt.dot %xa, %yb, %z : tensor<32x32xf32, #a> * tensor<32x32xf32, #b> -> tensor<32x32xf32, #blocked1>
    %nb = ttg.convert_layout %n : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #b>
    %e = tt.dot %xa, %nb, %z : tensor<32x32xf32, #a> * tensor<32x32xf32, #b> -> tensor<32x32xf32, #blocked1>
    tt.return %d, %e : tensor<32x32xf32, #blocked1>, tensor<32x32xf32, #blocked1>
  }
}

// -----

// One operand is there already, and a large dot is left to those who cut it into slices.
// CHECK-LABEL: @one
//   CHECK-NOT:   ttg.local_alloc
// CHECK-LABEL: @large
//   CHECK-NOT:   ttg.local_alloc
// FULL-LABEL: @large
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked1}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @one(%xa: tensor<32x32xf32, #a>, %y: tensor<32x32xf32, #blocked>, %z: tensor<32x32xf32, #blocked1>) -> tensor<32x32xf32, #blocked1> {
    %yb = ttg.convert_layout %y : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #b>
    %d = tt.dot %xa, %yb, %z : tensor<32x32xf32, #a> * tensor<32x32xf32, #b> -> tensor<32x32xf32, #blocked1>
    tt.return %d : tensor<32x32xf32, #blocked1>
  }
  tt.func @large(%x: tensor<64x64xf16, #blocked>, %y: tensor<64x64xf16, #blocked>, %z: tensor<64x64xf32, #blocked1>) -> tensor<64x64xf32, #blocked1> {
    %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
    %d = tt.dot %xa, %yb, %z : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked1>
    tt.return %d : tensor<64x64xf32, #blocked1>
  }
}

// -----

// The loop does not change operand b, of which a thread holds 256 elements. It is in a buffer. The other loop has room
// for 128 elements.
// CHECK-LABEL: @unchanged
//       CHECK:   %[[Y:.*]] = ttg.local_alloc %arg1
//       CHECK:   %[[B:.*]] = ttg.local_load %[[Y]]
//       CHECK:   scf.for
//       CHECK:     tt.dot %{{.*}}, %[[B]]
// CHECK-LABEL: @room
//   CHECK-NOT:   ttg.local_alloc
// FULL-LABEL: @unchanged
//   FULL-NOT:   ttg.local_alloc
// FULL-LABEL: @room
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked1}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @unchanged(%m: !ttg.memdesc<32x64xf32, #shared, #smem>, %y: tensor<64x32xf32, #blocked>, %z: tensor<32x32xf32, #blocked1>, %n: i32) -> tensor<32x32xf32, #blocked1> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %yb = ttg.convert_layout %y : tensor<64x32xf32, #blocked> -> tensor<64x32xf32, #b>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (tensor<32x32xf32, #blocked1>) : i32 {
      %xa = ttg.local_load %m : !ttg.memdesc<32x64xf32, #shared, #smem> -> tensor<32x64xf32, #a>
      %d = tt.dot %xa, %yb, %c : tensor<32x64xf32, #a> * tensor<64x32xf32, #b> -> tensor<32x32xf32, #blocked1>
      scf.yield %d : tensor<32x32xf32, #blocked1>
    }
    tt.return %r : tensor<32x32xf32, #blocked1>
  }
  tt.func @room(%m: !ttg.memdesc<32x32xf32, #shared, #smem>, %y: tensor<32x32xf32, #blocked>, %z: tensor<32x32xf32, #blocked1>, %n: i32) -> tensor<32x32xf32, #blocked1> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %yb = ttg.convert_layout %y : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #b>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (tensor<32x32xf32, #blocked1>) : i32 {
      %xa = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #a>
      %d = tt.dot %xa, %yb, %c : tensor<32x32xf32, #a> * tensor<32x32xf32, #b> -> tensor<32x32xf32, #blocked1>
      scf.yield %d : tensor<32x32xf32, #blocked1>
    }
    tt.return %r : tensor<32x32xf32, #blocked1>
  }
}
