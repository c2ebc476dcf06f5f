// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory="max-bytes=232448 registers=65536" | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory="max-bytes=232448" | FileCheck %s --check-prefix=APART

// A thread carries 512 words, and the cache has what it lacks registers for. Parts of 32 words leave the cache most.
//       CHECK: ttg.shared = 16384
// CHECK-LABEL: @spills
//       CHECK:   ttg.convert_layout {{.*}}conversion.parts_log2 = 3 : i32
//       APART: ttg.shared = 131072
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
#columns = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @spills(%x: tensor<256x256xf32, #rows>, %n: i1) -> tensor<256x256xf16, #columns> {
    cf.br ^bb1(%x : tensor<256x256xf32, #rows>)
  ^bb1(%acc: tensor<256x256xf32, #rows>):
    %sum = arith.addf %acc, %x : tensor<256x256xf32, #rows>
    cf.cond_br %n, ^bb1(%sum : tensor<256x256xf32, #rows>), ^bb2
  ^bb2:
    %h = arith.truncf %sum : tensor<256x256xf32, #rows> to tensor<256x256xf16, #rows>
    %y = ttg.convert_layout %h : tensor<256x256xf16, #rows> -> tensor<256x256xf16, #columns>
    tt.return %y : tensor<256x256xf16, #columns>
  }
}

// -----

// A buffer of 64 KiB is there anyway: two parts suffice.
//       CHECK: ttg.shared = 65536
// CHECK-LABEL: @beside_buffer
//       CHECK:   ttg.convert_layout {{.*}}conversion.parts_log2 = 1 : i32
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
#columns = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @beside_buffer(%x: tensor<256x256xf32, #rows>, %w: tensor<128x256xf16, #rows>, %n: i1) -> (tensor<256x256xf16, #columns>, tensor<128x256xf16, #rows>) {
    %m = ttg.local_alloc %w : (tensor<128x256xf16, #rows>) -> !ttg.memdesc<128x256xf16, #shared, #smem>
    %v = ttg.local_load %m : !ttg.memdesc<128x256xf16, #shared, #smem> -> tensor<128x256xf16, #rows>
    cf.br ^bb1(%x : tensor<256x256xf32, #rows>)
  ^bb1(%acc: tensor<256x256xf32, #rows>):
    %sum = arith.addf %acc, %x : tensor<256x256xf32, #rows>
    cf.cond_br %n, ^bb1(%sum : tensor<256x256xf32, #rows>), ^bb2
  ^bb2:
    %h = arith.truncf %sum : tensor<256x256xf32, #rows> to tensor<256x256xf16, #rows>
    %y = ttg.convert_layout %h : tensor<256x256xf16, #rows> -> tensor<256x256xf16, #columns>
    tt.return %y, %v : tensor<256x256xf16, #columns>, tensor<128x256xf16, #rows>
  }
}

// -----

// 128 words are in registers.
//       CHECK: ttg.shared = 32768
// CHECK-LABEL: @fits
//   CHECK-NOT:   parts
//       CHECK:   tt.return
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
#columns = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @fits(%x: tensor<128x128xf32, #rows>, %n: i1) -> tensor<128x128xf16, #columns> {
    cf.br ^bb1(%x : tensor<128x128xf32, #rows>)
  ^bb1(%acc: tensor<128x128xf32, #rows>):
    %sum = arith.addf %acc, %x : tensor<128x128xf32, #rows>
    cf.cond_br %n, ^bb1(%sum : tensor<128x128xf32, #rows>), ^bb2
  ^bb2:
    %h = arith.truncf %sum : tensor<128x128xf32, #rows> to tensor<128x128xf16, #rows>
    %y = ttg.convert_layout %h : tensor<128x128xf16, #rows> -> tensor<128x128xf16, #columns>
    tt.return %y : tensor<128x128xf16, #columns>
  }
}
