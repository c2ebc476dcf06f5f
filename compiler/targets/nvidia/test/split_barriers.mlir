// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-split-barriers | FileCheck %s

// Dots run on into the next iteration, the multibuffer has a slot to spare: warps arrive after the dot has been issued.
// CHECK-LABEL: @slot_to_spare
//       CHECK:   %[[RING:.*]] = ttg.local_alloc : () -> !ttg.memdesc<4x
//       CHECK:   ttg.async_copy_global_to_local {{.*}} {ttg.ordered}
//       CHECK:   %[[BARRIER:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1xi64
//  CHECK-NEXT:   ttng.init_barrier %[[BARRIER]], 8
//  CHECK-NEXT:   %[[FIRST:.*]] = ttg.async_wait %[[G0:[^ ]*]]
//  CHECK-NEXT:   ttng.arrive_barrier_by_warps %[[BARRIER]]
//       CHECK:   %[[R:.*]]:6 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[G0]], %[[NEXT:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[PHASE:.*]] = %{{.*}}, %{{.*}} = %[[FIRST]])
//   CHECK-NOT:     ttg.async_wait
//       CHECK:     ttng.wait_barrier %[[BARRIER]], %[[PHASE]]
//       CHECK:     ttg.async_copy_global_to_local {{.*}} {ttg.ordered}
//       CHECK:     ttng.warp_group_wait buffers %[[RING]] {{.*}} ttg.ordered
//       CHECK:     ttng.warp_group_dot {{.*}} {in_flight, ttg.ordered}
//       CHECK:     %[[LANDED:.*]] = ttg.async_wait %[[NEXT]] {num = 1 : i32}
//  CHECK-NEXT:     ttng.arrive_barrier_by_warps %[[BARRIER]]
//       CHECK:     %[[FLIPPED:.*]] = arith.xori %[[PHASE]], %{{.*}}
//       CHECK:     scf.yield {{.*}}, %[[FLIPPED]], %[[LANDED]]
//       CHECK:   ttng.wait_barrier %[[BARRIER]], %[[R]]#4
//  CHECK-NEXT:   ttng.inval_barrier %[[BARRIER]]
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @slot_to_spare(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %n: i32) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %size = arith.constant 4 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable>
    %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %t0 = ttg.async_copy_global_to_local %p, %w0 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %g0 = ttg.async_commit_group tokens %t0
    %g1 = ttg.async_commit_group
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %u = %g0, %v = %g1, %slot = %c1) -> (tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32) : i32 {
      %next0 = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %next0, %size : i32
      %next = arith.select %wraps, %c0, %next0 : i32
      %after0 = arith.addi %next, %c1 : i32
      %wraps2 = arith.cmpi eq, %after0, %size : i32
      %after = arith.select %wraps2, %c0, %after0 : i32
      %done = ttg.async_wait %u {num = 1 : i32}
      %w = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %copy = ttg.async_copy_global_to_local %p, %w : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      ttng.warp_group_wait buffers %multibuffer : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
      %m = ttg.memdesc_index %multibuffer[%after] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %q, %m, %acc {in_flight} : !ttg.memdesc<128x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
      scf.yield %d, %v, %group, %next : tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32
    }
    %s = ttng.warp_group_wait %r#0 : tensor<128x64xf32, #mma> -> tensor<128x64xf32, #mma> buffers %multibuffer : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
    tt.return %s : tensor<128x64xf32, #mma>
  }
}

// -----

