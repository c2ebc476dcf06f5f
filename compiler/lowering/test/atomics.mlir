// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=cuda:90 | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=cuda:80 | FileCheck %s --check-prefixes=CHECK,SM80

// Neighbours that a thread adds to are one instruction where there is one for them; a mask that is the same for them
// guards it.
// CHECK-LABEL: llvm.func @adds
//       SM90:   llvm.inline_asm {{.*}}"@$9 atom.global.gpu.relaxed.add.v4.f32 {$0, $1, $2, $3}, [$4], {$5, $6, $7, $8};"
//   SM90-NOT:   atom
// SM80-COUNT-4: red.global.gpu.relaxed.add.f32
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @adds(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %v: f32, %m: i1) {
    %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #b>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #b>
    %q = tt.addptr %s, %r : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
    %x = tt.splat %v : f32 -> tensor<128xf32, #b>
    %k = tt.splat %m : i1 -> tensor<128xi1, #b>
    %old = tt.atomic_rmw fadd, relaxed, gpu, %q, %x, %k : (tensor<128x!tt.ptr<f32>, #b>, tensor<128xf32, #b>, tensor<128xi1, #b>) -> tensor<128xf32, #b>
    tt.return
  }
}

// -----

// Addresses that are not known to be aligned, and other operations: one by one. Nobody asks for the first results.
// CHECK-LABEL: llvm.func @by_element
// CHECK-COUNT-2: red.global.gpu.relaxed.add.f32
// CHECK-COUNT-2: atom.global.gpu.relaxed.add.u32
//     CHECK-NOT: {{(atom|red)\.global|fence}}
#b = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @by_element(%p: !tt.ptr<f32>, %i: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %v: f32, %n: i32) {
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #b>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #b>
    %q = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>, #b>, tensor<64xi32, #b>
    %x = tt.splat %v : f32 -> tensor<64xf32, #b>
    %old = tt.atomic_rmw fadd, relaxed, gpu, %q, %x : (tensor<64x!tt.ptr<f32>, #b>, tensor<64xf32, #b>) -> tensor<64xf32, #b>
    %t = tt.splat %i : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #b>
    %u = tt.addptr %t, %r : tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>
    %y = tt.splat %n : i32 -> tensor<64xi32, #b>
    %was = tt.atomic_rmw add, relaxed, gpu, %u, %y : (tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>) -> tensor<64xi32, #b>
    tt.print "old" {hex = false, isSigned = array<i32: 1>} : %was : tensor<64xi32, #b>
    tt.return
  }
}

// -----

