// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-turn-scans | FileCheck %s

// Lanes along the axis hold 64 columns each. They hand out one bit of the columns, which takes a shuffle for two
// elements, and keep two neighbours of the axis: half as many totals are sent.
// CHECK-DAG:   #[[ROWS:.*]] = #ttg.blocked<
// CHECK-DAG:   #[[TURNED:.*]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0]], lane = {{\[\[}}0, 32], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [], block = []}>
// CHECK-LABEL: @halves
//       CHECK:   %[[X:.*]] = ttg.convert_layout %arg0 : tensor<32x64xi32, #[[ROWS]]> -> tensor<32x64xi32, #[[TURNED]]>
//       CHECK:   %[[S:.*]] = "tt.scan"(%[[X]]) <{axis = 0 : i32, reverse = false}>
//       CHECK:   %[[R:.*]] = ttg.convert_layout %[[S]] : tensor<32x64xi32, #[[TURNED]]> -> tensor<32x64xi32, #[[ROWS]]>
//       CHECK:   tt.return %[[R]]
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @halves(%x: tensor<32x64xi32, #rows>) -> tensor<32x64xi32, #rows> {
    %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.scan.return %c : i32
    }) : (tensor<32x64xi32, #rows>) -> tensor<32x64xi32, #rows>
    tt.return %s : tensor<32x64xi32, #rows>
  }
}

// -----

// Totals go to other warps, too: all lanes along the axis become lanes across it, and threads scan by themselves. The
// operand is made under the new encoding from what is smaller.
// CHECK:       #[[TURNED:.*]] = #ttg.linear<{register = {{\[\[}}0, 1], [16, 0], [8, 0], [4, 0], [2, 0], [1, 0], [128, 0]], lane = {{\[\[}}0, 32], [0, 16], [0, 8], [0, 4], [0, 2]], warp = {{\[\[}}32, 0], [64, 0]], block = []}>
// CHECK-LABEL: @many_rows
//       CHECK:   ttg.convert_layout %arg0 : tensor<256x1xi32, #{{.*}}> -> tensor<256x1xi32, #[[TURNED]]>
//       CHECK:   %[[X:.*]] = tt.broadcast %{{.*}} : tensor<256x1xi32, #[[TURNED]]> -> tensor<256x64xi32, #[[TURNED]]>
//       CHECK:   %[[S:.*]] = "tt.scan"(%[[X]]) <{axis = 0 : i32, reverse = false}>
//       CHECK:   ttg.convert_layout %[[S]] : tensor<256x64xi32, #[[TURNED]]> ->
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @many_rows(%x: tensor<256x1xi32, #rows>) -> tensor<256x64xi32, #rows> {
    %y = tt.broadcast %x : tensor<256x1xi32, #rows> -> tensor<256x64xi32, #rows>
    %s = "tt.scan"(%y) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.scan.return %c : i32
    }) : (tensor<256x64xi32, #rows>) -> tensor<256x64xi32, #rows>
    tt.return %s : tensor<256x64xi32, #rows>
  }
}

// -----

// A thread that holds four neighbours has few totals to send: conversions would cost more.
// CHECK-LABEL: @few_totals
//   CHECK-NOT:   ttg.convert_layout
#wide = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @few_totals(%x: tensor<16x128xf32, #wide>) -> tensor<16x128xf32, #wide> {
    %s = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }) : (tensor<16x128xf32, #wide>) -> tensor<16x128xf32, #wide>
    tt.return %s : tensor<16x128xf32, #wide>
  }
}

// -----

// A thread without other rows has nothing to exchange.
// CHECK-LABEL: @one_row
//   CHECK-NOT:   ttg.convert_layout
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @one_row(%x: tensor<128xf32, #line>) -> tensor<128xf32, #line> {
    %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }) : (tensor<128xf32, #line>) -> tensor<128xf32, #line>
    tt.return %s : tensor<128xf32, #line>
  }
}

// -----

