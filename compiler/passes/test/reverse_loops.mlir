// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-reverse-loops=cache-bytes-of-warp=64 | FileCheck %s

// The second loop reads the row again, so it starts at the end.
// CHECK-LABEL: @centre
//       CHECK:   scf.for
//   CHECK-NOT:     arith.subi %{{.*}}, %arg
//       CHECK:   scf.for %[[I:arg[0-9]+]] =
//       CHECK:     %[[J:[0-9]+]] = arith.subi %{{.*}}, %[[I]] overflow<nsw, nuw> : i32
//       CHECK:     tt.splat %[[J]]
tt.func @centre(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %pid = tt.get_program_id x : i32
  %row = arith.muli %pid, %stride : i32
  %rx = tt.addptr %x, %row : !tt.ptr<f32>, i32
  %ro = tt.addptr %out, %row : !tt.ptr<f32>, i32
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %sx = tt.splat %rx : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %so = tt.splat %ro : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<64xf32>) : i32 {
    %t = tt.splat %i : i32 -> tensor<64xi32>
    %c = arith.addi %t, %r : tensor<64xi32>
    %p = tt.addptr %sx, %c : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %next = arith.addf %s, %v : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  scf.for %i = %c0 to %n step %c64 : i32 {
    %t = tt.splat %i : i32 -> tensor<64xi32>
    %c = arith.addi %t, %r : tensor<64xi32>
    %p = tt.addptr %sx, %c : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %d = arith.subf %v, %sum : tensor<64xf32>
    %q = tt.addptr %so, %c : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %q, %d : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// Maxima have no order, sums do: the first loop runs backwards, and the last one.
// CHECK-LABEL: @softmax
//       CHECK:   scf.for %[[I:arg[0-9]+]] =
//       CHECK:     arith.subi %{{.*}}, %[[I]] overflow<nsw, nuw> : i32
//       CHECK:     arith.maxnumf
//       CHECK:   scf.for %[[I:arg[0-9]+]] =
//   CHECK-NOT:     arith.subi %{{.*}}, %[[I]] overflow<nsw, nuw> : i32
//       CHECK:     arith.addf
//       CHECK:   scf.for %[[I:arg[0-9]+]] =
//       CHECK:     arith.subi %{{.*}}, %[[I]] overflow<nsw, nuw> : i32
tt.func @softmax(%x: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %sx = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %max = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<64xf32>) : i32 {
    %t = tt.splat %i : i32 -> tensor<64xi32>
    %c = arith.addi %t, %r : tensor<64xi32>
    %p = tt.addptr %sx, %c : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %next = arith.maxnumf %s, %v : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<64xf32>) : i32 {
    %t = tt.splat %i : i32 -> tensor<64xi32>
    %c = arith.addi %t, %r : tensor<64xi32>
    %p = tt.addptr %sx, %c : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %d = arith.mulf %v, %max : tensor<64xf32>
    %next = arith.addf %s, %d : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  scf.for %i = %c0 to %n step %c64 : i32 {
    %t = tt.splat %i : i32 -> tensor<64xi32>
    %c = arith.addi %t, %r : tensor<64xi32>
    %p = tt.addptr %sx, %c : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %d = arith.divf %v, %sum : tensor<64xf32>
    tt.store %p, %d : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// Rows of a tile lie 256 elements apart, and the loop runs through 256 of them: no two iterations write the same.
// CHECK-LABEL: @tile
//       CHECK:   scf.for
//       CHECK:   scf.for %[[I:arg[0-9]+]] =
//       CHECK:     arith.subi %{{.*}}, %[[I]] overflow<nsw, nuw> : i32
//       CHECK:   tt.store
// CHECK-LABEL: @tiles_that_overlap
//   CHECK-NOT:   arith.subi %{{.*}}, %arg
//       CHECK:   tt.return
tt.func @tile(%x: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c256 = arith.constant 256 : i32
  %c64 = arith.constant 64 : i32
  %pitch = arith.constant dense<256> : tensor<4x1xi32>
  %zero = arith.constant dense<0.0> : tensor<4x64xf32>
  %r0 = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %e0 = tt.expand_dims %r0 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %rows = arith.muli %e0, %pitch : tensor<4x1xi32>
  %brows = tt.broadcast %rows : tensor<4x1xi32> -> tensor<4x64xi32>
  %r1 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %sx = tt.splat %x : !tt.ptr<f32> -> tensor<4x64x!tt.ptr<f32>>
  %px = tt.addptr %sx, %brows : tensor<4x64x!tt.ptr<f32>>, tensor<4x64xi32>
  %sum = scf.for %i = %c0 to %c256 step %c64 iter_args(%s = %zero) -> (tensor<4x64xf32>) : i32 {
    %t = tt.splat %i : i32 -> tensor<64xi32>
    %c = arith.addi %t, %r1 : tensor<64xi32>
    %e = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %b = tt.broadcast %e : tensor<1x64xi32> -> tensor<4x64xi32>
    %p = tt.addptr %px, %b : tensor<4x64x!tt.ptr<f32>>, tensor<4x64xi32>
    %v = tt.load %p : tensor<4x64x!tt.ptr<f32>>
    %next = arith.addf %s, %v : tensor<4x64xf32>
    scf.yield %next : tensor<4x64xf32>
  }
  scf.for %i = %c0 to %c256 step %c64 : i32 {
    %t = tt.splat %i : i32 -> tensor<64xi32>
    %c = arith.addi %t, %r1 : tensor<64xi32>
    %e = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %b = tt.broadcast %e : tensor<1x64xi32> -> tensor<4x64xi32>
    %p = tt.addptr %px, %b : tensor<4x64x!tt.ptr<f32>>, tensor<4x64xi32>
    %v = tt.load %p : tensor<4x64x!tt.ptr<f32>>
    %d = arith.subf %v, %sum : tensor<4x64xf32>
    tt.store %p, %d : tensor<4x64x!tt.ptr<f32>>
  }
  tt.return
}
tt.func @tiles_that_overlap(%x: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c320 = arith.constant 320 : i32
  %c64 = arith.constant 64 : i32
  %pitch = arith.constant dense<256> : tensor<4x1xi32>
  %zero = arith.constant dense<0.0> : tensor<4x64xf32>
  %r0 = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %e0 = tt.expand_dims %r0 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %rows = arith.muli %e0, %pitch : tensor<4x1xi32>
  %brows = tt.broadcast %rows : tensor<4x1xi32> -> tensor<4x64xi32>
  %r1 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %sx = tt.splat %x : !tt.ptr<f32> -> tensor<4x64x!tt.ptr<f32>>
  %px = tt.addptr %sx, %brows : tensor<4x64x!tt.ptr<f32>>, tensor<4x64xi32>
  %sum = scf.for %i = %c0 to %c320 step %c64 iter_args(%s = %zero) -> (tensor<4x64xf32>) : i32 {
    %t = tt.splat %i : i32 -> tensor<64xi32>
    %c = arith.addi %t, %r1 : tensor<64xi32>
    %e = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %b = tt.broadcast %e : tensor<1x64xi32> -> tensor<4x64xi32>
    %p = tt.addptr %px, %b : tensor<4x64x!tt.ptr<f32>>, tensor<4x64xi32>
    %v = tt.load %p : tensor<4x64x!tt.ptr<f32>>
    %next = arith.addf %s, %v : tensor<4x64xf32>
    scf.yield %next : tensor<4x64xf32>
  }
  scf.for %i = %c0 to %c320 step %c64 : i32 {
    %t = tt.splat %i : i32 -> tensor<64xi32>
    %c = arith.addi %t, %r1 : tensor<64xi32>
    %e = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %b = tt.broadcast %e : tensor<1x64xi32> -> tensor<4x64xi32>
    %p = tt.addptr %px, %b : tensor<4x64x!tt.ptr<f32>>, tensor<4x64xi32>
    %v = tt.load %p : tensor<4x64x!tt.ptr<f32>>
    %d = arith.subf %v, %sum : tensor<4x64xf32>
    tt.store %p, %d : tensor<4x64x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// Each iteration moves what the next one reads a place down.
// CHECK-LABEL: @shift
//   CHECK-NOT:   arith.subi %{{.*}}, %arg
//       CHECK:   tt.return
tt.func @shift(%x: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant dense<1> : tensor<64xi32>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %sx = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<64xf32>) : i32 {
    %t = tt.splat %i : i32 -> tensor<64xi32>
    %c = arith.addi %t, %r : tensor<64xi32>
    %d = arith.addi %c, %one : tensor<64xi32>
    %p = tt.addptr %sx, %d : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %next = arith.addf %s, %v : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  scf.for %i = %c0 to %n step %c64 : i32 {
    %t = tt.splat %i : i32 -> tensor<64xi32>
    %c = arith.addi %t, %r : tensor<64xi32>
    %d = arith.addi %c, %one : tensor<64xi32>
    %p = tt.addptr %sx, %d : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %e = arith.addf %v, %sum : tensor<64xf32>
    %q = tt.addptr %sx, %c : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %q, %e : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}
