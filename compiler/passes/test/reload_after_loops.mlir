// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-reload-after-loops=registers=4096 | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-reload-after-loops=registers=65536 | FileCheck %s --check-prefix=ENOUGH

// A thread has 16 words of %v and of what each loop carries, and 32 registers.
// CHECK-LABEL: @two_loops
//       CHECK:   %[[V:.*]] = tt.load
//       CHECK:   scf.for {{.*}} = %[[V]]
//       CHECK:   %[[W:.*]] = tt.load
//       CHECK:   scf.for {{.*}} = %[[W]]
// ENOUGH-LABEL: @two_loops
//  ENOUGH-COUNT-1:   tt.load
//   ENOUGH-NOT:   tt.load
//       ENOUGH:   tt.return
#b = #ttg.blocked<{sizePerThread = [16], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @two_loops(%p: tensor<2048x!tt.ptr<f32>, #b>, %n: i32) -> (tensor<2048xf32, #b>, tensor<2048xf32, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %v = tt.load %p : tensor<2048x!tt.ptr<f32>, #b>
    %x = scf.for %i = %c0 to %n step %c1 iter_args(%a = %v) -> (tensor<2048xf32, #b>) : i32 {
      %m = arith.mulf %a, %a : tensor<2048xf32, #b>
      %s = arith.addf %m, %a : tensor<2048xf32, #b>
      scf.yield %s : tensor<2048xf32, #b>
    }
    %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %v) -> (tensor<2048xf32, #b>) : i32 {
      %m = arith.mulf %a, %a : tensor<2048xf32, #b>
      scf.yield %m : tensor<2048xf32, #b>
    }
    tt.return %x, %y : tensor<2048xf32, #b>, tensor<2048xf32, #b>
  }
}

// -----

// The memory may have been written, the loop uses the tensor itself, or the load is volatile.
// CHECK-LABEL: @written
//  CHECK-COUNT-1:   tt.load
//   CHECK-NOT:   tt.load
// CHECK-LABEL: @used_within
//  CHECK-COUNT-1:   tt.load
//   CHECK-NOT:   tt.load
// CHECK-LABEL: @is_volatile
//  CHECK-COUNT-1:   tt.load
//   CHECK-NOT:   tt.load
//       CHECK:   tt.return
#b = #ttg.blocked<{sizePerThread = [16], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @written(%p: tensor<2048x!tt.ptr<f32>, #b>, %n: i32) -> tensor<2048xf32, #b> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %v = tt.load %p : tensor<2048x!tt.ptr<f32>, #b>
    %x = scf.for %i = %c0 to %n step %c1 iter_args(%a = %v) -> (tensor<2048xf32, #b>) : i32 {
      %m = arith.mulf %a, %a : tensor<2048xf32, #b>
      %s = arith.addf %m, %a : tensor<2048xf32, #b>
      tt.store %p, %s : tensor<2048x!tt.ptr<f32>, #b>
      scf.yield %s : tensor<2048xf32, #b>
    }
    %y = arith.addf %x, %v : tensor<2048xf32, #b>
    tt.return %y : tensor<2048xf32, #b>
  }
  tt.func @used_within(%p: tensor<2048x!tt.ptr<f32>, #b>, %n: i32) -> tensor<2048xf32, #b> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %v = tt.load %p : tensor<2048x!tt.ptr<f32>, #b>
    %x = scf.for %i = %c0 to %n step %c1 iter_args(%a = %v) -> (tensor<2048xf32, #b>) : i32 {
      %m = arith.mulf %a, %v : tensor<2048xf32, #b>
      %s = arith.addf %m, %a : tensor<2048xf32, #b>
      scf.yield %s : tensor<2048xf32, #b>
    }
    %y = arith.addf %x, %v : tensor<2048xf32, #b>
    tt.return %y : tensor<2048xf32, #b>
  }
  tt.func @is_volatile(%p: tensor<2048x!tt.ptr<f32>, #b>, %n: i32) -> tensor<2048xf32, #b> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %v = tt.load %p {isVolatile = true} : tensor<2048x!tt.ptr<f32>, #b>
    %x = scf.for %i = %c0 to %n step %c1 iter_args(%a = %v) -> (tensor<2048xf32, #b>) : i32 {
      %m = arith.mulf %a, %a : tensor<2048xf32, #b>
      %s = arith.addf %m, %a : tensor<2048xf32, #b>
      scf.yield %s : tensor<2048xf32, #b>
    }
    %y = arith.addf %x, %v : tensor<2048xf32, #b>
    tt.return %y : tensor<2048xf32, #b>
  }
}
