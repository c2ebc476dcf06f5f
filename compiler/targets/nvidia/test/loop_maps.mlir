// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-split-barriers=loop-maps | FileCheck %s

// The loop over groups makes their maps, after a barrier. Copies of an empty tensor lie outside. They go on from tile to
// tile of a group.
// CHECK-LABEL: @each_group
//       CHECK:   %[[SLOT:.*]] = ttg.local_alloc {alignment = 128 : i32}
//       CHECK:   scf.for
//       CHECK:     %[[ROWS:.*]] = tt.load
//       CHECK:     %[[BASE:.*]] = tt.addptr %arg0
//  CHECK-NEXT:     ttg.barrier all
//       CHECK:     arith.maxsi %[[ROWS]]
//       CHECK:     %[[MAP:.*]] = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32}
//       CHECK:     ttng.tensormap_create %[[MAP]], %[[BASE]], {{.*}} slot %[[SLOT]]
//       CHECK:     arith.cmpi slt, %[[ROWS]]
//       CHECK:     %[[EMPTY:.*]] = arith.ori
//       CHECK:     ttng.tensormap_fenceproxy_acquire %[[MAP]]
//       CHECK:     %[[DESC:.*]] = ttng.reinterpret_tensor_descriptor %[[MAP]]
//   CHECK-NOT:     ttng.fence_async_global
//       CHECK:     %[[FIRST:.*]] = arith.select %[[EMPTY]], %c-16777216_i32
//       CHECK:     ttng.async_tma_copy_global_to_local %[[DESC]][%[[FIRST]], %{{.*}}]
//       CHECK:     scf.for {{.*}} iter_args
//   CHECK-NOT:       ttng.tensormap_create
//       CHECK:       scf.for
//       CHECK:         arith.select %[[EMPTY]]
//       CHECK:         ttng.async_tma_copy_global_to_local %[[DESC]][
//       CHECK:       tt.store
//       CHECK:     ttng.inval_barrier
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @each_group(%p: !tt.ptr<f16>, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %to: tensor<128x64x!tt.ptr<f32>, #mma>, %sizes: !tt.ptr<i64>, %n: i32, %tiles: i32, %group: i32, %first: i1, %second: i1) {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %size = arith.constant 4 : i32
    %left = arith.subi %n, %c2 : i32
    scf.for %group_number = %c0 to %tiles step %c1 : i32 {
      %at = tt.addptr %sizes, %group_number : !tt.ptr<i64>, i32
      %m = tt.load %at : !tt.ptr<i64>
      %pitch = arith.extsi %group_number : i32 to i64
      %base = tt.addptr %p, %group_number : !tt.ptr<f16>, i32
      scf.for %tile = %c1 to %tiles step %c2 : i32 {
        %column = arith.divsi %tile, %group : i32
        %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable>
        %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
        %b0 = tt.block_mask %inside, %base[%c0, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
        %s0 = tt.splat %first : i1 -> tensor<64x64xi1, #blocked>
        %k0 = arith.andi %b0, %s0 : tensor<64x64xi1, #blocked>
        %t0 = ttg.async_copy_global_to_local %ps, %w0 mask %k0 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
        %g0 = ttg.async_commit_group tokens %t0
        %w1 = ttg.memdesc_index %multibuffer[%c1] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
        %b1 = tt.block_mask %inside, %base[%c64, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
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
          %ahead = arith.addi %i, %c2 : i32
          %row = arith.muli %ahead, %c64 : i32
          %more = arith.cmpi slt, %i, %left : i32
          %w2 = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
          %b2 = tt.block_mask %inside, %base[%row, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
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
        tt.store %to, %s : tensor<128x64x!tt.ptr<f32>, #mma>
      }
    }
    tt.return
  }
}


// -----

// A pointer that the kernel loads may be one to what it writes: that comes before the copies, and they do not go on with
// the next tile.
// CHECK-LABEL: @own_writes
//       CHECK:   scf.for
//       CHECK:     ttng.tensormap_create
//       CHECK:     scf.for
//       CHECK:       ttng.fence_async_global
//  CHECK-NEXT:       ttg.barrier all
//       CHECK:       ttng.init_barrier
//       CHECK:       ttng.async_tma_copy_global_to_local
//       CHECK:       scf.for
//       CHECK:         ttng.async_tma_copy_global_to_local
//       CHECK:       tt.store
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @own_writes(%p: !tt.ptr<f16>, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %to: tensor<128x64x!tt.ptr<f32>, #mma>, %sizes: !tt.ptr<i64>, %n: i32, %tiles: i32, %group: i32, %first: i1, %second: i1) {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %size = arith.constant 4 : i32
    %left = arith.subi %n, %c2 : i32
    scf.for %group_number = %c0 to %tiles step %c1 : i32 {
      %at = tt.addptr %sizes, %group_number : !tt.ptr<i64>, i32
      %m = tt.load %at : !tt.ptr<i64>
      %pitch = arith.extsi %group_number : i32 to i64
      %base = tt.int_to_ptr %m : i64 -> !tt.ptr<f16>
      scf.for %tile = %c1 to %tiles step %c2 : i32 {
        %column = arith.divsi %tile, %group : i32
        %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable>
        %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
        %b0 = tt.block_mask %inside, %base[%c0, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
        %s0 = tt.splat %first : i1 -> tensor<64x64xi1, #blocked>
        %k0 = arith.andi %b0, %s0 : tensor<64x64xi1, #blocked>
        %t0 = ttg.async_copy_global_to_local %ps, %w0 mask %k0 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
        %g0 = ttg.async_commit_group tokens %t0
        %w1 = ttg.memdesc_index %multibuffer[%c1] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
        %b1 = tt.block_mask %inside, %base[%c64, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
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
          %ahead = arith.addi %i, %c2 : i32
          %row = arith.muli %ahead, %c64 : i32
          %more = arith.cmpi slt, %i, %left : i32
          %w2 = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
          %b2 = tt.block_mask %inside, %base[%row, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
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
        tt.store %to, %s : tensor<128x64x!tt.ptr<f32>, #mma>
      }
    }
    tt.return
  }
}


// -----

// Here nothing is written.
// CHECK-LABEL: @no_writes
//   CHECK-NOT:   ttng.fence_async_global
//       CHECK:   ttng.async_tma_copy_global_to_local
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @no_writes(%p: !tt.ptr<f16>, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %to: tensor<128x64x!tt.ptr<f32>, #mma>, %sizes: !tt.ptr<i64>, %n: i32, %tiles: i32, %group: i32, %first: i1, %second: i1) {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %size = arith.constant 4 : i32
    %left = arith.subi %n, %c2 : i32
    scf.for %group_number = %c0 to %tiles step %c1 : i32 {
      %at = tt.addptr %sizes, %group_number : !tt.ptr<i64>, i32
      %m = tt.load %at : !tt.ptr<i64>
      %pitch = arith.extsi %group_number : i32 to i64
      %base = tt.int_to_ptr %m : i64 -> !tt.ptr<f16>
      scf.for %tile = %c1 to %tiles step %c2 : i32 {
        %column = arith.divsi %tile, %group : i32
        %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable>
        %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
        %b0 = tt.block_mask %inside, %base[%c0, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
        %s0 = tt.splat %first : i1 -> tensor<64x64xi1, #blocked>
        %k0 = arith.andi %b0, %s0 : tensor<64x64xi1, #blocked>
        %t0 = ttg.async_copy_global_to_local %ps, %w0 mask %k0 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
        %g0 = ttg.async_commit_group tokens %t0
        %w1 = ttg.memdesc_index %multibuffer[%c1] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
        %b1 = tt.block_mask %inside, %base[%c64, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
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
          %ahead = arith.addi %i, %c2 : i32
          %row = arith.muli %ahead, %c64 : i32
          %more = arith.cmpi slt, %i, %left : i32
          %w2 = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
          %b2 = tt.block_mask %inside, %base[%row, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
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
      }
    }
    tt.return
  }
}


// -----

// Such writes may lie between a copy and the wait for it.
// CHECK-LABEL: @writes_beside_copies
//   CHECK-NOT:   ttng.tensormap_create
//       CHECK:   ttg.async_copy_global_to_local
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @writes_beside_copies(%p: !tt.ptr<f16>, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %to: tensor<128x64x!tt.ptr<f32>, #mma>, %sizes: !tt.ptr<i64>, %n: i32, %tiles: i32, %group: i32, %first: i1, %second: i1) {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %size = arith.constant 4 : i32
    %left = arith.subi %n, %c2 : i32
    scf.for %group_number = %c0 to %tiles step %c1 : i32 {
      %at = tt.addptr %sizes, %group_number : !tt.ptr<i64>, i32
      %m = tt.load %at : !tt.ptr<i64>
      %pitch = arith.extsi %group_number : i32 to i64
      %base = tt.int_to_ptr %m : i64 -> !tt.ptr<f16>
      scf.for %tile = %c1 to %tiles step %c2 : i32 {
        %column = arith.divsi %tile, %group : i32
        %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable>
        %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
        %b0 = tt.block_mask %inside, %base[%c0, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
        %s0 = tt.splat %first : i1 -> tensor<64x64xi1, #blocked>
        %k0 = arith.andi %b0, %s0 : tensor<64x64xi1, #blocked>
        %t0 = ttg.async_copy_global_to_local %ps, %w0 mask %k0 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
        %g0 = ttg.async_commit_group tokens %t0
        %w1 = ttg.memdesc_index %multibuffer[%c1] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
        %b1 = tt.block_mask %inside, %base[%c64, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
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
          %ahead = arith.addi %i, %c2 : i32
          %row = arith.muli %ahead, %c64 : i32
          %more = arith.cmpi slt, %i, %left : i32
          %w2 = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
          %b2 = tt.block_mask %inside, %base[%row, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
          %s2 = tt.splat %more : i1 -> tensor<64x64xi1, #blocked>
          %k2 = arith.andi %b2, %s2 : tensor<64x64xi1, #blocked>
          %t2 = ttg.async_copy_global_to_local %ps, %w2 mask %k2 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
          %g2 = ttg.async_commit_group tokens %t2
          %read = ttg.memdesc_index %multibuffer[%after] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
          %d = ttng.warp_group_dot %q, %read, %acc {in_flight} : !ttg.memdesc<128x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
          ttng.warp_group_wait buffers %multibuffer : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> {pending = 1 : i32}
          tt.store %to, %acc : tensor<128x64x!tt.ptr<f32>, #mma>
          scf.yield %d, %v, %g2, %next : tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32
        }
        %s = ttng.warp_group_wait %r#0 : tensor<128x64xf32, #mma> -> tensor<128x64xf32, #mma> buffers %multibuffer : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
        tt.store %to, %s : tensor<128x64x!tt.ptr<f32>, #mma>
      }
    }
    tt.return
  }
}