// The wait leaves the iteration's own dot in flight, and ends that of the iteration before: warps arrive after it.
// CHECK-LABEL: @waits_after_the_dot
//       CHECK:   scf.for
//       CHECK:     ttng.wait_barrier
//       CHECK:     ttng.warp_group_dot {{.*}} {in_flight, ttg.ordered}
//  CHECK-NEXT:     ttng.warp_group_wait buffers {{.*}}pending = 1 : i32, ttg.ordered
//  CHECK-NEXT:     ttg.async_wait
//  CHECK-NEXT:     ttng.arrive_barrier_by_warps
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @waits_after_the_dot(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %n: i32) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %size = arith.constant 4 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable>
    %w0 = ttg.memdesc_index %multibuffer[%c0] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %t0 = ttg.async_copy_global_to_local %p, %w0 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %g0 = ttg.async_commit_group tokens %t0
    %g1 = ttg.async_commit_group
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %u = %g0, %v = %g1, %slot = %c1) -> (tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32) : i32 {
      %next0 = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %next0, %size : i32
      %next = arith.select %wraps, %c0, %next0 : i32
      %after0 = arith.addi %next, %c1 : i32
      %wraps2 = arith.cmpi eq, %after0, %size : i32
      %after = arith.select %wraps2, %c0, %after0 : i32
      %done = ttg.async_wait %u {num = 1 : i32}
      %w = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %copy = ttg.async_copy_global_to_local %p, %w : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %m = ttg.memdesc_index %multibuffer[%after] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %q, %m, %acc {in_flight} : !ttg.memdesc<128x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
      ttng.warp_group_wait buffers %multibuffer : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> {pending = 1 : i32}
      scf.yield %d, %v, %group, %next : tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32
    }
    %s = ttng.warp_group_wait %r#0 : tensor<128x64xf32, #mma> -> tensor<128x64xf32, #mma> buffers %multibuffer : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
    tt.return %s : tensor<128x64xf32, #mma>
  }
}

// -----

// The first dot comes before the loop: a barrier of the block orders its read with the copies of the loop.
// CHECK-LABEL: @read_before
//       CHECK:   ttng.warp_group_dot
//       CHECK:   ttng.init_barrier %[[BARRIER:.*]], 8
//  CHECK-NEXT:   ttg.barrier local
//  CHECK-NEXT:   ttg.async_wait
//  CHECK-NEXT:   ttng.arrive_barrier_by_warps %[[BARRIER]]
//       CHECK:   scf.for
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @read_before(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %n: i32) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %size = arith.constant 4 : i32
    %ring = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable>
    %w0 = ttg.memdesc_index %ring[%c0] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %t0 = ttg.async_copy_global_to_local %p, %w0 : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %g0 = ttg.async_commit_group tokens %t0
    %g1 = ttg.async_commit_group
    %here = ttg.async_wait %g0 {num = 0 : i32}
    %d0 = ttng.warp_group_dot %q, %w0, %zero : !ttg.memdesc<128x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %d0, %u = %g0, %v = %g1, %place = %c1) -> (tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32) : i32 {
      %next0 = arith.addi %place, %c1 : i32
      %wraps = arith.cmpi eq, %next0, %size : i32
      %next = arith.select %wraps, %c0, %next0 : i32
      %after0 = arith.addi %next, %c1 : i32
      %wraps2 = arith.cmpi eq, %after0, %size : i32
      %after = arith.select %wraps2, %c0, %after0 : i32
      %done = ttg.async_wait %u {num = 1 : i32}
      %w = ttg.memdesc_index %ring[%place] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %copy = ttg.async_copy_global_to_local %p, %w : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      ttng.warp_group_wait buffers %ring : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
      %m = ttg.memdesc_index %ring[%after] : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %q, %m, %acc {in_flight} : !ttg.memdesc<128x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
      scf.yield %d, %v, %group, %next : tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32
    }
    %s = ttng.warp_group_wait %r#0 : tensor<128x64xf32, #mma> -> tensor<128x64xf32, #mma> buffers %ring : !ttg.memdesc<4x64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
    tt.return %s : tensor<128x64xf32, #mma>
  }
}

// -----

// With three slots the copy of the next iteration goes where the dot of this one still reads.
// CHECK-LABEL: @no_slot_to_spare
//   CHECK-NOT:   ttng.init_barrier
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @no_slot_to_spare(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %n: i32) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable>
    %g0 = ttg.async_commit_group
    %g1 = ttg.async_commit_group
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %u = %g0, %v = %g1, %slot = %c1) -> (tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32) : i32 {
      %next0 = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %next0, %size : i32
      %next = arith.select %wraps, %c0, %next0 : i32
      %done = ttg.async_wait %u {num = 1 : i32}
      %w = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %copy = ttg.async_copy_global_to_local %p, %w : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      ttng.warp_group_wait buffers %multibuffer : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
      %m = ttg.memdesc_index %multibuffer[%next] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %q, %m, %acc {in_flight} : !ttg.memdesc<128x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
      scf.yield %d, %v, %group, %next : tensor<128x64xf32, #mma>, !ttg.async.token, !ttg.async.token, i32
    }
    tt.return %r#0 : tensor<128x64xf32, #mma>
  }
}

