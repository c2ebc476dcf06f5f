// RUN: triton-opt %s -split-input-file --lower-to-llvm | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Totals go from lane to lane five times; no shared memory.
  // CHECK-LABEL: llvm.func {{.*}}@one_warp
  // CHECK-COUNT-5: shfl.sync.bfly
  // CHECK-NOT: shfl.sync
  // CHECK-NOT: nvvm.barrier.cta.sync
  // CHECK: llvm.return
  tt.func private @one_warp(%x: tensor<128xf32, #blocked>) -> tensor<128xf32, #blocked> {
    %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      tt.scan.return %1 : f32
    }) : (tensor<128xf32, #blocked>) -> tensor<128xf32, #blocked>
    tt.return %0 : tensor<128xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Warps exchange their totals once.
  // CHECK-LABEL: llvm.func {{.*}}@four_warps
  // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
  // CHECK: nvvm.barrier.cta.sync
  // CHECK-COUNT-4: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
  // CHECK-NOT: nvvm.barrier.cta.sync
  tt.func public @four_warps(%p: !tt.ptr<f32>, %s: f32) {
    %x = tt.splat %s : f32 -> tensor<128xf32, #blocked>
    %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      tt.scan.return %1 : f32
    }) {allocation.offset = 0 : i32} : (tensor<128xf32, #blocked>) -> tensor<128xf32, #blocked>
    tt.return
  }
}
