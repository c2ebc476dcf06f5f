// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --convert-scf-to-cf --ttg-split-warp-specialize | FileCheck %s

// The default region becomes blocks between the start and a join for each of its ends; its results are arguments of the
// block after.
// CHECK-LABEL: tt.func public @both_ways
//       CHECK:   %[[T:.*]] = "ttg.start_partitions"(%arg0) <{actualRegisters = array<i32: 200, 24>, partitionNumWarps = array<i32: 2>, warpGroupStartIds = array<i32: 4>}> ({
//  CHECK-NEXT:   ^bb0(%[[B:.*]]: i32):
//  CHECK-NEXT:     arith.addi %[[B]], %[[B]]
//  CHECK-NEXT:     ttg.warp_return
//  CHECK-NEXT:   }) : (i32) -> !ttg.async.token
//  CHECK-NEXT:   cf.br ^[[D:.*]]
//  CHECK-NEXT: ^[[D]]:
//  CHECK-NEXT:   cf.cond_br %arg1, ^[[YES:.*]], ^[[NO:.*]]
//  CHECK-NEXT: ^[[YES]]:
//  CHECK-NEXT:   ttg.join_partitions %[[T]]
//  CHECK-NEXT:   cf.br ^[[AFTER:.*]](%arg0 : i32)
//  CHECK-NEXT: ^[[NO]]:
//  CHECK-NEXT:   %[[S:.*]] = arith.addi
//  CHECK-NEXT:   ttg.join_partitions %[[T]]
//  CHECK-NEXT:   cf.br ^[[AFTER]](%[[S]] : i32)
//  CHECK-NEXT: ^[[AFTER]](%[[R:.*]]: i32):
//  CHECK-NEXT:   arith.muli %[[R]], %[[R]]
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @both_ways(%i: i32, %p: i1) {
    %r = ttg.warp_specialize(%i) attributes {warpGroupStartIds = array<i32: 4>, actualRegisters = array<i32: 200, 24>}
    default {
      cf.cond_br %p, ^yes, ^no
    ^yes:
      ttg.warp_yield %i : i32
    ^no:
      %s = arith.addi %i, %i : i32
      ttg.warp_yield %s : i32
    }
    partition0(%b: i32) num_warps(2) {
      %s = arith.addi %b, %b : i32
      ttg.warp_return
    } : (i32) -> i32
    %m = arith.muli %r, %r : i32
    tt.return
  }
}

// -----

// In a loop, which itself becomes blocks; so does one inside of a partition.
// CHECK-LABEL: tt.func public @in_a_loop
//       CHECK:   cf.cond_br
//       CHECK:   ttg.start_partitions
//       CHECK:     cf.cond_br
//       CHECK:     ttg.warp_return
//       CHECK:   ttg.join_partitions
//   CHECK-NOT:   scf.for
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @in_a_loop(%n: i32) {
    %c1 = arith.constant 1 : i32
    scf.for %i = %c1 to %n step %c1 : i32 {
      ttg.warp_specialize(%i) attributes {warpGroupStartIds = array<i32: 4>}
      default { ttg.warp_yield }
      partition0(%b: i32) num_warps(1) {
        scf.for %k = %b to %b step %b : i32 {
          tt.print "k" {hex = false, isSigned = array<i32: 1>} : %k : i32
        }
        ttg.warp_return
      } : (i32) -> ()
    }
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @tensor(%x: tensor<128xi32, #blocked>) {
    // expected-error @+1 {{which other warps cannot see; pass tensors in shared memory}}
    ttg.warp_specialize(%x) attributes {warpGroupStartIds = array<i32: 4>}
    default { ttg.warp_yield }
    partition0(%b: tensor<128xi32, #blocked>) num_warps(4) { ttg.warp_return } : (tensor<128xi32, #blocked>) -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func private @device_function() {
    // expected-error @+1 {{is not supported in functions that kernels call; inline them}}
    ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 4>}
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func private @callee() {
    tt.return
  }
  tt.func public @call() {
    ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 4>}
    default { ttg.warp_yield }
    partition0() num_warps(4) {
      // expected-error @+1 {{is not supported in partitions; inline the function}}
      tt.call @callee() : () -> ()
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @nested() {
    ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 4>}
    default { ttg.warp_yield }
    partition0() num_warps(4) {
      // expected-error @+1 {{is not supported inside of other operations or partitions}}
      ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 8>}
      default { ttg.warp_yield }
      partition0() num_warps(4) { ttg.warp_return } : () -> ()
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
