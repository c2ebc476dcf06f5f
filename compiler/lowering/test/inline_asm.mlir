// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --lower-to-llvm=target=cuda:90 | FileCheck %s

// Four bytes go in one register of 32 bits and come back: two statements for eight elements.
// CHECK-LABEL: llvm.func internal @bytes
// CHECK-COUNT-2: llvm.inline_asm {{.*}}"vadd4 $0, $1, $1;", "=r,r" %{{.*}} : (i32) -> i32
//   CHECK-NOT:   llvm.inline_asm
#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @bytes(%x: tensor<256xi8, #blocked>) -> tensor<256xi8, #blocked> {
    %y = tt.elementwise_inline_asm "vadd4 $0, $1, $1;" {constraints = "=r,r", packed_element = 4 : i32, pure = true} %x : tensor<256xi8, #blocked> -> tensor<256xi8, #blocked>
    tt.return %y : tensor<256xi8, #blocked>
  }
}

// -----

// Two results and a scalar type of 32 bits each; statements with effects say so.
// CHECK-LABEL: llvm.func internal @two_results
//       CHECK:   %[[R:.*]] = llvm.inline_asm has_side_effects {{.*}}"=r,=f,r,f" %arg0, %arg1 : (i32, f32) -> !llvm.struct<(i32, f32)>
//   CHECK-DAG:   llvm.extractvalue %[[R]][0]
//   CHECK-DAG:   llvm.extractvalue %[[R]][1]
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @two_results(%x: tensor<32xi32, #blocked>, %y: tensor<32xf32, #blocked>) -> (tensor<32xi32, #blocked>, tensor<32xf32, #blocked>) {
    %a, %b = tt.elementwise_inline_asm "mov.b32 $0, $2; mov.b32 $1, $3;" {constraints = "=r,=f,r,f", packed_element = 1 : i32, pure = false} %x, %y : tensor<32xi32, #blocked>, tensor<32xf32, #blocked> -> tensor<32xi32, #blocked>, tensor<32xf32, #blocked>
    tt.return %a, %b : tensor<32xi32, #blocked>, tensor<32xf32, #blocked>
  }
}

// -----

// Fewer elements in a thread than are packed: the rest of the register is open.
// CHECK-LABEL: llvm.func internal @halves
//       CHECK:   llvm.inline_asm {{.*}}"=r,r,r" %{{.*}}, %{{.*}} : (i32, i32) -> i32
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @halves(%x: tensor<32xf16, #blocked>, %y: tensor<32xf16, #blocked>) -> tensor<32xf16, #blocked> {
    %z = tt.elementwise_inline_asm "add.f16x2 $0, $1, $2;" {constraints = "=r,r,r", packed_element = 2 : i32, pure = true} %x, %y : tensor<32xf16, #blocked>, tensor<32xf16, #blocked> -> tensor<32xf16, #blocked>
    tt.return %z : tensor<32xf16, #blocked>
  }
}

// -----

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @waits() {
    tt.grid_dependency_wait
    tt.grid_dependency_launch_dependents
    tt.return
  }
}
// CHECK-LABEL: llvm.func internal @waits
//       CHECK:   griddepcontrol.wait
//       CHECK:   griddepcontrol.launch.dependents
