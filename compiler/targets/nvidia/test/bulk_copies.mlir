// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-split-barriers | FileCheck %s

// Copies of named blocks: one thread makes them, for an mbarrier a slot. Only the first warp waits for the others.
// CHECK-LABEL: @slot_to_spare
//       CHECK:   %[[MAP:.*]] = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32}
//       CHECK:   ttng.tensormap_create %[[MAP]], %arg0, [%c64_i32{{.*}}, %c64_i32{{.*}}], {{.*}} slot %{{.*}} {elem_type = 1 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32}
//       CHECK:   ttng.tensormap_fenceproxy_acquire %[[MAP]]
//       CHECK:   %[[DESC:.*]] = ttng.reinterpret_tensor_descriptor %[[MAP]]
//       CHECK:   %[[FULL:.*]] = ttg.local_alloc : () -> !ttg.memdesc<4x1xi64
// CHECK-COUNT-4: ttng.init_barrier %{{.*}}, 1 :
//       CHECK:   %[[EMPTY:.*]] = ttg.local_alloc : () -> !ttg.memdesc<4x1xi64
// CHECK-COUNT-4: ttng.init_barrier %{{.*}}, 8 :
//       CHECK:   %[[ACTS:.*]] = arith.andi %{{.*}}, %arg7
//       CHECK:   ttng.barrier_expect %[[F0:.*]], 8192 {ttg.ordered}, %[[ACTS]]
//       CHECK:   ttng.arrive_barrier %[[F0]], 1, %{{.*}} {ttg.ordered}
//       CHECK:   ttng.async_tma_copy_global_to_local %[[DESC]][%c0_i32{{.*}}, %c0_i32{{.*}}] %{{.*}}, %[[F0]], %[[ACTS]] {ttg.ordered}
//       CHECK:   scf.for
//       CHECK:     %[[READ:.*]] = ttg.memdesc_index %[[FULL]]
//       CHECK:     ttng.wait_barrier %[[READ]], %[[PHASE:[^ ]*]] :
//       CHECK:     %[[WARP:.*]] = ttg.warp_id
//       CHECK:     %[[FIRST:.*]] = arith.cmpi eq, %[[WARP]]
//       CHECK:     %[[BEFORE:.*]] = ttg.memdesc_index %[[EMPTY]]
//       CHECK:     ttng.wait_barrier %[[BEFORE]], %{{.*}}, %[[FIRST]] :
//       CHECK:     ttng.barrier_expect
//       CHECK:     ttng.async_tma_copy_global_to_local
//   CHECK-NOT:     ttg.async_
//       CHECK:     ttng.warp_group_dot {{.*}} {in_flight, ttg.ordered}
//       CHECK:     ttng.warp_group_wait
//       CHECK:     %[[MINE:.*]] = ttg.memdesc_index %[[EMPTY]]
//       CHECK:     ttng.arrive_barrier_by_warps %[[MINE]]
//       CHECK:     scf.yield
// CHECK-COUNT-8: ttng.inval_barrier
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @slot_to_spare(%p: !tt.ptr<f16>, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %m: i64, %pitch: i64, %n: i32, %first: i1, %second: i1) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %size = arith.constant 4 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable>
    %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %b0 = tt.block_mask %inside, %p[%c0, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
    %s0 = tt.splat %first : i1 -> tensor<64x64xi1, #blocked>
    %k0 = arith.andi %b0, %s0 : tensor<64x64xi1, #blocked>
    %t0 = ttg.async_copy_global_to_local %ps, %w0 mask %k0 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %g0 = ttg.async_commit_group tokens %t0
    %w1 = ttg.memdesc_index %multibuffer[%c1] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %b1 = tt.block_mask %inside, %p[%c64, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
    %s1 = tt.splat %second : i1 -> tensor<64x64xi1, #blocked>
    %k1 = arith.andi %b1, %s1 : tensor<64x64xi1, #blocked>
    %t1 = ttg.async_copy_global_to_local %ps, %w1 mask %k1 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %g1 = ttg.async_commit_group tokens %t1
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %u = %g0, %v = %g1, %slot = %c2) -> (tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32) : i32 {
      %next0 = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %next0, %size : i32
      %next = arith.select %wraps, %c0, %next0 : i32
      %after0 = arith.addi %next, %c1 : i32
      %wraps2 = arith.cmpi eq, %after0, %size : i32
      %after = arith.select %wraps2, %c0, %after0 : i32
      %done = ttg.async_wait %u {num = 1 : i32}
      %row = arith.muli %i, %c64 : i32
      %more = arith.cmpi slt, %row, %n : i32
      %w2 = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %b2 = tt.block_mask %inside, %p[%row, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      %s2 = tt.splat %more : i1 -> tensor<64x64xi1, #blocked>
      %k2 = arith.andi %b2, %s2 : tensor<64x64xi1, #blocked>
      %t2 = ttg.async_copy_global_to_local %ps, %w2 mask %k2 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %g2 = ttg.async_commit_group tokens %t2
      %read = ttg.memdesc_index %multibuffer[%after] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %q, %read, %acc {in_flight} : !ttg.memdesc<128x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
      ttng.warp_group_wait buffers %multibuffer : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> {pending = 1 : i32}
      scf.yield %d, %v, %g2, %next : tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32
    }
    %s = ttng.warp_group_wait %r#0 : tensor<128x64xf32, #mma> -> tensor<128x64xf32, #mma> buffers %multibuffer : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
    tt.return %s : tensor<128x64xf32, #mma>
  }
}

