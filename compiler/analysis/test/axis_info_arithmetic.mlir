// RUN: triton-opt %s --split-input-file --test-print-axis-info -o /dev/null | FileCheck %s
// Facts through arithmetic: => [contiguity] [divisibility] [constancy].

// Constants, ranges, splats and poison.
// CHECK-LABEL: @sources
tt.func @sources(%x: i32 {tt.divisibility = 16 : i32}) {
  // CHECK: arith.constant 24 : i32 => [1] [8] [1] constant 24
  %c24 = arith.constant 24 : i32
  // CHECK: arith.constant 0 : i64 => [1] [any] [1] constant 0
  %c0 = arith.constant 0 : i64
  // CHECK: arith.constant true => [1] [1] [1] constant 1
  %true = arith.constant true
  // CHECK: dense<-4> {{.*}} => [1, 1] [4, 4] [2, 64] constant -4
  %splat = arith.constant dense<-4> : tensor<2x64xi32>
  // CHECK: dense<[1, 2]> {{.*}} => [1] [1] [1]{{$}}
  %list = arith.constant dense<[1, 2]> : tensor<2xi32>
  // CHECK: arith.constant dense<1.000000e+00> {{.*}} => [1] [1] [16]{{$}}
  %float = arith.constant dense<1.0> : tensor<16xf32>
  // CHECK: start = 0 {{.*}} => [128] [any] [1]
  %r0 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  // CHECK: start = 8 {{.*}} => [16] [8] [1]
  %r8 = tt.make_range {start = 8 : i32, end = 24 : i32} : tensor<16xi32>
  // CHECK: tt.splat %{{.*}} => [1] [16] [128]{{$}}
  %s = tt.splat %x : i32 -> tensor<128xi32>
  // CHECK: tt.splat %{{.*}} => [1, 1] [8, 8] [4, 32] constant 24
  %s2 = tt.splat %c24 : i32 -> tensor<4x32xi32>
  // CHECK: ub.poison {{.*}} => [any] [any] [any]
  %p = ub.poison : tensor<128xi32>
  tt.return
}

// -----

// Sums: a group runs on where the other side is constant.
// CHECK-LABEL: @add
tt.func @add(%x: i32 {tt.divisibility = 16 : i32}, %y: i32) {
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %r4 = tt.make_range {start = 4 : i32, end = 132 : i32} : tensor<128xi32>
  %c6 = arith.constant dense<6> : tensor<128xi32>
  %c2 = arith.constant dense<2> : tensor<128xi32>
  %sx = tt.splat %x : i32 -> tensor<128xi32>
  %sy = tt.splat %y : i32 -> tensor<128xi32>
  // CHECK: arith.addi %{{.*}} => [128] [16] [1]{{$}}
  %0 = arith.addi %sx, %r : tensor<128xi32>
  // CHECK: arith.addi %{{.*}} => [128] [1] [1]{{$}}
  %1 = arith.addi %sy, %r : tensor<128xi32>
  // CHECK: arith.addi %{{.*}} => [128] [2] [1]{{$}}
  %2 = arith.addi %r, %c6 : tensor<128xi32>
  // Both run on: even sums.
  // CHECK: arith.addi %{{.*}} => [1] [2] [1]{{$}}
  %3 = arith.addi %r, %r4 : tensor<128xi32>
  // CHECK: arith.addi %{{.*}} => [1] [8] [128] constant 8
  %4 = arith.addi %c6, %c2 : tensor<128xi32>
  // CHECK: arith.addi %{{.*}} => [1] [2] [128]{{$}}
  %5 = arith.addi %sx, %c6 : tensor<128xi32>
  // Two's complement wraps around.
  %max = arith.constant 2147483647 : i32
  %one = arith.constant 1 : i32
  // CHECK: arith.addi %{{.*}} => [1] [2147483648] [1] constant -2147483648
  %6 = arith.addi %max, %one : i32
  tt.return
}

// -----

