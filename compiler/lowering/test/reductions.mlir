// RUN: triton-opt %s -split-input-file --lower-to-llvm | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Three combinations in the thread, five over the lanes, no shared memory.
  // CHECK-LABEL: llvm.func {{.*}}@one_warp
  // CHECK-COUNT-3: llvm.fadd
  // CHECK-COUNT-5: shfl.sync.bfly
  // CHECK-NOT: nvvm.barrier.cta.sync
  // CHECK: llvm.return
  tt.func private @one_warp(%x: tensor<128xf32, #blocked>) -> f32 {
    %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      tt.reduce.return %1 : f32
    }) : (tensor<128xf32, #blocked>) -> f32
    tt.return %0 : f32
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Four warps meet in shared memory: a slot each, a barrier, all four read at once.
  // CHECK-LABEL: llvm.func {{.*}}@four_warps
  // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
  // CHECK: nvvm.barrier.cta.sync
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
  // CHECK-COUNT-3: llvm.fadd
  tt.func public @four_warps(%p: !tt.ptr<f32>, %s: f32) {
    %x = tt.splat %s : f32 -> tensor<128xf32, #blocked>
    %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      tt.reduce.return %1 : f32
    }) {allocation.offset = 0 : i32} : (tensor<128xf32, #blocked>) -> f32
    tt.store %p, %0 : !tt.ptr<f32>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A whole warp of i32: one instruction.
  // CHECK-LABEL: llvm.func {{.*}}@integer
  // CHECK: redux.sync
  // CHECK-NOT: shfl
  // CHECK: llvm.return
  tt.func private @integer(%x: tensor<32xi32, #blocked>) -> i32 {
    %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %1 = arith.maxsi %a, %b : i32
      tt.reduce.return %1 : i32
    }) : (tensor<32xi32, #blocked>) -> i32
    tt.return %0 : i32
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [16], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Sixteen elements of a thread: four chains of three additions, which meet in three more. Neighbours stay together.
  // CHECK-LABEL: llvm.func {{.*}}@chains
  // CHECK-SAME: (%[[X0:[a-z0-9]+]]: f32, %[[X1:[a-z0-9]+]]: f32, %[[X2:[a-z0-9]+]]: f32, %[[X3:[a-z0-9]+]]: f32
  // CHECK: %[[A:.*]] = llvm.fadd %[[X0]], %[[X1]] : f32
  // CHECK-NEXT: %[[B:.*]] = llvm.fadd %[[A]], %[[X2]] : f32
  // CHECK-NEXT: %[[C:.*]] = llvm.fadd %[[B]], %[[X3]] : f32
  // CHECK-COUNT-9: llvm.fadd
  // CHECK: llvm.fadd %[[C]], %{{.*}} : f32
  tt.func private @chains(%x: tensor<512xf32, #blocked>) -> f32 {
    %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      tt.reduce.return %1 : f32
    }) : (tensor<512xf32, #blocked>) -> f32
    tt.return %0 : f32
  }
}

// -----

#rows = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Four results of a warp: two steps halve them, three complete the one that is left, two bring the others back. Six
  // additions and nine shuffles; all of them in all lanes would be twenty.
  // CHECK-LABEL: llvm.func {{.*}}@several
  // CHECK-COUNT-9: shfl.sync.bfly
  // CHECK-NOT: shfl.sync.bfly
  // CHECK: llvm.return
  // Operands that may not change places: six subtractions, whose order a selection tells where lanes halve the results.
  // Each result then comes from the lowest lane that has it.
  // CHECK-LABEL: llvm.func {{.*}}@ordered
  // CHECK-COUNT-6: shfl.sync.bfly
  // CHECK-NOT: shfl.sync.bfly
  // CHECK-COUNT-4: shfl.sync.idx
  // CHECK-NOT: shfl.sync
  // CHECK: llvm.return
  tt.func private @several(%x: tensor<4x32xf32, #rows>) -> tensor<4xf32, #ttg.slice<{dim = 1, parent = #rows}>> {
    %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      tt.reduce.return %1 : f32
    }) : (tensor<4x32xf32, #rows>) -> tensor<4xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return %0 : tensor<4xf32, #ttg.slice<{dim = 1, parent = #rows}>>
  }
  tt.func private @ordered(%x: tensor<4x32xf32, #rows>) -> tensor<4xf32, #ttg.slice<{dim = 1, parent = #rows}>> {
    %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %1 = arith.subf %a, %b : f32
      tt.reduce.return %1 : f32
    }) : (tensor<4x32xf32, #rows>) -> tensor<4xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return %0 : tensor<4xf32, #ttg.slice<{dim = 1, parent = #rows}>>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [32], order = [0]}>
module attributes {"ttg.num-warps" = 32 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Thirty-two warps: each lane reads the part of one of them, and the lanes combine as they did before.
  // CHECK-LABEL: llvm.func {{.*}}@many_warps
  // CHECK-COUNT-5: shfl.sync.bfly
  // CHECK: nvvm.barrier.cta.sync
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
  // CHECK-NOT: llvm.load
  // CHECK-COUNT-5: shfl.sync.bfly
  // CHECK: llvm.return
  tt.func public @many_warps(%p: !tt.ptr<f32>, %s: f32) {
    %x = tt.splat %s : f32 -> tensor<1024xf32, #blocked>
    %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      tt.reduce.return %1 : f32
    }) {allocation.offset = 0 : i32} : (tensor<1024xf32, #blocked>) -> f32
    tt.store %p, %0 : !tt.ptr<f32>
    tt.return
  }
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1, 32], threadsPerWarp = [32, 1], warpsPerCTA = [8, 1], order = [1, 0]}>