// -----

// Dots read until the next iteration is about to copy to their slot: warps arrive there.
// CHECK-LABEL: @no_slot_to_spare
//       CHECK:   %[[EMPTY:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x1xi64
//       CHECK:   scf.for
//       CHECK:     ttng.wait_barrier %{{.*}}, %[[PHASE:[^ ]*]] :
//       CHECK:     ttng.warp_group_wait
//       CHECK:     ttng.arrive_barrier_by_warps %{{.*}}
//  CHECK-NEXT:     ttg.memdesc_index
//  CHECK-NEXT:     ttng.wait_barrier %{{.*}}, %[[PHASE]], %{{.*}} :
//       CHECK:     ttng.async_tma_copy_global_to_local
//       CHECK:     ttng.warp_group_dot
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @no_slot_to_spare(%p: !tt.ptr<f16>, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %m: i64, %pitch: i64, %n: i32, %first: i1, %second: i1) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %size = arith.constant 3 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable>
    %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %b0 = tt.block_mask %inside, %p[%c0, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
    %s0 = tt.splat %first : i1 -> tensor<64x64xi1, #blocked>
    %k0 = arith.andi %b0, %s0 : tensor<64x64xi1, #blocked>
    %t0 = ttg.async_copy_global_to_local %ps, %w0 mask %k0 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %g0 = ttg.async_commit_group tokens %t0
    %w1 = ttg.memdesc_index %multibuffer[%c1] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %b1 = tt.block_mask %inside, %p[%c64, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
    %s1 = tt.splat %second : i1 -> tensor<64x64xi1, #blocked>
    %k1 = arith.andi %b1, %s1 : tensor<64x64xi1, #blocked>
    %t1 = ttg.async_copy_global_to_local %ps, %w1 mask %k1 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %g1 = ttg.async_commit_group tokens %t1
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %u = %g0, %v = %g1, %slot = %c2) -> (tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32) : i32 {
      %next0 = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %next0, %size : i32
      %next = arith.select %wraps, %c0, %next0 : i32
      %after0 = arith.addi %next, %c1 : i32
      %wraps2 = arith.cmpi eq, %after0, %size : i32
      %after = arith.select %wraps2, %c0, %after0 : i32
      %done = ttg.async_wait %u {num = 1 : i32}
      %row = arith.muli %i, %c64 : i32
      %more = arith.cmpi slt, %row, %n : i32
      ttng.warp_group_wait buffers %multibuffer : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
      %w2 = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %b2 = tt.block_mask %inside, %p[%row, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      %s2 = tt.splat %more : i1 -> tensor<64x64xi1, #blocked>
      %k2 = arith.andi %b2, %s2 : tensor<64x64xi1, #blocked>
      %t2 = ttg.async_copy_global_to_local %ps, %w2 mask %k2 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %g2 = ttg.async_commit_group tokens %t2
      %read = ttg.memdesc_index %multibuffer[%next] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %q, %read, %acc {in_flight} : !ttg.memdesc<128x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
      scf.yield %d, %v, %g2, %next : tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32
    }
    %s = ttng.warp_group_wait %r#0 : tensor<128x64xf32, #mma> -> tensor<128x64xf32, #mma> buffers %multibuffer : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
    tt.return %s : tensor<128x64xf32, #mma>
  }
}

// -----

