// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-narrow-indices=threads=128 --canonicalize --cse | FileCheck %s

// The index of a block is computed and compared in 32 bits. Its product is one of two extended numbers.
// CHECK-LABEL: @block
//       CHECK:   %[[RANGE:.*]] = tt.make_range
//       CHECK:   %[[INDEX:.*]] = arith.addi %{{.*}}, %[[RANGE]] : tensor<256xi32>
//       CHECK:   %[[WIDE:.*]] = arith.extsi %[[INDEX]] : tensor<256xi32> to tensor<256xi64>
//       CHECK:   %[[OFFSET:.*]] = arith.muli %[[WIDE]], %{{.*}} : tensor<256xi64>
//       CHECK:   %[[P:.*]] = tt.addptr %{{.*}}, %[[OFFSET]]
//       CHECK:   %[[LOW:.*]] = arith.cmpi sge, %[[INDEX]], %{{.*}} : tensor<256xi32>
//       CHECK:   %[[HIGH:.*]] = arith.cmpi slt, %[[INDEX]], %{{.*}} : tensor<256xi32>
//       CHECK:   %[[MASK:.*]] = arith.andi %[[LOW]], %[[HIGH]]
//       CHECK:   tt.load %[[P]], %[[MASK]]
tt.func @block(%base: !tt.ptr<f16>, %start: i32, %stride: i32, %size: i32) -> tensor<256xf16> {
  %zeros = arith.constant dense<0> : tensor<256xi64>
  %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %wide = arith.extsi %range : tensor<256xi32> to tensor<256xi64>
  %first = arith.extsi %start : i32 to i64
  %firsts = tt.splat %first : i64 -> tensor<256xi64>
  %index = arith.addi %firsts, %wide : tensor<256xi64>
  %step = arith.extsi %stride : i32 to i64
  %steps = tt.splat %step : i64 -> tensor<256xi64>
  %offset = arith.muli %index, %steps : tensor<256xi64>
  %bases = tt.splat %base : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %p = tt.addptr %bases, %offset : tensor<256x!tt.ptr<f16>>, tensor<256xi64>
  %limit = arith.extsi %size : i32 to i64
  %limits = tt.splat %limit : i64 -> tensor<256xi64>
  %low = arith.cmpi sge, %index, %zeros : tensor<256xi64>
  %high = arith.cmpi slt, %index, %limits : tensor<256xi64>
  %mask = arith.andi %low, %high : tensor<256xi1>
  %v = tt.load %p, %mask : tensor<256x!tt.ptr<f16>>
  tt.return %v : tensor<256xf16>
}

// -----

// A sum of two numbers of 32 bits that may both be negative may wrap around to a small one. A size of 64 bits says
// nothing of an index. Without a lower bound, a mask does not either.
// CHECK-LABEL: @others
// CHECK-COUNT-5: arith.cmpi {{.*}} : tensor<256xi64>
//   CHECK-NOT:   arith.cmpi {{.*}} : tensor<256xi32>
tt.func @others(%base: !tt.ptr<f16>, %start: i32, %shift: i32, %size: i32, %long: i64) -> tensor<256xf16> {
  %zeros = arith.constant dense<0> : tensor<256xi64>
  %none = arith.constant dense<0.0> : tensor<256xf16>
  %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %wide = arith.extsi %range : tensor<256xi32> to tensor<256xi64>
  %first = arith.extsi %start : i32 to i64
  %firsts = tt.splat %first : i64 -> tensor<256xi64>
  %index = arith.addi %firsts, %wide : tensor<256xi64>
  %more = arith.extsi %shift : i32 to i64
  %mores = tt.splat %more : i64 -> tensor<256xi64>
  %sum = arith.addi %index, %mores : tensor<256xi64>
  %bases = tt.splat %base : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %limit = arith.extsi %size : i32 to i64
  %limits = tt.splat %limit : i64 -> tensor<256xi64>
  %longs = tt.splat %long : i64 -> tensor<256xi64>

  %p = tt.addptr %bases, %sum : tensor<256x!tt.ptr<f16>>, tensor<256xi64>
  %low = arith.cmpi sge, %sum, %zeros : tensor<256xi64>
  %high = arith.cmpi slt, %sum, %limits : tensor<256xi64>
  %mask = arith.andi %low, %high : tensor<256xi1>
  %u = tt.load %p, %mask, %none : tensor<256x!tt.ptr<f16>>

  %q = tt.addptr %bases, %index : tensor<256x!tt.ptr<f16>>, tensor<256xi64>
  %above = arith.cmpi sge, %index, %zeros : tensor<256xi64>
  %below = arith.cmpi slt, %index, %longs : tensor<256xi64>
  %within = arith.andi %above, %below : tensor<256xi1>
  %v = tt.load %q, %within, %u : tensor<256x!tt.ptr<f16>>

  %last = arith.cmpi slt, %index, %limits : tensor<256xi64>
  %w = tt.load %q, %last, %v : tensor<256x!tt.ptr<f16>>
  tt.return %w : tensor<256xf16>
}

