// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --tt-drop-unused-carries --canonicalize | FileCheck %s

// A branch chooses the next value, which nothing but that choice reads.
// CHECK-LABEL: @branch
//       CHECK:   %[[R:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (tensor<8xf32>)
//       CHECK:     %[[B:.*]] = scf.if %{{.*}} -> (tensor<8xf32>)
//       CHECK:     scf.yield %[[B]] : tensor<8xf32>
//       CHECK:   tt.return %[[R]]
tt.func @branch(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: i32, %c: i1) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %s = %y) -> (tensor<8xf32>, tensor<8xf32>) : i32 {
    %b:2 = scf.if %c -> (tensor<8xf32>, tensor<8xf32>) {
      %t = arith.mulf %a, %x : tensor<8xf32>
      %u = arith.addf %s, %t : tensor<8xf32>
      scf.yield %t, %u : tensor<8xf32>, tensor<8xf32>
    } else {
      scf.yield %a, %s : tensor<8xf32>, tensor<8xf32>
    }
    scf.yield %b#0, %b#1 : tensor<8xf32>, tensor<8xf32>
  }
  tt.return %r#0 : tensor<8xf32>
}

// -----

// Two that are computed from each other.
// CHECK-LABEL: @cycle
//   CHECK-NOT:   iter_args
tt.func @cycle(%x: tensor<8xf32>, %p: tensor<8x!tt.ptr<f32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (tensor<8xf32>, tensor<8xf32>) : i32 {
    %t = arith.mulf %a, %b : tensor<8xf32>
    %u = arith.addf %a, %t : tensor<8xf32>
    tt.store %p, %x : tensor<8x!tt.ptr<f32>>
    scf.yield %u, %t : tensor<8xf32>, tensor<8xf32>
  }
  tt.return
}

// -----

// Needed: by a store in the loop, by what another loop returns, by the choice of a branch.
// CHECK-LABEL: @needed
//       CHECK:   scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<8xf32>, tensor<8xf32>, i32)
tt.func @needed(%x: tensor<8xf32>, %p: tensor<8x!tt.ptr<f32>>, %n: i32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x, %k = %c0) -> (tensor<8xf32>, tensor<8xf32>, i32) : i32 {
    tt.store %p, %a : tensor<8x!tt.ptr<f32>>
    %t = arith.mulf %a, %a : tensor<8xf32>
    %even = arith.cmpi slt, %k, %n : i32
    scf.if %even {
      tt.store %p, %x : tensor<8x!tt.ptr<f32>>
    }
    %next = arith.muli %k, %i : i32
    %u = arith.addf %b, %x : tensor<8xf32>
    scf.yield %t, %u, %next : tensor<8xf32>, tensor<8xf32>, i32
  }
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %r#1) -> (tensor<8xf32>) : i32 {
    %t = arith.mulf %a, %a : tensor<8xf32>
    scf.yield %t : tensor<8xf32>
  }
  tt.return %s : tensor<8xf32>
}
