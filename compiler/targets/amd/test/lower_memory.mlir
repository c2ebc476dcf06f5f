// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=hip:gfx942 | FileCheck %s

// A mask is one condition for all words of an access.
// CHECK-LABEL: llvm.func @masked
//       CHECK:   %[[MASK:.*]] = llvm.shufflevector {{.*}} : vector<4xi1>
//       CHECK:   llvm.intr.masked.load %{{.*}}, %[[MASK]], {{.*}} {alignment = 16 : i32} : {{.*}} -> vector<4xi32>
//       CHECK:   llvm.intr.masked.store {{.*}} {alignment = 16 : i32} : vector<4xi32>, vector<4xi1>
#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @masked(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %m = tt.splat %n : i32 -> tensor<512xi32, #blocked>
    %c = arith.cmpi slt, %r, %m : tensor<512xi32, #blocked>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>, #blocked>
    %q = tt.addptr %s, %r : tensor<512x!tt.ptr<f16>, #blocked>, tensor<512xi32, #blocked>
    %o = arith.constant dense<1.0> : tensor<512xf16, #blocked>
    %v = tt.load %q, %c, %o : tensor<512x!tt.ptr<f16>, #blocked>
    tt.store %q, %v, %c : tensor<512x!tt.ptr<f16>, #blocked>
    tt.return
  }
}

// -----

// Hints: what is used once is non-temporal.
// CHECK-LABEL: llvm.func @hints
//       CHECK:   llvm.load {{.*}} {alignment = 4 : i64, nontemporal}
//       CHECK:   llvm.store {{.*}} {alignment = 4 : i64, nontemporal}
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @hints(%p: !tt.ptr<f32>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #blocked>
    %q = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>, #blocked>, tensor<64xi32, #blocked>
    %v = tt.load %q evictionPolicy = evict_first : tensor<64x!tt.ptr<f32>, #blocked>
    tt.store %q, %v cacheModifier = cs : tensor<64x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

// Atomics name their scope; a mask is a branch. Two neighbours of f16 are added at once.
// CHECK-LABEL: llvm.func @atomics
//       CHECK:   llvm.cond_br
//       CHECK:   llvm.atomicrmw add {{.*}} syncscope("agent") acq_rel
//       CHECK:   llvm.atomicrmw fadd {{.*}} syncscope("workgroup") monotonic {{.*}}vector<2xf16>
#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @atomics(%p: !tt.ptr<i32>, %h: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %x: i32) {
    %old = tt.atomic_rmw add, acq_rel, gpu, %p, %x : (!tt.ptr<i32>, i32) -> i32
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
    %s = tt.splat %h : !tt.ptr<f16> -> tensor<128x!tt.ptr<f16>, #blocked>
    %q = tt.addptr %s, %r : tensor<128x!tt.ptr<f16>, #blocked>, tensor<128xi32, #blocked>
    %o = arith.constant dense<1.0> : tensor<128xf16, #blocked>
    %sum = tt.atomic_rmw fadd, relaxed, cta, %q, %o : (tensor<128x!tt.ptr<f16>, #blocked>, tensor<128xf16, #blocked>) -> tensor<128xf16, #blocked>
    tt.return
  }
}

// -----

// What the frontend says about the size of buffers goes with the kernel.
// CHECK-LABEL: llvm.func @small_buffers
//  CHECK-SAME:   passthrough = ["tritond.kernel", {{.*}}["tritond.small_buffers", "0,2"]]
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @small_buffers(%p: !tt.ptr<f16> {tt.pointer_range = 32 : i32}, %n: i32, %q: !tt.ptr<f16> {tt.pointer_range = 32 : i32}, %r: !tt.ptr<f16>) {
    tt.return
  }
}
