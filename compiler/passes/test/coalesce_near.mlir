// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-coalesce | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#v = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#r = #ttg.slice<{dim = 1, parent = #b}>
#c = #ttg.slice<{dim = 0, parent = #b}>
#left = #ttg.dot_op<{opIdx = 0, parent = #b}>
#right = #ttg.dot_op<{opIdx = 1, parent = #b}>
// CHECK-DAG: #[[DOWN:.+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], {{.*}} order = [0, 1]
// CHECK-DAG: #[[ALONG:.+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], {{.*}} order = [1, 0]
// CHECK-DAG: #[[COLUMNS:.+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]
// CHECK-DAG: #[[ROWS:.+]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8]
// CHECK-DAG: #[[GROUPS:.+]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32]
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {

// Pixels of images, whose rows have %w of them, in rows; channels, that are %s apart, in columns. Nothing is known of
// %w, so no two pixels are sure to be neighbours. Most are.
// CHECK-LABEL: @pixels
// CHECK: tt.load {{.*}} : tensor<128x32x!tt.ptr<f16>, #[[DOWN]]>
tt.func @pixels(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %w: i32, %s: i32, %t: i32) -> tensor<128x32xf16, #b> {
  %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #r>
  %ws = tt.splat %w : i32 -> tensor<128xi32, #r>
  %x = arith.remsi %i, %ws : tensor<128xi32, #r>
  %y = arith.divsi %i, %ws : tensor<128xi32, #r>
  %ts = tt.splat %t : i32 -> tensor<128xi32, #r>
  %row = arith.muli %y, %ts : tensor<128xi32, #r>
  %pixel = arith.addi %x, %row : tensor<128xi32, #r>
  %pixels = tt.expand_dims %pixel {axis = 1 : i32} : tensor<128xi32, #r> -> tensor<128x1xi32, #b>
  %c = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #c>
  %ss = tt.splat %s : i32 -> tensor<32xi32, #c>
  %channel = arith.muli %c, %ss : tensor<32xi32, #c>
  %channels = tt.expand_dims %channel {axis = 0 : i32} : tensor<32xi32, #c> -> tensor<1x32xi32, #b>
  %a = tt.broadcast %pixels : tensor<128x1xi32, #b> -> tensor<128x32xi32, #b>
  %d = tt.broadcast %channels : tensor<1x32xi32, #b> -> tensor<128x32xi32, #b>
  %at = arith.addi %a, %d : tensor<128x32xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>, #b>
  %q = tt.addptr %ps, %at : tensor<128x32x!tt.ptr<f16>, #b>, tensor<128x32xi32, #b>
  %v = tt.load %q : tensor<128x32x!tt.ptr<f16>, #b>
  tt.return %v : tensor<128x32xf16, #b>
}

// Rows at loaded indices: how far apart these are nobody knows. Every order is as good.
// CHECK-LABEL: @loaded_rows
// CHECK: tt.load {{.*}} : tensor<128x32x!tt.ptr<f16>, #[[ALONG]]>
tt.func @loaded_rows(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %index: tensor<128xi32, #r>, %s: i32) -> tensor<128x32xf16, #b> {
  %rows = tt.expand_dims %index {axis = 1 : i32} : tensor<128xi32, #r> -> tensor<128x1xi32, #b>
  %c = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #c>
  %ss = tt.splat %s : i32 -> tensor<32xi32, #c>
  %channel = arith.muli %c, %ss : tensor<32xi32, #c>
  %channels = tt.expand_dims %channel {axis = 0 : i32} : tensor<32xi32, #c> -> tensor<1x32xi32, #b>
  %a = tt.broadcast %rows : tensor<128x1xi32, #b> -> tensor<128x32xi32, #b>
  %d = tt.broadcast %channels : tensor<1x32xi32, #b> -> tensor<128x32xi32, #b>
  %at = arith.addi %a, %d : tensor<128x32xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>, #b>
  %q = tt.addptr %ps, %at : tensor<128x32x!tt.ptr<f16>, #b>, tensor<128x32xi32, #b>
  %v = tt.load %q : tensor<128x32x!tt.ptr<f16>, #b>
  tt.return %v : tensor<128x32xf16, #b>
}

