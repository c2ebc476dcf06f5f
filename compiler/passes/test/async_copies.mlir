// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --ttg-allocate-shared-memory --ttg-insert-barriers | FileCheck %s

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#column = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // What was copied is written by the wait: a barrier between that and the load. The barrier in between does not help,
  // and the scratch of the conversion stays away from a buffer that a copy is writing.
  // CHECK-LABEL: @wait_then_barrier
  //       CHECK:   ttg.local_alloc {allocation.offset = [[A:[0-9]+]] : i32}
  //       CHECK:   ttg.async_copy_global_to_local
  //       CHECK:   ttg.convert_layout %arg1 {allocation.offset = {{[1-9][0-9]*}} : i32}
  //       CHECK:   ttg.barrier local
  //  CHECK-NEXT:   ttg.async_wait
  //  CHECK-NEXT:   ttg.barrier local
  //  CHECK-NEXT:   ttg.local_load
  //   CHECK-NOT:   ttg.barrier
  //       CHECK:   tt.return
  tt.func public @wait_then_barrier(%p: tensor<32x32x!tt.ptr<f32>, #row>, %x: tensor<32x32xf32, #row>) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %a : tensor<32x32x!tt.ptr<f32>, #row> -> <32x32xf32, #shared, #smem, mutable>
    %y = ttg.convert_layout %x : tensor<32x32xf32, #row> -> tensor<32x32xf32, #column>
    ttg.barrier local
    %w = ttg.async_wait %t {num = 0 : i32}
    %v = ttg.local_load %a token %w : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #column>
    tt.return
  }

  // A loop in stages needs one barrier an iteration: after the wait.
  // CHECK-LABEL: @multibuffer
  //       CHECK: ^bb2:
  //       CHECK:   ttg.async_wait
  //       CHECK:   ttg.memdesc_index
  //       CHECK:   ttg.barrier local
  //  CHECK-NEXT:   ttg.async_copy_global_to_local
  //   CHECK-NOT:   ttg.barrier
  //       CHECK:   ttg.local_load
  //   CHECK-NOT:   ttg.barrier
  //       CHECK:   tt.return
  tt.func public @multibuffer(%p: tensor<32x32x!tt.ptr<f32>, #row>, %n: i32, %i0: i32, %k0: i32) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<3x32x32xf32, #shared, #smem, mutable>
    cf.br ^bb1
  ^bb1:
    %more = arith.cmpi slt, %i0, %n : i32
    cf.cond_br %more, ^bb2, ^bb3
  ^bb2:
    %w = ttg.async_wait {num = 1 : i32}
    %to = ttg.memdesc_index %a[%k0] : !ttg.memdesc<3x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %to : tensor<32x32x!tt.ptr<f32>, #row> -> <32x32xf32, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %from = ttg.memdesc_index %a[%i0] : !ttg.memdesc<3x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %v = ttg.local_load %from : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #column>
    cf.br ^bb1
  ^bb3:
    %e = ttg.async_wait {num = 0 : i32}
    tt.return
  }

  // Different buffers of a row, and parts that share no byte, need no barrier between them.
  // CHECK-LABEL: @disjoint
  //   CHECK-NOT:   ttg.barrier
  //       CHECK:   ttg.barrier local
  //  CHECK-NEXT:   ttg.local_load
  //   CHECK-NOT:   ttg.barrier
  //       CHECK:   tt.return
  tt.func public @disjoint(%x: tensor<32x32xf32, #row>, %z: tensor<16x32xf32, #row>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc : () -> !ttg.memdesc<3x32x32xf32, #shared, #smem, mutable>
    %a0 = ttg.memdesc_index %a[%c0] : !ttg.memdesc<3x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %a1 = ttg.memdesc_index %a[%c1] : !ttg.memdesc<3x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %top = ttg.memdesc_subslice %a1[0, 0] : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable, 32x32>
    %low = ttg.memdesc_subslice %a1[16, 0] : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable, 32x32>
    ttg.local_store %x, %a0 : tensor<32x32xf32, #row> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    ttg.local_store %z, %top : tensor<16x32xf32, #row> -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable, 32x32>
    ttg.local_store %z, %low : tensor<16x32xf32, #row> -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable, 32x32>
    %v = ttg.local_load %low : !ttg.memdesc<16x32xf32, #shared, #smem, mutable, 32x32> -> tensor<16x32xf32, #column>
    %u = ttg.local_load %a0 : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #column>
    tt.return
  }

  // Columns of a swizzled buffer lie in all of it.
  // CHECK-LABEL: @columns
  //       CHECK:   ttg.local_store
  //  CHECK-NEXT:   ttg.barrier local
  //  CHECK-NEXT:   ttg.local_store
  //       CHECK:   tt.return
  tt.func public @columns(%z: tensor<32x16xf32, #row>) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %left = ttg.memdesc_subslice %a[0, 0] : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x16xf32, #shared, #smem, mutable, 32x32>
    %right = ttg.memdesc_subslice %a[0, 16] : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x16xf32, #shared, #smem, mutable, 32x32>
    ttg.local_store %z, %left : tensor<32x16xf32, #row> -> !ttg.memdesc<32x16xf32, #shared, #smem, mutable, 32x32>
    ttg.local_store %z, %right : tensor<32x16xf32, #row> -> !ttg.memdesc<32x16xf32, #shared, #smem, mutable, 32x32>
    tt.return
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @early(%p: tensor<32x32x!tt.ptr<f32>, #row>) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %a : tensor<32x32x!tt.ptr<f32>, #row> -> <32x32xf32, #shared, #smem, mutable>
    // expected-error @+1 {{returns from a device function while asynchronous copies may be in flight}}
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @groups() {
    // expected-error @+1 {{'ttg.warp_specialize' op is whole; its default region has to become blocks}}
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    } : () -> ()
    tt.return
  }
}
