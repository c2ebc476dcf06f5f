// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-overlap-warp-group-dots=registers=0 | FileCheck %s
// RUN: triton-opt %s -split-input-file --nvidia-overlap-warp-group-dots=registers=65536 | FileCheck %s --check-prefix=BLOCKS
// RUN: triton-opt %s -split-input-file --nvidia-overlap-warp-group-dots="registers=65536 max-shared-bytes=73728" | FileCheck %s --check-prefix=TIGHT
// RUN: triton-opt %s -split-input-file --nvidia-overlap-warp-group-dots="registers=0 max-shared-bytes=73728" | FileCheck %s --check-prefix=ROOM

// The copies of an iteration fill another slot than the dot before reads: it goes on until the next dot has been issued.
// CHECK-LABEL: @slot_to_spare
//       CHECK:   %[[RING:.*]] = ttg.local_alloc
//       CHECK:   %[[R:.*]]:2 = scf.for
//       CHECK:     ttg.async_copy_global_to_local
//   CHECK-NOT:     ttng.warp_group_wait
//       CHECK:     ttng.warp_group_dot {{.*}} {in_flight}
//  CHECK-NEXT:     ttng.warp_group_wait buffers %[[RING]] : {{.*}} {pending = 1 : i32}
//  CHECK-NEXT:     scf.yield
//       CHECK:   %[[S:.*]] = ttng.warp_group_wait %[[R]]#0 : {{.*}} buffers %[[RING]] : {{.*}} {pending = 0 : i32}
//       CHECK:   arith.addf %[[S]], %[[S]]
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @slot_to_spare(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %x: tensor<64x64xf16, #a>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable>
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
      %d = ttng.warp_group_dot %m, %m, %acc : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    %sum = arith.addf %r#0, %r#0 : tensor<64x64xf32, #mma>
    tt.return %sum : tensor<64x64xf32, #mma>
  }
}

// -----

// They fill the same slot: the dot has to have ended before.
// CHECK-LABEL: @no_slot_to_spare
//       CHECK:   scf.for
//       CHECK:     ttng.warp_group_wait buffers
//  CHECK-NEXT:     ttg.async_copy_global_to_local
//       CHECK:     ttng.warp_group_dot {{.*}} {in_flight}
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @no_slot_to_spare(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %x: tensor<64x64xf16, #a>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable>
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
      %m = ttg.memdesc_index %multibuffer[%next] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %m, %m, %acc : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    %sum = arith.addf %r#0, %r#0 : tensor<64x64xf32, #mma>
    tt.return %sum : tensor<64x64xf32, #mma>
  }
}

// -----

// The iteration uses the accumulators: the dot comes before the copies, which go on beside it.
// CHECK-LABEL: @sums_are_used
//       CHECK:   scf.for
//       CHECK:     ttg.async_wait
//       CHECK:     %[[E:.*]] = ttng.warp_group_dot {{.*}} {in_flight}
//       CHECK:     ttg.async_copy_global_to_local
//       CHECK:     %[[S:.*]] = ttng.warp_group_wait %[[E]] : {{.*}} {pending = 0 : i32}
//  CHECK-NEXT:     arith.addf %[[S]]
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @sums_are_used(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %x: tensor<64x64xf16, #a>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable>
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
      %m = ttg.memdesc_index %multibuffer[%next] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %e = ttng.warp_group_dot %m, %m, %zero : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<64x64xf32, #mma>
      %d = arith.addf %e, %acc : tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    %sum = arith.addf %r#0, %r#0 : tensor<64x64xf32, #mma>
    tt.return %sum : tensor<64x64xf32, #mma>
  }
}

// -----

