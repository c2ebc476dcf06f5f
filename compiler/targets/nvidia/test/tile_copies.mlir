// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-split-barriers | FileCheck %s

// The copies go on with the next tile: they have a tile and a number of their own, and its column, which the first copy of
// a tile computes. No other copies are in the loop over tiles, and no mbarrier is made there.
// CHECK-LABEL: @next_tile
//       CHECK:   ttng.init_barrier
//       CHECK:   ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16
//       CHECK:   %[[IS_TILE:.*]] = arith.cmpi slt, %[[ONE:[^ ,]*]], %arg8
//       CHECK:   %[[C0:.*]] = scf.if %{{.*}} -> (i32) {
//  CHECK-NEXT:     arith.divsi %[[ONE]], %arg9
//       CHECK:   ttng.async_tma_copy_global_to_local %{{.*}}[%{{.*}}, %[[C0]]]
//       CHECK:   %[[C1:.*]] = scf.if
//       CHECK:   ttng.async_tma_copy_global_to_local %{{.*}}[%{{.*}}, %[[C1]]]
//       CHECK:   %{{.*}}:5 = scf.for %[[TILE:.*]] = %[[ONE]] to %arg8 step %{{.*}} iter_args(%[[SLOT:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}}, %[[NEXT:.*]] = %{{.*}}, %[[NUMBER:.*]] = %{{.*}}, %[[COLUMN:.*]] = %[[C1]])
//   CHECK-NOT:     ttng.
//       CHECK:     %[[R:.*]]:8 = scf.for %[[I:.*]] = %[[ZERO:[^ ]*]] to %arg7 {{.*}} %{{.*}} = %[[SLOT]], %{{.*}} = %[[PHASE]], %[[T:.*]] = %[[NEXT]], %[[N:.*]] = %[[NUMBER]], %[[C:.*]] = %[[COLUMN]])
//       CHECK:       %[[OWN:.*]] = arith.muli
//       CHECK:       %[[THERE:.*]] = arith.cmpi slt, %[[T]], %arg8
//       CHECK:       %[[ACTS:.*]] = arith.andi %[[THERE]]
//       CHECK:       arith.cmpi eq, %[[N]], %[[ZERO]]
//       CHECK:       %[[AT:.*]] = scf.if %{{.*}} -> (i32) {
//  CHECK-NEXT:         %[[OTHER:.*]] = arith.divsi %[[T]], %arg9
//  CHECK-NEXT:         scf.yield %[[OTHER]]
//  CHECK-NEXT:       } else {
//  CHECK-NEXT:         scf.yield %[[C]]
//       CHECK:       ttng.barrier_expect %{{.*}}, 8192 {ttg.ordered}, %[[ACTS]]
//   CHECK-NOT:       ttng.arrive_barrier %
//       CHECK:       %[[SECOND:.*]] = arith.select %{{.*}}, %c64_i32{{.*}}, %[[OWN]]
//       CHECK:       %[[ROW:.*]] = arith.select %{{.*}}, %[[ZERO]], %[[SECOND]]
//       CHECK:       ttng.async_tma_copy_global_to_local %{{.*}}[%[[ROW]], %[[AT]]] %{{.*}}, %{{.*}}, %[[ACTS]] {ttg.ordered}
//       CHECK:       ttng.arrive_barrier_by_warps
//       CHECK:     tt.store
//       CHECK:     scf.yield %[[R]]#3, %[[R]]#4, %[[R]]#5, %[[R]]#6, %[[R]]#7
// CHECK-COUNT-8: ttng.inval_barrier
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @next_tile(%p: !tt.ptr<f16>, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %to: tensor<128x64x!tt.ptr<f32>, #mma>, %m: i64, %pitch: i64, %n: i32, %tiles: i32, %group: i32, %first: i1, %second: i1) {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %size = arith.constant 4 : i32
    %left = arith.subi %n, %c2 : i32
    scf.for %tile = %c1 to %tiles step %c2 : i32 {
      %column = arith.divsi %tile, %group : i32
      %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable>
      %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %b0 = tt.block_mask %inside, %p[%c0, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      %s0 = tt.splat %first : i1 -> tensor<64x64xi1, #blocked>
      %k0 = arith.andi %b0, %s0 : tensor<64x64xi1, #blocked>
      %t0 = ttg.async_copy_global_to_local %ps, %w0 mask %k0 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %g0 = ttg.async_commit_group tokens %t0
      %w1 = ttg.memdesc_index %multibuffer[%c1] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %b1 = tt.block_mask %inside, %p[%c64, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
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
        %b2 = tt.block_mask %inside, %p[%row, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
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
    tt.return
  }
}

// -----

// A coordinate is the number of the tile itself.
// CHECK-LABEL: @number_of_tile
//       CHECK:   scf.for %{{.*}} = %{{.*}} to %arg8
//       CHECK:     scf.for
//       CHECK:       %[[AT:.*]] = scf.if %{{.*}} -> (i32) {
//  CHECK-NEXT:         scf.yield %[[T:.*]] : i32
//       CHECK:       ttng.async_tma_copy_global_to_local %{{.*}}[%{{.*}}, %[[AT]]]
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @number_of_tile(%p: !tt.ptr<f16>, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %to: tensor<128x64x!tt.ptr<f32>, #mma>, %m: i64, %pitch: i64, %n: i32, %tiles: i32, %group: i32, %first: i1, %second: i1) {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %size = arith.constant 4 : i32
    %left = arith.subi %n, %c2 : i32
    scf.for %tile = %c1 to %tiles step %c2 : i32 {
      %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable>
      %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %b0 = tt.block_mask %inside, %p[%c0, %tile], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      %s0 = tt.splat %first : i1 -> tensor<64x64xi1, #blocked>
      %k0 = arith.andi %b0, %s0 : tensor<64x64xi1, #blocked>
      %t0 = ttg.async_copy_global_to_local %ps, %w0 mask %k0 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %g0 = ttg.async_commit_group tokens %t0
      %w1 = ttg.memdesc_index %multibuffer[%c1] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %b1 = tt.block_mask %inside, %p[%c64, %tile], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
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
        %b2 = tt.block_mask %inside, %p[%row, %tile], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
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
    tt.return
  }
}

// -----

// Tiles of different numbers of iterations.
// CHECK-LABEL: @other_bounds
//       CHECK:   scf.for
//       CHECK:     ttng.init_barrier
//       CHECK:     scf.for
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @other_bounds(%p: !tt.ptr<f16>, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %to: tensor<128x64x!tt.ptr<f32>, #mma>, %m: i64, %pitch: i64, %n: i32, %tiles: i32, %group: i32, %first: i1, %second: i1) {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %size = arith.constant 4 : i32
    %left = arith.subi %n, %c2 : i32
    scf.for %tile = %c1 to %tiles step %c2 : i32 {
      %column = arith.divsi %tile, %group : i32
      %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable>
      %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %b0 = tt.block_mask %inside, %p[%c0, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      %s0 = tt.splat %first : i1 -> tensor<64x64xi1, #blocked>
      %k0 = arith.andi %b0, %s0 : tensor<64x64xi1, #blocked>
      %t0 = ttg.async_copy_global_to_local %ps, %w0 mask %k0 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %g0 = ttg.async_commit_group tokens %t0
      %w1 = ttg.memdesc_index %multibuffer[%c1] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %b1 = tt.block_mask %inside, %p[%c64, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      %s1 = tt.splat %second : i1 -> tensor<64x64xi1, #blocked>
      %k1 = arith.andi %b1, %s1 : tensor<64x64xi1, #blocked>
      %t1 = ttg.async_copy_global_to_local %ps, %w1 mask %k1 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %g1 = ttg.async_commit_group tokens %t1
      %r:4 = scf.for %i = %c0 to %tile step %c1 iter_args(%acc = %zero, %u = %g0, %v = %g1, %slot = %c2) -> (tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32) : i32 {
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
        %b2 = tt.block_mask %inside, %p[%row, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
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
    tt.return
  }
}

// -----

// What another tile's column is says the memory, which may change until then.
// CHECK-LABEL: @loaded
//       CHECK:   scf.for
//       CHECK:     ttng.init_barrier
//       CHECK:     scf.for
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @loaded(%p: !tt.ptr<f16>, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %to: tensor<128x64x!tt.ptr<f32>, #mma>, %m: i64, %pitch: i64, %n: i32, %tiles: i32, %where: !tt.ptr<i32>, %first: i1, %second: i1) {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %size = arith.constant 4 : i32
    %left = arith.subi %n, %c2 : i32
    scf.for %tile = %c1 to %tiles step %c2 : i32 {
      %column = tt.load %where : !tt.ptr<i32>
      %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable>
      %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %b0 = tt.block_mask %inside, %p[%c0, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      %s0 = tt.splat %first : i1 -> tensor<64x64xi1, #blocked>
      %k0 = arith.andi %b0, %s0 : tensor<64x64xi1, #blocked>
      %t0 = ttg.async_copy_global_to_local %ps, %w0 mask %k0 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %g0 = ttg.async_commit_group tokens %t0
      %w1 = ttg.memdesc_index %multibuffer[%c1] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %b1 = tt.block_mask %inside, %p[%c64, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
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
        %b2 = tt.block_mask %inside, %p[%row, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
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
    tt.return
  }
}

// -----

// The program may hear in a tile that others have written the next one's operands.
// CHECK-LABEL: @hears
//       CHECK:   scf.for
//       CHECK:     ttng.init_barrier
//       CHECK:     scf.for
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @hears(%p: !tt.ptr<f16>, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %to: tensor<128x64x!tt.ptr<f32>, #mma>, %m: i64, %pitch: i64, %n: i32, %tiles: i32, %where: !tt.ptr<i32>, %group: i32, %first: i1, %second: i1) {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %size = arith.constant 4 : i32
    %left = arith.subi %n, %c2 : i32
    scf.for %tile = %c1 to %tiles step %c2 : i32 {
      %column = arith.divsi %tile, %group : i32
      %heard = tt.atomic_rmw add, acquire, gpu, %where, %c1, %first : (!tt.ptr<i32>, i32, i1) -> i32
      %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable>
      %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %b0 = tt.block_mask %inside, %p[%c0, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      %s0 = tt.splat %first : i1 -> tensor<64x64xi1, #blocked>
      %k0 = arith.andi %b0, %s0 : tensor<64x64xi1, #blocked>
      %t0 = ttg.async_copy_global_to_local %ps, %w0 mask %k0 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %g0 = ttg.async_commit_group tokens %t0
      %w1 = ttg.memdesc_index %multibuffer[%c1] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %b1 = tt.block_mask %inside, %p[%c64, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
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
        %b2 = tt.block_mask %inside, %p[%row, %column], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
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
    tt.return
  }
}
