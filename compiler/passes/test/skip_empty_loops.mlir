// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-skip-empty-loops | FileCheck %s

// There may be more programs than tiles. The addresses are for the loop alone, the load of the length is not pure.
// CHECK-LABEL: @tiles
//       CHECK:   tt.get_program_id
//       CHECK:   tt.load
//  CHECK-NEXT:   %[[SOME:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i32
//  CHECK-NEXT:   scf.if %[[SOME]] {
//       CHECK:     tt.splat
//       CHECK:     scf.for
//       CHECK:   }
//       CHECK:   tt.return
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @tiles(%x: !tt.ptr<f32>, %length: !tt.ptr<i32>, %tiles: i32) {
    %c1 = arith.constant 1 : i32
    %id = tt.get_program_id x : i32
    %pid = arith.addi %id, %c1 : i32
    %programs = tt.get_num_programs x : i32
    %n = tt.load %length : !tt.ptr<i32>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #b>
    scf.for %t = %pid to %tiles step %programs : i32 {
      %at = arith.muli %t, %n : i32
      %i = tt.splat %at : i32 -> tensor<128xi32, #b>
      %q = tt.addptr %p, %i : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
      %v = tt.load %q : tensor<128x!tt.ptr<f32>, #b>
      tt.store %p, %v : tensor<128x!tt.ptr<f32>, #b>
    }
    tt.return
  }
}

// -----

// A loop whose start is the same for all programs, and one that leaves a result.
// CHECK-LABEL: @stay
//   CHECK-NOT:   scf.if
//       CHECK:   tt.return
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @stay(%x: !tt.ptr<i32>, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %pid = tt.get_program_id x : i32
    scf.for %t = %c0 to %tiles step %c1 : i32 {
      tt.store %x, %t : !tt.ptr<i32>
    }
    %sum = scf.for %t = %pid to %tiles step %c1 iter_args(%s = %c0) -> (i32) : i32 {
      %v = tt.load %x : !tt.ptr<i32>
      %next = arith.addi %s, %v : i32
      scf.yield %next : i32
    }
    tt.store %x, %sum : !tt.ptr<i32>
    tt.return
  }
}
