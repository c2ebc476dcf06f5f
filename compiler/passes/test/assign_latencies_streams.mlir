// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="min-stream-words=16" | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="min-stream-words=16 word-instructions=7" | FileCheck %s --check-prefix=RATES

// A thread loads 16 words an iteration: the next iteration's are under way meanwhile, and wait in registers.
// CHECK-LABEL: @wide
// RATES-LABEL: @wide
//       RATES:   tt.load %{{.*}} {loop.in_registers, tt.latency = 1 : i32}
//       CHECK:   tt.load %{{.*}} {loop.in_registers, tt.latency = 1 : i32}
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @wide(%p: tensor<2048x!tt.ptr<f32>, #blocked>, %n: i32) -> tensor<2048xf32, #blocked> {
    %zero = arith.constant dense<0.0> : tensor<2048xf32, #blocked>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<2048xf32, #blocked>) : i32 {
      %offsets = tt.splat %i : i32 -> tensor<2048xi32, #blocked>
      %pi = tt.addptr %p, %offsets : tensor<2048x!tt.ptr<f32>, #blocked>, tensor<2048xi32, #blocked>
      %x = tt.load %pi : tensor<2048x!tt.ptr<f32>, #blocked>
      %sum = arith.addf %acc, %x : tensor<2048xf32, #blocked>
      scf.yield %sum : tensor<2048xf32, #blocked>
    }
    tt.return %r : tensor<2048xf32, #blocked>
  }
}

// -----

// Half as many, and more than may wait: both stay.
// CHECK-LABEL: @narrow
//   CHECK-NOT:   tt.latency
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @narrow(%p: tensor<2048x!tt.ptr<f16>, #blocked>, %q: tensor<8192x!tt.ptr<f32>, #blocked>, %n: i32) -> (tensor<2048xf16, #blocked>, tensor<8192xf32, #blocked>) {
    %x0 = arith.constant dense<0.0> : tensor<2048xf16, #blocked>
    %y0 = arith.constant dense<0.0> : tensor<8192xf32, #blocked>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x0) -> (tensor<2048xf16, #blocked>) : i32 {
      %offsets = tt.splat %i : i32 -> tensor<2048xi32, #blocked>
      %pi = tt.addptr %p, %offsets : tensor<2048x!tt.ptr<f16>, #blocked>, tensor<2048xi32, #blocked>
      %x = tt.load %pi : tensor<2048x!tt.ptr<f16>, #blocked>
      %sum = arith.addf %acc, %x : tensor<2048xf16, #blocked>
      scf.yield %sum : tensor<2048xf16, #blocked>
    }
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %y0) -> (tensor<8192xf32, #blocked>) : i32 {
      %offsets = tt.splat %i : i32 -> tensor<8192xi32, #blocked>
      %qi = tt.addptr %q, %offsets : tensor<8192x!tt.ptr<f32>, #blocked>, tensor<8192xi32, #blocked>
      %y = tt.load %qi : tensor<8192x!tt.ptr<f32>, #blocked>
      %sum = arith.addf %acc, %y : tensor<8192xf32, #blocked>
      scf.yield %sum : tensor<8192xf32, #blocked>
    }
    tt.return %r, %s : tensor<2048xf16, #blocked>, tensor<8192xf32, #blocked>
  }
}

// -----

