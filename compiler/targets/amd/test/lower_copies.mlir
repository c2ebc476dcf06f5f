// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=hip:gfx950 | FileCheck %s
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=hip:gfx942 | FileCheck %s --check-prefix=WORDS
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=hip:gfx1201 | FileCheck %s --check-prefix=NONE

// Lanes that write side by side copy straight to LDS, 16 bytes each where the GPU can. A mask chooses zeros to read.
//   CHECK-DAG: llvm.mlir.global internal constant @tritond_zeros({{.*}}) {addr_space = 1 : i32, alignment = 16 : i64}
// CHECK-LABEL: llvm.func @in_order
//       CHECK:   %[[ZEROS:.*]] = llvm.mlir.addressof @tritond_zeros
//       CHECK:   %[[FROM:.*]] = llvm.select {{.*}}, %[[ZEROS]] : i1, !llvm.ptr<1>
//       CHECK:   %[[BYTES:.*]] = llvm.mlir.constant(16 : i32)
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%[[FROM]], %{{.*}}, %[[BYTES]]
//       CHECK:   llvm.call @tritond.copies.commit()
//       CHECK:   llvm.call @tritond.copies.wait.0()
// WORDS-LABEL: llvm.func @in_order
//   WORDS-NOT:   global.load.lds
//       WORDS:   llvm.intr.masked.load {{.*}} -> vector<4xi32>
//       WORDS:   llvm.store {{.*}} !llvm.ptr<3>
//  NONE-LABEL: llvm.func @in_order
//        NONE:   llvm.intr.masked.load
//        NONE:   llvm.store {{.*}} !llvm.ptr<3>
//    NONE-NOT:   tritond.copies
#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @in_order(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #row}>>
    %j = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #row}>> -> tensor<1x32xi32, #row>
    %k = tt.broadcast %j : tensor<1x32xi32, #row> -> tensor<64x32xi32, #row>
    %s = tt.splat %base : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #row>
    %p = tt.addptr %s, %k : tensor<64x32x!tt.ptr<f16>, #row>, tensor<64x32xi32, #row>
    %zero = arith.constant 0 : i32
    %there = arith.cmpi sgt, %n, %zero : i32
    %m = tt.splat %there : i1 -> tensor<64x32xi1, #row>
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %a mask %m : tensor<64x32x!tt.ptr<f16>, #row> -> <64x32xf16, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %g {num = 0 : i32}
    tt.return
  }
}

// -----

// Of lanes whose places are permuted, registers take the data.
// CHECK-LABEL: llvm.func @swizzled
//   CHECK-NOT:   global.load.lds
//       CHECK:   llvm.load {{.*}} -> vector<4xi32>
//       CHECK:   llvm.store {{.*}} !llvm.ptr<3>
#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @swizzled(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #row}>>
    %j = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #row}>> -> tensor<1x32xi32, #row>
    %k = tt.broadcast %j : tensor<1x32xi32, #row> -> tensor<64x32xi32, #row>
    %s = tt.splat %base : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #row>
    %p = tt.addptr %s, %k : tensor<64x32x!tt.ptr<f16>, #row>, tensor<64x32xi32, #row>
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %a : tensor<64x32x!tt.ptr<f16>, #row> -> <64x32xf16, #shared, #smem, mutable>
    tt.return
  }
}
