// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=2 max-shared-bytes=233472 registers=65536" | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=2 max-shared-bytes=233472 registers=28672" | FileCheck %s --check-prefix=FEW

// Threads make an operand of the first dot's result: the second one may be late, where registers hold that operand until then.
// CHECK-LABEL: @attention
//       CHECK:   tt.dot
//   CHECK-NOT:   loop.late
//       CHECK:   tt.dot {{.*}}loop.late
// FEW-LABEL: @attention
//   FEW-NOT:   loop.late
//       FEW:   tt.return
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
      %k = tt.load %pk : tensor<64x64x!tt.ptr<f16>, #blocked>
      %kt = tt.trans %k {order = array<i32: 1, 0>} : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #turned>
      %kb = ttg.convert_layout %kt : tensor<64x64xf16, #turned> -> tensor<64x64xf16, #b>
      %s = tt.dot %q, %kb, %zero : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      %p = math.exp2 %s : tensor<128x64xf32, #mma>
      %ph = arith.truncf %p : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %pa = ttg.convert_layout %ph : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #a>
      %scaled = arith.mulf %acc, %half : tensor<128x64xf32, #mma>
      %v = tt.load %pv : tensor<64x64x!tt.ptr<f16>, #blocked>
      %vb = ttg.convert_layout %v : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %o = tt.dot %pa, %vb, %scaled : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      scf.yield %o : tensor<128x64xf32, #mma>
    }
    tt.return %r : tensor<128x64xf32, #mma>
  }
}

// -----

// The scores go into the accumulators by another way, too.
// CHECK-LABEL: @sums_of_scores
//   CHECK-NOT:   loop.late
//       CHECK:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#turned = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 8], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#row = #ttg.slice<{dim = 0, parent = #mma}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @sums_of_scores(%q: tensor<128x64xf16, #a>, %pk: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %pv: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %half = arith.constant dense<0.5> : tensor<128x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %k = tt.load %pk : tensor<64x64x!tt.ptr<f16>, #blocked>
      %kt = tt.trans %k {order = array<i32: 1, 0>} : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #turned>
      %kb = ttg.convert_layout %kt : tensor<64x64xf16, #turned> -> tensor<64x64xf16, #b>
      %s = tt.dot %q, %kb, %zero : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      %p = math.exp2 %s : tensor<128x64xf32, #mma>
      %ph = arith.truncf %p : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %pa = ttg.convert_layout %ph : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #a>
      %more = arith.addf %acc, %p : tensor<128x64xf32, #mma>
      %scaled = arith.mulf %more, %half : tensor<128x64xf32, #mma>
      %v = tt.load %pv : tensor<64x64x!tt.ptr<f16>, #blocked>
      %vb = ttg.convert_layout %v : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %o = tt.dot %pa, %vb, %scaled : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      scf.yield %o : tensor<128x64xf32, #mma>
    }
    tt.return %r : tensor<128x64xf32, #mma>
  }
}

// -----

// A row waits in a buffer, and keeps the second dot from nothing.
// CHECK-LABEL: @row
//       CHECK:   tt.load %arg3 {loop.read_on, tt.latency = 1 : i32}
//       CHECK:   tt.dot {{.*}}loop.late
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#turned = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 8], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#row = #ttg.slice<{dim = 0, parent = #mma}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @row(%q: tensor<128x64xf16, #a>, %pk: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %pv: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %pe: tensor<64x!tt.ptr<f32>, #row> {tt.divisibility = dense<16> : tensor<1xi32>, tt.contiguity = dense<64> : tensor<1xi32>}, %n: i32) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %half = arith.constant dense<0.5> : tensor<128x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %k = tt.load %pk : tensor<64x64x!tt.ptr<f16>, #blocked>
      %kt = tt.trans %k {order = array<i32: 1, 0>} : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #turned>
      %kb = ttg.convert_layout %kt : tensor<64x64xf16, #turned> -> tensor<64x64xf16, #b>
      %s = tt.dot %q, %kb, %zero : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      %e = tt.load %pe : tensor<64x!tt.ptr<f32>, #row>
      %e0 = tt.expand_dims %e {axis = 0 : i32} : tensor<64xf32, #row> -> tensor<1x64xf32, #mma>
      %e2 = tt.broadcast %e0 : tensor<1x64xf32, #mma> -> tensor<128x64xf32, #mma>
      %se = arith.subf %s, %e2 : tensor<128x64xf32, #mma>
      %p = math.exp2 %se : tensor<128x64xf32, #mma>
      %ph = arith.truncf %p : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %pa = ttg.convert_layout %ph : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #a>
      %scaled = arith.mulf %acc, %half : tensor<128x64xf32, #mma>
      %v = tt.load %pv : tensor<64x64x!tt.ptr<f16>, #blocked>
      %vb = ttg.convert_layout %v : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %o = tt.dot %pa, %vb, %scaled : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      scf.yield %o : tensor<128x64xf32, #mma>
    }
    tt.return %r : tensor<128x64xf32, #mma>
  }
}