// -----

// The first dot has ended before warps arrive: its buffer needs no slot more. The second one runs on and has one.
// CHECK-LABEL: @two_dots
//       CHECK:     ttng.wait_barrier
//       CHECK:     ttg.async_commit_group
//       CHECK:     %[[D:.*]] = ttng.warp_group_dot {{.*}} {ttg.ordered}
//  CHECK-NEXT:     ttg.async_wait
//  CHECK-NEXT:     ttng.arrive_barrier_by_warps
//       CHECK:     arith.truncf %[[D]]
//       CHECK:     ttng.warp_group_wait {{.*}} ttg.ordered
//       CHECK:     ttng.warp_group_dot {{.*}} {in_flight, ttg.ordered}
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @two_dots(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %n: i32) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %ks = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #rows, #smem, mutable>
    %vs = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable>
    %g0 = ttg.async_commit_group
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %u = %g0, %k = %c1, %v = %c1) -> (tensor<128x64xf32, #mma>, !ttg.async.token, i32, i32) : i32 {
      %k0 = arith.addi %k, %c1 : i32
      %kw = arith.cmpi eq, %k0, %c2 : i32
      %k1 = arith.select %kw, %c0, %k0 : i32
      %v0 = arith.addi %v, %c1 : i32
      %vw = arith.cmpi eq, %v0, %c3 : i32
      %v1 = arith.select %vw, %c0, %v0 : i32
      %v2 = arith.addi %v1, %c1 : i32
      %vw2 = arith.cmpi eq, %v2, %c3 : i32
      %v3 = arith.select %vw2, %c0, %v2 : i32
      %done = ttg.async_wait %u {num = 0 : i32}
      %w = ttg.memdesc_index %ks[%k] : !ttg.memdesc<2x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %copy = ttg.async_copy_global_to_local %p, %w : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %x = ttg.memdesc_index %vs[%v] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %other = ttg.async_copy_global_to_local %p, %x : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy, %other
      %m = ttg.memdesc_index %ks[%k1] : !ttg.memdesc<2x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %s = ttng.warp_group_dot %q, %m, %zero : !ttg.memdesc<128x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
      %h = arith.truncf %s : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %ended = ttng.warp_group_wait %acc : tensor<128x64xf32, #mma> -> tensor<128x64xf32, #mma> buffers %vs : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
      %twice = arith.addf %ended, %ended : tensor<128x64xf32, #mma>
      %b = ttg.convert_layout %h : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #a>
      %y = ttg.memdesc_index %vs[%v3] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %b, %y, %twice {in_flight} : tensor<128x64xf16, #a> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
      scf.yield %d, %group, %k1, %v1 : tensor<128x64xf32, #mma>, !ttg.async.token, i32, i32
    }
    tt.return %r#0 : tensor<128x64xf32, #mma>
  }
}

// -----

