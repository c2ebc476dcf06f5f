// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-mark-remainders | FileCheck %s

// A tile's number in its group is not negative, says the condition of the loop. Nor is it above the group's tiles, so
// there are some. Groups of 16 then run on through the remainder.
// CHECK-LABEL: @grouped
//       CHECK:   arith.remsi %{{.*}} {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : tensor<256xi64>
tt.func @grouped(%sizes: !tt.ptr<i32>, %n: i32 {tt.divisibility = 16 : i32}, %groups: i32, %out: !tt.ptr<i64>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %c256 = arith.constant 256 : i64
  %c132 = arith.constant 132 : i32
  %pid = tt.get_program_id x : i32
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %rl = arith.extsi %r : tensor<256xi32> to tensor<256xi64>
  %nl = arith.extsi %n : i32 to i64
  %ns = tt.splat %nl : i64 -> tensor<256xi64>
  %p = tt.splat %out : !tt.ptr<i64> -> tensor<256x!tt.ptr<i64>>
  %q = tt.addptr %p, %r : tensor<256x!tt.ptr<i64>>, tensor<256xi32>
  %end:2 = scf.for %g = %c0 to %groups step %c1 iter_args(%tile = %pid, %first = %c0) -> (i32, i32) : i32 {
    %a = tt.addptr %sizes, %g : !tt.ptr<i32>, i32
    %size = tt.load %a : !tt.ptr<i32>
    %after = arith.addi %first, %size : i32
    %next = scf.while (%t = %tile) : (i32) -> i32 {
      %low = arith.cmpi sge, %t, %first : i32
      %high = arith.cmpi slt, %t, %after : i32
      %both = arith.andi %low, %high : i1
      scf.condition(%both) %t : i32
    } do {
    ^bb0(%t: i32):
      %in = arith.subi %t, %first : i32
      %sum = arith.addi %size, %c7 : i32
      %each = arith.divsi %sum, %c8 : i32
      %one = arith.remsi %in, %c8 : i32
      %high = arith.remsi %size, %c8 : i32
      %tall = arith.cmpi slt, %one, %high : i32
      %place = scf.if %tall -> (i32) {
        %m = arith.muli %one, %each : i32
        scf.yield %m : i32
      } else {
        %m = arith.muli %high, %each : i32
        %d = arith.subi %one, %high : i32
        %less = arith.subi %each, %c1 : i32
        %e = arith.muli %d, %less : i32
        %f = arith.addi %m, %e : i32
        scf.yield %f : i32
      }
      %long = arith.extsi %place : i32 to i64
      %start = arith.muli %long, %c256 : i64
      %ss = tt.splat %start : i64 -> tensor<256xi64>
      %x = arith.addi %ss, %rl : tensor<256xi64>
      %y = arith.remsi %x, %ns : tensor<256xi64>
      tt.store %q, %y : tensor<256x!tt.ptr<i64>>
      %u = arith.addi %t, %c132 : i32
      scf.yield %u : i32
    }
    scf.yield %next, %after : i32, i32
  }
  tt.return
}

// -----

// Without the lower bound the difference may be negative: of the group -16, -15, … the first leaves 0, the next -15.
// CHECK-LABEL: @unbounded
//       CHECK:   arith.remsi %{{[^{]*}} : tensor<256xi32>
//       CHECK:   arith.remsi %{{[^{]*}} : tensor<256xi32>
tt.func @unbounded(%n: i32 {tt.divisibility = 16 : i32}, %a: i32, %b: i32, %out: !tt.ptr<i32>) {
  %c256 = arith.constant 256 : i32
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ns = tt.splat %n : i32 -> tensor<256xi32>
  %p = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %q = tt.addptr %p, %r : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %d = arith.subi %a, %b : i32
  %s = arith.muli %d, %c256 : i32
  %ss = tt.splat %s : i32 -> tensor<256xi32>
  %x = arith.addi %ss, %r : tensor<256xi32>
  %less = arith.cmpi slt, %a, %b : i32
  scf.if %less {
    %y = arith.remsi %x, %ns : tensor<256xi32>
    tt.store %q, %y : tensor<256x!tt.ptr<i32>>
  }
  %y = arith.remsi %x, %ns : tensor<256xi32>
  tt.store %q, %y : tensor<256x!tt.ptr<i32>>
  tt.return
}

