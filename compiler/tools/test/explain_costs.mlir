// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --explain-costs="grid=1000 arguments=4096000,4096000,16 registers=32" -o /dev/null | FileCheck %s
// RUN: triton-opt %s --explain-costs="grid=1000" -o /dev/null | FileCheck %s --check-prefix=UNKNOWN
// RUN: triton-opt %s --explain-costs="target=host grid=1000 arguments=4096000,4096000,16" -o /dev/null | FileCheck %s --check-prefix=HOST
// RUN: not triton-opt %s --explain-costs=target=none 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: echo 'module {}' | not triton-opt --explain-costs 2>&1 | FileCheck %s --check-prefix=STAGE

// 1000 programs that copy 16 × 1024 words each, from and to 4 MB: memory moves each byte once, caches all that programs
// ask for.
// CHECK:      kernel copy
// CHECK-NEXT: memory 8.19 MB
// CHECK-NEXT: caches 131.07 MB
// CHECK-NEXT: shared memory 0.00 MB
// CHECK-NEXT: dots 0.00 GFLOP
// CHECK-NEXT:   issue slots
// CHECK-NEXT:   waves 1{{$}}
// CHECK-NEXT: time: latency of memory 11.20 us
// CHECK:        time: caches
// CHECK:        time: memory 1.71 us
// CHECK:        predicted 11.2 us, by latency of memory
// CHECK-NOT:  unknown

// Without arguments the loop counts once, and memory may have to move all.
// UNKNOWN: memory 8.19 MB
// UNKNOWN-NEXT: caches 8.19 MB
// UNKNOWN:      loops with unknown iterations, counted once: 1

// Without the device's rates there are no times.
// HOST: memory 8.19 MB
// HOST: caches 131.07 MB
// HOST-NOT: time
// HOST-NOT: predicted

// TARGET: error: no target 'none'
// STAGE: error: is not TTGIR

#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @copy(%in: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c1024 = arith.constant 1024 : i32
    %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
    %s = tt.splat %in : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
    %d = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
    scf.for %t = %c0 to %n step %c1 : i32 {
      %first = arith.muli %t, %c1024 : i32
      %f = tt.splat %first : i32 -> tensor<1024xi32, #b>
      %j = arith.addi %f, %i : tensor<1024xi32, #b>
      %from = tt.addptr %s, %j : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
      %to = tt.addptr %d, %j : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
      %v = tt.load %from : tensor<1024x!tt.ptr<f32>, #b>
      tt.store %to, %v : tensor<1024x!tt.ptr<f32>, #b>
    }
    tt.return
  }
}
