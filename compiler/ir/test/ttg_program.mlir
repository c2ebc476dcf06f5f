// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s | FileCheck %s
// RUN: triton-opt %s | triton-opt | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#pairs = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @program
  //  CHECK-NEXT:   ttg.warp_id
  //  CHECK-NEXT:   ttg.warp_id {omitUniformHint}
  //  CHECK-NEXT:   ttg.lane_id
  //  CHECK-NEXT:   ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 256 : i32} : !tt.ptr<i8>
  //  CHECK-NEXT:   ttg.barrier none
  //  CHECK-NEXT:   ttg.barrier all
  //  CHECK-NEXT:   ttg.barrier local|global_read|global_write
  //  CHECK-NEXT:   ttg.fp4_to_fp %arg0 {axis = 1 : i32} : tensor<32x16xi8, #{{.*}}> -> tensor<32x32xbf16, #{{.*}}>
  tt.func @program(%x: tensor<32x16xi8, #blocked>) {
    %0 = ttg.warp_id
    %1 = ttg.warp_id {omitUniformHint}
    %lane = ttg.lane_id
    %2 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 256 : i32} : !tt.ptr<i8>
    ttg.barrier none
    ttg.barrier all
    ttg.barrier local|global_read|global_write
    %3 = ttg.fp4_to_fp %x {axis = 1 : i32} : tensor<32x16xi8, #blocked> -> tensor<32x32xbf16, #pairs>
    tt.return
  }

  // CHECK-LABEL: @stages
  //       CHECK:   ttg.predicate_stage %arg0, %arg0, %arg0 maxStage 2 stage 1 : i32 -> i1
  //       CHECK:   "ttg.mask"(%{{.*}}) ({
  //  CHECK-NEXT:     %[[V:.*]] = tt.load %arg1
  //  CHECK-NEXT:     ttg.mask.return %[[V]] : f32
  //  CHECK-NEXT:   }) : (i1) -> f32
  tt.func @stages(%i: i32, %p: !tt.ptr<f32>) {
    %0 = ttg.predicate_stage %i, %i, %i maxStage 2 stage 1 : i32 -> i1
    %1 = "ttg.mask"(%0) ({
      %2 = tt.load %p : !tt.ptr<f32>
      ttg.mask.return %2 : f32
    }) : (i1) -> f32
    tt.return
  }

  // CHECK-LABEL: @started_warp_groups
  //       CHECK:   %[[T:.*]] = "ttg.start_partitions"(%arg0) <{partitionNumWarps = array<i32: 2>, warpGroupStartIds = array<i32: 4>}> ({
  //  CHECK-NEXT:   ^bb0(%{{.*}}: i32):
  //  CHECK-NEXT:     ttg.warp_return
  //  CHECK-NEXT:   }) : (i32) -> !ttg.async.token
  //  CHECK-NEXT:   ttg.join_partitions %[[T]]
  tt.func @started_warp_groups(%i: i32) {
    %0 = "ttg.start_partitions"(%i) <{partitionNumWarps = array<i32: 2>, warpGroupStartIds = array<i32: 4>}> ({
    ^bb0(%a: i32):
      ttg.warp_return
    }) : (i32) -> !ttg.async.token
    ttg.join_partitions %0
    tt.return
  }

  // CHECK-LABEL: @warp_groups
  //       CHECK:   %{{.*}} = ttg.warp_specialize(%arg0, %arg1) attributes {warpGroupStartIds = array<i32: 4, 8>}
  //  CHECK-NEXT:   default {
  //  CHECK-NEXT:     ttg.warp_yield %arg1 : i32
  //  CHECK-NEXT:   }
  //  CHECK-NEXT:   partition0(%arg2: !tt.ptr<f32>, %arg3: i32) num_warps(4) {
  //  CHECK-NEXT:     ttg.warp_id
  //  CHECK-NEXT:     ttg.warp_return
  //  CHECK-NEXT:   }
  //  CHECK-NEXT:   partition1(%arg2: !tt.ptr<f32>, %arg3: i32) num_warps(1) {
  //  CHECK-NEXT:     ttg.warp_return
  //  CHECK-NEXT:   } : (!tt.ptr<f32>, i32) -> i32
  //       CHECK:   ttg.warp_specialize()
  //  CHECK-NEXT:   default {
  //  CHECK-NEXT:     ttg.warp_yield
  //  CHECK-NEXT:   } : () -> ()
  tt.func @warp_groups(%p: !tt.ptr<f32>, %i: i32) {
    %0 = ttg.warp_specialize(%p, %i) attributes {warpGroupStartIds = array<i32: 4, 8>}
    default {
      ttg.warp_yield %i : i32
    }
    partition0(%a: !tt.ptr<f32>, %b: i32) num_warps(4) {
      %1 = ttg.warp_id
      ttg.warp_return
    }
    partition1(%a: !tt.ptr<f32>, %b: i32) num_warps(1) {
      ttg.warp_return
    } : (!tt.ptr<f32>, i32) -> i32
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    } : () -> ()
    tt.return
  }
}
