// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-prefetch --canonicalize --cse | FileCheck %s
// Where loads stay in their iteration.

// One instruction takes all of K.
// CHECK-LABEL: @too_thin
//   CHECK-NOT:   ttg.memdesc_subslice
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @too_thin(%p: tensor<64x16x!tt.ptr<f16>, #blocked>, %q: tensor<16x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %size = arith.constant 3 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %ra = ttg.local_alloc : () -> !ttg.memdesc<3x64x16xf16, #shared, #smem, mutable>
    %rb = ttg.local_alloc : () -> !ttg.memdesc<3x16x64xf16, #shared, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c2) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %after = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %after, %size : i32
      %next = arith.select %wraps, %c0, %after : i32
      ttg.async_wait {num = 1 : i32}
      %wa = ttg.memdesc_index %ra[%slot] : !ttg.memdesc<3x64x16xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x16xf16, #shared, #smem, mutable>
      %t0 = ttg.async_copy_global_to_local %p, %wa : tensor<64x16x!tt.ptr<f16>, #blocked> -> <64x16xf16, #shared, #smem, mutable>
      %wb = ttg.memdesc_index %rb[%slot] : !ttg.memdesc<3x16x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<16x64xf16, #shared, #smem, mutable>
      %t1 = ttg.async_copy_global_to_local %q, %wb : tensor<16x64x!tt.ptr<f16>, #blocked> -> <16x64xf16, #shared, #smem, mutable>
      %t2 = ttg.async_commit_group
      %va = ttg.memdesc_index %ra[%next] : !ttg.memdesc<3x64x16xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x16xf16, #shared, #smem, mutable>
      %x = ttg.local_load %va : !ttg.memdesc<64x16xf16, #shared, #smem, mutable> -> tensor<64x16xf16, #a>
      %vb = ttg.memdesc_index %rb[%next] : !ttg.memdesc<3x16x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<16x64xf16, #shared, #smem, mutable>
      %y = ttg.local_load %vb : !ttg.memdesc<16x64xf16, #shared, #smem, mutable> -> tensor<16x64xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x16xf16, #a> * tensor<16x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// The copy fills the buffer that the load reads.
// CHECK-LABEL: @same_slot
//   CHECK-NOT:   ttg.memdesc_subslice
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @same_slot(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %size = arith.constant 3 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %ra = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %rb = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c2) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %after = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %after, %size : i32
      %next = arith.select %wraps, %c0, %after : i32
      ttg.async_wait {num = 1 : i32}
      %wa = ttg.memdesc_index %ra[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t0 = ttg.async_copy_global_to_local %p, %wa : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %wb = ttg.memdesc_index %rb[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t1 = ttg.async_copy_global_to_local %q, %wb : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %t2 = ttg.async_commit_group
      %va = ttg.memdesc_index %ra[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %x = ttg.local_load %va : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
      %vb = ttg.memdesc_index %rb[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %y = ttg.local_load %vb : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// A multibuffer of one buffer: the copy of the next iteration would come too early.
// CHECK-LABEL: @single_buffer
//   CHECK-NOT:   ttg.memdesc_subslice
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @single_buffer(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %size = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %ra = ttg.local_alloc : () -> !ttg.memdesc<1x64x64xf16, #shared, #smem, mutable>
    %rb = ttg.local_alloc : () -> !ttg.memdesc<1x64x64xf16, #shared, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c0) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %after = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %after, %size : i32
      %next = arith.select %wraps, %c0, %after : i32
      ttg.async_wait {num = 1 : i32}
      %wa = ttg.memdesc_index %ra[%slot] : !ttg.memdesc<1x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t0 = ttg.async_copy_global_to_local %p, %wa : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %wb = ttg.memdesc_index %rb[%slot] : !ttg.memdesc<1x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t1 = ttg.async_copy_global_to_local %q, %wb : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %t2 = ttg.async_commit_group
      %va = ttg.memdesc_index %ra[%next] : !ttg.memdesc<1x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %x = ttg.local_load %va : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
      %vb = ttg.memdesc_index %rb[%next] : !ttg.memdesc<1x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %y = ttg.local_load %vb : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// The slot may begin outside of the multibuffer.
// CHECK-LABEL: @unknown_slot
//   CHECK-NOT:   ttg.memdesc_subslice
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @unknown_slot(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %size = arith.constant 3 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %ra = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %rb = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %n) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %after = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %after, %size : i32
      %next = arith.select %wraps, %c0, %after : i32
      ttg.async_wait {num = 1 : i32}
      %wa = ttg.memdesc_index %ra[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t0 = ttg.async_copy_global_to_local %p, %wa : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %wb = ttg.memdesc_index %rb[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t1 = ttg.async_copy_global_to_local %q, %wb : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %t2 = ttg.async_commit_group
      %va = ttg.memdesc_index %ra[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %x = ttg.local_load %va : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
      %vb = ttg.memdesc_index %rb[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %y = ttg.local_load %vb : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// Nothing in the loop waits for the copies.
// CHECK-LABEL: @no_wait
//   CHECK-NOT:   ttg.memdesc_subslice
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @no_wait(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %size = arith.constant 3 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %ra = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %rb = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c2) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %after = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %after, %size : i32
      %next = arith.select %wraps, %c0, %after : i32
      %wa = ttg.memdesc_index %ra[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t0 = ttg.async_copy_global_to_local %p, %wa : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %wb = ttg.memdesc_index %rb[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t1 = ttg.async_copy_global_to_local %q, %wb : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %t2 = ttg.async_commit_group
      %va = ttg.memdesc_index %ra[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %x = ttg.local_load %va : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
      %vb = ttg.memdesc_index %rb[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %y = ttg.local_load %vb : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// A group more would be in flight at the end of the iteration before.
// CHECK-LABEL: @wait_behind_commit
//   CHECK-NOT:   ttg.memdesc_subslice
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @wait_behind_commit(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %size = arith.constant 3 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %ra = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %rb = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c2) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %after = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %after, %size : i32
      %next = arith.select %wraps, %c0, %after : i32
      %t3 = ttg.async_commit_group
      ttg.async_wait {num = 1 : i32}
      %wa = ttg.memdesc_index %ra[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t0 = ttg.async_copy_global_to_local %p, %wa : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %wb = ttg.memdesc_index %rb[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t1 = ttg.async_copy_global_to_local %q, %wb : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %t2 = ttg.async_commit_group
      %va = ttg.memdesc_index %ra[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %x = ttg.local_load %va : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
      %vb = ttg.memdesc_index %rb[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %y = ttg.local_load %vb : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// Two waits.
// CHECK-LABEL: @two_waits
//   CHECK-NOT:   ttg.memdesc_subslice
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @two_waits(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %size = arith.constant 3 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %ra = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %rb = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c2) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %after = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %after, %size : i32
      %next = arith.select %wraps, %c0, %after : i32
      %t3 = ttg.async_wait {num = 2 : i32}
      ttg.async_wait {num = 1 : i32}
      %wa = ttg.memdesc_index %ra[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t0 = ttg.async_copy_global_to_local %p, %wa : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %wb = ttg.memdesc_index %rb[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t1 = ttg.async_copy_global_to_local %q, %wb : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %t2 = ttg.async_commit_group
      %va = ttg.memdesc_index %ra[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %x = ttg.local_load %va : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
      %vb = ttg.memdesc_index %rb[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %y = ttg.local_load %vb : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// The load has a second user.
// CHECK-LABEL: @second_user
//   CHECK-NOT:   ttg.memdesc_subslice
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @second_user(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %size = arith.constant 3 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %ra = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %rb = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c2) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %after = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %after, %size : i32
      %next = arith.select %wraps, %c0, %after : i32
      ttg.async_wait {num = 1 : i32}
      %wa = ttg.memdesc_index %ra[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t0 = ttg.async_copy_global_to_local %p, %wa : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %wb = ttg.memdesc_index %rb[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t1 = ttg.async_copy_global_to_local %q, %wb : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %t2 = ttg.async_commit_group
      %va = ttg.memdesc_index %ra[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %x = ttg.local_load %va : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
      %vb = ttg.memdesc_index %rb[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %y = ttg.local_load %vb : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
      tt.print "x" {hex = false, isSigned = array<i32: 0>} : %x : tensor<64x64xf16, #a>
      %d = tt.dot %x, %y, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// Another write to the multibuffer in the loop.
// CHECK-LABEL: @written
//   CHECK-NOT:   ttg.memdesc_subslice
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @written(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32, %v: tensor<64x64xf16, #blocked>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %size = arith.constant 3 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %ra = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %rb = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c2) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %after = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %after, %size : i32
      %next = arith.select %wraps, %c0, %after : i32
      ttg.async_wait {num = 1 : i32}
      %wa = ttg.memdesc_index %ra[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t0 = ttg.async_copy_global_to_local %p, %wa : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %wb = ttg.memdesc_index %rb[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t1 = ttg.async_copy_global_to_local %q, %wb : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %t2 = ttg.async_commit_group
      %va = ttg.memdesc_index %ra[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %x = ttg.local_load %va : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
      %vb = ttg.memdesc_index %rb[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %y = ttg.local_load %vb : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      ttg.local_store %v, %wa : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// A call may wait, or start copies.
// CHECK-LABEL: @calls
//   CHECK-NOT:   ttg.memdesc_subslice
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @other()
  tt.func @calls(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %size = arith.constant 3 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %ra = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %rb = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c2) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %after = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %after, %size : i32
      %next = arith.select %wraps, %c0, %after : i32
      ttg.async_wait {num = 1 : i32}
      %wa = ttg.memdesc_index %ra[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t0 = ttg.async_copy_global_to_local %p, %wa : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %wb = ttg.memdesc_index %rb[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t1 = ttg.async_copy_global_to_local %q, %wb : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %t2 = ttg.async_commit_group
      %va = ttg.memdesc_index %ra[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %x = ttg.local_load %va : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
      %vb = ttg.memdesc_index %rb[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %y = ttg.local_load %vb : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      tt.call @other() : () -> ()
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// Buffers that the iteration itself makes.
// CHECK-LABEL: @made_in_the_iteration
//   CHECK-NOT:   ttg.memdesc_subslice
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @made_in_the_iteration(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %v = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %m = ttg.local_alloc %v : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %x = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #a>
      %y = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

// The counter leaves the row of buffers: then nothing is known of it.
// CHECK-LABEL: @counts_too_far
//   CHECK-NOT:   ttg.memdesc_subslice
//       CHECK:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 8, 4], warpsPerCTA = [2, 2, 1], order = [2, 1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @counts_too_far(%va: tensor<4x64x16xf32, #blocked3>, %vb: tensor<4x16x64xf32, #blocked3>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %end = arith.constant 5 : i32
    %ra = ttg.local_alloc %va : (tensor<4x64x16xf32, #blocked3>) -> !ttg.memdesc<4x64x16xf32, #shared, #smem>
    %rb = ttg.local_alloc %vb : (tensor<4x16x64xf32, #blocked3>) -> !ttg.memdesc<4x16x64xf32, #shared, #smem>
    %r = scf.for %i = %c0 to %end step %c1 iter_args(%acc = %c) -> (tensor<64x64xf32, #blocked>) : i32 {
      %ia = ttg.memdesc_index %ra[%i] : !ttg.memdesc<4x64x16xf32, #shared, #smem> -> !ttg.memdesc<64x16xf32, #shared, #smem>
      %x = ttg.local_load %ia : !ttg.memdesc<64x16xf32, #shared, #smem> -> tensor<64x16xf32, #a>
      %ib = ttg.memdesc_index %rb[%i] : !ttg.memdesc<4x16x64xf32, #shared, #smem> -> !ttg.memdesc<16x64xf32, #shared, #smem>
      %y = ttg.local_load %ib : !ttg.memdesc<16x64xf32, #shared, #smem> -> tensor<16x64xf32, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x16xf32, #a> * tensor<16x64xf32, #b> -> tensor<64x64xf32, #blocked>
      scf.yield %d : tensor<64x64xf32, #blocked>
    }
    tt.return %r : tensor<64x64xf32, #blocked>
  }
}

// -----

// Accumulators of f16 by multiply-adds are rounded once.
// CHECK-LABEL: @narrow_sums
//   CHECK-NOT:   ttg.memdesc_subslice
//       CHECK:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 8, 4], warpsPerCTA = [2, 2, 1], order = [2, 1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @narrow_sums(%va: tensor<4x64x16xf16, #blocked3>, %vb: tensor<4x16x64xf16, #blocked3>, %c: tensor<64x64xf16, #blocked>) -> tensor<64x64xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %end = arith.constant 4 : i32
    %ra = ttg.local_alloc %va : (tensor<4x64x16xf16, #blocked3>) -> !ttg.memdesc<4x64x16xf16, #shared, #smem>
    %rb = ttg.local_alloc %vb : (tensor<4x16x64xf16, #blocked3>) -> !ttg.memdesc<4x16x64xf16, #shared, #smem>
    %r = scf.for %i = %c0 to %end step %c1 iter_args(%acc = %c) -> (tensor<64x64xf16, #blocked>) : i32 {
      %ia = ttg.memdesc_index %ra[%i] : !ttg.memdesc<4x64x16xf16, #shared, #smem> -> !ttg.memdesc<64x16xf16, #shared, #smem>
      %x = ttg.local_load %ia : !ttg.memdesc<64x16xf16, #shared, #smem> -> tensor<64x16xf16, #a>
      %ib = ttg.memdesc_index %rb[%i] : !ttg.memdesc<4x16x64xf16, #shared, #smem> -> !ttg.memdesc<16x64xf16, #shared, #smem>
      %y = ttg.local_load %ib : !ttg.memdesc<16x64xf16, #shared, #smem> -> tensor<16x64xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x16xf16, #a> * tensor<16x64xf16, #b> -> tensor<64x64xf16, #blocked>
      scf.yield %d : tensor<64x64xf16, #blocked>
    }
    tt.return %r : tensor<64x64xf16, #blocked>
  }
}
