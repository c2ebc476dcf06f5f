// RUN: triton-opt %s --split-input-file --test-print-axis-info -o /dev/null | FileCheck %s
// RUN: triton-opt %s --split-input-file --convert-scf-to-cf --test-print-axis-info -o /dev/null | FileCheck %s --check-prefix=CF
// Facts through hints, loops, branches and calls: => [contiguity] [divisibility] [constancy].

// Hints on operations and parameters.
// CHECK-LABEL: @hints
tt.func @hints(%x: i32, %y: i32 {tt.divisibility = 24 : i32}) {
  %sx = tt.splat %x : i32 -> tensor<64xi32>
  // CHECK: tt.splat %arg1 {{.*}} => [1] [8] [64]{{$}}
  %sy = tt.splat %y : i32 -> tensor<64xi32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  // CHECK: arith.remsi %{{.*}} => [16] [16] [1]{{$}}
  %0 = arith.remsi %r, %sx {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : tensor<64xi32>
  // CHECK: arith.cmpi eq, %{{.*}} => [1] [1] [8]{{$}}
  %1 = arith.cmpi eq, %0, %r {tt.constancy = dense<8> : tensor<1xi32>} : tensor<64xi32>
  // A hint weaker than what is known changes nothing; one of another rank is ignored.
  // CHECK: arith.addi %{{.*}} => [64] [8] [1]{{$}}
  %2 = arith.addi %sy, %r {tt.divisibility = dense<4> : tensor<1xi32>} : tensor<64xi32>
  // CHECK: arith.addi %{{.*}} => [64] [1] [1]{{$}}
  %3 = arith.addi %sx, %r {tt.divisibility = dense<16> : tensor<2xi32>} : tensor<64xi32>
  tt.return
}

// -----

// Assumptions of the entry block hold everywhere, those of other blocks do not.
// CHECK-LABEL: @assume
tt.func @assume(%x: i32, %y: i32, %b: i1) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  // CHECK: arith.muli %{{.*}} => [1] [64] [1]{{$}}
  %0 = arith.muli %x, %c8 : i32
  // CHECK: arith.addi %{{.*}} => [1] [1] [1]{{$}}
  %1 = arith.addi %y, %c8 : i32
  %rem = arith.remsi %x, %c8 : i32
  %zero = arith.cmpi eq, %rem, %c0 : i32
  llvm.intr.assume %zero : i1
  scf.if %b {
    %rem_y = arith.remsi %y, %c8 : i32
    %zero_y = arith.cmpi eq, %rem_y, %c0 : i32
    llvm.intr.assume %zero_y : i1
  }
  tt.return
}

// -----

// An assumption of the block that makes a value holds wherever the value is, also after a branch.
// CHECK-LABEL: @assume_beside
// CF-LABEL: @assume_beside
tt.func @assume_beside(%x: i32, %y: i32, %b: i1) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %z = scf.if %b -> (i32) {
    scf.yield %x : i32
  } else {
    scf.yield %y : i32
  }
  %d = arith.subi %z, %y : i32
  %d16 = arith.muli %d, %c16 : i32
  %positive = arith.cmpi sge, %d16, %c0 : i32
  llvm.intr.assume %positive : i1
  // The assumption is of another block than the argument.
  %positive_y = arith.cmpi sge, %y, %c0 : i32
  scf.if %b {
    llvm.intr.assume %positive_y : i1
  }
  %y16 = arith.muli %y, %c16 : i32
  %sd = tt.splat %d16 : i32 -> tensor<64xi32>
  %sy = tt.splat %y16 : i32 -> tensor<64xi32>
  %id = arith.addi %sd, %r : tensor<64xi32>
  %iy = arith.addi %sy, %r : tensor<64xi32>
  %n = arith.constant dense<48> : tensor<64xi32>
  // CHECK: arith.remsi %{{.*}} => [16] [16] [1]{{$}}
  // CF: arith.remsi %{{.*}} => [16] [16] [1]{{$}}
  %0 = arith.remsi %id, %n : tensor<64xi32>
  // CHECK: arith.remsi %{{.*}} => [1] [1] [1]{{$}}
  // CF: arith.remsi %{{.*}} => [1] [1] [1]{{$}}
  %1 = arith.remsi %iy, %n : tensor<64xi32>
  tt.return
}

// -----

// The counter of a loop, a pointer that advances, and one that stops being aligned.
// CHECK-LABEL: @for_loop
// CF-LABEL: @for_loop
tt.func @for_loop(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %sp = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %ptrs = tt.addptr %sp, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %step = arith.constant dense<32> : tensor<64xi32>
  %odd = arith.constant dense<3> : tensor<64xi32>
  // CHECK: scf.for {{.*}} => [64] [16] [1]{{$}}
  // CHECK: scf.for {{.*}} => [64] [2] [1]{{$}}
  // CHECK: argument 0 of block 0 of scf.for => [1] [32] [1]{{$}}
  // CHECK: argument 1 of block 0 of scf.for => [64] [16] [1]{{$}}
  // CHECK: argument 2 of block 0 of scf.for => [64] [2] [1]{{$}}
  // CF: argument 0 of block 1 of tt.func => [1] [32] [1]{{$}}
  // CF: argument 1 of block 1 of tt.func => [64] [16] [1]{{$}}
  // CF: argument 2 of block 1 of tt.func => [64] [2] [1]{{$}}
  %res:2 = scf.for %i = %c0 to %n step %c32 iter_args(%a = %ptrs, %b = %ptrs)
      -> (tensor<64x!tt.ptr<f16>>, tensor<64x!tt.ptr<f16>>) : i32 {
    %a1 = tt.addptr %a, %step : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
    %b1 = tt.addptr %b, %odd : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
    scf.yield %a1, %b1 : tensor<64x!tt.ptr<f16>>, tensor<64x!tt.ptr<f16>>
  }
  tt.return
}

