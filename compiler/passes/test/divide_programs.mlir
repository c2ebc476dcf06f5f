// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-divide-programs=blocks=2 --canonicalize | FileCheck %s

// Each block adds half of the elements. Different arguments are different data: nobody waits.
//       CHECK: module attributes {ttg.divided}
// CHECK-LABEL: @elements
//   CHECK-DAG:   %[[B:.*]] = tt.block_in_cluster : i32
//   CHECK-DAG:   %[[R:.*]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//       CHECK:   %[[O:.*]] = arith.muli %[[B]], %c64_i32
//       CHECK:   %[[S:.*]] = tt.splat %[[O]] : i32 -> tensor<64xi32>
//       CHECK:   arith.addi %[[R]], %[[S]] : tensor<64xi32>
//       CHECK:   tt.load %{{.*}} : tensor<64x!tt.ptr<f32>>
//   CHECK-NOT:   tt.cluster_barrier
//       CHECK:   tt.store %{{.*}} : tensor<64x!tt.ptr<f32>>
module {
  tt.func public @elements(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
    %size = arith.constant 128 : i32
    %one = arith.constant dense<1.0> : tensor<128xf32>
    %n = tt.get_program_id x : i32
    %k = arith.muli %n, %size : i32
    %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %ks = tt.splat %k : i32 -> tensor<128xi32>
    %i = arith.addi %ks, %r {tt.contiguity = dense<128> : tensor<1xi32>} : tensor<128xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %v = tt.load %xp : tensor<128x!tt.ptr<f32>>
    %w = arith.addf %v, %one : tensor<128xf32>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    tt.store %yp, %w : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// The longer dimension of a product is divided: its columns. Both blocks load the rows; no block waits in the loop.
// The range that counts along K and rows alike ties nothing.
// CHECK-LABEL: @product
//       CHECK:   scf.for {{.*}} -> (tensor<32x32xf32>)
//   CHECK-NOT:     tt.cluster_barrier
//       CHECK:     tt.load %{{.*}} : tensor<32x32x!tt.ptr<f16>>
//       CHECK:     tt.load %{{.*}} : tensor<32x32x!tt.ptr<f16>>
//       CHECK:     tt.dot %{{.*}} : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
//   CHECK-NOT:   tt.cluster_barrier
//       CHECK:   tt.store %{{.*}} : tensor<32x32x!tt.ptr<f32>>
module {
  tt.func public @product(%a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %c: !tt.ptr<f32>, %steps: i32) {
    %zero = arith.constant dense<0.0> : tensor<32x64xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %width = arith.constant dense<64> : tensor<32x1xi32>
    %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %n = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %rows = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %ks = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %columns = tt.expand_dims %n {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %ro = arith.muli %rows, %width : tensor<32x1xi32>
    %ro32 = tt.broadcast %ro : tensor<32x1xi32> -> tensor<32x32xi32>
    %ro64 = tt.broadcast %ro : tensor<32x1xi32> -> tensor<32x64xi32>
    %k32 = tt.broadcast %ks : tensor<1x32xi32> -> tensor<32x32xi32>
    %c64 = tt.broadcast %columns : tensor<1x64xi32> -> tensor<32x64xi32>
    %ai = arith.addi %ro32, %k32 : tensor<32x32xi32>
    %ci = arith.addi %ro64, %c64 : tensor<32x64xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %ap = tt.addptr %as, %ai : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %kr = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %ko = arith.muli %kr, %width : tensor<32x1xi32>
    %ko64 = tt.broadcast %ko : tensor<32x1xi32> -> tensor<32x64xi32>
    %bi = arith.addi %ko64, %c64 : tensor<32x64xi32>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
    %bp = tt.addptr %bs, %bi : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>>
    %cp = tt.addptr %cs, %ci : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
    %sum = scf.for %i = %c0 to %steps step %c1 iter_args(%s = %zero) -> (tensor<32x64xf32>) : i32 {
      %x = tt.load %ap : tensor<32x32x!tt.ptr<f16>>
      %y = tt.load %bp : tensor<32x64x!tt.ptr<f16>>
      %d = tt.dot %x, %y, %s : tensor<32x32xf16> * tensor<32x64xf16> -> tensor<32x64xf32>
      scf.yield %d : tensor<32x64xf32>
    }
    tt.store %cp, %sum : tensor<32x64x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// Rows are divided, of which all columns are added up. What a block stores in an iteration, itself alone loads in the
// next one. The number of rows, a scalar, is stored by the first block. All load it then.
// CHECK-LABEL: @rows
//       CHECK:   scf.for
//   CHECK-NOT:     tt.cluster_barrier
//       CHECK:     tt.load %{{.*}} : tensor<32x16x!tt.ptr<i32>>
//       CHECK:     "tt.reduce"
//   CHECK-NOT:     tt.cluster_barrier
//       CHECK:     tt.store %{{.*}} : tensor<32x16x!tt.ptr<i32>>
//       CHECK:   %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32
//       CHECK:   scf.if %[[FIRST]] {
//  CHECK-NEXT:     tt.store %{{.*}} : !tt.ptr<i32>
//       CHECK:   tt.cluster_barrier
//  CHECK-NEXT:   tt.load %{{.*}} : !tt.ptr<i32>
//       CHECK:   tt.store %{{.*}} : tensor<32x16x!tt.ptr<i32>>
module {
  tt.func public @rows(%x: !tt.ptr<i32>, %count: !tt.ptr<i32>, %steps: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %e = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %b = tt.broadcast %e : tensor<64x1xi32> -> tensor<64x16xi32>
    %s = tt.splat %x : !tt.ptr<i32> -> tensor<64x16x!tt.ptr<i32>>
    %p = tt.addptr %s, %b : tensor<64x16x!tt.ptr<i32>>, tensor<64x16xi32>
    scf.for %i = %c0 to %steps step %c1 : i32 {
      %v = tt.load %p : tensor<64x16x!tt.ptr<i32>>
      %sum = "tt.reduce"(%v) <{axis = 1 : i32}> ({
      ^bb0(%l: i32, %m: i32):
        %t = arith.addi %l, %m : i32
        tt.reduce.return %t : i32
      }) : (tensor<64x16xi32>) -> tensor<64xi32>
      %se = tt.expand_dims %sum {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %sb = tt.broadcast %se : tensor<64x1xi32> -> tensor<64x16xi32>
      tt.store %p, %sb : tensor<64x16x!tt.ptr<i32>>
    }
    tt.store %count, %steps : !tt.ptr<i32>
    %again = tt.load %count : !tt.ptr<i32>
    %all = tt.splat %again : i32 -> tensor<64x16xi32>
    tt.store %p, %all : tensor<64x16x!tt.ptr<i32>>
    tt.return
  }
}

// -----

// Blocks that descriptors name become smaller, and begin where the part does.
// CHECK-LABEL: @described
//  CHECK-SAME:   !tt.tensordesc<tensor<32x32xf16>>
//       CHECK:   %[[AT:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
//       CHECK:   tt.descriptor_load %{{.*}}[%[[AT]], %c0_i32] : !tt.tensordesc<tensor<32x32xf16>> -> tensor<32x32xf16>
//       CHECK:   tt.descriptor_store
module {
  tt.func public @described(%d: !tt.tensordesc<tensor<64x32xf16>>, %row: i32) {
    %c0 = arith.constant 0 : i32
    %v = tt.descriptor_load %d[%row, %c0] : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
    %w = arith.addf %v, %v : tensor<64x32xf16>
    tt.descriptor_store %d[%row, %c0], %w : !tt.tensordesc<tensor<64x32xf16>>, tensor<64x32xf16>
    tt.return
  }
}

// -----

// A sum needs the whole row, and a lock one thread: the first block computes these.
//   CHECK-NOT: ttg.divided
// CHECK-LABEL: @row
//   CHECK-NOT:   tt.block_in_cluster
//       CHECK:   tensor<64xf32>
module {
  tt.func public @row(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %s = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %p = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %sum = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %m: f32):
      %t = arith.addf %l, %m : f32
      tt.reduce.return %t : f32
    }) : (tensor<64xf32>) -> f32
    tt.store %y, %sum : !tt.ptr<f32>
    tt.return
  }
}

// -----

//   CHECK-NOT: ttg.divided
// CHECK-LABEL: @locked
//       CHECK:   tt.store %{{.*}} : tensor<64x!tt.ptr<i32>>
module {
  tt.func public @locked(%lock: !tt.ptr<i32>, %x: !tt.ptr<i32>) {
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %old = tt.atomic_rmw exch, acq_rel, gpu, %lock, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %s = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %p = tt.addptr %s, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %v = tt.splat %old : i32 -> tensor<64xi32>
    tt.store %p, %v : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}
