// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --ttg-split-warp-specialize --ttg-allocate-shared-memory --ttg-insert-barriers | FileCheck %s

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#row2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [2, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

// A partition waits for its own threads, between its own accesses. Its start and its join are barriers of all, so that
// nothing is needed between what the function does before, a partition does, and the function does after.
// CHECK-LABEL: tt.func public @own_accesses
//       CHECK:   ttg.local_store
//  CHECK-NEXT:   start_partitions
//  CHECK-NEXT:   ^bb0
//  CHECK-NEXT:     ttg.local_load
//  CHECK-NEXT:     ttg.barrier local
//  CHECK-NEXT:     ttg.local_store
//  CHECK-NEXT:     ttg.warp_return
//   CHECK-NOT:   ttg.barrier
//       CHECK:   ttg.join_partitions
//   CHECK-NOT:   ttg.barrier
//       CHECK:   tt.return
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @own_accesses(%x: tensor<32x128xf32, #row>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x128xf32, #shared, #smem, mutable>
    ttg.local_store %x, %m : tensor<32x128xf32, #row> -> !ttg.memdesc<32x128xf32, #shared, #smem, mutable>
    ttg.warp_specialize(%m) attributes {warpGroupStartIds = array<i32: 4>}
    default {
      ttg.warp_yield
    }
    partition0(%a: !ttg.memdesc<32x128xf32, #shared, #smem, mutable>) num_warps(2) {
      %y = ttg.local_load %a : !ttg.memdesc<32x128xf32, #shared, #smem, mutable> -> tensor<32x128xf32, #row2>
      ttg.local_store %y, %a : tensor<32x128xf32, #row2> -> !ttg.memdesc<32x128xf32, #shared, #smem, mutable>
      ttg.warp_return
    } : (!ttg.memdesc<32x128xf32, #shared, #smem, mutable>) -> ()
    %y = ttg.local_load %m : !ttg.memdesc<32x128xf32, #shared, #smem, mutable> -> tensor<32x128xf32, #row>
    tt.return
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// mbarriers: their first use waits until they are made, and their memory is free once all have used them. One thread
// arrives for all, after what all have read or written. Waits need no barrier.
// CHECK-LABEL: tt.func public @mbarriers
//       CHECK:   ttng.init_barrier
//  CHECK-NEXT:   ttg.barrier local
//  CHECK-NEXT:   ttng.wait_barrier
//  CHECK-NEXT:   ttg.local_load
//  CHECK-NEXT:   ttg.barrier local
//  CHECK-NEXT:   ttng.arrive_barrier
//  CHECK-NEXT:   ttng.arrive_barrier
//  CHECK-NEXT:   ttng.wait_barrier
//  CHECK-NEXT:   ttg.barrier local
//  CHECK-NEXT:   ttng.inval_barrier
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @mbarriers(%phase: i32) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x128xf32, #shared, #smem, mutable>
    ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.wait_barrier %b, %phase : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %y = ttg.local_load %m : !ttg.memdesc<32x128xf32, #shared, #smem, mutable> -> tensor<32x128xf32, #row>
    ttng.arrive_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.arrive_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.wait_barrier %b, %phase : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.inval_barrier %b : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return
  }
}

// -----

#two = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>
#slice = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>

// Global memory: by pointers that come from one argument of the kernel through captures.
// CHECK-LABEL: tt.func public @global
//       CHECK:     tt.store
//  CHECK-NEXT:     ttg.barrier all
//  CHECK-NEXT:     tt.load
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @global(%p: !tt.ptr<i32>) {
    ttg.warp_specialize(%p) attributes {warpGroupStartIds = array<i32: 4>}
    default { ttg.warp_yield }
    partition0(%q: !tt.ptr<i32>) num_warps(2) {
      %k = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #two>
      %s = tt.splat %q : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #two>
      %a = tt.addptr %s, %k : tensor<128x!tt.ptr<i32>, #two>, tensor<128xi32, #two>
      %k2 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #slice>
      %s2 = tt.splat %q : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #slice>
      %a2 = tt.addptr %s2, %k2 : tensor<128x!tt.ptr<i32>, #slice>, tensor<128xi32, #slice>
      tt.store %a, %k : tensor<128x!tt.ptr<i32>, #two>
      %v = tt.load %a2 : tensor<128x!tt.ptr<i32>, #slice>
      ttg.warp_return
    } : (!tt.ptr<i32>) -> ()
    tt.return
  }
}
