// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=3 max-shared-bytes=233472 max-waiting-elements=64" | FileCheck %s

// Factors of rows feed no dot. They wait in registers where the loop leaves it to the compiler, or where operands are blocks of descriptors:
// all copies of the loop may then be bulk copies.
// CHECK-LABEL: @blocks
//       CHECK:   tt.load %arg0, %{{.*}} {tt.latency = 2 : i32}
//       CHECK:   tt.load %arg1, %{{.*}} {tt.latency = 2 : i32}
//       CHECK:   tt.load %arg2 {loop.in_registers, tt.latency = 1 : i32}
// So do factors of columns, of which a thread needs 16: threads share them while they wait.
// CHECK-LABEL: @columns
//       CHECK:   tt.load %arg0, %{{.*}} {tt.latency = 2 : i32}
//       CHECK:   tt.load %arg1, %{{.*}} {tt.latency = 2 : i32}
//       CHECK:   tt.load %arg2 {loop.in_registers, tt.latency = 1 : i32}
// CHECK-LABEL: @pointers
//       CHECK:   tt.load %arg0 {tt.latency = 2 : i32}
//       CHECK:   tt.load %arg2 {loop.in_registers, tt.latency = 1 : i32}
// Where the loop says how many stages it has, they are copied as well.
// CHECK-LABEL: @says_how_many
//       CHECK:   tt.load %arg0 {tt.latency = 2 : i32}
//       CHECK:   tt.load %arg2 {tt.latency = 2 : i32}
// An address that the iteration reads itself is not known before it.
// CHECK-LABEL: @follows
//       CHECK:   tt.load %arg0 {tt.latency = 2 : i32}
//       CHECK:   tt.load %{{.*}} : !tt.ptr<i32>
//       CHECK:   tt.load %{{.*}} : tensor<64x!tt.ptr<f32>
// A number that says where the next iteration's block is belongs to that one's address. It begins with the block's copy.
// CHECK-LABEL: @says_where_next
//       CHECK:   tt.load %{{.*}} {{{.*}}tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<f16>
//       CHECK:   tt.load %{{.*}} : !tt.ptr<i32>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#factor = #ttg.slice<{dim = 1, parent = #mma}>
#column = #ttg.slice<{dim = 0, parent = #mma}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @blocks(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %s: tensor<64x!tt.ptr<f32>, #row>, %base: !tt.ptr<f16>, %all: tensor<64x64xi1, #blocked>, %rows: i64, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %mask = tt.block_mask %all, %base[%c0, %i], [%rows, %rows], [%rows, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      %x = tt.load %p, %mask : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q, %mask : tensor<64x64x!tt.ptr<f16>, #blocked>
      %f = tt.load %s : tensor<64x!tt.ptr<f32>, #row>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %g = ttg.convert_layout %f : tensor<64xf32, #row> -> tensor<64xf32, #factor>
      %e = tt.expand_dims %g {axis = 1 : i32} : tensor<64xf32, #factor> -> tensor<64x1xf32, #mma>
      %w = tt.broadcast %e : tensor<64x1xf32, #mma> -> tensor<64x64xf32, #mma>
      %scaled = arith.mulf %d, %w : tensor<64x64xf32, #mma>
      %sum = arith.addf %acc, %scaled : tensor<64x64xf32, #mma>
      scf.yield %sum : tensor<64x64xf32, #mma>
    } {tt.num_stages = 3 : i32}
    tt.return %r : tensor<64x64xf32, #mma>
  }
  tt.func @columns(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %s: tensor<64x!tt.ptr<f32>, #column>, %base: !tt.ptr<f16>, %all: tensor<64x64xi1, #blocked>, %rows: i64, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %mask = tt.block_mask %all, %base[%c0, %i], [%rows, %rows], [%rows, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      %x = tt.load %p, %mask : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q, %mask : tensor<64x64x!tt.ptr<f16>, #blocked>
      %f = tt.load %s : tensor<64x!tt.ptr<f32>, #column>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %e = tt.expand_dims %f {axis = 0 : i32} : tensor<64xf32, #column> -> tensor<1x64xf32, #mma>
      %w = tt.broadcast %e : tensor<1x64xf32, #mma> -> tensor<64x64xf32, #mma>
      %scaled = arith.mulf %d, %w : tensor<64x64xf32, #mma>
      %sum = arith.addf %acc, %scaled : tensor<64x64xf32, #mma>
      scf.yield %sum : tensor<64x64xf32, #mma>
    } {tt.num_stages = 3 : i32}
    tt.return %r : tensor<64x64xf32, #mma>
  }
  tt.func @pointers(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: i32, %s: tensor<64x!tt.ptr<f32>, #row>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %f = tt.load %s : tensor<64x!tt.ptr<f32>, #row>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %g = ttg.convert_layout %f : tensor<64xf32, #row> -> tensor<64xf32, #factor>
      %e = tt.expand_dims %g {axis = 1 : i32} : tensor<64xf32, #factor> -> tensor<64x1xf32, #mma>
      %w = tt.broadcast %e : tensor<64x1xf32, #mma> -> tensor<64x64xf32, #mma>
      %scaled = arith.mulf %d, %w : tensor<64x64xf32, #mma>
      %sum = arith.addf %acc, %scaled : tensor<64x64xf32, #mma>
      scf.yield %sum : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
  tt.func @says_how_many(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: i32, %s: tensor<64x!tt.ptr<f32>, #row>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %f = tt.load %s : tensor<64x!tt.ptr<f32>, #row>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %g = ttg.convert_layout %f : tensor<64xf32, #row> -> tensor<64xf32, #factor>
      %e = tt.expand_dims %g {axis = 1 : i32} : tensor<64xf32, #factor> -> tensor<64x1xf32, #mma>
      %w = tt.broadcast %e : tensor<64x1xf32, #mma> -> tensor<64x64xf32, #mma>
      %scaled = arith.mulf %d, %w : tensor<64x64xf32, #mma>
      %sum = arith.addf %acc, %scaled : tensor<64x64xf32, #mma>
      scf.yield %sum : tensor<64x64xf32, #mma>
    } {tt.num_stages = 3 : i32}
    tt.return %r : tensor<64x64xf32, #mma>
  }
  tt.func @follows(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %table: !tt.ptr<i32>, %s: tensor<64x!tt.ptr<f32>, #row>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %entry = tt.addptr %table, %i : !tt.ptr<i32>, i32
      %at = tt.load %entry : !tt.ptr<i32>
      %ats = tt.splat %at : i32 -> tensor<64xi32, #row>
      %sp = tt.addptr %s, %ats : tensor<64x!tt.ptr<f32>, #row>, tensor<64xi32, #row>
      %f = tt.load %sp : tensor<64x!tt.ptr<f32>, #row>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %g = ttg.convert_layout %f : tensor<64xf32, #row> -> tensor<64xf32, #factor>
      %e = tt.expand_dims %g {axis = 1 : i32} : tensor<64xf32, #factor> -> tensor<64x1xf32, #mma>
      %w = tt.broadcast %e : tensor<64x1xf32, #mma> -> tensor<64x64xf32, #mma>
      %scaled = arith.mulf %d, %w : tensor<64x64xf32, #mma>
      %sum = arith.addf %acc, %scaled : tensor<64x64xf32, #mma>
      scf.yield %sum : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
  tt.func @says_where_next(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %places: !tt.ptr<i32>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %at = %c0) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %row = arith.muli %at, %c64 {tt.divisibility = dense<64> : tensor<1xi32>} : i32
      %rows = tt.splat %row : i32 -> tensor<64x64xi32, #blocked>
      %here = tt.addptr %p, %rows : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      %x = tt.load %here : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %xb = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %xb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %place = tt.addptr %places, %i : !tt.ptr<i32>, i32
      %next = tt.load %place : !tt.ptr<i32>
      %to = arith.addi %at, %next : i32
      scf.yield %d, %to : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}
