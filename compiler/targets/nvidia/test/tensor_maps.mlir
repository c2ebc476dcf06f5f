// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --ttg-allocate-shared-memory --ttg-allocate-global-scratch --ttg-insert-barriers --lower-to-llvm=target=cuda:90 | FileCheck %s

#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// A map is cleared and filled by the first thread. All wait before they take it.
// CHECK-LABEL: llvm.func @map
//       CHECK:   "@$1 st.global.v2.b64 [$0+0], {0, 0};
//  CHECK-SAME: @$1 tensormap.replace.tile.global_address.global.b1024.b64 [$0], $2;
//  CHECK-SAME: @$1 tensormap.replace.tile.rank.global.b1024.b32 [$0], 1;
//  CHECK-SAME: @$1 tensormap.replace.tile.box_dim.global.b1024.b32 [$0], 0, $3;
//  CHECK-SAME: @$1 tensormap.replace.tile.global_stride.global.b1024.b64 [$0], 0, $7;
//  CHECK-SAME: @$1 tensormap.replace.tile.swizzle_mode.global.b1024.b32 [$0], 3;
//  CHECK-SAME: @$1 fence.proxy.tensormap::generic.release.gpu;"
//       CHECK:   "llvm.nvvm.barrier.cta.sync.aligned.all"
//       CHECK:   "fence.proxy.tensormap::generic.acquire.gpu [$0], 128;"

// A block of 128 columns is two boxes of 64, as wide as the swizzle. Coordinates go from the innermost on.
//       CHECK:   elect.sync lane|p, 0xffffffff;\0Aand.pred p, p, $5;\0A@p cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];
//  CHECK-SAME: %arg2, %arg1
//       CHECK:   %[[NEXT:.*]] = llvm.add %arg2, %{{.*}} : i32
//       CHECK:   elect.sync lane|p, 0xffffffff;\0Aand.pred p, p, $5;\0A@p cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];
//  CHECK-SAME: %[[NEXT]], %arg1
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @map(%p: !tt.ptr<f16>, %row: i32, %column: i32, %stride: i64, %pred: i1) {
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %m = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ttng.tensormap_create %m, %p, [%c64, %c64], [%row, %column], [%stride], [%c1, %c1] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %m : !tt.ptr<i8>
    %d = ttng.reinterpret_tensor_descriptor %m : !tt.ptr<i8> to !tt.tensordesc<tensor<64x128xf16, #tile>>
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #tile, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%row, %column] %a, %b, %pred : !tt.tensordesc<tensor<64x128xf16, #tile>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x128xf16, #tile, #smem, mutable>
    tt.return
  }
}

// -----

#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// Maps that are made in shared memory, each by a warp of its own. All take them after one barrier. Elements outside of
// the second one's tensor are NaNs where a flag says so.
// CHECK-LABEL: llvm.func @two_maps
//       CHECK:   "@$3 st.shared.b32 [$4], 0;\0Abar.warp.sync 0xffffffff;
//  CHECK-SAME: @$1 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [$2], $5;
//  CHECK-SAME: bar.warp.sync 0xffffffff;\0A@$3 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [$0], [$2], 128;"
//       CHECK:   @$13 tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [$2], 1;
//  CHECK-SAME:   tensormap.cp_fenceproxy
//       CHECK:   "llvm.nvvm.barrier.cta.sync.aligned.all"
//       CHECK:   "fence.proxy.tensormap::generic.acquire.gpu [$0], 128;"
//  CHECK-NEXT:   "fence.proxy.tensormap::generic.acquire.gpu [$0], 128;"
//       CHECK:   llvm.return
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @two_maps(%p: !tt.ptr<f16>, %rows: i32, %columns: i32, %stride: i64, %nans: i1) {
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %m = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    %n = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    %s = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<128xi8, #flat, #smem, mutable>
    %t = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<128xi8, #flat, #smem, mutable>
    ttng.tensormap_create %m, %p, [%c64, %c64], [%columns, %rows], [%stride], [%c1, %c1] slot %s {elem_type = 1 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32, !ttg.memdesc<128xi8, #flat, #smem, mutable>) -> ()
    ttng.tensormap_create %n, %p, [%c64, %c64], [%rows, %columns], [%stride], [%c1, %c1] slot %t nan %nans {elem_type = 1 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32, warp = 1 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32, !ttg.memdesc<128xi8, #flat, #smem, mutable>, i1) -> ()
    ttng.tensormap_fenceproxy_acquire %m : !tt.ptr<i8>
    ttng.tensormap_fenceproxy_acquire %n : !tt.ptr<i8>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

// A store goes by a barrier after what threads have written, also beyond their fence; the next write by one after the
// wait, although a barrier is between.
// CHECK-LABEL: llvm.func @store
//       CHECK:   "llvm.nvvm.fence.proxy.async.shared_cta"
//       CHECK:   "llvm.nvvm.barrier.cta.sync.aligned.all"
//       CHECK:   elect.sync lane|p, 0xffffffff;\0Aand.pred p, p, $4;\0A@p cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$0, {$1, $2}], [$3];
//       CHECK:   "llvm.nvvm.cp.async.bulk.commit.group"
//       CHECK:   "llvm.nvvm.barrier.cta.sync.aligned.all"
//       CHECK:   "llvm.nvvm.cp.async.bulk.wait.group.read"
//       CHECK:   "llvm.nvvm.barrier.cta.sync.aligned.all"
//       CHECK:   llvm.return
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @store(%m: !tt.ptr<i8>, %row: i32, %column: i32) {
    %x = arith.constant dense<1.0> : tensor<64x64xf16, #blocked>
    %d = ttng.reinterpret_tensor_descriptor %m : !tt.ptr<i8> to !tt.tensordesc<tensor<64x64xf16, #tile>>
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #tile, #smem, mutable>
    ttg.local_store %x, %a : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #tile, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttng.async_tma_copy_local_to_global %d[%row, %column] %a : !tt.tensordesc<tensor<64x64xf16, #tile>>, !ttg.memdesc<64x64xf16, #tile, #smem, mutable>
    ttg.barrier local
    ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
    ttg.local_store %x, %a : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #tile, #smem, mutable>
    tt.return
  }
}

// -----

#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // expected-error @+1 {{has an argument of type '!tt.tensordesc<tensor<64x64xf16}}
  tt.func public @of_the_host(%d: !tt.tensordesc<tensor<64x64xf16, #tile>>) {
    tt.return
  }
}

// -----

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @other_encoding(%m: !tt.ptr<i8>, %row: i32, %pred: i1) {
    %d = ttng.reinterpret_tensor_descriptor %m : !tt.ptr<i8> to !tt.tensordesc<tensor<64x64xf16, #tile>>
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #flat, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // expected-error @+1 {{has a buffer that is swizzled by other bytes than the descriptor}}
    ttng.async_tma_copy_global_to_local %d[%row, %row] %a, %b, %pred : !tt.tensordesc<tensor<64x64xf16, #tile>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #flat, #smem, mutable>
    tt.return
  }
}

