// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=xpu:pvc | FileCheck %s

// The program's place by OpenCL's functions; barriers say which memory they order.
// CHECK-LABEL: llvm.func @program
//       CHECK:   llvm.call @_Z12get_group_idj
//       CHECK:   llvm.trunc
//       CHECK:   llvm.call @_Z14get_num_groupsj
//       CHECK:   %[[BOTH:.*]] = llvm.mlir.constant(776 : i32)
//       CHECK:   llvm.call @_Z22__spirv_ControlBarrierjjj(%{{.*}}, %{{.*}}, %[[BOTH]])
//       CHECK:   %[[SHARED:.*]] = llvm.mlir.constant(264 : i32)
//       CHECK:   llvm.call @_Z22__spirv_ControlBarrierjjj(%{{.*}}, %{{.*}}, %[[SHARED]])
module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @program(%p: !tt.ptr<i32>) {
    %y = tt.get_program_id y : i32
    %n = tt.get_num_programs z : i32
    ttg.barrier all
    ttg.barrier local
    %s = arith.addi %y, %n : i32
    tt.store %p, %s : !tt.ptr<i32>
    tt.return
  }
}

// -----

// A sum over the 16 lanes of a sub-group is one function.
// CHECK-LABEL: llvm.func @sum
//       CHECK:   llvm.call @_Z20sub_group_reduce_addj
//   CHECK-NOT:   llvm.call @_Z21sub_group_shuffle
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [16], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @sum(%p: !tt.ptr<i32>, %n: i32) {
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #blocked>
    %s = "tt.reduce"(%r) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.reduce.return %c : i32
    }) : (tensor<16xi32, #blocked>) -> i32
    tt.store %p, %s : !tt.ptr<i32>
    tt.return
  }
}

// -----

// Of floats it is a butterfly.
// CHECK-LABEL: llvm.func @float_sum
// CHECK-COUNT-4: llvm.call @_Z21sub_group_shuffle_xorjj
//   CHECK-NOT:   llvm.call @_Z21sub_group_shuffle
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [16], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @float_sum(%p: !tt.ptr<f32>, %n: i32) {
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #blocked>
    %f = arith.sitofp %r : tensor<16xi32, #blocked> to tensor<16xf32, #blocked>
    %s = "tt.reduce"(%f) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<16xf32, #blocked>) -> f32
    tt.store %p, %s : !tt.ptr<f32>
    tt.return
  }
}

// -----

// printf takes its format from constant memory, and f32 as it is.
// CHECK: llvm.mlir.global internal constant @tritond_format_{{.*}} {addr_space = 2 : i32
// CHECK-LABEL: llvm.func @print(
//       CHECK:   llvm.call @printf({{.*}}) vararg(!llvm.func<i32 (ptr<2>, ...)>) : (!llvm.ptr<2>, {{.*}}f32) -> i32
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @print(%x: f32) {
    tt.print "x" {hex = false, isSigned = array<i32: 0>} : %x : f32
    tt.return
  }
}
