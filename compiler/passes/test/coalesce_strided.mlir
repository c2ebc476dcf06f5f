// RUN: triton-opt %s --ttg-coalesce | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[PAIRS:.+]] = #ttg.blocked<{sizePerThread = [2]
// CHECK-DAG: #[[ONE:.+]] = #ttg.blocked<{sizePerThread = [1]
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {

// Every third element: neighbouring lanes write neighbouring ones of them. The load beside it is as wide as it can be.
// CHECK-LABEL: @every_third
// CHECK: tt.load {{.*}} : tensor<256x!tt.ptr<f16>, #[[PAIRS]]>
// CHECK: tt.store {{.*}} : tensor<256x!tt.ptr<f16>, #[[ONE]]>
tt.func @every_third(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>, #b>
  %from = tt.addptr %ps, %r : tensor<256x!tt.ptr<f16>, #b>, tensor<256xi32, #b>
  %v = tt.load %from : tensor<256x!tt.ptr<f16>, #b>
  %c3 = arith.constant dense<3> : tensor<256xi32, #b>
  %third = arith.muli %r, %c3 : tensor<256xi32, #b>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>, #b>
  %to = tt.addptr %qs, %third : tensor<256x!tt.ptr<f16>, #b>, tensor<256xi32, #b>
  tt.store %to, %v : tensor<256x!tt.ptr<f16>, #b>
  tt.return
}

// Addresses that come from memory may be near each other, too: the places of elements that another kernel counted.
// CHECK-LABEL: @scatter
// CHECK: tt.load {{.*}} : tensor<256x!tt.ptr<f16>, #[[PAIRS]]>
// CHECK: tt.store {{.*}} : tensor<256x!tt.ptr<f16>, #[[ONE]]>
tt.func @scatter(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %i: !tt.ptr<i32>, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>, #b>
  %from = tt.addptr %ps, %r : tensor<256x!tt.ptr<f16>, #b>, tensor<256xi32, #b>
  %v = tt.load %from : tensor<256x!tt.ptr<f16>, #b>
  %is = tt.splat %i : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #b>
  %ip = tt.addptr %is, %r : tensor<256x!tt.ptr<i32>, #b>, tensor<256xi32, #b>
  %index = tt.load %ip : tensor<256x!tt.ptr<i32>, #b>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>, #b>
  %to = tt.addptr %qs, %index : tensor<256x!tt.ptr<f16>, #b>, tensor<256xi32, #b>
  tt.store %to, %v : tensor<256x!tt.ptr<f16>, #b>
  tt.return
}

// Places of elements that are kept: neighbours go near each other, whatever is scanned.
// CHECK-LABEL: @compaction
// CHECK: tt.load {{.*}} : tensor<256x!tt.ptr<f16>, #[[PAIRS]]>
// CHECK: tt.store {{.*}} : tensor<256x!tt.ptr<f16>, #[[ONE]]>
tt.func @compaction(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %start: !tt.ptr<i32>) {
  %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>, #b>
  %from = tt.addptr %ps, %r : tensor<256x!tt.ptr<f16>, #b>, tensor<256xi32, #b>
  %v = tt.load %from : tensor<256x!tt.ptr<f16>, #b>
  %zero = arith.constant dense<0.0> : tensor<256xf16, #b>
  %is_kept = arith.cmpf ogt, %v, %zero : tensor<256xf16, #b>
  %kept = arith.extui %is_kept : tensor<256xi1, #b> to tensor<256xi32, #b>
  %sums = "tt.scan"(%kept) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%x: i32, %y: i32):
    %z = arith.addi %x, %y : i32
    tt.scan.return %z : i32
  }) : (tensor<256xi32, #b>) -> tensor<256xi32, #b>
  %rank = arith.subi %sums, %kept : tensor<256xi32, #b>
  %first = tt.load %start : !tt.ptr<i32>
  %firsts = tt.splat %first : i32 -> tensor<256xi32, #b>
  %place = arith.addi %firsts, %rank : tensor<256xi32, #b>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>, #b>
  %to = tt.addptr %qs, %place : tensor<256x!tt.ptr<f16>, #b>, tensor<256xi32, #b>
  tt.store %to, %v, %is_kept : tensor<256x!tt.ptr<f16>, #b>
  tt.return
}
}
