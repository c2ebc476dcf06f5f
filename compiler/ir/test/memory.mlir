// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s | FileCheck %s
// RUN: triton-opt %s | triton-opt | FileCheck %s

// CHECK-LABEL: @load_store
//  CHECK-NEXT:   tt.load %arg0 : !tt.ptr<f32>
//  CHECK-NEXT:   tt.load %arg1, %arg2 : tensor<8x!tt.ptr<f32>>
//  CHECK-NEXT:   tt.load %arg1, %arg2, %arg3 cacheModifier = ca evictionPolicy = evict_last {isVolatile = true} : tensor<8x!tt.ptr<f32>>
//  CHECK-NEXT:   tt.load %arg1, %arg2, %arg3 cacheModifier = cg evictionPolicy = evict_first : tensor<8x!tt.ptr<f32>>
//  CHECK-NEXT:   tt.load %arg1 cacheModifier = cv : tensor<8x!tt.ptr<f32>>
//  CHECK-NEXT:   tt.store %arg0, %{{.*}} : !tt.ptr<f32>
//  CHECK-NEXT:   tt.store %arg1, %arg3, %arg2 cacheModifier = wb evictionPolicy = evict_first : tensor<8x!tt.ptr<f32>>
//  CHECK-NEXT:   tt.store %arg1, %arg3 cacheModifier = wt {ignore_cta} : tensor<8x!tt.ptr<f32>>
tt.func @load_store(%p: !tt.ptr<f32>, %t: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %v: tensor<8xf32>) {
  %0 = tt.load %p : !tt.ptr<f32>
  %1 = tt.load %t, %m : tensor<8x!tt.ptr<f32>>
  %2 = tt.load %t, %m, %v cacheModifier = ca evictionPolicy = evict_last {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  %3 = tt.load %t, %m, %v evictionPolicy = evict_first cacheModifier = cg : tensor<8x!tt.ptr<f32>>
  // The dictionary form of the oldest releases.
  %4 = tt.load %t {cache = 7 : i32, evict = 1 : i32, isVolatile = false} : tensor<8x!tt.ptr<f32>>
  tt.store %p, %0 : !tt.ptr<f32>
  tt.store %t, %v, %m cacheModifier = wb evictionPolicy = evict_first : tensor<8x!tt.ptr<f32>>
  tt.store %t, %v cacheModifier = wt {ignore_cta} : tensor<8x!tt.ptr<f32>>
  tt.return
}

// The generic form names the operands' places.
// CHECK-LABEL: @generic
//  CHECK-NEXT:   tt.load %arg0, %arg1 : tensor<8x!tt.ptr<f32>>
tt.func @generic(%t: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>) {
  %0 = "tt.load"(%t, %m) <{cache = 1 : i32, evict = 1 : i32, isVolatile = false, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<8x!tt.ptr<f32>>, tensor<8xi1>) -> tensor<8xf32>
  tt.return
}

// CHECK-LABEL: @pointers_in_other_spaces
//  CHECK-SAME:   %arg0: !tt.ptr<f32, 3>, %arg1: !tt.ptr<!tt.ptr<i8>>
tt.func @pointers_in_other_spaces(%p: !tt.ptr<f32, 3>, %q: !tt.ptr<!tt.ptr<i8>>, %r: !tt.ptr<f32, 1>) {
  %0 = tt.load %q : !tt.ptr<!tt.ptr<i8>>
  %1 = tt.load %0 : !tt.ptr<i8>
  tt.return
}

// CHECK-LABEL: @atomics
//  CHECK-NEXT:   tt.atomic_rmw fadd, acq_rel, gpu, %arg0, %arg1, %arg2 : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
//  CHECK-NEXT:   tt.atomic_rmw umax, relaxed, cta, %arg3, %arg4 : (!tt.ptr<i32>, i32) -> i32
//  CHECK-NEXT:   tt.atomic_rmw exch, release, sys, %arg3, %arg4 : (!tt.ptr<i32>, i32) -> i32
//  CHECK-NEXT:   tt.atomic_cas acquire, sys, %arg3, %arg4, %arg4 : (!tt.ptr<i32>, i32, i32) -> i32
//  CHECK-NEXT:   tt.atomic_poll acquire, gpu, %arg3, %arg4 : !tt.ptr<i32>, i32 -> i1
//  CHECK-NEXT:   tt.atomic_poll acquire, gpu, %arg3, %arg4 timeout %arg5 : !tt.ptr<i32>, i32 -> i1
tt.func @atomics(%t: tensor<8x!tt.ptr<f32>>, %v: tensor<8xf32>, %m: tensor<8xi1>, %p: !tt.ptr<i32>, %i: i32, %ns: i64) {
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %t, %v, %m : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  %1 = tt.atomic_rmw umax, relaxed, cta, %p, %i : (!tt.ptr<i32>, i32) -> i32
  %2 = tt.atomic_rmw exch, release, sys, %p, %i : (!tt.ptr<i32>, i32) -> i32
  %3 = tt.atomic_cas acquire, sys, %p, %i, %i : (!tt.ptr<i32>, i32, i32) -> i32
  %4 = tt.atomic_poll acquire, gpu, %p, %i : !tt.ptr<i32>, i32 -> i1
  %5 = tt.atomic_poll acquire, gpu, %p, %i timeout %ns : !tt.ptr<i32>, i32 -> i1
  tt.return
}

// Block pointers, their result type with and without its prefix.
// CHECK-LABEL: @block_pointers
//       CHECK:   tt.make_tensor_ptr %arg0, [%arg1, %arg1], [%arg1, %arg1], [%arg2, %arg2] {order = array<i32: 1, 0>} : <tensor<128x32xf16>>
//  CHECK-NEXT:   tt.make_tensor_ptr %arg0, [%arg1], [%arg1], [%arg2] {order = array<i32: 0>} : <tensor<128xf16>>
//  CHECK-NEXT:   tt.advance %{{.*}}, [%arg2, %arg2] : <tensor<128x32xf16>>
//  CHECK-NEXT:   tt.load %{{.*}} evictionPolicy = evict_first {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<128x32xf16>>
//  CHECK-NEXT:   tt.store %{{.*}}, %{{.*}} {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<128x32xf16>>
tt.func @block_pointers(%p: !tt.ptr<f16>, %n: i64, %i: i32) {
  %0 = tt.make_tensor_ptr %p, [%n, %n], [%n, %n], [%i, %i] {order = array<i32: 1, 0>} : <tensor<128x32xf16>>
  %1 = tt.make_tensor_ptr %p, [%n], [%n], [%i] {order = array<i32: 0>} : !tt.ptr<tensor<128xf16>>
  %2 = tt.advance %0, [%i, %i] : <tensor<128x32xf16>>
  %3 = tt.load %2 evictionPolicy = evict_first {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<128x32xf16>>
  tt.store %2, %3 {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<128x32xf16>>
  tt.return
}

// Descriptors, in the spelling of 3.3 to 3.7 and of 3.8, and with its short forms.
// CHECK-LABEL: @descriptors
//  CHECK-SAME:   %arg0: !tt.tensordesc<tensor<64x64xf16>>, %arg1: !tt.tensordesc<tensor<64x64xf16>>
//       CHECK:   tt.make_tensor_descriptor %arg2, [%arg3, %arg3], [%arg4, %arg4] : <f16>, <tensor<64x64xf16>>
//  CHECK-NEXT:   tt.make_tensor_descriptor %arg2, [%arg3, %arg3], [%arg4, %arg4] {padding = 2 : i32} : <f16>, <tensor<64x64xf16>>
//  CHECK-NEXT:   tt.make_tensor_descriptor %arg2, [%arg3, %arg3], [%arg4, %arg4] : <f16>, <tensor<1x64xf16>>
//  CHECK-NEXT:   tt.descriptor_load %arg0[%arg3, %arg3] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
//  CHECK-NEXT:   tt.descriptor_load %arg0[%arg3, %arg3] cacheModifier = ca evictionPolicy = evict_last : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
//  CHECK-NEXT:   tt.descriptor_load %arg0[%arg3, %arg3] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
//  CHECK-NEXT:   tt.descriptor_store %arg0[%arg3, %arg3], %{{.*}} : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
//  CHECK-NEXT:   tt.descriptor_reduce add, %arg0[%arg3, %arg3], %{{.*}} : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
//  CHECK-NEXT:   tt.descriptor_gather %{{.*}}[%arg5, %arg3] : (!tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32>, i32) -> tensor<32x64xf16>
//  CHECK-NEXT:   tt.descriptor_scatter %{{.*}}[%arg5, %arg3], %{{.*}} : !tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32>, i32, tensor<32x64xf16>
tt.func @descriptors(%a: !tt.tensordesc<64x64xf16>, %b: !tt.tensordesc<tensor<64x64xf16>>, %p: !tt.ptr<f16>, %i: i32, %s: i64, %x: tensor<32xi32>) {
  %0 = tt.make_tensor_descriptor %p, [%i, %i], [%s, %s] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
  %1 = tt.make_tensor_descriptor %p, [%i, %i], [%s, %s] {padding = 2 : i32} : <f16>, <tensor<64x64xf16>>
  %2 = tt.make_tensor_descriptor %p, [%i, %i], [%s, %s] : <f16>, <1x64xf16>
  %3 = tt.descriptor_load %a[%i, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
  %4 = tt.descriptor_load %a[%i, %i] cacheModifier = ca evictionPolicy = evict_last : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
  %5 = tt.experimental_descriptor_load %a[%i, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
  tt.descriptor_store %a[%i, %i], %3 : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
  tt.descriptor_reduce add, %a[%i, %i], %3 : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
  %6 = tt.descriptor_gather %2[%x, %i] : (!tt.tensordesc<1x64xf16>, tensor<32xi32>, i32) -> tensor<32x64xf16>
  tt.descriptor_scatter %2[%x, %i], %6 : !tt.tensordesc<1x64xf16>, tensor<32xi32>, i32, tensor<32x64xf16>
  tt.return
}
