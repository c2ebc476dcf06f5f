// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-coalesce=cache-ratio=7 | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[FOUR:.+]] = #ttg.blocked<{sizePerThread = [4]
// CHECK-DAG: #[[TWO:.+]] = #ttg.blocked<{sizePerThread = [2]
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {

// Six of seven loads are unaligned, and read three of 128 elements. So the cache is not what takes long.
// CHECK-LABEL: @edge
// CHECK-COUNT-7: tt.load {{.*}} : tensor<512x!tt.ptr<f32>, #[[FOUR]]>
// CHECK: tt.store {{.*}} : tensor<512x!tt.ptr<f32>, #[[FOUR]]>
tt.func @edge(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #b>
  %columns = arith.constant dense<128> : tensor<512xi32, #b>
  %x = arith.remsi %r, %columns : tensor<512xi32, #b>
  %one = arith.constant dense<1> : tensor<512xi32, #b>
  %three = arith.constant dense<3> : tensor<512xi32, #b>
  %shifted = arith.addi %x, %one : tensor<512xi32, #b>
  %low = arith.cmpi sgt, %shifted, %one : tensor<512xi32, #b>
  %high = arith.cmpi sle, %x, %three : tensor<512xi32, #b>
  %m = arith.andi %low, %high : tensor<512xi1, #b>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %p0 = tt.addptr %ps, %r : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %s0 = tt.load %p0 : tensor<512x!tt.ptr<f32>, #b>
  %c1 = arith.constant dense<-5> : tensor<512xi32, #b>
  %r1 = arith.addi %r, %c1 : tensor<512xi32, #b>
  %p1 = tt.addptr %ps, %r1 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v1 = tt.load %p1, %m : tensor<512x!tt.ptr<f32>, #b>
  %s1 = arith.addf %s0, %v1 : tensor<512xf32, #b>
  %c2 = arith.constant dense<-3> : tensor<512xi32, #b>
  %r2 = arith.addi %r, %c2 : tensor<512xi32, #b>
  %p2 = tt.addptr %ps, %r2 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v2 = tt.load %p2, %m : tensor<512x!tt.ptr<f32>, #b>
  %s2 = arith.addf %s1, %v2 : tensor<512xf32, #b>
  %c3 = arith.constant dense<-1> : tensor<512xi32, #b>
  %r3 = arith.addi %r, %c3 : tensor<512xi32, #b>
  %p3 = tt.addptr %ps, %r3 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v3 = tt.load %p3, %m : tensor<512x!tt.ptr<f32>, #b>
  %s3 = arith.addf %s2, %v3 : tensor<512xf32, #b>
  %c4 = arith.constant dense<1> : tensor<512xi32, #b>
  %r4 = arith.addi %r, %c4 : tensor<512xi32, #b>
  %p4 = tt.addptr %ps, %r4 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v4 = tt.load %p4, %m : tensor<512x!tt.ptr<f32>, #b>
  %s4 = arith.addf %s3, %v4 : tensor<512xf32, #b>
  %c5 = arith.constant dense<3> : tensor<512xi32, #b>
  %r5 = arith.addi %r, %c5 : tensor<512xi32, #b>
  %p5 = tt.addptr %ps, %r5 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v5 = tt.load %p5, %m : tensor<512x!tt.ptr<f32>, #b>
  %s5 = arith.addf %s4, %v5 : tensor<512xf32, #b>
  %c6 = arith.constant dense<5> : tensor<512xi32, #b>
  %r6 = arith.addi %r, %c6 : tensor<512xi32, #b>
  %p6 = tt.addptr %ps, %r6 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v6 = tt.load %p6, %m : tensor<512x!tt.ptr<f32>, #b>
  %s6 = arith.addf %s5, %v6 : tensor<512xf32, #b>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %to = tt.addptr %qs, %r : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  tt.store %to, %s6 : tensor<512x!tt.ptr<f32>, #b>
  tt.return
}

// These read three elements of four, for which a thread of four elements is too wide.
// CHECK-LABEL: @most
// CHECK-COUNT-7: tt.load {{.*}} : tensor<512x!tt.ptr<f32>, #[[TWO]]>
// CHECK: tt.store {{.*}} : tensor<512x!tt.ptr<f32>, #[[TWO]]>
tt.func @most(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #b>
  %bound = arith.constant dense<384> : tensor<512xi32, #b>
  %m = arith.cmpi slt, %r, %bound : tensor<512xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %p0 = tt.addptr %ps, %r : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %s0 = tt.load %p0 : tensor<512x!tt.ptr<f32>, #b>
  %c1 = arith.constant dense<-5> : tensor<512xi32, #b>
  %r1 = arith.addi %r, %c1 : tensor<512xi32, #b>
  %p1 = tt.addptr %ps, %r1 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v1 = tt.load %p1, %m : tensor<512x!tt.ptr<f32>, #b>
  %s1 = arith.addf %s0, %v1 : tensor<512xf32, #b>
  %c2 = arith.constant dense<-3> : tensor<512xi32, #b>
  %r2 = arith.addi %r, %c2 : tensor<512xi32, #b>
  %p2 = tt.addptr %ps, %r2 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v2 = tt.load %p2, %m : tensor<512x!tt.ptr<f32>, #b>
  %s2 = arith.addf %s1, %v2 : tensor<512xf32, #b>
  %c3 = arith.constant dense<-1> : tensor<512xi32, #b>
  %r3 = arith.addi %r, %c3 : tensor<512xi32, #b>
  %p3 = tt.addptr %ps, %r3 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v3 = tt.load %p3, %m : tensor<512x!tt.ptr<f32>, #b>
  %s3 = arith.addf %s2, %v3 : tensor<512xf32, #b>
  %c4 = arith.constant dense<1> : tensor<512xi32, #b>
  %r4 = arith.addi %r, %c4 : tensor<512xi32, #b>
  %p4 = tt.addptr %ps, %r4 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v4 = tt.load %p4, %m : tensor<512x!tt.ptr<f32>, #b>
  %s4 = arith.addf %s3, %v4 : tensor<512xf32, #b>
  %c5 = arith.constant dense<3> : tensor<512xi32, #b>
  %r5 = arith.addi %r, %c5 : tensor<512xi32, #b>
  %p5 = tt.addptr %ps, %r5 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v5 = tt.load %p5, %m : tensor<512x!tt.ptr<f32>, #b>
  %s5 = arith.addf %s4, %v5 : tensor<512xf32, #b>
  %c6 = arith.constant dense<5> : tensor<512xi32, #b>
  %r6 = arith.addi %r, %c6 : tensor<512xi32, #b>
  %p6 = tt.addptr %ps, %r6 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v6 = tt.load %p6, %m : tensor<512x!tt.ptr<f32>, #b>
  %s6 = arith.addf %s5, %v6 : tensor<512xf32, #b>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %to = tt.addptr %qs, %r : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  tt.store %to, %s6 : tensor<512x!tt.ptr<f32>, #b>
  tt.return
}

// So do these, at both ends.
// CHECK-LABEL: @either
// CHECK-COUNT-7: tt.load {{.*}} : tensor<512x!tt.ptr<f32>, #[[TWO]]>
// CHECK: tt.store {{.*}} : tensor<512x!tt.ptr<f32>, #[[TWO]]>
tt.func @either(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #b>
  %begin = arith.constant dense<192> : tensor<512xi32, #b>
  %end = arith.constant dense<320> : tensor<512xi32, #b>
  %low = arith.cmpi slt, %r, %begin : tensor<512xi32, #b>
  %high = arith.cmpi sge, %r, %end : tensor<512xi32, #b>
  %m = arith.ori %low, %high : tensor<512xi1, #b>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %p0 = tt.addptr %ps, %r : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %s0 = tt.load %p0 : tensor<512x!tt.ptr<f32>, #b>
  %c1 = arith.constant dense<-5> : tensor<512xi32, #b>
  %r1 = arith.addi %r, %c1 : tensor<512xi32, #b>
  %p1 = tt.addptr %ps, %r1 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v1 = tt.load %p1, %m : tensor<512x!tt.ptr<f32>, #b>
  %s1 = arith.addf %s0, %v1 : tensor<512xf32, #b>
  %c2 = arith.constant dense<-3> : tensor<512xi32, #b>
  %r2 = arith.addi %r, %c2 : tensor<512xi32, #b>
  %p2 = tt.addptr %ps, %r2 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v2 = tt.load %p2, %m : tensor<512x!tt.ptr<f32>, #b>
  %s2 = arith.addf %s1, %v2 : tensor<512xf32, #b>
  %c3 = arith.constant dense<-1> : tensor<512xi32, #b>
  %r3 = arith.addi %r, %c3 : tensor<512xi32, #b>
  %p3 = tt.addptr %ps, %r3 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v3 = tt.load %p3, %m : tensor<512x!tt.ptr<f32>, #b>
  %s3 = arith.addf %s2, %v3 : tensor<512xf32, #b>
  %c4 = arith.constant dense<1> : tensor<512xi32, #b>
  %r4 = arith.addi %r, %c4 : tensor<512xi32, #b>
  %p4 = tt.addptr %ps, %r4 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v4 = tt.load %p4, %m : tensor<512x!tt.ptr<f32>, #b>
  %s4 = arith.addf %s3, %v4 : tensor<512xf32, #b>
  %c5 = arith.constant dense<3> : tensor<512xi32, #b>
  %r5 = arith.addi %r, %c5 : tensor<512xi32, #b>
  %p5 = tt.addptr %ps, %r5 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v5 = tt.load %p5, %m : tensor<512x!tt.ptr<f32>, #b>
  %s5 = arith.addf %s4, %v5 : tensor<512xf32, #b>
  %c6 = arith.constant dense<5> : tensor<512xi32, #b>
  %r6 = arith.addi %r, %c6 : tensor<512xi32, #b>
  %p6 = tt.addptr %ps, %r6 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v6 = tt.load %p6, %m : tensor<512x!tt.ptr<f32>, #b>
  %s6 = arith.addf %s5, %v6 : tensor<512xf32, #b>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %to = tt.addptr %qs, %r : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  tt.store %to, %s6 : tensor<512x!tt.ptr<f32>, #b>
  tt.return
}
}
