// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --lower-to-llvm

// With a matrix unit and without one.
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @into_8_bits(%x: tensor<16x16xf16, #a>, %y: tensor<16x8xf16, #b>, %z: tensor<16x8xf8E5M2, #mma>) {
    // expected-error @+1 {{accumulates in 8-bit floats}}
    %d = tt.dot %x, %y, %z : tensor<16x16xf16, #a> * tensor<16x8xf16, #b> -> tensor<16x8xf8E5M2, #mma>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @into_8_bits(%x: tensor<16x16xf16, #a>, %y: tensor<16x8xf16, #b>, %z: tensor<16x8xf8E4M3FN, #blocked>) {
    // expected-error @+1 {{accumulates in 8-bit floats}}
    %d = tt.dot %x, %y, %z : tensor<16x16xf16, #a> * tensor<16x8xf16, #b> -> tensor<16x8xf8E4M3FN, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @into_less(%x: tensor<16x16xf64, #a>, %y: tensor<16x8xf64, #b>, %z: tensor<16x8xf32, #blocked>) {
    // expected-error @+1 {{accumulates in fewer bits than its operands have}}
    %d = tt.dot %x, %y, %z : tensor<16x16xf64, #a> * tensor<16x8xf64, #b> -> tensor<16x8xf32, #blocked>
    tt.return
  }
}
