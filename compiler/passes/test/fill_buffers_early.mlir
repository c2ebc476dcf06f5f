// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-fill-buffers-early="registers=128" | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-fill-buffers-early="registers=512" | FileCheck %s --check-prefix=ROOM
// RUN: triton-opt %s -split-input-file --ttg-fill-buffers-early="registers=128 max-buffer-bytes=16384" | FileCheck %s --check-prefix=ROOM

// 64 words of each operand, beside 32 of accumulators.
// CHECK-LABEL: @attends
//       CHECK:   %[[K:.*]] = tt.load %arg0
//  CHECK-NEXT:   %[[V:.*]] = tt.load %arg1
//  CHECK-NEXT:   ttg.local_alloc %[[K]]
//  CHECK-NEXT:   ttg.local_alloc %[[V]]
//       CHECK:   tt.dot
//       CHECK:   tt.dot
//  ROOM-LABEL: @attends
//        ROOM:   %[[K:.*]] = tt.load %arg0
//   ROOM-NEXT:   %[[V:.*]] = tt.load %arg1
//   ROOM-NEXT:   ttg.local_alloc %[[K]]
//        ROOM:   tt.dot
//        ROOM:   ttg.local_alloc %[[V]]
//        ROOM:   tt.dot
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [2, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @attends(%p: tensor<64x128x!tt.ptr<f16>, #blocked>, %q: tensor<64x128x!tt.ptr<f16>, #blocked>, %x: tensor<16x64xf16, #a>, %n: i32) -> tensor<16x128xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<16x128xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x128xf32, #mma>) : i32 {
      %k = tt.load %p : tensor<64x128x!tt.ptr<f16>, #blocked>
      %v = tt.load %q : tensor<64x128x!tt.ptr<f16>, #blocked>
      %ka = ttg.local_alloc %k : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
      %kb = ttg.local_load %ka : !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<64x128xf16, #b>
      %s = tt.dot %x, %kb, %acc : tensor<16x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<16x128xf32, #mma>
      %va = ttg.local_alloc %v : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
      %vb = ttg.local_load %va : !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<64x128xf16, #b>
      %d = tt.dot %x, %vb, %s : tensor<16x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<16x128xf32, #mma>
      scf.yield %d : tensor<16x128xf32, #mma>
    }
    tt.return %r : tensor<16x128xf32, #mma>
  }
}

// -----

// The same without a loop. The second operand is turned on its way.
// CHECK-LABEL: @attends_once
//       CHECK:   %[[K:.*]] = tt.load %arg0
//  CHECK-NEXT:   %[[V:.*]] = tt.load %arg1
//  CHECK-NEXT:   ttg.local_alloc %[[K]]
//  CHECK-NEXT:   %[[T:.*]] = tt.trans %[[V]]
//  CHECK-NEXT:   ttg.local_alloc %[[T]]
//       CHECK:   tt.dot
//       CHECK:   tt.dot
//  ROOM-LABEL: @attends_once
//        ROOM:   tt.dot
//        ROOM:   tt.trans
//        ROOM:   ttg.local_alloc
//        ROOM:   tt.dot
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [2, 1], order = [1, 0]}>
#turned = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 2], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#shared_t = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @attends_once(%p: tensor<64x128x!tt.ptr<f16>, #blocked>, %q: tensor<128x64x!tt.ptr<f16>, #blocked>, %x: tensor<16x64xf16, #a>, %acc: tensor<16x128xf32, #mma>) -> tensor<16x128xf32, #mma> {
    %k = tt.load %p : tensor<64x128x!tt.ptr<f16>, #blocked>
    %v = tt.load %q : tensor<128x64x!tt.ptr<f16>, #blocked>
    %ka = ttg.local_alloc %k : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
    %kb = ttg.local_load %ka : !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<64x128xf16, #b>
    %s = tt.dot %x, %kb, %acc : tensor<16x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<16x128xf32, #mma>
    %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<128x64xf16, #blocked> -> tensor<64x128xf16, #turned>
    %va = ttg.local_alloc %t : (tensor<64x128xf16, #turned>) -> !ttg.memdesc<64x128xf16, #shared_t, #smem>
    %vb = ttg.local_load %va : !ttg.memdesc<64x128xf16, #shared_t, #smem> -> tensor<64x128xf16, #b>
    %d = tt.dot %x, %vb, %s : tensor<16x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<16x128xf32, #mma>
    tt.return %d : tensor<16x128xf32, #mma>
  }
}

// -----

// Threads load the first operand by pointers in its encoding. No buffer holds pointers.
// CHECK-LABEL: @operand_of_pointers
//       CHECK:   tt.addptr
//  CHECK-NEXT:   tt.load
//       CHECK:   tt.dot
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @operand_of_pointers(%p: tensor<64x64x!tt.ptr<f16>, #a>, %i: tensor<64x64xi32, #a>, %b: tensor<64x64xf16, #blocked>, %acc: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %q = tt.addptr %p, %i : tensor<64x64x!tt.ptr<f16>, #a>, tensor<64x64xi32, #a>
    %x = tt.load %q : tensor<64x64x!tt.ptr<f16>, #a>
    %s = ttg.local_alloc %b : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %y = ttg.local_load %s : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #b>
    %d = tt.dot %x, %y, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
}
