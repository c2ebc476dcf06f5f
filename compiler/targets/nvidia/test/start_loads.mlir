// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-start-loads | FileCheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#row = #ttg.slice<{dim = 0, parent = #mma}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The scales begin before the wait, with their addresses, also those that follow the dot. What is for the next
  // iteration, follows a volatile load, or a store, stays.
  // CHECK-LABEL: @scales
  //       CHECK:   scf.for
  //       CHECK:     %[[AT:.*]] = tt.addptr %[[P:[^,]*]],
  //  CHECK-NEXT:     %[[S:.*]] = tt.load %[[AT]]
  //  CHECK-NEXT:     %[[U:.*]] = tt.load %[[P]]
  //  CHECK-NEXT:     ttg.async_wait
  //  CHECK-NEXT:     ttg.local_load
  //  CHECK-NEXT:     %[[NEXT:.*]] = tt.load
  //       CHECK:     tt.dot
  //       CHECK:     arith.mulf %{{.*}}, %[[S]]
  //  CHECK-NEXT:     arith.mulf %{{.*}}, %[[U]]
  //  CHECK-NEXT:     tt.load {{.*}} {isVolatile = true}
  //  CHECK-NEXT:     tt.load
  //       CHECK:     scf.yield {{.*}}, %[[NEXT]]
  tt.func @scales(%x: tensor<64x64xf16, #a>, %buffer: !ttg.memdesc<64x64xf16, #rows, #smem, mutable>, %p: tensor<64x64x!tt.ptr<f32>, #mma>, %q: tensor<64x64x!tt.ptr<f32>, #mma>, %by: tensor<64x64xi32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = ttg.async_commit_group
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %old = %zero) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) : i32 {
      ttg.async_wait %t {num = 0 : i32}
      %y = ttg.local_load %buffer : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<64x64xf16, #b>
      %at = tt.addptr %p, %by : tensor<64x64x!tt.ptr<f32>, #mma>, tensor<64x64xi32, #mma>
      %s = tt.load %at : tensor<64x64x!tt.ptr<f32>, #mma>
      %next = tt.load %q : tensor<64x64x!tt.ptr<f32>, #mma>
      %d = tt.dot %x, %y, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %u = tt.load %p : tensor<64x64x!tt.ptr<f32>, #mma>
      %m = arith.mulf %d, %s : tensor<64x64xf32, #mma>
      %mu = arith.mulf %m, %u : tensor<64x64xf32, #mma>
      %v = tt.load %q {isVolatile = true} : tensor<64x64x!tt.ptr<f32>, #mma>
      %v2 = tt.load %q : tensor<64x64x!tt.ptr<f32>, #mma>
      %v3 = arith.addf %v, %v2 : tensor<64x64xf32, #mma>
      %w = arith.addf %mu, %v3 : tensor<64x64xf32, #mma>
      %o = arith.addf %w, %old : tensor<64x64xf32, #mma>
      %sum = arith.addf %acc, %o : tensor<64x64xf32, #mma>
      scf.yield %sum, %next : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }

  // CHECK-LABEL: @store
  //       CHECK:   scf.for
  //  CHECK-NEXT:     ttg.async_wait
  //       CHECK:     tt.store
  //  CHECK-NEXT:     tt.load
  tt.func @store(%x: tensor<64x64xf16, #a>, %buffer: !ttg.memdesc<64x64xf16, #rows, #smem, mutable>, %p: tensor<64x64x!tt.ptr<f32>, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = ttg.async_commit_group
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      ttg.async_wait %t {num = 0 : i32}
      %y = ttg.local_load %buffer : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<64x64xf16, #b>
      tt.store %p, %acc : tensor<64x64x!tt.ptr<f32>, #mma>
      %s = tt.load %p : tensor<64x64x!tt.ptr<f32>, #mma>
      %d = tt.dot %x, %y, %s : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }

  // The end of an iteration writes what the next one reads, behind a barrier.
  // CHECK-LABEL: @own_writes
  //       CHECK:   scf.for
  //  CHECK-NEXT:     ttg.async_wait
  //       CHECK:     tt.load
  tt.func @own_writes(%x: tensor<64x64xf16, #a>, %buffer: !ttg.memdesc<64x64xf16, #rows, #smem, mutable>, %p: tensor<64x64x!tt.ptr<f32>, #mma>, %n: i32) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = ttg.async_commit_group
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttg.async_wait %t {num = 0 : i32}
      %y = ttg.local_load %buffer : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<64x64xf16, #b>
      %s = tt.load %p : tensor<64x64x!tt.ptr<f32>, #mma>
      %d = tt.dot %x, %y, %s : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      tt.store %p, %d : tensor<64x64x!tt.ptr<f32>, #mma>
    }
    tt.return
  }

  // So it does to what tells the place of a load.
  // CHECK-LABEL: @own_places
  //       CHECK:   scf.for
  //  CHECK-NEXT:     ttg.async_wait
  //       CHECK:     tt.load
  //       CHECK:     tt.load
  tt.func @own_places(%x: tensor<64x64xf16, #a>, %buffer: !ttg.memdesc<64x64xf16, #rows, #smem, mutable>, %p: tensor<64x64x!tt.ptr<f32>, #mma>, %places: tensor<64x64x!tt.ptr<i32>, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = ttg.async_commit_group
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      ttg.async_wait %t {num = 0 : i32}
      %y = ttg.local_load %buffer : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<64x64xf16, #b>
      %place = tt.load %places : tensor<64x64x!tt.ptr<i32>, #mma>
      %at = tt.addptr %p, %place : tensor<64x64x!tt.ptr<f32>, #mma>, tensor<64x64xi32, #mma>
      %s = tt.load %at : tensor<64x64x!tt.ptr<f32>, #mma>
      %d = tt.dot %x, %y, %s : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      tt.store %places, %place : tensor<64x64x!tt.ptr<i32>, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
