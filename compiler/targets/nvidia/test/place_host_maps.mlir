// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-place-host-maps | FileCheck %s

// The map is the launcher's. The parts of the other descriptor stay, and the arguments around them.
//       CHECK: ttg.tensor_maps = [{block_size = array<i64: 128, 64>, elem_size = 2 : i32, elem_type = 6 : i32, fp4_padded = false, swizzle = 3 : i32}, unit]
// CHECK-LABEL: @placed
//  CHECK-SAME:   (%arg0: i32, %[[MAP:.*]]: !tt.ptr<i8, 0> {tt.by_value = 128 : i32}, %arg2: i32, %arg3: !tt.ptr<f16>, %arg4: i64, %arg5: i64, %arg6: i64, %arg7: i64, %arg8: i1, %arg9: i32, %arg10: i32, %arg11: i1)
//   CHECK-NOT:   ttg.global_scratch_alloc
//   CHECK-NOT:   tensormap_create
//   CHECK-NOT:   tensormap_fenceproxy_acquire
//       CHECK:   %[[DESC:.*]] = ttng.reinterpret_tensor_descriptor %[[MAP]] : !tt.ptr<i8, 0> to !tt.tensordesc<tensor<128x64xf16>>
//       CHECK:   ttng.async_tma_copy_global_to_local %[[DESC]]
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @placed(%n: i32, %p: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32, ttng.host_map = true}, %rows: i64, %columns: i64, %s: i64, %s1: i64, %nan: i1, %more: i32, %q: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32}, %qm: i64, %qn: i64, %qs: i64, %q1: i64, %qnan: i1, %i: i32, %j: i32, %pred: i1) {
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %two = arith.constant 2 : i64
    %d0 = arith.trunci %columns : i64 to i32
    %d1 = arith.trunci %rows : i64 to i32
    %pitch = arith.muli %s, %two : i64
    %m = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    %slot = ttg.local_alloc : () -> !ttg.memdesc<128xi8, #flat, #smem, mutable>
    ttng.tensormap_create %m, %p, [%c64, %c128], [%d0, %d1], [%pitch], [%c1, %c1] slot %slot {elem_type = 1 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32, !ttg.memdesc<128xi8, #flat, #smem, mutable>) -> ()
    ttng.tensormap_fenceproxy_acquire %m : !tt.ptr<i8>
    %d = ttng.reinterpret_tensor_descriptor %m : !tt.ptr<i8> to !tt.tensordesc<tensor<128x64xf16>>
    %a = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #tile, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%i, %j] %a, %b, %pred : !tt.tensordesc<tensor<128x64xf16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<128x64xf16, #tile, #smem, mutable>
    tt.return
  }
}

// -----

// A size is used for something else, too: the descriptor is marked, and nothing changes.
//   CHECK-NOT: ttg.tensor_maps
// CHECK-LABEL: @size_used
//  CHECK-SAME:   tt.descriptor_parts = 6 : i32, ttng.host_map = false
//       CHECK:   ttng.tensormap_create
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @size_used(%n: i32, %p: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32, ttng.host_map = true}, %rows: i64, %columns: i64, %s: i64, %s1: i64, %nan: i1, %more: i32, %q: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32}, %qm: i64, %qn: i64, %qs: i64, %q1: i64, %qnan: i1, %i: i32, %j: i32, %pred: i1) {
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %two = arith.constant 2 : i64
    %d0 = arith.trunci %columns : i64 to i32
    %d1 = arith.trunci %rows : i64 to i32
    %pitch = arith.muli %s, %two : i64
    %m = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    %slot = ttg.local_alloc : () -> !ttg.memdesc<128xi8, #flat, #smem, mutable>
    ttng.tensormap_create %m, %p, [%c64, %c128], [%d0, %d1], [%pitch], [%c1, %c1] slot %slot {elem_type = 1 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32, !ttg.memdesc<128xi8, #flat, #smem, mutable>) -> ()
    ttng.tensormap_fenceproxy_acquire %m : !tt.ptr<i8>
    %d = ttng.reinterpret_tensor_descriptor %m : !tt.ptr<i8> to !tt.tensordesc<tensor<128x64xf16>>
    %a = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #tile, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%i, %j] %a, %b, %pred : !tt.tensordesc<tensor<128x64xf16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<128x64xf16, #tile, #smem, mutable>
    %print = arith.addi %rows, %columns : i64
    tt.print " " {hex = false, isSigned = array<i32: 1>} : %print : i64
    tt.return
  }
}

// -----

// The sizes are not in the map's order.
//   CHECK-NOT: ttg.tensor_maps
// CHECK-LABEL: @turned
//  CHECK-SAME:   ttng.host_map = false
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @turned(%n: i32, %p: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32, ttng.host_map = true}, %rows: i64, %columns: i64, %s: i64, %s1: i64, %nan: i1, %more: i32, %q: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32}, %qm: i64, %qn: i64, %qs: i64, %q1: i64, %qnan: i1, %i: i32, %j: i32, %pred: i1) {
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %two = arith.constant 2 : i64
    %d0 = arith.trunci %rows : i64 to i32
    %d1 = arith.trunci %columns : i64 to i32
    %pitch = arith.muli %s, %two : i64
    %m = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    %slot = ttg.local_alloc : () -> !ttg.memdesc<128xi8, #flat, #smem, mutable>
    ttng.tensormap_create %m, %p, [%c64, %c128], [%d0, %d1], [%pitch], [%c1, %c1] slot %slot {elem_type = 1 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32, !ttg.memdesc<128xi8, #flat, #smem, mutable>) -> ()
    ttng.tensormap_fenceproxy_acquire %m : !tt.ptr<i8>
    %d = ttng.reinterpret_tensor_descriptor %m : !tt.ptr<i8> to !tt.tensordesc<tensor<128x64xf16>>
    %a = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #tile, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%i, %j] %a, %b, %pred : !tt.tensordesc<tensor<128x64xf16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<128x64xf16, #tile, #smem, mutable>
    tt.return
  }
}

// -----

// Nobody goes by it that the launcher makes a map.
//   CHECK-NOT: ttg.tensor_maps
// CHECK-LABEL: @nobody
//   CHECK-NOT:   tt.descriptor_parts
//       CHECK:   ttng.tensormap_create
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @nobody(%n: i32, %p: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32}, %rows: i64, %columns: i64, %s: i64, %s1: i64, %nan: i1, %more: i32, %q: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32}, %qm: i64, %qn: i64, %qs: i64, %q1: i64, %qnan: i1, %i: i32, %j: i32, %pred: i1) {
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %two = arith.constant 2 : i64
    %d0 = arith.trunci %columns : i64 to i32
    %d1 = arith.trunci %rows : i64 to i32
    %pitch = arith.muli %s, %two : i64
    %m = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    %slot = ttg.local_alloc : () -> !ttg.memdesc<128xi8, #flat, #smem, mutable>
    ttng.tensormap_create %m, %p, [%c64, %c128], [%d0, %d1], [%pitch], [%c1, %c1] slot %slot {elem_type = 1 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32, !ttg.memdesc<128xi8, #flat, #smem, mutable>) -> ()
    ttng.tensormap_fenceproxy_acquire %m : !tt.ptr<i8>
    %d = ttng.reinterpret_tensor_descriptor %m : !tt.ptr<i8> to !tt.tensordesc<tensor<128x64xf16>>
    %a = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #tile, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%i, %j] %a, %b, %pred : !tt.tensordesc<tensor<128x64xf16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<128x64xf16, #tile, #smem, mutable>
    tt.return
  }
}
