// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=cuda:90 | FileCheck %s

// Four floats are 16 bytes: one copy around L1. A mask makes the rest zeros.
// CHECK-LABEL: llvm.func @copies
//       CHECK:   llvm.inline_asm has_side_effects "cp.async.cg.shared.global [$0], [$1], 16;", "r,l,~{memory}"
//       CHECK:   llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"()
//       CHECK:   %[[SKIPS:.*]] = llvm.xor
//       CHECK:   llvm.inline_asm has_side_effects "cp.async.ca.shared.global [$0], [$1], 4, $2;", "r,l,b,~{memory}" %{{.*}}, %{{.*}}, %[[SKIPS]]
//       CHECK:   %[[ONE:.*]] = llvm.mlir.constant(1 : i32) : i32
//       CHECK:   llvm.call_intrinsic "llvm.nvvm.cp.async.wait.group"(%[[ONE]])
// Other values than zero go through registers.
//   CHECK-NOT:   cp.async.c
//       CHECK:   llvm.store
//   CHECK-NOT:   cp.async.c
//       CHECK:   cp.async.wait.group
#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @copies(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %m: i1) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable>
    %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #row}>>
    %j = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #row}>> -> tensor<1x32xi32, #row>
    %k = tt.broadcast %j : tensor<1x32xi32, #row> -> tensor<16x32xi32, #row>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>, #row>
    %q = tt.addptr %s, %k : tensor<16x32x!tt.ptr<f32>, #row>, tensor<16x32xi32, #row>
    %t = ttg.async_copy_global_to_local %q, %a : tensor<16x32x!tt.ptr<f32>, #row> -> <16x32xf32, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %eleven = arith.constant dense<11> : tensor<16x32xi32, #row>
    %mask = arith.cmpi slt, %k, %eleven : tensor<16x32xi32, #row>
    %u = ttg.async_copy_global_to_local %q, %a mask %mask : tensor<16x32x!tt.ptr<f32>, #row> -> <16x32xf32, #shared, #smem, mutable>
    %w = ttg.async_wait %g {num = 1 : i32}
    %seven = arith.constant dense<7.0> : tensor<16x32xf32, #row>
    %v = ttg.async_copy_global_to_local %q, %a mask %mask other %seven : tensor<16x32x!tt.ptr<f32>, #row> -> <16x32xf32, #shared, #smem, mutable>
    %x = ttg.async_wait %g {num = 0 : i32}
    tt.return
  }
}

// -----

// What the layouts know of neighbours is less than what the operation promises.
// CHECK-LABEL: llvm.func @promise
//       CHECK:   "cp.async.cg.shared.global [$0], [$1], 16;"
//   CHECK-NOT:   cp.async.c
//       CHECK:   llvm.return
#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @promise(%p: !tt.ptr<f32>, %x: i32) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>, #row>
    %o = tt.splat %x : i32 -> tensor<16x32xi32, #row>
    %q = tt.addptr %s, %o : tensor<16x32x!tt.ptr<f32>, #row>, tensor<16x32xi32, #row>
    %t = ttg.async_copy_global_to_local %q, %a {contiguity = 4 : i32} : tensor<16x32x!tt.ptr<f32>, #row> -> <16x32xf32, #shared, #smem, mutable>
    tt.return
  }
}

// -----

// Bytes are too small for the instruction: loads and stores.
// CHECK-LABEL: llvm.func @bytes
//   CHECK-NOT:   cp.async
//       CHECK:   llvm.store %{{.*}}, %{{.*}} {alignment = 1 : i64} : i8, !llvm.ptr<3>
#row = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @bytes(%p: !tt.ptr<i8>) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<4x32xi8, #shared, #smem, mutable>
    %s = tt.splat %p : !tt.ptr<i8> -> tensor<4x32x!tt.ptr<i8>, #row>
    %t = ttg.async_copy_global_to_local %s, %a : tensor<4x32x!tt.ptr<i8>, #row> -> <4x32xi8, #shared, #smem, mutable>
    tt.return
  }
}

// -----

// Only a zero without a sign is what the copy writes under a false mask.
// CHECK-LABEL: llvm.func @zeros
//       CHECK:   cp.async.ca.shared.global
//       CHECK:   cp.async.commit.group
//   CHECK-NOT:   cp.async.c
//       CHECK:   llvm.store
//   CHECK-NOT:   cp.async.c
//       CHECK:   llvm.return
#row = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @zeros(%p: !tt.ptr<f32>, %m: i1) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<4x32xf32, #shared, #smem, mutable>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<4x32x!tt.ptr<f32>, #row>
    %mask = tt.splat %m : i1 -> tensor<4x32xi1, #row>
    %plus = arith.constant dense<0.0> : tensor<4x32xf32, #row>
    %t = ttg.async_copy_global_to_local %s, %a mask %mask other %plus : tensor<4x32x!tt.ptr<f32>, #row> -> <4x32xf32, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %minus = arith.constant dense<-0.0> : tensor<4x32xf32, #row>
    %u = ttg.async_copy_global_to_local %s, %a mask %mask other %minus : tensor<4x32x!tt.ptr<f32>, #row> -> <4x32xf32, #shared, #smem, mutable>
    tt.return
  }
}

// -----

