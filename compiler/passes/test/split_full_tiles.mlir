// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-split-full-tiles --canonicalize | FileCheck %s

#row = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The loop of whole tiles has no mask; one tile may be left.
  // CHECK-LABEL: @row
  //       CHECK:   %[[FULL:.*]] = arith.trunci %{{.*}} : i64 to i32
  //       CHECK:   %[[A:.*]] = scf.for %{{.*}} = %{{.*}} to %[[FULL]] step
  //   CHECK-NOT:     cmpi
  //       CHECK:     tt.load %{{[a-z0-9]+}} : tensor<512x!tt.ptr<f32>
  //       CHECK:     scf.yield
  //       CHECK:   %[[LEFT:.*]] = arith.cmpi slt, %[[FULL]], %{{.*}} : i32
  //       CHECK:   scf.if %[[LEFT]]
  //       CHECK:     %[[MASK:.*]] = arith.cmpi slt
  //       CHECK:     tt.load %{{[a-z0-9]+}}, %[[MASK]]
  //       CHECK:     arith.addf %[[A]]
  //       CHECK:   else
  //       CHECK:     scf.yield %[[A]]
  tt.func @row(%x: !tt.ptr<f32>, %n: i32) -> tensor<512xf32, #row> {
    %c0 = arith.constant 0 : i32
    %c512 = arith.constant 512 : i32
    %zero = arith.constant dense<0.0> : tensor<512xf32, #row>
    %range = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #row>
    %ns = tt.splat %n : i32 -> tensor<512xi32, #row>
    %base = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #row>
    %all = scf.for %i = %c0 to %n step %c512 iter_args(%a = %zero) -> (tensor<512xf32, #row>) : i32 {
      %first = tt.splat %i : i32 -> tensor<512xi32, #row>
      %columns = arith.addi %first, %range : tensor<512xi32, #row>
      %mask = arith.cmpi slt, %columns, %ns : tensor<512xi32, #row>
      %from = tt.addptr %base, %columns : tensor<512x!tt.ptr<f32>, #row>, tensor<512xi32, #row>
      %v = tt.load %from, %mask, %zero : tensor<512x!tt.ptr<f32>, #row>
      %sum = arith.addf %a, %v : tensor<512xf32, #row>
      scf.yield %sum : tensor<512xf32, #row>
    }
    tt.return %all : tensor<512xf32, #row>
  }

  // Tiles that are counted: how many are left is not known.
  // CHECK-LABEL: @counted
  //       CHECK:   scf.for
  //   CHECK-NOT:     cmpi
  //       CHECK:     tt.load %{{[a-z0-9]+}} : tensor<512x!tt.ptr<f32>
  //       CHECK:   scf.for
  //       CHECK:     %[[MASK:.*]] = arith.cmpi sgt
  //       CHECK:     tt.load %{{[a-z0-9]+}}, %[[MASK]]
  tt.func @counted(%x: !tt.ptr<f32>, %n: i32, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c512 = arith.constant 512 : i32
    %range = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #row>
    %ns = tt.splat %n : i32 -> tensor<512xi32, #row>
    %base = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #row>
    scf.for %i = %c0 to %tiles step %c1 : i32 {
      %begin = arith.muli %i, %c512 : i32
      %first = tt.splat %begin : i32 -> tensor<512xi32, #row>
      %columns = arith.addi %first, %range : tensor<512xi32, #row>
      %mask = arith.cmpi sgt, %ns, %columns : tensor<512xi32, #row>
      %to = tt.addptr %base, %columns : tensor<512x!tt.ptr<f32>, #row>, tensor<512xi32, #row>
      %v = tt.load %to, %mask : tensor<512x!tt.ptr<f32>, #row>
      %two = arith.addf %v, %v : tensor<512xf32, #row>
      tt.store %to, %two, %mask : tensor<512x!tt.ptr<f32>, #row>
    }
    tt.return
  }

  // A negative counter times a number might wrap around; an index that falls may be masked in the first iteration; and
  // what only stores gains nothing.
  // CHECK-LABEL: @stays
  // CHECK-COUNT-3: scf.for
  //     CHECK-NOT: scf.if
  //     CHECK-NOT: scf.for
  //         CHECK: tt.return
  tt.func @stays(%x: !tt.ptr<f32>, %n: i32) {
    %c-512 = arith.constant -512 : i32
    %c0 = arith.constant 0 : i32
    %c512 = arith.constant 512 : i32
    %zero = arith.constant dense<0.0> : tensor<512xf32, #row>
    %range = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #row>
    %ns = tt.splat %n : i32 -> tensor<512xi32, #row>
    %base = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #row>
    scf.for %i = %c-512 to %n step %c512 : i32 {
      %begin = arith.muli %i, %c512 : i32
      %first = tt.splat %begin : i32 -> tensor<512xi32, #row>
      %columns = arith.addi %first, %range : tensor<512xi32, #row>
      %mask = arith.cmpi slt, %columns, %ns : tensor<512xi32, #row>
      %to = tt.addptr %base, %columns : tensor<512x!tt.ptr<f32>, #row>, tensor<512xi32, #row>
      %v = tt.load %to, %mask : tensor<512x!tt.ptr<f32>, #row>
      %two = arith.addf %v, %v : tensor<512xf32, #row>
      tt.store %to, %two, %mask : tensor<512x!tt.ptr<f32>, #row>
    }
    scf.for %i = %c0 to %n step %c512 : i32 {
      %left = arith.subi %n, %i : i32
      %first = tt.splat %left : i32 -> tensor<512xi32, #row>
      %columns = arith.addi %first, %range : tensor<512xi32, #row>
      %mask = arith.cmpi slt, %columns, %ns : tensor<512xi32, #row>
      %to = tt.addptr %base, %columns : tensor<512x!tt.ptr<f32>, #row>, tensor<512xi32, #row>
      %v = tt.load %to, %mask : tensor<512x!tt.ptr<f32>, #row>
      %two = arith.addf %v, %v : tensor<512xf32, #row>
      tt.store %to, %two, %mask : tensor<512x!tt.ptr<f32>, #row>
    }
    scf.for %i = %c0 to %n step %c512 : i32 {
      %first = tt.splat %i : i32 -> tensor<512xi32, #row>
      %columns = arith.addi %first, %range : tensor<512xi32, #row>
      %mask = arith.cmpi slt, %columns, %ns : tensor<512xi32, #row>
      %to = tt.addptr %base, %columns : tensor<512x!tt.ptr<f32>, #row>, tensor<512xi32, #row>
      tt.store %to, %zero, %mask : tensor<512x!tt.ptr<f32>, #row>
    }
    tt.return
  }
}
