// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-split-barriers | FileCheck %s

// Threads copy 16 bytes at once, and wait for nothing but products: a map of its own costs the program more than it brings.
// CHECK-LABEL: @adds_products
//   CHECK-NOT:   ttng.async_tma_copy
//       CHECK:   ttg.async_copy_global_to_local
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 32]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#columns = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @adds_products(%p: !tt.ptr<f8E5M2>, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f8E5M2>, #blocked> {tt.contiguity = dense<[1, 64]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>}, %qs: tensor<128x64xf8E5M2, #blocked>, %m: i64, %pitch: i64, %n: i32, %first: i1, %second: i1) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf8E5M2, #blocked>) -> !ttg.memdesc<128x64xf8E5M2, #rows, #smem>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %size = arith.constant 4 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf8E5M2, #rows, #smem, mutable>
    %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<4x64x64xf8E5M2, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf8E5M2, #rows, #smem, mutable>
    %b0 = tt.block_mask %inside, %p[%c0, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f8E5M2>
    %s0 = tt.splat %first : i1 -> tensor<64x64xi1, #blocked>
    %k0 = arith.andi %b0, %s0 : tensor<64x64xi1, #blocked>
    %t0 = ttg.async_copy_global_to_local %ps, %w0 mask %k0 : tensor<64x64x!tt.ptr<f8E5M2>, #blocked> -> !ttg.memdesc<64x64xf8E5M2, #rows, #smem, mutable>
    %g0 = ttg.async_commit_group tokens %t0
    %w1 = ttg.memdesc_index %multibuffer[%c1] : !ttg.memdesc<4x64x64xf8E5M2, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf8E5M2, #rows, #smem, mutable>
    %b1 = tt.block_mask %inside, %p[%c64, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f8E5M2>
    %s1 = tt.splat %second : i1 -> tensor<64x64xi1, #blocked>
    %k1 = arith.andi %b1, %s1 : tensor<64x64xi1, #blocked>
    %t1 = ttg.async_copy_global_to_local %ps, %w1 mask %k1 : tensor<64x64x!tt.ptr<f8E5M2>, #blocked> -> !ttg.memdesc<64x64xf8E5M2, #rows, #smem, mutable>
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
      %w2 = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<4x64x64xf8E5M2, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf8E5M2, #rows, #smem, mutable>
      %b2 = tt.block_mask %inside, %p[%row, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f8E5M2>
      %s2 = tt.splat %more : i1 -> tensor<64x64xi1, #blocked>
      %k2 = arith.andi %b2, %s2 {tt.constancy = dense<[1, 64]> : tensor<2xi32>} : tensor<64x64xi1, #blocked>
      %t2 = ttg.async_copy_global_to_local %ps, %w2 mask %k2 : tensor<64x64x!tt.ptr<f8E5M2>, #blocked> -> !ttg.memdesc<64x64xf8E5M2, #rows, #smem, mutable>
      %g2 = ttg.async_commit_group tokens %t2
      %read = ttg.memdesc_index %multibuffer[%after] : !ttg.memdesc<4x64x64xf8E5M2, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf8E5M2, #rows, #smem, mutable>
      %turned = ttg.memdesc_trans %read {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf8E5M2, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf8E5M2, #columns, #smem, mutable>
      %d = ttng.warp_group_dot %q, %turned, %acc {in_flight, maxNumImpreciseAcc = 1073741824 : i32} : !ttg.memdesc<128x64xf8E5M2, #rows, #smem> * !ttg.memdesc<64x64xf8E5M2, #columns, #smem, mutable> -> tensor<128x64xf32, #mma>
      ttng.warp_group_wait buffers %multibuffer : !ttg.memdesc<4x64x64xf8E5M2, #rows, #smem, mutable> {pending = 1 : i32}
      scf.yield %d, %v, %g2, %next : tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32
    }
    %s = ttng.warp_group_wait %r#0 : tensor<128x64xf32, #mma> -> tensor<128x64xf32, #mma> buffers %multibuffer : !ttg.memdesc<4x64x64xf8E5M2, #rows, #smem, mutable> {pending = 0 : i32}
    tt.return %s : tensor<128x64xf32, #mma>
  }
}

// -----

// Threads add up parts of the products, and the matrix unit waits for them.
// CHECK-LABEL: @threads_add_parts
//       CHECK:   ttng.tensormap_create
//       CHECK:   scf.for
//       CHECK:     ttng.async_tma_copy_global_to_local
//   CHECK-NOT:     ttg.async_copy
//       CHECK:     ttng.warp_group_dot
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 32]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#columns = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @threads_add_parts(%p: !tt.ptr<f8E5M2>, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f8E5M2>, #blocked> {tt.contiguity = dense<[1, 64]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>}, %qs: tensor<128x64xf8E5M2, #blocked>, %m: i64, %pitch: i64, %n: i32, %first: i1, %second: i1) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf8E5M2, #blocked>) -> !ttg.memdesc<128x64xf8E5M2, #rows, #smem>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %size = arith.constant 4 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf8E5M2, #rows, #smem, mutable>
    %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<4x64x64xf8E5M2, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf8E5M2, #rows, #smem, mutable>
    %b0 = tt.block_mask %inside, %p[%c0, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f8E5M2>
    %s0 = tt.splat %first : i1 -> tensor<64x64xi1, #blocked>
    %k0 = arith.andi %b0, %s0 : tensor<64x64xi1, #blocked>
    %t0 = ttg.async_copy_global_to_local %ps, %w0 mask %k0 : tensor<64x64x!tt.ptr<f8E5M2>, #blocked> -> !ttg.memdesc<64x64xf8E5M2, #rows, #smem, mutable>
    %g0 = ttg.async_commit_group tokens %t0
    %w1 = ttg.memdesc_index %multibuffer[%c1] : !ttg.memdesc<4x64x64xf8E5M2, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf8E5M2, #rows, #smem, mutable>
    %b1 = tt.block_mask %inside, %p[%c64, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f8E5M2>
    %s1 = tt.splat %second : i1 -> tensor<64x64xi1, #blocked>
    %k1 = arith.andi %b1, %s1 : tensor<64x64xi1, #blocked>
    %t1 = ttg.async_copy_global_to_local %ps, %w1 mask %k1 : tensor<64x64x!tt.ptr<f8E5M2>, #blocked> -> !ttg.memdesc<64x64xf8E5M2, #rows, #smem, mutable>
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
      %w2 = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<4x64x64xf8E5M2, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf8E5M2, #rows, #smem, mutable>
      %b2 = tt.block_mask %inside, %p[%row, %c0], [%m, %m], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f8E5M2>
      %s2 = tt.splat %more : i1 -> tensor<64x64xi1, #blocked>
      %k2 = arith.andi %b2, %s2 {tt.constancy = dense<[1, 64]> : tensor<2xi32>} : tensor<64x64xi1, #blocked>
      %t2 = ttg.async_copy_global_to_local %ps, %w2 mask %k2 : tensor<64x64x!tt.ptr<f8E5M2>, #blocked> -> !ttg.memdesc<64x64xf8E5M2, #rows, #smem, mutable>
      %g2 = ttg.async_commit_group tokens %t2
      %read = ttg.memdesc_index %multibuffer[%after] : !ttg.memdesc<4x64x64xf8E5M2, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf8E5M2, #rows, #smem, mutable>
      %turned = ttg.memdesc_trans %read {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf8E5M2, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf8E5M2, #columns, #smem, mutable>
      %d = ttng.warp_group_dot %q, %turned, %acc {maxNumImpreciseAcc = 32 : i32} : !ttg.memdesc<128x64xf8E5M2, #rows, #smem> * !ttg.memdesc<64x64xf8E5M2, #columns, #smem, mutable> -> tensor<128x64xf32, #mma>
      scf.yield %d, %v, %g2, %next : tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32
    }
    tt.return %r#0 : tensor<128x64xf32, #mma>
  }
}
