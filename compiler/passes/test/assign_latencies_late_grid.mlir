// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=2 max-shared-bytes=233472 registers=65536 multiprocessors=132" | FileCheck %s
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=2 max-shared-bytes=233472 registers=65536 multiprocessors=44" | FileCheck %s --check-prefix=THREE

// Registers would hold three blocks, but two with a late dot. A persistent kernel may have one a multiprocessor.
// CHECK-LABEL: @one_block
//       CHECK:   tt.dot {{.*}}loop.late
// THREE-LABEL: @one_block
//   THREE-NOT:   loop.late
//       THREE:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#turned = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#row = #ttg.slice<{dim = 0, parent = #mma}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @one_block(%q: tensor<128x64xf16, #a>, %pk: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %pv: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %half = arith.constant dense<0.5> : tensor<128x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c132 = arith.constant 132 : i32
    %first = tt.get_program_id x : i32
    %t = scf.for %tile = %first to %n step %c132 iter_args(%last = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
        %k = tt.load %pk : tensor<64x64x!tt.ptr<f16>, #blocked>
        %kt = tt.trans %k {order = array<i32: 1, 0>} : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #turned>
        %kb = ttg.convert_layout %kt : tensor<64x64xf16, #turned> -> tensor<64x64xf16, #b>
        %s = tt.dot %q, %kb, %zero : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
        %p = math.exp2 %s : tensor<128x64xf32, #mma>
        %ph = arith.truncf %p : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
        %pa = ttg.convert_layout %ph : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #a>
        %scaled = arith.mulf %acc, %half : tensor<128x64xf32, #mma>
        %v = tt.load %pv : tensor<64x64x!tt.ptr<f16>, #blocked>
        %vb = ttg.convert_layout %v : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
        %o = tt.dot %pa, %vb, %scaled : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
        scf.yield %o : tensor<128x64xf32, #mma>
      }
      scf.yield %r : tensor<128x64xf32, #mma>
    }
    tt.return %t : tensor<128x64xf32, #mma>
  }
}
