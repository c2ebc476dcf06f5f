// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-spread-copies | FileCheck %s

// Under the encoding of the scores, four lanes hold 16 of 64 elements each. Sixteen lanes copy four each.
//       CHECK: #[[SHARED:.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-LABEL: @row
//       CHECK:   scf.for
//       CHECK:     %[[R:.*]] = tt.make_range {{.*}} : tensor<64xi32, #[[SHARED]]>
//       CHECK:     %[[P:.*]] = tt.addptr %{{.*}}, %{{.*}} : tensor<64x!tt.ptr<f32>, #[[SHARED]]>
//       CHECK:     %[[X:.*]] = tt.load %[[P]] {tt.latency = 1 : i32} : tensor<64x!tt.ptr<f32>, #[[SHARED]]>
//       CHECK:     ttg.convert_layout %[[X]] : tensor<64xf32, #[[SHARED]]> -> tensor<64xf32, #ttg.slice
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#row = #ttg.slice<{dim = 0, parent = #mma}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @row(%base: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %q: tensor<64x!tt.ptr<f32>, #row>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    scf.for %i = %c0 to %n step %c64 : i32 {
      %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #row>
      %s = tt.splat %i : i32 -> tensor<64xi32, #row>
      %at = arith.addi %s, %range : tensor<64xi32, #row>
      %b = tt.splat %base : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #row>
      %p = tt.addptr %b, %at : tensor<64x!tt.ptr<f32>, #row>, tensor<64xi32, #row>
      %x = tt.load %p {tt.latency = 1 : i32} : tensor<64x!tt.ptr<f32>, #row>
      tt.store %q, %x : tensor<64x!tt.ptr<f32>, #row>
    }
    tt.return
  }
}

// -----

// Masked elements become a constant under the new encoding, too.
// CHECK-LABEL: @masked
//       CHECK:   scf.for
//       CHECK:     %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32, #blocked>
//       CHECK:     tt.load %{{.*}}, %{{.*}}, %[[ZERO]] {tt.latency = 1 : i32} : tensor<64x!tt.ptr<f32>, #blocked>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#row = #ttg.slice<{dim = 0, parent = #mma}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @masked(%base: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %q: tensor<64x!tt.ptr<f32>, #row>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64xf32, #row>
    %ends = tt.splat %n : i32 -> tensor<64xi32, #row>
    scf.for %i = %c0 to %n step %c64 : i32 {
      %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #row>
      %s = tt.splat %i : i32 -> tensor<64xi32, #row>
      %at = arith.addi %s, %range : tensor<64xi32, #row>
      %mask = arith.cmpi slt, %at, %ends : tensor<64xi32, #row>
      %b = tt.splat %base : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #row>
      %p = tt.addptr %b, %at : tensor<64x!tt.ptr<f32>, #row>, tensor<64xi32, #row>
      %x = tt.load %p, %mask, %zero {tt.latency = 1 : i32} : tensor<64x!tt.ptr<f32>, #row>
      tt.store %q, %x : tensor<64x!tt.ptr<f32>, #row>
    }
    tt.return
  }
}

// -----

// A row of a tile with both dimensions. What does not change in the loop is converted before it.
//       CHECK: #[[SHARED:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
// CHECK-LABEL: @both_dimensions
//       CHECK:   ttg.convert_layout %{{.*}} -> tensor<1x64x!tt.ptr<i64>, #[[SHARED]]>
//       CHECK:   scf.for
//       CHECK:     tt.load %{{.*}} {tt.latency = 1 : i32} : tensor<1x64x!tt.ptr<i64>, #[[SHARED]]>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @both_dimensions(%base: tensor<1x64x!tt.ptr<i64>, #mma>, %n: i32, %q: tensor<1x64x!tt.ptr<i64>, #mma>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    scf.for %i = %c0 to %n step %c64 : i32 {
      %s = tt.splat %i : i32 -> tensor<1x64xi32, #mma>
      %p = tt.addptr %base, %s : tensor<1x64x!tt.ptr<i64>, #mma>, tensor<1x64xi32, #mma>
      %x = tt.load %p {tt.latency = 1 : i32} : tensor<1x64x!tt.ptr<i64>, #mma>
      tt.store %q, %x : tensor<1x64x!tt.ptr<i64>, #mma>
    }
    tt.return
  }
}

// -----

// Addresses that the loop carries stay, and loads that wait in registers.
// CHECK-LABEL: @others
//   CHECK-NOT:   #ttg.blocked
//       CHECK:   tt.return
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#row = #ttg.slice<{dim = 0, parent = #mma}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @others(%first: tensor<64x!tt.ptr<f32>, #row>, %n: i32, %q: tensor<64x!tt.ptr<f32>, #row>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %step = arith.constant dense<64> : tensor<64xi32, #row>
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%p = %first) -> (tensor<64x!tt.ptr<f32>, #row>) : i32 {
      %x = tt.load %p {tt.latency = 1 : i32} : tensor<64x!tt.ptr<f32>, #row>
      tt.store %q, %x : tensor<64x!tt.ptr<f32>, #row>
      %y = tt.load %first {loop.in_registers, tt.latency = 1 : i32} : tensor<64x!tt.ptr<f32>, #row>
      tt.store %q, %y : tensor<64x!tt.ptr<f32>, #row>
      %next = tt.addptr %p, %step : tensor<64x!tt.ptr<f32>, #row>, tensor<64xi32, #row>
      scf.yield %next : tensor<64x!tt.ptr<f32>, #row>
    }
    tt.return
  }
}

// -----

// What waits in registers, where it would be 16 words of a thread. The conversion then takes it through shared memory.
// CHECK-LABEL: @waits
//       CHECK:     tt.load %{{.*}} {loop.in_registers, tt.latency = 1 : i32} : tensor<64x!tt.ptr<f32>, #blocked>
//       CHECK:     ttg.convert_layout
//       CHECK:     tt.load %{{.*}} {loop.in_registers, tt.latency = 1 : i32} : tensor<32x!tt.ptr<f32>, #ttg.slice
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#narrow = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#row = #ttg.slice<{dim = 0, parent = #mma}>
#short = #ttg.slice<{dim = 0, parent = #narrow}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @waits(%base: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %q: tensor<64x!tt.ptr<f32>, #row>, %r: tensor<32x!tt.ptr<f32>, #short>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    scf.for %i = %c0 to %n step %c64 : i32 {
      %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #row>
      %s = tt.splat %i : i32 -> tensor<64xi32, #row>
      %at = arith.addi %s, %range : tensor<64xi32, #row>
      %b = tt.splat %base : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #row>
      %p = tt.addptr %b, %at : tensor<64x!tt.ptr<f32>, #row>, tensor<64xi32, #row>
      %x = tt.load %p {loop.in_registers, tt.latency = 1 : i32} : tensor<64x!tt.ptr<f32>, #row>
      tt.store %q, %x : tensor<64x!tt.ptr<f32>, #row>
      %range2 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #short>
      %b2 = tt.splat %base : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #short>
      %p2 = tt.addptr %b2, %range2 : tensor<32x!tt.ptr<f32>, #short>, tensor<32xi32, #short>
      %y = tt.load %p2 {loop.in_registers, tt.latency = 1 : i32} : tensor<32x!tt.ptr<f32>, #short>
      tt.store %r, %y : tensor<32x!tt.ptr<f32>, #short>
    }
    tt.return
  }
}
