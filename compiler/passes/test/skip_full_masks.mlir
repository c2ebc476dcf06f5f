// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-skip-full-masks | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-skip-full-masks=registers=2048 | FileCheck %s --check-prefix=FEW
// RUN: triton-opt %s -split-input-file --ttg-skip-full-masks="registers=65536 most-registers=16" | FileCheck %s --check-prefix=FEW

// The causal mask: all true where the first row is not before the last column, and no sum has wrapped around.
// CHECK-LABEL: @causal
//       CHECK:   scf.for %[[N:[^ ]*]] =
//       CHECK:     %[[ROW:.*]] = arith.extsi %arg0 : i32 to i64
//       CHECK:     %[[COLUMN:.*]] = arith.extsi %[[N]] : i32 to i64
//       CHECK:     %[[LAST:.*]] = arith.addi %[[COLUMN]], %c63_i64
//       CHECK:     %[[ALL:.*]] = arith.cmpi sge, %{{.*}}, %[[LAST]] : i64
//       CHECK:     arith.cmpi sge, {{.*}}, %c-2147483648_i64
//       CHECK:     arith.cmpi sle, {{.*}}, %c2147483647_i64
//       CHECK:     %[[Y:.*]] = scf.if %{{.*}} -> (tensor<64x64xf32, #blocked>) {
//  CHECK-NEXT:       scf.yield %[[X:.*]] :
//  CHECK-NEXT:     } else {
//  CHECK-NEXT:       %[[MASK:.*]] = arith.cmpi sge
//  CHECK-NEXT:       %[[CUT:.*]] = arith.select %[[MASK]], %[[X]],
//  CHECK-NEXT:       scf.yield %[[CUT]]
// A thread has 16 registers, and 32 words of what is masked.
// FEW-LABEL: @causal
//   FEW-NOT:   scf.if
//       FEW:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.slice<{dim = 1, parent = #blocked}>
#column = #ttg.slice<{dim = 0, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @causal(%m: i32, %n: i32, %start: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %low = arith.constant dense<-1.0e6> : tensor<64x64xf32, #blocked>
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #row>
    %m1 = tt.splat %m : i32 -> tensor<64xi32, #row>
    %rows = arith.addi %m1, %i : tensor<64xi32, #row>
    %rows1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #row> -> tensor<64x1xi32, #blocked>
    %rows2 = tt.broadcast %rows1 : tensor<64x1xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #column>
    %r = scf.for %k = %c0 to %n step %c64 iter_args(%x = %start) -> (tensor<64x64xf32, #blocked>) : i32 {
      %k1 = tt.splat %k : i32 -> tensor<64xi32, #column>
      %columns = arith.addi %k1, %j : tensor<64xi32, #column>
      %columns1 = tt.expand_dims %columns {axis = 0 : i32} : tensor<64xi32, #column> -> tensor<1x64xi32, #blocked>
      %columns2 = tt.broadcast %columns1 : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
      %mask = arith.cmpi sge, %rows2, %columns2 : tensor<64x64xi32, #blocked>
      %y = arith.select %mask, %x, %low : tensor<64x64xi1, #blocked>, tensor<64x64xf32, #blocked>
      scf.yield %y : tensor<64x64xf32, #blocked>
    }
    tt.return %r : tensor<64x64xf32, #blocked>
  }
}

// -----