// 256 accumulators: the assembler waits for each product, and the copies come first.
// CHECK-LABEL: @more_sums_than_registers
//       CHECK:   scf.for
//       CHECK:     ttg.async_wait
//       CHECK:     ttg.async_copy_global_to_local
//       CHECK:     %[[E:.*]] = ttng.warp_group_dot
//  CHECK-NEXT:     arith.addf %[[E]]
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @more_sums_than_registers(%p: tensor<128x64x!tt.ptr<f16>, #blocked>, %x: tensor<64x64xf16, #a>, %n: i32) -> tensor<128x256xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x256xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x128x64xf16, #rows, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x256xf16, #rows, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c1) -> (tensor<128x256xf32, #mma>, i32) : i32 {
      %next0 = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %next0, %size : i32
      %next = arith.select %wraps, %c0, %next0 : i32
      %after0 = arith.addi %next, %c1 : i32
      %wraps2 = arith.cmpi eq, %after0, %size : i32
      %after = arith.select %wraps2, %c0, %after0 : i32
      %done = ttg.async_wait {num = 0 : i32}
      %w = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<3x128x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<128x64xf16, #rows, #smem, mutable>
      %copy = ttg.async_copy_global_to_local %p, %w : tensor<128x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<128x64xf16, #rows, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %m = ttg.memdesc_index %multibuffer[%next] : !ttg.memdesc<3x128x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<128x64xf16, #rows, #smem, mutable>
      %e = ttng.warp_group_dot %m, %b, %zero : !ttg.memdesc<128x64xf16, #rows, #smem, mutable> * !ttg.memdesc<64x256xf16, #rows, #smem, mutable> -> tensor<128x256xf32, #mma>
      %d = arith.addf %e, %acc : tensor<128x256xf32, #mma>
      scf.yield %d, %next : tensor<128x256xf32, #mma>, i32
    }
    %sum = arith.addf %r#0, %r#0 : tensor<128x256xf32, #mma>
    tt.return %sum : tensor<128x256xf32, #mma>
  }
}

// -----

// Threads add up parts of the products where the dot stands: the copies come first.
// CHECK-LABEL: @threads_add_parts
//       CHECK:   scf.for
//       CHECK:     ttg.async_wait
//       CHECK:     ttg.async_copy_global_to_local
//       CHECK:     %[[E:.*]] = ttng.warp_group_dot
//  CHECK-NEXT:     arith.addf %[[E]]
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 32]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#columns = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @threads_add_parts(%p: tensor<128x64x!tt.ptr<f8E5M2>, #blocked>, %x: tensor<64x64xf8E5M2, #a>, %n: i32) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x128x64xf8E5M2, #rows, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x64xf8E5M2, #columns, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c1) -> (tensor<128x64xf32, #mma>, i32) : i32 {
      %next0 = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %next0, %size : i32
      %next = arith.select %wraps, %c0, %next0 : i32
      %after0 = arith.addi %next, %c1 : i32
      %wraps2 = arith.cmpi eq, %after0, %size : i32
      %after = arith.select %wraps2, %c0, %after0 : i32
      %done = ttg.async_wait {num = 0 : i32}
      %w = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<3x128x64xf8E5M2, #rows, #smem, mutable> -> !ttg.memdesc<128x64xf8E5M2, #rows, #smem, mutable>
      %copy = ttg.async_copy_global_to_local %p, %w : tensor<128x64x!tt.ptr<f8E5M2>, #blocked> -> !ttg.memdesc<128x64xf8E5M2, #rows, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %m = ttg.memdesc_index %multibuffer[%next] : !ttg.memdesc<3x128x64xf8E5M2, #rows, #smem, mutable> -> !ttg.memdesc<128x64xf8E5M2, #rows, #smem, mutable>
      %e = ttng.warp_group_dot %m, %b, %zero {maxNumImpreciseAcc = 32 : i32} : !ttg.memdesc<128x64xf8E5M2, #rows, #smem, mutable> * !ttg.memdesc<64x64xf8E5M2, #columns, #smem, mutable> -> tensor<128x64xf32, #mma>
      %d = arith.addf %e, %acc : tensor<128x64xf32, #mma>
      scf.yield %d, %next : tensor<128x64xf32, #mma>, i32
    }
    %sum = arith.addf %r#0, %r#0 : tensor<128x64xf32, #mma>
    tt.return %sum : tensor<128x64xf32, #mma>
  }
}

