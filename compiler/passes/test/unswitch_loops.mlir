// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-unswitch-loops --canonicalize | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {

// The first program also stores. The others have a loop without a branch.
// CHECK-LABEL: @first_program_stores
//       CHECK:   scf.if
//       CHECK:     scf.for
//   CHECK-NOT:       scf.if
//       CHECK:       tt.load
//       CHECK:       tt.store
//       CHECK:   } else {
//       CHECK:     scf.for
//       CHECK:       tt.load
//   CHECK-NOT:       tt.store
//       CHECK:     } {tt.loop_unroll_factor = 4 : i32}
tt.func @first_program_stores(%p: tensor<512x!tt.ptr<f32>, #b>, %q: !tt.ptr<i32>, %n: i32) -> tensor<512xf32, #b> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<512xf32, #b>
  %pid = tt.get_program_id x : i32
  %first = arith.cmpi eq, %pid, %c0 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<512xf32, #b>) : i32 {
    %v = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    %s = arith.addf %sum, %v : tensor<512xf32, #b>
    scf.if %first {
      %to = tt.addptr %q, %i : !tt.ptr<i32>, i32
      tt.store %to, %i : !tt.ptr<i32>
    }
    scf.yield %s : tensor<512xf32, #b>
  }
  tt.return %r : tensor<512xf32, #b>
}

// All rows of a program are inside or none. Inside, no element is chosen, and what the loop starts with is known.
// CHECK-LABEL: @rows_inside
//       CHECK:   scf.if
//       CHECK:     scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
//       CHECK:       %[[V:.*]] = tt.load %{{[^ ,]*}} :
//   CHECK-NOT:       arith.select
//       CHECK:       %[[S:.*]] = arith.addf %[[SUM]], %[[V]]
//       CHECK:       scf.yield %[[S]]
//       CHECK:   } else {
//   CHECK-NOT:     arith.select
//       CHECK:   }
tt.func @rows_inside(%p: tensor<512x!tt.ptr<f32>, #b>, %rows: i32) -> tensor<512xf32, #b> {
  %c0 = arith.constant 0 : i32
  %n = arith.constant 16 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<512xf32, #b>
  %one = arith.constant dense<1.000000e+00> : tensor<512xf32, #b>
  %pid = tt.get_program_id x : i32
  %inside = arith.cmpi slt, %pid, %rows : i32
  %mask = tt.splat %inside : i1 -> tensor<512xi1, #b>
  %start = arith.select %mask, %one, %zero : tensor<512xi1, #b>, tensor<512xf32, #b>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %start) -> (tensor<512xf32, #b>) : i32 {
    %v = tt.load %p, %mask, %zero : tensor<512x!tt.ptr<f32>, #b>
    %s = arith.addf %sum, %v : tensor<512xf32, #b>
    %t = arith.select %mask, %s, %sum : tensor<512xi1, #b>, tensor<512xf32, #b>
    scf.yield %t : tensor<512xf32, #b>
  }
  tt.return %r : tensor<512xf32, #b>
}

// Of few iterations, all loads start together.
// CHECK-LABEL: @few_iterations
//   CHECK-NOT:   scf.if
tt.func @few_iterations(%p: tensor<512x!tt.ptr<f32>, #b>, %rows: i32) -> tensor<512xf32, #b> {
  %c0 = arith.constant 0 : i32
  %n = arith.constant 2 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<512xf32, #b>
  %one = arith.constant dense<1.000000e+00> : tensor<512xf32, #b>
  %pid = tt.get_program_id x : i32
  %inside = arith.cmpi slt, %pid, %rows : i32
  %mask = tt.splat %inside : i1 -> tensor<512xi1, #b>
  %start = arith.select %mask, %one, %zero : tensor<512xi1, #b>, tensor<512xf32, #b>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %start) -> (tensor<512xf32, #b>) : i32 {
    %v = tt.load %p, %mask, %zero : tensor<512x!tt.ptr<f32>, #b>
    %s = arith.addf %sum, %v : tensor<512xf32, #b>
    %t = arith.select %mask, %s, %sum : tensor<512xi1, #b>, tensor<512xf32, #b>
    scf.yield %t : tensor<512xf32, #b>
  }
  tt.return %r : tensor<512xf32, #b>
}

// What changes in the loop stays there.
// CHECK-LABEL: @last_iteration_stores
//   CHECK-NOT:   scf.if
//       CHECK:   scf.for
//       CHECK:     scf.if
tt.func @last_iteration_stores(%p: tensor<512x!tt.ptr<f32>, #b>, %q: tensor<512x!tt.ptr<f32>, #b>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %v = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    %last = arith.cmpi eq, %i, %c1 : i32
    scf.if %last {
      tt.store %q, %v : tensor<512x!tt.ptr<f32>, #b>
    }
  }
  tt.return
}
}

// -----

// The first loop finds what the second one asks for.
// CHECK-LABEL: @found_before
// CHECK: scf.if
// CHECK: scf.if
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func @found_before(%p: tensor<512x!tt.ptr<f32>, #b>, %flag: !tt.ptr<i1>, %start: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %found = scf.for %i = %c0 to %n step %c1 iter_args(%f = %start) -> (i1) : i32 {
    %x = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    scf.if %start {
      tt.store %p, %x : tensor<512x!tt.ptr<f32>, #b>
    }
    %t = tt.load %flag : !tt.ptr<i1>
    scf.yield %t : i1
  }
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    scf.if %found {
      tt.store %p, %x : tensor<512x!tt.ptr<f32>, #b>
    }
  }
  tt.return
}
}
