// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-separate-scalars --tt-hoist-invariants --canonicalize --cse | FileCheck %s

// Where the block starts goes to the base. Masks compare in 32 bits with a scalar; no start is negative.
// CHECK-LABEL: @rows
//       CHECK:   %[[RANGE:.*]] = tt.make_range
//       CHECK:   %[[WIDE:.*]] = arith.extsi %[[RANGE]] : tensor<64xi32> to tensor<64xi64>
//       CHECK:   %[[REST:.*]] = arith.muli %[[WIDE]], %{{.*}} : tensor<64xi64>
//       CHECK:   scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[START:.*]] = %c0_i64)
//       CHECK:     %[[AT:.*]] = arith.muli %[[START]], %arg1 : i64
//       CHECK:     %[[BASE:.*]] = tt.addptr %arg0, %[[AT]] : !tt.ptr<f16>, i64
//       CHECK:     %[[BASES:.*]] = tt.splat %[[BASE]]
//       CHECK:     %[[P:.*]] = tt.addptr %[[BASES]], %[[REST]]
//   CHECK-NOT:     arith.cmpi sge
//       CHECK:     %[[LEFT:.*]] = arith.subi %{{.*}}, %[[START]] : i64
//       CHECK:     %[[LOW:.*]] = arith.maxsi %[[LEFT]], %c0_i64
//       CHECK:     %[[NUMBER:.*]] = arith.minsi %[[LOW]], %c64_i64
//       CHECK:     %[[NARROW:.*]] = arith.trunci %[[NUMBER]] : i64 to i32
//       CHECK:     %[[SPREAD:.*]] = tt.splat %[[NARROW]]
//       CHECK:     %[[MASK:.*]] = arith.cmpi slt, %[[RANGE]], %[[SPREAD]] : tensor<64xi32>
//       CHECK:     tt.load %[[P]], %[[MASK]]
tt.func @rows(%base: !tt.ptr<f16>, %stride: i64, %rows: i32, %n: i32) -> tensor<64xf16> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %first = arith.constant 0 : i64
  %step = arith.constant 64 : i64
  %zero = arith.constant dense<0.0> : tensor<64xf16>
  %zeros = arith.constant dense<0> : tensor<64xi64>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %wide = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
  %bases = tt.splat %base : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %strides = tt.splat %stride : i64 -> tensor<64xi64>
  %limit = arith.extsi %rows : i32 to i64
  %limits = tt.splat %limit : i64 -> tensor<64xi64>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %start = %first) -> (tensor<64xf16>, i64) : i32 {
    %starts = tt.splat %start : i64 -> tensor<64xi64>
    %rows_here = arith.addi %starts, %wide : tensor<64xi64>
    %offsets = arith.muli %rows_here, %strides : tensor<64xi64>
    %p = tt.addptr %bases, %offsets : tensor<64x!tt.ptr<f16>>, tensor<64xi64>
    %low = arith.cmpi sge, %rows_here, %zeros : tensor<64xi64>
    %high = arith.cmpi slt, %rows_here, %limits : tensor<64xi64>
    %mask = arith.andi %low, %high : tensor<64xi1>
    %v = tt.load %p, %mask, %zero : tensor<64x!tt.ptr<f16>>
    %sum = arith.addf %acc, %v : tensor<64xf16>
    %next = arith.addi %start, %step : i64
    scf.yield %sum, %next : tensor<64xf16>, i64
  }
  tt.return %r#0 : tensor<64xf16>
}

// -----

// A start of 64 bits that may be anything: its sums may wrap around, so comparisons stay. So do offsets of 32 bits, and
// those without a product.
// CHECK-LABEL: @anything
//       CHECK:   scf.for
//       CHECK:     arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<64xi64>
//       CHECK:     tt.addptr %{{.*}}, %{{.*}} : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
tt.func @anything(%base: !tt.ptr<f16>, %first: i64, %limit: i64, %n: i32) -> tensor<64xf16> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant 64 : i64
  %zero = arith.constant dense<0.0> : tensor<64xf16>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %wide_range = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
  %bases = tt.splat %base : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %limits = tt.splat %limit : i64 -> tensor<64xi64>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %start = %first) -> (tensor<64xf16>, i64) : i32 {
    %starts = tt.splat %start : i64 -> tensor<64xi64>
    %here = arith.addi %starts, %wide_range : tensor<64xi64>
    %mask = arith.cmpi slt, %here, %limits : tensor<64xi64>
    %is = tt.splat %i : i32 -> tensor<64xi32>
    %offsets = arith.addi %is, %range : tensor<64xi32>
    %p = tt.addptr %bases, %offsets : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
    %squares = arith.muli %here, %limits : tensor<64xi64>
    %q = tt.addptr %p, %squares : tensor<64x!tt.ptr<f16>>, tensor<64xi64>
    %v = tt.load %q, %mask, %zero : tensor<64x!tt.ptr<f16>>
    %sum = arith.addf %acc, %v : tensor<64xf16>
    %next = arith.addi %start, %step : i64
    scf.yield %sum, %next : tensor<64xf16>, i64
  }
  tt.return %r#0 : tensor<64xf16>
}

// -----

// Nothing is multiplied.
// CHECK-LABEL: @neighbours
//       CHECK:   scf.for
//       CHECK:     %[[HERE:.*]] = arith.addi %{{.*}}, %{{.*}} : tensor<64xi64>
//       CHECK:     tt.addptr %{{.*}}, %[[HERE]] : tensor<64x!tt.ptr<f16>>, tensor<64xi64>
//       CHECK:     arith.cmpi slt, %[[HERE]], %{{.*}} : tensor<64xi64>
tt.func @neighbours(%base: !tt.ptr<f16>, %columns: i32, %n: i32) -> tensor<64xf16> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %first = arith.constant 0 : i64
  %step = arith.constant 64 : i64
  %zero = arith.constant dense<0.0> : tensor<64xf16>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %wide = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
  %bases = tt.splat %base : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %limit = arith.extsi %columns : i32 to i64
  %limits = tt.splat %limit : i64 -> tensor<64xi64>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %start = %first) -> (tensor<64xf16>, i64) : i32 {
    %starts = tt.splat %start : i64 -> tensor<64xi64>
    %here = arith.addi %starts, %wide : tensor<64xi64>
    %p = tt.addptr %bases, %here : tensor<64x!tt.ptr<f16>>, tensor<64xi64>
    %mask = arith.cmpi slt, %here, %limits : tensor<64xi64>
    %v = tt.load %p, %mask, %zero : tensor<64x!tt.ptr<f16>>
    %sum = arith.addf %acc, %v : tensor<64xf16>
    %next = arith.addi %start, %step : i64
    scf.yield %sum, %next : tensor<64xf16>, i64
  }
  tt.return %r#0 : tensor<64xf16>
}
