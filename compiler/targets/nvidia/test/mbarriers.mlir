// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --ttg-allocate-shared-memory --lower-to-llvm=target=cuda:90 | FileCheck %s

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// The first thread acts for all, where a predicate holds; all wait.
// CHECK-LABEL: llvm.func @all
//       CHECK:   "@$1 mbarrier.init.shared::cta.b64 [$0], 2;", "r,b,~{memory}" %{{.*}}, %{{[0-9]+}} :
//       CHECK:   "fence.mbarrier_init.release.cluster;"
//       CHECK:   %[[BOTH:.*]] = llvm.and %{{[0-9]+}}, %arg1
//       CHECK:   "@$1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 4096;", "r,b,~{memory}" %{{.*}}, %[[BOTH]]
//       CHECK:   "@$1 mbarrier.arrive.shared::cta.b64 _, [$0], 1;", "r,b,~{memory}" %{{.*}}, %{{[0-9]+}} :
//       CHECK:   "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];"
//       CHECK:   llvm.br ^[[WAIT:.*]]
//       CHECK: ^[[WAIT]]:
//       CHECK:   "{\0A.reg .pred p;\0Ambarrier.try_wait.parity.shared::cta.b64 p, [$1], $2;\0Aselp.b32 $0, 1, 0, p;\0A}", "=&r,r,r,~{memory}" %{{.*}}, %arg0
//       CHECK:   llvm.cond_br %{{.*}}, ^[[WAIT]], ^[[OVER:.*]]
//       CHECK: ^[[OVER]]:
//       CHECK:   llvm.cond_br %arg1, ^[[NEXT:.*]], ^[[DONE:.*]]
//       CHECK: ^[[NEXT]]:
//       CHECK:   mbarrier.try_wait
//       CHECK:   llvm.cond_br %{{.*}}, ^[[NEXT]], ^[[DONE]]
//       CHECK: ^[[DONE]]:
//       CHECK:   "llvm.nvvm.fence.proxy.async.shared_cta"
//       CHECK:   "llvm.nvvm.fence.proxy.async.global"
//       CHECK:   "@$1 mbarrier.inval.shared::cta.b64 [$0];"
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @all(%phase: i32, %p: i1) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.init_barrier %b, 2 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.barrier_expect %b, 4096, %p : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.arrive_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.async_copy_mbarrier_arrive %b {noIncrement} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.wait_barrier %b, %phase : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.wait_barrier %b, %phase, %p deps %b : !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttng.fence_async_global
    ttng.inval_barrier %b : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return
  }
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @other_block(%b: i32) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // expected-error @+1 {{is not supported for other blocks of a cluster}}
    ttng.arrive_barrier %m, 1 {fromCTA = 1 : i32} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return
  }
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @two_objects(%b: !ttg.memdesc<2xi64, #bar, #smem, mutable>) {
  // expected-error @+1 {{takes a mbarrier, a buffer of one i64, not}}
  ttng.inval_barrier %b : !ttg.memdesc<2xi64, #bar, #smem, mutable>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @no_arrivals(%b: !ttg.memdesc<1xi64, #bar, #smem, mutable>) {
  // expected-error @+1 {{needs a count of at least 1}}
  ttng.init_barrier %b, 0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
  tt.return
}
