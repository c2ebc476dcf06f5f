// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-place-accumulators | FileCheck %s

// The loop carries the phase and whether there are accumulators to add to; what it began with stays as it is. The dot of an iteration goes on until
// the next one's.
// CHECK-LABEL: @carried
//       CHECK:   %[[SLOT:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1xi32
//       CHECK:   %[[TMEM:.*]] = ttng.tensor_memory_alloc %[[SLOT]], 64
//       CHECK:   %[[BAR:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1xi64
//       CHECK:   ttng.init_barrier %[[BAR]], 1
//       CHECK:   %[[R:.*]]:3 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}}, %[[ADDS:.*]] = %false{{.*}}) -> ({{.*}}, i32, i1)
//       CHECK:     %[[BEFORE:.*]] = arith.xori %[[PHASE]]
//       CHECK:     ttng.wait_barrier %[[BAR]], %[[BEFORE]] deps %{{.*}}
//       CHECK:     ttg.barrier local
//  CHECK-NEXT:     ttng.tensor_memory_dot %{{.*}}, %{{.*}}, %[[TMEM]], %[[BAR]], %[[ADDS]]
//       CHECK:     scf.yield %[[ACC]],
//       CHECK:   %[[LAST:.*]] = arith.xori %[[R]]#1
//       CHECK:   ttng.wait_barrier %[[BAR]], %[[LAST]]
//       CHECK:   ttng.inval_barrier %[[BAR]]
//       CHECK:   %[[SUMS:.*]] = ttng.tensor_memory_load %[[TMEM]]
//       CHECK:   %[[S:.*]] = arith.select %[[R]]#2, %[[SUMS]], %{{.*}}
//       CHECK:   tt.store %{{.*}}, %[[S]]
//       CHECK:   ttng.tensor_memory_dealloc %[[TMEM]], 64
//   CHECK-NOT:   warp_group
#mma = #ttg.nvidia_mma<{versionMajor = 5, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [64, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @carried(%p: tensor<64x64x!tt.ptr<f32>, #mma>, %n: i32) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      ttng.warp_group_wait buffers %m : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
      %d = ttng.warp_group_dot %m, %m, %acc {in_flight} : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    %s = ttng.warp_group_wait %r : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #mma> buffers %m : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> {pending = 0 : i32}
    tt.store %p, %s : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}

// -----

// Accumulators that do not begin at zero are stored; a dot outside of loops ends at once.
// CHECK-LABEL: @alone
//       CHECK:   ttng.init_barrier %[[BAR:.*]], 1
//       CHECK:   ttng.tensor_memory_store %{{.*}}, %[[TMEM:.*]] :
//       CHECK:   ttg.barrier local
//  CHECK-NEXT:   ttng.tensor_memory_dot %{{.*}}, %{{.*}}, %[[TMEM]], %[[BAR]], %true
//       CHECK:   ttng.wait_barrier %[[BAR]], %c0_i32{{.*}} deps
//       CHECK:   ttng.tensor_memory_load %[[TMEM]]
//       CHECK:   ttng.inval_barrier %[[BAR]]
#mma = #ttg.nvidia_mma<{versionMajor = 5, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [128, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @alone(%p: tensor<128x64x!tt.ptr<f32>, #mma>, %c: tensor<128x64xf32, #mma>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #rows, #smem, mutable>
    %n = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %d = ttng.warp_group_dot %m, %n, %c : !ttg.memdesc<128x64xf16, #rows, #smem, mutable> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<128x64xf32, #mma>
    tt.store %p, %d : tensor<128x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}

// -----

// Dots of wgmma stay as they are.
// CHECK-LABEL: @wgmma
//   CHECK-NOT:   tensor_memory
//       CHECK:   ttng.warp_group_dot
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @wgmma(%c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    %d = ttng.warp_group_dot %m, %m, %c : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> * !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
}