// A thread holds parts of 32 results of 8 warps. It combines one of them, and reads the totals of all behind a second
// barrier.
// CHECK-LABEL: llvm.func {{.*}}@totals
//       CHECK:   nvvm.barrier.cta.sync
//       CHECK:   nvvm.barrier.cta.sync
//   CHECK-NOT:   nvvm.barrier.cta.sync
//       CHECK:   llvm.return
module attributes {"ttg.num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @totals(%x: tensor<256x32xf32, #rows>) -> f32 attributes {allocation.bytes = 1152 : i32} {
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) {allocation.offset = 0 : i32} : (tensor<256x32xf32, #rows>) -> tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows}>>
    %t = "tt.reduce"(%s) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows}>>) -> f32
    tt.return %t : f32
  }
}

// -----

#wide = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [1, 32], order = [1, 0]}>

// Eight results of 32 warps: a lane writes one of its warp's. Then eight lanes combine the parts of a result, four each.
// CHECK-LABEL: llvm.func {{.*}}@parts_in_lanes
// CHECK-COUNT-9: shfl.sync.bfly
//     CHECK-NOT:   shfl
//         CHECK:   llvm.store {{.*}} : f32, !llvm.ptr<3>
//     CHECK-NOT:   llvm.store
//         CHECK:   nvvm.barrier.cta.sync
//         CHECK:   llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
//     CHECK-NOT:   llvm.load
// CHECK-COUNT-3: shfl.sync.bfly
//     CHECK-NOT:   shfl
//         CHECK:   llvm.store {{.*}} : f32, !llvm.ptr<3>
//         CHECK:   nvvm.barrier.cta.sync
//     CHECK-NOT:   nvvm.barrier.cta.sync
//         CHECK:   llvm.return
module attributes {"ttg.num-warps" = 32 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @parts_in_lanes(%x: tensor<8x8192xf32, #wide>) -> tensor<8xf32, #ttg.slice<{dim = 1, parent = #wide}>> attributes {allocation.bytes = 1056 : i32} {
    %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) {allocation.offset = 0 : i32} : (tensor<8x8192xf32, #wide>) -> tensor<8xf32, #ttg.slice<{dim = 1, parent = #wide}>>
    tt.return %s : tensor<8xf32, #ttg.slice<{dim = 1, parent = #wide}>>
  }
}

// -----

#runs = #ttg.linear<{register = [[2, 0], [1, 0], [4, 0], [8, 0]], lane = [[16, 0], [32, 0], [64, 0], [0, 1], [0, 2]], warp = [[0, 4]], block = []}>
module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Runs of 16 results, whatever the order of registers. Lanes are a run apart, so runs are spread over the banks.
  // CHECK-LABEL: llvm.func {{.*}}@runs
  // CHECK: nvvm.barrier.cta.sync
  // CHECK: %[[HIGH:.*]] = llvm.lshr %[[INDEX:.*]], %{{.*}} : i32
  // CHECK: %[[LOW:.*]] = llvm.and %[[HIGH]], %{{.*}} : i32
  // CHECK: llvm.xor %[[INDEX]], %[[LOW]] : i32
  // CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
  // CHECK-NOT: llvm.load
  // CHECK: llvm.return
  tt.func private @runs(%x: tensor<128x8xf32, #runs>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #runs}>> {
    %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %1 = arith.maxnumf %a, %b : f32
      tt.reduce.return %1 : f32
    }) {allocation.offset = 0 : i32} : (tensor<128x8xf32, #runs>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #runs}>>
    tt.return %0 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #runs}>>
  }
}

// -----

#planes = #ttg.linear<{register = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], lane = [[0, 0, 2], [0, 0, 4], [0, 0, 8], [0, 0, 16], [0, 0, 32]], warp = [[0, 0, 64]], block = []}>
module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A thread holds results of two dimensions: a run ends where its dimension does.
  // CHECK-LABEL: llvm.func {{.*}}@planes
  // CHECK: nvvm.barrier.cta.sync
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xf32>
  // CHECK: llvm.return
  tt.func private @planes(%x: tensor<2x2x128xf32, #planes>) -> tensor<2x2xf32, #ttg.slice<{dim = 2, parent = #planes}>> {
    %0 = "tt.reduce"(%x) <{axis = 2 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %1 = arith.maxnumf %a, %b : f32
      tt.reduce.return %1 : f32
    }) {allocation.offset = 0 : i32} : (tensor<2x2x128xf32, #planes>) -> tensor<2x2xf32, #ttg.slice<{dim = 2, parent = #planes}>>
    tt.return %0 : tensor<2x2xf32, #ttg.slice<{dim = 2, parent = #planes}>>
  }
}
