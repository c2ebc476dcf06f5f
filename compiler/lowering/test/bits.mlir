// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm | FileCheck %s

// Of zero, all bits are leading and trailing zeros: no undefined result.
// CHECK-LABEL: llvm.func internal @counts
//       CHECK:   "llvm.intr.ctlz"(%arg0) <{is_zero_poison = false}> : (i32) -> i32
//       CHECK:   "llvm.intr.cttz"(%arg1) <{is_zero_poison = false}> : (i64) -> i64
//       CHECK:   llvm.intr.ctpop(%arg2) : (i8) -> i8
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @counts(%x: i32, %y: i64, %z: i8) -> (i32, i64, i8) {
    %0 = math.ctlz %x : i32
    %1 = math.cttz %y : i64
    %2 = math.ctpop %z : i8
    tt.return %0, %1, %2 : i32, i64, i8
  }
}

// -----

// A sum that is less than an operand did not fit.
// CHECK-LABEL: llvm.func internal @carry
//       CHECK:   %[[S:.*]] = llvm.add %arg0, %arg1 : i32
//       CHECK:   llvm.icmp "ult" %[[S]], %arg0 : i32
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @carry(%x: i32, %y: i32) -> (i32, i1) {
    %0, %1 = arith.addui_extended %x, %y : i32, i1
    tt.return %0, %1 : i32, i1
  }
}

// -----

// f64 to f32 towards zero: the nearest one, or the one below it where that is further out.
// CHECK-LABEL: llvm.func internal @towards_zero
//       CHECK:   %[[N:.*]] = llvm.fptrunc %arg0 : f64 to f32
//       CHECK:   %[[W:.*]] = llvm.fpext %[[N]] : f32 to f64
//       CHECK:   %[[I:.*]] = llvm.bitcast %[[N]] : f32 to i32
//       CHECK:   llvm.fcmp "one" %[[W]], %arg0
//       CHECK:   llvm.icmp "ugt"
//       CHECK:   %[[B:.*]] = llvm.add %[[I]], %{{.*}} : i32
//       CHECK:   %[[R:.*]] = llvm.select %{{.*}}, %[[B]], %[[I]]
//       CHECK:   llvm.bitcast %[[R]] : i32 to f32
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @towards_zero(%x: f64) -> f32 {
    %0 = tt.fp_to_fp %x, rounding = rtz : f64 -> f32
    tt.return %0 : f32
  }
}

// -----

// The sign of another number; narrow floats by f32.
// CHECK-LABEL: llvm.func internal @copysign
//   CHECK-DAG:   %[[X:.*]] = llvm.fpext %arg0 : bf16 to f32
//   CHECK-DAG:   %[[Y:.*]] = llvm.fpext %arg1 : bf16 to f32
//       CHECK:   %[[Z:.*]] = llvm.call_intrinsic "llvm.copysign.f32"(%[[X]], %[[Y]])
//       CHECK:   llvm.fptrunc %[[Z]] : f32 to bf16
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @copysign(%x: bf16, %y: bf16) -> bf16 {
    %0 = math.copysign %x, %y : bf16
    tt.return %0 : bf16
  }
}
