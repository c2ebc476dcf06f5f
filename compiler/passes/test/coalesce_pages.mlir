// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-coalesce | FileCheck %s

// Sixteen neighbours of a page stand together, and a table has the places of pages. A mask leaves pages out, so that
// not all groups of sixteen have one page for sure. Where they have, lanes along a page ask for each sector once.
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.slice<{dim = 1, parent = #rows}>
// CHECK-DAG: #[[PAGE:.+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], {{.*}} order = [0, 1]}>
// CHECK-DAG: #[[ALONG:.+]] = #ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
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

// The stride along a page, of 64 bits and no multiple of 16, is 1 as a rule. So lanes lie along it, although another
// load of that shape has its neighbours in the other dimension. All of a page's numbers come from one place of the table.
// CHECK-LABEL: @beside_rows
// CHECK: tt.load {{.*}} : tensor<16x128x!tt.ptr<f16>, #[[WIDE:.+]]>
// CHECK: tt.load {{.*}} : tensor<16x128x!tt.ptr<f16>, #[[PAGE]]>
tt.func @beside_rows(%table: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %cache: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %at: tensor<16x128x!tt.ptr<f16>, #rows> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %of_page: i64 {tt.divisibility = 16 : i32}, %of_row: i64 {tt.divisibility = 16 : i32}, %of_token: i64, %n: i32) -> (tensor<16x128xf16, #rows>, tensor<16x128xf16, #rows>) {
  %x = tt.load %at : tensor<16x128x!tt.ptr<f16>, #rows>
  %c16 = arith.constant dense<16> : tensor<16xi32, #line>
  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #line>
  %ns = tt.splat %n : i32 -> tensor<16xi32, #line>
  %token = arith.addi %ns, %i : tensor<16xi32, #line>
  %number = arith.divsi %token, %c16 : tensor<16xi32, #line>
  %in_page = arith.remsi %token, %c16 : tensor<16xi32, #line>
  %tables = tt.splat %table : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>, #line>
  %place = tt.addptr %tables, %number : tensor<16x!tt.ptr<i32>, #line>, tensor<16xi32, #line>
  %page = tt.load %place : tensor<16x!tt.ptr<i32>, #line>
  %wide_page = arith.extsi %page : tensor<16xi32, #line> to tensor<16xi64, #line>
  %of_pages = tt.splat %of_page : i64 -> tensor<16xi64, #line>
  %start = arith.muli %wide_page, %of_pages : tensor<16xi64, #line>
  %wide_in_page = arith.extsi %in_page : tensor<16xi32, #line> to tensor<16xi64, #line>
  %of_tokens = tt.splat %of_token : i64 -> tensor<16xi64, #line>
  %in = arith.muli %wide_in_page, %of_tokens : tensor<16xi64, #line>
  %sum = arith.addi %start, %in : tensor<16xi64, #line>
  %j = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #rows}>>
  %wide_j = arith.extsi %j : tensor<128xi32, #ttg.slice<{dim = 0, parent = #rows}>> to tensor<128xi64, #ttg.slice<{dim = 0, parent = #rows}>>
  %of_rows = tt.splat %of_row : i64 -> tensor<128xi64, #ttg.slice<{dim = 0, parent = #rows}>>
  %row = arith.muli %wide_j, %of_rows : tensor<128xi64, #ttg.slice<{dim = 0, parent = #rows}>>
  %a1 = tt.expand_dims %sum {axis = 1 : i32} : tensor<16xi64, #line> -> tensor<16x1xi64, #rows>
  %b1 = tt.expand_dims %row {axis = 0 : i32} : tensor<128xi64, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x128xi64, #rows>
  %a = tt.broadcast %a1 : tensor<16x1xi64, #rows> -> tensor<16x128xi64, #rows>
  %b = tt.broadcast %b1 : tensor<1x128xi64, #rows> -> tensor<16x128xi64, #rows>
  %offsets = arith.addi %a, %b : tensor<16x128xi64, #rows>
  %caches = tt.splat %cache : !tt.ptr<f16> -> tensor<16x128x!tt.ptr<f16>, #rows>
  %from = tt.addptr %caches, %offsets : tensor<16x128x!tt.ptr<f16>, #rows>, tensor<16x128xi64, #rows>
  %v = tt.load %from : tensor<16x128x!tt.ptr<f16>, #rows>
  tt.return %x, %v : tensor<16x128xf16, #rows>, tensor<16x128xf16, #rows>
}
}