// A fence before all of a tensor's operations releases, in threads that have one. One after them acquires, as a load
// follows. Nothing follows the last ones. Where a thread has one operation, it orders by itself.
// CHECK-LABEL: llvm.func @fences
//       CHECK: %[[ANY:.*]] = llvm.or %{{.*}}, %{{.*}} : i1
//        SM90: "@$0 fence.release.sys;", "b,~{memory}" %[[ANY]]
//        SM80: "@$0 fence.acq_rel.sys;", "b,~{memory}" %[[ANY]]
// CHECK-COUNT-2: atom.global.sys.relaxed.add.u32
//        SM90: "@$0 fence.acquire.sys;", "b,~{memory}" %[[ANY]]
//        SM80: "@$0 fence.acq_rel.sys;", "b,~{memory}" %[[ANY]]
//       CHECK: llvm.load
//        SM90: "fence.release.gpu;"
//        SM80: "fence.acq_rel.gpu;"
// CHECK-COUNT-2: red.global.gpu.relaxed.max.s32
//   CHECK-NOT: fence
//       CHECK: llvm.return
// CHECK-LABEL: llvm.func @loops
//        SM90: "fence.release.gpu;"
// CHECK-COUNT-2: red.global.gpu.relaxed.add.u32
//        SM90: "fence.acquire.gpu;"
// CHECK-LABEL: llvm.func @swaps
//   CHECK-NOT: fence
// CHECK-COUNT-2: atom.global.acq_rel.gpu.cas.b32
// CHECK-LABEL: llvm.func @one
//   CHECK-NOT: fence
//       CHECK: atom.global.gpu.acq_rel.add.u32
//   CHECK-NOT: {{(atom|red)\.global|fence}}
//       CHECK: llvm.return
#b = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @fences(%i: !tt.ptr<i32>, %n: i32, %end: i32) {
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #b>
    %t = tt.splat %i : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #b>
    %u = tt.addptr %t, %r : tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>
    %y = tt.splat %n : i32 -> tensor<64xi32, #b>
    %e = tt.splat %end : i32 -> tensor<64xi32, #b>
    %k = arith.cmpi slt, %r, %e : tensor<64xi32, #b>
    %was = tt.atomic_rmw add, acq_rel, sys, %u, %y, %k : (tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>, tensor<64xi1, #b>) -> tensor<64xi32, #b>
    %p = tt.addptr %t, %was : tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>
    %z = tt.load %p : tensor<64x!tt.ptr<i32>, #b>
    %last = tt.atomic_rmw max, acq_rel, gpu, %u, %z : (tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>) -> tensor<64xi32, #b>
    tt.return
  }

  tt.func public @loops(%i: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #b>
    %t = tt.splat %i : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #b>
    %u = tt.addptr %t, %r : tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>
    cf.br ^loop(%c0 : i32)
  ^loop(%k: i32):
    %was = tt.atomic_rmw add, acq_rel, gpu, %u, %r : (tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>) -> tensor<64xi32, #b>
    %next = arith.addi %k, %c1 : i32
    %more = arith.cmpi slt, %next, %n : i32
    cf.cond_br %more, ^loop(%next : i32), ^end
  ^end:
    tt.return
  }

  tt.func public @swaps(%q: tensor<64x!tt.ptr<i32>, #b>, %x: tensor<64xi32, #b>) {
    %old = tt.atomic_cas acq_rel, gpu, %q, %x, %x : (tensor<64x!tt.ptr<i32>, #b>, tensor<64xi32, #b>, tensor<64xi32, #b>) -> tensor<64xi32, #b>
    tt.return
  }

  tt.func public @one(%i: !tt.ptr<i32>, %n: i32) {
    %was = tt.atomic_rmw add, acq_rel, gpu, %i, %n : (!tt.ptr<i32>, i32) -> i32
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The atomic that publishes begins with a barrier: the one before it would be a second. A relaxed one has none.
  // CHECK-LABEL: llvm.func {{.*}}@one_barrier
  // CHECK-COUNT-1: barrier.cta.sync
  // CHECK-NOT: barrier.cta.sync
  // CHECK: atom.{{.*}}acq_rel
  // CHECK-COUNT-1: barrier.cta.sync
  // CHECK-NOT: barrier.cta.sync
  // CHECK: atom.{{.*}}relaxed
  // CHECK-NOT: barrier.cta.sync
  // CHECK: llvm.return
  tt.func public @one_barrier(%p: !tt.ptr<i32>, %x: i32) {
    %true = arith.constant true
    ttg.barrier local
    %q = tt.addptr %p, %x : !tt.ptr<i32>, i32
    %0 = tt.atomic_rmw exch, acq_rel, gpu, %q, %x, %true : (!tt.ptr<i32>, i32, i1) -> i32
    ttg.barrier local
    %1 = tt.atomic_rmw exch, relaxed, gpu, %q, %x, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#pairs = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A conversion in between has scratch, so it needs the barrier in front of it: three with its own and the atomic's.
  // CHECK-LABEL: llvm.func {{.*}}@scratch_between
  // CHECK: barrier.cta.sync
  // CHECK: barrier.cta.sync
  // CHECK: llvm.load {{.*}} !llvm.ptr<3>
  // CHECK: barrier.cta.sync
  // CHECK: atom.{{.*}}acq_rel
  tt.func public @scratch_between(%p: !tt.ptr<i32>, %x: i32, %v: tensor<256xf32, #rows>, %to: tensor<256x!tt.ptr<f32>, #pairs>) {
    %true = arith.constant true
    ttg.barrier local
    %c = ttg.convert_layout %v {allocation.offset = 0 : i32} : tensor<256xf32, #rows> -> tensor<256xf32, #pairs>
    %0 = tt.atomic_rmw exch, acq_rel, gpu, %p, %x, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.store %to, %c : tensor<256x!tt.ptr<f32>, #pairs>
    tt.return
  }
}
