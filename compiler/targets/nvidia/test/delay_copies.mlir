// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-overlap-warp-group-dots=registers=0 | FileCheck %s
// RUN: triton-opt %s -split-input-file --nvidia-overlap-warp-group-dots=registers=0 --convert-scf-to-cf --ttg-allocate-shared-memory --ttg-insert-barriers | FileCheck %s --check-prefix=BARRIERS

// The threads make b while the dot before goes on; then the copies that wait for it start. One barrier serves both.
// CHECK-LABEL: @made_meanwhile
//       CHECK:   scf.for
//       CHECK:     ttg.async_wait
//       CHECK:     tt.load
//       CHECK:     ttg.local_store
//       CHECK:     ttng.warp_group_wait buffers
//       CHECK:     ttg.async_copy_global_to_local
//       CHECK:     ttg.async_commit_group
//       CHECK:     ttng.warp_group_dot {{.*}} {in_flight}
//
// BARRIERS-LABEL: @made_meanwhile
//       BARRIERS:   ttg.async_wait
//   BARRIERS-NOT:   ttg.barrier
//       BARRIERS:   ttg.local_store
//   BARRIERS-NOT:   ttg.barrier
//       BARRIERS:   ttng.warp_group_wait
//       BARRIERS:   ttg.barrier local
//       BARRIERS:   ttg.async_copy_global_to_local
//   BARRIERS-NOT:   ttg.barrier
//       BARRIERS:   ttng.warp_group_dot
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @made_meanwhile(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c1) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %next0 = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %next0, %size : i32
      %next = arith.select %wraps, %c0, %next0 : i32
      %done = ttg.async_wait {num = 0 : i32}
      %w = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %copy = ttg.async_copy_global_to_local %p, %w : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %b = ttg.local_alloc %y : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #rows, #smem>
      %m = ttg.memdesc_index %multibuffer[%next] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %m, %b, %acc : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// Copies do not pass a write of what they may read.
// CHECK-LABEL: @written_meanwhile
//       CHECK:   scf.for
//       CHECK:     ttng.warp_group_wait buffers
//       CHECK:     ttg.async_copy_global_to_local
//       CHECK:     tt.store
//       CHECK:     ttg.local_store
//
// BARRIERS-LABEL: @written_meanwhile
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @written_meanwhile(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c1) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %next0 = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %next0, %size : i32
      %next = arith.select %wraps, %c0, %next0 : i32
      %done = ttg.async_wait {num = 0 : i32}
      %w = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %copy = ttg.async_copy_global_to_local %p, %w : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      tt.store %q, %y : tensor<64x64x!tt.ptr<f16>, #blocked>
      %b = ttg.local_alloc %y : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #rows, #smem>
      %m = ttg.memdesc_index %multibuffer[%next] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %m, %b, %acc : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> * !ttg.memdesc<64x64xf16, #rows, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// The threads make nothing: the dot is issued first, and the copies have the time of two others to arrive.
// CHECK-LABEL: @after_the_dot
//       CHECK:   scf.for
//       CHECK:     ttg.async_wait
//       CHECK:     ttng.warp_group_dot {{.*}} {in_flight}
//       CHECK:     ttng.warp_group_wait buffers {{.*}} {pending = 1
//       CHECK:     ttg.async_copy_global_to_local
//       CHECK:     ttg.async_commit_group
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @after_the_dot(%p: tensor<128x128x!tt.ptr<f16>, #blocked>, %x: tensor<64x128xf16, #blocked>, %n: i32) -> tensor<64x128xf32, #mma> {
    %a = ttg.local_alloc %x : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #rows, #smem>
    %zero = arith.constant dense<0.0> : tensor<64x128xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 4 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x128x128xf16, #rows, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c1) -> (tensor<64x128xf32, #mma>, i32) : i32 {
      %next0 = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %next0, %size : i32
      %next = arith.select %wraps, %c0, %next0 : i32
      %done = ttg.async_wait {num = 0 : i32}
      %w = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<4x128x128xf16, #rows, #smem, mutable> -> !ttg.memdesc<128x128xf16, #rows, #smem, mutable>
      %copy = ttg.async_copy_global_to_local %p, %w : tensor<128x128x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<128x128xf16, #rows, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %m = ttg.memdesc_index %multibuffer[%next] : !ttg.memdesc<4x128x128xf16, #rows, #smem, mutable> -> !ttg.memdesc<128x128xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %a, %m, %acc : !ttg.memdesc<64x128xf16, #rows, #smem> * !ttg.memdesc<128x128xf16, #rows, #smem, mutable> -> tensor<64x128xf32, #mma>
      scf.yield %d, %next : tensor<64x128xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x128xf32, #mma>
  }
}

// -----

// They would have the time of one.
// CHECK-LABEL: @too_late_after_the_dot
//       CHECK:   scf.for
//       CHECK:     ttg.async_wait
//       CHECK:     ttg.async_copy_global_to_local
//       CHECK:     ttng.warp_group_dot
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @too_late_after_the_dot(%p: tensor<128x128x!tt.ptr<f16>, #blocked>, %x: tensor<64x128xf16, #blocked>, %n: i32) -> tensor<64x128xf32, #mma> {
    %a = ttg.local_alloc %x : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #rows, #smem>
    %zero = arith.constant dense<0.0> : tensor<64x128xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x128x128xf16, #rows, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c1) -> (tensor<64x128xf32, #mma>, i32) : i32 {
      %next0 = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %next0, %size : i32
      %next = arith.select %wraps, %c0, %next0 : i32
      %done = ttg.async_wait {num = 0 : i32}
      %w = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<3x128x128xf16, #rows, #smem, mutable> -> !ttg.memdesc<128x128xf16, #rows, #smem, mutable>
      %copy = ttg.async_copy_global_to_local %p, %w : tensor<128x128x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<128x128xf16, #rows, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %m = ttg.memdesc_index %multibuffer[%next] : !ttg.memdesc<3x128x128xf16, #rows, #smem, mutable> -> !ttg.memdesc<128x128xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %a, %m, %acc : !ttg.memdesc<64x128xf16, #rows, #smem> * !ttg.memdesc<128x128xf16, #rows, #smem, mutable> -> tensor<64x128xf32, #mma>
      scf.yield %d, %next : tensor<64x128xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x128xf32, #mma>
  }
}
