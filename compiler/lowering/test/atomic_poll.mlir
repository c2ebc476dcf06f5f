// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --ttg-allocate-shared-memory --lower-to-llvm=target=cuda:90 | FileCheck %s

// One thread looks until the word is there, after all others came; they get its answer through shared memory.
// CHECK-LABEL: llvm.func @poll
//       CHECK:   nvvm.barrier.cta.sync
//       CHECK:   llvm.cond_br %[[FIRST:.*]], ^[[POLL:bb[0-9]+]], ^[[AFTER:bb[0-9]+]](%{{.*}} : i1)
//       CHECK: ^[[POLL]]:
//       CHECK:   llvm.br ^[[AGAIN:bb[0-9]+]]
//       CHECK: ^[[AGAIN]]:
//       CHECK:   %[[SEEN:.*]] = llvm.inline_asm {{.*}}ld.acquire.gpu.global.b32
//       CHECK:   %[[SAME:.*]] = llvm.icmp "eq" %[[SEEN]], %arg1
//       CHECK:   llvm.cond_br %[[SAME]], ^[[AFTER]](%{{.*}} : i1), ^[[AGAIN]]
//       CHECK: ^[[AFTER]](%[[RESULT:.*]]: i1):
//       CHECK:   llvm.store %{{.*}} !llvm.ptr<3>
//       CHECK:   nvvm.barrier.cta.sync
//       CHECK:   llvm.load {{.*}} !llvm.ptr<3>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @poll(%p: !tt.ptr<i32>, %x: i32, %out: !tt.ptr<i1>) {
    %0 = tt.atomic_poll acquire, gpu, %p, %x : !tt.ptr<i32>, i32 -> i1
    tt.store %out, %0 : !tt.ptr<i1>
    tt.return
  }
}

// -----

// With a timeout the clock is read before and after each look; nobody asks for the answer, but all wait.
// CHECK-LABEL: llvm.func @timeout
//       CHECK:   %[[START:.*]] = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.globaltimer"()
//       CHECK:   llvm.br ^[[AGAIN:bb[0-9]+]]
//       CHECK: ^[[AGAIN]]:
//       CHECK:   ld.relaxed.sys.global.b64
//       CHECK:   llvm.cond_br %{{.*}}, ^[[AFTER:bb[0-9]+]](%[[YES:.*]] : i1), ^[[ABSENT:bb[0-9]+]]
//       CHECK: ^[[ABSENT]]:
//       CHECK:   %[[NOW:.*]] = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.globaltimer"()
//       CHECK:   %[[WAITED:.*]] = llvm.sub %[[NOW]], %[[START]]
//       CHECK:   %[[OVER:.*]] = llvm.icmp "sge" %[[WAITED]], %arg2
//       CHECK:   llvm.cond_br %[[OVER]], ^[[AFTER]](%{{.*}} : i1), ^[[AGAIN]]
//       CHECK: ^[[AFTER]](%{{.*}}: i1):
//       CHECK:   nvvm.barrier.cta.sync
//  CHECK-NEXT:   llvm.return
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @timeout(%p: !tt.ptr<i64>, %x: i64, %t: i64) {
    %0 = tt.atomic_poll relaxed, sys, %p, %x timeout %t : !tt.ptr<i64>, i64 -> i1
    tt.return
  }
}

// -----

// A load cannot publish: an atomic that changes nothing does.
// CHECK-LABEL: llvm.func @release
//       CHECK:   atom.global.cta.release.or.b32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @release(%p: !tt.ptr<i32>, %x: i32) {
    %0 = tt.atomic_poll release, cta, %p, %x : !tt.ptr<i32>, i32 -> i1
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @bytes(%p: !tt.ptr<i8>, %x: i8) {
    // expected-error @below {{no atomic load of 'i8'}}
    // expected-error @below {{is not available for 'i8' on this target}}
    %0 = tt.atomic_poll acquire, gpu, %p, %x : !tt.ptr<i8>, i8 -> i1
    tt.return
  }
}
