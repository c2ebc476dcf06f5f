// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=2 max-shared-bytes=232448 reserved-shared-bytes=1024 registers=65536 issued-warps=4 bytes-on-the-way=25454" | FileCheck %s --check-prefix=TWO
// RUN: triton-opt %s -split-input-file --ttg-assign-latencies="num-stages=4 max-shared-bytes=232448 reserved-shared-bytes=1024 registers=65536 issued-warps=4 bytes-on-the-way=25454" | FileCheck %s --check-prefix=FOUR

// Two blocks of 32 KiB an iteration have too little on its way with one iteration ahead. Two fit into the three slots of
// each, as another block's dots run while this one waits. Four stages have enough.
// TWO-LABEL: @two_blocks
//       TWO:   tt.load %arg0 {tt.latency = 2 : i32}
//       TWO:   tt.load %arg1 {tt.latency = 2 : i32}
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @two_blocks(%p: tensor<128x64x!tt.ptr<f16>, #rows> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x128x!tt.ptr<f16>, #columns> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %n: i32) -> tensor<128x128xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x128xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<128x64x!tt.ptr<f16>, #rows>
      %y = tt.load %q : tensor<64x128x!tt.ptr<f16>, #columns>
      %xa = ttg.convert_layout %x : tensor<128x64xf16, #rows> -> tensor<128x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x128xf16, #columns> -> tensor<64x128xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<128x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<128x128xf32, #mma>
      scf.yield %d : tensor<128x128xf32, #mma>
    }
    tt.return %r : tensor<128x128xf32, #mma>
  }
}

// -----

// One block of 48 KiB an iteration, whose dots nobody else's replace: a slot more.
// TWO-LABEL: @one_block
//       TWO:   tt.load %arg0 {loop.read_on, tt.latency = 2 : i32}
//       TWO:   tt.load %arg1 {loop.read_on, tt.latency = 2 : i32}
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @one_block(%p: tensor<256x64x!tt.ptr<f16>, #rows> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x128x!tt.ptr<f16>, #columns> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %n: i32) -> tensor<256x128xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<256x128xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<256x128xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<256x64x!tt.ptr<f16>, #rows>
      %y = tt.load %q : tensor<64x128x!tt.ptr<f16>, #columns>
      %xa = ttg.convert_layout %x : tensor<256x64xf16, #rows> -> tensor<256x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x128xf16, #columns> -> tensor<64x128xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<256x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<256x128xf32, #mma>
      scf.yield %d : tensor<256x128xf32, #mma>
    }
    tt.return %r : tensor<256x128xf32, #mma>
  }
}

// -----

// Threads compute with what the dot makes, for longer than copies take.
// TWO-LABEL: @scaled
//       TWO:   tt.load %arg0 {tt.latency = 1 : i32}
//       TWO:   tt.load %arg1 {tt.latency = 1 : i32}
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @scaled(%p: tensor<128x64x!tt.ptr<f16>, #rows> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x128x!tt.ptr<f16>, #columns> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %scale: tensor<128x128xf32, #mma>, %n: i32) -> tensor<128x128xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x128xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<128x64x!tt.ptr<f16>, #rows>
      %y = tt.load %q : tensor<64x128x!tt.ptr<f16>, #columns>
      %xa = ttg.convert_layout %x : tensor<128x64xf16, #rows> -> tensor<128x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x128xf16, #columns> -> tensor<64x128xf16, #b>
      %d = tt.dot %xa, %yb, %zero : tensor<128x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<128x128xf32, #mma>
      %m = arith.mulf %d, %scale : tensor<128x128xf32, #mma>
      %s = arith.addf %acc, %m : tensor<128x128xf32, #mma>
      scf.yield %s : tensor<128x128xf32, #mma>
    }
    tt.return %r : tensor<128x128xf32, #mma>
  }
}

// -----

