// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --lower-to-llvm | FileCheck %s

// Every case passes its tensors register by register.
// CHECK-LABEL: llvm.func internal @cases
//       CHECK:   llvm.switch %arg0 : i32, ^[[OTHER:bb[0-9]+]](%arg1, %arg2 : f32, f32) [
//  CHECK-NEXT:     0: ^[[OTHER]](%arg3, %arg4 : f32, f32),
//  CHECK-NEXT:     {{-7|4294967289}}: ^bb{{[0-9]+}}
//  CHECK-NEXT:   ]
//       CHECK: ^[[OTHER]](%[[A:.*]]: f32, %[[B:.*]]: f32):
#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @cases(%n: i32, %x: tensor<64xf32, #blocked>, %y: tensor<64xf32, #blocked>) -> tensor<64xf32, #blocked> {
    cf.switch %n : i32, [
      default: ^bb1(%x : tensor<64xf32, #blocked>),
      0: ^bb1(%y : tensor<64xf32, #blocked>),
      -7: ^bb2
    ]
  ^bb1(%a: tensor<64xf32, #blocked>):
    tt.return %a : tensor<64xf32, #blocked>
  ^bb2:
    tt.return %x : tensor<64xf32, #blocked>
  }
}

// -----

// Without cases it is a branch.
// CHECK-LABEL: llvm.func internal @no_case
//       CHECK:   llvm.switch %arg0 : i64, ^[[OTHER:bb[0-9]+]] [
//  CHECK-NEXT:   ]
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @no_case(%n: i64) {
    cf.switch %n : i64, [
      default: ^bb1
    ]
  ^bb1:
    tt.return
  }
}
