// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-flatten-nests=products=2048 | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-flatten-nests | FileCheck %s --check-prefix=THREADS

// Neighbours are loaded together, but the indices are computed beside dots that take longer.
// CHECK-LABEL: @long_dots
//       CHECK:   scf.for
//   CHECK-NOT:   scf.for
//       CHECK:   tt.return
// THREADS-LABEL: @long_dots
//       THREADS:   scf.for
//       THREADS:     scf.for
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @long_dots(%p: tensor<64x32x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %s: tensor<64x32xi32, #blocked>, %y: tensor<32x256xf16, #b>, %h: i32, %w: i32) -> tensor<64x256xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x256xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %r = scf.for %i = %c0 to %h step %c1 iter_args(%a = %zero) -> (tensor<64x256xf32, #mma>) : i32 {
      %row = tt.splat %i : i32 -> tensor<64x32xi32, #blocked>
      %o = arith.muli %row, %s : tensor<64x32xi32, #blocked>
      %t = tt.addptr %p, %o : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
      %q = scf.for %j = %c0 to %w step %c32 iter_args(%acc = %a) -> (tensor<64x256xf32, #mma>) : i32 {
        %x = tt.load %t : tensor<64x32x!tt.ptr<f16>, #blocked>
        %xa = ttg.convert_layout %x : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #a>
        %d = tt.dot %xa, %y, %acc : tensor<64x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<64x256xf32, #mma>
        scf.yield %d : tensor<64x256xf32, #mma>
      }
      scf.yield %q : tensor<64x256xf32, #mma>
    }
    tt.return %r : tensor<64x256xf32, #mma>
  }
}

// -----

// The dots take less time than the indices.
// CHECK-LABEL: @short_dots
//       CHECK:   scf.for
//       CHECK:     scf.for
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @short_dots(%p: tensor<64x32x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %s: tensor<64x32xi32, #blocked>, %y: tensor<32x16xf16, #b>, %h: i32, %w: i32) -> tensor<64x16xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x16xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %r = scf.for %i = %c0 to %h step %c1 iter_args(%a = %zero) -> (tensor<64x16xf32, #mma>) : i32 {
      %row = tt.splat %i : i32 -> tensor<64x32xi32, #blocked>
      %o = arith.divsi %row, %s : tensor<64x32xi32, #blocked>
      %t = tt.addptr %p, %o : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
      %q = scf.for %j = %c0 to %w step %c32 iter_args(%acc = %a) -> (tensor<64x16xf32, #mma>) : i32 {
        %x = tt.load %t : tensor<64x32x!tt.ptr<f16>, #blocked>
        %xa = ttg.convert_layout %x : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #a>
        %d = tt.dot %xa, %y, %acc : tensor<64x32xf16, #a> * tensor<32x16xf16, #b> -> tensor<64x16xf32, #mma>
        scf.yield %d : tensor<64x16xf32, #mma>
      }
      scf.yield %q : tensor<64x16xf32, #mma>
    }
    tt.return %r : tensor<64x16xf32, #mma>
  }
}
