// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-schedule-loops --ttg-pipeline --canonicalize --cse | FileCheck %s

// A counter of 64 bits whose step is a number of 32 bits, as that of the programs: distances do not overflow.
// CHECK-LABEL: @wide_turns
//       CHECK:   %[[STEP:.*]] = arith.extsi %arg1
//       CHECK:   %[[LEAST:.*]] = arith.addi %[[STEP]], %c-9223372036854775808_i64
//       CHECK:   %[[CLAMPED:.*]] = arith.maxsi %arg2, %[[LEAST]]
//       CHECK:   %[[BOUND:.*]] = arith.subi %[[CLAMPED]], %[[STEP]]
//       CHECK:   scf.for %[[I:.*]] = %{{.*}} to %arg2 step %[[STEP]]
//       CHECK:     arith.cmpi slt, %[[I]], %[[BOUND]]
//       CHECK:     ttg.async_copy_global_to_local

// Those of steps of 64 bits might.
// CHECK-LABEL: @wide_steps
//   CHECK-NOT:   ttg.async_copy_global_to_local
#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @wide_turns(%p: tensor<1024x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<16> : tensor<1xi32>, tt.contiguity = dense<1024> : tensor<1xi32>}, %programs: i32, %n: i64, %q: tensor<1024x!tt.ptr<f16>, #blocked>) {
    %c0 = arith.constant 0 : i64
    %step = arith.extsi %programs : i32 to i64
    scf.for %i = %c0 to %n step %step : i64 {
      %i_s = tt.splat %i : i64 -> tensor<1024xi64, #blocked>
      %pi = tt.addptr %p, %i_s : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi64, #blocked>
      %x = tt.load %pi {tt.latency = 1 : i32} : tensor<1024x!tt.ptr<f16>, #blocked>
      %y = arith.addf %x, %x : tensor<1024xf16, #blocked>
      tt.store %q, %y : tensor<1024x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
  tt.func @wide_steps(%p: tensor<1024x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<16> : tensor<1xi32>, tt.contiguity = dense<1024> : tensor<1xi32>}, %step: i64, %n: i64, %q: tensor<1024x!tt.ptr<f16>, #blocked>) {
    %c0 = arith.constant 0 : i64
    scf.for %i = %c0 to %n step %step : i64 {
      %i_s = tt.splat %i : i64 -> tensor<1024xi64, #blocked>
      %pi = tt.addptr %p, %i_s : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi64, #blocked>
      %x = tt.load %pi {tt.latency = 1 : i32} : tensor<1024x!tt.ptr<f16>, #blocked>
      %y = arith.addf %x, %x : tensor<1024xf16, #blocked>
      tt.store %q, %y : tensor<1024x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}
