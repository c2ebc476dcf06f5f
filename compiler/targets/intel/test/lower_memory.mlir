// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=xpu:pvc | FileCheck %s

// A mask is a branch around the access of all words.
// CHECK-LABEL: llvm.func @masked
//       CHECK:   llvm.cond_br %{{.*}}, ^[[ACT:.*]], ^[[AFTER:[^(]*]](
//       CHECK: ^[[ACT]]:
//       CHECK:   llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
//       CHECK: ^[[AFTER]](
//       CHECK:   llvm.cond_br
//       CHECK:   llvm.store {{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [16], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @masked(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
    %m = tt.splat %n : i32 -> tensor<128xi32, #blocked>
    %c = arith.cmpi slt, %r, %m : tensor<128xi32, #blocked>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<128x!tt.ptr<f16>, #blocked>
    %q = tt.addptr %s, %r : tensor<128x!tt.ptr<f16>, #blocked>, tensor<128xi32, #blocked>
    %o = arith.constant dense<1.0> : tensor<128xf16, #blocked>
    %v = tt.load %q, %c, %o : tensor<128x!tt.ptr<f16>, #blocked>
    tt.store %q, %v, %c : tensor<128x!tt.ptr<f16>, #blocked>
    tt.return
  }
}

// -----

// One element travels as it is: SPIR-V has no vectors of one. What is used once is non-temporal.
// CHECK-LABEL: llvm.func @hints
//       CHECK:   llvm.load {{.*}} {alignment = 4 : i64, nontemporal} : !llvm.ptr<1> -> i32
//       CHECK:   llvm.store {{.*}} {alignment = 4 : i64, nontemporal} : i32, !llvm.ptr<1>
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [16], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @hints(%p: !tt.ptr<f32>) {
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #blocked>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #blocked>
    %q = tt.addptr %s, %r : tensor<16x!tt.ptr<f32>, #blocked>, tensor<16xi32, #blocked>
    %v = tt.load %q evictionPolicy = evict_first : tensor<16x!tt.ptr<f32>, #blocked>
    tt.store %q, %v cacheModifier = cs : tensor<16x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

// Integers of a word and f32 have atomic operations; f16 is a loop around a compare-and-swap of its word.
// CHECK-LABEL: llvm.func @atomics
//       CHECK:   llvm.atomicrmw add {{.*}} syncscope("device") acq_rel {{.*}}i32
//       CHECK:   llvm.atomicrmw fadd {{.*}} syncscope("workgroup") monotonic {{.*}}f32
//       CHECK:   %[[WORD:.*]] = llvm.getelementptr {{.*}} -> !llvm.ptr<1>, i8
//       CHECK:   %[[BEGUN:.*]] = llvm.load volatile %[[WORD]] {alignment = 4 : i64} : !llvm.ptr<1> -> i32
//       CHECK:   llvm.br ^[[AGAIN:.*]](%[[BEGUN]] : i32)
//       CHECK: ^[[AGAIN]](%[[SEEN:.*]]: i32)
//       CHECK:   llvm.fadd {{.*}} : f16
//       CHECK:   %[[PAIR:.*]] = llvm.cmpxchg %[[WORD]], %[[SEEN]], {{.*}} syncscope("device") acq_rel acquire
//       CHECK:   %[[NEXT:.*]] = llvm.extractvalue %[[PAIR]][0]
//       CHECK:   %[[DONE:.*]] = llvm.extractvalue %[[PAIR]][1]
//       CHECK:   llvm.cond_br %[[DONE]], ^{{.*}}, ^[[AGAIN]](%[[NEXT]] : i32)
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @atomics(%p: !tt.ptr<i32>, %q: !tt.ptr<f32>, %r: !tt.ptr<f16>, %i: i32, %x: f32, %h: f16) {
    %true = arith.constant true
    %a = tt.atomic_rmw add, acq_rel, gpu, %p, %i, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %b = tt.atomic_rmw fadd, relaxed, cta, %q, %x, %true : (!tt.ptr<f32>, f32, i1) -> f32
    %c = tt.atomic_rmw fadd, acq_rel, gpu, %r, %h, %true : (!tt.ptr<f16>, f16, i1) -> f16
    tt.store %p, %a : !tt.ptr<i32>
    tt.store %q, %b : !tt.ptr<f32>
    tt.store %r, %c : !tt.ptr<f16>
    tt.return
  }
}
