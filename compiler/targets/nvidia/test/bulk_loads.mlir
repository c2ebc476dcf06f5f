// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-bulk-loads --nvidia-bulk-stores --canonicalize | FileCheck %s

// Both copies start in front of the first use, as does the load of a row. Each is waited for where its block is used.
// The store is a copy beside them, though no thread exchanges elements for it.
// CHECK-LABEL: @sums
//       CHECK:   %[[X:.*]] = ttg.local_alloc {alignment = 1024 : i32} : () -> !ttg.memdesc<64x64xf16
//       CHECK:   %[[Y:.*]] = ttg.local_alloc {alignment = 1024 : i32} : () -> !ttg.memdesc<64x64xf16
//       CHECK:   ttng.init_barrier %[[FULL0:.*]], 1
//       CHECK:   ttng.init_barrier %[[FULL1:.*]], 1
//       CHECK:   ttng.barrier_expect %[[OF_X:.*]], 8192, %true
//  CHECK-NEXT:   ttng.async_tma_copy_global_to_local %{{.*}}[%arg3, %c0_i32] %[[X]], %[[OF_X]], %true
//       CHECK:   %[[J:.*]] = arith.addi %arg3, %c1_i32
//       CHECK:   ttng.barrier_expect %[[OF_Y:.*]], 8192, %true
//  CHECK-NEXT:   ttng.async_tma_copy_global_to_local %{{.*}}[%[[J]], %c0_i32] %[[Y]], %[[OF_Y]], %true
//       CHECK:   %[[ROW:.*]] = tt.load %arg7 :
//       CHECK:   ttng.wait_barrier %[[OF_X]], %c0_i32
//  CHECK-NEXT:   %[[A:.*]] = ttg.local_load %[[X]]
//       CHECK:   %[[TWICE:.*]] = arith.addf %[[A]], %[[A]]
//       CHECK:   ttng.wait_barrier %[[OF_Y]], %c0_i32
//  CHECK-NEXT:   %[[B:.*]] = ttg.local_load %[[Y]]
//       CHECK:   %[[SUM:.*]] = arith.addf %[[TWICE]], %[[B]]
//       CHECK:   %[[ALL:.*]] = arith.addf %[[SUM]],
//       CHECK:   ttg.local_store %[[ALL]], %[[SLOT:.*]] :
//       CHECK:   ttng.async_tma_copy_local_to_global %{{.*}}[%arg3, %c0_i32] %[[SLOT]]
//   CHECK-NOT:   tt.store
//       CHECK:   ttng.inval_barrier
//       CHECK:   ttng.inval_barrier
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @sums(%x: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32, ttng.host_map = true}, %y: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32, ttng.host_map = true}, %z: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32, ttng.host_map = true}, %i: i32, %rows: i64, %pitch: i64, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %rs: tensor<1x64x!tt.ptr<f16>, #blocked>, %inside: tensor<64x64xi1, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1 : i64
    %none = arith.constant dense<0.0> : tensor<64x64xf16, #blocked>
    %k = tt.block_mask %inside, %x[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
    %a = tt.load %ps, %k, %none : tensor<64x64x!tt.ptr<f16>, #blocked>
    %twice = arith.addf %a, %a : tensor<64x64xf16, #blocked>
    %j = arith.addi %i, %c1 : i32
    %l = tt.block_mask %inside, %y[%j, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
    %b = tt.load %ps, %l, %none : tensor<64x64x!tt.ptr<f16>, #blocked>
    %s = arith.addf %twice, %b : tensor<64x64xf16, #blocked>
    %r = tt.load %rs : tensor<1x64x!tt.ptr<f16>, #blocked>
    %wide = tt.broadcast %r : tensor<1x64xf16, #blocked> -> tensor<64x64xf16, #blocked>
    %t = arith.addf %s, %wide : tensor<64x64xf16, #blocked>
    %m = tt.block_mask %inside, %z[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
    tt.store %ps, %t, %m : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
}

// -----

// Threads that have single elements of the rows of a value exchange them in front of the slot.
// CHECK-LABEL: @turned
//       CHECK:   %[[U:.*]] = tt.trans
//       CHECK:   %[[C:.*]] = ttg.convert_layout %[[U]]
//       CHECK:   ttg.local_store %[[C]],
//       CHECK:   ttng.async_tma_copy_local_to_global
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#down = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @turned(%x: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32, ttng.host_map = true}, %z: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32, ttng.host_map = true}, %i: i32, %rows: i64, %pitch: i64, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %inside: tensor<64x64xi1, #blocked>) {
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : i64
    %none = arith.constant dense<0.0> : tensor<64x64xf16, #blocked>
    %k = tt.block_mask %inside, %x[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
    %a = tt.load %ps, %k, %none : tensor<64x64x!tt.ptr<f16>, #blocked>
    %u = tt.trans %a {order = array<i32: 1, 0>} : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #down>
    %c = ttg.convert_layout %u : tensor<64x64xf16, #down> -> tensor<64x64xf16, #blocked>
    %m = tt.block_mask %inside, %z[%c0, %i], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
    tt.store %ps, %c, %m : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
}

// -----

// The kernel would have to make the map; a store comes first, which may be to the same memory; another program may say
// by a number when the block is there.
// CHECK-LABEL: @own_map
//   CHECK-NOT:   ttng.init_barrier
// CHECK-LABEL: @behind_store
//   CHECK-NOT:   ttng.init_barrier
// CHECK-LABEL: @behind_signal
//   CHECK-NOT:   ttng.init_barrier
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @own_map(%x: !tt.ptr<f16>, %i: i32, %rows: i64, %pitch: i64, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %inside: tensor<64x64xi1, #blocked>) {
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : i64
    %none = arith.constant dense<0.0> : tensor<64x64xf16, #blocked>
    %k = tt.block_mask %inside, %x[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
    %a = tt.load %ps, %k, %none : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.store %ps, %a : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
  tt.func public @behind_store(%x: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32, ttng.host_map = true}, %i: i32, %rows: i64, %pitch: i64, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %inside: tensor<64x64xi1, #blocked>) {
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : i64
    %none = arith.constant dense<0.0> : tensor<64x64xf16, #blocked>
    %k = tt.block_mask %inside, %x[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
    tt.store %ps, %none : tensor<64x64x!tt.ptr<f16>, #blocked>
    %a = tt.load %ps, %k, %none : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.store %ps, %a : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
  tt.func public @behind_signal(%x: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32, ttng.host_map = true}, %i: i32, %rows: i64, %pitch: i64, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %inside: tensor<64x64xi1, #blocked>, %flag: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : i64
    %none = arith.constant dense<0.0> : tensor<64x64xf16, #blocked>
    %is_there = tt.load %flag {isVolatile = true} : !tt.ptr<i32>
    %k = tt.block_mask %inside, %x[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
    %a = tt.load %ps, %k, %none : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.store %ps, %a : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
}
