// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-coalesce | FileCheck %s

// Rows are divided in a loop: warps lie along them, so that a thread divides eight in place of 32.
// CHECK-DAG: #[[X:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-LABEL: @divided_rows
//       CHECK:   tt.load %{{.*}} : tensor<32x128x!tt.ptr<f16>, #[[X]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #blocked}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @divided_rows(%x: !tt.ptr<f16>, %columns: tensor<1x128xi32, #blocked>, %stride: i32, %w: tensor<64x32xf16, #a>, %zero: tensor<64x128xf32, #blocked>, %end: i32) -> tensor<64x128xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %few = arith.constant 160 : i32
    %seven = arith.constant dense<7> : tensor<32xi32, #rows>
    %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #rows>
    %base = tt.splat %x : !tt.ptr<f16> -> tensor<32x128x!tt.ptr<f16>, #blocked>
    %strides = tt.splat %stride : i32 -> tensor<32xi32, #rows>
    %sum = scf.for %i = %c0 to %end step %c32 iter_args(%acc = %zero) -> (tensor<64x128xf32, #blocked>) : i32 {
      %s = tt.splat %i : i32 -> tensor<32xi32, #rows>
      %k = arith.addi %s, %range : tensor<32xi32, #rows>
      %r = arith.divsi %k, %seven : tensor<32xi32, #rows>
      %m = arith.muli %r, %strides : tensor<32xi32, #rows>
      %row = tt.expand_dims %m {axis = 1 : i32} : tensor<32xi32, #rows> -> tensor<32x1xi32, #blocked>
      %rows = tt.broadcast %row : tensor<32x1xi32, #blocked> -> tensor<32x128xi32, #blocked>
      %cols = tt.broadcast %columns : tensor<1x128xi32, #blocked> -> tensor<32x128xi32, #blocked>
      %o = arith.addi %rows, %cols : tensor<32x128xi32, #blocked>
      %p = tt.addptr %base, %o : tensor<32x128x!tt.ptr<f16>, #blocked>, tensor<32x128xi32, #blocked>
      %v = tt.load %p : tensor<32x128x!tt.ptr<f16>, #blocked>
      %vb = ttg.convert_layout %v : tensor<32x128xf16, #blocked> -> tensor<32x128xf16, #b>
      %d = tt.dot %w, %vb, %acc : tensor<64x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<64x128xf32, #blocked>
      scf.yield %d : tensor<64x128xf32, #blocked>
    }
    tt.return %sum : tensor<64x128xf32, #blocked>
  }
}

// -----

// Without divisions, warps lie along neighbours.
// CHECK-DAG: #[[X:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
// CHECK-LABEL: @rows
//       CHECK:   tt.load %{{.*}} : tensor<32x128x!tt.ptr<f16>, #[[X]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #blocked}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @rows(%x: !tt.ptr<f16>, %columns: tensor<1x128xi32, #blocked>, %stride: i32, %w: tensor<64x32xf16, #a>, %zero: tensor<64x128xf32, #blocked>, %end: i32) -> tensor<64x128xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %few = arith.constant 160 : i32
    %seven = arith.constant dense<7> : tensor<32xi32, #rows>
    %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #rows>
    %base = tt.splat %x : !tt.ptr<f16> -> tensor<32x128x!tt.ptr<f16>, #blocked>
    %strides = tt.splat %stride : i32 -> tensor<32xi32, #rows>
    %sum = scf.for %i = %c0 to %end step %c32 iter_args(%acc = %zero) -> (tensor<64x128xf32, #blocked>) : i32 {
      %s = tt.splat %i : i32 -> tensor<32xi32, #rows>
      %k = arith.addi %s, %range : tensor<32xi32, #rows>
      %r = arith.addi %k, %seven : tensor<32xi32, #rows>
      %m = arith.muli %r, %strides : tensor<32xi32, #rows>
      %row = tt.expand_dims %m {axis = 1 : i32} : tensor<32xi32, #rows> -> tensor<32x1xi32, #blocked>
      %rows = tt.broadcast %row : tensor<32x1xi32, #blocked> -> tensor<32x128xi32, #blocked>
      %cols = tt.broadcast %columns : tensor<1x128xi32, #blocked> -> tensor<32x128xi32, #blocked>
      %o = arith.addi %rows, %cols : tensor<32x128xi32, #blocked>
      %p = tt.addptr %base, %o : tensor<32x128x!tt.ptr<f16>, #blocked>, tensor<32x128xi32, #blocked>
      %v = tt.load %p : tensor<32x128x!tt.ptr<f16>, #blocked>
      %vb = ttg.convert_layout %v : tensor<32x128xf16, #blocked> -> tensor<32x128xf16, #b>
      %d = tt.dot %w, %vb, %acc : tensor<64x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<64x128xf32, #blocked>
      scf.yield %d : tensor<64x128xf32, #blocked>
    }
    tt.return %sum : tensor<64x128xf32, #blocked>
  }
}

// -----

// A loop of few iterations: a thread has all rows, whose quotients are constants once it is unrolled.
// CHECK-DAG: #[[X:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
// CHECK-LABEL: @few_iterations
//       CHECK:   tt.load %{{.*}} : tensor<32x128x!tt.ptr<f16>, #[[X]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #blocked}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @few_iterations(%x: !tt.ptr<f16>, %columns: tensor<1x128xi32, #blocked>, %stride: i32, %w: tensor<64x32xf16, #a>, %zero: tensor<64x128xf32, #blocked>, %end: i32) -> tensor<64x128xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %few = arith.constant 160 : i32
    %seven = arith.constant dense<7> : tensor<32xi32, #rows>
    %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #rows>
    %base = tt.splat %x : !tt.ptr<f16> -> tensor<32x128x!tt.ptr<f16>, #blocked>
    %strides = tt.splat %stride : i32 -> tensor<32xi32, #rows>
    %sum = scf.for %i = %c0 to %few step %c32 iter_args(%acc = %zero) -> (tensor<64x128xf32, #blocked>) : i32 {
      %s = tt.splat %i : i32 -> tensor<32xi32, #rows>
      %k = arith.addi %s, %range : tensor<32xi32, #rows>
      %r = arith.divsi %k, %seven : tensor<32xi32, #rows>
      %m = arith.muli %r, %strides : tensor<32xi32, #rows>
      %row = tt.expand_dims %m {axis = 1 : i32} : tensor<32xi32, #rows> -> tensor<32x1xi32, #blocked>
      %rows = tt.broadcast %row : tensor<32x1xi32, #blocked> -> tensor<32x128xi32, #blocked>
      %cols = tt.broadcast %columns : tensor<1x128xi32, #blocked> -> tensor<32x128xi32, #blocked>
      %o = arith.addi %rows, %cols : tensor<32x128xi32, #blocked>
      %p = tt.addptr %base, %o : tensor<32x128x!tt.ptr<f16>, #blocked>, tensor<32x128xi32, #blocked>
      %v = tt.load %p : tensor<32x128x!tt.ptr<f16>, #blocked>
      %vb = ttg.convert_layout %v : tensor<32x128xf16, #blocked> -> tensor<32x128xf16, #b>
      %d = tt.dot %w, %vb, %acc : tensor<64x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<64x128xf32, #blocked>
      scf.yield %d : tensor<64x128xf32, #blocked>
    }
    tt.return %sum : tensor<64x128xf32, #blocked>
  }
}
