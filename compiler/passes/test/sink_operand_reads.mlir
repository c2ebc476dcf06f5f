// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-sink-operand-reads=registers=95 | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-sink-operand-reads=registers=96 | FileCheck %s --check-prefix=ENOUGH
// RUN: triton-opt %s -split-input-file --ttg-sink-operand-reads="registers=95 max-buffer-bytes=4095" | FileCheck %s --check-prefix=ENOUGH
// RUN: triton-opt %s -split-input-file --ttg-sink-operand-reads="registers=95 max-buffer-bytes=4095 max-frame-bytes=8192" | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-sink-operand-reads="registers=95 max-buffer-bytes=4095 max-frame-bytes=4095" | FileCheck %s --check-prefix=ENOUGH
// RUN: triton-opt %s -split-input-file --ttg-sink-operand-reads="registers=79 reads-late" | FileCheck %s --check-prefix=STEP
// RUN: triton-opt %s -split-input-file --ttg-sink-operand-reads="registers=80 reads-late" | FileCheck %s --check-prefix=LATE

// A thread has 32 words each of %a, %b and the accumulators. A read of a buffer that the loop may change stays where it is.
// CHECK-LABEL: @invariant
//       CHECK:   %[[M:.*]] = ttg.local_alloc
//   CHECK-NOT:   ttg.local_load %[[M]]
//       CHECK:   ttg.local_load
//       CHECK:   scf.for
//       CHECK:     %[[A:.*]] = ttg.local_load %[[M]]
//  CHECK-NEXT:     tt.dot %[[A]]
// ENOUGH-LABEL: @invariant
//  ENOUGH-COUNT-2:   ttg.local_load
//       ENOUGH:   scf.for
//   ENOUGH-NOT:     ttg.local_load
//       ENOUGH:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {register = [], warp = []}}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @invariant(%x: tensor<32x32xf16, #blocked>, %n: i32, %zero: tensor<32x32xf32, #mma>) -> tensor<32x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    %a = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>>
    %q = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    %b = ttg.local_load %q : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<32x32xf32, #mma>) : i32 {
      %d = tt.dot %a, %b, %sum : tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>> * tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>> -> tensor<32x32xf32, #mma>
      scf.yield %d : tensor<32x32xf32, #mma>
    }
    tt.return %r : tensor<32x32xf32, #mma>
  }
}

// -----

// The other operand has 32 words, and 16 of one step along K.
// STEP-LABEL: @changing
//       STEP:   scf.for
//       STEP:     ttg.local_load %{{.*}} : !ttg.memdesc<32x32xf16, #shared, #smem> ->
// LATE-LABEL: @changing
//       LATE:   ttg.local_load %{{.*}} : !ttg.memdesc<32x32xf16, #shared, #smem> ->
//       LATE:   scf.for
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {register = [], warp = []}}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @changing(%x: tensor<32x32xf16, #blocked>, %n: i32, %zero: tensor<32x32xf32, #mma>) -> tensor<32x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    %a = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>>
    %q = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<32x32xf32, #mma>) : i32 {
      %b = ttg.local_load %q : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>>
      %d = tt.dot %a, %b, %sum : tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>> * tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>> -> tensor<32x32xf32, #mma>
      scf.yield %d : tensor<32x32xf32, #mma>
    }
    tt.return %r : tensor<32x32xf32, #mma>
  }
}

// -----

// A read that is converted to another type is converted in the loop.
// CHECK-LABEL: @converted
//       CHECK:   %[[M:.*]] = ttg.local_alloc
//       CHECK:   scf.for
//       CHECK:     %[[L:.*]] = ttg.local_load %[[M]]
//  CHECK-NEXT:     %[[A:.*]] = arith.extf %[[L]]
//  CHECK-NEXT:     tt.dot %[[A]]
// ENOUGH-LABEL: @converted
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @converted(%x: tensor<64x64xf16, #blocked>, %y: tensor<64x64xf32, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, %n: i32, %zero: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %l = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    %a = arith.extf %l : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> to tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = tt.dot %a, %y, %acc, inputPrecision = tf32 : tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<64x64xf32, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

// What threads make of what they read is there as a whole before the dot.
// LATE-LABEL: @made
//       LATE:   scf.for
//       LATE:     ttg.local_load %{{.*}} : !ttg.memdesc<32x32xf16, #shared, #smem> ->
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {register = [], warp = []}}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @made(%x: tensor<32x32xf16, #blocked>, %n: i32, %zero: tensor<32x32xf32, #mma>) -> tensor<32x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    %a = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>>
    %q = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<32x32xf32, #mma>) : i32 {
      %l = ttg.local_load %q : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>>
      %b = arith.negf %l : tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>>
      %d = tt.dot %a, %b, %sum : tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>> * tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>> -> tensor<32x32xf32, #mma>
      scf.yield %d : tensor<32x32xf32, #mma>
    }
    tt.return %r : tensor<32x32xf32, #mma>
  }
}