// A conjunction, of which a part is compared with a scalar: both parts move into the branch.
// CHECK-LABEL: @bounds
//       CHECK:     arith.cmpi slt, {{.*}} : i64
//       CHECK:     arith.andi {{.*}} : i1
//       CHECK:     scf.if
//       CHECK:     } else {
//  CHECK-NEXT:       arith.cmpi slt, {{.*}} : tensor<1x64xi32
//  CHECK-NEXT:       tt.broadcast
//  CHECK-NEXT:       arith.cmpi sgt, {{.*}} : tensor<64x64xi32
//  CHECK-NEXT:       arith.andi
//  CHECK-NEXT:       arith.select
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#column = #ttg.slice<{dim = 0, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @bounds(%size: i32, %n: i32, %start: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %low = arith.constant dense<-1.0e6> : tensor<64x64xf32, #blocked>
    %five = arith.constant dense<5> : tensor<64x64xi32, #blocked>
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %sizes = tt.splat %size : i32 -> tensor<1x64xi32, #blocked>
    %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #column>
    %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #column> -> tensor<1x64xi32, #blocked>
    %r = scf.for %k = %c0 to %n step %c64 iter_args(%x = %start) -> (tensor<64x64xf32, #blocked>) : i32 {
      %k1 = tt.splat %k : i32 -> tensor<1x64xi32, #blocked>
      %columns = arith.addi %k1, %j1 : tensor<1x64xi32, #blocked>
      %inside = arith.cmpi slt, %columns, %sizes : tensor<1x64xi32, #blocked>
      %inside2 = tt.broadcast %inside : tensor<1x64xi1, #blocked> -> tensor<64x64xi1, #blocked>
      %columns2 = tt.broadcast %columns : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
      %beyond = arith.cmpi sgt, %columns2, %five : tensor<64x64xi32, #blocked>
      %mask = arith.andi %inside2, %beyond : tensor<64x64xi1, #blocked>
      %y = arith.select %mask, %x, %low : tensor<64x64xi1, #blocked>, tensor<64x64xf32, #blocked>
      scf.yield %y : tensor<64x64xf32, #blocked>
    }
    tt.return %r : tensor<64x64xf32, #blocked>
  }
}

// -----

// Left as they are: masks that are computed anyway, few elements, columns that are loaded, unsigned comparisons, what
// stands in no loop, and masks that cut in most iterations.
// CHECK-LABEL: @others
//   CHECK-NOT:   scf.if
//       CHECK:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#small = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#column = #ttg.slice<{dim = 0, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @others(%n: i32, %start: tensor<64x64xf32, #blocked>, %given: tensor<64x64xi32, #blocked>, %p: tensor<64x64x!tt.ptr<f32>, #blocked>,
                  %one: tensor<512xf32, #small>) -> (tensor<64x64xf32, #blocked>, tensor<512xf32, #small>) {
    %low = arith.constant dense<-1.0e6> : tensor<64x64xf32, #blocked>
    %lows = arith.constant dense<-1.0e6> : tensor<512xf32, #small>
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %sizes = tt.splat %n : i32 -> tensor<64x64xi32, #blocked>
    %size = tt.splat %n : i32 -> tensor<512xi32, #small>
    %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #small>
    %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #column>
    %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #column> -> tensor<1x64xi32, #blocked>
    %columns = tt.broadcast %j1 : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %outside = arith.cmpi slt, %columns, %sizes : tensor<64x64xi32, #blocked>
    %first = arith.select %outside, %start, %low : tensor<64x64xi1, #blocked>, tensor<64x64xf32, #blocked>
    %r:2 = scf.for %k = %c0 to %n step %c64 iter_args(%x = %first, %y = %one) -> (tensor<64x64xf32, #blocked>, tensor<512xf32, #small>) : i32 {
      %ks = tt.splat %k : i32 -> tensor<64x64xi32, #blocked>
      %kc = arith.addi %ks, %columns : tensor<64x64xi32, #blocked>
      %used = arith.cmpi slt, %kc, %sizes : tensor<64x64xi32, #blocked>
      %z = tt.load %p, %used, %x : tensor<64x64x!tt.ptr<f32>, #blocked>
      %a = arith.select %used, %z, %low : tensor<64x64xi1, #blocked>, tensor<64x64xf32, #blocked>
      %unknown = arith.cmpi slt, %kc, %given : tensor<64x64xi32, #blocked>
      %b = arith.select %unknown, %a, %low : tensor<64x64xi1, #blocked>, tensor<64x64xf32, #blocked>
      %unsigned = arith.cmpi ult, %kc, %sizes : tensor<64x64xi32, #blocked>
      %c = arith.select %unsigned, %b, %low : tensor<64x64xi1, #blocked>, tensor<64x64xf32, #blocked>
      %few = arith.cmpi slt, %i, %size : tensor<512xi32, #small>
      %d = arith.select %few, %y, %lows : tensor<512xi1, #small>, tensor<512xf32, #small>
      %slow = arith.divsi %k, %c64 : i32
      %slows = tt.splat %slow : i32 -> tensor<64x64xi32, #blocked>
      %cuts = arith.cmpi sgt, %columns, %slows : tensor<64x64xi32, #blocked>
      %e = arith.select %cuts, %c, %low : tensor<64x64xi1, #blocked>, tensor<64x64xf32, #blocked>
      scf.yield %e, %d : tensor<64x64xf32, #blocked>, tensor<512xf32, #small>
    }
    tt.return %r#0, %r#1 : tensor<64x64xf32, #blocked>, tensor<512xf32, #small>
  }
}

