// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-insert-barriers | FileCheck %s
// Accesses through one argument of the kernel: addresses that are never the same need no barrier.

#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#tile = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-warps" = 4 : i32} {
  // Halves of rows of 128, also of other iterations' rows.
  // CHECK-LABEL: tt.func public @halves
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func public @halves(%q: !tt.ptr<f32>, %row: i32, %x: tensor<64xf32, #one>, %n: i32) {
    %zero = arith.constant 0 : i32
    %next = arith.constant 1 : i32
    %size = arith.constant 128 : i32
    %half = arith.constant dense<64> : tensor<64xi32, #one>
    %columns = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #one>
    %base = tt.addptr %q, %row : !tt.ptr<f32>, i32
    %bases = tt.splat %base : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #one>
    cf.br ^loop(%zero : i32)
  ^loop(%h: i32):
    %at = arith.muli %h, %size : i32
    %ats = tt.splat %at : i32 -> tensor<64xi32, #one>
    %sum = arith.addi %ats, %columns : tensor<64xi32, #one>
    %low = tt.addptr %bases, %sum : tensor<64x!tt.ptr<f32>, #one>, tensor<64xi32, #one>
    tt.store %low, %x : tensor<64x!tt.ptr<f32>, #one>
    %high = tt.addptr %low, %half : tensor<64x!tt.ptr<f32>, #one>, tensor<64xi32, #one>
    tt.store %high, %x : tensor<64x!tt.ptr<f32>, #one>
    %h1 = arith.addi %h, %next : i32
    %more = arith.cmpi slt, %h1, %n : i32
    cf.cond_br %more, ^loop(%h1 : i32), ^end
  ^end:
    tt.return
  }

  // In rows of 96 the second half meets the next row.
  // CHECK-LABEL: tt.func public @rows_that_overlap
  // CHECK: ttg.barrier
  // CHECK-NEXT: tt.store
  // CHECK: ttg.barrier
  // CHECK-NEXT: tt.store
  tt.func public @rows_that_overlap(%q: !tt.ptr<f32>, %x: tensor<64xf32, #one>, %n: i32) {
    %zero = arith.constant 0 : i32
    %next = arith.constant 1 : i32
    %size = arith.constant 96 : i32
    %half = arith.constant dense<64> : tensor<64xi32, #one>
    %columns = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #one>
    %bases = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #one>
    cf.br ^loop(%zero : i32)
  ^loop(%h: i32):
    %at = arith.muli %h, %size : i32
    %ats = tt.splat %at : i32 -> tensor<64xi32, #one>
    %sum = arith.addi %ats, %columns : tensor<64xi32, #one>
    %low = tt.addptr %bases, %sum : tensor<64x!tt.ptr<f32>, #one>, tensor<64xi32, #one>
    tt.store %low, %x : tensor<64x!tt.ptr<f32>, #one>
    %high = tt.addptr %low, %half : tensor<64x!tt.ptr<f32>, #one>, tensor<64xi32, #one>
    tt.store %high, %x : tensor<64x!tt.ptr<f32>, #one>
    %h1 = arith.addi %h, %next : i32
    %more = arith.cmpi slt, %h1, %n : i32
    cf.cond_br %more, ^loop(%h1 : i32), ^end
  ^end:
    tt.return
  }

  // Columns of a tile by a constant stride; numbers that differ by what is not known.
  // CHECK-LABEL: tt.func public @columns
  // CHECK: tt.store
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: ttg.barrier
  // CHECK-NEXT: tt.store
  tt.func public @columns(%q: !tt.ptr<f32>, %k: i32, %x: tensor<16x128xf32, #tile>) {
    %stride = arith.constant dense<256> : tensor<16x1xi32, #tile>
    %beside = arith.constant dense<128> : tensor<16x128xi32, #tile>
    %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #tile}>>
    %j = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #tile}>>
    %rows = tt.expand_dims %i {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #tile}>> -> tensor<16x1xi32, #tile>
    %line = tt.expand_dims %j {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #tile}>> -> tensor<1x128xi32, #tile>
    %offsets = arith.muli %rows, %stride : tensor<16x1xi32, #tile>
    %a = tt.broadcast %offsets : tensor<16x1xi32, #tile> -> tensor<16x128xi32, #tile>
    %b = tt.broadcast %line : tensor<1x128xi32, #tile> -> tensor<16x128xi32, #tile>
    %at = arith.addi %a, %b : tensor<16x128xi32, #tile>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<16x128x!tt.ptr<f32>, #tile>
    %left = tt.addptr %qs, %at : tensor<16x128x!tt.ptr<f32>, #tile>, tensor<16x128xi32, #tile>
    %right = tt.addptr %left, %beside : tensor<16x128x!tt.ptr<f32>, #tile>, tensor<16x128xi32, #tile>
    %ks = tt.splat %k : i32 -> tensor<16x128xi32, #tile>
    %unknown = tt.addptr %left, %ks : tensor<16x128x!tt.ptr<f32>, #tile>, tensor<16x128xi32, #tile>
    tt.store %left, %x : tensor<16x128x!tt.ptr<f32>, #tile>
    tt.store %right, %x : tensor<16x128x!tt.ptr<f32>, #tile>
    tt.store %unknown, %x : tensor<16x128x!tt.ptr<f32>, #tile>
    tt.return
  }

  // A row number from memory may be any: rows of 64 meet or are the same, halves of rows of 64 are apart.
  // CHECK-LABEL: tt.func public @loaded_rows
  // CHECK: tt.store
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: tt.return
  tt.func public @loaded_rows(%q: !tt.ptr<f32>, %r: tensor<128xi32, #one>, %s: tensor<128xi32, #one>, %x: tensor<128xf32, #one>) {
    %size = arith.constant dense<64> : tensor<128xi32, #one>
    %half = arith.constant dense<32> : tensor<128xi32, #one>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    %a = arith.muli %r, %size : tensor<128xi32, #one>
    %b = arith.muli %s, %size : tensor<128xi32, #one>
    %low = tt.addptr %qs, %a : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    %row = tt.addptr %qs, %b : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    %high = tt.addptr %row, %half : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %low, %x : tensor<128x!tt.ptr<f32>, #one>
    tt.store %high, %x : tensor<128x!tt.ptr<f32>, #one>
    tt.return
  }

  // Elements that a loop adds to, by indices that it loads: another thread may have been there before. Numbers move all
  // elements alike.
  // CHECK-LABEL: tt.func public @gathered
  // CHECK: ttg.barrier
  // CHECK-NEXT: tt.load
  // CHECK: ttg.barrier
  // CHECK-NEXT: tt.store
  // CHECK: tt.return
  tt.func public @gathered(%q: !tt.ptr<f32>, %r: !tt.ptr<i32>, %x: tensor<128xf32, #one>, %n: i32) {
    %zero = arith.constant 0 : i32
    %next = arith.constant 1 : i32
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    cf.br ^loop(%zero : i32)
  ^loop(%h: i32):
    %row = tt.addptr %r, %h : !tt.ptr<i32>, i32
    %rows = tt.splat %row : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #one>
    %at = tt.addptr %rows, %columns : tensor<128x!tt.ptr<i32>, #one>, tensor<128xi32, #one>
    %index = tt.load %at : tensor<128x!tt.ptr<i32>, #one>
    %p = tt.addptr %qs, %index : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    %old = tt.load %p : tensor<128x!tt.ptr<f32>, #one>
    %new = arith.addf %old, %x : tensor<128xf32, #one>
    tt.store %p, %new : tensor<128x!tt.ptr<f32>, #one>
    %h1 = arith.addi %h, %next : i32
    %more = arith.cmpi slt, %h1, %n : i32
    cf.cond_br %more, ^loop(%h1 : i32), ^end
  ^end:
    tt.return
  }

  // Each iteration has another order of the elements, so that threads change what others have stored.
  // CHECK-LABEL: tt.func public @shuffled
  // CHECK: ttg.barrier
  // CHECK-NEXT: tt.load
  // CHECK: tt.return
  tt.func public @shuffled(%q: !tt.ptr<f32>, %x: tensor<128xf32, #one>, %n: i32) {
    %zero = arith.constant 0 : i32
    %next = arith.constant 1 : i32
    %size = arith.constant dense<128> : tensor<128xi32, #one>
    %five = arith.constant dense<5> : tensor<128xi32, #one>
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    cf.br ^loop(%zero : i32)
  ^loop(%h: i32):
    %many = arith.muli %columns, %five : tensor<128xi32, #one>
    %hs = tt.splat %h : i32 -> tensor<128xi32, #one>
    %sum = arith.addi %many, %hs : tensor<128xi32, #one>
    %index = arith.remui %sum, %size : tensor<128xi32, #one>
    %p = tt.addptr %qs, %index : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    %old = tt.load %p : tensor<128x!tt.ptr<f32>, #one>
    %new = arith.addf %old, %x : tensor<128xf32, #one>
    tt.store %p, %new : tensor<128x!tt.ptr<f32>, #one>
    %h1 = arith.addi %h, %next : i32
    %more = arith.cmpi slt, %h1, %n : i32
    cf.cond_br %more, ^loop(%h1 : i32), ^end
  ^end:
    tt.return
  }

  // The order of what is stored keeps a rest alone: it may come back to a place, in another thread.
  // CHECK-LABEL: tt.func public @stored_round
  // CHECK: ttg.barrier
  // CHECK-NEXT: tt.store
  // CHECK: tt.return
  tt.func public @stored_round(%q: !tt.ptr<f32>, %x: tensor<128xf32, #one>, %n: i32) {
    %zero = arith.constant 0 : i32
    %next = arith.constant 1 : i32
    %size = arith.constant dense<128> : tensor<128xi32, #one>
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    cf.br ^loop(%zero : i32)
  ^loop(%h: i32):
    %hs = tt.splat %h : i32 -> tensor<128xi32, #one>
    %sum = arith.addi %columns, %hs : tensor<128xi32, #one>
    %index = arith.remui %sum, %size : tensor<128xi32, #one>
    %p = tt.addptr %qs, %index : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %p, %x : tensor<128x!tt.ptr<f32>, #one>
    %h1 = arith.addi %h, %next : i32
    %more = arith.cmpi slt, %h1, %n : i32
    cf.cond_br %more, ^loop(%h1 : i32), ^end
  ^end:
    tt.return
  }

  // Rests and quotients of one number go on from place to place.
  // CHECK-LABEL: tt.func public @stored_transposed
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func public @stored_transposed(%q: !tt.ptr<f32>, %x: tensor<128xf32, #one>, %n: i32) {
    %zero = arith.constant 0 : i32
    %next = arith.constant 128 : i32
    %width = arith.constant dense<24> : tensor<128xi32, #one>
    %height = arith.constant dense<4096> : tensor<128xi32, #one>
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    cf.br ^loop(%zero : i32)
  ^loop(%h: i32):
    %hs = tt.splat %h : i32 -> tensor<128xi32, #one>
    %sum = arith.addi %columns, %hs : tensor<128xi32, #one>
    %rest = arith.remsi %sum, %width : tensor<128xi32, #one>
    %quotient = arith.divsi %sum, %width : tensor<128xi32, #one>
    %row = arith.muli %rest, %height : tensor<128xi32, #one>
    %index = arith.addi %row, %quotient : tensor<128xi32, #one>
    %p = tt.addptr %qs, %index : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    tt.store %p, %x : tensor<128x!tt.ptr<f32>, #one>
    %h1 = arith.addi %h, %next : i32
    %more = arith.cmpi slt, %h1, %n : i32
    cf.cond_br %more, ^loop(%h1 : i32), ^end
  ^end:
    tt.return
  }

  // Rows whose distance is an argument are taken to be apart: the loop moves all elements by one number.
  // CHECK-LABEL: tt.func public @rows_of_any_size
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func public @rows_of_any_size(%q: !tt.ptr<f32>, %size: i32, %x: tensor<128xf32, #one>, %n: i32) {
    %zero = arith.constant 0 : i32
    %next = arith.constant 1 : i32
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %three = arith.constant dense<3> : tensor<128xi32, #one>
    %sizes = tt.splat %size : i32 -> tensor<128xi32, #one>
    %many = arith.remui %columns, %three : tensor<128xi32, #one>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    cf.br ^loop(%zero, %qs : i32, tensor<128x!tt.ptr<f32>, #one>)
  ^loop(%h: i32, %row: tensor<128x!tt.ptr<f32>, #one>):
    %hs = tt.splat %h : i32 -> tensor<128xi32, #one>
    %at = arith.muli %hs, %sizes : tensor<128xi32, #one>
    %index = arith.addi %at, %many : tensor<128xi32, #one>
    %p = tt.addptr %row, %index : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    %old = tt.load %p : tensor<128x!tt.ptr<f32>, #one>
    %new = arith.addf %old, %x : tensor<128xf32, #one>
    tt.store %p, %new : tensor<128x!tt.ptr<f32>, #one>
    %h1 = arith.addi %h, %next : i32
    %row1 = tt.addptr %row, %sizes : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    %more = arith.cmpi slt, %h1, %n : i32
    cf.cond_br %more, ^loop(%h1, %row1 : i32, tensor<128x!tt.ptr<f32>, #one>), ^end
  ^end:
    tt.return
  }

  // CHECK-LABEL: tt.func public @rows_by_number
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func public @rows_by_number(%q: !tt.ptr<f32>, %r: !tt.ptr<i32>, %x: tensor<128xf32, #one>, %n: i32) {
    %zero = arith.constant 0 : i32
    %next = arith.constant 1 : i32
    %size = arith.constant 128 : i32
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    cf.br ^loop(%zero : i32)
  ^loop(%h: i32):
    %at = tt.addptr %r, %h : !tt.ptr<i32>, i32
    %index = tt.load %at : !tt.ptr<i32>
    %offset = arith.muli %index, %size : i32
    %row = tt.addptr %q, %offset : !tt.ptr<f32>, i32
    %rows = tt.splat %row : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    %p = tt.addptr %rows, %columns : tensor<128x!tt.ptr<f32>, #one>, tensor<128xi32, #one>
    %old = tt.load %p : tensor<128x!tt.ptr<f32>, #one>
    %new = arith.addf %old, %x : tensor<128xf32, #one>
    tt.store %p, %new : tensor<128x!tt.ptr<f32>, #one>
    %h1 = arith.addi %h, %next : i32
    %more = arith.cmpi slt, %h1, %n : i32
    cf.cond_br %more, ^loop(%h1 : i32), ^end
  ^end:
    tt.return
  }

  // Atomic operations alone have no order.
  // CHECK-LABEL: tt.func public @counted
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func public @counted(%q: !tt.ptr<i32>, %r: !tt.ptr<i32>, %n: i32) -> tensor<128xi32, #one> {
    %zero = arith.constant 0 : i32
    %next = arith.constant 1 : i32
    %columns = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
    %mask = arith.constant dense<true> : tensor<128xi1, #one>
    %qs = tt.splat %q : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #one>
    cf.br ^loop(%zero, %columns : i32, tensor<128xi32, #one>)
  ^loop(%h: i32, %sum: tensor<128xi32, #one>):
    %row = tt.addptr %r, %h : !tt.ptr<i32>, i32
    %rows = tt.splat %row : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #one>
    %at = tt.addptr %rows, %columns : tensor<128x!tt.ptr<i32>, #one>, tensor<128xi32, #one>
    %index = tt.load %at : tensor<128x!tt.ptr<i32>, #one>
    %p = tt.addptr %qs, %index : tensor<128x!tt.ptr<i32>, #one>, tensor<128xi32, #one>
    %old = tt.atomic_rmw add, acq_rel, gpu, %p, %index, %mask : (tensor<128x!tt.ptr<i32>, #one>, tensor<128xi32, #one>, tensor<128xi1, #one>) -> tensor<128xi32, #one>
    %h1 = arith.addi %h, %next : i32
    %sum1 = arith.addi %sum, %old : tensor<128xi32, #one>
    %more = arith.cmpi slt, %h1, %n : i32
    cf.cond_br %more, ^loop(%h1, %sum1 : i32, tensor<128xi32, #one>), ^end(%sum1 : tensor<128xi32, #one>)
  ^end(%total: tensor<128xi32, #one>):
    tt.return %total : tensor<128xi32, #one>
  }
}
