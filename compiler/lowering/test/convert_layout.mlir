// RUN: triton-opt %s -split-input-file --lower-to-llvm | FileCheck %s

#a = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [0, 1]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Both place every element in the same thread: nothing is emitted.
  // CHECK-LABEL: llvm.func {{.*}}@registers
  // CHECK-NOT: shfl
  // CHECK-NOT: llvm.store
  // CHECK: llvm.return
  tt.func private @registers(%x: tensor<32x4xf32, #a>) -> tensor<32x4xf32, #b> {
    %0 = ttg.convert_layout %x : tensor<32x4xf32, #a> -> tensor<32x4xf32, #b>
    tt.return %0 : tensor<32x4xf32, #b>
  }
}

// -----

#a = #ttg.linear<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [], block = []}>
#b = #ttg.linear<{register = [], lane = [[16], [8], [4], [2], [1]], warp = [], block = []}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A permutation of the lanes: a shuffle.
  // CHECK-LABEL: llvm.func {{.*}}@lanes
  // CHECK: shfl.sync.idx
  // CHECK-NOT: llvm.store
  // CHECK: llvm.return
  tt.func private @lanes(%x: tensor<32xf32, #a>) -> tensor<32xf32, #b> {
    %0 = ttg.convert_layout %x : tensor<32xf32, #a> -> tensor<32xf32, #b>
    tt.return %0 : tensor<32xf32, #b>
  }
}

// -----

#a = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Data cross warps: shared memory, with a barrier between writing and reading.
  // CHECK-LABEL: llvm.func {{.*}}@warps
  // CHECK: llvm.store {{.*}}!llvm.ptr<3>
  // CHECK: nvvm.barrier.cta.sync
  // CHECK: llvm.load {{.*}}!llvm.ptr<3>
  tt.func public @warps(%p: !tt.ptr<f32>, %s: f32) {
    %x = tt.splat %s : f32 -> tensor<32x32xf32, #a>
    %0 = ttg.convert_layout %x {allocation.offset = 0 : i32} : tensor<32x32xf32, #a> -> tensor<32x32xf32, #b>
    tt.return
  }
}