// -----

// The other branch of the same condition, and a quotient there.
// CHECK-LABEL: @otherwise
//       CHECK:   else
//       CHECK:   arith.remsi %{{.*}} {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : tensor<256xi32>
//       CHECK:   arith.divsi %{{.*}} {tt.constancy = dense<16> : tensor<1xi32>} : tensor<256xi32>
tt.func @otherwise(%n: i32 {tt.divisibility = 16 : i32}, %a: i32, %b: i32, %out: !tt.ptr<i32>) {
  %c256 = arith.constant 256 : i32
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ns = tt.splat %n : i32 -> tensor<256xi32>
  %p = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %q = tt.addptr %p, %r : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %less = arith.cmpi slt, %a, %b : i32
  scf.if %less {
  } else {
    %d = arith.subi %a, %b : i32
    %s = arith.muli %d, %c256 : i32
    %ss = tt.splat %s : i32 -> tensor<256xi32>
    %x = arith.addi %ss, %r : tensor<256xi32>
    %y = arith.remsi %x, %ns : tensor<256xi32>
    %z = arith.divsi %x, %ns : tensor<256xi32>
    tt.store %q, %y : tensor<256x!tt.ptr<i32>>
    tt.store %q, %z : tensor<256x!tt.ptr<i32>>
  }
  tt.return
}

// -----

// An assumption at the kernel's start says that there are columns, so tiles, so one less is not negative.
// CHECK-LABEL: @assumed
//       CHECK:   arith.remsi %{{.*}} {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : tensor<256xi32>
tt.func @assumed(%n: i32 {tt.divisibility = 16 : i32}, %out: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c255 = arith.constant 255 : i32
  %c256 = arith.constant 256 : i32
  %positive = arith.cmpi sgt, %n, %c0 : i32
  llvm.intr.assume %positive : i1
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ns = tt.splat %n : i32 -> tensor<256xi32>
  %p = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %q = tt.addptr %p, %r : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %up = arith.addi %n, %c255 : i32
  %tiles = arith.divsi %up, %c256 : i32
  %last = arith.subi %tiles, %c1 : i32
  %s = arith.muli %last, %c256 : i32
  %ss = tt.splat %s : i32 -> tensor<256xi32>
  %x = arith.addi %ss, %r : tensor<256xi32>
  %y = arith.remsi %x, %ns : tensor<256xi32>
  tt.store %q, %y : tensor<256x!tt.ptr<i32>>
  tt.return
}

// -----

// What the program says of smaller groups does not stand beside the divisibility of larger ones.
// CHECK-LABEL: @program_says_less
//       CHECK:   arith.remsi %{{.*}} {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : tensor<256xi32>
tt.func @program_says_less(%n: i32 {tt.divisibility = 16 : i32}, %a: i32, %out: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %by = arith.constant 2 : i32
  %c256 = arith.constant 256 : i32
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ns = tt.splat %n : i32 -> tensor<256xi32>
  %p = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %q = tt.addptr %p, %r : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %ok = arith.cmpi sge, %a, %c0 : i32
  scf.if %ok {
    %d = arith.divsi %a, %by : i32
    %s = arith.muli %d, %c256 : i32
    %ss = tt.splat %s : i32 -> tensor<256xi32>
    %x = arith.addi %ss, %r : tensor<256xi32>
    %y = arith.remsi %x, %ns {tt.contiguity = dense<1> : tensor<1xi32>} : tensor<256xi32>
    tt.store %q, %y : tensor<256x!tt.ptr<i32>>
  }
  tt.return
}

// -----

// By a negative number: 2^30 leaves -1.
// CHECK-LABEL: @negative_divisor
//       CHECK:   arith.remsi %{{[^{]*$}}
tt.func @negative_divisor(%n: i32 {tt.divisibility = 16 : i32}, %a: i32, %out: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %by = arith.constant -1073741824 : i32
  %c256 = arith.constant 256 : i32
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ns = tt.splat %n : i32 -> tensor<256xi32>
  %p = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %q = tt.addptr %p, %r : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %ok = arith.cmpi sge, %a, %c0 : i32
  scf.if %ok {
    %d = arith.divsi %a, %by : i32
    %s = arith.muli %d, %c256 : i32
    %ss = tt.splat %s : i32 -> tensor<256xi32>
    %x = arith.addi %ss, %r : tensor<256xi32>
    %y = arith.remsi %x, %ns : tensor<256xi32>
    tt.store %q, %y : tensor<256x!tt.ptr<i32>>
  }
  tt.return
}

