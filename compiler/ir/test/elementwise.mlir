// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s | FileCheck %s
// RUN: triton-opt %s | triton-opt | FileCheck %s

// Casts and elementwise operations, on scalars and tensors.
// CHECK-LABEL: tt.func public @casts(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: i64
//  CHECK-NEXT:   tt.int_to_ptr %arg1 : i64 -> !tt.ptr<f32>
//  CHECK-NEXT:   tt.ptr_to_int %arg0 : !tt.ptr<f32> -> i64
//  CHECK-NEXT:   tt.bitcast %arg0 : !tt.ptr<f32> -> !tt.ptr<i32>
//  CHECK-NEXT:   tt.bitcast %arg2 : tensor<8xf32> -> tensor<8xi32>
//  CHECK-NEXT:   tt.fp_to_fp %arg2, rounding = rtne : tensor<8xf32> -> tensor<8xf8E4M3FN>
//  CHECK-NEXT:   tt.fp_to_fp %{{.*}} : tensor<8xf8E4M3FN> -> tensor<8xf16>
//  CHECK-NEXT:   tt.fp_to_fp %arg2 {some.hint}, rounding = rtz : tensor<8xf32> -> tensor<8xf8E5M2>
tt.func public @casts(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %i: i64, %x: tensor<8xf32>) attributes {noinline = false} {
  %0 = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
  %1 = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  %2 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>
  %3 = tt.bitcast %x : tensor<8xf32> -> tensor<8xi32>
  %4 = tt.fp_to_fp %x, rounding = rtne : tensor<8xf32> -> tensor<8xf8E4M3FN>
  %5 = tt.fp_to_fp %4 : tensor<8xf8E4M3FN> -> tensor<8xf16>
  %6 = tt.fp_to_fp %x {some.hint}, rounding = rtz : tensor<8xf32> -> tensor<8xf8E5M2>
  tt.return
}

// CHECK-LABEL: tt.func private @arithmetic
//  CHECK-NEXT:   tt.clampf %arg0, %arg1, %arg1, propagateNan = none : f32
//  CHECK-NEXT:   tt.clampf %arg2, %arg2, %arg2, propagateNan = all : tensor<8xf32>
//  CHECK-NEXT:   tt.precise_sqrt %arg2 : tensor<8xf32>
//  CHECK-NEXT:   tt.precise_divf %arg0, %arg1 : f32
//  CHECK-NEXT:   tt.mulhiui %arg3, %arg3 : tensor<8xi32>
//  CHECK-NEXT:   tt.addptr %arg4, %arg3 {tt.contiguity = dense<8> : tensor<1xi32>} : tensor<8x!tt.ptr<f16>>, tensor<8xi32>
//  CHECK-NEXT:   tt.return %{{.*}}, %{{.*}} : f32, tensor<8xf32>
tt.func private @arithmetic(%x: f32, %y: f32, %t: tensor<8xf32>, %i: tensor<8xi32>, %p: tensor<8x!tt.ptr<f16>>) -> (f32, tensor<8xf32>) {
  %0 = tt.clampf %x, %y, %y, propagateNan = none : f32
  %1 = tt.clampf %t, %t, %t, propagateNan = all : tensor<8xf32>
  %2 = tt.precise_sqrt %t : tensor<8xf32>
  %3 = tt.precise_divf %x, %y : f32
  %4 = tt.mulhiui %i, %i : tensor<8xi32>
  %5 = tt.addptr %p, %i {tt.contiguity = dense<8> : tensor<1xi32>} : tensor<8x!tt.ptr<f16>>, tensor<8xi32>
  tt.return %0, %1 : f32, tensor<8xf32>
}

// CHECK-LABEL: @extern
//  CHECK-NEXT:   tt.extern_elementwise %arg0 {libname = "", libpath = "", pure = true, symbol = "__nv_expf"} : (tensor<8xf32>) -> tensor<8xf32>
//  CHECK-NEXT:   tt.elementwise_inline_asm "shl.b32 $0, $1, 3;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %arg1 : tensor<8xi32> -> tensor<8xi32>
//  CHECK-NEXT:   tt.elementwise_inline_asm "x" {constraints = "=r,=r", packed_element = 1 : i32, pure = false} -> i32, i32
tt.func @extern(%x: tensor<8xf32>, %i: tensor<8xi32>) {
  %0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_expf"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = tt.elementwise_inline_asm "shl.b32 $0, $1, 3;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %i : tensor<8xi32> -> tensor<8xi32>
  %2:2 = tt.elementwise_inline_asm "x" {constraints = "=r,=r", packed_element = 1 : i32, pure = false} -> i32, i32
  tt.return
}

// CHECK-LABEL: @map
//  CHECK-NEXT:   "tt.map_elementwise"(%arg0) <{pack = 2 : i32}> ({
//  CHECK-NEXT:   ^bb0(%arg1: i32, %arg2: i32):
//       CHECK:     tt.map_elementwise.return %{{.*}}, %{{.*}} : i32, i32
tt.func @map(%x: tensor<8xi32>) -> tensor<8xi32> {
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.cmpi slt, %a, %b : i32
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    tt.map_elementwise.return %a, %b : i32, i32
  ^bb2:
    tt.map_elementwise.return %b, %a : i32, i32
  }) : (tensor<8xi32>) -> tensor<8xi32>
  tt.return %0 : tensor<8xi32>
}