// -----

// Operand a is made anew before the dot of the next iteration: there it ends. It ends in its iteration where its registers, kept
// until then, would cost blocks.
// CHECK-LABEL: @operand_in_registers
//       CHECK:   scf.for
//       CHECK:     ttng.warp_group_wait
//  CHECK-NEXT:     arith.addf
//       CHECK:     ttng.warp_group_dot {{.*}} {in_flight}
// BLOCKS-LABEL: @operand_in_registers
//   BLOCKS-NOT:   in_flight
//       BLOCKS:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @operand_in_registers(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %x: tensor<64x64xf16, #a>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable>
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
    tt.return %sum : tensor<64x64xf32, #mma>
  }
}

// -----

// The selection may leave registers as they are, so the multiplication may write those of operand a.
// CHECK-LABEL: @operand_selected
//       CHECK:   scf.for
//       CHECK:     ttng.warp_group_wait
//  CHECK-NEXT:     arith.mulf
//       CHECK:     arith.select
//       CHECK:     ttng.warp_group_dot {{.*}} {in_flight}
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @operand_selected(%mask: tensor<64x64xi1, #a>, %p: tensor<64x64x!tt.ptr<f16>, #blocked>, %x: tensor<64x64xf16, #a>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %two = arith.constant dense<2.0> : tensor<64x64xf16, #a>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable>
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
      %twice = arith.mulf %x, %two : tensor<64x64xf16, #a>
      %one = arith.constant 1 : i32
      %y = arith.select %mask, %twice, %x : tensor<64x64xi1, #a>, tensor<64x64xf16, #a>
      %d = ttng.warp_group_dot %y, %m, %acc : tensor<64x64xf16, #a> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    %sum = arith.addf %r#0, %r#0 : tensor<64x64xf32, #mma>
    tt.return %sum : tensor<64x64xf32, #mma>
  }
}

// -----

// The multiplication may write operand a where the load has read its factor.
// CHECK-LABEL: @operand_in_place
//       CHECK:   scf.for
//       CHECK:     ttng.warp_group_wait
//  CHECK-NEXT:     ttg.local_load
//       CHECK:     arith.mulf
//       CHECK:     ttng.warp_group_dot {{.*}} {in_flight}
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @operand_in_place(%read: !ttg.memdesc<64x64xf16, #rows, #smem>, %p: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %two = arith.constant dense<2.0> : tensor<64x64xf16, #a>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable>
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
      %x = ttg.local_load %read : !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf16, #a>
      %y = arith.mulf %x, %two : tensor<64x64xf16, #a>
      %d = ttng.warp_group_dot %y, %m, %acc : tensor<64x64xf16, #a> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    %sum = arith.addf %r#0, %r#0 : tensor<64x64xf32, #mma>
    tt.return %sum : tensor<64x64xf32, #mma>
  }
}

// -----

// A buffer that each iteration fills takes turns with a second one, unless a multiprocessor then held fewer blocks. The wait for the
// dot before comes in front of the barrier that the filled buffer needs.
// CHECK-LABEL: @filled_from_registers
// BLOCKS-LABEL: @filled_from_registers
// TIGHT-LABEL: @filled_from_registers
//   TIGHT-NOT:   !ttg.memdesc<2x
//       TIGHT:   tt.return
//       BLOCKS:   in_flight
//       CHECK:   %[[TWO:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, {{.*}} mutable>
//       CHECK:   scf.for {{.*}} %[[TURN:[a-z0-9]+]] = %c0_i32{{.*}})
//       CHECK:     %[[B:.*]] = ttg.memdesc_index %[[TWO]][%[[TURN]]]
//       CHECK:     ttg.local_store %{{.*}}, %[[B]]
//       CHECK:     ttng.warp_group_wait buffers %{{.*}}, %[[TWO]]
//  CHECK-NEXT:     ttng.warp_group_dot %{{.*}}, %[[B]], {{.*}} {in_flight}
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @filled_from_registers(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %x: tensor<64x64xf16, #a>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable>
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
      %v = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %b = ttg.local_alloc %v : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #rows, #smem>
      %d = ttng.warp_group_dot %m, %b, %acc : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    %sum = arith.addf %r#0, %r#0 : tensor<64x64xf32, #mma>
    tt.return %sum : tensor<64x64xf32, #mma>
  }
}

