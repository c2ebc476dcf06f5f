// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --convert-tt-to-ttg="target=cuda:90 num-warps=4" --ttg-coalesce --ttg-remove-layout-conversions | FileCheck %s

// A loop looks for keys one by one, and what it finds is loaded as rows. By the encoding of these, eight lanes would
// each make the same loads for four keys, in each iteration. So what comes out of the loop is converted.
// CHECK-DAG: #[[ONE:.*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4]
// CHECK-DAG: #[[ROWS:.*]] = #ttg.blocked<{sizePerThread = [1, 8]
// CHECK-LABEL: @probes
//       CHECK: %[[FOUND:.*]] = scf.while
//       CHECK:   tt.load {{.*}} : tensor<64x!tt.ptr<i64>, #[[ONE]]>
//       CHECK:   scf.yield
//       CHECK: ttg.convert_layout %[[FOUND]] : tensor<64xi64, #[[ONE]]> -> tensor<64xi64, #ttg.slice<{dim = 1, parent = #[[ROWS]]}>>
//       CHECK: tt.load {{.*}} : tensor<64x64x!tt.ptr<bf16>, #[[ROWS]]>
tt.func @probes(%table: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %values: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %keys: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %out: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %ones = arith.constant dense<1> : tensor<64xi64>
  %columns = arith.constant dense<64> : tensor<64x1xi64>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %k = tt.splat %keys : !tt.ptr<i64> -> tensor<64x!tt.ptr<i64>>
  %kp = tt.addptr %k, %range : tensor<64x!tt.ptr<i64>>, tensor<64xi32>
  %key = tt.load %kp : tensor<64x!tt.ptr<i64>>
  %t = tt.splat %table : !tt.ptr<i64> -> tensor<64x!tt.ptr<i64>>
  %found = scf.while (%at = %key) : (tensor<64xi64>) -> tensor<64xi64> {
    %p = tt.addptr %t, %at : tensor<64x!tt.ptr<i64>>, tensor<64xi64>
    %other = tt.load %p : tensor<64x!tt.ptr<i64>>
    %differs = arith.cmpi ne, %other, %key : tensor<64xi64>
    %bits = arith.extui %differs : tensor<64xi1> to tensor<64xi32>
    %any = "tt.reduce"(%bits) <{axis = 0 : i32}> ({
    ^bb0(%x: i32, %y: i32):
      %or = arith.ori %x, %y : i32
      tt.reduce.return %or : i32
    }) : (tensor<64xi32>) -> i32
    %more = arith.cmpi ne, %any, %c0 : i32
    scf.condition(%more) %at : tensor<64xi64>
  } do {
  ^bb0(%at: tensor<64xi64>):
    %next = arith.addi %at, %ones : tensor<64xi64>
    scf.yield %next : tensor<64xi64>
  }
  %column = tt.expand_dims %found {axis = 1 : i32} : tensor<64xi64> -> tensor<64x1xi64>
  %begin = arith.muli %column, %columns : tensor<64x1xi64>
  %v = tt.splat %values : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %row = tt.addptr %v, %begin : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
  %rows = tt.broadcast %row : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x64x!tt.ptr<bf16>>
  %e = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %c = tt.broadcast %e : tensor<1x64xi32> -> tensor<64x64xi32>
  %q = tt.addptr %rows, %c : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
  %loaded = tt.load %q : tensor<64x64x!tt.ptr<bf16>>
  %o = tt.splat %out : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
  %s = tt.addptr %o, %c : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
  tt.store %s, %loaded : tensor<64x64x!tt.ptr<bf16>>
  tt.return
}