// A mask of which nothing is known makes loads scalar. Groups of 32 are reduced, of which a thread takes four elements.
// CHECK-LABEL: @groups
// CHECK: tt.load {{.*}} : tensor<2048x!tt.ptr<f32>, #[[GROUPS]]>
tt.func @groups(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %mask: tensor<2048xi1, #v>) -> tensor<64xf32, #r> {
  %i = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32, #v>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>, #v>
  %q = tt.addptr %ps, %i : tensor<2048x!tt.ptr<f32>, #v>, tensor<2048xi32, #v>
  %x = tt.load %q, %mask : tensor<2048x!tt.ptr<f32>, #v>
  %y = tt.reshape %x : tensor<2048xf32, #v> -> tensor<64x32xf32, #b>
  %m = "tt.reduce"(%y) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %h: f32):
    %g = arith.maxnumf %l, %h : f32
    tt.reduce.return %g : f32
  }) : (tensor<64x32xf32, #b>) -> tensor<64xf32, #r>
  tt.return %m : tensor<64xf32, #r>
}

// The first factor lies in columns of loaded length, of which no two elements are sure to be neighbours, the second in
// rows. Both go to a dot alone, and so are converted anyway. Each keeps the order that asks for fewest sectors.
// CHECK-LABEL: @factors
// CHECK: tt.load {{.*}} : tensor<32x32x!tt.ptr<f32>, #[[COLUMNS]]>
// CHECK: tt.load {{.*}} : tensor<32x32x!tt.ptr<f32>, #[[ROWS]]>
tt.func @factors(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %sizes: !tt.ptr<i32>, %q: tensor<32x32x!tt.ptr<f32>, #b> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %c: tensor<32x32xf32, #b>) -> tensor<32x32xf32, #b> {
  %m = tt.load %sizes : !tt.ptr<i32>
  %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #r>
  %ms = tt.splat %m : i32 -> tensor<32xi32, #r>
  %x = arith.remsi %i, %ms : tensor<32xi32, #r>
  %rows = tt.expand_dims %x {axis = 1 : i32} : tensor<32xi32, #r> -> tensor<32x1xi32, #b>
  %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #c>
  %mk = tt.splat %m : i32 -> tensor<32xi32, #c>
  %column = arith.muli %k, %mk : tensor<32xi32, #c>
  %columns = tt.expand_dims %column {axis = 0 : i32} : tensor<32xi32, #c> -> tensor<1x32xi32, #b>
  %a = tt.broadcast %rows : tensor<32x1xi32, #b> -> tensor<32x32xi32, #b>
  %d = tt.broadcast %columns : tensor<1x32xi32, #b> -> tensor<32x32xi32, #b>
  %at = arith.addi %a, %d : tensor<32x32xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #b>
  %pa = tt.addptr %ps, %at : tensor<32x32x!tt.ptr<f32>, #b>, tensor<32x32xi32, #b>
  %v = tt.load %pa : tensor<32x32x!tt.ptr<f32>, #b>
  %w = tt.load %q : tensor<32x32x!tt.ptr<f32>, #b>
  %va = ttg.convert_layout %v : tensor<32x32xf32, #b> -> tensor<32x32xf32, #left>
  %wb = ttg.convert_layout %w : tensor<32x32xf32, #b> -> tensor<32x32xf32, #right>
  %s = tt.dot %va, %wb, %c : tensor<32x32xf32, #left> * tensor<32x32xf32, #right> -> tensor<32x32xf32, #b>
  tt.return %s : tensor<32x32xf32, #b>
}


