// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=cuda:90 | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=cuda:80 | FileCheck %s --check-prefixes=CHECK,SM80

// Columns become rows, an element a lane on both sides: a thread stores what it has of a row at once, and a warp loads
// tiles transposed, two elements a word.
// CHECK-LABEL: llvm.func internal @turn
// CHECK-COUNT-4: llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK-NOT:     llvm.store {{.*}} !llvm.ptr<3>
// CHECK-COUNT-4: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3"
// CHECK-NOT:     llvm.load {{.*}} !llvm.ptr<3>
// The other way round: tiles are stored where the device stores them.
// CHECK-LABEL: llvm.func internal @turn_back
// SM90-COUNT-4: "llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.trans.b16.p3"
// SM80-NOT:     stmatrix
// Words of 32 bits are not transposed by tiles.
// CHECK-LABEL: llvm.func internal @words
// CHECK-NOT:     .trans
#columns = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [0, 32]], block = []}>
#rows = #ttg.linear<{register = [[2, 0], [4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [0, 32]], block = []}>
#wide = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [32, 0], [0, 32]], lane = [[1, 0], [0, 8], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [0, 16]], block = []}>
#narrow = #ttg.linear<{register = [[8, 0], [16, 0], [32, 0], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], warp = [[4, 0], [0, 32]], block = []}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @turn(%x: tensor<64x64xf16, #columns>) -> tensor<64x64xf16, #rows> {
    %y = ttg.convert_layout %x : tensor<64x64xf16, #columns> -> tensor<64x64xf16, #rows>
    tt.return %y : tensor<64x64xf16, #rows>
  }
  tt.func private @turn_back(%x: tensor<64x64xf16, #narrow>) -> tensor<64x64xf16, #wide> {
    %y = ttg.convert_layout %x : tensor<64x64xf16, #narrow> -> tensor<64x64xf16, #wide>
    tt.return %y : tensor<64x64xf16, #wide>
  }
  tt.func private @words(%x: tensor<64x64xf32, #columns>) -> tensor<64x64xf32, #rows> {
    %y = ttg.convert_layout %x : tensor<64x64xf32, #columns> -> tensor<64x64xf32, #rows>
    tt.return %y : tensor<64x64xf32, #rows>
  }
}
