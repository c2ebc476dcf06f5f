// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-remove-layout-conversions | FileCheck %s

// Eight registers of a thread hold the same row of a column, and get it from one instruction. So a mask of rows that
// two loads need under their own encodings is computed under both.
// CHECK-LABEL: @mask_of_rows
//   CHECK-NOT:   ttg.convert_layout
#wide = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
#narrow = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @mask_of_rows(%p: tensor<64x64x!tt.ptr<f16>, #wide>, %q: tensor<64x32x!tt.ptr<f16>, #narrow>, %r: tensor<64x64x!tt.ptr<f16>, #wide>, %s: tensor<64x32x!tt.ptr<f16>, #narrow>, %n: i32, %from: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #narrow}>>
    %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #narrow}>> -> tensor<64x1xi32, #narrow>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %low = arith.addi %i, %from : i32
      %high = arith.addi %i, %n : i32
      %lows = tt.splat %low : i32 -> tensor<64x1xi32, #narrow>
      %highs = tt.splat %high : i32 -> tensor<64x1xi32, #narrow>
      %above = arith.cmpi sge, %rows, %lows : tensor<64x1xi32, #narrow>
      %below = arith.cmpi slt, %rows, %highs : tensor<64x1xi32, #narrow>
      %inside = arith.andi %above, %below : tensor<64x1xi1, #narrow>
      %other = ttg.convert_layout %inside : tensor<64x1xi1, #narrow> -> tensor<64x1xi1, #wide>
      %mask = tt.broadcast %other : tensor<64x1xi1, #wide> -> tensor<64x64xi1, #wide>
      %own = tt.broadcast %inside : tensor<64x1xi1, #narrow> -> tensor<64x32xi1, #narrow>
      %x = tt.load %p, %mask : tensor<64x64x!tt.ptr<f16>, #wide>
      %y = tt.load %q, %own : tensor<64x32x!tt.ptr<f16>, #narrow>
      tt.store %r, %x : tensor<64x64x!tt.ptr<f16>, #wide>
      tt.store %s, %y : tensor<64x32x!tt.ptr<f16>, #narrow>
    }
    tt.return
  }
}