// A copy whose mask says more than the block stays, as do all others.
// CHECK-LABEL: @other_mask
//   CHECK-NOT:   ttng.async_tma_copy
//       CHECK:   ttg.async_copy_global_to_local
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @other_mask(%p: !tt.ptr<f16>, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %m: i64, %pitch: i64, %n: i32, %first: i1, %second: i1) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %size = arith.constant 4 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable>
    %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %b0 = tt.block_mask %inside, %p[%c0, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
    %s0 = tt.splat %first : i1 -> tensor<64x64xi1, #blocked>
    %k0 = arith.andi %b0, %s0 : tensor<64x64xi1, #blocked>
    %t0 = ttg.async_copy_global_to_local %ps, %w0 mask %k0 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %g0 = ttg.async_commit_group tokens %t0
    %w1 = ttg.memdesc_index %multibuffer[%c1] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %b1 = tt.block_mask %inside, %p[%c64, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
    %s1 = tt.splat %second : i1 -> tensor<64x64xi1, #blocked>
    %k1 = arith.andi %b1, %s1 : tensor<64x64xi1, #blocked>
    %t1 = ttg.async_copy_global_to_local %ps, %w1 mask %k1 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %g1 = ttg.async_commit_group tokens %t1
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %u = %g0, %v = %g1, %slot = %c2) -> (tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32) : i32 {
      %next0 = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %next0, %size : i32
      %next = arith.select %wraps, %c0, %next0 : i32
      %after0 = arith.addi %next, %c1 : i32
      %wraps2 = arith.cmpi eq, %after0, %size : i32
      %after = arith.select %wraps2, %c0, %after0 : i32
      %done = ttg.async_wait %u {num = 1 : i32}
      %row = arith.muli %i, %c64 : i32
      %more = arith.cmpi slt, %row, %n : i32
      %w2 = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %b2 = tt.block_mask %inside, %p[%row, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      %s2 = tt.splat %more : i1 -> tensor<64x64xi1, #blocked>
      %k2 = arith.andi %inside, %s2 : tensor<64x64xi1, #blocked>
      %t2 = ttg.async_copy_global_to_local %ps, %w2 mask %k2 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %g2 = ttg.async_commit_group tokens %t2
      %read = ttg.memdesc_index %multibuffer[%after] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %q, %read, %acc {in_flight} : !ttg.memdesc<128x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
      ttng.warp_group_wait buffers %multibuffer : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> {pending = 1 : i32}
      scf.yield %d, %v, %g2, %next : tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32
    }
    %s = ttng.warp_group_wait %r#0 : tensor<128x64xf32, #mma> -> tensor<128x64xf32, #mma> buffers %multibuffer : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
    tt.return %s : tensor<128x64xf32, #mma>
  }
}

// -----

// A tensor that the kernel writes, too: bulk copies may come before its stores.
// CHECK-LABEL: @written
//   CHECK-NOT:   ttng.async_tma_copy
//       CHECK:   ttg.async_copy_global_to_local
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @written(%p: !tt.ptr<f16>, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %m: i64, %pitch: i64, %n: i32, %first: i1, %second: i1) -> tensor<128x64xf32, #mma> {
    %h = arith.constant 1.0 : f16
    tt.store %p, %h : !tt.ptr<f16>
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %size = arith.constant 4 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable>
    %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %b0 = tt.block_mask %inside, %p[%c0, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
    %s0 = tt.splat %first : i1 -> tensor<64x64xi1, #blocked>
    %k0 = arith.andi %b0, %s0 : tensor<64x64xi1, #blocked>
    %t0 = ttg.async_copy_global_to_local %ps, %w0 mask %k0 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %g0 = ttg.async_commit_group tokens %t0
    %w1 = ttg.memdesc_index %multibuffer[%c1] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %b1 = tt.block_mask %inside, %p[%c64, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
    %s1 = tt.splat %second : i1 -> tensor<64x64xi1, #blocked>
    %k1 = arith.andi %b1, %s1 : tensor<64x64xi1, #blocked>
    %t1 = ttg.async_copy_global_to_local %ps, %w1 mask %k1 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %g1 = ttg.async_commit_group tokens %t1
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %u = %g0, %v = %g1, %slot = %c2) -> (tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32) : i32 {
      %next0 = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %next0, %size : i32
      %next = arith.select %wraps, %c0, %next0 : i32
      %after0 = arith.addi %next, %c1 : i32
      %wraps2 = arith.cmpi eq, %after0, %size : i32
      %after = arith.select %wraps2, %c0, %after0 : i32
      %done = ttg.async_wait %u {num = 1 : i32}
      %row = arith.muli %i, %c64 : i32
      %more = arith.cmpi slt, %row, %n : i32
      %w2 = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %b2 = tt.block_mask %inside, %p[%row, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      %s2 = tt.splat %more : i1 -> tensor<64x64xi1, #blocked>
      %k2 = arith.andi %b2, %s2 : tensor<64x64xi1, #blocked>
      %t2 = ttg.async_copy_global_to_local %ps, %w2 mask %k2 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %g2 = ttg.async_commit_group tokens %t2
      %read = ttg.memdesc_index %multibuffer[%after] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %q, %read, %acc {in_flight} : !ttg.memdesc<128x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
      ttng.warp_group_wait buffers %multibuffer : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> {pending = 1 : i32}
      scf.yield %d, %v, %g2, %next : tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32
    }
    %s = ttng.warp_group_wait %r#0 : tensor<128x64xf32, #mma> -> tensor<128x64xf32, #mma> buffers %multibuffer : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
    tt.return %s : tensor<128x64xf32, #mma>
  }
}
