// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-allocate-shared-memory --lower-to-llvm=target=hip:gfx1250 | FileCheck %s

// Each lane says where it writes, so that any buffer will do.
// CHECK-LABEL: llvm.func @swizzled
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.global.load.async.to.lds.b128"
//       CHECK:   llvm.call @tritond.copies.commit()
//       CHECK:   llvm.call @tritond.copies.wait.0()
#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @swizzled(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #row}>>
    %j = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #row}>> -> tensor<1x32xi32, #row>
    %k = tt.broadcast %j : tensor<1x32xi32, #row> -> tensor<64x32xi32, #row>
    %s = tt.splat %base : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #row>
    %p = tt.addptr %s, %k : tensor<64x32x!tt.ptr<f16>, #row>, tensor<64x32xi32, #row>
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %a : tensor<64x32x!tt.ptr<f16>, #row> -> <64x32xf16, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %g {num = 0 : i32}
    tt.return
  }
}
