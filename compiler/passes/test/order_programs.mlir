// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-order-programs=wave=264 | FileCheck %s

// The causal mask: programs of great x have more iterations. Those of y share the order.
// CHECK: module attributes {ttg.program_order = {axes = array<i32: 0, 1>, descending = true, wave = 264 : i64}}
// CHECK-LABEL: @causal
module {
  tt.func public @causal(%p: !tt.ptr<f32>, %stride: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %next = arith.addi %x, %c1 : i32
    %end = arith.muli %next, %c128 : i32
    %row = arith.muli %y, %stride : i32
    %q = tt.addptr %p, %row : !tt.ptr<f32>, i32
    scf.for %n = %c0 to %end step %c128 : i32 {
      %a = tt.addptr %q, %n : !tt.ptr<f32>, i32
      %v = tt.load %a : !tt.ptr<f32>
      tt.store %q, %v : !tt.ptr<f32>
    }
    tt.return
  }
}

// -----

// From the diagonal to the end: programs of small x have more iterations. y does not share the order, as the kernel does
// not ask for it; z does.
// CHECK: module attributes {ttg.program_order = {axes = array<i32: 0, 2>, descending = false, wave = 264 : i64}}
// CHECK-LABEL: @gradient
module {
  tt.func public @gradient(%p: !tt.ptr<f32>, %v: f32, %seq: i32) {
    %c64 = arith.constant 64 : i32
    %x = tt.get_program_id x : i32
    %z = tt.get_program_id z : i32
    %start = arith.muli %x, %c64 : i32
    %q = tt.addptr %p, %z : !tt.ptr<f32>, i32
    scf.for %n = %start to %seq step %c64 : i32 {
      tt.store %q, %v : !tt.ptr<f32>
    }
    tt.return
  }
}

// -----

// The order of indices is the right one already.
// CHECK-NOT: program_order
// CHECK-LABEL: @ascending_alone
module {
  tt.func public @ascending_alone(%p: !tt.ptr<f32>, %v: f32, %seq: i32) {
    %c64 = arith.constant 64 : i32
    %x = tt.get_program_id x : i32
    %start = arith.muli %x, %c64 : i32
    scf.for %n = %start to %seq step %c64 : i32 {
      tt.store %p, %v : !tt.ptr<f32>
    }
    tt.return
  }
}

// -----

// Loops that stride over the grid have as many iterations everywhere.
//   CHECK-NOT: program_order
// CHECK-LABEL: @strides
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @strides(%p: !tt.ptr<f32>, %n: i32) {
    %c2 = arith.constant 2 : i32
    %y = tt.get_program_id y : i32
    %z = tt.get_program_id z : i32
    %at = tt.addptr %p, %z : !tt.ptr<f32>, i32
    %programs = tt.get_num_programs y : i32
    %step = arith.muli %programs, %c2 : i32
    scf.for %i = %y to %n step %step : i32 {
      %q = tt.addptr %at, %i : !tt.ptr<f32>, i32
      %v = tt.load %q : !tt.ptr<f32>
      tt.store %q, %v : !tt.ptr<f32>
    }
    tt.return
  }
}

// -----

// The length is an argument. Rows are counted from the last one, through a quotient.
// CHECK: axes = array<i32: 2>, descending = true
// CHECK-LABEL: @bounded
module {
  tt.func public @bounded(%p: !tt.ptr<f32>, %v: f32, %seq: i32) {
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %z = tt.get_program_id z : i32
    %half = arith.divsi %z, %c2 : i32
    %row = arith.muli %half, %c64 : i32
    %end = arith.minsi %row, %seq : i32
    scf.for %n = %c0 to %end step %c64 : i32 {
      tt.store %p, %v : !tt.ptr<f32>
    }
    tt.return
  }
}

// -----

// All chunks but the last one have 256 elements.
// CHECK-NOT: program_order
// CHECK-LABEL: @chunks
module {
  tt.func public @chunks(%p: !tt.ptr<f32>, %v: f32, %seq: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %c256 = arith.constant 256 : i32
    %x = tt.get_program_id x : i32
    %first = arith.muli %x, %c256 : i32
    %left = arith.subi %seq, %first : i32
    %end = arith.minsi %left, %c256 : i32
    scf.for %n = %c0 to %end step %c64 : i32 {
      tt.store %p, %v : !tt.ptr<f32>
    }
    tt.return
  }
}

// -----

// One loop grows as the other one shrinks.
// CHECK-NOT: program_order
// CHECK-LABEL: @both
module {
  tt.func public @both(%p: !tt.ptr<f32>, %v: f32, %seq: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %row = arith.muli %x, %c64 : i32
    %q = tt.addptr %p, %y : !tt.ptr<f32>, i32
    scf.for %n = %c0 to %row step %c64 : i32 {
      tt.store %q, %v : !tt.ptr<f32>
    }
    scf.for %n = %row to %seq step %c64 : i32 {
      tt.store %q, %v : !tt.ptr<f32>
    }
    tt.return
  }
}

// -----

// A ticket: programs may wait for one another. A sum that nobody reads back is no reason to.
// CHECK-NOT: program_order
// CHECK-LABEL: @ticket
module {
  tt.func public @ticket(%p: !tt.ptr<i32>, %one: i32, %true: i1) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %x = tt.get_program_id x : i32
    %end = arith.muli %x, %c64 : i32
    %t = tt.atomic_rmw add, acq_rel, gpu, %p, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    scf.for %n = %c0 to %end step %c64 : i32 {
      tt.store %p, %t : !tt.ptr<i32>
    }
    tt.return
  }
}

// -----

// CHECK: axes = array<i32: 0>, descending = true
// CHECK-LABEL: @sum
module {
  tt.func public @sum(%p: !tt.ptr<i32>, %one: i32, %true: i1) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %x = tt.get_program_id x : i32
    %end = arith.muli %x, %c64 : i32
    scf.for %n = %c0 to %end step %c64 : i32 {
      %v = tt.load %p : !tt.ptr<i32>
      %t = tt.atomic_rmw add, acq_rel, gpu, %p, %v, %true : (!tt.ptr<i32>, i32, i1) -> i32
    }
    tt.return
  }
}

// -----

// So may programs that read what another one writes.
// CHECK-NOT: program_order
// CHECK-LABEL: @volatile
module {
  tt.func public @volatile(%p: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %x = tt.get_program_id x : i32
    %end = arith.muli %x, %c64 : i32
    scf.for %n = %c0 to %end step %c64 : i32 {
      %v = tt.load %p {isVolatile = true} : !tt.ptr<i32>
      tt.store %p, %v : !tt.ptr<i32>
    }
    tt.return
  }
}