// -----

// The same by a positive one.
// CHECK-LABEL: @large_divisor
//       CHECK:   arith.remsi %{{.*}} {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : tensor<256xi32>
tt.func @large_divisor(%n: i32 {tt.divisibility = 16 : i32}, %a: i32, %out: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %by = arith.constant 1073741824 : i32
  %c256 = arith.constant 256 : i32
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ns = tt.splat %n : i32 -> tensor<256xi32>
  %p = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %q = tt.addptr %p, %r : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %ok = arith.cmpi sge, %a, %c0 : i32
  scf.if %ok {
    %d = arith.divsi %a, %by : i32
    %s = arith.muli %d, %c256 : i32
    %ss = tt.splat %s : i32 -> tensor<256xi32>
    %x = arith.addi %ss, %r : tensor<256xi32>
    %y = arith.remsi %x, %ns : tensor<256xi32>
    tt.store %q, %y : tensor<256x!tt.ptr<i32>>
  }
  tt.return
}

// -----

// The loop runs, so that there are chunks. Its indices start at a multiple of them, and only grow.
// CHECK-LABEL: @carried
//       CHECK:   arith.remsi %{{.*}} {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : tensor<256xi32>
tt.func @carried(%n: i32 {tt.divisibility = 16 : i32}, %chunks: i32, %out: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %c256 = arith.constant 256 : i32
  %s256 = arith.constant dense<256> : tensor<256xi32>
  %pid = tt.get_program_id x : i32
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ns = tt.splat %n : i32 -> tensor<256xi32>
  %p = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %q = tt.addptr %p, %r : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %of = arith.muli %pid, %chunks : i32
  %start = arith.muli %of, %c256 : i32
  %ss = tt.splat %start : i32 -> tensor<256xi32>
  %first = arith.addi %ss, %r : tensor<256xi32>
  %up = arith.addi %chunks, %c63 : i32
  %end = arith.divsi %up, %c64 : i32
  %last = scf.for %i = %c0 to %end step %c1 iter_args(%x = %first) -> (tensor<256xi32>) : i32 {
    %y = arith.remsi %x, %ns : tensor<256xi32>
    tt.store %q, %y : tensor<256x!tt.ptr<i32>>
    %next = arith.addi %x, %s256 : tensor<256xi32>
    scf.yield %next : tensor<256xi32>
  }
  tt.return
}

// -----

// Without a limit for the number of chunks above 0 there may be a negative number of them. So it is with indices that
// shrink.
// CHECK-LABEL: @carried_below_zero
//       CHECK:   arith.remsi %{{[^{]*}} : tensor<256xi32>
//       CHECK:   arith.remsi %{{[^{]*}} : tensor<256xi32>
tt.func @carried_below_zero(%n: i32 {tt.divisibility = 16 : i32}, %chunks: i32, %out: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c256 = arith.constant 256 : i32
  %s256 = arith.constant dense<256> : tensor<256xi32>
  %pid = tt.get_program_id x : i32
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ns = tt.splat %n : i32 -> tensor<256xi32>
  %p = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %q = tt.addptr %p, %r : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %of = arith.muli %pid, %chunks : i32
  %start = arith.muli %of, %c256 : i32
  %ss = tt.splat %start : i32 -> tensor<256xi32>
  %first = arith.addi %ss, %r : tensor<256xi32>
  %end = arith.addi %chunks, %c64 : i32
  %last:2 = scf.for %i = %c0 to %end step %c1 iter_args(%x = %first, %z = %r)
      -> (tensor<256xi32>, tensor<256xi32>) : i32 {
    %y = arith.remsi %x, %ns : tensor<256xi32>
    tt.store %q, %y : tensor<256x!tt.ptr<i32>>
    %v = arith.remsi %z, %ns : tensor<256xi32>
    tt.store %q, %v : tensor<256x!tt.ptr<i32>>
    %next = arith.addi %x, %s256 : tensor<256xi32>
    %before = arith.subi %z, %s256 : tensor<256xi32>
    scf.yield %next, %before : tensor<256xi32>, tensor<256xi32>
  }
  tt.return
}
