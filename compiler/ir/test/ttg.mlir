// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s | FileCheck %s
// RUN: triton-opt %s | triton-opt | FileCheck %s

// Encodings print as aliases; older spellings become the newer ones.
//   CHECK-DAG: #[[BLOCKED:blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
//   CHECK-DAG: #[[SHARED:shared[0-9]*]] = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
//   CHECK-DAG: #[[LINEAR:linear[0-9]*]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}8, 0], [16, 0]], block = []}>
//   CHECK-DAG: #smem = #ttg.shared_memory
//       CHECK: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32}
#old = #triton_gpu.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = []}>
#shared = #triton_gpu.shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0], hasLeadingOffset = false}>
#linear = #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]], block = []}>
#smem = #ttg.shared_memory
module attributes {"triton_gpu.num-ctas" = 1 : i32, "triton_gpu.num-warps" = 4 : i32, ttg.target = "cuda:90", "triton_gpu.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @conversions
  //       CHECK:   ttg.convert_layout %arg0 : tensor<32x16xf32, #[[BLOCKED]]> -> tensor<32x16xf32, #[[LINEAR]]>
  //  CHECK-NEXT:   ttg.convert_layout %arg0 : tensor<32x16xf32, #[[BLOCKED]]> -> tensor<32x16xf32, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED]]}>>
  //  CHECK-NEXT:   tt.expand_dims %arg1 {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #[[BLOCKED]]}>> -> tensor<32x1xi32, #[[BLOCKED]]>
  //  CHECK-NEXT:   arith.constant dense<0.000000e+00> : tensor<32x16xf32, #[[BLOCKED]]>
  tt.func @conversions(%x: tensor<32x16xf32, #old>, %i: tensor<32xi32, #triton_gpu.slice<{dim = 1, parent = #blocked}>>) {
    %0 = triton_gpu.convert_layout %x : tensor<32x16xf32, #old> -> tensor<32x16xf32, #linear>
    %1 = ttg.convert_layout %x : tensor<32x16xf32, #blocked> -> tensor<32x16xf32, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
    %2 = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<32x1xi32, #blocked>
    %3 = arith.constant dense<0.0> : tensor<32x16xf32, #blocked>
    tt.return
  }

  // CHECK-LABEL: @buffers
  //       CHECK:   %[[A:.*]] = ttg.local_alloc %arg0 : (tensor<32x16xf32, #[[BLOCKED]]>) -> !ttg.memdesc<32x16xf32, #[[SHARED]], #smem>
  //  CHECK-NEXT:   %[[B:.*]] = ttg.local_alloc {alignment = 16 : i32} : () -> !ttg.memdesc<32x16xf32, #[[SHARED]], #smem, mutable>
  //  CHECK-NEXT:   ttg.local_store %arg0, %[[B]] : tensor<32x16xf32, #[[BLOCKED]]> -> !ttg.memdesc<32x16xf32, #[[SHARED]], #smem, mutable>
  //  CHECK-NEXT:   ttg.local_load %[[A]] : !ttg.memdesc<32x16xf32, #[[SHARED]], #smem> -> tensor<32x16xf32, #[[BLOCKED]]>
  //  CHECK-NEXT:   ttg.local_load %[[B]] token %arg1 : !ttg.memdesc<32x16xf32, #[[SHARED]], #smem, mutable> -> tensor<32x16xf32, #[[BLOCKED]]>
  //  CHECK-NEXT:   ttg.local_dealloc %[[B]] : !ttg.memdesc<32x16xf32, #[[SHARED]], #smem, mutable>
  tt.func @buffers(%x: tensor<32x16xf32, #blocked>, %t: !triton_gpu.async.token) {
    // Without a memory space, as before 3.2.
    %0 = triton_gpu.local_alloc %x : (tensor<32x16xf32, #blocked>) -> !tt.memdesc<32x16xf32, #shared>
    %1 = ttg.local_alloc {alignment = 16 : i32} : () -> !ttg.memdesc<32x16xf32, #shared, #smem, mutable>
    ttg.local_store %x, %1 : tensor<32x16xf32, #blocked> -> !ttg.memdesc<32x16xf32, #shared, #smem, mutable>
    %2 = ttg.local_load %0 : !ttg.memdesc<32x16xf32, #shared, #smem> -> tensor<32x16xf32, #blocked>
    %3 = ttg.local_load %1 token %t : !ttg.memdesc<32x16xf32, #shared, #smem, mutable> -> tensor<32x16xf32, #blocked>
    ttg.local_dealloc %1 : !ttg.memdesc<32x16xf32, #shared, #smem, mutable>
    tt.return
  }

  // CHECK-LABEL: @part_of_a_buffer
  //  CHECK-SAME:   !ttg.memdesc<16x16xf32, #[[SHARED]], #smem, mutable, 4x16x16>
  tt.func @part_of_a_buffer(%x: !ttg.memdesc<16x16xf32, #shared, #smem, mutable, 4x16x16>) {
    tt.return
  }
}