// -----

// By one a step: the columns of a block pass the row in as many iterations as there are columns.
// CHECK-LABEL: @one_by_one
//   CHECK-NOT:   scf.if
//       CHECK:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#column = #ttg.slice<{dim = 0, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @one_by_one(%n: i32, %start: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %low = arith.constant dense<0.0> : tensor<64x64xf32, #blocked>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #column>
    %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #column> -> tensor<1x64xi32, #blocked>
    %columns = tt.broadcast %j1 : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%x = %start) -> (tensor<64x64xf32, #blocked>) : i32 {
      %ks = tt.splat %k : i32 -> tensor<64x64xi32, #blocked>
      %mask = arith.cmpi sgt, %columns, %ks : tensor<64x64xi32, #blocked>
      %y = arith.select %mask, %x, %low : tensor<64x64xi1, #blocked>, tensor<64x64xf32, #blocked>
      scf.yield %y : tensor<64x64xf32, #blocked>
    }
    tt.return %r : tensor<64x64xf32, #blocked>
  }
}

// -----

// A dot that runs beside the selection stays beside it; one that needs it does not matter.
// CHECK-LABEL: @beside_a_dot
//   CHECK-NOT:   scf.if
//       CHECK: tt.return
// CHECK-LABEL: @before_a_dot
//       CHECK:   scf.if
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
#column = #ttg.slice<{dim = 0, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @beside_a_dot(%n: i32, %p: tensor<64x64xf32, #a>, %q: tensor<64x64xf32, #b>, %start: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #blocked>
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %sizes = tt.splat %n : i32 -> tensor<1x64xi32, #blocked>
    %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #column>
    %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #column> -> tensor<1x64xi32, #blocked>
    %r = scf.for %k = %c0 to %n step %c64 iter_args(%x = %start) -> (tensor<64x64xf32, #blocked>) : i32 {
      %ks = tt.splat %k : i32 -> tensor<1x64xi32, #blocked>
      %columns = arith.addi %ks, %j1 : tensor<1x64xi32, #blocked>
      %inside = arith.cmpi slt, %columns, %sizes : tensor<1x64xi32, #blocked>
      %mask = tt.broadcast %inside : tensor<1x64xi1, #blocked> -> tensor<64x64xi1, #blocked>
      %y = arith.select %mask, %x, %zero : tensor<64x64xi1, #blocked>, tensor<64x64xf32, #blocked>
      %d = tt.dot %p, %q, %zero : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #blocked>
      %s = arith.addf %y, %d : tensor<64x64xf32, #blocked>
      scf.yield %s : tensor<64x64xf32, #blocked>
    }
    tt.return %r : tensor<64x64xf32, #blocked>
  }

  tt.func @before_a_dot(%n: i32, %p: tensor<64x64xf32, #a>, %q: tensor<64x64xf32, #b>, %start: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #blocked>
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %sizes = tt.splat %n : i32 -> tensor<1x64xi32, #blocked>
    %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #column>
    %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #column> -> tensor<1x64xi32, #blocked>
    %r = scf.for %k = %c0 to %n step %c64 iter_args(%x = %start) -> (tensor<64x64xf32, #blocked>) : i32 {
      %ks = tt.splat %k : i32 -> tensor<1x64xi32, #blocked>
      %columns = arith.addi %ks, %j1 : tensor<1x64xi32, #blocked>
      %inside = arith.cmpi slt, %columns, %sizes : tensor<1x64xi32, #blocked>
      %mask = tt.broadcast %inside : tensor<1x64xi1, #blocked> -> tensor<64x64xi1, #blocked>
      %y = arith.select %mask, %x, %zero : tensor<64x64xi1, #blocked>, tensor<64x64xf32, #blocked>
      %d = tt.dot %p, %q, %y : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #blocked>
      scf.yield %d : tensor<64x64xf32, #blocked>
    }
    tt.return %r : tensor<64x64xf32, #blocked>
  }
}

// -----

