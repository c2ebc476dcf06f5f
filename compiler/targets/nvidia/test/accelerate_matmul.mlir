// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-accelerate-matmul=compute-capability=80 | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: triton-opt %s -split-input-file --nvidia-accelerate-matmul=compute-capability=89 | FileCheck %s --check-prefixes=CHECK,SM89
// RUN: triton-opt %s -split-input-file --nvidia-accelerate-matmul=compute-capability=120 | FileCheck %s --check-prefixes=CHECK,SM89

// Operands come from before their conversion; the four warps hold a square each.
// CHECK: #[[MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
// CHECK-LABEL: @f16
//  CHECK-SAME: (%[[A:.*]]: tensor<64x32xf16, #blocked>, %[[B:.*]]: tensor<32x64xf16, #blocked>, %[[C:.*]]: tensor<64x64xf32, #blocked>)
//   CHECK-DAG:   %[[X:.*]] = ttg.convert_layout %[[A]] : {{.*}} -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[MMA]], kWidth = 2}>>
//   CHECK-DAG:   %[[Y:.*]] = ttg.convert_layout %[[B]] : {{.*}} -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #[[MMA]], kWidth = 2}>>
//   CHECK-DAG:   %[[Z:.*]] = ttg.convert_layout %[[C]] : {{.*}} -> tensor<64x64xf32, #[[MMA]]>
//       CHECK:   %[[D:.*]] = tt.dot %[[X]], %[[Y]], %[[Z]]
//       CHECK:   ttg.convert_layout %[[D]] : tensor<64x64xf32, #[[MMA]]> -> tensor<64x64xf32, #blocked>
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f16(%a: tensor<64x32xf16, #blocked>, %b: tensor<32x64xf16, #blocked>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #a>
    %y = ttg.convert_layout %b : tensor<32x64xf16, #blocked> -> tensor<32x64xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// Two dots read operand a once: a warp has all of its rows, and fewer columns of each b.
// CHECK: warpsPerCTA = [1, 4]
// CHECK-LABEL: @shared_operand
// CHECK-COUNT-2: tt.dot
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @shared_operand(%a: tensor<32x32xf16, #blocked>, %b: tensor<32x64xf16, #b>, %e: tensor<32x64xf16, #b>, %c: tensor<32x64xf32, #blocked>) -> (tensor<32x64xf32, #blocked>, tensor<32x64xf32, #blocked>) {
    %x = ttg.convert_layout %a : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #a>
    %d = tt.dot %x, %b, %c : tensor<32x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<32x64xf32, #blocked>
    %y = ttg.convert_layout %a : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #a>
    %f = tt.dot %y, %e, %c : tensor<32x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<32x64xf32, #blocked>
    tt.return %d, %f : tensor<32x64xf32, #blocked>, tensor<32x64xf32, #blocked>
  }
}

// -----

// Not all dots of such results take the same operand: they share results alike.
// CHECK: warpsPerCTA = [2, 2]
// CHECK-NOT: warpsPerCTA = [1, 4]
// CHECK-LABEL: @partly_shared_operand
// CHECK-COUNT-3: tt.dot
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @partly_shared_operand(%a: tensor<32x32xf16, #a>, %e: tensor<32x32xf16, #a>, %b: tensor<32x64xf16, #b>, %f: tensor<32x64xf16, #b>, %c: tensor<32x64xf32, #blocked>) -> tensor<32x64xf32, #blocked> {
    %0 = tt.dot %a, %f, %c : tensor<32x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<32x64xf32, #blocked>
    %1 = tt.dot %e, %b, %0 : tensor<32x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<32x64xf32, #blocked>
    %2 = tt.dot %a, %b, %1 : tensor<32x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<32x64xf32, #blocked>
    tt.return %2 : tensor<32x64xf32, #blocked>
  }
}

// -----

// A dot whose result is operand a of the next: each warp holds whole rows.
// CHECK: warpsPerCTA = [4, 1]
// CHECK-LABEL: @chained
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @chained(%a: tensor<64x64xf16, #a>, %b: tensor<64x64xf16, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    %t = arith.truncf %d : tensor<64x64xf32, #blocked> to tensor<64x64xf16, #blocked>
    %x = ttg.convert_layout %t : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    %e = tt.dot %x, %b, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %e : tensor<64x64xf32, #blocked>
  }
}

// -----

