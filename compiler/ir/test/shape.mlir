// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s | FileCheck %s
// RUN: triton-opt %s | triton-opt | FileCheck %s

// CHECK-LABEL: @shapes
//  CHECK-NEXT:   tt.splat %arg0 : i32 -> tensor<1xi32>
//  CHECK-NEXT:   tt.unsplat %{{.*}} : tensor<1xi32>
//  CHECK-NEXT:   tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
//  CHECK-NEXT:   tt.expand_dims %{{.*}} {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
//  CHECK-NEXT:   tt.broadcast %{{.*}} : tensor<128x1xi32> -> tensor<128x64xi32>
//  CHECK-NEXT:   tt.reshape %{{.*}} : tensor<128x64xi32> -> tensor<64x128xi32>
//  CHECK-NEXT:   tt.reshape %{{.*}} allow_reorder : tensor<128x64xi32> -> tensor<8192xi32>
//  CHECK-NEXT:   tt.reshape %{{.*}} allow_reorder efficient_layout : tensor<128x64xi32> -> tensor<8192xi32>
//  CHECK-NEXT:   tt.reshape %{{.*}} allow_reorder : tensor<128x64xi32> -> tensor<8192xi32>
//  CHECK-NEXT:   tt.reshape %{{.*}} : tensor<128x64xi32> -> tensor<8192xi32>
//  CHECK-NEXT:   tt.trans %{{.*}} {order = array<i32: 1, 0>} : tensor<128x64xi32> -> tensor<64x128xi32>
//  CHECK-NEXT:   tt.join %{{.*}}, %{{.*}} : tensor<128x64xi32> -> tensor<128x64x2xi32>
//  CHECK-NEXT:   %{{.*}}, %{{.*}} = tt.split %{{.*}} : tensor<128x64x2xi32> -> tensor<128x64xi32>
//  CHECK-NEXT:   tt.cat %{{.*}}, %{{.*}} : tensor<128xi32> -> tensor<256xi32>
//  CHECK-NEXT:   tt.gather %{{.*}}[%{{.*}}] {axis = 0 : i32} : (tensor<128x64xi32>, tensor<32x64xi32>) -> tensor<32x64xi32>
//  CHECK-NEXT:   tt.gather %{{.*}}[%{{.*}}] {axis = 0 : i32, efficient_layout} : (tensor<128x64xi32>, tensor<32x64xi32>) -> tensor<32x64xi32>
//  CHECK-NEXT:   tt.histogram %{{.*}} : tensor<128xi32> -> tensor<16xi32>
//  CHECK-NEXT:   tt.histogram %{{.*}}, %arg2 : tensor<128xi32> -> tensor<16xi32>
tt.func @shapes(%i: i32, %idx: tensor<32x64xi32>, %m: tensor<128xi1>) {
  %0 = tt.splat %i : i32 -> tensor<1xi32>
  %1 = tt.unsplat %0 : tensor<1xi32>
  %2 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %3 = tt.expand_dims %2 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %4 = tt.broadcast %3 : tensor<128x1xi32> -> tensor<128x64xi32>
  %5 = tt.reshape %4 : tensor<128x64xi32> -> tensor<64x128xi32>
  %6 = tt.reshape %4 allow_reorder : tensor<128x64xi32> -> tensor<8192xi32>
  %7 = tt.reshape %4 allow_reorder efficient_layout : tensor<128x64xi32> -> tensor<8192xi32>
  // As releases before 3.2 print it.
  %8 = tt.reshape %4 {allow_reorder = true} : tensor<128x64xi32> -> tensor<8192xi32>
  %9 = tt.reshape %4 {allow_reorder = false} : tensor<128x64xi32> -> tensor<8192xi32>
  %10 = tt.trans %4 {order = array<i32: 1, 0>} : tensor<128x64xi32> -> tensor<64x128xi32>
  %11 = tt.join %4, %4 : tensor<128x64xi32> -> tensor<128x64x2xi32>
  %12, %13 = tt.split %11 : tensor<128x64x2xi32> -> tensor<128x64xi32>
  %14 = tt.cat %2, %2 : tensor<128xi32> -> tensor<256xi32>
  %15 = tt.gather %4[%idx] {axis = 0 : i32} : (tensor<128x64xi32>, tensor<32x64xi32>) -> tensor<32x64xi32>
  %16 = tt.gather %4[%idx] {axis = 0 : i32, efficient_layout} : (tensor<128x64xi32>, tensor<32x64xi32>) -> tensor<32x64xi32>
  %17 = tt.histogram %2 : tensor<128xi32> -> tensor<16xi32>
  %18 = tt.histogram %2, %m : tensor<128xi32> -> tensor<16xi32>
  tt.return
}
