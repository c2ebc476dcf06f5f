// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --nvidia-split-barriers | FileCheck %s

// In front of the loop a copy by threads is in the group of a block's copy: it needs the wait. So the blocks stay
// threads' copies, too.
// CHECK-LABEL: @shared_group
//   CHECK-NOT:   ttng.async_tma_copy_global_to_local
//       CHECK:   scf.for
//       CHECK:     ttg.async_copy_global_to_local
//       CHECK:     ttg.async_wait
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @shared_group(%p: !tt.ptr<f16>, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %m: i64, %pitch: i64, %ns: tensor<64x!tt.ptr<i64>, #line>, %n: i32, %first: i1, %second: i1) -> tensor<128x64xf32, #mma> {
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
    %indices = ttg.local_alloc : () -> !ttg.memdesc<64xi64, #flat, #smem, mutable>
    %t2 = ttg.async_copy_global_to_local %ns, %indices : tensor<64x!tt.ptr<i64>, #line> -> !ttg.memdesc<64xi64, #flat, #smem, mutable>
    %g1 = ttg.async_commit_group tokens %t1, %t2
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
      %t3 = ttg.async_copy_global_to_local %ps, %w2 mask %k2 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %g2 = ttg.async_commit_group tokens %t3
      %read = ttg.memdesc_index %multibuffer[%after] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %q, %read, %acc {in_flight} : !ttg.memdesc<128x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
      ttng.warp_group_wait buffers %multibuffer : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> {pending = 1 : i32}
      scf.yield %d, %v, %g2, %next : tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32
    }
    %s = ttng.warp_group_wait %r#0 : tensor<128x64xf32, #mma> -> tensor<128x64xf32, #mma> buffers %multibuffer : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
    tt.return %s : tensor<128x64xf32, #mma>
  }
}
