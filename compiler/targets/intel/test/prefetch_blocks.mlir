// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-assign-latencies=num-stages=3 --ttg-schedule-loops --ttg-pipeline | FileCheck %s
// RUN: triton-opt %s --ttg-assign-latencies=num-stages=2 --ttg-schedule-loops --ttg-pipeline | FileCheck %s --check-prefix=TWO
// RUN: triton-opt %s --ttg-assign-latencies=num-stages=1 --ttg-schedule-loops --ttg-pipeline | FileCheck %s --check-prefix=ONE

// The blocks of the first two iterations before the loop, as far as there are such, then those of two iterations
// ahead. The read stays in its iteration.
// CHECK-LABEL: tt.func @carried
//       CHECK:   ttig.block_prefetch %arg0, %arg1 below %arg2, %arg3 if %{{.*}} shape [64, 32] {contiguous = 1 : i32} : <f16>
//       CHECK:   %[[SECOND:.*]] = tt.addptr %arg0
//       CHECK:   ttig.block_prefetch %[[SECOND]], %arg1 below %arg2, %arg3 if %{{.*}} shape [64, 32]
//       CHECK:   scf.for
//       CHECK:     %[[THERE:.*]] = arith.cmpi slt
//       CHECK:     ttig.block_prefetch %[[AHEAD:[^ ]*]], %arg1 below %arg2, %arg3 if %[[THERE]] shape [64, 32]
//   CHECK-NOT:     ttig.block_prefetch
//       CHECK:     ttig.block_read %[[NOW:[^ ]*]], %arg1 below %arg2, %arg3
//       CHECK:     tt.dot
//   TWO-LABEL: tt.func @carried
// TWO-COUNT-1:   ttig.block_prefetch
//     TWO-NOT:   ttig.block_prefetch
//         TWO:   scf.for
// TWO-COUNT-1:     ttig.block_prefetch
//     TWO-NOT:   ttig.block_prefetch
//   ONE-LABEL: tt.func @carried
//     ONE-NOT:   ttig.block_prefetch

// What a load or a dot says is known too late.
// CHECK-LABEL: tt.func @late
//   CHECK-NOT:   ttig.block_prefetch
#mma = #ttg.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, threadsPerWarp = 16, warpsPerCTA = [2, 2], repCluster = [1, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func @carried(%p: !tt.ptr<f16>, %pitch: i64, %m: i64, %k: i64, %y: tensor<32x64xf16, #b>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i64
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %at = %p) -> (tensor<64x64xf32, #mma>, !tt.ptr<f16>) : i32 {
      %x = ttig.block_read %at, %pitch below %m, %k {contiguous = 1 : i32} : <f16> -> tensor<64x32xf16, #a>
      %d = tt.dot %x, %y, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      %next = tt.addptr %at, %c32 : !tt.ptr<f16>, i64
      scf.yield %d, %next : tensor<64x64xf32, #mma>, !tt.ptr<f16>
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }

  tt.func @late(%p: !tt.ptr<f16>, %pitch: i64, %rows: !tt.ptr<i32>, %y: tensor<32x64xf16, #b>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %row = tt.addptr %rows, %i : !tt.ptr<i32>, i32
      %from = tt.load %row : !tt.ptr<i32>
      %at = tt.addptr %p, %from : !tt.ptr<f16>, i32
      %x = ttig.block_read %at, %pitch {contiguous = 1 : i32} : <f16> -> tensor<64x32xf16, #a>
      %d = tt.dot %x, %y, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
