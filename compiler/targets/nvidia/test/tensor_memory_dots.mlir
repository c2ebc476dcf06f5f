// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=cuda:100 | FileCheck %s

// Two steps along K, 32 bytes apart in rows of a and 16 rows of 128 bytes in b; the first one adds where the operand says. The
// second 128 rows have the columns after those of the first.
// CHECK-LABEL: llvm.func @dot
//       CHECK:   tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$0], 128;\0A@$1 tcgen05.relinquish_alloc_permit
//       CHECK:   nvvm.barrier
//       CHECK:   tcgen05.fence::after_thread_sync;\0Ald.shared.b32 $0, [$1];
//       CHECK:   tcgen05.fence::after_thread_sync;\0Aadd.u32 d, $0, 0;
//  CHECK-SAME: add.s64 a, $1, 0;\0Aadd.s64 b, $2, 0;\0A@$5 tcgen05.mma.cta_group::1.kind::f16 [d], a, b, {{[0-9]+}}, $4;
//  CHECK-SAME: add.s64 a, $1, 2;\0Aadd.s64 b, $2, 128;\0A@$5 tcgen05.mma.cta_group::1.kind::f16 [d], a, b, {{[0-9]+}}, add;
//  CHECK-SAME: add.u32 d, $0, 64;
//  CHECK-SAME: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$3];
//       CHECK:   tcgen05.fence::after_thread_sync;\0Aadd.u32 at, $128, 0;\0Atcgen05.ld.sync.aligned.16x256b.x8.b32 {$0, {{.*}} $31}, [at];
//  CHECK-SAME: add.u32 at, $128, 1048576;
//  CHECK-SAME: add.u32 at, $128, 64;
//  CHECK-SAME: add.u32 at, $128, 1048640;
//  CHECK-SAME: tcgen05.wait::ld.sync.aligned;\0Atcgen05.fence::before_thread_sync;
//       CHECK:   tcgen05.dealloc.cta_group::1.sync.aligned.b32 $0, 128;
#mma = #ttg.nvidia_mma<{versionMajor = 5, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [128, 64, 16]}>
#narrow = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @dot(%p: !tt.ptr<f32>, %adds: i1) {
    %slot = ttg.local_alloc : () -> !ttg.memdesc<1xi32, #one, #smem, mutable>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #one, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<256x32xf16, #narrow, #smem, mutable>
    %n = ttg.local_alloc : () -> !ttg.memdesc<32x64xf16, #wide, #smem, mutable>
    %t = ttng.tensor_memory_alloc %slot, 128 : !ttg.memdesc<1xi32, #one, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #one, #smem, mutable>
    ttng.tensor_memory_dot %m, %n, %t, %bar, %adds : !ttg.memdesc<256x32xf16, #narrow, #smem, mutable> * !ttg.memdesc<32x64xf16, #wide, #smem, mutable>, !ttg.memdesc<1xi64, #one, #smem, mutable>
    %d = ttng.tensor_memory_load %t : tensor<256x64xf32, #mma>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<256x64x!tt.ptr<f32>, #mma>
    tt.store %q, %d : tensor<256x64x!tt.ptr<f32>, #mma>
    ttng.tensor_memory_dealloc %t, 128
    tt.return
  }
}
