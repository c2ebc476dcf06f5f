// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm=target=cuda:80 | FileCheck %s --check-prefix=SMALL
// RUN: triton-opt %s -split-input-file --lower-to-llvm=target=cuda:90 | FileCheck %s --check-prefix=LARGE

// Doubles go in registers of their own. Before sm_90 an instruction has 8 rows and 4 of K: four of them.
//     SMALL-LABEL: @doubles
//   SMALL-COUNT-4: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {$0, $1}, {$2}, {$3}, {$0, $1};
//       SMALL-NOT: mma.sync
//     LARGE-LABEL: @doubles
//           LARGE: mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};
//       LARGE-NOT: mma.sync
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @doubles(%p: !tt.ptr<f64>) {
    %x = arith.constant dense<1.0> : tensor<16x8xf64, #a>
    %y = arith.constant dense<2.0> : tensor<8x8xf64, #b>
    %z = arith.constant dense<0.0> : tensor<16x8xf64, #mma>
    %d = tt.dot %x, %y, %z : tensor<16x8xf64, #a> * tensor<8x8xf64, #b> -> tensor<16x8xf64, #mma>
    %q = tt.splat %p : !tt.ptr<f64> -> tensor<16x8x!tt.ptr<f64>, #mma>
    tt.store %q, %d : tensor<16x8x!tt.ptr<f64>, #mma>
    tt.return
  }
}

// -----

// From sm_90 on an instruction takes 16 of K where there are so many: two slices of 8 after each other.
//     SMALL-LABEL: @longer
//   SMALL-COUNT-8: mma.sync.aligned.m8n8k4
//       SMALL-NOT: mma.sync
//     LARGE-LABEL: @longer
//           LARGE: mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {$0, $1, $2, $3}, {$4, $5, $6, $7, $8, $9, $10, $11}, {$12, $13, $14, $15}, {$0, $1, $2, $3};
//       LARGE-NOT: mma.sync
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @longer(%p: !tt.ptr<f64>) {
    %x = arith.constant dense<1.0> : tensor<16x16xf64, #a>
    %y = arith.constant dense<2.0> : tensor<16x8xf64, #b>
    %z = arith.constant dense<0.0> : tensor<16x8xf64, #mma>
    %d = tt.dot %x, %y, %z : tensor<16x16xf64, #a> * tensor<16x8xf64, #b> -> tensor<16x8xf64, #mma>
    %q = tt.splat %p : !tt.ptr<f64> -> tensor<16x8x!tt.ptr<f64>, #mma>
    tt.store %q, %d : tensor<16x8x!tt.ptr<f64>, #mma>
    tt.return
  }
}