// -----

// In a loop that moves the block, only where a thread has few elements. The other block moves its base.
// CHECK-LABEL: @moves
//       CHECK:   scf.for
//       CHECK:     arith.cmpi slt, %{{.*}} : tensor<256xi32>
//       CHECK:     arith.cmpi slt, %{{.*}} : tensor<1024xi64>
tt.func @moves(%base: !tt.ptr<f16>, %stride: i32, %size: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zeros = arith.constant dense<0> : tensor<256xi64>
  %zeros_4 = arith.constant dense<0> : tensor<1024xi64>
  %none = arith.constant dense<0.0> : tensor<256xf16>
  %none_4 = arith.constant dense<0.0> : tensor<1024xf16>
  %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %range_4 = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %wide = arith.extsi %range : tensor<256xi32> to tensor<256xi64>
  %wide_4 = arith.extsi %range_4 : tensor<1024xi32> to tensor<1024xi64>
  %step = arith.extsi %stride : i32 to i64
  %steps = tt.splat %step : i64 -> tensor<256xi64>
  %steps_4 = tt.splat %step : i64 -> tensor<1024xi64>
  %bases = tt.splat %base : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %bases_4 = tt.splat %base : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %limit = arith.extsi %size : i32 to i64
  %limits = tt.splat %limit : i64 -> tensor<256xi64>
  %limits_4 = tt.splat %limit : i64 -> tensor<1024xi64>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %first = arith.extsi %i : i32 to i64
    %firsts = tt.splat %first : i64 -> tensor<256xi64>
    %index = arith.addi %firsts, %wide : tensor<256xi64>
    %offset = arith.muli %index, %steps : tensor<256xi64>
    %p = tt.addptr %bases, %offset : tensor<256x!tt.ptr<f16>>, tensor<256xi64>
    %low = arith.cmpi sge, %index, %zeros : tensor<256xi64>
    %high = arith.cmpi slt, %index, %limits : tensor<256xi64>
    %mask = arith.andi %low, %high : tensor<256xi1>
    tt.store %p, %none, %mask : tensor<256x!tt.ptr<f16>>
    %firsts_4 = tt.splat %first : i64 -> tensor<1024xi64>
    %index_4 = arith.addi %firsts_4, %wide_4 : tensor<1024xi64>
    %offset_4 = arith.muli %index_4, %steps_4 : tensor<1024xi64>
    %p_4 = tt.addptr %bases_4, %offset_4 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi64>
    %low_4 = arith.cmpi sge, %index_4, %zeros_4 : tensor<1024xi64>
    %high_4 = arith.cmpi slt, %index_4, %limits_4 : tensor<1024xi64>
    %mask_4 = arith.andi %low_4, %high_4 : tensor<1024xi1>
    tt.store %p_4, %none_4, %mask_4 : tensor<1024x!tt.ptr<f16>>
  }
  tt.return
}
