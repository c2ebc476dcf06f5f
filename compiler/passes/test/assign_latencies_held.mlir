// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=2 registers=65536 max-shared-bytes=233472" | FileCheck %s

// The second dot holds its first operand in registers: 32 beside 64 and 64 of accumulators.
// CHECK-LABEL: @holds
//       CHECK:   tt.load %arg2 {loop.read_on, tt.latency = 1 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#s = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#o = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @holds(%q: tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #s, kWidth = 2}>>, %k: tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #s, kWidth = 2}>>, %v: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<128x64xf32, #o> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #o>
    %none = arith.constant dense<0.0> : tensor<128x64xf32, #s>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #o>) : i32 {
      %x = tt.load %v : tensor<64x64x!tt.ptr<f16>, #blocked>
      %scores = tt.dot %q, %k, %none : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #s, kWidth = 2}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #s, kWidth = 2}>> -> tensor<128x64xf32, #s>
      %p = arith.truncf %scores : tensor<128x64xf32, #s> to tensor<128x64xf16, #s>
      %pa = ttg.convert_layout %p : tensor<128x64xf16, #s> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #o, kWidth = 2}>>
      %vb = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #o, kWidth = 2}>>
      %d = tt.dot %pa, %vb, %acc : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #o, kWidth = 2}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #o, kWidth = 2}>> -> tensor<128x64xf32, #o>
      scf.yield %d : tensor<128x64xf32, #o>
    }
    tt.return %r : tensor<128x64xf32, #o>
  }
}

// -----

// 64 beside 128 and 64 are too many for it to run on.
// CHECK-LABEL: @full
//       CHECK:   tt.load %arg2 {tt.latency = 1 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#s = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#o = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @full(%q: tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #s, kWidth = 2}>>, %k: tensor<64x128xf16, #ttg.dot_op<{opIdx = 1, parent = #s, kWidth = 2}>>, %v: tensor<128x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<128x64xf32, #o> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #o>
    %none = arith.constant dense<0.0> : tensor<128x128xf32, #s>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #o>) : i32 {
      %x = tt.load %v : tensor<128x64x!tt.ptr<f16>, #blocked>
      %scores = tt.dot %q, %k, %none : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #s, kWidth = 2}>> * tensor<64x128xf16, #ttg.dot_op<{opIdx = 1, parent = #s, kWidth = 2}>> -> tensor<128x128xf32, #s>
      %p = arith.truncf %scores : tensor<128x128xf32, #s> to tensor<128x128xf16, #s>
      %pa = ttg.convert_layout %p : tensor<128x128xf16, #s> -> tensor<128x128xf16, #ttg.dot_op<{opIdx = 0, parent = #o, kWidth = 2}>>
      %vb = ttg.convert_layout %x : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 1, parent = #o, kWidth = 2}>>
      %d = tt.dot %pa, %vb, %acc : tensor<128x128xf16, #ttg.dot_op<{opIdx = 0, parent = #o, kWidth = 2}>> * tensor<128x64xf16, #ttg.dot_op<{opIdx = 1, parent = #o, kWidth = 2}>> -> tensor<128x64xf32, #o>
      scf.yield %d : tensor<128x64xf32, #o>
    }
    tt.return %r : tensor<128x64xf32, #o>
  }
}