// A load is contiguous along rows, a store near along columns: an image's pixels become neighbours. A conversion costs
// less than a sector for each element.
// CHECK-LABEL: @transposed
// CHECK: tt.load {{.*}} : tensor<32x32x!tt.ptr<f16>, #[[PAIRS:.+]]>
// CHECK: tt.store {{.*}} : tensor<32x32x!tt.ptr<f16>, #[[COLUMNS]]>
tt.func @transposed(%p: tensor<32x32x!tt.ptr<f16>, #b> {tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %q: !tt.ptr<f16>, %n: i32) {
  %v = tt.load %p : tensor<32x32x!tt.ptr<f16>, #b>
  %c129 = arith.constant dense<129> : tensor<32xi32, #r>
  %c772065 = arith.constant dense<772065> : tensor<32xi32, #r>
  %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #r>
  %ns = tt.splat %n : i32 -> tensor<32xi32, #r>
  %channel = arith.addi %i, %ns : tensor<32xi32, #r>
  %in_image = arith.remsi %channel, %c129 : tensor<32xi32, #r>
  %image = arith.divsi %channel, %c129 : tensor<32xi32, #r>
  %start = arith.muli %image, %c772065 : tensor<32xi32, #r>
  %a = arith.addi %in_image, %start : tensor<32xi32, #r>
  %b129 = arith.constant dense<129> : tensor<32xi32, #c>
  %j = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #c>
  %b = arith.muli %j, %b129 : tensor<32xi32, #c>
  %a1 = tt.expand_dims %a {axis = 1 : i32} : tensor<32xi32, #r> -> tensor<32x1xi32, #b>
  %b1 = tt.expand_dims %b {axis = 0 : i32} : tensor<32xi32, #c> -> tensor<1x32xi32, #b>
  %a2 = tt.broadcast %a1 : tensor<32x1xi32, #b> -> tensor<32x32xi32, #b>
  %b2 = tt.broadcast %b1 : tensor<1x32xi32, #b> -> tensor<32x32xi32, #b>
  %offsets = arith.addi %a2, %b2 : tensor<32x32xi32, #b>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>, #b>
  %to = tt.addptr %qs, %offsets : tensor<32x32x!tt.ptr<f16>, #b>, tensor<32x32xi32, #b>
  tt.store %to, %v : tensor<32x32x!tt.ptr<f16>, #b>
  tt.return
}

// Each column has one number. Neighbours along it ask for one sector, so lanes may lie as those of the other load.
// CHECK-LABEL: @one_for_all
// CHECK: tt.load {{.*}} : tensor<64x8x!tt.ptr<f32>, #[[TALL:.+]]>
// CHECK: tt.load {{.*}} : tensor<64x8x!tt.ptr<f32>, #[[TALL]]>
tt.func @one_for_all(%p: tensor<64x8x!tt.ptr<f32>, #b> {tt.contiguity = dense<[64, 1]> : tensor<2xi32>, tt.divisibility = dense<[16, 1]> : tensor<2xi32>}, %q: !tt.ptr<f32>, %n: i32) -> (tensor<64x8xf32, #b>, tensor<64x8xf32, #b>) {
  %x = tt.load %p : tensor<64x8x!tt.ptr<f32>, #b>
  %rows = arith.constant dense<6304> : tensor<8xi32, #c>
  %j = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32, #c>
  %ns = tt.splat %n : i32 -> tensor<8xi32, #c>
  %k = arith.addi %j, %ns : tensor<8xi32, #c>
  %row = arith.remsi %k, %rows : tensor<8xi32, #c>
  %row1 = tt.expand_dims %row {axis = 0 : i32} : tensor<8xi32, #c> -> tensor<1x8xi32, #b>
  %row2 = tt.broadcast %row1 : tensor<1x8xi32, #b> -> tensor<64x8xi32, #b>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<64x8x!tt.ptr<f32>, #b>
  %at = tt.addptr %qs, %row2 : tensor<64x8x!tt.ptr<f32>, #b>, tensor<64x8xi32, #b>
  %y = tt.load %at : tensor<64x8x!tt.ptr<f32>, #b>
  tt.return %x, %y : tensor<64x8xf32, #b>, tensor<64x8xf32, #b>
}
}
