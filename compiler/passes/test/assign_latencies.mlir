// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=3 max-shared-bytes=65536" | FileCheck %s

// Both operands, two iterations ahead: three buffers of 8 KiB each.
// CHECK-LABEL: @operands
//       CHECK:   tt.load %{{.*}} {tt.latency = 2 : i32}
//       CHECK:   tt.load %{{.*}} {tt.latency = 2 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @operands(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %pn = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %pn, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    }
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// The loop's own number of stages counts.
// CHECK-LABEL: @says_how_many
//       CHECK:   tt.load %{{.*}} {tt.latency = 1 : i32}
//       CHECK:   tt.load %{{.*}} {tt.latency = 1 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @says_how_many(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %pn = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %pn, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    } {tt.num_stages = 2 : i32}
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// Eight buffers of 8 KiB fit, ten would not.
// CHECK-LABEL: @too_many
//       CHECK:   tt.load %{{.*}} {tt.latency = 3 : i32}
//       CHECK:   tt.load %{{.*}} {tt.latency = 3 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @too_many(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %pn = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %pn, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    } {tt.num_stages = 5 : i32}
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// One stage: nothing overlaps.
// CHECK-LABEL: @one_stage
//   CHECK-NOT:   tt.latency
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @one_stage(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %pn = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %pn, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    } {tt.num_stages = 1 : i32}
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// Elements that are no neighbours in memory are too small for a copy of their own: they wait in registers.
// CHECK-LABEL: @scattered
//       CHECK:   tt.load %arg4 {loop.in_registers, tt.latency = 1 : i32} :
//       CHECK:   tt.load %arg1 {tt.latency = 2 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @scattered(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %pn = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %pn, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    }
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// The write could be of what a later iteration loads: by the same argument, not by another one.
// CHECK-LABEL: @writes
//       CHECK:   tt.load %{{.*}} : tensor
//       CHECK:   tt.load %arg1 {tt.latency = 2 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @writes(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %pn = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      tt.store %pa, %x : tensor<64x64x!tt.ptr<f16>, #blocked>
      scf.yield %pn, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    }
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// An address that is loaded: each of the two levels gets one iteration.
// CHECK-LABEL: @indirect
//       CHECK:   tt.load %{{.*}} {tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<i32>
//       CHECK:   tt.load %{{.*}} {tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>
//       CHECK:   tt.load %{{.*}} {tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @indirect(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32, %idx: tensor<64x64x!tt.ptr<i32>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %base: !tt.ptr<f16> {tt.divisibility = 16 : i32}) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %o = tt.load %idx : tensor<64x64x!tt.ptr<i32>, #blocked>
      %oc = arith.addi %o, %step {tt.contiguity = dense<[1, 64]> : tensor<2xi32>, tt.divisibility = dense<[1, 16]> : tensor<2xi32>} : tensor<64x64xi32, #blocked>
      %bases = tt.splat %base : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
      %px = tt.addptr %bases, %oc : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      %x = tt.load %px : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %pn = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %pn, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    }
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// Loads that feed no dot take part where the loop asks for stages.
// CHECK-LABEL: @asked
//       CHECK:   tt.load %{{.*}} {tt.latency = 1 : i32}
// CHECK-LABEL: @not_asked
//   CHECK-NOT:   tt.latency
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @asked(%p: tensor<512x!tt.ptr<f32>, #blocked>, %n: i32) -> tensor<512xf32, #blocked> {
    %zero = arith.constant dense<0.0> : tensor<512xf32, #blocked>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<512xf32, #blocked>) : i32 {
      %offsets = tt.splat %i : i32 -> tensor<512xi32, #blocked>
      %pi = tt.addptr %p, %offsets : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
      %x = tt.load %pi : tensor<512x!tt.ptr<f32>, #blocked>
      %sum = arith.addf %acc, %x : tensor<512xf32, #blocked>
      scf.yield %sum : tensor<512xf32, #blocked>
    } {tt.num_stages = 2 : i32}
    tt.return %r : tensor<512xf32, #blocked>
  }
  tt.func @not_asked(%p: tensor<512x!tt.ptr<f32>, #blocked>, %n: i32) -> tensor<512xf32, #blocked> {
    %zero = arith.constant dense<0.0> : tensor<512xf32, #blocked>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<512xf32, #blocked>) : i32 {
      %offsets = tt.splat %i : i32 -> tensor<512xi32, #blocked>
      %pi = tt.addptr %p, %offsets : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
      %x = tt.load %pi : tensor<512x!tt.ptr<f32>, #blocked>
      %sum = arith.addf %acc, %x : tensor<512xf32, #blocked>
      scf.yield %sum : tensor<512xf32, #blocked>
    }
    tt.return %r : tensor<512xf32, #blocked>
  }
}

// -----

// The atomic operation tells the program what others have done: loads stay behind it.
// CHECK-LABEL: @adds
//   CHECK-NOT:   tt.latency
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @adds(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: !tt.ptr<i32>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %seen = %c1) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %old = tt.atomic_rmw add, acq_rel, gpu, %q, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
      scf.yield %d, %old : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

// Nobody looks at what the atomic operation finds: it is a store.
// CHECK-LABEL: @adds_unseen
//       CHECK:   tt.load {{.*}}tt.latency
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @adds_unseen(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: !tt.ptr<i32>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %old = tt.atomic_rmw add, acq_rel, gpu, %q, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

// A row under the encoding of a matrix unit, which operands are made of, is copied as one of a slice is.
// CHECK-LABEL: @row
//       CHECK:   tt.load %{{.*}} {loop.read_on, tt.latency = 2 : i32} : tensor<1x64x!tt.ptr<f32>, #mma>
//       CHECK:   tt.load %{{.*}} {tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @row(%p: tensor<1x64x!tt.ptr<f32>, #mma> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %scores: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<1x64x!tt.ptr<f32>, #mma>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %rows = tt.broadcast %x : tensor<1x64xf32, #mma> -> tensor<64x64xf32, #mma>
      %scaled = arith.mulf %scores, %rows : tensor<64x64xf32, #mma>
      %halves = arith.truncf %scaled : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %xa = ttg.convert_layout %halves : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
