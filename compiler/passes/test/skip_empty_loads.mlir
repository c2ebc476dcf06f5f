// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-skip-empty-loads | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#c = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#r = #ttg.slice<{dim = 0, parent = #b}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {

// The first four columns come from the state. Programs that begin after them load and convert nothing.
// CHECK-LABEL: @state
//       CHECK:   %[[START:.*]] = arith.muli
//       CHECK:   %[[NEAR:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i64
//       CHECK:   %[[WRAPS:.*]] = arith.cmpi sgt, %{{.*}}, %{{.*}} : i64
//       CHECK:   %[[SOME:.*]] = arith.ori %[[NEAR]], %[[WRAPS]]
//       CHECK:   scf.if %[[SOME]]
//       CHECK:     arith.cmpi slt, %{{.*}} : tensor<1x256xi32
//       CHECK:     %[[V:.*]] = tt.load
//       CHECK:     %[[L:.*]] = ttg.convert_layout %[[V]]
//       CHECK:     scf.yield %[[L]]
//       CHECK:   } else {
//   CHECK-NOT:     tt.load
//       CHECK:     scf.yield
tt.func @state(%p: tensor<32x256x!tt.ptr<f16>, #b>) -> tensor<32x256xf32, #c> {
  %c256 = arith.constant 256 : i32
  %four = arith.constant dense<4> : tensor<1x256xi32, #b>
  %zero = arith.constant dense<0.000000e+00> : tensor<32x256xf16, #b>
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c256 : i32
  %starts = tt.splat %start : i32 -> tensor<256xi32, #r>
  %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #r>
  %column = arith.addi %starts, %range : tensor<256xi32, #r>
  %columns = tt.expand_dims %column {axis = 0 : i32} : tensor<256xi32, #r> -> tensor<1x256xi32, #b>
  %first = arith.cmpi slt, %columns, %four : tensor<1x256xi32, #b>
  %mask = tt.broadcast %first : tensor<1x256xi1, #b> -> tensor<32x256xi1, #b>
  %v = tt.load %p, %mask, %zero : tensor<32x256x!tt.ptr<f16>, #b>
  %l = ttg.convert_layout %v : tensor<32x256xf16, #b> -> tensor<32x256xf16, #c>
  %f = arith.extf %l : tensor<32x256xf16, #c> to tensor<32x256xf32, #c>
  tt.return %f : tensor<32x256xf32, #c>
}

// Of 200 columns most programs have some.
// CHECK-LABEL: @most
//   CHECK-NOT:   scf.if
tt.func @most(%p: tensor<32x256x!tt.ptr<f16>, #b>) -> tensor<32x256xf16, #b> {
  %c256 = arith.constant 256 : i32
  %bound = arith.constant dense<200> : tensor<1x256xi32, #b>
  %zero = arith.constant dense<0.000000e+00> : tensor<32x256xf16, #b>
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c256 : i32
  %starts = tt.splat %start : i32 -> tensor<256xi32, #r>
  %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #r>
  %column = arith.addi %starts, %range : tensor<256xi32, #r>
  %columns = tt.expand_dims %column {axis = 0 : i32} : tensor<256xi32, #r> -> tensor<1x256xi32, #b>
  %first = arith.cmpi slt, %columns, %bound : tensor<1x256xi32, #b>
  %mask = tt.broadcast %first : tensor<1x256xi1, #b> -> tensor<32x256xi1, #b>
  %v = tt.load %p, %mask, %zero : tensor<32x256x!tt.ptr<f16>, #b>
  tt.return %v : tensor<32x256xf16, #b>
}
}
