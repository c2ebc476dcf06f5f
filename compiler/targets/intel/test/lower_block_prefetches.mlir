// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm=target=xpu:pvc | FileCheck %s

// Two warps share 32 rows of 64 bytes. What does not exist has no rows and no bytes. A wait for the token is nothing.
// CHECK-LABEL: llvm.func @shared
//       CHECK:   %[[ROWS:.*]] = llvm.select %{{.*}}, %{{.*}}, %{{.*}} : i1, i32
//       CHECK:   %[[HEIGHT:.*]] = llvm.call_intrinsic "llvm.smax"(%[[ROWS]], %{{.*}})
//       CHECK:   %[[HAS:.*]] = llvm.icmp "ne" %[[ROWS]]
//       CHECK:   %[[BYTES:.*]] = llvm.select %[[HAS]]
//       CHECK:   llvm.call @_Z45intel_sub_group_2d_block_prefetch_8b_16r32x2cPU3AS1viiiDv2_i(%{{.*}}, %{{.*}}, %[[HEIGHT]], %{{.*}}, %{{.*}}) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>) -> ()
//   CHECK-NOT:   llvm.call
//       CHECK:   llvm.return
module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @shared(%p: !tt.ptr<f16>, %pitch: i64, %there: i1) {
    %t = ttig.block_prefetch %p, %pitch if %there shape [32, 32] {contiguous = 1 : i32} : <f16>
    %w = ttg.async_wait %t {num = 0 : i32}
    tt.return
  }
}

// -----

// Fewer rows than warps: the other warps take no part. More blocks than warps: each warp brings several.
// CHECK-LABEL: llvm.func @few
//       CHECK:   llvm.icmp "ult" %{{.*}}, %{{.*}} : i32
//       CHECK:   llvm.call @_Z44intel_sub_group_2d_block_prefetch_8b_1r32x2c
//   CHECK-NOT:   llvm.call @_Z44
//       CHECK:   llvm.return
// CHECK-LABEL: llvm.func @many
// CHECK-COUNT-4: llvm.call @_Z45intel_sub_group_2d_block_prefetch_8b_32r32x2c
//   CHECK-NOT:   llvm.call @_Z45
//       CHECK:   llvm.return
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @few(%p: !tt.ptr<f16>, %pitch: i64) {
    %t = ttig.block_prefetch %p, %pitch shape [2, 32] {contiguous = 1 : i32} : <f16>
    tt.return
  }
  tt.func public @many(%p: !tt.ptr<f32>, %pitch: i64, %m: i64, %n: i64) {
    %t = ttig.block_prefetch %p, %pitch below %m, %n shape [64, 128] {contiguous = 0 : i32} : <f32>
    tt.return
  }
}
