// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=3 max-shared-bytes=233472 registers=65536 multiprocessors=132" -split-input-file | FileCheck %s

// A persistent kernel of 132 programs has one a multiprocessor, whatever fits. Of 528 there are four.
// CHECK-LABEL: @persistent
//       CHECK:   tt.load %arg0 {loop.read_on, tt.latency = 2 : i32}
//       CHECK:   tt.load %arg0 {tt.latency = 2 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @persistent(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %few = arith.constant 132 : i32
    %many = arith.constant 528 : i32
    %pid = tt.get_program_id x : i32
    %all = scf.for %tile = %pid to %n step %few iter_args(%sum = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %sum) -> (tensor<64x64xf32, #mma>) : i32 {
        %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
        %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
        %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
        %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
        %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
        scf.yield %d : tensor<64x64xf32, #mma>
      }
      scf.yield %r : tensor<64x64xf32, #mma>
    }
    %more = scf.for %tile = %pid to %n step %many iter_args(%sum = %all) -> (tensor<64x64xf32, #mma>) : i32 {
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %sum) -> (tensor<64x64xf32, #mma>) : i32 {
        %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
        %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
        %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
        %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
        %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
        scf.yield %d : tensor<64x64xf32, #mma>
      }
      scf.yield %r : tensor<64x64xf32, #mma>
    }
    tt.return %more : tensor<64x64xf32, #mma>
  }
}

// -----

// One loop over the steps of all tiles carries the number of the tile, which grows by 132.
// CHECK-LABEL: @flattened
//       CHECK:   tt.load %arg0 {loop.read_on, tt.latency = 2 : i32}
//       CHECK:   tt.load %arg1 {loop.read_on, tt.latency = 2 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @flattened(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> (tensor<64x64xf32, #mma>, i32) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %programs = arith.constant 132 : i32
    %pid = tt.get_program_id x : i32
    %before = arith.subi %pid, %programs : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %tile = %before) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %begins = arith.cmpi eq, %i, %c0 : i32
      %next = arith.addi %tile, %programs : i32
      %now = arith.select %begins, %next, %tile : i32
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d, %now : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0, %r#1 : tensor<64x64xf32, #mma>, i32
  }
}

// -----

// Programs that share the steps of one tile may be many.
// CHECK-LABEL: @shared_steps
//       CHECK:   tt.load %arg0 {tt.latency = 2 : i32}
//       CHECK:   tt.load %arg1 {tt.latency = 2 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @shared_steps(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> (tensor<64x64xf32, #mma>, i32) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %programs = arith.constant 132 : i32
    %pid = tt.get_program_id x : i32
    %r:2 = scf.for %i = %pid to %n step %c1 iter_args(%acc = %zero, %tile = %c0) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %begins = arith.cmpi eq, %i, %c0 : i32
      %next = arith.addi %tile, %programs : i32
      %now = arith.select %begins, %next, %tile : i32
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d, %now : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0, %r#1 : tensor<64x64xf32, #mma>, i32
  }
}

// -----

// Products of a group, one after the other. A loop goes on as long as tiles are of this product, and hands the number
// of the next one on.
// CHECK-LABEL: @group
//       CHECK:   tt.load %arg0 {loop.read_on, tt.latency = 2 : i32}
//       CHECK:   tt.load %arg1 {loop.read_on, tt.latency = 2 : i32}
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @group(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %out: tensor<64x64x!tt.ptr<f32>, #mma>, %n: i32) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %programs = arith.constant 132 : i32
    %pid = tt.get_program_id x : i32
    %all:2 = scf.for %g = %c0 to %n step %c1 iter_args(%first = %pid, %end = %c64) -> (i32, i32) : i32 {
      %next = scf.while (%tile = %first) : (i32) -> i32 {
        %more = arith.cmpi slt, %tile, %end : i32
        scf.condition(%more) %tile : i32
      } do {
      ^bb0(%tile: i32):
        %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
          %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
          %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
          %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
          %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
          %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
          scf.yield %d : tensor<64x64xf32, #mma>
        }
        tt.store %out, %r : tensor<64x64x!tt.ptr<f32>, #mma>
        %t = arith.addi %tile, %programs : i32
        scf.yield %t : i32
      }
      %e = arith.addi %end, %c64 : i32
      scf.yield %next, %e : i32, i32
    }
    tt.return
  }
}