// Zero or NaN, as a flag says: zeros by the copy. Where the flag is set, NaNs follow once it is over.
// CHECK-LABEL: llvm.func @padded
//       CHECK:   "cp.async.cg.shared.global [$0], [$1], 16, $2;"
//       CHECK:   llvm.cond_br %arg2, ^[[FILL:.*]], ^[[ON:.*]]
//       CHECK:   ^[[FILL]]:
//       CHECK:   "llvm.nvvm.cp.async.commit.group"
//       CHECK:   "llvm.nvvm.cp.async.wait.group"
//       CHECK:   llvm.xor
//       CHECK:   llvm.cond_br
//       CHECK:   llvm.store
//       CHECK:   ^[[ON]]:
//  CHECK-NEXT:   llvm.return
#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @padded(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %m: i1, %nans: i1) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable>
    %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #row}>>
    %j = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #row}>> -> tensor<1x32xi32, #row>
    %k = tt.broadcast %j : tensor<1x32xi32, #row> -> tensor<16x32xi32, #row>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>, #row>
    %q = tt.addptr %s, %k : tensor<16x32x!tt.ptr<f32>, #row>, tensor<16x32xi32, #row>
    %mask = tt.splat %m : i1 -> tensor<16x32xi1, #row>
    %zero = arith.constant 0.0 : f32
    %nan = arith.constant 0x7FC00000 : f32
    %pad = arith.select %nans, %nan, %zero : f32
    %other = tt.splat %pad : f32 -> tensor<16x32xf32, #row>
    %t = ttg.async_copy_global_to_local %q, %a mask %mask other %other : tensor<16x32x!tt.ptr<f32>, #row> -> <16x32xf32, #shared, #smem, mutable>
    tt.return
  }
}

// -----

// Masked loads of the same block take the predicates: the mask is a number of bytes to read.
// CHECK-LABEL: llvm.func @beside_a_load
//       CHECK:   %[[BYTES:.*]] = llvm.select
//       CHECK:   "cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,r,~{memory}" %{{.*}}, %{{.*}}, %[[BYTES]]
#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @beside_a_load(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %m: i1) -> f32 {
    %a = ttg.local_alloc : () -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable>
    %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #row}>>
    %j = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #row}>> -> tensor<1x32xi32, #row>
    %k = tt.broadcast %j : tensor<1x32xi32, #row> -> tensor<16x32xi32, #row>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>, #row>
    %q = tt.addptr %s, %k : tensor<16x32x!tt.ptr<f32>, #row>, tensor<16x32xi32, #row>
    %mask = tt.splat %m : i1 -> tensor<16x32xi1, #row>
    %t = ttg.async_copy_global_to_local %q, %a mask %mask : tensor<16x32x!tt.ptr<f32>, #row> -> <16x32xf32, #shared, #smem, mutable>
    %v = tt.load %p, %m : !tt.ptr<f32>
    tt.return %v : f32
  }
}

// -----

// A tensor of unknown size ends anywhere in a row: the copy of the four floats there is told how many bytes they are.
// CHECK-LABEL: llvm.func @beginning
//       CHECK:   %[[LEFT:.*]] = llvm.sub %arg1, %{{.*}} : i64
//       CHECK:   %[[INSIDE:.*]] = llvm.trunc %{{.*}} : i64 to i32
//       CHECK:   %[[COUNT:.*]] = llvm.sub %[[INSIDE]], %{{.*}} : i32
//       CHECK:   %[[BYTES:.*]] = llvm.mul
//       CHECK:   %[[READ:.*]] = llvm.select %{{.*}}, %[[BYTES]], %{{.*}} : i1, i32
//       CHECK:   "cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,r,~{memory}" %{{.*}}, %{{.*}}, %[[READ]]
#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @beginning(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i64, %at: i32 {tt.divisibility = 32 : i32}) {
    %one = arith.constant 1 : i64
    %a = ttg.local_alloc : () -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable>
    %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #row}>>
    %w = arith.extsi %i : tensor<32xi32, #ttg.slice<{dim = 0, parent = #row}>> to tensor<32xi64, #ttg.slice<{dim = 0, parent = #row}>>
    %end = tt.splat %n : i64 -> tensor<32xi64, #ttg.slice<{dim = 0, parent = #row}>>
    %inside = arith.cmpi slt, %w, %end : tensor<32xi64, #ttg.slice<{dim = 0, parent = #row}>>
    %e = tt.expand_dims %inside {axis = 0 : i32} : tensor<32xi1, #ttg.slice<{dim = 0, parent = #row}>> -> tensor<1x32xi1, #row>
    %all = tt.broadcast %e : tensor<1x32xi1, #row> -> tensor<16x32xi1, #row>
    %mask = tt.block_mask %all, %p[%at, %at], [%n, %n], [%n, %one] {block = array<i64: 16, 32>} : tensor<16x32xi1, #row>, <f32>
    %j = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #row}>> -> tensor<1x32xi32, #row>
    %k = tt.broadcast %j : tensor<1x32xi32, #row> -> tensor<16x32xi32, #row>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>, #row>
    %q = tt.addptr %s, %k : tensor<16x32x!tt.ptr<f32>, #row>, tensor<16x32xi32, #row>
    %t = ttg.async_copy_global_to_local %q, %a mask %mask : tensor<16x32x!tt.ptr<f32>, #row> -> <16x32xf32, #shared, #smem, mutable>
    tt.return
  }
}
