// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-prefetch --canonicalize --cse | FileCheck %s

// The wait and the first slices of the next iteration go to the end of the iteration. Later slices are loaded one product
// ahead; each is as thick as all before it.
// CHECK-LABEL: @multibuffer
//       CHECK:   %[[RA:.*]] = ttg.local_alloc
//       CHECK:   %[[RB:.*]] = ttg.local_alloc
//       CHECK:   %[[G0:.*]] = ttg.async_commit_group
//       CHECK:   %[[G1:.*]] = ttg.async_commit_group
//       CHECK:   %[[W0:.*]] = ttg.async_wait %[[G0]] {num = 1 : i32}
//       CHECK:   %[[FA:.*]] = ttg.memdesc_index %[[RA]][%c0_i32]
//       CHECK:   %[[SA:.*]] = ttg.memdesc_subslice %[[FA]][0, 0] : {{.*}} -> !ttg.memdesc<64x16xf16, {{.*}}, 64x64>
//       CHECK:   %[[A0:.*]] = ttg.local_load %[[SA]] token %[[W0]] {{.*}} -> tensor<64x16xf16, #ttg.dot_op<{opIdx = 0
//       CHECK:   %[[B0:.*]] = ttg.local_load {{.*}} -> tensor<16x64xf16, #ttg.dot_op<{opIdx = 1
//       CHECK:   scf.for {{.*}} iter_args(%[[ACC:.*]] = %cst, %[[PLACE:.*]] = %c2_i32, %[[V:.*]] = %[[G1]], %[[X:.*]] = %[[A0]], %[[Y:.*]] = %[[B0]], %[[W:.*]] = %[[W0]])
//       CHECK:     %[[NEXT:.*]] = arith.select
//   CHECK-NOT:     ttg.async_wait
//       CHECK:     %[[G:.*]] = ttg.async_commit_group
//       CHECK:     %[[VA:.*]] = ttg.memdesc_index %[[RA]][%[[NEXT]]]
//       CHECK:     %[[VB:.*]] = ttg.memdesc_index %[[RB]][%[[NEXT]]]
//       CHECK:     ttg.memdesc_subslice %[[VA]][0, 16] : {{.*}} -> !ttg.memdesc<64x16xf16
//       CHECK:     %[[X1:.*]] = ttg.local_load %{{.*}} token %[[W]]
//       CHECK:     ttg.memdesc_subslice %[[VB]][16, 0] : {{.*}} -> !ttg.memdesc<16x64xf16
//       CHECK:     %[[Y1:.*]] = ttg.local_load
//       CHECK:     %[[D0:.*]] = tt.dot %[[X]], %[[Y]], %[[ACC]]
//       CHECK:     ttg.memdesc_subslice %[[VA]][0, 32] : {{.*}} -> !ttg.memdesc<64x32xf16
//       CHECK:     %[[X2:.*]] = ttg.local_load
//       CHECK:     ttg.memdesc_subslice %[[VB]][32, 0] : {{.*}} -> !ttg.memdesc<32x64xf16
//       CHECK:     %[[Y2:.*]] = ttg.local_load
//       CHECK:     %[[D1:.*]] = tt.dot %[[X1]], %[[Y1]], %[[D0]]
//       CHECK:     %[[D:.*]] = tt.dot %[[X2]], %[[Y2]], %[[D1]]
//       CHECK:     %[[N:.*]] = ttg.async_wait %[[V]] {num = 1 : i32}
//       CHECK:     %[[BEHIND:.*]] = arith.addi %[[NEXT]], %c1_i32
//       CHECK:     %[[END:.*]] = arith.cmpi eq, %[[BEHIND]], %c3_i32
//       CHECK:     %[[AFTER:.*]] = arith.select %[[END]], %c0_i32, %[[BEHIND]]
//       CHECK:     ttg.memdesc_index %[[RA]][%[[AFTER]]]
//       CHECK:     %[[XN:.*]] = ttg.local_load %{{.*}} token %[[N]] {{.*}} -> tensor<64x16xf16
//       CHECK:     ttg.memdesc_index %[[RB]][%[[AFTER]]]
//       CHECK:     %[[YN:.*]] = ttg.local_load {{.*}} -> tensor<16x64xf16
//       CHECK:     scf.yield %[[D]], %[[NEXT]], %[[G]], %[[XN]], %[[YN]], %[[N]]
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
    %g0 = ttg.async_commit_group
    %g1 = ttg.async_commit_group
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %slot = %c2, %u = %g0, %v = %g1) -> (tensor<64x64xf32, #mma>, i32, !ttg.async.token, !ttg.async.token) : i32 {
      %after = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %after, %size : i32
      %next = arith.select %wraps, %c0, %after : i32
      %w = ttg.async_wait %u {num = 1 : i32}
      %wa = ttg.memdesc_index %ra[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t0 = ttg.async_copy_global_to_local %p, %wa : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %wb = ttg.memdesc_index %rb[%slot] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t1 = ttg.async_copy_global_to_local %q, %wb : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %g = ttg.async_commit_group tokens %t0, %t1
      %va = ttg.memdesc_index %ra[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %x = ttg.local_load %va token %w : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
      %vb = ttg.memdesc_index %rb[%next] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %y = ttg.local_load %vb token %w : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d, %next, %v, %g : tensor<64x64xf32, #mma>, i32, !ttg.async.token, !ttg.async.token
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// Conversions of elements are made of each slice.
// CHECK-LABEL: @converted
//       CHECK:   tt.fp_to_fp {{.*}} : tensor<64x16xf16, {{.*}} -> tensor<64x16xf32
//       CHECK:   arith.extf {{.*}} : tensor<16x64xf16, {{.*}} to tensor<16x64xf32
//       CHECK:   scf.for
//       CHECK:     tt.dot {{.*}} inputPrecision = tf32 : tensor<64x16xf32
//       CHECK:     tt.dot {{.*}} inputPrecision = tf32 : tensor<64x16xf32
//       CHECK:     tt.dot {{.*}} inputPrecision = tf32 : tensor<64x32xf32
//       CHECK:     arith.extf {{.*}} : tensor<16x64xf16
//       CHECK:     scf.yield
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

// -----

// Slices of a dot by multiply-adds, numbered by the counter: after the last iteration the first one is read again.
// CHECK-LABEL: @counted
//       CHECK:   ttg.memdesc_index %{{.*}}[%c0_i32]
//       CHECK:   ttg.local_load {{.*}} -> tensor<64x4xf32
//       CHECK:   scf.for %[[I:.*]] = %c0_i32 to %c4_i32
//       CHECK:     tt.dot {{.*}} : tensor<64x4xf32
//       CHECK:     tt.dot {{.*}} : tensor<64x4xf32
//       CHECK:     tt.dot {{.*}} : tensor<64x8xf32
//       CHECK:     %[[N:.*]] = arith.addi %[[I]], %c1_i32
//       CHECK:     %[[MORE:.*]] = arith.cmpi slt, %[[N]], %c4_i32
//       CHECK:     %[[AT:.*]] = arith.select %[[MORE]], %[[N]], %c0_i32
//       CHECK:     ttg.memdesc_index %{{.*}}[%[[AT]]]
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 8, 4], warpsPerCTA = [2, 2, 1], order = [2, 1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @counted(%va: tensor<4x64x16xf32, #blocked3>, %vb: tensor<4x16x64xf32, #blocked3>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %end = arith.constant 4 : i32
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
