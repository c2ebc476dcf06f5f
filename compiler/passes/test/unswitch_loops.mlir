// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-unswitch-loops | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
// Two branches of one condition, of which one makes a value.
// CHECK-LABEL: @asks_the_same
//       CHECK:   %[[R:.+]] = scf.if %arg2 -> (tensor<128xf32, #{{.+}}>) {
//       CHECK:     %[[A:.+]] = scf.for
//       CHECK:       tt.load
//       CHECK:       tt.store
//   CHECK-NOT:       scf.if
//       CHECK:     scf.yield %[[A]]
//       CHECK:   } else {
//       CHECK:     scf.for
//       CHECK:       tt.load %arg0
//   CHECK-NOT:       tt.store
//       CHECK:       tt.load %arg1
//   CHECK-NOT:       tt.store
//       CHECK:   tt.return %[[R]]
  tt.func @asks_the_same(%p: tensor<128x!tt.ptr<f32>, #b>, %q: tensor<128x!tt.ptr<f32>, #b>, %first: i1, %n: i32) -> tensor<128xf32, #b> {
    %zero = arith.constant dense<0.0> : tensor<128xf32, #b>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<128xf32, #b>) : i32 {
      %v = tt.load %p : tensor<128x!tt.ptr<f32>, #b>
      scf.if %first {
        tt.store %q, %v : tensor<128x!tt.ptr<f32>, #b>
      }
      %w = scf.if %first -> (tensor<128xf32, #b>) {
        scf.yield %v : tensor<128xf32, #b>
      } else {
        %x = tt.load %q : tensor<128x!tt.ptr<f32>, #b>
        scf.yield %x : tensor<128xf32, #b>
      }
      %next = arith.addf %sum, %w : tensor<128xf32, #b>
      scf.yield %next : tensor<128xf32, #b>
    }
    tt.return %r : tensor<128xf32, #b>
  }
}

// -----

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
// A condition of the iteration; a branch that accesses nothing; no load to wait for.
// CHECK-LABEL: @stay
//   CHECK-NOT:   else
//       CHECK:   tt.return
  tt.func @stay(%p: tensor<128x!tt.ptr<f32>, #b>, %q: tensor<128x!tt.ptr<f32>, #b>, %first: i1, %n: i32) {
    %zero = arith.constant dense<0.0> : tensor<128xf32, #b>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %v = tt.load %p : tensor<128x!tt.ptr<f32>, #b>
      %some = arith.cmpi eq, %i, %c1 : i32
      scf.if %some {
        tt.store %q, %v : tensor<128x!tt.ptr<f32>, #b>
      }
    }
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.if %first {
        tt.store %q, %zero : tensor<128x!tt.ptr<f32>, #b>
      }
    }
    tt.return
  }
}
