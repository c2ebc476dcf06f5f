// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --intel-accelerate-matmul=arch=pvc | FileCheck %s --check-prefixes=CHECK,PVC
// RUN: triton-opt %s -split-input-file --intel-accelerate-matmul=arch=dg2 | FileCheck %s --check-prefixes=CHECK,DG2

// Operands come from before their conversion. A GPU whose matrix unit is for other sub-groups keeps the dot.
// PVC: #[[DPAS:.*]] = #ttg.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, threadsPerWarp = 16, warpsPerCTA = [4, 1], repCluster = [1, 1]
// CHECK-LABEL: @f16
//  CHECK-SAME: (%[[A:.*]]: tensor<64x32xf16, #blocked>, %[[B:.*]]: tensor<32x32xf16, #blocked>, %[[C:.*]]: tensor<64x32xf32, #blocked>)
//     PVC-DAG:   %[[X:.*]] = ttg.convert_layout %[[A]] : {{.*}} -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[DPAS]], kWidth = 1}>>
//     PVC-DAG:   %[[Y:.*]] = ttg.convert_layout %[[B]] : {{.*}} -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #[[DPAS]], kWidth = 2}>>
//     PVC-DAG:   %[[Z:.*]] = ttg.convert_layout %[[C]] : {{.*}} -> tensor<64x32xf32, #[[DPAS]]>
//         PVC:   %[[D:.*]] = tt.dot %[[X]], %[[Y]], %[[Z]]
//         PVC:   ttg.convert_layout %[[D]] : tensor<64x32xf32, #[[DPAS]]> -> tensor<64x32xf32, #blocked>
//         DG2:   tt.dot {{.*}} -> tensor<64x32xf32, #blocked>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func @f16(%a: tensor<64x32xf16, #blocked>, %b: tensor<32x32xf16, #blocked>, %c: tensor<64x32xf32, #blocked>) -> tensor<64x32xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #a>
    %y = ttg.convert_layout %b : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #blocked>
    tt.return %d : tensor<64x32xf32, #blocked>
  }
}

// -----

// Sub-groups of 8 have tiles of 8 columns, and two of K in a lane of a.
// DG2: #[[DPAS:.*]] = #ttg.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 8, opsPerChan = 2, threadsPerWarp = 8, warpsPerCTA = [4, 1], repCluster = [1, 1]
// CHECK-LABEL: @eight_lanes
//         DG2:   tt.dot {{.*}} : tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[DPAS]], kWidth = 2}>> * tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #[[DPAS]], kWidth = 2}>> -> tensor<64x32xf32, #[[DPAS]]>
//         PVC:   tt.dot {{.*}} -> tensor<64x32xf32, #blocked>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 8 : i32} {
  tt.func @eight_lanes(%a: tensor<64x32xf16, #a>, %b: tensor<32x32xf16, #b>, %c: tensor<64x32xf32, #blocked>) -> tensor<64x32xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<64x32xf32, #blocked>
    tt.return %d : tensor<64x32xf32, #blocked>
  }
}

// -----

// f32 that may not be rounded has no instruction, and 16 of K are not enough for i8.
// CHECK-LABEL: @others
// CHECK-COUNT-2: tt.dot {{.*}}, #blocked>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func @others(%a: tensor<64x16xf32, #a>, %b: tensor<16x32xf32, #b>, %c: tensor<64x32xf32, #blocked>,
                  %x: tensor<64x16xi8, #a>, %y: tensor<16x32xi8, #b>, %z: tensor<64x32xi32, #blocked>) -> (tensor<64x32xf32, #blocked>, tensor<64x32xi32, #blocked>) {
    %d = tt.dot %a, %b, %c : tensor<64x16xf32, #a> * tensor<16x32xf32, #b> -> tensor<64x32xf32, #blocked>
    %e = tt.dot %x, %y, %z : tensor<64x16xi8, #a> * tensor<16x32xi8, #b> -> tensor<64x32xi32, #blocked>
    tt.return %d, %e : tensor<64x32xf32, #blocked>, tensor<64x32xi32, #blocked>
  }
}

// -----

// Tiles of as few rows as the dot; where it has fewer columns, lanes compute copies.
// PVC-DAG: #[[ONE:.*]] = #ttg.dpas<{repeatCount = 1, systolicDepth = 8, executionSize = 16, opsPerChan = 2, threadsPerWarp = 16, warpsPerCTA = [1, 4],
// PVC-DAG: #[[EIGHT:.*]] = #ttg.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, threadsPerWarp = 16, warpsPerCTA = [4, 1],
// PVC-LABEL: @small
//       PVC:   tt.dot {{.*}} -> tensor<1x64xf32, #[[ONE]]>
//       PVC:   tt.dot {{.*}} -> tensor<64x4xf32, #[[EIGHT]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func @small(%a: tensor<1x32xf16, #a>, %b: tensor<32x64xf16, #b>, %c: tensor<1x64xf32, #blocked>,
                 %x: tensor<64x32xf16, #a>, %y: tensor<32x4xf16, #b>, %z: tensor<64x4xf32, #blocked>) -> (tensor<1x64xf32, #blocked>, tensor<64x4xf32, #blocked>) {
    %d = tt.dot %a, %b, %c : tensor<1x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<1x64xf32, #blocked>
    %e = tt.dot %x, %y, %z : tensor<64x32xf16, #a> * tensor<32x4xf16, #b> -> tensor<64x4xf32, #blocked>
    tt.return %d, %e : tensor<1x64xf32, #blocked>, tensor<64x4xf32, #blocked>
  }
}

// -----

// f32 that may be rounded to tf32. A word of a has two rows, so a single one is computed twice.
// PVC-DAG: #[[TF32:.*]] = #ttg.dpas<{repeatCount = 2, systolicDepth = 8, executionSize = 16, opsPerChan = 1, threadsPerWarp = 16, warpsPerCTA = [1, 4],
// CHECK-LABEL: @tf32
//         PVC:   tt.dot {{.*}}, inputPrecision = tf32 : tensor<1x8xf32, #ttg.dot_op<{opIdx = 0, parent = #[[TF32]], kWidth = 1}>>
//         DG2:   tt.dot {{.*}} -> tensor<1x64xf32, #blocked>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func @tf32(%a: tensor<1x8xf32, #a>, %b: tensor<8x64xf32, #b>, %c: tensor<1x64xf32, #blocked>) -> tensor<1x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<1x8xf32, #a> * tensor<8x64xf32, #b> -> tensor<1x64xf32, #blocked>
    tt.return %d : tensor<1x64xf32, #blocked>
  }
}
