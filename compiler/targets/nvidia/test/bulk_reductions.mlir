// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-bulk-stores --canonicalize | FileCheck %s

// The launcher makes the map: a copy combines the block with the tensor, in no loop. The map says that integers have a
// sign. The value goes to shared memory as threads have it.
// CHECK-LABEL: @once
//       CHECK:   ttng.tensormap_create {{.*}} {elem_type = 3 : i32,
//       CHECK:   %[[DESC:.*]] = ttng.reinterpret_tensor_descriptor
//       CHECK:   %[[SLOTS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1x64x64xi32
//       CHECK:   %[[SLOT:.*]] = ttg.memdesc_index %[[SLOTS]][%c0_i32]
//       CHECK:   ttg.local_store %arg6, %[[SLOT]]
//  CHECK-NEXT:   ttng.fence_async_shared
//  CHECK-NEXT:   ttng.async_tma_reduce min, %[[DESC]][%arg2, %c0_i32] %[[SLOT]]
//   CHECK-NOT:   tt.atomic_rmw
//       CHECK:   ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
//  CHECK-NEXT:   ttg.local_dealloc %[[SLOTS]]
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @once(%p: !tt.ptr<i32> {tt.descriptor_parts = 6 : i32, ttng.host_map = true}, %rows: i64, %i: i32, %pitch: i64, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<i32>, #blocked>, %x: tensor<64x64xi32, #mma>) {
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : i64
    %c = ttg.convert_layout %x : tensor<64x64xi32, #mma> -> tensor<64x64xi32, #blocked>
    %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <i32>
    %r = tt.atomic_rmw min, relaxed, gpu, %ps, %c, %k : (tensor<64x64x!tt.ptr<i32>, #blocked>, tensor<64x64xi32, #blocked>, tensor<64x64xi1, #blocked>) -> tensor<64x64xi32, #blocked>
    tt.return
  }
}

// -----

// The kernel would have to make the map, for one block.
// CHECK-LABEL: @own_map
//   CHECK-NOT:   ttng.tensormap_create
//       CHECK:   tt.atomic_rmw
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @own_map(%p: !tt.ptr<f32>, %rows: i64, %i: i32, %pitch: i64, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f32>, #blocked>, %x: tensor<64x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : i64
    %c = ttg.convert_layout %x : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #blocked>
    %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f32>
    %r = tt.atomic_rmw fadd, relaxed, gpu, %ps, %c, %k : (tensor<64x64x!tt.ptr<f32>, #blocked>, tensor<64x64xf32, #blocked>, tensor<64x64xi1, #blocked>) -> tensor<64x64xf32, #blocked>
    tt.return
  }
}

// -----

// Somebody wants to know what was there, so others may be told something by it. Then nothing may be late.
// CHECK-LABEL: @result
//   CHECK-NOT:   ttng.tensormap_create
//       CHECK:   tt.atomic_rmw
//       CHECK:   tt.atomic_rmw
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @result(%p: !tt.ptr<f32> {tt.descriptor_parts = 6 : i32, ttng.host_map = true}, %rows: i64, %i: i32, %pitch: i64, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f32>, #blocked>, %x: tensor<64x64xf32, #blocked>, %q: !tt.ptr<i32>) -> i32 {
    %c0 = arith.constant 0 : i32
    %yes = arith.constant true
    %one = arith.constant 1 : i64
    %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f32>
    %r = tt.atomic_rmw fadd, relaxed, gpu, %ps, %x, %k : (tensor<64x64x!tt.ptr<f32>, #blocked>, tensor<64x64xf32, #blocked>, tensor<64x64xi1, #blocked>) -> tensor<64x64xf32, #blocked>
    %n = tt.atomic_rmw add, acq_rel, gpu, %q, %i, %yes : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return %n : i32
  }
}
