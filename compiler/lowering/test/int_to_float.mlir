// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm=target=cuda:90 | FileCheck %s

// Words may be beyond the range of f16. The conversion of the device makes them infinite.
// CHECK-LABEL: llvm.func @any
//   CHECK-NOT:   llvm.intr.smin
//       CHECK:   cvt.rn.f16.s32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @any(%p: !tt.ptr<f16>, %i: i32) {
    %f = arith.sitofp %i : i32 to f16
    tt.store %p, %f : !tt.ptr<f16>
    tt.return
  }
}

// -----

// The difference of two numbers of four bits is none of them.
// CHECK-LABEL: llvm.func @four_bits
//   CHECK-NOT:   llvm.intr.smin
//       CHECK:   llvm.sitofp %{{.*}} : i32 to f16
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @four_bits(%p: !tt.ptr<f16>, %i: i32, %j: i32) {
    %c15 = arith.constant 15 : i32
    %a = arith.andi %i, %c15 : i32
    %b = arith.andi %j, %c15 : i32
    %d = arith.subi %a, %b : i32
    %f = arith.sitofp %d : i32 to f16
    tt.store %p, %f : !tt.ptr<f16>
    tt.return
  }
}

// -----

// Without a sign, a negative difference is a large number.
// CHECK-LABEL: llvm.func @no_sign
//       CHECK:   cvt.rn.f16.u32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @no_sign(%p: !tt.ptr<f16>, %i: i32, %j: i32) {
    %c15 = arith.constant 15 : i32
    %a = arith.andi %i, %c15 : i32
    %b = arith.andi %j, %c15 : i32
    %d = arith.subi %a, %b : i32
    %f = arith.uitofp %d : i32 to f16
    tt.store %p, %f : !tt.ptr<f16>
    tt.return
  }
}

// -----

// Others are bounded first.
// CHECK-LABEL: llvm.func @long
//       CHECK:   llvm.intr.smin
//       CHECK:   llvm.intr.smax
//       CHECK:   llvm.sitofp %{{.*}} : i64 to f16
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @long(%p: !tt.ptr<f16>, %i: i64) {
    %f = arith.sitofp %i : i64 to f16
    tt.store %p, %f : !tt.ptr<f16>
    tt.return
  }
}
