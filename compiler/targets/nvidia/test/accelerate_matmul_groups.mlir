// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-accelerate-matmul=compute-capability=90 | FileCheck %s
// RUN: triton-opt %s -split-input-file --nvidia-accelerate-matmul=compute-capability=100 | FileCheck %s --check-prefix=LATER

// Four warps below each other take all columns. Only sm_90 has wgmma.
//       CHECK: #[[MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
// CHECK-LABEL: @f16
//       CHECK:   tt.dot {{.*}} -> tensor<64x64xf32, #[[MMA]]>
//       LATER: versionMajor = 2
//   LATER-NOT: versionMajor = 3
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
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

// A second group goes below where there are rows for it, else beside the first.
//   CHECK-DAG: #[[BELOW:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
//   CHECK-DAG: #[[BESIDE:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 32, 16]}>
// CHECK-LABEL: @below
//       CHECK:   tt.dot {{.*}} -> tensor<128x64xf32, #[[BELOW]]>
// CHECK-LABEL: @beside
//       CHECK:   tt.dot {{.*}} -> tensor<64x64xf32, #[[BESIDE]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @below(%a: tensor<128x32xf16, #a>, %b: tensor<32x64xf16, #b>, %c: tensor<128x64xf32, #blocked>) -> tensor<128x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<128x64xf32, #blocked>
    tt.return %d : tensor<128x64xf32, #blocked>
  }
  tt.func @beside(%a: tensor<64x32xf16, #a>, %b: tensor<32x64xf16, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

// Too few rows; too many accumulators for a thread; 8-bit elements of a whose K is not contiguous: mma.sync.
//       CHECK: versionMajor = 2
//   CHECK-NOT: versionMajor = 3
// CHECK-LABEL: @few_rows
// CHECK-LABEL: @many_sums
// CHECK-LABEL: @bytes_by_columns
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #rows}>
#b = #ttg.dot_op<{opIdx = 1, parent = #rows}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @few_rows(%a: tensor<32x32xf16, #a>, %b: tensor<32x64xf16, #b>, %c: tensor<32x64xf32, #rows>) -> tensor<32x64xf32, #rows> {
    %d = tt.dot %a, %b, %c : tensor<32x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<32x64xf32, #rows>
    tt.return %d : tensor<32x64xf32, #rows>
  }
  tt.func @many_sums(%a: tensor<256x32xf16, #a>, %b: tensor<32x256xf16, #b>, %c: tensor<256x256xf32, #rows>) -> tensor<256x256xf32, #rows> {
    %d = tt.dot %a, %b, %c : tensor<256x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<256x256xf32, #rows>
    tt.return %d : tensor<256x256xf32, #rows>
  }
  tt.func @bytes_by_columns(%a: tensor<64x32xi8, #columns>, %b: tensor<32x64xi8, #rows>, %c: tensor<64x64xi32, #rows>) -> tensor<64x64xi32, #rows> {
    %x = ttg.convert_layout %a : tensor<64x32xi8, #columns> -> tensor<64x32xi8, #a>
    %y = ttg.convert_layout %b : tensor<32x64xi8, #rows> -> tensor<32x64xi8, #b>
    %d = tt.dot %x, %y, %c : tensor<64x32xi8, #a> * tensor<32x64xi8, #b> -> tensor<64x64xi32, #rows>
    tt.return %d : tensor<64x64xi32, #rows>
  }
}

// -----

// With N contiguous bytes of b fit, too: they are turned later.
//       CHECK: versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 32]
// CHECK-LABEL: @bytes_to_turn
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #rows}>
#b = #ttg.dot_op<{opIdx = 1, parent = #rows}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @bytes_to_turn(%a: tensor<64x32xi8, #rows>, %b: tensor<32x64xi8, #rows>, %c: tensor<64x64xi32, #rows>) -> tensor<64x64xi32, #rows> {
    %x = ttg.convert_layout %a : tensor<64x32xi8, #rows> -> tensor<64x32xi8, #a>
    %y = ttg.convert_layout %b : tensor<32x64xi8, #rows> -> tensor<32x64xi8, #b>
    %d = tt.dot %x, %y, %c : tensor<64x32xi8, #a> * tensor<32x64xi8, #b> -> tensor<64x64xi32, #rows>
    tt.return %d : tensor<64x64xi32, #rows>
  }
}

// -----

// With K contiguous bytes fit.
//       CHECK: versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 32]
// CHECK-LABEL: @bytes_by_rows
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #rows}>
#b = #ttg.dot_op<{opIdx = 1, parent = #rows}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @bytes_by_rows(%a: tensor<64x32xi8, #rows>, %b: tensor<32x64xi8, #columns>, %c: tensor<64x64xi32, #rows>) -> tensor<64x64xi32, #rows> {
    %x = ttg.convert_layout %a : tensor<64x32xi8, #rows> -> tensor<64x32xi8, #a>
    %y = ttg.convert_layout %b : tensor<32x64xi8, #columns> -> tensor<32x64xi8, #b>
    %d = tt.dot %x, %y, %c : tensor<64x32xi8, #a> * tensor<32x64xi8, #b> -> tensor<64x64xi32, #rows>
    tt.return %d : tensor<64x64xi32, #rows>
  }
}

// -----

// More accumulators than registers: an instruction takes half of them, while the others wait.
//       CHECK: versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]
// CHECK-LABEL: @two_instructions
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @two_instructions(%a: tensor<128x32xf16, #a>, %b: tensor<32x256xf16, #b>, %c: tensor<128x256xf32, #blocked>) -> tensor<128x256xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<128x256xf32, #blocked>
    tt.return %d : tensor<128x256xf32, #blocked>
  }
}