// fp8 becomes f16 where there is no fp8 instruction, and where accumulators shall be precise.
// CHECK-LABEL: @fp8
//        SM80:   tt.dot {{.*}} : tensor<64x64xf16, {{.*}}kWidth = 2
//        SM89:   tt.dot {{.*}} : tensor<64x64xf8E4M3FN, {{.*}}kWidth = 4
// CHECK-LABEL: @precise_fp8
//       CHECK:   tt.dot {{.*}} : tensor<64x64xf16, {{.*}}kWidth = 2
// CHECK-LABEL: @precise_beyond_k
//       CHECK:   tt.dot {{.*}} : tensor<64x64xf16, {{.*}}kWidth = 2
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @fp8(%a: tensor<64x64xf8E4M3FN, #a>, %b: tensor<64x64xf8E4M3FN, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c {maxNumImpreciseAcc = 1073741824 : i32} : tensor<64x64xf8E4M3FN, #a> * tensor<64x64xf8E4M3FN, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
  tt.func @precise_fp8(%a: tensor<64x64xf8E4M3FN, #a>, %b: tensor<64x64xf8E4M3FN, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x64xf8E4M3FN, #a> * tensor<64x64xf8E4M3FN, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
  tt.func @precise_beyond_k(%a: tensor<64x64xf8E4M3FN, #a>, %b: tensor<64x64xf8E4M3FN, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c {maxNumImpreciseAcc = 64 : i32} : tensor<64x64xf8E4M3FN, #a> * tensor<64x64xf8E4M3FN, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// f32 operands are rounded to tf32 only where the dot allows it; those with less of K than the instruction takes stay.
// CHECK-LABEL: @ieee
//   CHECK-NOT:   kWidth
// CHECK-LABEL: @small
//   CHECK-NOT:   kWidth
// CHECK-LABEL: @tf32
//       CHECK:   tt.dot {{.*}} : tensor<64x64xf32, {{.*}}kWidth = 1
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @ieee(%a: tensor<64x64xf32, #a>, %b: tensor<64x64xf32, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
  tt.func @small(%a: tensor<16x8xf16, #a>, %b: tensor<8x16xf16, #b>, %c: tensor<16x16xf32, #blocked>) -> tensor<16x16xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<16x8xf16, #a> * tensor<8x16xf16, #b> -> tensor<16x16xf32, #blocked>
    tt.return %d : tensor<16x16xf32, #blocked>
  }
  tt.func @tf32(%a: tensor<64x64xf32, #a>, %b: tensor<64x64xf32, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// Rows of tiles for two warps alone: the others share them, column by column.
// CHECK: warpsPerCTA = [2, 2]
// CHECK-LABEL: @chained_few_rows
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @chained_few_rows(%a: tensor<32x64xf16, #a>, %b: tensor<64x64xf16, #b>, %c: tensor<32x64xf32, #blocked>) -> tensor<32x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<32x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<32x64xf32, #blocked>
    %t = arith.truncf %d : tensor<32x64xf32, #blocked> to tensor<32x64xf16, #blocked>
    %x = ttg.convert_layout %t : tensor<32x64xf16, #blocked> -> tensor<32x64xf16, #a>
    %e = tt.dot %x, %b, %c : tensor<32x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<32x64xf32, #blocked>
    tt.return %e : tensor<32x64xf32, #blocked>
  }
}

// -----

// Doubles, whose registers are pairs; two formats of fp8.
// CHECK-LABEL: @doubles
//       CHECK:   tt.dot {{.*}} : tensor<64x64xf64, {{.*}}kWidth = 1
// CHECK-LABEL: @two_formats
//        SM80:   tt.dot {{.*}} : tensor<64x64xf16, {{.*}}kWidth = 2{{.*}} * tensor<64x64xf16
//        SM89:   tt.dot {{.*}} : tensor<64x64xf8E4M3FN, {{.*}}kWidth = 4{{.*}} * tensor<64x64xf8E5M2
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @doubles(%a: tensor<64x64xf64, #a>, %b: tensor<64x64xf64, #b>, %c: tensor<64x64xf64, #blocked>) -> tensor<64x64xf64, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x64xf64, #a> * tensor<64x64xf64, #b> -> tensor<64x64xf64, #blocked>
    tt.return %d : tensor<64x64xf64, #blocked>
  }
  tt.func @two_formats(%a: tensor<64x64xf8E4M3FN, #a>, %b: tensor<64x64xf8E5M2, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c {maxNumImpreciseAcc = 1073741824 : i32} : tensor<64x64xf8E4M3FN, #a> * tensor<64x64xf8E5M2, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// A few rows of a large matrix: the instruction computes them, and others that nobody wants.
// CHECK: #[[MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
// CHECK-LABEL: @few_rows
//       CHECK:   tt.dot {{.*}} -> tensor<4x64xf32, #[[MMA]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @few_rows(%a: tensor<4x32xf16, #a>, %b: tensor<32x64xf16, #b>, %c: tensor<4x64xf32, #blocked>) -> tensor<4x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<4x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<4x64xf32, #blocked>
    tt.return %d : tensor<4x64xf32, #blocked>
  }
}