// -----

// Out of loops: nothing comes in between, so the dot waits for itself.
// CHECK-LABEL: @alone
//   CHECK-NOT:   in_flight
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @alone(%m: !ttg.memdesc<64x64xf16, #rows, #smem>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %d = ttng.warp_group_dot %m, %m, %c : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
}

// -----

// The third dot needs nothing of the first: it comes before what threads make of that, and before the dot that waits for it.
// CHECK-LABEL: @ready
//       CHECK:   scf.for
//       CHECK:     %[[S:.*]] = ttng.warp_group_dot %[[K:[^,]*]], %{{[^,]*}}, %[[ZERO:[^ ]*]] {in_flight}
//       CHECK:     %[[E:.*]] = ttng.warp_group_dot %[[K]], %{{[^,]*}}, %[[ZERO]] {in_flight}
//       CHECK:     %[[T:.*]] = ttng.warp_group_wait %[[S]] {{.*}} {pending = 1 : i32}
//       CHECK:     %[[P:.*]] = math.exp2 %[[T]]
//       CHECK:     ttng.warp_group_dot %{{.*}} {in_flight}
//       CHECK:     %[[F:.*]] = ttng.warp_group_wait %[[E]] {{.*}} {pending = 1 : i32}
//       CHECK:     arith.mulf %[[P]], %[[F]]
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @ready(%k: !ttg.memdesc<64x64xf16, #rows, #smem>, %x: !ttg.memdesc<64x64xf16, #rows, #smem>, %y: !ttg.memdesc<64x64xf16, #rows, #smem>, %n: i32) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %sum = %zero) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) : i32 {
      %s = ttng.warp_group_dot %k, %x, %zero : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      %p = math.exp2 %s : tensor<64x64xf32, #mma>
      %ph = arith.truncf %p : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %pa = ttg.convert_layout %ph : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
      %d = ttng.warp_group_dot %pa, %y, %acc : tensor<64x64xf16, #a> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      %e = ttng.warp_group_dot %k, %y, %zero : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      %f = arith.mulf %p, %e : tensor<64x64xf32, #mma>
      %t = arith.addf %sum, %f : tensor<64x64xf32, #mma>
      scf.yield %d, %t : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
    }
    tt.return %r#0, %r#1 : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
  }
}

// -----

