// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --split-input-file --ttg-run-by-one-thread --ttg-insert-barriers | FileCheck %s

// Each place is read by all threads before the first one writes it: they would wait twice in each iteration.
// CHECK-LABEL: tt.func public @sums
//  CHECK-SAME:   attributes {ttg.one_thread}
//       CHECK:   %[[LANE:.*]] = ttg.lane_id
//       CHECK:   %[[WARP:.*]] = ttg.warp_id
//       CHECK:   %[[THREAD:.*]] = arith.ori %[[LANE]], %[[WARP]]
//       CHECK:   %[[IDLE:.*]] = arith.cmpi ne, %[[THREAD]]
//       CHECK:   cf.cond_br %[[IDLE]], ^[[END:.*]], ^[[BODY:bb[0-9]+]]
//       CHECK: ^[[BODY]]:
//   CHECK-NOT:   ttg.barrier
//       CHECK: ^[[END]]:
//  CHECK-NEXT:   tt.return
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32} {
  tt.func public @sums(%p: !tt.ptr<i32>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    cf.br ^head(%zero, %zero, %p : i32, i32, !tt.ptr<i32>)
  ^head(%i: i32, %sum: i32, %at: !tt.ptr<i32>):
    %goes_on = arith.cmpi slt, %i, %n : i32
    cf.cond_br %goes_on, ^iteration, ^end
  ^iteration:
    %x = tt.load %at : !tt.ptr<i32>
    %y = arith.addi %sum, %x : i32
    tt.store %at, %y : !tt.ptr<i32>
    %next = arith.addi %i, %one : i32
    %place = tt.addptr %at, %one : !tt.ptr<i32>, i32
    cf.br ^head(%next, %y, %place : i32, i32, !tt.ptr<i32>)
  ^end:
    tt.return
  }
}

// -----

// Nobody reads what another writes.
// CHECK-LABEL: tt.func public @copies
//   CHECK-NOT:   ttg.lane_id
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32} {
  tt.func public @copies(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
    %x = tt.load %p : !tt.ptr<i32>
    tt.store %q, %x : !tt.ptr<i32>
    tt.return
  }
}

// -----

// Threads share the elements of a tensor.
// CHECK-LABEL: tt.func public @tensors
//   CHECK-NOT:   ttg.lane_id
//       CHECK:   ttg.barrier
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32} {
  tt.func public @tensors(%p: !tt.ptr<i32>, %q: tensor<128x!tt.ptr<i32>, #line>) {
    %x = tt.load %p : !tt.ptr<i32>
    tt.store %p, %x : !tt.ptr<i32>
    %y = tt.splat %x : i32 -> tensor<128xi32, #line>
    tt.store %q, %y : tensor<128x!tt.ptr<i32>, #line>
    tt.return
  }
}