// The scan along lanes above two warps, with results of which one is not used: turned with all its operands.
// CHECK-DAG:   #[[TURNED:.*]] = #ttg.linear<
// CHECK-LABEL: @pairs
//       CHECK:   %[[S:.*]]:2 = "tt.scan"(%{{.*}}, %{{.*}}) <{axis = 0 : i32, reverse = true}>
//       CHECK:   (tensor<64x32xi32, #[[TURNED]]>, tensor<64x32xf32, #[[TURNED]]>)
//       CHECK:   ttg.convert_layout %[[S]]#1
//       CHECK:   tt.return
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [2, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @pairs(%x: tensor<64x32xi32, #rows>, %y: tensor<64x32xf32, #rows>) -> tensor<64x32xf32, #rows> {
    %s:2 = "tt.scan"(%x, %y) <{axis = 0 : i32, reverse = true}> ({
    ^bb0(%a: i32, %b: f32, %c: i32, %d: f32):
      %e = arith.addi %a, %c : i32
      %f = arith.addf %b, %d : f32
      tt.scan.return %e, %f : i32, f32
    }) : (tensor<64x32xi32, #rows>, tensor<64x32xf32, #rows>) -> (tensor<64x32xi32, #rows>, tensor<64x32xf32, #rows>)
    tt.return %s#1 : tensor<64x32xf32, #rows>
  }
}

// -----

// A thread has eight positions of one row that are far from each other. In the order of the axis it holds neighbours,
// which take no shuffles.
//       CHECK: #[[IN_ORDER:.*]] = #ttg.linear<{register = {{\[}}[1], [2], [4]], lane = {{\[}}[8], [16], [32], [64], [128]], warp = {{\[}}[256], [512]], block = []}>
// CHECK-LABEL: @one_row
//       CHECK:   %[[IN:.*]] = ttg.convert_layout %{{.*}} : {{.*}} -> tensor<1024xi32, #[[IN_ORDER]]>
//       CHECK:   tt.scan{{.*}}(%[[IN]])
//       CHECK:   ttg.convert_layout {{.*}} : tensor<1024xi32, #[[IN_ORDER]]> ->
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func @one_row(%x: tensor<1024xi32, #b>) -> tensor<1024xi32, #b> {
  %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: i32, %c: i32):
    %m = arith.minsi %a, %c : i32
    tt.scan.return %m : i32
  }) : (tensor<1024xi32, #b>) -> tensor<1024xi32, #b>
  tt.return %s : tensor<1024xi32, #b>
}
}

// -----

// With one position a thread there is nothing to put in order.
// CHECK-LABEL: @one_position
//   CHECK-NOT:   ttg.convert_layout
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func @one_position(%x: tensor<128xi32, #b>) -> tensor<128xi32, #b> {
  %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: i32, %c: i32):
    %m = arith.minsi %a, %c : i32
    tt.scan.return %m : i32
  }) : (tensor<128xi32, #b>) -> tensor<128xi32, #b>
  tt.return %s : tensor<128xi32, #b>
}
}

// -----

// A mask is counted in words of 64 bits. Each takes two instructions, and two shuffles. The mask moves as bytes to where
// threads hold neighbours, and the counts move back.
// CHECK-DAG:   #[[PAIRS:.*]] = #ttg.blocked<
// CHECK-DAG:   #[[ORDERED:.*]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = {{\[\[}}0, 128], [0, 256], [0, 512], [0, 1024]], block = []}>
// CHECK-LABEL: @counts
//       CHECK:   %[[M:.*]] = ttg.convert_layout %arg0 : tensor<1x2048xi1, #[[PAIRS]]> -> tensor<1x2048xi1, #[[ORDERED]]>
//       CHECK:   %[[X:.*]] = arith.extui %[[M]]
//       CHECK:   %[[S:.*]] = "tt.scan"(%[[X]])
//       CHECK:   ttg.convert_layout %[[S]]
#pairs = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [1, 16], order = [1, 0]}>
module attributes {"ttg.num-warps" = 16 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @counts(%mask: tensor<1x2048xi1, #pairs>) -> tensor<1x2048xi64, #pairs> {
    %x = arith.extui %mask : tensor<1x2048xi1, #pairs> to tensor<1x2048xi64, #pairs>
    %s = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%a: i64, %b: i64):
      %c = arith.addi %a, %b : i64
      tt.scan.return %c : i64
    }) : (tensor<1x2048xi64, #pairs>) -> tensor<1x2048xi64, #pairs>
    tt.return %s : tensor<1x2048xi64, #pairs>
  }
}
