// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-narrow-quotients --canonicalize | FileCheck %s

// A place in an image is computed in 32 bits, quotients of quotients too.
// CHECK-LABEL: @place
//       CHECK:   %[[INDEX:.*]] = arith.addi %{{.*}} : tensor<256xi32>
//       CHECK:   %[[COLUMN:.*]] = arith.remsi %[[INDEX]], %{{.*}} : tensor<256xi32>
//       CHECK:   arith.extsi %[[COLUMN]] : tensor<256xi32> to tensor<256xi64>
//       CHECK:   %[[ROW:.*]] = arith.divsi %[[INDEX]], %{{.*}} : tensor<256xi32>
//       CHECK:   arith.remsi %[[ROW]], %{{.*}} : tensor<256xi32>
//   CHECK-NOT:   arith.{{divsi|remsi}} {{.*}}i64
tt.func @place(%width: i32, %height: i32) -> (tensor<256xi64>, tensor<256xi64>) {
  %block = arith.constant 256 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %block : i32
  %starts = tt.splat %start : i32 -> tensor<256xi32>
  %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %index = arith.addi %starts, %range : tensor<256xi32>
  %long = arith.extsi %index : tensor<256xi32> to tensor<256xi64>
  %width64 = arith.extsi %width : i32 to i64
  %widths = tt.splat %width64 : i64 -> tensor<256xi64>
  %height64 = arith.extsi %height : i32 to i64
  %heights = tt.splat %height64 : i64 -> tensor<256xi64>
  %column = arith.remsi %long, %widths : tensor<256xi64>
  %rows = arith.divsi %long, %widths : tensor<256xi64>
  %row = arith.remsi %rows, %heights : tensor<256xi64>
  tt.return %column, %row : tensor<256xi64>, tensor<256xi64>
}

// -----

// The least number may be divided by -1.
// CHECK-LABEL: @least
//       CHECK:   arith.divsi {{.*}} : i64
tt.func @least(%x: i32, %y: i32) -> i64 {
  %a = arith.extsi %x : i32 to i64
  %b = arith.extsi %y : i32 to i64
  %q = arith.divsi %a, %b : i64
  tt.return %q : i64
}

// -----

// Sums of 64 bits may be longer than their terms, and so may divisors be.
// CHECK-LABEL: @long
//       CHECK:   arith.divsi {{.*}} : i64
//       CHECK:   arith.remsi {{.*}} : i64
tt.func @long(%y: i32, %z: i64) -> (i64, i64) {
  %pid = tt.get_program_id x : i32
  %a = arith.extsi %pid : i32 to i64
  %b = arith.extsi %y : i32 to i64
  %sum = arith.addi %a, %b : i64
  %q = arith.divsi %sum, %b : i64
  %r = arith.remsi %a, %z : i64
  tt.return %q, %r : i64, i64
}
