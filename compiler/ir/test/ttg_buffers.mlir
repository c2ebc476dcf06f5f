// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s | FileCheck %s
// RUN: triton-opt %s | triton-opt | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#turned = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#cube = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [2, 1, 0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Views: a row of buffers by an encoding of one of them, or by one of the row; parts print what they are a part of.
  // CHECK-LABEL: @views
  //       CHECK:   ttg.memdesc_index %arg0[%arg2] : !ttg.memdesc<3x32x16xf32, #shared{{[0-9]*}}, #smem, mutable> -> !ttg.memdesc<32x16xf32, #[[S:shared[0-9]*]], #smem, mutable>
  //       CHECK:   ttg.memdesc_index %arg1[%arg2] : !ttg.memdesc<4x32x16xf32, #{{shared[0-9]*}}, #smem, mutable> -> !ttg.memdesc<32x16xf32, #[[S]], #smem, mutable>
  //       CHECK:   ttg.memdesc_subslice %{{.*}}[0, 8] : !ttg.memdesc<32x16xf32, #[[S]], #smem, mutable> -> !ttg.memdesc<32x8xf32, #[[S]], #smem, mutable, 32x16>
  //       CHECK:   ttg.memdesc_trans %{{.*}} {order = array<i32: 1, 0>} : !ttg.memdesc<32x8xf32, #[[S]], #smem, mutable, 32x16> -> !ttg.memdesc<8x32xf32, #{{shared[0-9]*}}, #smem, mutable, 16x32>
  //       CHECK:   ttg.memdesc_reshape %arg3 : !ttg.memdesc<32x16xf32, #{{shared[0-9]*}}, #smem, mutable> -> !ttg.memdesc<512xf32, #{{shared[0-9]*}}, #smem, mutable>
  //       CHECK:   ttg.memdesc_reinterpret %arg3 : !ttg.memdesc<32x16xf32, #{{shared[0-9]*}}, #smem, mutable> -> !ttg.memdesc<32x16xf16, #{{shared[0-9]*}}, #smem, mutable>
  tt.func @views(%x: !ttg.memdesc<3x32x16xf32, #shared, #smem, mutable>, %y: !ttg.memdesc<4x32x16xf32, #cube, #smem, mutable>,
                 %i: i32, %z: !ttg.memdesc<32x16xf32, #flat, #smem, mutable>) {
    %0 = ttg.memdesc_index %x[%i] : !ttg.memdesc<3x32x16xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x16xf32, #shared, #smem, mutable>
    %1 = ttg.memdesc_index %y[%i] : !ttg.memdesc<4x32x16xf32, #cube, #smem, mutable> -> !ttg.memdesc<32x16xf32, #shared, #smem, mutable>
    %2 = ttg.memdesc_subslice %1[0, 8] : !ttg.memdesc<32x16xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x8xf32, #shared, #smem, mutable, 32x16>
    %3 = ttg.memdesc_trans %2 {order = array<i32: 1, 0>} : !ttg.memdesc<32x8xf32, #shared, #smem, mutable, 32x16> -> !ttg.memdesc<8x32xf32, #turned, #smem, mutable, 16x32>
    %4 = ttg.memdesc_reshape %z : !ttg.memdesc<32x16xf32, #flat, #smem, mutable> -> !ttg.memdesc<512xf32, #line, #smem, mutable>
    %5 = ttg.memdesc_reinterpret %z : !ttg.memdesc<32x16xf32, #flat, #smem, mutable> -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable>
    tt.return
  }

  // CHECK-LABEL: @indexed
  //       CHECK:   ttg.local_gather %arg0[%arg1] {axis = 0 : i32} : !ttg.memdesc<32x16xf32, #{{.*}}, #smem, mutable>, tensor<32x16xi32, #blocked> -> tensor<32x16xf32, #blocked>
  //       CHECK:   ttg.local_gather %arg0[%arg1] token %arg4 {axis = 1 : i32}
  //       CHECK:   ttg.local_scatter %arg0[%arg1], %arg2 {axis = 0 : i32} : !ttg.memdesc<32x16xf32, #{{.*}}, #smem, mutable>, tensor<32x16xi32, #blocked>, tensor<32x16xf32, #blocked>
  //       CHECK:   ttg.local_atomic_scatter_rmw fadd, %arg0[%arg1], %arg2 {axis = 0 : i32} : (!ttg.memdesc<32x16xf32, #{{.*}}, #smem, mutable>, tensor<32x16xf32, #blocked>, tensor<32x16xi32, #blocked>) -> tensor<32x16xf32, #blocked>
  //       CHECK:   ttg.local_atomic_scatter_rmw exch, %arg0[%arg1], %arg2, %arg3 {axis = 1 : i32}
  tt.func @indexed(%x: !ttg.memdesc<32x16xf32, #shared, #smem, mutable>, %i: tensor<32x16xi32, #blocked>,
                   %v: tensor<32x16xf32, #blocked>, %m: tensor<32x16xi1, #blocked>, %t: !ttg.async.token) {
    %0 = ttg.local_gather %x[%i] {axis = 0 : i32} : !ttg.memdesc<32x16xf32, #shared, #smem, mutable>, tensor<32x16xi32, #blocked> -> tensor<32x16xf32, #blocked>
    %1 = ttg.local_gather %x[%i] token %t {axis = 1 : i32} : !ttg.memdesc<32x16xf32, #shared, #smem, mutable>, tensor<32x16xi32, #blocked> -> tensor<32x16xf32, #blocked>
    ttg.local_scatter %x[%i], %v {axis = 0 : i32} : !ttg.memdesc<32x16xf32, #shared, #smem, mutable>, tensor<32x16xi32, #blocked>, tensor<32x16xf32, #blocked>
    %2 = ttg.local_atomic_scatter_rmw fadd, %x[%i], %v {axis = 0 : i32} : (!ttg.memdesc<32x16xf32, #shared, #smem, mutable>, tensor<32x16xf32, #blocked>, tensor<32x16xi32, #blocked>) -> tensor<32x16xf32, #blocked>
    %3 = ttg.local_atomic_scatter_rmw exch, %x[%i], %v, %m {axis = 1 : i32} : (!ttg.memdesc<32x16xf32, #shared, #smem, mutable>, tensor<32x16xf32, #blocked>, tensor<32x16xi32, #blocked>, tensor<32x16xi1, #blocked>) -> tensor<32x16xf32, #blocked>
    tt.return
  }

  // CHECK-LABEL: @copies
  //       CHECK:   %[[A:.*]] = ttg.async_copy_global_to_local %arg0, %arg1 : tensor<32x16x!tt.ptr<f32>, #blocked> -> <32x16xf32, #{{.*}}, #smem, mutable>
  //  CHECK-NEXT:   %[[B:.*]] = ttg.async_copy_global_to_local %arg0, %arg1 mask %arg2 other %arg3 cacheModifier = cg evictionPolicy = evict_first {contiguity = 4 : i32} : tensor<32x16x!tt.ptr<f32>, #blocked> ->
  //  CHECK-NEXT:   %[[C:.*]] = ttg.async_commit_group tokens %[[A]], %[[B]]
  //  CHECK-NEXT:   %[[D:.*]] = ttg.async_commit_group
  //  CHECK-NEXT:   %[[E:.*]] = ttg.async_wait %[[C]], %[[D]] {num = 1 : i32}
  //  CHECK-NEXT:   ttg.async_wait {num = 0 : i32}
  tt.func @copies(%p: tensor<32x16x!tt.ptr<f32>, #blocked>, %x: !ttg.memdesc<32x16xf32, #shared, #smem, mutable>,
                  %m: tensor<32x16xi1, #blocked>, %o: tensor<32x16xf32, #blocked>) {
    %0 = ttg.async_copy_global_to_local %p, %x : tensor<32x16x!tt.ptr<f32>, #blocked> -> <32x16xf32, #shared, #smem, mutable>
    %1 = ttg.async_copy_global_to_local %p, %x mask %m other %o cacheModifier = cg evictionPolicy = evict_first {contiguity = 4 : i32} : tensor<32x16x!tt.ptr<f32>, #blocked> -> <32x16xf32, #shared, #smem, mutable>
    %2 = ttg.async_commit_group tokens %0, %1
    %3 = ttg.async_commit_group
    %4 = ttg.async_wait %2, %3 {num = 1 : i32}
    %5 = ttg.async_wait {num = 0 : i32}
    tt.return
  }
}