// Scores that are scaled before the mask: the branch yields them as they are with the scale, or the selection with 1.
// CHECK-LABEL: @scaled
//  CHECK-SAME:   %[[SCALE:[a-z0-9]+]]: f32
//       CHECK:   %[[C:.*]] = math.absf %[[SCALE]]
//       CHECK:   scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
//       CHECK:     %[[Y:.*]]:2 = scf.if %{{.*}} -> (tensor<64x64xf32, #blocked>, f32) {
//  CHECK-NEXT:       scf.yield %[[X]], %[[C]] :
//       CHECK:       %[[S:.*]] = arith.mulf %[[X]],
//       CHECK:       %[[CUT:.*]] = arith.select %{{.*}}, %[[S]],
//       CHECK:       scf.yield %[[CUT]], %cst{{.*}} :
//       CHECK:     %[[R:.*]] = "tt.reduce"(%[[Y]]#0)
//       CHECK:     %[[F:.*]] = tt.splat %[[Y]]#1 : f32 -> tensor<64xf32
//       CHECK:     arith.mulf %[[R]], %[[F]]
//       CHECK:     %[[FS:.*]] = tt.splat %[[Y]]#1 : f32 -> tensor<64x64xf32
//       CHECK:     %[[P:.*]] = arith.mulf %[[Y]]#0, %[[FS]]
//       CHECK:     arith.subf %[[P]],
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.slice<{dim = 1, parent = #blocked}>
#column = #ttg.slice<{dim = 0, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @scaled(%scale: f32, %size: i32, %n: i32, %start: tensor<64x64xf32, #blocked>, %first: tensor<64xf32, #row>)
      -> (tensor<64x64xf32, #blocked>, tensor<64xf32, #row>) {
    %low = arith.constant dense<-1.0e6> : tensor<64x64xf32, #blocked>
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %c = math.absf %scale : f32
    %cs = tt.splat %c : f32 -> tensor<64x64xf32, #blocked>
    %sizes = tt.splat %size : i32 -> tensor<1x64xi32, #blocked>
    %j = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #column>
    %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #column> -> tensor<1x64xi32, #blocked>
    %r:2 = scf.for %k = %c0 to %n step %c64 iter_args(%x = %start, %m = %first) -> (tensor<64x64xf32, #blocked>, tensor<64xf32, #row>) : i32 {
      %k1 = tt.splat %k : i32 -> tensor<1x64xi32, #blocked>
      %columns = arith.addi %k1, %j1 : tensor<1x64xi32, #blocked>
      %inside = arith.cmpi slt, %columns, %sizes : tensor<1x64xi32, #blocked>
      %mask = tt.broadcast %inside : tensor<1x64xi1, #blocked> -> tensor<64x64xi1, #blocked>
      %s = arith.mulf %x, %cs : tensor<64x64xf32, #blocked>
      %y = arith.select %mask, %s, %low : tensor<64x64xi1, #blocked>, tensor<64x64xf32, #blocked>
      %t = "tt.reduce"(%y) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %h: f32):
        %g = arith.maxnumf %l, %h : f32
        tt.reduce.return %g : f32
      }) : (tensor<64x64xf32, #blocked>) -> tensor<64xf32, #row>
      %u = arith.maxnumf %m, %t : tensor<64xf32, #row>
      %e = tt.expand_dims %u {axis = 1 : i32} : tensor<64xf32, #row> -> tensor<64x1xf32, #blocked>
      %b = tt.broadcast %e : tensor<64x1xf32, #blocked> -> tensor<64x64xf32, #blocked>
      %d = arith.subf %y, %b : tensor<64x64xf32, #blocked>
      scf.yield %d, %u : tensor<64x64xf32, #blocked>, tensor<64xf32, #row>
    }
    tt.return %r#0, %r#1 : tensor<64x64xf32, #blocked>, tensor<64xf32, #row>
  }
}

// -----

