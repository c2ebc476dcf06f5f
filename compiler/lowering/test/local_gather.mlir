// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --ttg-allocate-shared-memory --lower-to-llvm=target=cuda:90 | FileCheck %s

// The index's bits are sent to where the buffer has its coordinate: the row's to the offset from bit 5 on, and to the
// swizzled groups of the columns. One load, store or atomic an element.
// CHECK-LABEL: llvm.func @indexed
//       CHECK:   %[[ROW:.*]] = llvm.and %arg1, %{{.*}}
//       CHECK:   llvm.shl
//       CHECK:   llvm.xor
//       CHECK:   llvm.load %{{.*}} : !llvm.ptr<3> -> f32
//       CHECK:   llvm.store %{{.*}} : f32, !llvm.ptr<3>
//       CHECK:   llvm.cond_br %{{.*}}, ^[[ACT:bb[0-9]+]], ^[[AFTER:bb[0-9]+]](%{{.*}} : f32)
//       CHECK: ^[[ACT]]:
//       CHECK:   %[[OLD:.*]] = llvm.atomicrmw fadd %{{.*}}, %arg2 monotonic : !llvm.ptr<3>, f32
//       CHECK:   llvm.br ^[[AFTER]](%[[OLD]] : f32)
#row = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @indexed(%p: !tt.ptr<f32>, %i: i32, %v: f32, %m: i1) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %is = tt.splat %i : i32 -> tensor<4x32xi32, #row>
    %vs = tt.splat %v : f32 -> tensor<4x32xf32, #row>
    %ms = tt.splat %m : i1 -> tensor<4x32xi1, #row>
    %x = ttg.local_gather %a[%is] {axis = 0 : i32} : !ttg.memdesc<32x32xf32, #shared, #smem, mutable>, tensor<4x32xi32, #row> -> tensor<4x32xf32, #row>
    ttg.local_scatter %a[%is], %x {axis = 0 : i32} : !ttg.memdesc<32x32xf32, #shared, #smem, mutable>, tensor<4x32xi32, #row>, tensor<4x32xf32, #row>
    %old = ttg.local_atomic_scatter_rmw fadd, %a[%is], %vs, %ms {axis = 0 : i32} : (!ttg.memdesc<32x32xf32, #shared, #smem, mutable>, tensor<4x32xf32, #row>, tensor<4x32xi32, #row>, tensor<4x32xi1, #row>) -> tensor<4x32xf32, #row>
    tt.return
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @no_such_atomic(%i: i32, %v: f32) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %is = tt.splat %i : i32 -> tensor<4x32xi32, #row>
    %vs = tt.splat %v : f32 -> tensor<4x32xf32, #row>
    // expected-error @+1 {{is not available for 'f32'}}
    %old = ttg.local_atomic_scatter_rmw xor, %a[%is], %vs {axis = 0 : i32} : (!ttg.memdesc<32x32xf32, #shared, #smem, mutable>, tensor<4x32xf32, #row>, tensor<4x32xi32, #row>) -> tensor<4x32xf32, #row>
    tt.return
  }
}
