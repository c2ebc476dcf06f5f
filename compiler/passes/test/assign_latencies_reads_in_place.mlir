// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=2 max-shared-bytes=232448 registers=65536 issued-warps=4" | FileCheck %s
// RUN: triton-opt %s --ttg-assign-latencies="num-stages=2 max-shared-bytes=295936 registers=65536 issued-warps=4" | FileCheck %s --check-prefix=ROOM

// The unit reads %x from its buffers. Threads read bytes and make b of them, which takes a buffer of 32 KiB. With two
// slots of each, 128 KiB of shared memory are taken, and a block is alone. With one slot for the bytes, two blocks fit.
// CHECK-LABEL: @bytes
//       CHECK:   tt.load {{.*}} {tt.latency = 1 : i32} : tensor<128x128x!tt.ptr<bf16>
//       CHECK:   tt.load {{.*}} {loop.in_place, tt.latency = 1 : i32} : tensor<128x128x!tt.ptr<i8>
//
// Here two blocks fit in any case.
// ROOM-LABEL: @bytes
//   ROOM-NOT:   loop.in_place
//       ROOM:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#bytes = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @bytes(%p: tensor<128x128x!tt.ptr<bf16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %q: tensor<128x128x!tt.ptr<i8>, #bytes> {tt.divisibility = dense<[16, 1]> : tensor<2xi32>, tt.contiguity = dense<[128, 1]> : tensor<2xi32>}, %n: i32) -> tensor<128x128xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x128xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<128x128x!tt.ptr<bf16>, #blocked>
      %y = tt.load %q : tensor<128x128x!tt.ptr<i8>, #bytes>
      %h = arith.sitofp %y : tensor<128x128xi8, #bytes> to tensor<128x128xbf16, #bytes>
      %xa = ttg.convert_layout %x : tensor<128x128xbf16, #blocked> -> tensor<128x128xbf16, #a>
      %yb = ttg.convert_layout %h : tensor<128x128xbf16, #bytes> -> tensor<128x128xbf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<128x128xbf16, #a> * tensor<128x128xbf16, #b> -> tensor<128x128xf32, #mma>
      scf.yield %d : tensor<128x128xf32, #mma>
    }
    tt.return %r : tensor<128x128xf32, #mma>
  }
}
