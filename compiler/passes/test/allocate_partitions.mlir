// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --ttg-split-warp-specialize --ttg-allocate-shared-memory | FileCheck %s

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#col = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
#row2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [2, 1], order = [1, 0]}>
#col2 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 2], order = [0, 1]}>

// Scratch of the default region and of partitions lies apart, as they run at the same time; two conversions of one
// partition follow each other. Before and after the partitions their places are free. Captures take 16 bytes each; the
// function keeps a word to tell partitions what to do.
// CHECK: module attributes {{{.*}}ttg.shared = 49188 : i32
// CHECK-LABEL: tt.func public @apart
//  CHECK-SAME: allocation.offset = 49184 : i32
//       CHECK:   ttg.convert_layout %arg0 {allocation.offset = [[BEFORE:0|16384|32768]] : i32}
//       CHECK:   start_partitions
//       CHECK:     ttg.convert_layout {{.*}} {allocation.offset = [[FIRST:[0-9]+]] : i32}
//       CHECK:     ttg.convert_layout {{.*}} {allocation.offset = [[FIRST]] : i32}
//       CHECK:     ttg.warp_return
//   CHECK-NOT:   allocation.offset = [[FIRST]]
//       CHECK:     ttg.convert_layout {{.*}} {allocation.offset = [[SECOND:[0-9]+]] : i32}
//       CHECK:   }) {allocation.offset = 49152 : i32}
//   CHECK-NOT:   allocation.offset = {{([[FIRST]]|[[SECOND]]) }}
//       CHECK:   ttg.convert_layout %arg0
//       CHECK:   ttg.join_partitions
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @apart(%x: tensor<32x128xf32, #row>, %i: i32, %k: i32) {
    %0 = ttg.convert_layout %x : tensor<32x128xf32, #row> -> tensor<32x128xf32, #col>
    ttg.warp_specialize(%i, %k) attributes {warpGroupStartIds = array<i32: 4, 6>}
    default {
      %1 = ttg.convert_layout %x : tensor<32x128xf32, #row> -> tensor<32x128xf32, #col>
      ttg.warp_yield
    }
    partition0(%a: i32, %b: i32) num_warps(2) {
      %y = tt.splat %a : i32 -> tensor<32x128xi32, #row2>
      %1 = ttg.convert_layout %y : tensor<32x128xi32, #row2> -> tensor<32x128xi32, #col2>
      %2 = ttg.convert_layout %1 : tensor<32x128xi32, #col2> -> tensor<32x128xi32, #row2>
      ttg.warp_return
    }
    partition1(%a: i32, %b: i32) num_warps(2) {
      %y = tt.splat %b : i32 -> tensor<32x128xi32, #row2>
      %1 = ttg.convert_layout %y : tensor<32x128xi32, #row2> -> tensor<32x128xi32, #col2>
      ttg.warp_return
    } : (i32, i32) -> ()
    tt.return
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#row2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [2, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

// A captured buffer lives until the join, also where the default region does not use it: what is allocated there lies
// elsewhere. A buffer after the join may have its place.
// CHECK-LABEL: tt.func public @captured
//       CHECK:   ttg.local_alloc {allocation.offset = 0 : i32}
//       CHECK:   start_partitions
//       CHECK:   ttg.local_alloc {allocation.offset = 16384 : i32}
//       CHECK:   ttg.join_partitions
//       CHECK:   ttg.local_alloc {allocation.offset = 0 : i32}
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @captured() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x128xf32, #shared, #smem, mutable>
    ttg.warp_specialize(%m) attributes {warpGroupStartIds = array<i32: 4>}
    default {
      %o = ttg.local_alloc : () -> !ttg.memdesc<32x128xf32, #shared, #smem, mutable>
      %y = ttg.local_load %o : !ttg.memdesc<32x128xf32, #shared, #smem, mutable> -> tensor<32x128xf32, #row>
      ttg.warp_yield
    }
    partition0(%a: !ttg.memdesc<32x128xf32, #shared, #smem, mutable>) num_warps(2) {
      %y = ttg.local_load %a : !ttg.memdesc<32x128xf32, #shared, #smem, mutable> -> tensor<32x128xf32, #row2>
      ttg.warp_return
    } : (!ttg.memdesc<32x128xf32, #shared, #smem, mutable>) -> ()
    %z = ttg.local_alloc : () -> !ttg.memdesc<32x128xf32, #shared, #smem, mutable>
    %y = ttg.local_load %z : !ttg.memdesc<32x128xf32, #shared, #smem, mutable> -> tensor<32x128xf32, #row>
    tt.return
  }
}