// The loop carries operand a: the dot ends before the one of the next iteration is made, for the registers may be the same.
// CHECK-LABEL: @carried_operand
//       CHECK:   scf.for
//       CHECK:     %[[S:.*]] = ttng.warp_group_dot {{.*}} {in_flight}
//       CHECK:     %[[D:.*]] = ttng.warp_group_dot {{.*}} {in_flight}
//       CHECK:     %[[T:.*]] = ttng.warp_group_wait %[[S]] {{.*}} {pending = 1 : i32}
//       CHECK:     %[[P:.*]] = math.exp2 %[[T]]
//       CHECK:     %[[E:.*]] = ttng.warp_group_wait %[[D]] {{.*}} {pending = 0 : i32}
//  CHECK-NEXT:     arith.truncf %[[P]]
//       CHECK:     scf.yield %[[E]]
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @carried_operand(%k: !ttg.memdesc<64x64xf16, #rows, #smem>, %x: !ttg.memdesc<64x64xf16, #rows, #smem>, %first: tensor<64x64xf16, #a>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %first) -> (tensor<64x64xf32, #mma>, tensor<64x64xf16, #a>) : i32 {
      %s = ttng.warp_group_dot %k, %x, %zero : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      %d = ttng.warp_group_dot %pa, %x, %acc : tensor<64x64xf16, #a> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      %p = math.exp2 %s : tensor<64x64xf32, #mma>
      %ph = arith.truncf %p : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %next = ttg.convert_layout %ph : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, tensor<64x64xf16, #a>
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// Threads read the accumulators of both dots of the iteration before: the first wait ends them together.
// CHECK-LABEL: @both_are_read
//       CHECK:   scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}})
//       CHECK:     ttng.warp_group_wait %[[X]] : {{.*}} {pending = 0 : i32}
//       CHECK:     ttng.warp_group_wait %[[Y]] : {{.*}} {pending = 0 : i32}
//       CHECK:     ttng.warp_group_dot {{.*}} {in_flight}
//       CHECK:     ttng.warp_group_dot {{.*}} {in_flight}
//  CHECK-NEXT:     scf.yield
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @both_are_read(%q: tensor<64x64xf16, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc %q : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #rows, #smem>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero, %y = %zero) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) : i32 {
      %a = arith.mulf %x, %x : tensor<64x64xf32, #mma>
      %b = arith.mulf %y, %y : tensor<64x64xf32, #mma>
      %d = ttng.warp_group_dot %m, %m, %a : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      %e = ttng.warp_group_dot %m, %m, %b : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d, %e : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
    }
    %s = arith.addf %r#0, %r#1 : tensor<64x64xf32, #mma>
    tt.return %s : tensor<64x64xf32, #mma>
  }
}

// -----

// The second product adds to the first one's accumulators. Where threads have them, both have ended: one wait.
// CHECK-LABEL: @two_products_add
//       CHECK:   scf.for
//       CHECK:     %[[S:.*]] = ttng.warp_group_dot %arg0, %arg1, %{{.*}} {in_flight}
//       CHECK:     %[[T:.*]] = ttng.warp_group_dot %arg1, %arg2, %[[S]] {in_flight}
//       CHECK:     ttng.warp_group_wait %[[T]] : {{.*}} buffers %arg1, %arg2, %arg0 {{.*}} {pending = 0 : i32}
//   CHECK-NOT:     ttng.warp_group_wait
//       CHECK:     scf.yield
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @two_products_add(%k: !ttg.memdesc<64x64xf16, #rows, #smem>, %x: !ttg.memdesc<64x64xf16, #rows, #smem>, %y: !ttg.memdesc<64x64xf16, #rows, #smem>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %s = ttng.warp_group_dot %k, %x, %zero : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      %t = ttng.warp_group_dot %x, %y, %s : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      %twice = arith.addf %sum, %sum : tensor<64x64xf32, #mma>
      %p = math.exp2 %t : tensor<64x64xf32, #mma>
      %next = arith.addf %twice, %p : tensor<64x64xf32, #mma>
      scf.yield %next : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

// Only a dot adds to the first one's result. Its buffers are free where that one has ended, which is at once.
// CHECK-LABEL: @ends_with_the_next
//       CHECK:   %[[M:.*]] = ttg.local_alloc %arg0
//       CHECK:   ttng.warp_group_dot %[[M]], %[[M]], %{{.*}} {in_flight}
//       CHECK:   %[[N:.*]] = ttg.local_alloc
//       CHECK:   ttng.warp_group_dot %[[N]], %[[N]], %{{[a-z0-9_]*}} :
//  CHECK-NEXT:   ttng.warp_group_wait buffers %[[M]] : {{.*}} {pending = 0 : i32}
//   CHECK-NOT:   ttng.warp_group_wait
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @ends_with_the_next(%x: tensor<64x64xf16, #blocked>) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %m = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #rows, #smem>
    %d = ttng.warp_group_dot %m, %m, %zero : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
    %y = arith.addf %x, %x : tensor<64x64xf16, #blocked>
    %n = ttg.local_alloc %y : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #rows, #smem>
    %e = ttng.warp_group_dot %n, %n, %d : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
    %f = arith.addf %e, %e : tensor<64x64xf32, #mma>
    tt.return %f : tensor<64x64xf32, #mma>
  }
}