// -----

// A register holds two accumulators of f16.
//       CHECK: versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]
// CHECK-LABEL: @many_halves
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @many_halves(%a: tensor<64x32xf16, #a>, %b: tensor<32x512xf16, #b>, %c: tensor<64x512xf16, #blocked>) -> tensor<64x512xf16, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x32xf16, #a> * tensor<32x512xf16, #b> -> tensor<64x512xf16, #blocked>
    tt.return %d : tensor<64x512xf16, #blocked>
  }
}

// -----

// Words of b with N contiguous that threads have anyhow: they turn them. A loop copies those that it loads past threads.
//   CHECK-DAG: #[[GROUP:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 8]}>
//   CHECK-DAG: #[[WARP:.*]] = #ttg.nvidia_mma<{versionMajor = 2
// CHECK-LABEL: @words_of_threads
//       CHECK:   tt.dot {{.*}} -> tensor<64x64xf32, #[[GROUP]]>
//       CHECK:   scf.for
//       CHECK:     tt.dot {{.*}} -> tensor<64x64xf32, #[[GROUP]]>
// CHECK-LABEL: @words_of_loop
//       CHECK:   scf.for
//       CHECK:     tt.dot {{.*}} -> tensor<64x64xf32, #[[WARP]]>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #rows}>
#b = #ttg.dot_op<{opIdx = 1, parent = #rows}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @words_of_threads(%a: tensor<64x64xf32, #a>, %p: tensor<64x64x!tt.ptr<f32>, #rows>, %zero: tensor<64x64xf32, #rows>, %n: i32) -> tensor<64x64xf32, #rows> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x = tt.load %p : tensor<64x64x!tt.ptr<f32>, #rows>
    %b = ttg.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #b>
    %d = tt.dot %a, %b, %zero, inputPrecision = tf32 : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #rows>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%e = %d) -> (tensor<64x64xf32, #rows>) : i32 {
      %y = ttg.convert_layout %e : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #b>
      %f = tt.dot %a, %y, %zero, inputPrecision = tf32 : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #rows>
      scf.yield %f : tensor<64x64xf32, #rows>
    }
    tt.return %r : tensor<64x64xf32, #rows>
  }
  tt.func @words_of_loop(%a: tensor<64x64xf32, #a>, %p: tensor<64x64x!tt.ptr<f32>, #rows>, %zero: tensor<64x64xf32, #rows>, %n: i32) -> tensor<64x64xf32, #rows> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%e = %zero) -> (tensor<64x64xf32, #rows>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f32>, #rows>
      %b = ttg.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #b>
      %f = tt.dot %a, %b, %e, inputPrecision = tf32 : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #rows>
      scf.yield %f : tensor<64x64xf32, #rows>
    }
    tt.return %r : tensor<64x64xf32, #rows>
  }
}

// -----

// Threads add up what wgmma makes of 8-bit floats, where the dot asks for it after some elements and they have
// registers for as many sums more. Else the operands become f16.
//   CHECK-DAG: #[[FP8:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 32]}>
//   CHECK-DAG: #[[F16:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
// CHECK-LABEL: @promoted
//       CHECK:   tt.dot {{.*}}maxNumImpreciseAcc = 64 : i32{{.*}}xf8E4M3FN{{.*}} -> tensor<128x128xf32, #[[FP8]]>
// CHECK-LABEL: @exact
//       CHECK:   tt.dot {{.*}}xf16{{.*}} -> tensor<128x128xf32, #[[F16]]>
// CHECK-LABEL: @too_large
//       CHECK:   tt.dot {{.*}}xf16{{.*}} -> tensor<128x256xf32
#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @promoted(%a: tensor<128x64xf8E4M3FN, #blocked>, %b: tensor<64x128xf8E4M3FN, #columns>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<128x64xf8E4M3FN, #blocked> -> tensor<128x64xf8E4M3FN, #a>
    %y = ttg.convert_layout %b : tensor<64x128xf8E4M3FN, #columns> -> tensor<64x128xf8E4M3FN, #b>
    %d = tt.dot %x, %y, %c {maxNumImpreciseAcc = 64 : i32} : tensor<128x64xf8E4M3FN, #a> * tensor<64x128xf8E4M3FN, #b> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }
  tt.func @exact(%a: tensor<128x64xf8E4M3FN, #blocked>, %b: tensor<64x128xf8E4M3FN, #columns>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<128x64xf8E4M3FN, #blocked> -> tensor<128x64xf8E4M3FN, #a>
    %y = ttg.convert_layout %b : tensor<64x128xf8E4M3FN, #columns> -> tensor<64x128xf8E4M3FN, #b>
    %d = tt.dot %x, %y, %c : tensor<128x64xf8E4M3FN, #a> * tensor<64x128xf8E4M3FN, #b> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }
  tt.func @too_large(%a: tensor<128x64xf8E4M3FN, #blocked>, %b: tensor<64x256xf8E4M3FN, #columns>, %c: tensor<128x256xf32, #blocked>) -> tensor<128x256xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<128x64xf8E4M3FN, #blocked> -> tensor<128x64xf8E4M3FN, #a>
    %y = ttg.convert_layout %b : tensor<64x256xf8E4M3FN, #columns> -> tensor<64x256xf8E4M3FN, #b>
    %d = tt.dot %x, %y, %c {maxNumImpreciseAcc = 64 : i32} : tensor<128x64xf8E4M3FN, #a> * tensor<64x256xf8E4M3FN, #b> -> tensor<128x256xf32, #blocked>
    tt.return %d : tensor<128x256xf32, #blocked>
  }
}
