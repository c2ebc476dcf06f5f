// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-narrow-operand-buffers=max-shared-bytes=4095 | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-narrow-operand-buffers=max-shared-bytes=4096 | FileCheck %s --check-prefix=FITS

// Both buffers have 2048 bytes. The first that saves 1024 bytes is narrowed, after which they fit.
// CHECK-LABEL: @fp8
//       CHECK:   %[[M:.*]] = ttg.local_alloc %{{.*}} : (tensor<32x32xf8E4M3FN, #{{.*}}>) -> !ttg.memdesc<32x32xf8E4M3FN
//       CHECK:   %[[N:.*]] = ttg.local_alloc %{{.*}} -> !ttg.memdesc<32x32xf16
//       CHECK:   %[[A8:.*]] = ttg.local_load %[[M]] : {{.*}} -> tensor<32x32xf8E4M3FN, #ttg.dot_op<{opIdx = 0
//  CHECK-NEXT:   %[[A:.*]] = tt.fp_to_fp %[[A8]] : {{.*}} -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0
//  CHECK-NEXT:   %[[B:.*]] = ttg.local_load %[[N]]
//  CHECK-NEXT:   tt.dot %[[A]], %[[B]]
//  FITS-LABEL: @fp8
//   FITS-NOT:   !ttg.memdesc<32x32xf8
//       FITS:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {register = [], warp = []}}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @fp8(%x: tensor<32x32xf8E4M3FN, #blocked>, %y: tensor<32x32xf8E5M2, #blocked>, %zero: tensor<32x32xf32, #mma>) -> tensor<32x32xf32, #mma> {
    %x16 = tt.fp_to_fp %x : tensor<32x32xf8E4M3FN, #blocked> -> tensor<32x32xf16, #blocked>
    %y16 = tt.fp_to_fp %y : tensor<32x32xf8E5M2, #blocked> -> tensor<32x32xf16, #blocked>
    %m = ttg.local_alloc %x16 : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    %n = ttg.local_alloc %y16 : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    %a = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>>
    %b = ttg.local_load %n : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>>
    %d = tt.dot %a, %b, %zero : tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>> * tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>> -> tensor<32x32xf32, #mma>
    tt.return %d : tensor<32x32xf32, #mma>
  }
}

// -----

// A chain of casts goes to the reads as a whole, from its narrowest elements on. A buffer without a cast stays.
// CHECK-LABEL: @chain
//       CHECK:   ttg.local_alloc %{{.*}} -> !ttg.memdesc<32x32xi8
//       CHECK:   ttg.local_alloc %{{.*}} -> !ttg.memdesc<32x32xf32
//       CHECK:   ttg.local_load {{.*}} -> tensor<32x32xi8, #ttg.dot_op
//  CHECK-NEXT:   arith.sitofp {{.*}} : tensor<32x32xi8, {{.*}} to tensor<32x32xf16, #ttg.dot_op
//  CHECK-NEXT:   arith.extf {{.*}} to tensor<32x32xf32, #ttg.dot_op
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {register = [], warp = []}}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @chain(%x: tensor<32x32xi8, #blocked>, %y: tensor<32x32xf32, #blocked>, %zero: tensor<32x32xf32, #mma>) -> tensor<32x32xf32, #mma> {
    %x16 = arith.sitofp %x : tensor<32x32xi8, #blocked> to tensor<32x32xf16, #blocked>
    %x32 = arith.extf %x16 : tensor<32x32xf16, #blocked> to tensor<32x32xf32, #blocked>
    %m = ttg.local_alloc %x32 : (tensor<32x32xf32, #blocked>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %n = ttg.local_alloc %y : (tensor<32x32xf32, #blocked>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %a = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>>
    %b = ttg.local_load %n : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>>
    %d = tt.dot %a, %b, %zero : tensor<32x32xf32, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>> * tensor<32x32xf32, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>> -> tensor<32x32xf32, #mma>
    tt.return %d : tensor<32x32xf32, #mma>
  }
}

// -----

// Numbers of 4 bits, two a byte along K: a thread's operand holds both. Along the rows different threads hold them, so
// that buffer stays.
// CHECK-LABEL: @fp4
//       CHECK:   %[[M:.*]] = ttg.local_alloc %{{.*}} -> !ttg.memdesc<32x32xi8
//       CHECK:   ttg.local_alloc %{{.*}} -> !ttg.memdesc<64x32xbf16
//       CHECK:   %[[BYTES:.*]] = ttg.local_load %[[M]] : {{.*}} -> tensor<32x32xi8, #[[BYTES_OF_A:.*]]>
//  CHECK-NEXT:   %[[A:.*]] = ttg.fp4_to_fp %[[BYTES]] {axis = 1 : i32} : tensor<32x32xi8, #[[BYTES_OF_A]]> -> tensor<32x64xbf16, #ttg.dot_op<{opIdx = 0
//       CHECK:   tt.dot %[[A]]
#bytes = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#wide_columns = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {register = [], warp = []}}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @fp4(%x: tensor<32x32xi8, #bytes>, %y: tensor<64x16xi8, #columns>, %zero: tensor<32x32xf32, #mma>) -> tensor<32x32xf32, #mma> {
    %x16 = ttg.fp4_to_fp %x {axis = 1 : i32} : tensor<32x32xi8, #bytes> -> tensor<32x64xbf16, #wide>
    %y16 = ttg.fp4_to_fp %y {axis = 1 : i32} : tensor<64x16xi8, #columns> -> tensor<64x32xbf16, #wide_columns>
    %m = ttg.local_alloc %x16 : (tensor<32x64xbf16, #wide>) -> !ttg.memdesc<32x64xbf16, #shared, #smem>
    %n = ttg.local_alloc %y16 : (tensor<64x32xbf16, #wide_columns>) -> !ttg.memdesc<64x32xbf16, #shared, #smem>
    %a = ttg.local_load %m : !ttg.memdesc<32x64xbf16, #shared, #smem> -> tensor<32x64xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>>
    %b = ttg.local_load %n : !ttg.memdesc<64x32xbf16, #shared, #smem> -> tensor<64x32xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>>
    %d = tt.dot %a, %b, %zero : tensor<32x64xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>> * tensor<64x32xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>> -> tensor<32x32xf32, #mma>
    tt.return %d : tensor<32x32xf32, #mma>
  }
}
