// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s "--tt-join-neighbours=threads=128" | FileCheck %s

// Complex numbers: both parts at once.
// CHECK-LABEL: @pairs
// CHECK: %[[P:.+]] = tt.addptr {{.*}} : tensor<64x2x!tt.ptr<f32>>
// CHECK: %[[M:.+]] = tt.broadcast {{.*}} -> tensor<64x2xi1>
// CHECK: %[[V:.+]] = tt.load %[[P]], %[[M]]
// CHECK: %[[RE:.+]], %[[IM:.+]] = tt.split %[[V]]
// CHECK-NOT: tt.load
// CHECK: %[[J:.+]] = tt.join %[[IM]], %[[RE]]
// CHECK: tt.store {{.*}}, %[[J]], {{.*}} : tensor<64x2x!tt.ptr<f32>>
// CHECK-NOT: tt.store
tt.func public @pairs(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %one = arith.constant dense<1> : tensor<64xi32>
  %two = arith.constant dense<2> : tensor<64xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<64xi32>
  %at = arith.muli %i, %two : tensor<64xi32>
  %next = arith.addi %at, %one : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %q = tt.addptr %xs, %next : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %re = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
  %im = tt.load %q, %m : tensor<64x!tt.ptr<f32>>
  %r = tt.addptr %ys, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %s = tt.addptr %ys, %next : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %s, %re, %m : tensor<64x!tt.ptr<f32>>
  tt.store %r, %im, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}

// Four corners of boxes, in any order after the first one.
// CHECK-LABEL: @quads
// CHECK: %[[V:.+]] = tt.load {{.*}} : tensor<64x4x!tt.ptr<f32>>
// CHECK: %[[R:.+]] = tt.reshape %[[V]]
// CHECK: %[[EVEN:.+]], %[[ODD:.+]] = tt.split %[[R]]
// CHECK: %[[A:.+]], %[[C:.+]] = tt.split %[[EVEN]]
// CHECK: %[[B:.+]], %[[D:.+]] = tt.split %[[ODD]]
// CHECK-NOT: tt.load
// CHECK: arith.subf %[[C]], %[[A]]
// CHECK: arith.subf %[[D]], %[[B]]
tt.func public @quads(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) -> (tensor<64xf32>, tensor<64xf32>) {
  %one = arith.constant dense<1> : tensor<64xi32>
  %two = arith.constant dense<2> : tensor<64xi32>
  %three = arith.constant dense<3> : tensor<64xi32>
  %four = arith.constant dense<4> : tensor<64xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %at = arith.muli %i, %four : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %p1 = tt.addptr %p, %one : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %p2 = tt.addptr %p, %two : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %p3 = tt.addptr %p, %three : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %a = tt.load %p : tensor<64x!tt.ptr<f32>>
  %c = tt.load %p2 : tensor<64x!tt.ptr<f32>>
  %b = tt.load %p1 : tensor<64x!tt.ptr<f32>>
  %d = tt.load %p3 : tensor<64x!tt.ptr<f32>>
  %w = arith.subf %c, %a : tensor<64xf32>
  %h = arith.subf %d, %b : tensor<64xf32>
  tt.return %w, %h : tensor<64xf32>, tensor<64xf32>
}

