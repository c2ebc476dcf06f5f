// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-insert-barriers | FileCheck %s
// Masks that keep the addresses of two accesses apart.

#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#tile = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.slice<{dim = 0, parent = #tile}>
#rows = #ttg.slice<{dim = 1, parent = #tile}>

module attributes {"ttg.num-warps" = 4 : i32} {
  // Columns 0 to 99 and 100 to 199.
  // CHECK-LABEL: tt.func public @constant
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func public @constant(%q: !tt.ptr<f32>, %row: i32, %n: i32, %x: tensor<128xf32, #one>) {
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %limit = arith.constant dense<100> : tensor<128xi32, #one>
    %mask = arith.cmpi slt, %columns, %limit : tensor<128xi32, #one>
    %base = tt.addptr %q, %row : !tt.ptr<f32>, i32
    %bases = tt.splat %base : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    %first = tt.addptr %bases, %columns : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %first, %x, %mask : tensor<128x!tt.ptr<f32>, #one>
    %second = tt.addptr %first, %limit : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %second, %x, %mask : tensor<128x!tt.ptr<f32>, #one>
    tt.return
  }

  // Column 100 and the first one of the second store are the same.
  // CHECK-LABEL: tt.func public @constant_too_small
  // CHECK: ttg.barrier
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: tt.return
  tt.func public @constant_too_small(%q: !tt.ptr<f32>, %row: i32, %n: i32, %x: tensor<128xf32, #one>) {
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %limit = arith.constant dense<101> : tensor<128xi32, #one>
    %by = arith.constant dense<100> : tensor<128xi32, #one>
    %mask = arith.cmpi slt, %columns, %limit : tensor<128xi32, #one>
    %base = tt.addptr %q, %row : !tt.ptr<f32>, i32
    %bases = tt.splat %base : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    %first = tt.addptr %bases, %columns : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %first, %x, %mask : tensor<128x!tt.ptr<f32>, #one>
    %second = tt.addptr %first, %by : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %second, %x, %mask : tensor<128x!tt.ptr<f32>, #one>
    tt.return
  }

  // Columns 0 to %n - 1, and others from %n on.
  // CHECK-LABEL: tt.func public @scalar
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func public @scalar(%q: !tt.ptr<f32>, %row: i32, %n: i32, %x: tensor<128xf32, #one>) {
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %limit = tt.splat %n : i32 -> tensor<128xi32, #one>
    %mask = arith.cmpi slt, %columns, %limit : tensor<128xi32, #one>
    %base = tt.addptr %q, %row : !tt.ptr<f32>, i32
    %bases = tt.splat %base : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    %first = tt.addptr %bases, %columns : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %first, %x, %mask : tensor<128x!tt.ptr<f32>, #one>
    %second = tt.addptr %first, %limit : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %second, %x, %mask : tensor<128x!tt.ptr<f32>, #one>
    tt.return
  }

  // The second store begins at %n. Its other elements may be at any distance, but none is before that.
  // CHECK-LABEL: tt.func public @scalar_without_mask
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func public @scalar_without_mask(%q: !tt.ptr<f32>, %row: i32, %n: i32, %x: tensor<128xf32, #one>) {
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %limit = tt.splat %n : i32 -> tensor<128xi32, #one>
    %mask = arith.cmpi slt, %columns, %limit : tensor<128xi32, #one>
    %base = tt.addptr %q, %row : !tt.ptr<f32>, i32
    %bases = tt.splat %base : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    %first = tt.addptr %bases, %columns : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %first, %x, %mask : tensor<128x!tt.ptr<f32>, #one>
    %second = tt.addptr %first, %limit : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %second, %x : tensor<128x!tt.ptr<f32>, #one>
    tt.return
  }

  // Nothing keeps the columns of the first store below %n.
  // CHECK-LABEL: tt.func public @scalar_of_the_second
  // CHECK: ttg.barrier
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: tt.return
  tt.func public @scalar_of_the_second(%q: !tt.ptr<f32>, %row: i32, %n: i32, %x: tensor<128xf32, #one>) {
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %by = tt.splat %n : i32 -> tensor<128xi32, #one>
    %limit = tt.splat %row : i32 -> tensor<128xi32, #one>
    %mask = arith.cmpi slt, %columns, %limit : tensor<128xi32, #one>
    %base = tt.addptr %q, %row : !tt.ptr<f32>, i32
    %bases = tt.splat %base : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    %first = tt.addptr %bases, %columns : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %first, %x, %mask : tensor<128x!tt.ptr<f32>, #one>
    %second = tt.addptr %first, %by : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %second, %x, %mask : tensor<128x!tt.ptr<f32>, #one>
    tt.return
  }

  // The second store is %n columns before the first one.
  // CHECK-LABEL: tt.func public @scalar_below
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func public @scalar_below(%q: !tt.ptr<f32>, %row: i32, %n: i32, %x: tensor<128xf32, #one>) {
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %limit = tt.splat %n : i32 -> tensor<128xi32, #one>
    %zeros = arith.constant dense<0> : tensor<128xi32, #one>
    %by = arith.subi %zeros, %limit : tensor<128xi32, #one>
    %mask = arith.cmpi slt, %columns, %limit : tensor<128xi32, #one>
    %base = tt.addptr %q, %row : !tt.ptr<f32>, i32
    %bases = tt.splat %base : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    %first = tt.addptr %bases, %columns : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %first, %x, %mask : tensor<128x!tt.ptr<f32>, #one>
    %second = tt.addptr %first, %by : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %second, %x, %mask : tensor<128x!tt.ptr<f32>, #one>
    tt.return
  }

