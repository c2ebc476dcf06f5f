// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-simplify-masked-addresses --canonicalize | FileCheck %s

// Where the mask holds, the select takes the column.
// CHECK-LABEL: @columns
//   CHECK-NOT:   arith.select
//       CHECK:   tt.load
//       CHECK:   tt.return
tt.func @columns(%base: !tt.ptr<f32>, %rows: tensor<32x128xi64>, %inside: tensor<32x128xi1>) -> tensor<32x128xf32> {
  %zero = arith.constant dense<0> : tensor<128xi32>
  %half = arith.constant dense<64> : tensor<128xi32>
  %column = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %left = arith.cmpi slt, %column, %half : tensor<128xi32>
  %some = arith.select %left, %column, %zero : tensor<128xi1>, tensor<128xi32>
  %row = tt.expand_dims %some {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %long = arith.extsi %row : tensor<1x128xi32> to tensor<1x128xi64>
  %columns = tt.broadcast %long : tensor<1x128xi64> -> tensor<32x128xi64>
  %offsets = arith.addi %rows, %columns : tensor<32x128xi64>
  %lefts = tt.expand_dims %left {axis = 0 : i32} : tensor<128xi1> -> tensor<1x128xi1>
  %all_left = tt.broadcast %lefts : tensor<1x128xi1> -> tensor<32x128xi1>
  %mask = arith.andi %inside, %all_left : tensor<32x128xi1>
  %pointers = tt.splat %base : !tt.ptr<f32> -> tensor<32x128x!tt.ptr<f32>>
  %p = tt.addptr %pointers, %offsets : tensor<32x128x!tt.ptr<f32>>, tensor<32x128xi64>
  %v = tt.load %p, %mask : tensor<32x128x!tt.ptr<f32>>
  tt.return %v : tensor<32x128xf32>
}

// -----

// The mask says it of rows, the select asks it of columns.
// CHECK-LABEL: @other_dimension
//       CHECK:   arith.select
tt.func @other_dimension(%base: !tt.ptr<f32>) -> tensor<128x128xf32> {
  %zero = arith.constant dense<0> : tensor<128xi32>
  %half = arith.constant dense<64> : tensor<128xi32>
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %left = arith.cmpi slt, %range, %half : tensor<128xi32>
  %some = arith.select %left, %range, %zero : tensor<128xi1>, tensor<128xi32>
  %row = tt.expand_dims %some {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %columns = tt.broadcast %row : tensor<1x128xi32> -> tensor<128x128xi32>
  %tops = tt.expand_dims %left {axis = 1 : i32} : tensor<128xi1> -> tensor<128x1xi1>
  %mask = tt.broadcast %tops : tensor<128x1xi1> -> tensor<128x128xi1>
  %pointers = tt.splat %base : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>>
  %p = tt.addptr %pointers, %columns : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
  %v = tt.load %p, %mask : tensor<128x128x!tt.ptr<f32>>
  tt.return %v : tensor<128x128xf32>
}

// -----

// The select keeps zero away from a division.
// CHECK-LABEL: @divisor
//       CHECK:   %[[SAFE:.*]] = arith.select
//       CHECK:   arith.divsi %{{.*}}, %[[SAFE]]
tt.func @divisor(%base: !tt.ptr<f32>, %n: tensor<64xi32>, %inside: tensor<64xi1>) -> tensor<64xf32> {
  %one = arith.constant dense<1> : tensor<64xi32>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %some = arith.select %inside, %n, %one : tensor<64xi1>, tensor<64xi32>
  %place = arith.divsi %range, %some : tensor<64xi32>
  %pointers = tt.splat %base : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %pointers, %place : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p, %inside : tensor<64x!tt.ptr<f32>>
  tt.return %v : tensor<64xf32>
}

// -----

// The other load needs the select, so nothing would be spared.
// CHECK-LABEL: @also_unmasked
//       CHECK:   %[[SOME:.*]] = arith.select
//       CHECK:   %[[P:.*]] = tt.addptr %{{.*}}, %[[SOME]]
//   CHECK-NOT:   tt.addptr
//       CHECK:   tt.load %[[P]], %{{.*}}
//       CHECK:   tt.load %[[P]] :
tt.func @also_unmasked(%base: !tt.ptr<f32>, %n: tensor<64xi32>, %inside: tensor<64xi1>)
    -> (tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %some = arith.select %inside, %n, %zero : tensor<64xi1>, tensor<64xi32>
  %pointers = tt.splat %base : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %pointers, %some : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p, %inside : tensor<64x!tt.ptr<f32>>
  %w = tt.load %p : tensor<64x!tt.ptr<f32>>
  tt.return %v, %w : tensor<64xf32>, tensor<64xf32>
}

// -----

// The mask bounds the index by a number of 32 bits, so both are divided in 32 bits, and a quotient of the quotient too.
// CHECK-LABEL: @place
//       CHECK:   %[[INDEX:.*]] = arith.addi %{{.*}} : tensor<256xi64>
//       CHECK:   %[[SHORT:.*]] = arith.trunci %[[INDEX]] : tensor<256xi64> to tensor<256xi32>
//       CHECK:   %[[ROW:.*]] = arith.divsi %[[SHORT]], %{{.*}} : tensor<256xi32>
//       CHECK:   arith.remsi %[[ROW]], %{{.*}} : tensor<256xi32>
//   CHECK-NOT:   arith.{{divsi|remsi}} {{.*}}i64
//       CHECK:   tt.return
tt.func @place(%base: !tt.ptr<f32>, %n: i32, %width: i32, %height: i32) -> tensor<256xf32> {
  %block = arith.constant 256 : i64
  %pid = tt.get_program_id x : i32
  %long = arith.extsi %pid : i32 to i64
  %start = arith.muli %long, %block : i64
  %starts = tt.splat %start : i64 -> tensor<256xi64>
  %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %places = arith.extsi %range : tensor<256xi32> to tensor<256xi64>
  %index = arith.addi %starts, %places : tensor<256xi64>
  %n64 = arith.extsi %n : i32 to i64
  %ns = tt.splat %n64 : i64 -> tensor<256xi64>
  %inside = arith.cmpi slt, %index, %ns : tensor<256xi64>
  %width64 = arith.extsi %width : i32 to i64
  %widths = tt.splat %width64 : i64 -> tensor<256xi64>
  %height64 = arith.extsi %height : i32 to i64
  %heights = tt.splat %height64 : i64 -> tensor<256xi64>
  %rows = arith.divsi %index, %widths : tensor<256xi64>
  %row = arith.remsi %rows, %heights : tensor<256xi64>
  %pointers = tt.splat %base : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %p = tt.addptr %pointers, %row : tensor<256x!tt.ptr<f32>>, tensor<256xi64>
  %v = tt.load %p, %inside : tensor<256x!tt.ptr<f32>>
  tt.return %v : tensor<256xf32>
}

// -----

// The bound has 64 bits; the index may be negative; or others see the quotient.
// CHECK-LABEL: @long_bound
//       CHECK:   arith.divsi {{.*}} : tensor<256xi64>
tt.func @long_bound(%pointers: tensor<256x!tt.ptr<f32>>, %n: tensor<256xi64>, %width: i32) -> tensor<256xf32> {
  %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %index = arith.extsi %range : tensor<256xi32> to tensor<256xi64>
  %inside = arith.cmpi slt, %index, %n : tensor<256xi64>
  %width64 = arith.extsi %width : i32 to i64
  %widths = tt.splat %width64 : i64 -> tensor<256xi64>
  %row = arith.divsi %index, %widths : tensor<256xi64>
  %p = tt.addptr %pointers, %row : tensor<256x!tt.ptr<f32>>, tensor<256xi64>
  %v = tt.load %p, %inside : tensor<256x!tt.ptr<f32>>
  tt.return %v : tensor<256xf32>
}
// CHECK-LABEL: @negative
//       CHECK:   arith.divsi {{.*}} : tensor<256xi64>
tt.func @negative(%pointers: tensor<256x!tt.ptr<f32>>, %index: tensor<256xi64>, %width: i32) -> tensor<256xf32> {
  %n = arith.constant dense<4096> : tensor<256xi64>
  %inside = arith.cmpi slt, %index, %n : tensor<256xi64>
  %width64 = arith.extsi %width : i32 to i64
  %widths = tt.splat %width64 : i64 -> tensor<256xi64>
  %row = arith.divsi %index, %widths : tensor<256xi64>
  %p = tt.addptr %pointers, %row : tensor<256x!tt.ptr<f32>>, tensor<256xi64>
  %v = tt.load %p, %inside : tensor<256x!tt.ptr<f32>>
  tt.return %v : tensor<256xf32>
}
// CHECK-LABEL: @returned
//       CHECK:   %[[ROW:.*]] = arith.divsi {{.*}} : tensor<256xi64>
//       CHECK:   tt.return %{{.*}}, %[[ROW]]
tt.func @returned(%pointers: tensor<256x!tt.ptr<f32>>, %start: tensor<256xi64>, %width: i32)
    -> (tensor<256xf32>, tensor<256xi64>) {
  %zero = arith.constant dense<0> : tensor<256xi64>
  %n = arith.constant dense<4096> : tensor<256xi64>
  %index = arith.maxsi %start, %zero : tensor<256xi64>
  %inside = arith.cmpi sgt, %n, %index : tensor<256xi64>
  %width64 = arith.extsi %width : i32 to i64
  %widths = tt.splat %width64 : i64 -> tensor<256xi64>
  %row = arith.divsi %index, %widths : tensor<256xi64>
  %p = tt.addptr %pointers, %row : tensor<256x!tt.ptr<f32>>, tensor<256xi64>
  %v = tt.load %p, %inside : tensor<256x!tt.ptr<f32>>
  tt.return %v, %row : tensor<256xf32>, tensor<256xi64>
}