// 12 KiB an iteration: three iterations of two blocks are too little on its way, four are enough.
// FOUR-LABEL: @small
//       FOUR:   tt.load %arg0 {loop.read_on, tt.latency = 4 : i32}
//       FOUR:   tt.load %arg1 {loop.read_on, tt.latency = 4 : i32}
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [8, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @small(%p: tensor<64x32x!tt.ptr<f16>, #rows> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %q: tensor<32x128x!tt.ptr<f16>, #columns> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %n: i32) -> tensor<64x128xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x128xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x128xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #rows>
      %y = tt.load %q : tensor<32x128x!tt.ptr<f16>, #columns>
      %xa = ttg.convert_layout %x : tensor<64x32xf16, #rows> -> tensor<64x32xf16, #a>
      %yb = ttg.convert_layout %y : tensor<32x128xf16, #columns> -> tensor<32x128xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<64x128xf32, #mma>
      scf.yield %d : tensor<64x128xf32, #mma>
    }
    tt.return %r : tensor<64x128xf32, #mma>
  }
}

// -----

// All four iterations start ahead, which takes fewer slots than three ahead.
// FOUR-LABEL: @four_iterations
//       FOUR:   tt.load %arg0 {{{.*}}tt.latency = 4 : i32}
//       FOUR:   tt.load %arg1 {{{.*}}tt.latency = 4 : i32}
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @four_iterations(%p: tensor<64x64x!tt.ptr<f16>, #rows> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #columns> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %end = arith.constant 4 : i32
    %r = scf.for %i = %c0 to %end step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #rows>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #columns>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #columns> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

// Threads multiply, for longer than copies take.
// TWO-LABEL: @by_threads
//       TWO:   tt.load %arg0 {tt.latency = 1 : i32}
//       TWO:   tt.load %arg1 {tt.latency = 1 : i32}
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [8, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#sum = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #sum}>
#b = #ttg.dot_op<{opIdx = 1, parent = #sum}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @by_threads(%p: tensor<64x16x!tt.ptr<f32>, #rows> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 16]> : tensor<2xi32>}, %q: tensor<16x64x!tt.ptr<f32>, #columns> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #sum> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #sum>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #sum>) : i32 {
      %x = tt.load %p : tensor<64x16x!tt.ptr<f32>, #rows>
      %y = tt.load %q : tensor<16x64x!tt.ptr<f32>, #columns>
      %xa = ttg.convert_layout %x : tensor<64x16xf32, #rows> -> tensor<64x16xf32, #a>
      %yb = ttg.convert_layout %y : tensor<16x64xf32, #columns> -> tensor<16x64xf32, #b>
      %d = tt.dot %xa, %yb, %acc, inputPrecision = ieee : tensor<64x16xf32, #a> * tensor<16x64xf32, #b> -> tensor<64x64xf32, #sum>
      scf.yield %d : tensor<64x64xf32, #sum>
    }
    tt.return %r : tensor<64x64xf32, #sum>
  }
}

// -----

// What is multiplied goes through registers, for its elements are no neighbours. The only copies are those of its places,
// which two stages are too few for.
// TWO-LABEL: @places
//       TWO:   tt.load %arg2 : tensor<64x64x!tt.ptr<i32>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @places(%p: tensor<128x64x!tt.ptr<f16>, #rows>, %q: tensor<64x64x!tt.ptr<f16>, #columns>, %at: tensor<64x64x!tt.ptr<i32>, #columns> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<128x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<128x64x!tt.ptr<f16>, #rows>
      %j = tt.load %at : tensor<64x64x!tt.ptr<i32>, #columns>
      %to = tt.addptr %q, %j : tensor<64x64x!tt.ptr<f16>, #columns>, tensor<64x64xi32, #columns>
      %y = tt.load %to : tensor<64x64x!tt.ptr<f16>, #columns>
      %xa = ttg.convert_layout %x : tensor<128x64xf16, #rows> -> tensor<128x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #columns> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      scf.yield %d : tensor<128x64xf32, #mma>
    }
    tt.return %r : tensor<128x64xf32, #mma>
  }
}

// -----

// Copies of 512 bytes are never enough: as far ahead as stages say.
// TWO-LABEL: @tiny
//       TWO:   tt.load %arg1 {tt.latency = 1 : i32}
#columns = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 2], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @tiny(%xa: tensor<128x16xf16, #a>, %q: tensor<16x16x!tt.ptr<f16>, #columns> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 16]> : tensor<2xi32>}, %n: i32) -> tensor<128x16xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x16xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x16xf32, #mma>) : i32 {
      %y = tt.load %q : tensor<16x16x!tt.ptr<f16>, #columns>
      %yb = ttg.convert_layout %y : tensor<16x16xf16, #columns> -> tensor<16x16xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<128x16xf16, #a> * tensor<16x16xf16, #b> -> tensor<128x16xf32, #mma>
      scf.yield %d : tensor<128x16xf32, #mma>
    }
    tt.return %r : tensor<128x16xf32, #mma>
  }
}