// Points of three components are not aligned; neighbours of a row are loaded widely as they are.
// CHECK-LABEL: @apart
// CHECK-NOT: tt.split
tt.func public @apart(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %one = arith.constant dense<1> : tensor<64xi32>
  %three = arith.constant dense<3> : tensor<64xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %at = arith.muli %i, %three : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %q = tt.addptr %p, %one : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %a = tt.load %p : tensor<64x!tt.ptr<f32>>
  %b = tt.load %q : tensor<64x!tt.ptr<f32>>
  %r = tt.addptr %xs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %s = tt.addptr %r, %one : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %c = tt.load %r : tensor<64x!tt.ptr<f32>>
  %d = tt.load %s : tensor<64x!tt.ptr<f32>>
  tt.return %a, %b, %c, %d : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// What is stored in between may be what the second one loads. A store may not pass another one, nor a load.
// CHECK-LABEL: @written_in_between
// CHECK-NOT: tt.split
// CHECK-NOT: tt.join
tt.func public @written_in_between(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %v: f32) -> (tensor<64xf32>, tensor<64xf32>) {
  %one = arith.constant dense<1> : tensor<64xi32>
  %two = arith.constant dense<2> : tensor<64xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %at = arith.muli %i, %two : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %q = tt.addptr %p, %one : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %a = tt.load %p : tensor<64x!tt.ptr<f32>>
  tt.store %p, %a : tensor<64x!tt.ptr<f32>>
  tt.store %x, %v : !tt.ptr<f32>
  tt.store %q, %a : tensor<64x!tt.ptr<f32>>
  %b = tt.load %q : tensor<64x!tt.ptr<f32>>
  tt.return %a, %b : tensor<64xf32>, tensor<64xf32>
}

// Of two stores to one place the last one counts.
// CHECK-LABEL: @twice
// CHECK: tt.store {{.*}}, %arg1 : tensor<64x!tt.ptr<f32>>
// CHECK: %[[J:.+]] = tt.join %arg2, %arg1
// CHECK: tt.store {{.*}}, %[[J]] : tensor<64x2x!tt.ptr<f32>>
tt.func public @twice(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %v: tensor<64xf32>, %w: tensor<64xf32>) {
  %one = arith.constant dense<1> : tensor<64xi32>
  %two = arith.constant dense<2> : tensor<64xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %at = arith.muli %i, %two : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %q = tt.addptr %p, %one : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %p, %v : tensor<64x!tt.ptr<f32>>
  tt.store %p, %w : tensor<64x!tt.ptr<f32>>
  tt.store %q, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// The third component of a pair is the first one of the next pair, so that its store stays between those of the pair.
// CHECK-LABEL: @overlapping
// CHECK-NOT: tt.join
tt.func public @overlapping(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %v: tensor<64xf32>, %w: tensor<64xf32>) {
  %one = arith.constant dense<1> : tensor<64xi32>
  %two = arith.constant dense<2> : tensor<64xi32>
  %size = arith.constant dense<2> : tensor<64xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %at = arith.muli %i, %size : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %q = tt.addptr %p, %one : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %r = tt.addptr %p, %two : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %p, %v : tensor<64x!tt.ptr<f32>>
  tt.store %r, %w : tensor<64x!tt.ptr<f32>>
  tt.store %q, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// Of quads, it is in no other one.
// CHECK-LABEL: @apart_by_four
// CHECK: tt.store {{.*}}, %arg2 : tensor<64x!tt.ptr<f32>>
// CHECK: %[[J:.+]] = tt.join %arg1, %arg1
// CHECK: tt.store {{.*}}, %[[J]] : tensor<64x2x!tt.ptr<f32>>
tt.func public @apart_by_four(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %v: tensor<64xf32>, %w: tensor<64xf32>) {
  %one = arith.constant dense<1> : tensor<64xi32>
  %two = arith.constant dense<2> : tensor<64xi32>
  %size = arith.constant dense<4> : tensor<64xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %at = arith.muli %i, %size : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %q = tt.addptr %p, %one : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %r = tt.addptr %p, %two : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %p, %v : tensor<64x!tt.ptr<f32>>
  tt.store %r, %w : tensor<64x!tt.ptr<f32>>
  tt.store %q, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// Pairs that change beside a whole row of which a thread holds many elements.
// CHECK-LABEL: @beside_row
// CHECK-NOT: tt.split
// CHECK-NOT: tt.join
tt.func public @beside_row(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %z: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %one = arith.constant dense<1> : tensor<64xi32>
  %two = arith.constant dense<2> : tensor<64xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %at = arith.muli %i, %two : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %zs = tt.splat %z : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %q = tt.addptr %p, %one : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %r = tt.addptr %zs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %w = tt.load %r : tensor<64x!tt.ptr<f32>>
  %a = tt.load %p : tensor<64x!tt.ptr<f32>>
  %b = tt.load %q : tensor<64x!tt.ptr<f32>>
  %c = arith.mulf %a, %w : tensor<64xf32>
  %d = arith.mulf %b, %w : tensor<64xf32>
  tt.store %p, %c : tensor<64x!tt.ptr<f32>>
  tt.store %q, %d : tensor<64x!tt.ptr<f32>>
  tt.return
}

// Fewer pairs than threads, in a loop and in front of it.
// CHECK-LABEL: @few
// CHECK: tt.split
// CHECK: scf.for
// CHECK-NOT: tt.split
tt.func public @few(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<64xf32> {
  %zero = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %one = arith.constant dense<1> : tensor<64xi32>
  %two = arith.constant dense<2> : tensor<64xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %at = arith.muli %i, %two : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %q = tt.addptr %p, %one : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %a = tt.load %p : tensor<64x!tt.ptr<f32>>
  %b = tt.load %q : tensor<64x!tt.ptr<f32>>
  %c = arith.mulf %a, %b : tensor<64xf32>
  %sum = scf.for %k = %zero to %n step %step iter_args(%s = %c) -> tensor<64xf32> : i32 {
    %d = tt.load %p : tensor<64x!tt.ptr<f32>>
    %e = tt.load %q : tensor<64x!tt.ptr<f32>>
    %f = arith.mulf %d, %e : tensor<64xf32>
    %t = arith.addf %s, %f : tensor<64xf32>
    scf.yield %t : tensor<64xf32>
  }
  tt.return %sum : tensor<64xf32>
}

// Pointers that are loaded are no components.
// CHECK-LABEL: @pointers
// CHECK-NOT: tt.split
tt.func public @pointers(%x: !tt.ptr<!tt.ptr<f32>> {tt.divisibility = 16 : i32}) -> (tensor<64x!tt.ptr<f32>>, tensor<64x!tt.ptr<f32>>) {
  %one = arith.constant dense<1> : tensor<64xi32>
  %two = arith.constant dense<2> : tensor<64xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %at = arith.muli %i, %two : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<!tt.ptr<f32>> -> tensor<64x!tt.ptr<!tt.ptr<f32>>>
  %p = tt.addptr %xs, %at : tensor<64x!tt.ptr<!tt.ptr<f32>>>, tensor<64xi32>
  %q = tt.addptr %p, %one : tensor<64x!tt.ptr<!tt.ptr<f32>>>, tensor<64xi32>
  %a = tt.load %p : tensor<64x!tt.ptr<!tt.ptr<f32>>>
  %b = tt.load %q : tensor<64x!tt.ptr<!tt.ptr<f32>>>
  tt.return %a, %b : tensor<64x!tt.ptr<f32>>, tensor<64x!tt.ptr<f32>>
}
