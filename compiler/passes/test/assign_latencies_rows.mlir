// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=2 max-shared-bytes=233472 max-waiting-elements=64 most-copy-bytes=16" | FileCheck %s

// Threads make an operand of a row. It waits in registers beside blocks of descriptors, for all copies of the loop may
// then be bulk copies. Beside other copies it is copied as well.
// CHECK-LABEL: @blocks
//       CHECK:   tt.load %arg0, %{{.*}}tt.latency = 1 : i32}
//       CHECK:   tt.load %arg1 {loop.in_registers, tt.latency = 1 : i32}
// CHECK-LABEL: @pointers
//       CHECK:   tt.load %arg0 {{.*}}tt.latency = 1 : i32}
//       CHECK:   tt.load %arg1 {{{.*}}tt.latency = 1 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#row = #ttg.slice<{dim = 0, parent = #mma}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @blocks(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %s: tensor<64x!tt.ptr<f32>, #row> {tt.divisibility = dense<16> : tensor<1xi32>, tt.contiguity = dense<64> : tensor<1xi32>}, %base: !tt.ptr<f16>, %all: tensor<64x64xi1, #blocked>, %rows: i64, %k: tensor<64x64xf16, #a>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %mask = tt.block_mask %all, %base[%c0, %i], [%rows, %rows], [%rows, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      %x = tt.load %p, %mask : tensor<64x64x!tt.ptr<f16>, #blocked>
      %f = tt.load %s : tensor<64x!tt.ptr<f32>, #row>
      %y = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %k, %y, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %e = tt.expand_dims %f {axis = 0 : i32} : tensor<64xf32, #row> -> tensor<1x64xf32, #mma>
      %w = tt.broadcast %e : tensor<1x64xf32, #mma> -> tensor<64x64xf32, #mma>
      %sum = arith.addf %d, %w : tensor<64x64xf32, #mma>
      %h = arith.truncf %sum : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %z = ttg.convert_layout %h : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
      %g = tt.dot %z, %y, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %g : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
  tt.func @pointers(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %s: tensor<64x!tt.ptr<f32>, #row> {tt.divisibility = dense<16> : tensor<1xi32>, tt.contiguity = dense<64> : tensor<1xi32>}, %k: tensor<64x64xf16, #a>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %f = tt.load %s : tensor<64x!tt.ptr<f32>, #row>
      %y = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %k, %y, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %e = tt.expand_dims %f {axis = 0 : i32} : tensor<64xf32, #row> -> tensor<1x64xf32, #mma>
      %w = tt.broadcast %e : tensor<1x64xf32, #mma> -> tensor<64x64xf32, #mma>
      %sum = arith.addf %d, %w : tensor<64x64xf32, #mma>
      %h = arith.truncf %sum : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %z = ttg.convert_layout %h : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
      %g = tt.dot %z, %y, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %g : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