// -----

// What an inner loop does to a value, the outer loop sees, and the other way round.
// CHECK-LABEL: @nested
// CF-LABEL: @nested
tt.func @nested(%x: i32 {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %c4 = arith.constant 4 : i32
  // CHECK: scf.for {{.*}} => [1] [4] [1]{{$}}
  // CHECK: argument 1 of block 0 of scf.for => [1] [4] [1]{{$}}
  // CHECK: scf.for {{.*}} => [1] [4] [1]{{$}}
  // CHECK: argument 1 of block 0 of scf.for => [1] [4] [1]{{$}}
  // CF: argument 1 of block 1 of tt.func => [1] [4] [1]{{$}}
  // CF: argument 1 of block 3 of tt.func => [1] [4] [1]{{$}}
  %outer = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> i32 : i32 {
    %inner = scf.for %j = %c0 to %n step %c1 iter_args(%w = %v) -> i32 : i32 {
      %w1 = arith.addi %w, %c8 : i32
      scf.yield %w1 : i32
    }
    %next = arith.addi %inner, %c4 : i32
    scf.yield %next : i32
  }
  tt.return
}

// -----

// Branches meet.
// CHECK-LABEL: @branches
// CF-LABEL: @branches
tt.func @branches(%x: i32 {tt.divisibility = 16 : i32}, %b: i1) {
  %c8 = arith.constant 8 : i32
  %c24 = arith.constant 24 : i32
  %p = ub.poison : i32
  // CHECK: scf.if {{.*}} => [1] [8] [1]{{$}}
  // CHECK: scf.if {{.*}} => [1] [8] [1] constant 8{{$}}
  // CHECK: scf.if {{.*}} => [1] [8] [1]{{$}}
  // CHECK: scf.if {{.*}} => [1] [16] [1]{{$}}
  // CF: argument 0 of block 3 of tt.func => [1] [8] [1]{{$}}
  // CF: argument 1 of block 3 of tt.func => [1] [8] [1] constant 8{{$}}
  // CF: argument 2 of block 3 of tt.func => [1] [8] [1]{{$}}
  // CF: argument 3 of block 3 of tt.func => [1] [16] [1]{{$}}
  %r:4 = scf.if %b -> (i32, i32, i32, i32) {
    scf.yield %x, %c8, %c8, %x : i32, i32, i32, i32
  } else {
    scf.yield %c8, %c8, %c24, %p : i32, i32, i32, i32
  }
  tt.return
}

// -----

// while: facts go around through both regions.
// CHECK-LABEL: @while_loop
// CF-LABEL: @while_loop
tt.func @while_loop(%x: i32 {tt.divisibility = 16 : i32}, %n: i32) {
  %c12 = arith.constant 12 : i32
  // CHECK: scf.while {{.*}} => [1] [4] [1]{{$}}
  // CHECK: argument 0 of block 0 of scf.while => [1] [4] [1]{{$}}
  // CHECK: argument 0 of block 0 of scf.while => [1] [4] [1]{{$}}
  // CF: argument 0 of block 1 of tt.func => [1] [4] [1]{{$}}
  %r = scf.while (%v = %x) : (i32) -> i32 {
    %go = arith.cmpi slt, %v, %n : i32
    scf.condition(%go) %v : i32
  } do {
  ^bb0(%w: i32):
    %next = arith.addi %w, %c12 : i32
    scf.yield %next : i32
  }
  tt.return
}

// -----

// A device function knows what all its callers have in common, through other functions as well.
// CHECK-LABEL: tt.func private @leaf
tt.func private @leaf(%v: i32, %unused: i32) {
  %c2 = arith.constant 2 : i32
  // CHECK: arith.muli %{{.*}} => [1] [16] [1]{{$}}
  %0 = arith.muli %v, %c2 : i32
  tt.return
}
tt.func private @middle(%v: i32) {
  tt.call @leaf(%v, %v) : (i32, i32) -> ()
  tt.return
}
tt.func public @kernel(%x: i32 {tt.divisibility = 16 : i32}) {
  %c24 = arith.constant 24 : i32
  tt.call @middle(%x) : (i32) -> ()
  tt.call @leaf(%c24, %x) : (i32, i32) -> ()
  tt.return
}

// -----

// Promises for a launch do not hold in calls; functions that call themselves know nothing.
// CHECK-LABEL: tt.func public @launched_and_called
tt.func public @launched_and_called(%v: i32 {tt.divisibility = 16 : i32}) {
  %c2 = arith.constant 2 : i32
  // CHECK: arith.muli %{{.*}} => [1] [8] [1]{{$}}
  %0 = arith.muli %v, %c2 : i32
  tt.return
}
// CHECK-LABEL: tt.func private @recursive
tt.func private @recursive(%v: i32) {
  %c2 = arith.constant 2 : i32
  // CHECK: arith.addi %{{.*}} => [1] [1] [1]{{$}}
  %0 = arith.addi %v, %c2 : i32
  tt.call @recursive(%0) : (i32) -> ()
  tt.return
}
tt.func public @kernel() {
  %c4 = arith.constant 4 : i32
  tt.call @launched_and_called(%c4) : (i32) -> ()
  tt.call @recursive(%c4) : (i32) -> ()
  tt.return
}
