// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-bulk-stores=multiprocessors=132 | FileCheck %s

// Shared memory is enough for three such blocks, and the slot would leave room for two. The grid has one for each
// multiprocessor.
// CHECK-LABEL: @one_block
//       CHECK:   scf.for
//       CHECK:     scf.for
//       CHECK:     ttng.async_tma_copy_local_to_global
//   CHECK-NOT:     tt.store
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @one_block(%p: !tt.ptr<f16>, %m: i32, %n: i32, %pitch: i64, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %zero: tensor<64x64xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #tile, #smem>, %b: !ttg.memdesc<64x64xf16, #turned, #smem>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant 132 : i32
    %one = arith.constant 1 : i64
    %rows = arith.extsi %m : i32 to i64
    %used = ttg.local_alloc : () -> !ttg.memdesc<9x64x64xf16, #tile, #smem, mutable>
    %first = tt.get_program_id x : i32
    scf.for %i = %first to %m step %step : i32 {
      %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
        %d = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x64xf16, #turned, #smem> -> tensor<64x64xf32, #mma>
        scf.yield %d : tensor<64x64xf32, #mma>
      }
      %x = arith.truncf %s : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %c = ttg.convert_layout %x : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
      %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      tt.store %ps, %c, %k : tensor<64x64x!tt.ptr<f16>, #blocked>
    }
    ttg.local_dealloc %used : !ttg.memdesc<9x64x64xf16, #tile, #smem, mutable>
    tt.return
  }
}

// -----

// The same with three blocks for each multiprocessor.
// CHECK-LABEL: @three_blocks
//       CHECK:     tt.store
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @three_blocks(%p: !tt.ptr<f16>, %m: i32, %n: i32, %pitch: i64, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %zero: tensor<64x64xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #tile, #smem>, %b: !ttg.memdesc<64x64xf16, #turned, #smem>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant 396 : i32
    %one = arith.constant 1 : i64
    %rows = arith.extsi %m : i32 to i64
    %used = ttg.local_alloc : () -> !ttg.memdesc<9x64x64xf16, #tile, #smem, mutable>
    %first = tt.get_program_id x : i32
    scf.for %i = %first to %m step %step : i32 {
      %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
        %d = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x64xf16, #turned, #smem> -> tensor<64x64xf32, #mma>
        scf.yield %d : tensor<64x64xf32, #mma>
      }
      %x = arith.truncf %s : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %c = ttg.convert_layout %x : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
      %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      tt.store %ps, %c, %k : tensor<64x64x!tt.ptr<f16>, #blocked>
    }
    ttg.local_dealloc %used : !ttg.memdesc<9x64x64xf16, #tile, #smem, mutable>
    tt.return
  }
}
