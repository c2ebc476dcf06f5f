// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=2 copies-in-lane-order=true thread-registers=512" | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=2 copies-in-lane-order=true most-copy-bytes=4 thread-registers=512" | FileCheck %s --check-prefix=WAITS
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=2 copies-in-lane-order=true max-shared-bytes=8000 thread-registers=512" | FileCheck %s --check-prefix=WAITS
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=2 copies-in-lane-order=true max-shared-bytes=8000" | FileCheck %s --check-prefix=STAYS

// Lanes in the order of the buffer's elements copy; without copies as wide, or without room for two buffers of 4 KiB, the
// load waits in registers, where it is known that these suffice.
// CHECK-LABEL: tt.func @in_order
//       CHECK:   tt.load {{.*}} {tt.latency = 1 : i32}
// WAITS-LABEL: tt.func @in_order
//       WAITS:   tt.load {{.*}} {loop.in_registers, tt.latency = 1 : i32}
// STAYS-LABEL: tt.func @in_order
//   STAYS-NOT:   tt.latency
//       STAYS:   tt.return
#loads = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0]], warp = [[16, 0], [32, 0]], block = []}>
#mfma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mfma, kWidth = 8}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mfma, kWidth = 8}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @in_order(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: tensor<32x64xf16, #b>, %n: i32) -> tensor<64x64xf32, #mfma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mfma>
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #loads}>>
    %j = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #loads}>> -> tensor<1x32xi32, #loads>
    %k = tt.broadcast %j : tensor<1x32xi32, #loads> -> tensor<64x32xi32, #loads>
    %s = tt.splat %base : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #loads>
    %p = tt.addptr %s, %k : tensor<64x32x!tt.ptr<f16>, #loads>, tensor<64x32xi32, #loads>
    %sum = scf.for %it = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mfma>) : i32 {
      %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #loads>
      %xa = ttg.convert_layout %x : tensor<64x32xf16, #loads> -> tensor<64x32xf16, #a>
      %d = tt.dot %xa, %y, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mfma>
      scf.yield %d : tensor<64x64xf32, #mfma>
    }
    tt.return %sum : tensor<64x64xf32, #mfma>
  }
}

// -----

// Lanes in the order of the rows are in no order in a buffer that permutes their groups.
// CHECK-LABEL: tt.func @in_rows
//       CHECK:   tt.load {{.*}} {loop.in_registers, tt.latency = 1 : i32}
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mfma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mfma, kWidth = 8}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mfma, kWidth = 8}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @in_rows(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: tensor<32x64xf16, #b>, %n: i32) -> tensor<64x64xf32, #mfma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mfma>
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %j = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %k = tt.broadcast %j : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %s = tt.splat %base : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %p = tt.addptr %s, %k : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    %sum = scf.for %it = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mfma>) : i32 {
      %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #rows>
      %xa = ttg.convert_layout %x : tensor<64x32xf16, #rows> -> tensor<64x32xf16, #a>
      %d = tt.dot %xa, %y, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mfma>
      scf.yield %d : tensor<64x64xf32, #mfma>
    }
    tt.return %sum : tensor<64x64xf32, #mfma>
  }
}
