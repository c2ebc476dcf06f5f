// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-coalesce=cache-ratio=7 | FileCheck %s --check-prefixes=CHECK,CACHE
// RUN: triton-opt %s --ttg-coalesce | FileCheck %s --check-prefixes=CHECK,ALONE

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[FOUR:.+]] = #ttg.blocked<{sizePerThread = [4]
// CACHE-DAG: #[[TWO:.+]] = #ttg.blocked<{sizePerThread = [2]
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {

// Two of three loads are unaligned. A thread of four elements reads each of theirs alone, and the cache moves the same
// 512 bytes four times. It moves seven times what the memory does, which the two loads and the store of others take.
// CHECK-LABEL: @three_points
// CHECK-COUNT-3: tt.load {{.*}} : tensor<512x!tt.ptr<f32>, #[[FOUR]]>
// CHECK: tt.store {{.*}} : tensor<512x!tt.ptr<f32>, #[[FOUR]]>
tt.func @three_points(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %c1 = arith.constant dense<1> : tensor<512xi32, #b>
  %p0 = tt.addptr %ps, %r : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %r1 = arith.addi %r, %c1 : tensor<512xi32, #b>
  %p1 = tt.addptr %ps, %r1 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %r2 = arith.subi %r, %c1 : tensor<512xi32, #b>
  %p2 = tt.addptr %ps, %r2 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %a = tt.load %p0 : tensor<512x!tt.ptr<f32>, #b>
  %d = tt.load %p1 : tensor<512x!tt.ptr<f32>, #b>
  %e = tt.load %p2 : tensor<512x!tt.ptr<f32>, #b>
  %s = arith.addf %a, %d : tensor<512xf32, #b>
  %t = arith.addf %s, %e : tensor<512xf32, #b>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %to = tt.addptr %qs, %r : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  tt.store %to, %t : tensor<512x!tt.ptr<f32>, #b>
  tt.return
}

// With six unaligned loads the cache would take longer than the memory. With two elements a thread it takes as long.
// CHECK-LABEL: @seven_points
// CACHE-COUNT-7: tt.load {{.*}} : tensor<512x!tt.ptr<f32>, #[[TWO]]>
// CACHE: tt.store {{.*}} : tensor<512x!tt.ptr<f32>, #[[TWO]]>
// ALONE-COUNT-7: tt.load {{.*}} : tensor<512x!tt.ptr<f32>, #[[FOUR]]>
tt.func @seven_points(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %p0 = tt.addptr %ps, %r : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v0 = tt.load %p0 : tensor<512x!tt.ptr<f32>, #b>
  %c1 = arith.constant dense<-5> : tensor<512xi32, #b>
  %r1 = arith.addi %r, %c1 : tensor<512xi32, #b>
  %p1 = tt.addptr %ps, %r1 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v1 = tt.load %p1 : tensor<512x!tt.ptr<f32>, #b>
  %c2 = arith.constant dense<-3> : tensor<512xi32, #b>
  %r2 = arith.addi %r, %c2 : tensor<512xi32, #b>
  %p2 = tt.addptr %ps, %r2 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v2 = tt.load %p2 : tensor<512x!tt.ptr<f32>, #b>
  %c3 = arith.constant dense<-1> : tensor<512xi32, #b>
  %r3 = arith.addi %r, %c3 : tensor<512xi32, #b>
  %p3 = tt.addptr %ps, %r3 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v3 = tt.load %p3 : tensor<512x!tt.ptr<f32>, #b>
  %c4 = arith.constant dense<1> : tensor<512xi32, #b>
  %r4 = arith.addi %r, %c4 : tensor<512xi32, #b>
  %p4 = tt.addptr %ps, %r4 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v4 = tt.load %p4 : tensor<512x!tt.ptr<f32>, #b>
  %c5 = arith.constant dense<3> : tensor<512xi32, #b>
  %r5 = arith.addi %r, %c5 : tensor<512xi32, #b>
  %p5 = tt.addptr %ps, %r5 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v5 = tt.load %p5 : tensor<512x!tt.ptr<f32>, #b>
  %c6 = arith.constant dense<5> : tensor<512xi32, #b>
  %r6 = arith.addi %r, %c6 : tensor<512xi32, #b>
  %p6 = tt.addptr %ps, %r6 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v6 = tt.load %p6 : tensor<512x!tt.ptr<f32>, #b>
  %s1 = arith.addf %v0, %v1 : tensor<512xf32, #b>
  %s2 = arith.addf %s1, %v2 : tensor<512xf32, #b>
  %s3 = arith.addf %s2, %v3 : tensor<512xf32, #b>
  %s4 = arith.addf %s3, %v4 : tensor<512xf32, #b>
  %s5 = arith.addf %s4, %v5 : tensor<512xf32, #b>
  %s6 = arith.addf %s5, %v6 : tensor<512xf32, #b>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %to = tt.addptr %qs, %r : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  tt.store %to, %s6 : tensor<512x!tt.ptr<f32>, #b>
  tt.return
}
}
