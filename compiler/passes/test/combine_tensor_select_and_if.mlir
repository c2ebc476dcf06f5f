// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-combine-tensor-select-and-if | FileCheck %s

// A select in front of the branch becomes its result; inside it is what was chosen.
// CHECK-LABEL: @before
//  CHECK-SAME:   %[[C:.*]]: i1, %[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>
//   CHECK-NOT:   arith.select
//       CHECK:   %[[R:.*]]:2 = scf.if %[[C]]
//       CHECK:     %[[X:.*]] = arith.addf %[[A]], %[[A]]
//       CHECK:     scf.yield %[[X]], %[[A]]
//       CHECK:     %[[Y:.*]] = arith.mulf %[[B]], %[[A]]
//       CHECK:     scf.yield %[[Y]], %[[B]]
//       CHECK:   tt.return %[[R]]#0, %[[R]]#1
tt.func @before(%c: i1, %a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %s = arith.select %c, %a, %b : tensor<8xf32>
  %r = scf.if %c -> (tensor<8xf32>) {
    %x = arith.addf %s, %a : tensor<8xf32>
    scf.yield %x : tensor<8xf32>
  } else {
    %y = arith.mulf %s, %a : tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  tt.return %r, %s : tensor<8xf32>, tensor<8xf32>
}

// -----

// A branch without results or an else gets both; two selects go into one branch.
// CHECK-LABEL: @store
//  CHECK-SAME:   %{{.*}}, %[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>
//       CHECK:   %[[R:.*]]:2 = scf.if
//       CHECK:     tt.store %{{.*}}, %[[A]]
//       CHECK:     scf.yield %[[A]], %[[B]]
//       CHECK:   } else {
//       CHECK:     scf.yield %[[B]], %[[A]]
//       CHECK:   } {tt.some}
//       CHECK:   tt.return %[[R]]#0, %[[R]]#1
tt.func @store(%c: i1, %p: tensor<8x!tt.ptr<f32>>, %a: tensor<8xf32>, %b: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) {
  %s = arith.select %c, %a, %b : tensor<8xf32>
  scf.if %c {
    tt.store %p, %s : tensor<8x!tt.ptr<f32>>
  } {tt.some}
  %t = arith.select %c, %b, %a : tensor<8xf32>
  tt.return %s, %t : tensor<8xf32>, tensor<8xf32>
}

// -----

// A select after the branch may choose the branch's own result: each side yields its own.
// CHECK-LABEL: @after
//  CHECK-SAME:   %{{.*}}, %[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>
//       CHECK:   %[[R:.*]]:2 = scf.if
//       CHECK:     %[[X:.*]] = arith.addf
//       CHECK:     scf.yield %[[X]], %[[X]]
//       CHECK:     scf.yield %[[B]], %[[A]]
//       CHECK:   tt.return %[[R]]#1
tt.func @after(%c: i1, %a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %r = scf.if %c -> (tensor<8xf32>) {
    %x = arith.addf %b, %a : tensor<8xf32>
    scf.yield %x : tensor<8xf32>
  } else {
    scf.yield %b : tensor<8xf32>
  }
  %s = arith.select %c, %r, %a : tensor<8xf32>
  tt.return %s : tensor<8xf32>
}

// -----

// Stays: used before the branch; chosen from what is computed after it; another condition; a scalar; a condition for
// each element.
// CHECK-LABEL: @stays
// CHECK-COUNT-5: arith.select
//       CHECK:   tt.return
tt.func @stays(%c: i1, %d: i1, %m: tensor<8xi1>, %a: tensor<8xf32>, %b: tensor<8xf32>, %p: tensor<8x!tt.ptr<f32>>,
               %x: f32) -> (tensor<8xf32>, tensor<8xf32>, f32, tensor<8xf32>) {
  %0 = arith.select %c, %a, %b : tensor<8xf32>
  %1 = arith.select %d, %a, %b : tensor<8xf32>
  %2 = arith.select %c, %x, %x : f32
  %3 = arith.select %m, %a, %b : tensor<8xi1>, tensor<8xf32>
  %u = arith.addf %0, %0 : tensor<8xf32>
  scf.if %c {
    tt.store %p, %u : tensor<8x!tt.ptr<f32>>
  }
  %v = arith.addf %u, %a : tensor<8xf32>
  %4 = arith.select %c, %v, %a : tensor<8xf32>
  tt.return %4, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, f32, tensor<8xf32>
}
