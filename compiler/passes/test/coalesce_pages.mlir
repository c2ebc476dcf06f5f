// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-coalesce | FileCheck %s

// Sixteen neighbours of a page stand together, and a table has the places of pages. A mask leaves pages out, so that
// not all groups of sixteen have one page for sure. Where they have, lanes along a page ask for each sector once.
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.slice<{dim = 1, parent = #rows}>
// CHECK: #[[ALONG:.+]] = #ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @page_table
// CHECK: tt.load {{.*}} : tensor<64x128x!tt.ptr<f16>, #[[ALONG]]>
tt.func @page_table(%table: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %cache: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<64x128xf16, #rows> {
  %c16 = arith.constant dense<16> : tensor<64xi32, #line>
  %page_size = arith.constant dense<2048> : tensor<64xi32, #line>
  %pitch = arith.constant dense<16> : tensor<1x128xi32, #rows>
  %none = arith.constant dense<0> : tensor<64xi32, #line>
  %zero = arith.constant dense<0.0> : tensor<64x128xf16, #rows>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #line>
  %j = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #rows}>>
  %ns = tt.splat %n : i32 -> tensor<64xi32, #line>
  %inside = arith.cmpi slt, %i, %ns : tensor<64xi32, #line>
  %number = arith.divsi %i, %c16 : tensor<64xi32, #line>
  %tables = tt.splat %table : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #line>
  %at = tt.addptr %tables, %number : tensor<64x!tt.ptr<i32>, #line>, tensor<64xi32, #line>
  %page = tt.load %at, %inside, %none : tensor<64x!tt.ptr<i32>, #line>
  %start = arith.muli %page, %page_size : tensor<64xi32, #line>
  %in_page = arith.remsi %i, %c16 : tensor<64xi32, #line>
  %of_rows = arith.addi %start, %in_page : tensor<64xi32, #line>
  %column = tt.expand_dims %of_rows {axis = 1 : i32} : tensor<64xi32, #line> -> tensor<64x1xi32, #rows>
  %row = tt.expand_dims %j {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x128xi32, #rows>
  %along = arith.muli %row, %pitch : tensor<1x128xi32, #rows>
  %a = tt.broadcast %column : tensor<64x1xi32, #rows> -> tensor<64x128xi32, #rows>
  %b = tt.broadcast %along : tensor<1x128xi32, #rows> -> tensor<64x128xi32, #rows>
  %offsets = arith.addi %a, %b : tensor<64x128xi32, #rows>
  %caches = tt.splat %cache : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>, #rows>
  %from = tt.addptr %caches, %offsets : tensor<64x128x!tt.ptr<f16>, #rows>, tensor<64x128xi32, #rows>
  %m1 = tt.expand_dims %inside {axis = 1 : i32} : tensor<64xi1, #line> -> tensor<64x1xi1, #rows>
  %m = tt.broadcast %m1 : tensor<64x1xi1, #rows> -> tensor<64x128xi1, #rows>
  %v = tt.load %from, %m, %zero : tensor<64x128x!tt.ptr<f16>, #rows>
  tt.return %v : tensor<64x128xf16, #rows>
}
}