// The scratch of conversions takes barriers of the block in each iteration.
// CHECK-LABEL: @needs_barriers_anyway
//   CHECK-NOT:   ttng.init_barrier
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @needs_barriers_anyway(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %n: i32) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %ks = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #rows, #smem, mutable>
    %vs = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable>
    %g0 = ttg.async_commit_group
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %u = %g0, %k = %c1, %v = %c1) -> (tensor<128x64xf32, #mma>, !ttg.async.token, i32, i32) : i32 {
      %k0 = arith.addi %k, %c1 : i32
      %kw = arith.cmpi eq, %k0, %c2 : i32
      %k1 = arith.select %kw, %c0, %k0 : i32
      %v0 = arith.addi %v, %c1 : i32
      %vw = arith.cmpi eq, %v0, %c3 : i32
      %v1 = arith.select %vw, %c0, %v0 : i32
      %v2 = arith.addi %v1, %c1 : i32
      %vw2 = arith.cmpi eq, %v2, %c3 : i32
      %v3 = arith.select %vw2, %c0, %v2 : i32
      %done = ttg.async_wait %u {num = 0 : i32}
      %w = ttg.memdesc_index %ks[%k] : !ttg.memdesc<2x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %copy = ttg.async_copy_global_to_local %p, %w : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %x = ttg.memdesc_index %vs[%v] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %other = ttg.async_copy_global_to_local %p, %x : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy, %other
      %m = ttg.memdesc_index %ks[%k1] : !ttg.memdesc<2x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %s = ttng.warp_group_dot %q, %m, %zero : !ttg.memdesc<128x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
      %moved = ttg.convert_layout %s : tensor<128x64xf32, #mma> -> tensor<128x64xf32, #blocked>
      %back = ttg.convert_layout %moved : tensor<128x64xf32, #blocked> -> tensor<128x64xf32, #mma>
      %h = arith.truncf %back : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %ended = ttng.warp_group_wait %acc : tensor<128x64xf32, #mma> -> tensor<128x64xf32, #mma> buffers %vs : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
      %twice = arith.addf %ended, %ended : tensor<128x64xf32, #mma>
      %b = ttg.convert_layout %h : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #a>
      %y = ttg.memdesc_index %vs[%v3] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %b, %y, %twice {in_flight} : tensor<128x64xf16, #a> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
      scf.yield %d, %group, %k1, %v1 : tensor<128x64xf32, #mma>, !ttg.async.token, i32, i32
    }
    tt.return %r#0 : tensor<128x64xf32, #mma>
  }
}

// -----

// One warp group cannot run apart from another one.
// CHECK-LABEL: @one_group
//   CHECK-NOT:   ttng.init_barrier
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @one_group(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<128x64xf16, #blocked>, %n: i32) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %q = ttg.local_alloc %qs : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %ks = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #rows, #smem, mutable>
    %vs = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable>
    %g0 = ttg.async_commit_group
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %u = %g0, %k = %c1, %v = %c1) -> (tensor<128x64xf32, #mma>, !ttg.async.token, i32, i32) : i32 {
      %k0 = arith.addi %k, %c1 : i32
      %kw = arith.cmpi eq, %k0, %c2 : i32
      %k1 = arith.select %kw, %c0, %k0 : i32
      %v0 = arith.addi %v, %c1 : i32
      %vw = arith.cmpi eq, %v0, %c3 : i32
      %v1 = arith.select %vw, %c0, %v0 : i32
      %v2 = arith.addi %v1, %c1 : i32
      %vw2 = arith.cmpi eq, %v2, %c3 : i32
      %v3 = arith.select %vw2, %c0, %v2 : i32
      %done = ttg.async_wait %u {num = 0 : i32}
      %w = ttg.memdesc_index %ks[%k] : !ttg.memdesc<2x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %copy = ttg.async_copy_global_to_local %p, %w : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %x = ttg.memdesc_index %vs[%v] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %other = ttg.async_copy_global_to_local %p, %x : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy, %other
      %m = ttg.memdesc_index %ks[%k1] : !ttg.memdesc<2x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %s = ttng.warp_group_dot %q, %m, %zero : !ttg.memdesc<128x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
      %h = arith.truncf %s : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %ended = ttng.warp_group_wait %acc : tensor<128x64xf32, #mma> -> tensor<128x64xf32, #mma> buffers %vs : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
      %twice = arith.addf %ended, %ended : tensor<128x64xf32, #mma>
      %b = ttg.convert_layout %h : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #a>
      %y = ttg.memdesc_index %vs[%v3] : !ttg.memdesc<3x64x64xf16, #rows, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
      %d = ttng.warp_group_dot %b, %y, %twice {in_flight} : tensor<128x64xf16, #a> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
      scf.yield %d, %group, %k1, %v1 : tensor<128x64xf32, #mma>, !ttg.async.token, i32, i32
    }
    tt.return %r#0 : tensor<128x64xf32, #mma>
  }
}
