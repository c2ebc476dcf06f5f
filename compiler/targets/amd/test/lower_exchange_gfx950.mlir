// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=hip:gfx950 | FileCheck %s

// Rows and halves of a wave exchange their lanes without LDS: of the two results and the lane's own value, the one that
// is not equal to another.
// CHECK-LABEL: llvm.func @rows
//   CHECK-NOT:   llvm.amdgcn.ds.
//       CHECK:   %[[BOTH:.*]] = llvm.call_intrinsic "llvm.amdgcn.permlane32.swap"(%[[X:[^,]*]], %[[X]], %{{.*}}, %{{.*}}) : (i32, i32, i1, i1) -> !llvm.struct<(i32, i32)>
//       CHECK:   %[[FIRST:.*]] = llvm.extractvalue %[[BOTH]][0]
//       CHECK:   %[[SECOND:.*]] = llvm.extractvalue %[[BOTH]][1]
//       CHECK:   %[[PAIR:.*]] = llvm.xor %[[FIRST]], %[[SECOND]]
//       CHECK:   llvm.xor %[[PAIR]], %[[X]]
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.permlane16.swap"
//   CHECK-NOT:   llvm.amdgcn.ds.
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 16], warpsPerCTA = [1, 1], order = [1, 0]}>
#slice = #ttg.slice<{dim = 0, parent = #blocked}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @rows(%p: !tt.ptr<i32>, %n: i32) {
    %x = tt.splat %n : i32 -> tensor<4x16xi32, #blocked>
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.reduce.return %c : i32
    }) : (tensor<4x16xi32, #blocked>) -> tensor<16xi32, #slice>
    %q = tt.splat %p : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>, #slice>
    tt.store %q, %s : tensor<16x!tt.ptr<i32>, #slice>
    tt.return
  }
}

// -----

// A region that might divide by what other lanes happen to hold: only lanes that hold parts of the sum exchange them.
// CHECK-LABEL: llvm.func @quotient
//   CHECK-NOT:   llvm.amdgcn.readlane
//       CHECK:   llvm.amdgcn.permlane32.swap
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @quotient(%p: !tt.ptr<i32>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
    %s = "tt.reduce"(%r) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.divsi %a, %b : i32
      tt.reduce.return %c : i32
    }) : (tensor<64xi32, #blocked>) -> i32
    tt.store %p, %s : !tt.ptr<i32>
    tt.return
  }
}
