// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-assume-host-maps | FileCheck %s

// All loads say which block they are of: the map pads it, and what lies outside is zeros here. A descriptor that is
// stored by blocks alone may have a map, too.
// CHECK-LABEL: @named
//  CHECK-SAME:   tt.descriptor_parts = 6 : i32, ttng.host_map = true
//  CHECK-SAME:   tt.descriptor_parts = 6 : i32, ttng.host_map = true
//       CHECK:   %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
//       CHECK:   %[[MASK:.*]] = tt.block_mask
//       CHECK:   tt.load %{{.*}}, %[[MASK]], %[[ZEROS]]
//       CHECK:   %[[OTHER:.*]] = tt.block_mask
//       CHECK:   tt.store %{{.*}}, %{{.*}}, %[[OTHER]]
tt.func public @named(%p: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32}, %m: i64, %n: i64, %s: i64, %s1: i64, %nan: i1, %q: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32}, %qm: i64, %qn: i64, %qs: i64, %q1: i64, %qnan: i1, %i: i32, %k: tensor<64x64xi1>, %at: tensor<64x64xi32>) {
  %one = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f16
  %nans = arith.constant 0x7E00 : f16
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %pp = tt.addptr %ps, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %other = arith.select %nan, %nans, %zero : f16
  %others = tt.splat %other : f16 -> tensor<64x64xf16>
  %b = tt.block_mask %k, %p[%i, %i], [%m, %n], [%s, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1>, <f16>
  %x = tt.load %pp, %b, %others : tensor<64x64x!tt.ptr<f16>>
  %qs0 = tt.splat %q : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %qp = tt.addptr %qs0, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %c = tt.block_mask %k, %q[%i, %i], [%qm, %qn], [%qs, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1>, <f16>
  tt.store %qp, %x, %c : tensor<64x64x!tt.ptr<f16>>
  tt.return
}

// -----

// A load that names no block, and a descriptor that is refused already: padding stays a flag of the launch.
// CHECK-LABEL: @plain
//   CHECK-NOT:   ttng.host_map = true
//       CHECK:   %[[OTHER:.*]] = arith.select
//       CHECK:   tt.splat %[[OTHER]]
//       CHECK:   tt.return
tt.func public @plain(%p: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32}, %m: i64, %n: i64, %s: i64, %s1: i64, %nan: i1, %q: !tt.ptr<f16> {tt.descriptor_parts = 6 : i32, ttng.host_map = false}, %qm: i64, %qn: i64, %qs: i64, %q1: i64, %qnan: i1, %i: i32, %k: tensor<64x64xi1>, %at: tensor<64x64xi32>, %out: tensor<64x64x!tt.ptr<f16>>) {
  %one = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f16
  %nans = arith.constant 0x7E00 : f16
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %pp = tt.addptr %ps, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %other = arith.select %nan, %nans, %zero : f16
  %others = tt.splat %other : f16 -> tensor<64x64xf16>
  %b = tt.block_mask %k, %p[%i, %i], [%m, %n], [%s, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1>, <f16>
  %x = tt.load %pp, %b, %others : tensor<64x64x!tt.ptr<f16>>
  %y = tt.load %pp : tensor<64x64x!tt.ptr<f16>>
  %qs0 = tt.splat %q : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %qp = tt.addptr %qs0, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %c = tt.block_mask %k, %q[%i, %i], [%qm, %qn], [%qs, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1>, <f16>
  tt.store %qp, %x, %c : tensor<64x64x!tt.ptr<f16>>
  tt.store %out, %y : tensor<64x64x!tt.ptr<f16>>
  tt.return
}

// -----

// Of a tensor that is loaded and stored, copies have no order. f32 that the launcher's map may round are not for us.
// CHECK-LABEL: @both_ways
//   CHECK-NOT:   ttng.host_map
//       CHECK:   tt.return
tt.func public @both_ways(%p: !tt.ptr<f16> {tt.descriptor_parts = 5 : i32}, %m: i64, %n: i64, %s: i64, %s1: i64, %q: !tt.ptr<f32> {tt.descriptor_parts = 7 : i32}, %qm: i64, %qn: i64, %qs: i64, %q1: i64, %qnan: i1, %round: i1, %i: i32, %k: tensor<64x64xi1>, %at: tensor<64x64xi32>, %z: tensor<64x64xf32>) {
  %one = arith.constant 1 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf16>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %pp = tt.addptr %ps, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %b = tt.block_mask %k, %p[%i, %i], [%m, %n], [%s, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1>, <f16>
  %x = tt.load %pp, %b, %zeros : tensor<64x64x!tt.ptr<f16>>
  tt.store %pp, %x, %b : tensor<64x64x!tt.ptr<f16>>
  %qs0 = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %qp = tt.addptr %qs0, %at : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %c = tt.block_mask %k, %q[%i, %i], [%qm, %qn], [%qs, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1>, <f32>
  tt.store %qp, %z, %c : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