  // The last column of the first store is the first one of the second.
  // CHECK-LABEL: tt.func public @one_column_less
  // CHECK: ttg.barrier
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: tt.return
  tt.func public @one_column_less(%q: !tt.ptr<f32>, %row: i32, %n: i32, %x: tensor<128xf32, #one>) {
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %limit = tt.splat %n : i32 -> tensor<128xi32, #one>
    %ones = arith.constant dense<1> : tensor<128xi32, #one>
    %by = arith.subi %limit, %ones : tensor<128xi32, #one>
    %mask = arith.cmpi slt, %columns, %limit : tensor<128xi32, #one>
    %base = tt.addptr %q, %row : !tt.ptr<f32>, i32
    %bases = tt.splat %base : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    %first = tt.addptr %bases, %columns : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %first, %x, %mask : tensor<128x!tt.ptr<f32>, #one>
    %second = tt.addptr %first, %by : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %second, %x, %mask : tensor<128x!tt.ptr<f32>, #one>
    tt.return
  }

  // Columns with gaps between them go beyond %n.
  // CHECK-LABEL: tt.func public @two_steps
  // CHECK: ttg.barrier
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: tt.return
  tt.func public @two_steps(%q: !tt.ptr<f32>, %row: i32, %n: i32, %x: tensor<128xf32, #one>) {
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %limit = tt.splat %n : i32 -> tensor<128xi32, #one>
    %mask = arith.cmpi slt, %columns, %limit : tensor<128xi32, #one>
    %base = tt.addptr %q, %row : !tt.ptr<f32>, i32
    %bases = tt.splat %base : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    %first = tt.addptr %bases, %columns : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    %over = tt.addptr %first, %columns : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %over, %x, %mask : tensor<128x!tt.ptr<f32>, #one>
    %second = tt.addptr %over, %limit : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %second, %x, %mask : tensor<128x!tt.ptr<f32>, #one>
    tt.return
  }

  // Of a tile's columns. What says that of its rows says nothing of columns.
  // CHECK-LABEL: tt.func public @tiles
  // CHECK: tt.store
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: tt.return
  tt.func public @tiles(%q: !tt.ptr<f32>, %n: i32, %x: tensor<1x128xf32, #tile>) {
    %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #columns>
    %limits = tt.splat %n : i32 -> tensor<128xi32, #columns>
    %inside = arith.cmpi sgt, %limits, %range : tensor<128xi32, #columns>
    %mask = tt.expand_dims %inside {axis = 0 : i32} : tensor<128xi1, #columns> -> tensor<1x128xi1, #tile>
    %columns = tt.expand_dims %range {axis = 0 : i32} : tensor<128xi32, #columns> -> tensor<1x128xi32, #tile>
    %bases = tt.splat %q : !tt.ptr<f32> -> tensor<1x128x!tt.ptr<f32>, #tile>
    %first = tt.addptr %bases, %columns : tensor<1x128x!tt.ptr<f32>, #tile>, tensor<1x128xi32, #tile>
    %by = tt.splat %n : i32 -> tensor<1x128xi32, #tile>
    %second = tt.addptr %first, %by : tensor<1x128x!tt.ptr<f32>, #tile>, tensor<1x128xi32, #tile>
    tt.store %first, %x, %mask : tensor<1x128x!tt.ptr<f32>, #tile>
    tt.store %second, %x, %mask : tensor<1x128x!tt.ptr<f32>, #tile>
    tt.return
  }

  // CHECK-LABEL: tt.func public @masked_rows
  // CHECK: ttg.barrier
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: tt.return
  tt.func public @masked_rows(%q: !tt.ptr<f32>, %n: i32, %x: tensor<128x128xf32, #tile>) {
    %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #columns>
    %limits = tt.splat %n : i32 -> tensor<128xi32, #columns>
    %inside = arith.cmpi slt, %range, %limits : tensor<128xi32, #columns>
    %turned = ttg.convert_layout %inside : tensor<128xi1, #columns> -> tensor<128xi1, #rows>
    %column = tt.expand_dims %turned {axis = 1 : i32} : tensor<128xi1, #rows> -> tensor<128x1xi1, #tile>
    %mask = tt.broadcast %column : tensor<128x1xi1, #tile> -> tensor<128x128xi1, #tile>
    %row = tt.expand_dims %range {axis = 0 : i32} : tensor<128xi32, #columns> -> tensor<1x128xi32, #tile>
    %columns = tt.broadcast %row : tensor<1x128xi32, #tile> -> tensor<128x128xi32, #tile>
    %bases = tt.splat %q : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #tile>
    %first = tt.addptr %bases, %columns : tensor<128x128x!tt.ptr<f32>, #tile>, tensor<128x128xi32, #tile>
    %by = tt.splat %n : i32 -> tensor<128x128xi32, #tile>
    %second = tt.addptr %first, %by : tensor<128x128x!tt.ptr<f32>, #tile>, tensor<128x128xi32, #tile>
    tt.store %first, %x, %mask : tensor<128x128x!tt.ptr<f32>, #tile>
    tt.store %second, %x, %mask : tensor<128x128x!tt.ptr<f32>, #tile>
    tt.return
  }
}
