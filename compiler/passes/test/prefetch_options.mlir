// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-prefetch="min-slices=4 converts=false" | FileCheck %s

// Four times the first slice.
// CHECK-LABEL: @multibuffer
//       CHECK:   ttg.memdesc_subslice
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @multibuffer(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
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
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// Twice.
// CHECK-LABEL: @two_slices
//   CHECK-NOT:   ttg.memdesc_subslice
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @two_slices(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %q: tensor<32x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %size = arith.constant 3 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %ra = ttg.local_alloc : () -> !ttg.memdesc<3x64x32xf16, #shared, #smem, mutable>
    %rb = ttg.local_alloc : () -> !ttg.memdesc<3x32x64xf16, #shared, #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c2) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %after = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %after, %size : i32
      %next = arith.select %wraps, %c0, %after : i32
      ttg.async_wait {num = 1 : i32}
      %wa = ttg.memdesc_index %ra[%slot] : !ttg.memdesc<3x64x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
      %t0 = ttg.async_copy_global_to_local %p, %wa : tensor<64x32x!tt.ptr<f16>, #blocked> -> <64x32xf16, #shared, #smem, mutable>
      %wb = ttg.memdesc_index %rb[%slot] : !ttg.memdesc<3x32x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
      %t1 = ttg.async_copy_global_to_local %q, %wb : tensor<32x64x!tt.ptr<f16>, #blocked> -> <32x64xf16, #shared, #smem, mutable>
      %t2 = ttg.async_commit_group
      %va = ttg.memdesc_index %ra[%next] : !ttg.memdesc<3x64x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
      %x = ttg.local_load %va : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> -> tensor<64x32xf16, #a>
      %vb = ttg.memdesc_index %rb[%next] : !ttg.memdesc<3x32x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
      %y = ttg.local_load %vb : !ttg.memdesc<32x64xf16, #shared, #smem, mutable> -> tensor<32x64xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// Not through conversions.
// CHECK-LABEL: @converted
//   CHECK-NOT:   ttg.memdesc_subslice
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @converted(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
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
      %x8 = tt.fp_to_fp %x : tensor<64x64xf16, #a> -> tensor<64x64xf32, #a>
      %y8 = arith.extf %y : tensor<64x64xf16, #b> to tensor<64x64xf32, #b>
      %d = tt.dot %x8, %y8, %acc, inputPrecision = tf32 : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}