// -----

#flat = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @other_swizzle(%m: !tt.ptr<i8>, %row: i32, %pred: i1) {
    %d = ttng.reinterpret_tensor_descriptor %m : !tt.ptr<i8> to !tt.tensordesc<tensor<64x64xf16, #tile>>
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #flat, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // expected-error @+1 {{has a buffer that bulk copies do not fill}}
    ttng.async_tma_copy_global_to_local %d[%row, %row] %a, %b, %pred : !tt.tensordesc<tensor<64x64xf16, #tile>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #flat, #smem, mutable>
    tt.return
  }
}

// -----

#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @one_coordinate(%d: !tt.tensordesc<tensor<64x64xf16, #tile>>, %a: !ttg.memdesc<64x64xf16, #tile, #smem, mutable>, %row: i32) {
  // expected-error @+1 {{has 1 coordinates in blocks of 2 dimensions}}
  ttng.async_tma_copy_local_to_global %d[%row] %a : !tt.tensordesc<tensor<64x64xf16, #tile>>, !ttg.memdesc<64x64xf16, #tile, #smem, mutable>
  tt.return
}

// -----

#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// A map that the launch passes by value: nobody waits for it, and it is there when the first copy wants it.
// CHECK-LABEL: llvm.func @passed
//  CHECK-SAME:   (%[[N:.*]]: i32, %[[MAP:[^:]*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, llvm.readonly},
//       CHECK:   "{\0A.reg .pred p;\0A.reg .b32 lane;\0Aelect.sync lane|p, 0xffffffff;\0Aand.pred p, p, $1;\0A@p prefetch.tensormap [$0];\0A}"
//  CHECK-SAME:   %[[MAP]]
//   CHECK-NOT:   llvm.nvvm.barrier
//       CHECK:   cp.async.bulk.tensor.2d
//  CHECK-SAME:   %[[MAP]]
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @passed(%n: i32, %map: !tt.ptr<i8, 0> {tt.by_value = 128 : i32}, %row: i32, %pred: i1) {
    %d = ttng.reinterpret_tensor_descriptor %map : !tt.ptr<i8, 0> to !tt.tensordesc<tensor<64x64xf16, #tile>>
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #tile, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%row, %n] %a, %b, %pred : !tt.tensordesc<tensor<64x64xf16, #tile>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #tile, #smem, mutable>
    tt.return
  }
}

// -----

#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// A block of three dimensions to rows of 32 bytes. A box has at most 256 elements in a dimension. It has one element in
// the dimensions in front of a dimension that is cut, for its rows follow each other in the buffer: 2 times 2 boxes.
// CHECK-LABEL: llvm.func @boxes_of_images
// CHECK-COUNT-4: cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3, $4}], [$5];
//   CHECK-NOT:   cp.async.bulk

// One copy brings rows of several images.
// CHECK-LABEL: llvm.func @box_of_images
// CHECK-COUNT-1: cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3, $4, $5}], [$6];
//  CHECK-SAME: %arg2, %arg1, %arg1, %arg1
//   CHECK-NOT:   cp.async.bulk
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @boxes_of_images(%m: !tt.ptr<i8>, %row: i32, %column: i32, %pred: i1) {
    %d = ttng.reinterpret_tensor_descriptor %m : !tt.ptr<i8> to !tt.tensordesc<tensor<2x512x16xf16>>
    %a = ttg.local_alloc : () -> !ttg.memdesc<1024x16xf16, #rows, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%row, %row, %column] %a, %b, %pred : !tt.tensordesc<tensor<2x512x16xf16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<1024x16xf16, #rows, #smem, mutable>
    tt.return
  }
  tt.func public @box_of_images(%m: !tt.ptr<i8>, %row: i32, %column: i32, %pred: i1) {
    %d = ttng.reinterpret_tensor_descriptor %m : !tt.ptr<i8> to !tt.tensordesc<tensor<2x4x16x16xf16>>
    %a = ttg.local_alloc : () -> !ttg.memdesc<128x16xf16, #rows, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%row, %row, %row, %column] %a, %b, %pred : !tt.tensordesc<tensor<2x4x16x16xf16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<128x16xf16, #rows, #smem, mutable>
    tt.return
  }
}