// -----

// A thread has more sums than registers. Some are in the cache, which has less memory beside more slots.
// TWO-LABEL: @sums_in_cache
//       TWO:   tt.load %arg0 {tt.latency = 1 : i32}
//       TWO:   tt.load %arg1 {tt.latency = 1 : i32}
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @sums_in_cache(%p: tensor<128x32x!tt.ptr<f16>, #rows> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %q: tensor<32x256x!tt.ptr<f16>, #columns> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 256]> : tensor<2xi32>}, %n: i32) -> tensor<128x256xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<128x256xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<128x32x!tt.ptr<f16>, #rows>
      %y = tt.load %q : tensor<32x256x!tt.ptr<f16>, #columns>
      %xa = ttg.convert_layout %x : tensor<128x32xf16, #rows> -> tensor<128x32xf16, #a>
      %yb = ttg.convert_layout %y : tensor<32x256xf16, #columns> -> tensor<32x256xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<128x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<128x256xf32, #mma>
      scf.yield %d : tensor<128x256xf32, #mma>
    }
    tt.return %r : tensor<128x256xf32, #mma>
  }
}

// -----

// Eight blocks, which copy in turn: their dots run on beside that.
// TWO-LABEL: @eight_blocks
//       TWO:   tt.load %arg0 {loop.read_on, tt.latency = 1 : i32}
//       TWO:   tt.load %arg1 {loop.read_on, tt.latency = 1 : i32}
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @eight_blocks(%p: tensor<64x32x!tt.ptr<f16>, #rows> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %q: tensor<32x64x!tt.ptr<f16>, #columns> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #rows>
      %y = tt.load %q : tensor<32x64x!tt.ptr<f16>, #columns>
      %xa = ttg.convert_layout %x : tensor<64x32xf16, #rows> -> tensor<64x32xf16, #a>
      %yb = ttg.convert_layout %y : tensor<32x64xf16, #columns> -> tensor<32x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

// Without dots, stages mean what they say, but in recurrences, whose programs are few.
// TWO-LABEL: @no_dots
//       TWO:   tt.load %arg0 {tt.latency = 1 : i32}
// TWO-LABEL: @recurrence
//       TWO:   tt.load %arg0 {tt.latency = 2 : i32}
#row = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [16], order = [0]}>
module attributes {"ttg.num-warps" = 16 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @no_dots(%p: tensor<4096x!tt.ptr<f32>, #row> {tt.divisibility = 16 : i32, tt.contiguity = 4096 : i32}, %n: i32) -> tensor<4096xf32, #row> {
    %zero = arith.constant dense<0.0> : tensor<4096xf32, #row>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<4096xf32, #row>) : i32 {
      %x = tt.load %p : tensor<4096x!tt.ptr<f32>, #row>
      %s = arith.addf %acc, %x : tensor<4096xf32, #row>
      scf.yield %s : tensor<4096xf32, #row>
    } {tt.num_stages = 2 : i32}
    tt.return %r : tensor<4096xf32, #row>
  }
  tt.func @recurrence(%p: tensor<4096x!tt.ptr<f32>, #row> {tt.divisibility = 16 : i32, tt.contiguity = 4096 : i32}, %n: i32) -> tensor<4096xf32, #row> {
    %zero = arith.constant dense<0.0> : tensor<4096xf32, #row>
    %half = arith.constant dense<0.5> : tensor<4096xf32, #row>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%state = %zero) -> (tensor<4096xf32, #row>) : i32 {
      %x = tt.load %p : tensor<4096x!tt.ptr<f32>, #row>
      %fades = arith.mulf %state, %half : tensor<4096xf32, #row>
      %s = arith.addf %fades, %x : tensor<4096xf32, #row>
      scf.yield %s : tensor<4096xf32, #row>
    } {tt.num_stages = 2 : i32}
    tt.return %r : tensor<4096xf32, #row>
  }
}
