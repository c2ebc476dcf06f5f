// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --nvidia-overlap-warp-group-dots="registers=65536 multiprocessors=132" | FileCheck %s
// RUN: triton-opt %s --nvidia-overlap-warp-group-dots="registers=65536" | FileCheck %s --check-prefix=ANY

// Operand a stays in its registers until the next iteration where that costs no blocks: the grid has one a
// multiprocessor.
// CHECK-LABEL: @one_block
//       CHECK:   ttng.warp_group_dot {{.*}} {in_flight}
// ANY-LABEL: @one_block
//   ANY-NOT:   in_flight
//       ANY:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @one_block(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %x: tensor<64x64xf16, #a>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable>
    %c132 = arith.constant 132 : i32
    %first = tt.get_program_id x : i32
    %t = scf.for %tile = %first to %n step %c132 iter_args(%last = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c1) -> (tensor<64x64xf32, #mma>, i32) : i32 {
        %next0 = arith.addi %slot, %c1 : i32
        %wraps = arith.cmpi eq, %next0, %size : i32
        %next = arith.select %wraps, %c0, %next0 : i32
        %after0 = arith.addi %next, %c1 : i32
        %wraps2 = arith.cmpi eq, %after0, %size : i32
        %after = arith.select %wraps2, %c0, %after0 : i32
        %done = ttg.async_wait {num = 0 : i32}
        %w = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
        %copy = ttg.async_copy_global_to_local %p, %w : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
        %group = ttg.async_commit_group tokens %copy
        %m = ttg.memdesc_index %multibuffer[%after] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
        %y = arith.addf %x, %x : tensor<64x64xf16, #a>
        %d = ttng.warp_group_dot %y, %m, %acc : tensor<64x64xf16, #a> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<64x64xf32, #mma>
        scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
      }
      %sum = arith.addf %r#0, %r#0 : tensor<64x64xf32, #mma>
      scf.yield %sum : tensor<64x64xf32, #mma>
    }
    tt.return %t : tensor<64x64xf32, #mma>
  }
}
