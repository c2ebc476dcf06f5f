// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --intel-read-blocks --canonicalize --cse | FileCheck %s

// Rows a constant pitch apart: one version, and the bound of the mask is that of the matrix. K of b lies along its rows.
// CHECK-LABEL: tt.func public @constant_pitch
//   CHECK-NOT:   scf.if
//       CHECK:   scf.for %[[I:[^ ]*]] =
//       CHECK:     %[[A:.*]] = tt.addptr %arg0, {{.*}} : !tt.ptr<f16>, i64
//   CHECK-NOT:     tt.load
//   CHECK-DAG:     ttig.block_read %[[A]], %c256{{.*}} below %{{.*}}, %{{.*}} {contiguous = 1 : i32} : <f16> -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0,
//   CHECK-DAG:     ttig.block_read %arg1, %c512{{.*}} {contiguous = 0 : i32} : <f16> -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1,
//       CHECK:     tt.dot
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, threadsPerWarp = 16, warpsPerCTA = [2, 2], repCluster = [1, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @constant_pitch(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: i32 {tt.divisibility = 16 : i32}) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %fill = arith.constant dense<0.0> : tensor<64x32xf16, #blocked>
    %pitch = arith.constant dense<256> : tensor<64x1xi32, #blocked>
    %pitch_b = arith.constant dense<512> : tensor<1x64xi32, #columns>
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %c = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %r2 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
    %c2 = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %rows = arith.muli %r2, %pitch : tensor<64x1xi32, #blocked>
    %ra = tt.broadcast %rows : tensor<64x1xi32, #blocked> -> tensor<64x32xi32, #blocked>
    %n = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #columns}>>
    %d = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #columns}>>
    %n2 = tt.expand_dims %n {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #columns}>> -> tensor<1x64xi32, #columns>
    %d2 = tt.expand_dims %d {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #columns}>> -> tensor<32x1xi32, #columns>
    %nb = arith.muli %n2, %pitch_b : tensor<1x64xi32, #columns>
    %nall = tt.broadcast %nb : tensor<1x64xi32, #columns> -> tensor<32x64xi32, #columns>
    %dall = tt.broadcast %d2 : tensor<32x1xi32, #columns> -> tensor<32x64xi32, #columns>
    %ob = arith.addi %nall, %dall : tensor<32x64xi32, #columns>
    %sb = tt.splat %b : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>, #columns>
    %pb = tt.addptr %sb, %ob : tensor<32x64x!tt.ptr<f16>, #columns>, tensor<32x64xi32, #columns>
    %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %is = tt.splat %i : i32 -> tensor<1x32xi32, #blocked>
      %ci = arith.addi %is, %c2 : tensor<1x32xi32, #blocked>
      %ca = tt.broadcast %ci : tensor<1x32xi32, #blocked> -> tensor<64x32xi32, #blocked>
      %oa = arith.addi %ra, %ca : tensor<64x32xi32, #blocked>
      %sa = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #blocked>
      %pa = tt.addptr %sa, %oa : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
      %ks = tt.splat %k : i32 -> tensor<1x32xi32, #blocked>
      %in = arith.cmpi slt, %ci, %ks : tensor<1x32xi32, #blocked>
      %mask = tt.broadcast %in : tensor<1x32xi1, #blocked> -> tensor<64x32xi1, #blocked>
      %x = tt.load %pa, %mask, %fill : tensor<64x32x!tt.ptr<f16>, #blocked>
      %y = tt.load %pb : tensor<32x64x!tt.ptr<f16>, #columns>
      %xa = ttg.convert_layout %x : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #a>
      %yb = ttg.convert_layout %y : tensor<32x64xf16, #columns> -> tensor<32x64xf16, #b>
      %dot = tt.dot %xa, %yb, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %dot : tensor<64x64xf32, #mma>
    }
    tt.return %sum : tensor<64x64xf32, #mma>
  }
}

// -----

// A pitch that is known at run time, and rows that may wrap around: two versions. Memory that the kernel writes is read
// as before.
// CHECK-LABEL: tt.func public @versions
//   CHECK-DAG:   arith.remsi
//   CHECK-DAG:   arith.andi %{{.*}}, %c15_i64
//   CHECK-DAG:   arith.cmpi sge, %{{.*}}, %c128_i64
//       CHECK:   scf.if
//       CHECK:     scf.for
//       CHECK:       ttig.block_read
//       CHECK:   else
//       CHECK:     scf.for
//       CHECK:       tt.load
// CHECK-LABEL: tt.func public @written
//   CHECK-NOT:   ttig.block_read
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, threadsPerWarp = 16, warpsPerCTA = [2, 2], repCluster = [1, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @versions(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: tensor<32x64xf16, #b>, %m: i32, %p: i32 {tt.divisibility = 16 : i32}, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %step = arith.constant dense<32> : tensor<64x32xi32, #blocked>
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %ms = tt.splat %m : i32 -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %wrapped = arith.remsi %r, %ms : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %c = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %r2 = tt.expand_dims %wrapped {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
    %c2 = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %ps = tt.splat %p : i32 -> tensor<64x1xi32, #blocked>
    %rows = arith.muli %r2, %ps : tensor<64x1xi32, #blocked>
    %ra = tt.broadcast %rows : tensor<64x1xi32, #blocked> -> tensor<64x32xi32, #blocked>
    %ca = tt.broadcast %c2 : tensor<1x32xi32, #blocked> -> tensor<64x32xi32, #blocked>
    %oa = arith.addi %ra, %ca : tensor<64x32xi32, #blocked>
    %sa = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #blocked>
    %pa = tt.addptr %sa, %oa : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
    %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %at = %pa) -> (tensor<64x64xf32, #mma>, tensor<64x32x!tt.ptr<f16>, #blocked>) : i32 {
      %x = tt.load %at : tensor<64x32x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #a>
      %dot = tt.dot %xa, %y, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      %next = tt.addptr %at, %step : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
      scf.yield %dot, %next : tensor<64x64xf32, #mma>, tensor<64x32x!tt.ptr<f16>, #blocked>
    }
    tt.return %sum#0 : tensor<64x64xf32, #mma>
  }
  tt.func public @written(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: tensor<32x64xf16, #b>, %v: tensor<64x32xf16, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %pitch = arith.constant dense<256> : tensor<64x1xi32, #blocked>
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %c = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %r2 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
    %c2 = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %rows = arith.muli %r2, %pitch : tensor<64x1xi32, #blocked>
    %ra = tt.broadcast %rows : tensor<64x1xi32, #blocked> -> tensor<64x32xi32, #blocked>
    %ca = tt.broadcast %c2 : tensor<1x32xi32, #blocked> -> tensor<64x32xi32, #blocked>
    %oa = arith.addi %ra, %ca : tensor<64x32xi32, #blocked>
    %sa = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #blocked>
    %pa = tt.addptr %sa, %oa : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
    tt.store %pa, %v : tensor<64x32x!tt.ptr<f16>, #blocked>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa : tensor<64x32x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #a>
      %dot = tt.dot %xa, %y, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %dot : tensor<64x64xf32, #mma>
    }
    tt.return %sum : tensor<64x64xf32, #mma>
  }
}