// 24 instructions for a word that memory gives in the time of 7: other warps compute while one waits.
// CHECK-LABEL: @computing
//       CHECK:   tt.load %{{.*}} {loop.in_registers, tt.latency = 1 : i32}
// RATES-LABEL: @computing
//   RATES-NOT:   tt.latency
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @computing(%p: tensor<2048x!tt.ptr<f32>, #blocked>, %n: i32) -> tensor<2048xf32, #blocked> {
    %zero = arith.constant dense<0.0> : tensor<2048xf32, #blocked>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<2048xf32, #blocked>) : i32 {
      %offsets = tt.splat %i : i32 -> tensor<2048xi32, #blocked>
      %pi = tt.addptr %p, %offsets : tensor<2048x!tt.ptr<f32>, #blocked>, tensor<2048xi32, #blocked>
      %x = tt.load %pi : tensor<2048x!tt.ptr<f32>, #blocked>
      %a = arith.divf %x, %acc : tensor<2048xf32, #blocked>
      %b = arith.divf %a, %x : tensor<2048xf32, #blocked>
      %sum = arith.addf %acc, %b : tensor<2048xf32, #blocked>
      scf.yield %sum : tensor<2048xf32, #blocked>
    }
    tt.return %r : tensor<2048xf32, #blocked>
  }
}

// -----

// A recurrence: each iteration takes a few steps from what the one before has made. More words than else may wait, and
// begin before these steps. Where each iteration computes alike of what it loads alone, as many do not wait.
// CHECK-LABEL: @recurrence
//       CHECK:   tt.load %{{.*}} {loop.first, loop.in_registers, tt.latency = 1 : i32}
// CHECK-LABEL: @sum
//   CHECK-NOT:   tt.latency
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @recurrence(%p: tensor<8192x!tt.ptr<f32>, #blocked>, %h0: tensor<8192xf32, #blocked>, %n: i32) -> tensor<8192xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %h0) -> (tensor<8192xf32, #blocked>) : i32 {
      %offsets = tt.splat %i : i32 -> tensor<8192xi32, #blocked>
      %pi = tt.addptr %p, %offsets : tensor<8192x!tt.ptr<f32>, #blocked>, tensor<8192xi32, #blocked>
      %x = tt.load %pi : tensor<8192x!tt.ptr<f32>, #blocked>
      %a = arith.divf %x, %h : tensor<8192xf32, #blocked>
      %b = math.exp2 %a : tensor<8192xf32, #blocked>
      scf.yield %b : tensor<8192xf32, #blocked>
    }
    tt.return %r : tensor<8192xf32, #blocked>
  }
  tt.func @sum(%p: tensor<8192x!tt.ptr<f32>, #blocked>, %h0: tensor<8192xf32, #blocked>, %n: i32) -> tensor<8192xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %h0) -> (tensor<8192xf32, #blocked>) : i32 {
      %offsets = tt.splat %i : i32 -> tensor<8192xi32, #blocked>
      %pi = tt.addptr %p, %offsets : tensor<8192x!tt.ptr<f32>, #blocked>, tensor<8192xi32, #blocked>
      %x = tt.load %pi : tensor<8192x!tt.ptr<f32>, #blocked>
      %a = arith.divf %x, %x : tensor<8192xf32, #blocked>
      %b = math.exp2 %a : tensor<8192xf32, #blocked>
      %s = arith.addf %h, %b : tensor<8192xf32, #blocked>
      scf.yield %s : tensor<8192xf32, #blocked>
    }
    tt.return %r : tensor<8192xf32, #blocked>
  }
}

// -----

// What the loop also stores has to be loaded in its iteration, so each one waits in any case.
// CHECK-LABEL: @in_place
//   CHECK-NOT:   tt.latency
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @in_place(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>, #blocked>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %offsets = tt.splat %i : i32 -> tensor<2048xi32, #blocked>
      %pi = tt.addptr %ps, %offsets : tensor<2048x!tt.ptr<f32>, #blocked>, tensor<2048xi32, #blocked>
      %qi = tt.addptr %qs, %offsets : tensor<2048x!tt.ptr<f32>, #blocked>, tensor<2048xi32, #blocked>
      %x = tt.load %pi : tensor<2048x!tt.ptr<f32>, #blocked>
      %y = tt.load %qi : tensor<2048x!tt.ptr<f32>, #blocked>
      %sum = arith.addf %x, %y : tensor<2048xf32, #blocked>
      tt.store %qi, %sum : tensor<2048x!tt.ptr<f32>, #blocked>
    }
    tt.return
  }
}
