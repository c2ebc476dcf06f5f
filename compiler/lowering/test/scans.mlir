// RUN: triton-opt %s -split-input-file --lower-to-llvm | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Each lane combines its four elements, and five times takes the total of the lane 1, 2, 4, 8, 16 before. Once more
  // comes what the lane before has; the four elements follow. No shared memory.
  // CHECK-LABEL: llvm.func {{.*}}@one_warp
  // CHECK-COUNT-3: llvm.fadd
  // CHECK-NOT: llvm.fadd
  // CHECK: shfl.sync.idx
  // CHECK: llvm.fadd
  // CHECK-NEXT: llvm.select
  // CHECK-COUNT-5: shfl.sync.idx
  // CHECK-NOT: shfl.sync
  // CHECK-NOT: nvvm.barrier.cta.sync
  // CHECK: llvm.fadd
  // CHECK-NEXT: llvm.select
  // CHECK-COUNT-3: llvm.fadd
  // CHECK-NOT: llvm.fadd
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
  // The last lanes, which are the first ones here, write the totals; all threads read those of all warps at once.
  // CHECK-LABEL: llvm.func {{.*}}@four_warps
  // CHECK-COUNT-5: shfl.sync.idx
  // CHECK-NOT: shfl.sync
  // CHECK: llvm.cond_br
  // CHECK-NOT: llvm.cond_br
  // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
  // CHECK-NEXT: llvm.br
  // CHECK: nvvm.barrier.cta.sync
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
  // CHECK-NOT: llvm.load
  // CHECK-NOT: nvvm.barrier.cta.sync
  // CHECK: llvm.return
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

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A thread holds elements of two rounds of the warps: still one barrier, and all eight totals are there after it.
  // CHECK-LABEL: llvm.func {{.*}}@two_rounds
  // CHECK-COUNT-2: llvm.store %{{.*}} : i32, !llvm.ptr<3>
  // CHECK: nvvm.barrier.cta.sync
  // CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xi32>
  // CHECK-NOT: nvvm.barrier.cta.sync
  // CHECK: llvm.return
  tt.func public @two_rounds(%p: !tt.ptr<i32>, %s: i32) {
    %x = tt.splat %s : i32 -> tensor<256xi32, #blocked>
    %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: i32, %b: i32):
      %1 = arith.addi %a, %b : i32
      tt.scan.return %1 : i32
    }) {allocation.offset = 0 : i32} : (tensor<256xi32, #blocked>) -> tensor<256xi32, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // What a thread has for itself it scans by itself.
  // CHECK-LABEL: llvm.func {{.*}}@in_thread
  // CHECK-COUNT-3: llvm.fadd
  // CHECK-NOT: llvm.fadd
  // CHECK-NOT: shfl
  // CHECK-NOT: llvm.select
  // CHECK: llvm.return
  tt.func private @in_thread(%x: tensor<4x32xf32, #blocked>) -> tensor<4x32xf32, #blocked> {
    %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      tt.scan.return %1 : f32
    }) : (tensor<4x32xf32, #blocked>) -> tensor<4x32xf32, #blocked>
    tt.return %0 : tensor<4x32xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A thread has two columns. Neighbouring lanes write and read neighbouring vectors of totals: vectors of the second
  // columns come 32 after those of the first.
  // CHECK-LABEL: llvm.func {{.*}}@columns_of_lanes
  // CHECK: %[[LANES:.*]] = llvm.mlir.constant(32 : i32)
  // CHECK: %[[SECOND:.*]] = llvm.add %[[LANE:.*]], %[[LANES]] overflow
  // CHECK: nvvm.barrier.cta.sync
  // CHECK: llvm.mul %[[LANE]], %
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
  // CHECK: llvm.mul %[[SECOND]], %
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
  tt.func public @columns_of_lanes(%p: !tt.ptr<f32>, %s: f32) {
    %x = tt.splat %s : f32 -> tensor<4x64xf32, #blocked>
    %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      tt.scan.return %1 : f32
    }) {allocation.offset = 0 : i32} : (tensor<4x64xf32, #blocked>) -> tensor<4x64xf32, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The sum of what is scanned takes no steps of its own: each thread adds the total of the last warp to the others.
  // CHECK-LABEL: llvm.func {{.*}}@total_of_warps
  // CHECK-COUNT-5: shfl.sync.idx
  // CHECK-NOT: shfl.sync
  // CHECK: nvvm.barrier.cta.sync
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
  // CHECK-COUNT-3: llvm.extractelement
  // CHECK-NEXT: %[[LAST:.*]] = llvm.extractelement
  // CHECK: %[[TOTAL:.*]] = llvm.fadd %{{.*}}, %[[LAST]] : f32
  // CHECK-NOT: nvvm.barrier.cta.sync
  // CHECK: llvm.bitcast %[[TOTAL]] : f32 to i32
  // CHECK: llvm.return
  tt.func public @total_of_warps(%p: !tt.ptr<f32>, %s: f32) {
    %x = tt.splat %s : f32 -> tensor<128xf32, #blocked>
    %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      tt.scan.return %1 : f32
    }) {allocation.offset = 0 : i32} : (tensor<128xf32, #blocked>) -> tensor<128xf32, #blocked>
    %2 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %3 = arith.addf %a, %b : f32
      tt.reduce.return %3 : f32
    }) : (tensor<128xf32, #blocked>) -> f32
    tt.store %p, %2 : !tt.ptr<f32>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The last lane has the total of a warp: one shuffle more gives it to all.
  // CHECK-LABEL: llvm.func {{.*}}@total_of_lanes
  // CHECK-COUNT-7: shfl.sync.idx
  // CHECK-NOT: shfl.sync
  // CHECK: llvm.return
  tt.func public @total_of_lanes(%p: !tt.ptr<i32>, %x: tensor<128xi32, #blocked>) -> tensor<128xi32, #blocked> {
    %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: i32, %b: i32):
      %1 = arith.addi %a, %b : i32
      tt.scan.return %1 : i32
    }) : (tensor<128xi32, #blocked>) -> tensor<128xi32, #blocked>
    %2 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %3 = arith.addi %a, %b : i32
      tt.reduce.return %3 : i32
    }) : (tensor<128xi32, #blocked>) -> i32
    tt.store %p, %2 : !tt.ptr<i32>
    tt.return %0 : tensor<128xi32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The greatest is another result than the last sum.
  // CHECK-LABEL: llvm.func {{.*}}@other_total
  // CHECK: shfl.sync.idx
  // CHECK: shfl.sync.bfly
  // CHECK: llvm.return
  tt.func public @other_total(%p: !tt.ptr<f32>, %x: tensor<32xf32, #blocked>) -> tensor<32xf32, #blocked> {
    %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      tt.scan.return %1 : f32
    }) : (tensor<32xf32, #blocked>) -> tensor<32xf32, #blocked>
    %2 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %3 = arith.maxnumf %a, %b : f32
      tt.reduce.return %3 : f32
    }) : (tensor<32xf32, #blocked>) -> f32
    tt.store %p, %2 : !tt.ptr<f32>
    tt.return %0 : tensor<32xf32, #blocked>
  }
}