// Booleans have few registers: a branch would pack them.
// CHECK-LABEL: @booleans
//   CHECK-NOT:   scf.if
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#row = #ttg.slice<{dim = 0, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @booleans(%n: i32, %start: tensor<16x1024xi32, #blocked>, %x: tensor<16x1024xi32, #blocked>) -> tensor<16x1024xi32, #blocked> {
    %none = arith.constant dense<false> : tensor<16x1024xi1, #blocked>
    %c0 = arith.constant 0 : i32
    %c1024 = arith.constant 1024 : i32
    %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #row>
    %last = tt.splat %n : i32 -> tensor<1024xi32, #row>
    %r = scf.for %k = %c0 to %n step %c1024 iter_args(%count = %start) -> (tensor<16x1024xi32, #blocked>) : i32 {
      %k1 = tt.splat %k : i32 -> tensor<1024xi32, #row>
      %at = arith.addi %k1, %i : tensor<1024xi32, #row>
      %in = arith.cmpi slt, %at, %last : tensor<1024xi32, #row>
      %in1 = tt.expand_dims %in {axis = 0 : i32} : tensor<1024xi1, #row> -> tensor<1x1024xi1, #blocked>
      %mask = tt.broadcast %in1 : tensor<1x1024xi1, #blocked> -> tensor<16x1024xi1, #blocked>
      %match = arith.cmpi eq, %count, %x : tensor<16x1024xi32, #blocked>
      %taken = arith.select %mask, %match, %none : tensor<16x1024xi1, #blocked>, tensor<16x1024xi1, #blocked>
      %one = arith.extui %taken : tensor<16x1024xi1, #blocked> to tensor<16x1024xi32, #blocked>
      %next = arith.addi %count, %one : tensor<16x1024xi32, #blocked>
      scf.yield %next : tensor<16x1024xi32, #blocked>
    }
    tt.return %r : tensor<16x1024xi32, #blocked>
  }
}

// -----

// The sum of a row is selected as a whole. Not so where each element has a condition of its own.
// CHECK-LABEL: @sums
//   CHECK-NOT:   scf.if
//       CHECK:   tt.return
// CHECK-LABEL: @sums_of_single_elements
//       CHECK:   scf.if
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#row = #ttg.slice<{dim = 1, parent = #blocked}>
#column = #ttg.slice<{dim = 0, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @sums(%m: i32, %n: i32, %x: tensor<8x1024xf32, #blocked>, %start: tensor<8xf32, #row>) -> tensor<8xf32, #row> {
    %zero = arith.constant dense<0.0> : tensor<8x1024xf32, #blocked>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %i = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32, #row>
    %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32, #row> -> tensor<8x1xi32, #blocked>
    %m1 = tt.splat %m : i32 -> tensor<8x1xi32, #blocked>
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %start) -> (tensor<8xf32, #row>) : i32 {
      %rows = arith.cmpi slt, %i1, %m1 : tensor<8x1xi32, #blocked>
      %mask = tt.broadcast %rows : tensor<8x1xi1, #blocked> -> tensor<8x1024xi1, #blocked>
      %y = arith.select %mask, %x, %zero : tensor<8x1024xi1, #blocked>, tensor<8x1024xf32, #blocked>
      %s = "tt.reduce"(%y) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        tt.reduce.return %c : f32
      }) : (tensor<8x1024xf32, #blocked>) -> tensor<8xf32, #row>
      %next = arith.addf %sum, %s : tensor<8xf32, #row>
      scf.yield %next : tensor<8xf32, #row>
    }
    tt.return %r : tensor<8xf32, #row>
  }
  tt.func @sums_of_single_elements(%m: i32, %n: i32, %x: tensor<8x1024xf32, #blocked>, %start: tensor<8xf32, #row>) -> tensor<8xf32, #row> {
    %zero = arith.constant dense<0.0> : tensor<8x1024xf32, #blocked>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %j = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #column>
    %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<1024xi32, #column> -> tensor<1x1024xi32, #blocked>
    %j2 = tt.broadcast %j1 : tensor<1x1024xi32, #blocked> -> tensor<8x1024xi32, #blocked>
    %m1 = tt.splat %m : i32 -> tensor<8x1024xi32, #blocked>
    %i = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32, #row>
    %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32, #row> -> tensor<8x1xi32, #blocked>
    %i2 = tt.broadcast %i1 : tensor<8x1xi32, #blocked> -> tensor<8x1024xi32, #blocked>
    %ij = arith.addi %i2, %j2 : tensor<8x1024xi32, #blocked>
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %start) -> (tensor<8xf32, #row>) : i32 {
      %mask = arith.cmpi slt, %ij, %m1 : tensor<8x1024xi32, #blocked>
      %y = arith.select %mask, %x, %zero : tensor<8x1024xi1, #blocked>, tensor<8x1024xf32, #blocked>
      %s = "tt.reduce"(%y) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        tt.reduce.return %c : f32
      }) : (tensor<8x1024xf32, #blocked>) -> tensor<8xf32, #row>
      %next = arith.addf %sum, %s : tensor<8xf32, #row>
      scf.yield %next : tensor<8xf32, #row>
    }
    tt.return %r : tensor<8xf32, #row>
  }
}