// -----

// The next iteration carries the sums on as they were before its dot, too. So it waits in front of the dot, and copies
// them there.
// CHECK-LABEL: @sums_before_too
//       CHECK:   scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
//       CHECK:     %[[S:.*]] = ttng.warp_group_wait %[[ACC]] : {{.*}} {pending = 0 : i32}
//       CHECK:     %[[D:.*]] = ttng.warp_group_dot %{{.*}}, %{{.*}}, %[[S]] {in_flight}
//       CHECK:     scf.yield %[[D]], %[[S]]
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @sums_before_too(%m: !ttg.memdesc<64x64xf16, #rows, #smem>, %out: !tt.ptr<i32>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %before = %zero) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %m, %m, %acc : !ttg.memdesc<64x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      tt.store %out, %i : !tt.ptr<i32>
      scf.yield %d, %acc : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
    }
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// Five buffers of 16 KiB. Where there is room for four, the first dot ends where the fifth is made. Where registers leave
// two blocks, each has room for two.
// CHECK-LABEL: @row_of_dots
//   CHECK-NOT:   ttng.warp_group_wait
// CHECK-COUNT-4: ttng.warp_group_dot {{.*}} {in_flight}
//   CHECK-NOT:   ttng.warp_group_wait
//       CHECK:   ttg.local_alloc
//  CHECK-NEXT:   ttng.warp_group_dot
//  ROOM-LABEL: @row_of_dots
//        ROOM:   %[[FIRST:.*]] = ttg.local_alloc
// ROOM-COUNT-4:  ttng.warp_group_dot {{.*}} {in_flight}
//   ROOM-NEXT:   ttng.warp_group_wait buffers %[[FIRST]] : {{.*}} {pending = 3 : i32}
//   ROOM-NEXT:   ttg.local_alloc
//   ROOM-NEXT:   ttng.warp_group_dot
// TIGHT-LABEL: @row_of_dots
//       TIGHT:   %[[FIRST:.*]] = ttg.local_alloc
// TIGHT-COUNT-2: ttng.warp_group_dot {{.*}} {in_flight}
//  TIGHT-NEXT:   ttng.warp_group_wait buffers %[[FIRST]] : {{.*}} {pending = 1 : i32}
//  TIGHT-NEXT:   ttg.local_alloc
//  TIGHT-NEXT:   ttng.warp_group_dot
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @row_of_dots(%x: tensor<64x128xf16, #a>, %y0: tensor<128x64xf16, #blocked>, %y1: tensor<128x64xf16, #blocked>, %y2: tensor<128x64xf16, #blocked>, %y3: tensor<128x64xf16, #blocked>, %y4: tensor<128x64xf16, #blocked>) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %b0 = ttg.local_alloc %y0 : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %d0 = ttng.warp_group_dot %x, %b0, %zero : tensor<64x128xf16, #a> * !ttg.memdesc<128x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
    %b1 = ttg.local_alloc %y1 : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %d1 = ttng.warp_group_dot %x, %b1, %d0 : tensor<64x128xf16, #a> * !ttg.memdesc<128x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
    %b2 = ttg.local_alloc %y2 : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %d2 = ttng.warp_group_dot %x, %b2, %d1 : tensor<64x128xf16, #a> * !ttg.memdesc<128x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
    %b3 = ttg.local_alloc %y3 : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %d3 = ttng.warp_group_dot %x, %b3, %d2 : tensor<64x128xf16, #a> * !ttg.memdesc<128x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
    %b4 = ttg.local_alloc %y4 : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %d4 = ttng.warp_group_dot %x, %b4, %d3 : tensor<64x128xf16, #a> * !ttg.memdesc<128x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
    tt.return %d4 : tensor<64x64xf32, #mma>
  }
}
