// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-insert-barriers | FileCheck %s
// Loops that only store, by numbers that they make of what they count: where these are near each other, another thread
// may have been there before.

#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#tile = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-warps" = 4 : i32} {
  // CHECK-LABEL: tt.func public @near
  // CHECK: ttg.barrier
  // CHECK-NEXT: tt.store
  // CHECK: tt.return
  tt.func public @near(%q: !tt.ptr<f32>, %x: tensor<128xf32, #one>, %n: i32) {
    %zero = arith.constant 0 : i32
    %next = arith.constant 1 : i32
    %bits = arith.constant 7 : i32
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    cf.br ^loop(%zero : i32)
  ^loop(%h: i32):
    %rest = arith.andi %h, %bits : i32
    %row = tt.addptr %q, %rest : !tt.ptr<f32>, i32
    %rows = tt.splat %row : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    %p = tt.addptr %rows, %columns : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %p, %x : tensor<128x!tt.ptr<f32>, #one>
    %h1 = arith.addi %h, %next : i32
    %more = arith.cmpi slt, %h1, %n : i32
    cf.cond_br %more, ^loop(%h1 : i32), ^end
  ^end:
    tt.return
  }

  // The same of tensors, beside a row of which some bits are kept.
  // CHECK-LABEL: tt.func public @near_of_tensors
  // CHECK: ttg.barrier
  // CHECK-NEXT: tt.store
  // CHECK: tt.return
  tt.func public @near_of_tensors(%q: !tt.ptr<f32>, %x: tensor<128xf32, #one>, %n: i32) {
    %zero = arith.constant 0 : i32
    %next = arith.constant 1 : i32
    %bits = arith.constant dense<7> : tensor<128xi32, #one>
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %some = arith.xori %columns, %bits : tensor<128xi32, #one>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    cf.br ^loop(%zero : i32)
  ^loop(%h: i32):
    %hs = tt.splat %h : i32 -> tensor<128xi32, #one>
    %rest = arith.remsi %hs, %bits : tensor<128xi32, #one>
    %at = arith.addi %rest, %some : tensor<128xi32, #one>
    %p = tt.addptr %qs, %at : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %p, %x : tensor<128x!tt.ptr<f32>, #one>
    %h1 = arith.addi %h, %next : i32
    %more = arith.cmpi slt, %h1, %n : i32
    cf.cond_br %more, ^loop(%h1 : i32), ^end
  ^end:
    tt.return
  }

  // A pointer that stays in some iterations.
  // CHECK-LABEL: tt.func public @at_times
  // CHECK: ttg.barrier
  // CHECK-NEXT: tt.store
  // CHECK: tt.return
  tt.func public @at_times(%q: !tt.ptr<f32>, %x: tensor<128xf32, #one>, %n: i32, %c: i1) {
    %zero = arith.constant 0 : i32
    %next = arith.constant 1 : i32
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    cf.br ^loop(%zero, %q : i32, !tt.ptr<f32>)
  ^loop(%h: i32, %row: !tt.ptr<f32>):
    %rows = tt.splat %row : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    %p = tt.addptr %rows, %columns : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %p, %x : tensor<128x!tt.ptr<f32>, #one>
    %h1 = arith.addi %h, %next : i32
    %further = tt.addptr %row, %next : !tt.ptr<f32>, i32
    %row1 = arith.select %c, %further, %row : !tt.ptr<f32>
    %more = arith.cmpi slt, %h1, %n : i32
    cf.cond_br %more, ^loop(%h1, %row1 : i32, !tt.ptr<f32>), ^end
  ^end:
    tt.return
  }

  // Buffers that take turns are as far apart as a row is long.
  // CHECK-LABEL: tt.func public @far
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func public @far(%q: !tt.ptr<f32>, %x: tensor<128xf32, #one>, %n: i32) {
    %zero = arith.constant 0 : i32
    %next = arith.constant 1 : i32
    %size = arith.constant 128 : i32
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    cf.br ^loop(%zero : i32)
  ^loop(%h: i32):
    %rest = arith.andi %h, %next : i32
    %begin = arith.muli %rest, %size : i32
    %row = tt.addptr %q, %begin : !tt.ptr<f32>, i32
    %rows = tt.splat %row : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    %p = tt.addptr %rows, %columns : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %p, %x : tensor<128x!tt.ptr<f32>, #one>
    %h1 = arith.addi %h, %next : i32
    %more = arith.cmpi slt, %h1, %n : i32
    cf.cond_br %more, ^loop(%h1 : i32), ^end
  ^end:
    tt.return
  }

  // Rows of 100 in tiles of 128 columns: masks keep them apart. Without, the last row of a tile meets the next tile.
  // CHECK-LABEL: tt.func public @rows
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.store
  // CHECK: ttg.barrier
  // CHECK-NEXT: tt.store
  // CHECK: tt.return
  tt.func public @rows(%q: !tt.ptr<f32>, %w: !tt.ptr<f32>, %x: tensor<4x128xf32, #tile>, %n: i32) {
    %zero = arith.constant 0 : i32
    %next = arith.constant 4 : i32
    %width = arith.constant dense<100> : tensor<4x1xi32, #tile>
    %end = arith.constant dense<100> : tensor<1x128xi32, #tile>
    %c = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #tile}>>
    %columns = tt.expand_dims %c {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #tile}>> -> tensor<1x128xi32, #tile>
    %r = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32, #ttg.slice<{dim = 1, parent = #tile}>>
    %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<4xi32, #ttg.slice<{dim = 1, parent = #tile}>> -> tensor<4x1xi32, #tile>
    %less = arith.cmpi slt, %columns, %end : tensor<1x128xi32, #tile>
    %mask = tt.broadcast %less : tensor<1x128xi1, #tile> -> tensor<4x128xi1, #tile>
    %all = tt.broadcast %columns : tensor<1x128xi32, #tile> -> tensor<4x128xi32, #tile>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<4x128x!tt.ptr<f32>, #tile>
    %ws = tt.splat %w : !tt.ptr<f32> -> tensor<4x128x!tt.ptr<f32>, #tile>
    cf.br ^loop(%zero : i32)
  ^loop(%h: i32):
    %hs = tt.splat %h : i32 -> tensor<4x1xi32, #tile>
    %row = arith.addi %rows, %hs : tensor<4x1xi32, #tile>
    %begin = arith.muli %row, %width : tensor<4x1xi32, #tile>
    %begins = tt.broadcast %begin : tensor<4x1xi32, #tile> -> tensor<4x128xi32, #tile>
    %at = arith.addi %begins, %all : tensor<4x128xi32, #tile>
    %p = tt.addptr %qs, %at : tensor<4x128x!tt.ptr<f32>, #tile>, tensor<4x128xi32, #tile>
    tt.store %p, %x, %mask : tensor<4x128x!tt.ptr<f32>, #tile>
    %u = tt.addptr %ws, %at : tensor<4x128x!tt.ptr<f32>, #tile>, tensor<4x128xi32, #tile>
    tt.store %u, %x : tensor<4x128x!tt.ptr<f32>, #tile>
    %h1 = arith.addi %h, %next : i32
    %more = arith.cmpi slt, %h1, %n : i32
    cf.cond_br %more, ^loop(%h1 : i32), ^end
  ^end:
    tt.return
  }
}
