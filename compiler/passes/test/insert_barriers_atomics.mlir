// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-insert-barriers | FileCheck %s
// Atomic operations by which different threads change one place.

#lane = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Nobody sees the order of two additions.
  // CHECK-LABEL: tt.func public @sums
  //       CHECK: tt.atomic_rmw add
  //   CHECK-NOT: ttg.barrier
  //       CHECK: tt.atomic_rmw add
  tt.func public @sums(%p: !tt.ptr<i32>, %i: tensor<128xi32, #lane>, %j: tensor<128xi32, #lane>, %x: tensor<128xi32, #lane>) {
    %ps = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #lane>
    %here = tt.addptr %ps, %i : tensor<128x!tt.ptr<i32>, #lane>, tensor<128xi32, #lane>
    %there = tt.addptr %ps, %j : tensor<128x!tt.ptr<i32>, #lane>, tensor<128xi32, #lane>
    %a = tt.atomic_rmw add, relaxed, gpu, %here, %x : (tensor<128x!tt.ptr<i32>, #lane>, tensor<128xi32, #lane>) -> tensor<128xi32, #lane>
    %b = tt.atomic_rmw add, relaxed, gpu, %there, %x : (tensor<128x!tt.ptr<i32>, #lane>, tensor<128xi32, #lane>) -> tensor<128xi32, #lane>
    tt.return
  }

  // The result shows what has been added.
  // CHECK-LABEL: tt.func public @sum_is_read
  //       CHECK: tt.atomic_rmw add
  //  CHECK-NEXT: ttg.barrier all
  //  CHECK-NEXT: tt.atomic_rmw add
  tt.func public @sum_is_read(%p: !tt.ptr<i32>, %q: tensor<128x!tt.ptr<i32>, #lane>, %i: tensor<128xi32, #lane>, %j: tensor<128xi32, #lane>, %x: tensor<128xi32, #lane>) {
    %ps = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #lane>
    %here = tt.addptr %ps, %i : tensor<128x!tt.ptr<i32>, #lane>, tensor<128xi32, #lane>
    %there = tt.addptr %ps, %j : tensor<128x!tt.ptr<i32>, #lane>, tensor<128xi32, #lane>
    %a = tt.atomic_rmw add, relaxed, gpu, %here, %x : (tensor<128x!tt.ptr<i32>, #lane>, tensor<128xi32, #lane>) -> tensor<128xi32, #lane>
    %b = tt.atomic_rmw add, relaxed, gpu, %there, %x : (tensor<128x!tt.ptr<i32>, #lane>, tensor<128xi32, #lane>) -> tensor<128xi32, #lane>
    tt.store %q, %b : tensor<128x!tt.ptr<i32>, #lane>
    tt.return
  }

  // Sums and maxima do not commute, nor do values that replace each other.
  // CHECK-LABEL: tt.func public @others
  //       CHECK: tt.atomic_rmw add
  //  CHECK-NEXT: ttg.barrier all
  //  CHECK-NEXT: tt.atomic_rmw max
  //  CHECK-NEXT: ttg.barrier all
  //  CHECK-NEXT: tt.atomic_rmw exch
  //  CHECK-NEXT: ttg.barrier all
  //  CHECK-NEXT: tt.atomic_rmw exch
  tt.func public @others(%p: !tt.ptr<i32>, %i: tensor<128xi32, #lane>, %j: tensor<128xi32, #lane>, %x: tensor<128xi32, #lane>) {
    %ps = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #lane>
    %here = tt.addptr %ps, %i : tensor<128x!tt.ptr<i32>, #lane>, tensor<128xi32, #lane>
    %there = tt.addptr %ps, %j : tensor<128x!tt.ptr<i32>, #lane>, tensor<128xi32, #lane>
    %a = tt.atomic_rmw add, relaxed, gpu, %here, %x : (tensor<128x!tt.ptr<i32>, #lane>, tensor<128xi32, #lane>) -> tensor<128xi32, #lane>
    %b = tt.atomic_rmw max, relaxed, gpu, %there, %x : (tensor<128x!tt.ptr<i32>, #lane>, tensor<128xi32, #lane>) -> tensor<128xi32, #lane>
    %c = tt.atomic_rmw exch, relaxed, gpu, %here, %x : (tensor<128x!tt.ptr<i32>, #lane>, tensor<128xi32, #lane>) -> tensor<128xi32, #lane>
    %d = tt.atomic_rmw exch, relaxed, gpu, %there, %x : (tensor<128x!tt.ptr<i32>, #lane>, tensor<128xi32, #lane>) -> tensor<128xi32, #lane>
    tt.return
  }
}
