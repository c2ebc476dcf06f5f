// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-order-copies="num-stages=2 least-copy-bytes=4 most-copy-bytes=16" | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-order-copies="num-stages=2 least-copy-bytes=4 most-copy-bytes=4" | FileCheck %s --check-prefix=WORDS
// RUN: triton-opt %s -split-input-file --ttg-order-copies="num-stages=1" | FileCheck %s --check-prefix=WORDS
// RUN: triton-opt %s -split-input-file --ttg-order-copies="num-stages=2" --ttg-remove-layout-conversions --ttg-assign-latencies="num-stages=2 copies-in-lane-order=true" --ttg-schedule-loops --ttg-pipeline | FileCheck %s --check-prefix=COPIES

// Rows of 32 halves in a buffer whose groups of 8 are permuted by every second row: lanes 8 to 15 load the second and
// third row, with columns xor 8. Copies of 4 bytes would be four times as many as the loads.
//       CHECK: #[[LOADS:.*]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2], [0, 4]], lane = {{\[\[}}0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0]], warp = {{\[\[}}16, 0], [32, 0]], block = []}>
// CHECK-LABEL: tt.func @operand
//       CHECK:   %[[P:.*]] = ttg.convert_layout %{{.*}} : tensor<64x32x!tt.ptr<f16>, #blocked> -> tensor<64x32x!tt.ptr<f16>, #[[LOADS]]>
//       CHECK:   %[[M:.*]] = ttg.convert_layout %{{.*}} : tensor<64x32xi1, #blocked> -> tensor<64x32xi1, #[[LOADS]]>
//       CHECK:   %[[X:.*]] = tt.load %[[P]], %[[M]]
//       CHECK:   ttg.convert_layout %[[X]] : tensor<64x32xf16, #[[LOADS]]> -> tensor<64x32xf16, #ttg.dot_op
// WORDS-LABEL: tt.func @operand
//       WORDS:   tt.load {{.*}} #blocked>
// COPIES-LABEL: tt.func @operand
//       COPIES:   scf.for
//   COPIES-NOT:     ttg.convert_layout {{.*}}!tt.ptr
//       COPIES:     ttg.async_wait
//       COPIES:     ttg.async_copy_global_to_local
//       COPIES:     ttg.local_load
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mfma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mfma, kWidth = 8}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mfma, kWidth = 8}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @operand(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: tensor<32x64xf16, #b>, %n: i32) -> tensor<64x64xf32, #mfma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mfma>
    %step = arith.constant dense<32> : tensor<64x32xi32, #blocked>
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %j = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %k = tt.broadcast %j : tensor<1x32xi32, #blocked> -> tensor<64x32xi32, #blocked>
    %s = tt.splat %base : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #blocked>
    %first = tt.addptr %s, %k : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
    %sum:2 = scf.for %it = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %first) -> (tensor<64x64xf32, #mfma>, tensor<64x32x!tt.ptr<f16>, #blocked>) : i32 {
      %there = arith.cmpi slt, %it, %n : i32
      %m = tt.splat %there : i1 -> tensor<64x32xi1, #blocked>
      %x = tt.load %p, %m : tensor<64x32x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #a>
      %d = tt.dot %xa, %y, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mfma>
      %next = tt.addptr %p, %step : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
      scf.yield %d, %next : tensor<64x64xf32, #mfma>, tensor<64x32x!tt.ptr<f16>, #blocked>
    }
    tt.return %sum#0 : tensor<64x64xf32, #mfma>
  }
}

// -----

// What is loaded for other things than dots keeps its encoding, and so does a tensor with less than each thread copies.
// CHECK-LABEL: tt.func @others
//       CHECK:   tt.load {{.*}} #blocked>
//       CHECK:   tt.load {{.*}} #blocked1>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#small = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [32, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
#mfma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mfma, kWidth = 8}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mfma, kWidth = 8}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @others(%p: tensor<64x32x!tt.ptr<f16>, #blocked> {tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: tensor<16x64xf16, #b>, %n: i32) -> (tensor<64x32xf16, #blocked>, tensor<64x64xf32, #mfma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : tensor<64x32xf16, #blocked>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mfma>
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #small}>>
    %j = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #small}>> -> tensor<1x16xi32, #small>
    %k = tt.broadcast %j : tensor<1x16xi32, #small> -> tensor<64x16xi32, #small>
    %s = tt.splat %base : !tt.ptr<f16> -> tensor<64x16x!tt.ptr<f16>, #small>
    %q = tt.addptr %s, %k : tensor<64x16x!tt.ptr<f16>, #small>, tensor<64x16xi32, #small>
    %sum:2 = scf.for %it = %c0 to %n step %c1 iter_args(%last = %none, %acc = %zero) -> (tensor<64x32xf16, #blocked>, tensor<64x64xf32, #mfma>) : i32 {
      %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #blocked>
      %z = tt.load %q : tensor<64x16x!tt.ptr<f16>, #small>
      %za = ttg.convert_layout %z : tensor<64x16xf16, #small> -> tensor<64x16xf16, #a>
      %d = tt.dot %za, %y, %acc : tensor<64x16xf16, #a> * tensor<16x64xf16, #b> -> tensor<64x64xf32, #mfma>
      scf.yield %x, %d : tensor<64x32xf16, #blocked>, tensor<64x64xf32, #mfma>
    }
    tt.return %sum#0, %sum#1 : tensor<64x32xf16, #blocked>, tensor<64x64xf32, #mfma>
  }
}