// Differences.
// CHECK-LABEL: @sub
tt.func @sub(%x: i32 {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %r4 = tt.make_range {start = 4 : i32, end = 132 : i32} : tensor<128xi32>
  %sx = tt.splat %x : i32 -> tensor<128xi32>
  // CHECK: arith.subi %{{.*}} => [128] [16] [1]{{$}}
  %0 = arith.subi %r, %sx : tensor<128xi32>
  // The other way round the values fall.
  // CHECK: arith.subi %{{.*}} => [1] [1] [1]{{$}}
  %1 = arith.subi %sx, %r : tensor<128xi32>
  // Groups of one size cancel out.
  // CHECK: arith.subi %{{.*}} => [1] [4] [1]{{$}}
  %2 = arith.subi %r4, %r : tensor<128xi32>
  tt.return
}

// -----

// Products: divisibility multiplies, of groups that of all values counts.
// CHECK-LABEL: @mul
tt.func @mul(%x: i32 {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %c1 = arith.constant dense<1> : tensor<128xi32>
  %c12 = arith.constant dense<12> : tensor<128xi32>
  %sx = tt.splat %x : i32 -> tensor<128xi32>
  // CHECK: arith.muli %{{.*}} => [128] [any] [1]{{$}}
  %0 = arith.muli %r, %c1 : tensor<128xi32>
  // CHECK: arith.muli %{{.*}} => [128] [any] [1]{{$}}
  %1 = arith.muli %c1, %r : tensor<128xi32>
  // CHECK: arith.muli %{{.*}} => [1] [4] [1]{{$}}
  %2 = arith.muli %r, %c12 : tensor<128xi32>
  // CHECK: arith.muli %{{.*}} => [1] [64] [128]{{$}}
  %3 = arith.muli %sx, %c12 : tensor<128xi32>
  // CHECK: arith.muli %{{.*}} => [1] [16] [128] constant 144
  %4 = arith.muli %c12, %c12 : tensor<128xi32>
  tt.return
}

// -----

// Quotients and remainders of a run by a multiple of its alignment.
// CHECK-LABEL: @div_rem
tt.func @div_rem(%x: i32 {tt.divisibility = 16 : i32}, %y: i32) {
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %c1 = arith.constant dense<1> : tensor<128xi32>
  %c4 = arith.constant dense<4> : tensor<128xi32>
  %c6 = arith.constant dense<6> : tensor<128xi32>
  %sx = tt.splat %x : i32 -> tensor<128xi32>
  %sy = tt.splat %y : i32 -> tensor<128xi32>
  // CHECK: arith.divsi %{{.*}} => [128] [any] [1]{{$}}
  %0 = arith.divsi %r, %c1 : tensor<128xi32>
  // CHECK: arith.divsi %{{.*}} => [1] [1] [4]{{$}}
  %1 = arith.divsi %r, %c4 : tensor<128xi32>
  // CHECK: arith.divsi %{{.*}} => [1] [1] [2]{{$}}
  %2 = arith.divsi %r, %c6 : tensor<128xi32>
  // CHECK: arith.divui %{{.*}} => [1] [1] [16]{{$}}
  %3 = arith.divui %r, %sx : tensor<128xi32>
  // Nothing runs on over an odd divisor.
  // CHECK: arith.divsi %{{.*}} => [1] [1] [1]{{$}}
  %4 = arith.divsi %r, %sy : tensor<128xi32>
  // CHECK: arith.divsi %{{.*}} => [1] [4] [128]{{$}}
  %5 = arith.divsi %sx, %c4 : tensor<128xi32>
  // CHECK: arith.remsi %{{.*}} => [4] [4] [1]{{$}}
  %6 = arith.remsi %r, %c4 : tensor<128xi32>
  // CHECK: arith.remui %{{.*}} => [16] [16] [1]{{$}}
  %7 = arith.remui %r, %sx : tensor<128xi32>
  // CHECK: arith.remsi %{{.*}} => [1] [1] [1]{{$}}
  %8 = arith.remsi %r, %sy : tensor<128xi32>
  // CHECK: arith.remsi %{{.*}} => [1] [2] [128]{{$}}
  %9 = arith.remsi %sx, %c6 : tensor<128xi32>
  // CHECK: arith.remsi %{{.*}} => [1] [any] [128] constant 0
  %10 = arith.remsi %sx, %c1 : tensor<128xi32>
  %m7 = arith.constant -7 : i32
  %c2 = arith.constant 2 : i32
  // CHECK: arith.divsi %{{.*}} => {{.*}} constant -3
  %11 = arith.divsi %m7, %c2 : i32
  // CHECK: arith.divui %{{.*}} => {{.*}} constant 2147483644
  %12 = arith.divui %m7, %c2 : i32
  tt.return
}

// -----

// The first element stands for all of them in a quotient that is equal all over. What it leaves over is no more negative.
// CHECK-LABEL: @left_over_first
tt.func @left_over_first(%x: i32 {tt.divisibility = 16 : i32}, %y: i32 {tt.divisibility = 16 : i32}) {
  %c16 = arith.constant 16 : i32
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c16 : i32
  %firsts = tt.splat %first : i32 -> tensor<16xi32>
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %index = arith.addi %firsts, %r : tensor<16xi32>
  %q = arith.divsi %first, %x : i32
  %p = arith.muli %q, %x : i32
  %product = tt.splat %p : i32 -> tensor<16xi32>
  // CHECK: arith.subi %{{.*}} => [16] [16] [1]{{$}}
  %rest = arith.subi %index, %product : tensor<16xi32>
  %sy = tt.splat %y : i32 -> tensor<16xi32>
  // CHECK: arith.divsi %{{.*}} => [1] [1] [16]{{$}}
  %0 = arith.divsi %rest, %sy : tensor<16xi32>
  // So it is of what is left over of what is left over.
  // CHECK: arith.subi %{{.*}} => [1] [16] [1]{{$}}
  %rest_first = arith.subi %first, %p : i32
  %q2 = arith.divsi %rest_first, %y : i32
  %p2 = arith.muli %q2, %y : i32
  %product2 = tt.splat %p2 : i32 -> tensor<16xi32>
  // CHECK: arith.subi %{{.*}} => [16] [16] [1]{{$}}
  %rest2 = arith.subi %rest, %product2 : tensor<16xi32>
  // CHECK: arith.divsi %{{.*}} => [1] [1] [16]{{$}}
  %1 = arith.divsi %rest2, %sy : tensor<16xi32>
  tt.return
}

// -----

// What a quotient leaves over is a remainder, and no more negative than the dividend. So are its quotients over runs.
// CHECK-LABEL: @left_over
tt.func @left_over(%x: i32 {tt.divisibility = 16 : i32}, %y: i32 {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %sx = tt.splat %x : i32 -> tensor<128xi32>
  %sy = tt.splat %y : i32 -> tensor<128xi32>
  %q = arith.divsi %r, %sx : tensor<128xi32>
  %p = arith.muli %q, %sx : tensor<128xi32>
  // CHECK: arith.subi %{{.*}} => [16] [16] [1]{{$}}
  %rest = arith.subi %r, %p : tensor<128xi32>
  // CHECK: arith.divsi %{{.*}} => [1] [1] [16]{{$}}
  %0 = arith.divsi %rest, %sy : tensor<128xi32>
  // Another product may be more than the dividend.
  %o = arith.muli %q, %sy : tensor<128xi32>
  // CHECK: arith.subi %{{.*}} => [16] [16] [1]{{$}}
  %less = arith.subi %r, %o : tensor<128xi32>
  // CHECK: arith.divsi %{{.*}} => [1] [1] [1]{{$}}
  %1 = arith.divsi %less, %sy : tensor<128xi32>
  tt.return
}

// -----

// Shifts and masks.
// CHECK-LABEL: @bits
tt.func @bits(%x: i32 {tt.divisibility = 16 : i32}, %y: i32) {
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %c0 = arith.constant dense<0> : tensor<128xi32>
  %c2 = arith.constant dense<2> : tensor<128xi32>
  %c15 = arith.constant dense<15> : tensor<128xi32>
  %sx = tt.splat %x : i32 -> tensor<128xi32>
  %sy = tt.splat %y : i32 -> tensor<128xi32>
  // CHECK: arith.shli %{{.*}} => [128] [any] [1]{{$}}
  %0 = arith.shli %r, %c0 : tensor<128xi32>
  // CHECK: arith.shli %{{.*}} => [1] [4] [1]{{$}}
  %1 = arith.shli %r, %c2 : tensor<128xi32>
  // CHECK: arith.shli %{{.*}} => [1] [64] [128]{{$}}
  %2 = arith.shli %sx, %c2 : tensor<128xi32>
  // By an unknown amount: at least what it was; a run's values were odd.
  // CHECK: arith.shli %{{.*}} => [1] [16] [128]{{$}}
  %3 = arith.shli %sx, %sy : tensor<128xi32>
  // CHECK: arith.shli %{{.*}} => [1] [1] [1]{{$}}
  %4 = arith.shli %r, %sy : tensor<128xi32>
  // CHECK: arith.shrsi %{{.*}} => [1] [4] [128]{{$}}
  %5 = arith.shrsi %sx, %c2 : tensor<128xi32>
  // CHECK: arith.shrui %{{.*}} => [1] [1] [4]{{$}}
  %6 = arith.shrui %r, %c2 : tensor<128xi32>
  // CHECK: arith.shrsi %{{.*}} => [1] [1] [128]{{$}}
  %7 = arith.shrsi %sx, %sy : tensor<128xi32>
  // CHECK: arith.andi %{{.*}} => [16] [16] [1]{{$}}
  %8 = arith.andi %r, %c15 : tensor<128xi32>
  // CHECK: arith.andi %{{.*}} => [1] [16] [128]{{$}}
  %9 = arith.andi %sx, %sy : tensor<128xi32>
  // CHECK: arith.ori %{{.*}} => [1] [1] [128]{{$}}
  %10 = arith.ori %sx, %sy : tensor<128xi32>
  // CHECK: arith.xori %{{.*}} => [1] [1] [1]{{$}}
  %11 = arith.xori %r, %c15 : tensor<128xi32>
  // CHECK: arith.ori %{{.*}} => [1] [1] [128] constant 15
  %12 = arith.ori %c2, %c15 : tensor<128xi32>
  tt.return
}

// -----

// Comparisons change their outcome only between groups.
// CHECK-LABEL: @compare
tt.func @compare(%x: i32 {tt.divisibility = 16 : i32}, %y: i32) {
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %c6 = arith.constant dense<6> : tensor<128xi32>
  %c8 = arith.constant dense<8> : tensor<128xi32>
  %sx = tt.splat %x : i32 -> tensor<128xi32>
  %sy = tt.splat %y : i32 -> tensor<128xi32>
  // CHECK: arith.cmpi slt, %{{.*}} => [1] [1] [16]{{$}}
  %0 = arith.cmpi slt, %r, %sx : tensor<128xi32>
  // CHECK: arith.cmpi uge, %{{.*}} => [1] [1] [16]{{$}}
  %1 = arith.cmpi uge, %r, %sx : tensor<128xi32>
  // CHECK: arith.cmpi sgt, %{{.*}} => [1] [1] [16]{{$}}
  %2 = arith.cmpi sgt, %sx, %r : tensor<128xi32>
  // x <= 16 changes inside of a group, and so does 16 < x.
  // CHECK: arith.cmpi sle, %{{.*}} => [1] [1] [1]{{$}}
  %3 = arith.cmpi sle, %r, %sx : tensor<128xi32>
  // CHECK: arith.cmpi slt, %{{.*}} => [1] [1] [1]{{$}}
  %4 = arith.cmpi slt, %sx, %r : tensor<128xi32>
  // CHECK: arith.cmpi slt, %{{.*}} => [1] [1] [1]{{$}}
  %5 = arith.cmpi slt, %r, %sy : tensor<128xi32>
  // CHECK: arith.cmpi slt, %{{.*}} => [1] [1] [2]{{$}}
  %6 = arith.cmpi slt, %r, %c6 : tensor<128xi32>
  // CHECK: arith.cmpi eq, %{{.*}} => [1] [1] [128]{{$}}
  %7 = arith.cmpi eq, %sx, %sy : tensor<128xi32>
  // CHECK: arith.cmpi ult, %{{.*}} => [1] [1] [128] constant 1
  %8 = arith.cmpi ult, %c6, %c8 : tensor<128xi32>
  // Masks of several conditions.
  // CHECK: arith.andi %{{.*}} => [1] [1] [2]{{$}}
  %9 = arith.andi %0, %6 : tensor<128xi1>
  tt.return
}

// -----

// Selection, minimum, maximum.
// CHECK-LABEL: @select
tt.func @select(%x: i32 {tt.divisibility = 16 : i32}, %b: i1) {
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %r8 = tt.make_range {start = 8 : i32, end = 136 : i32} : tensor<128xi32>
  %c4 = arith.constant dense<4> : tensor<128xi32>
  %true = arith.constant true
  %sx = tt.splat %x : i32 -> tensor<128xi32>
  %low = arith.cmpi slt, %r, %sx : tensor<128xi32>
  %odd = arith.cmpi eq, %r, %sx : tensor<128xi32>
  // CHECK: arith.select %{{.*}} => [128] [8] [1]{{$}}
  %0 = arith.select %b, %r, %r8 : tensor<128xi32>
  // CHECK: arith.select %{{.*}} => [16] [8] [1]{{$}}
  %1 = arith.select %low, %r, %r8 : tensor<128xi1>, tensor<128xi32>
  // CHECK: arith.select %{{.*}} => [1] [1] [1]{{$}}
  %2 = arith.select %odd, %r, %r8 : tensor<128xi1>, tensor<128xi32>
  // CHECK: arith.select %{{.*}} => [1] [4] [16]{{$}}
  %3 = arith.select %low, %sx, %c4 : tensor<128xi1>, tensor<128xi32>
  // CHECK: arith.select %{{.*}} => [128] [any] [1]{{$}}
  %4 = arith.select %true, %r, %sx : tensor<128xi32>
  // CHECK: arith.maxsi %{{.*}} => [128] [8] [1]{{$}}
  %5 = arith.maxsi %r, %r8 : tensor<128xi32>
  // CHECK: arith.minui %{{.*}} => [1] [4] [128]{{$}}
  %6 = arith.minui %sx, %c4 : tensor<128xi32>
  // CHECK: arith.minsi %{{.*}} => [1] [1] [1]{{$}}
  %7 = arith.minsi %r, %c4 : tensor<128xi32>
  tt.return
}

// -----

// Casts keep values; a narrow type cannot hold a long run.
// CHECK-LABEL: @cast
tt.func @cast(%x: i32 {tt.divisibility = 16 : i32}, %p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  // CHECK: arith.extsi %{{.*}} => [512] [any] [1]{{$}}
  %0 = arith.extsi %r : tensor<512xi32> to tensor<512xi64>
  // CHECK: arith.trunci %{{.*}} => [512] [any] [1]{{$}}
  %1 = arith.trunci %0 : tensor<512xi64> to tensor<512xi32>
  // CHECK: arith.trunci %{{.*}} => [128] [128] [1]{{$}}
  %2 = arith.trunci %r : tensor<512xi32> to tensor<512xi8>
  // CHECK: arith.index_cast %{{.*}} => [1] [16] [1]{{$}}
  %3 = arith.index_cast %x : i32 to index
  %m1 = arith.constant -1 : i32
  // CHECK: arith.extui %{{.*}} => {{.*}} constant 4294967295
  %4 = arith.extui %m1 : i32 to i64
  // CHECK: arith.extsi %{{.*}} => {{.*}} constant -1
  %5 = arith.extsi %m1 : i32 to i64
  // CHECK: tt.ptr_to_int %{{.*}} => [1] [16] [1]{{$}}
  %6 = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  // CHECK: tt.int_to_ptr %{{.*}} => [1] [16] [1]{{$}}
  %7 = tt.int_to_ptr %6 : i64 -> !tt.ptr<f16>
  // CHECK: arith.sitofp %{{.*}} => [1] [1] [1]{{$}}
  %8 = arith.sitofp %r : tensor<512xi32> to tensor<512xf32>
  // CHECK: tt.bitcast %{{.*}} => [1] [1] [1]{{$}}
  %9 = tt.bitcast %8 : tensor<512xf32> -> tensor<512xi32>
  // CHECK: tt.bitcast %{{.*}} => [512] [any] [1]{{$}}
  %10 = tt.bitcast %r : tensor<512xi32> -> tensor<512xi32>
  tt.return
}

// -----

// Functions of each element alone keep constancy; those with effects keep nothing.
// CHECK-LABEL: @elementwise
tt.func @elementwise(%x: f32) {
  %s = tt.splat %x : f32 -> tensor<64xf32>
  %c = arith.constant dense<0.0> : tensor<64xf32>
  // CHECK: arith.cmpf olt, %{{.*}} => [1] [1] [64]{{$}}
  %0 = arith.cmpf olt, %s, %c : tensor<64xf32>
  // CHECK: math.exp %{{.*}} => [1] [1] [64]{{$}}
  %1 = math.exp %s : tensor<64xf32>
  // CHECK: tt.extern_elementwise %{{.*}} => [1] [1] [1]{{$}}
  %2 = tt.extern_elementwise %s {libname = "", libpath = "", pure = false, symbol = "f"} : (tensor<64xf32>) -> tensor<64xf32>
  tt.return
}

// -----

// Zero divided by anything stays what it is; a shift beyond the width has no value; a scalar condition that is known.
// CHECK-LABEL: @zero
tt.func @zero(%x: i32 {tt.divisibility = 16 : i32}, %y: i32) {
  %c0 = arith.constant dense<0> : tensor<128xi32>
  %c40 = arith.constant dense<40> : tensor<128xi32>
  %false = arith.constant false
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %sx = tt.splat %x : i32 -> tensor<128xi32>
  %sy = tt.splat %y : i32 -> tensor<128xi32>
  // CHECK: arith.divsi %{{.*}} => [1] [any] [128] constant 0
  %0 = arith.divsi %c0, %sy : tensor<128xi32>
  // CHECK: arith.remui %{{.*}} => [1] [any] [128] constant 0
  %1 = arith.remui %c0, %sy : tensor<128xi32>
  // CHECK: arith.shli %{{.*}} => [1] [1] [1]{{$}}
  %2 = arith.shli %r, %c40 : tensor<128xi32>
  // CHECK: arith.shrui %{{.*}} => [128] [any] [1]{{$}}
  %3 = arith.shrui %r, %c0 : tensor<128xi32>
  // CHECK: arith.select %{{.*}} => [1] [16] [128]{{$}}
  %4 = arith.select %false, %r, %sx : tensor<128xi32>
  // CHECK: arith.maxui %{{.*}} => [1] [1] [128]{{$}}
  %5 = arith.maxui %sx, %sy : tensor<128xi32>
  // CHECK: arith.index_castui %{{.*}} => [1] [16] [1]{{$}}
  %6 = arith.index_castui %x : i32 to index
  tt.return
}

// -----

// Indices do not wrap around. Hashes do, whose quotients below zero are no groups: -16 / 4 is -4, and -15 / 4 is -3.
// CHECK-LABEL: @hashes
tt.func @hashes(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c16 = arith.constant 16 : i32
  %large = arith.constant 1103515248 : i32
  %four = arith.constant dense<4> : tensor<64xi32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %pid = tt.get_program_id x : i32
  %a0 = arith.muli %pid, %c16 : i32
  %a1 = tt.splat %a0 : i32 -> tensor<64xi32>
  %a2 = arith.addi %a1, %r : tensor<64xi32>
  // CHECK: arith.divsi %{{.*}} => [1] [1] [4]{{$}}
  %a = arith.divsi %a2, %four : tensor<64xi32>
  %b0 = arith.muli %pid, %large : i32
  %b1 = tt.splat %b0 : i32 -> tensor<64xi32>
  %b2 = arith.addi %b1, %r : tensor<64xi32>
  // CHECK: arith.divsi %{{.*}} => [1] [1] [1]{{$}}
  %b = arith.divsi %b2, %four : tensor<64xi32>
  %h = scf.for %i = %c0 to %n step %c1 iter_args(%x = %pid) -> (i32) : i32 {
    %y = arith.muli %x, %c5 : i32
    %z = arith.addi %y, %c1 : i32
    scf.yield %z : i32
  }
  %d0 = arith.muli %h, %c16 : i32
  %d1 = tt.splat %d0 : i32 -> tensor<64xi32>
  %d2 = arith.addi %d1, %r : tensor<64xi32>
  // CHECK: arith.divsi %{{.*}} => [1] [1] [1]{{$}}
  %d = arith.divsi %d2, %four : tensor<64xi32>
  tt.return
}
