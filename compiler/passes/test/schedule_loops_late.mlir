// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-schedule-loops | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-schedule-loops --ttg-pipeline --canonicalize --cse | FileCheck %s --check-prefix=LOOP

// The late dot is a stage behind, its load starts an iteration later. It comes after the dot that feeds the next one; what scales its
// accumulators comes before both.
// CHECK-LABEL: @attention
//       CHECK:   tt.load %arg1 {loop.cluster = 0 : i32, loop.stage = 0 : i32
//       CHECK:   tt.dot {{.*}}loop.cluster = 2 : i32, loop.stage = 1 : i32
//       CHECK:   math.exp2 {{.*}}loop.cluster = 4 : i32, loop.stage = 1 : i32
//       CHECK:   arith.mulf {{.*}}loop.cluster = 1 : i32, loop.stage = 2 : i32
//       CHECK:   tt.load %arg2 {loop.cluster = 0 : i32, loop.stage = 1 : i32
//       CHECK:   tt.dot {{.*}}loop.cluster = 3 : i32, loop.late, loop.stage = 2 : i32
//       CHECK:   tt.scheduled_max_stage = 2 : i32
//
// The first dot of the first iteration comes before the loop, the late one of the last iteration after it: no dot runs for an iteration
// that there is not. The sum counts where there is an iteration.
// LOOP-LABEL: @attention
//       LOOP:   %[[RUNS:.*]] = arith.cmpi sgt, %arg3, %{{.*}}
//       LOOP:   %[[SHORT:.*]] = arith.subi {{.*}} : i64
//       LOOP:   %[[CLAMPED:.*]] = arith.maxsi %[[SHORT]]
//       LOOP:   %[[LESS:.*]] = arith.trunci %[[CLAMPED]]
//       LOOP:   tt.dot
//       LOOP:   %[[P:.*]] = ttg.convert_layout {{.*}} -> tensor<128x64xf16, #ttg.dot_op
//       LOOP:   %[[R:.*]]:4 = scf.for {{.*}} to %[[LESS]] {{.*}} iter_args({{.*}}, %[[ACC:.*]] = %{{.*}}, %[[CARRIED:.*]] = %[[P]],
//       LOOP:     %[[SCALED:.*]] = arith.mulf %[[ACC]]
//       LOOP:     %[[S:.*]] = tt.dot %arg0,
//       LOOP:     tt.dot %[[CARRIED]], %{{.*}}, %[[SCALED]]
//       LOOP:     math.exp2 %[[S]]
//       LOOP:     scf.yield
//       LOOP:   ttg.async_wait %[[R]]#0
//       LOOP:   %[[END:.*]] = arith.mulf %[[R]]#1
//       LOOP:   %[[LAST:.*]] = tt.dot %[[R]]#2, %{{.*}}, %[[END]]
//       LOOP:   %[[MASK:.*]] = tt.splat %[[RUNS]]
//       LOOP:   arith.select %[[MASK]], %[[LAST]]
//       LOOP:   ttg.async_wait {num = 0 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#turned = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 8], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#row = #ttg.slice<{dim = 0, parent = #mma}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @attention(%q: tensor<128x64xf16, #a>, %pk: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %pv: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %half = arith.constant dense<0.5> : tensor<128x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %k = tt.load %pk {tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %kt = tt.trans %k {order = array<i32: 1, 0>} : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #turned>
      %kb = ttg.convert_layout %kt : tensor<64x64xf16, #turned> -> tensor<64x64xf16, #b>
      %s = tt.dot %q, %kb, %zero : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      %p = math.exp2 %s : tensor<128x64xf32, #mma>
      %ph = arith.truncf %p : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %pa = ttg.convert_layout %ph : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #a>
      %scaled = arith.mulf %acc, %half : tensor<128x64xf32, #mma>
      %v = tt.load %pv {tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %vb = ttg.convert_layout %v : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %o = tt.dot %pa, %vb, %scaled {loop.late} : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      scf.yield %o : tensor<128x64xf32, #mma>
    }
    tt.return %r : tensor<128x64xf32, #mma>
  }
}
