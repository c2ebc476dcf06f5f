// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --tt-rewrite-tensor-descriptor --canonicalize --cse | FileCheck %s
// RUN: triton-opt %s -split-input-file -verify-diagnostics --tt-rewrite-tensor-descriptor=flags=0 | FileCheck %s --check-prefix=NONE
// RUN: triton-opt %s -split-input-file -verify-diagnostics --tt-rewrite-tensor-descriptor=flags=2 --canonicalize | FileCheck %s --check-prefix=TWO

// A load is masked along every dimension and padded.
// CHECK-LABEL: @load
//       CHECK:   %[[PAD:.*]] = arith.constant dense<0.000000e+00> : tensor<64x32xf16>
//       CHECK:   %[[P:.*]] = tt.addptr %{{.*}}, %{{.*}} : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi64>
//       CHECK:   %[[MASK:.*]] = arith.andi %{{.*}}, %{{.*}} : tensor<64x32xi1>
//       CHECK:   tt.load %[[P]], %[[MASK]], %[[PAD]] cacheModifier = cg : tensor<64x32x!tt.ptr<f16>>
tt.func @load(%base: !tt.ptr<f16>, %m: i32, %n: i32, %s: i64, %i: i32, %j: i32) -> tensor<64x32xf16> {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %base, [%m, %n], [%s, %c1] : !tt.ptr<f16>, !tt.tensordesc<64x32xf16>
  %v = tt.descriptor_load %d[%i, %j] cacheModifier = cg : !tt.tensordesc<tensor<64x32xf16>> -> tensor<64x32xf16>
  tt.return %v : tensor<64x32xf16>
}

// -----

// NaN padding. A dimension of one goes into the base, and its mask is a scalar.
// CHECK-LABEL: @load_ranked
//       CHECK:   arith.constant dense<0x7FC00000> : tensor<64xf32>
//       CHECK:   %[[ROW:.*]] = arith.muli %{{.*}}, %arg3 : i64
//       CHECK:   %[[BASE:.*]] = tt.addptr %arg0, %[[ROW]] : !tt.ptr<f32>, i64
//       CHECK:   %[[INSIDE:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
//       CHECK:   tt.splat %[[BASE]]
//       CHECK:   tt.splat %[[INSIDE]] : i1 -> tensor<64xi1>
//   CHECK-NOT:   tt.reshape
//       CHECK:   tt.load {{.*}} : tensor<64x!tt.ptr<f32>>
tt.func @load_ranked(%base: !tt.ptr<f32>, %m: i32, %n: i32, %s: i64, %i: i32, %j: i32) -> tensor<64xf32> {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %base, [%m, %n], [%s, %c1] {padding = 2 : i32} : !tt.ptr<f32>, !tt.tensordesc<1x64xf32>
  %v = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<tensor<1x64xf32>> -> tensor<64xf32>
  tt.return %v : tensor<64xf32>
}

// -----

// The program's own reshapes meet those of the block and vanish.
// CHECK-LABEL: @batched
//   CHECK-NOT:   tt.reshape
//       CHECK:   tt.load {{.*}} : tensor<64x32x!tt.ptr<f16>>
//   CHECK-NOT:   tt.reshape
//       CHECK:   tt.store {{.*}} : tensor<64x32x!tt.ptr<f16>>
tt.func @batched(%base: !tt.ptr<f16>, %b: i32, %m: i32, %n: i32, %sb: i64, %s: i64, %g: i32, %i: i32, %j: i32) {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %base, [%b, %m, %n], [%sb, %s, %c1] : !tt.ptr<f16>, !tt.tensordesc<tensor<1x64x32xf16>>
  %v = tt.descriptor_load %d[%g, %i, %j] : !tt.tensordesc<tensor<1x64x32xf16>> -> tensor<1x64x32xf16>
  %w = tt.reshape %v : tensor<1x64x32xf16> -> tensor<64x32xf16>
  %x = arith.addf %w, %w : tensor<64x32xf16>
  %y = tt.reshape %x : tensor<64x32xf16> -> tensor<1x64x32xf16>
  tt.descriptor_store %d[%g, %i, %j], %y : !tt.tensordesc<tensor<1x64x32xf16>>, tensor<1x64x32xf16>
  tt.return
}

// -----

// A block that the program makes rows of, and a block made of rows: the pointers are to rows.
// CHECK-LABEL: @rows_of_images
//   CHECK-NOT:   tt.reshape
//   CHECK-DAG:   %[[I:.*]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//   CHECK-DAG:   %[[H:.*]] = arith.divui %[[I]], %[[C16:.*]] : tensor<64xi32>
//   CHECK-DAG:   %[[W:.*]] = arith.remui %[[I]], %[[C16]] : tensor<64xi32>
//   CHECK-DAG:   arith.cmpi slt, %[[H]], %{{.*}} : tensor<64xi32>
//   CHECK-DAG:   arith.cmpi slt, %[[W]], %{{.*}} : tensor<64xi32>
//       CHECK:   tt.load {{.*}} : tensor<64x32x!tt.ptr<f16>>
//   CHECK-NOT:   tt.reshape
//       CHECK:   tt.store {{.*}} : tensor<64x32x!tt.ptr<f16>>
//   CHECK-NOT:   tt.reshape
//       CHECK:   tt.return
tt.func @rows_of_images(%base: !tt.ptr<f16>, %b: i32, %m: i32, %n: i32, %sb: i64, %s: i64, %sw: i64, %g: i32, %i: i32, %j: i32) {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %base, [%b, %m, %m, %n], [%sb, %s, %sw, %c1] : !tt.ptr<f16>, !tt.tensordesc<tensor<1x4x16x32xf16>>
  %v = tt.descriptor_load %d[%g, %i, %i, %j] : !tt.tensordesc<tensor<1x4x16x32xf16>> -> tensor<1x4x16x32xf16>
  %part = tt.reshape %v : tensor<1x4x16x32xf16> -> tensor<4x16x32xf16>
  %w = tt.reshape %part : tensor<4x16x32xf16> -> tensor<64x32xf16>
  %x = arith.addf %w, %w : tensor<64x32xf16>
  %y = tt.reshape %x : tensor<64x32xf16> -> tensor<1x4x16x32xf16>
  tt.descriptor_store %d[%g, %i, %i, %j], %y : !tt.tensordesc<tensor<1x4x16x32xf16>>, tensor<1x4x16x32xf16>
  tt.return
}

// -----

// Operations on single elements between the block and its rows are of rows, too.
// CHECK-LABEL: @elements_of_images
//   CHECK-NOT:   tt.reshape
//       CHECK:   %[[V:.*]] = tt.load {{.*}} : tensor<64x32x!tt.ptr<f16>>
//       CHECK:   %[[F:.*]] = arith.extf %[[V]] : tensor<64x32xf16> to tensor<64x32xf32>
//       CHECK:   arith.mulf %[[F]], %{{.*}} : tensor<64x32xf32>
//       CHECK:   %[[H:.*]] = arith.truncf %{{.*}} : tensor<64x32xf32> to tensor<64x32xf16>
//       CHECK:   tt.store %{{.*}}, %[[H]], {{.*}} : tensor<64x32x!tt.ptr<f16>>
//   CHECK-NOT:   tt.reshape
//       CHECK:   tt.return
tt.func @elements_of_images(%base: !tt.ptr<f16>, %m: i32, %n: i32, %s: i64, %sw: i64, %i: i32, %scale: f32) {
  %c1 = arith.constant 1 : i64
  %two = arith.constant dense<2.0> : tensor<4x16x32xf32>
  %d = tt.make_tensor_descriptor %base, [%m, %m, %n], [%s, %sw, %c1] : !tt.ptr<f16>, !tt.tensordesc<tensor<4x16x32xf16>>
  %v = tt.descriptor_load %d[%i, %i, %i] : !tt.tensordesc<tensor<4x16x32xf16>> -> tensor<4x16x32xf16>
  %f = arith.extf %v : tensor<4x16x32xf16> to tensor<4x16x32xf32>
  %scales = tt.splat %scale : f32 -> tensor<4x16x32xf32>
  %g = arith.mulf %f, %scales : tensor<4x16x32xf32>
  %w = tt.reshape %g : tensor<4x16x32xf32> -> tensor<64x32xf32>
  %x = arith.addf %w, %w : tensor<64x32xf32>
  %y = tt.reshape %x : tensor<64x32xf32> -> tensor<4x16x32xf32>
  %z = arith.mulf %y, %two : tensor<4x16x32xf32>
  %h = arith.truncf %z : tensor<4x16x32xf32> to tensor<4x16x32xf16>
  tt.descriptor_store %d[%i, %i, %i], %h : !tt.tensordesc<tensor<4x16x32xf16>>, tensor<4x16x32xf16>
  tt.return
}

// -----

// Images of a batch become rows each. Columns stay columns, and a block that is used as it is keeps its dimensions.
// CHECK-LABEL: @other_shapes
//       CHECK:   tt.load {{.*}} : tensor<2x64x32x!tt.ptr<f16>>
//       CHECK:   tt.load {{.*}} : tensor<2x4x16x32x!tt.ptr<f16>>
//       CHECK:   tt.load {{.*}} : tensor<2x4x16x32x!tt.ptr<f16>>
//       CHECK:   tt.return
tt.func @other_shapes(%base: !tt.ptr<f16>, %m: i32, %n: i32, %sb: i64, %s: i64, %sw: i64, %i: i32) -> (tensor<2x64x32xf16>, tensor<128x32xf16>, tensor<2x4x16x32xf16>, tensor<128x2x16xf16>) {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %base, [%m, %m, %m, %n], [%sb, %s, %sw, %c1] : !tt.ptr<f16>, !tt.tensordesc<tensor<2x4x16x32xf16>>
  %u = tt.descriptor_load %d[%i, %i, %i, %i] : !tt.tensordesc<tensor<2x4x16x32xf16>> -> tensor<2x4x16x32xf16>
  %ur = tt.reshape %u : tensor<2x4x16x32xf16> -> tensor<2x64x32xf16>
  %v = tt.descriptor_load %d[%m, %i, %i, %i] : !tt.tensordesc<tensor<2x4x16x32xf16>> -> tensor<2x4x16x32xf16>
  %vr = tt.reshape %v : tensor<2x4x16x32xf16> -> tensor<128x32xf16>
  %w = tt.descriptor_load %d[%n, %i, %i, %i] : !tt.tensordesc<tensor<2x4x16x32xf16>> -> tensor<2x4x16x32xf16>
  %wr = tt.reshape %w : tensor<2x4x16x32xf16> -> tensor<128x2x16xf16>
  tt.return %ur, %vr, %v, %wr : tensor<2x64x32xf16>, tensor<128x32xf16>, tensor<2x4x16x32xf16>, tensor<128x2x16xf16>
}

// -----

// Stores and reductions are masked; unsigned elements compare as such.
// CHECK-LABEL: @store
//       CHECK:   tt.store %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x!tt.ptr<f32>>
//       CHECK:   tt.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>
//       CHECK:   tt.atomic_rmw umax, relaxed, gpu
tt.func @store(%base: !tt.ptr<f32>, %ints: !tt.ptr<i32>, %m: i32, %i: i32, %v: tensor<64xf32>, %w: tensor<64xi32>) {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %base, [%m], [%c1] : !tt.ptr<f32>, !tt.tensordesc<tensor<64xf32>>
  tt.descriptor_store %d[%i], %v : !tt.tensordesc<tensor<64xf32>>, tensor<64xf32>
  tt.descriptor_reduce add, %d[%i], %v : !tt.tensordesc<tensor<64xf32>>, tensor<64xf32>
  %e = tt.make_tensor_descriptor %ints, [%m], [%c1] : !tt.ptr<i32>, !tt.tensordesc<tensor<64xui32>>
  tt.descriptor_reduce max, %e[%i], %w : !tt.tensordesc<tensor<64xui32>>, tensor<64xi32>
  tt.return
}

// -----

// Floats without the sign bit compare like signed integers, those with it against unsigned ones.
// CHECK-LABEL: @maximum
//   CHECK-DAG:   %[[BITS:.*]] = tt.bitcast %arg3 : tensor<64xf16> -> tensor<64xi16>
//   CHECK-DAG:   %[[P:.*]] = tt.bitcast %{{.*}} : tensor<64x!tt.ptr<f16>> -> tensor<64x!tt.ptr<i16>>
//       CHECK:   %[[PLUS:.*]] = arith.cmpi sge, %[[BITS]], %[[ZERO:.*]] : tensor<64xi16>
//       CHECK:   %[[M:.*]] = arith.andi %[[INSIDE:.*]], %[[PLUS]]
//       CHECK:   tt.atomic_rmw max, relaxed, gpu, %[[P]], %[[BITS]], %[[M]]
//       CHECK:   %[[MINUS:.*]] = arith.cmpi slt, %[[BITS]], %[[ZERO]]
//       CHECK:   %[[N:.*]] = arith.andi %[[INSIDE]], %[[MINUS]]
//       CHECK:   tt.atomic_rmw umin, relaxed, gpu, %[[P]], %[[BITS]], %[[N]]
tt.func @maximum(%base: !tt.ptr<f16>, %m: i32, %i: i32, %v: tensor<64xf16>) {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %base, [%m], [%c1] : !tt.ptr<f16>, !tt.tensordesc<tensor<64xf16>>
  tt.descriptor_reduce max, %d[%i], %v : !tt.tensordesc<tensor<64xf16>>, tensor<64xf16>
  tt.return
}

// -----

// A gather takes its rows from a tensor, a scatter too.
// CHECK-LABEL: @gather
//       CHECK:   %[[ROWS:.*]] = arith.extsi %{{.*}} : tensor<32xi32> to tensor<32xi64>
//       CHECK:   %[[V:.*]] = tt.load {{.*}} : tensor<32x64x!tt.ptr<f16>>
//       CHECK:   tt.store %{{.*}}, %[[V]], %{{.*}} : tensor<32x64x!tt.ptr<f16>>
tt.func @gather(%base: !tt.ptr<f16>, %m: i32, %n: i32, %s: i64, %x: tensor<32xi32>, %y: i32) {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %base, [%m, %n], [%s, %c1] : !tt.ptr<f16>, !tt.tensordesc<tensor<1x64xf16>>
  %v = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32>, i32) -> tensor<32x64xf16>
  tt.descriptor_scatter %d[%x, %y], %v : !tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32>, i32, tensor<32x64xf16>
  tt.return
}

// -----

// A kernel's descriptor becomes its parts and as many flags as the launcher passes; alignment is what it has checked.
// CHECK-LABEL: @kernel
//  CHECK-SAME:   (%{{.*}}: i32 {tt.divisibility = 16 : i32}, %{{.*}}: !tt.ptr<f32> {tt.divisibility = 16 : i32},
//  CHECK-SAME:   %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64 {tt.divisibility = 4 : i32}, %{{.*}}: i64, %[[NAN:.*]]: i1, %[[LAST:.*]]: i32)
//       CHECK:   arith.select %[[NAN]], %{{.*}}, %{{.*}} : f32
//   CHECK-NOT:   tt.bitcast
//  NONE-LABEL: @kernel
//   NONE-SAME:   %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64 {tt.divisibility = 4 : i32}, %{{.*}}: i64, %{{.*}}: i32)
//   TWO-LABEL: @kernel
//    TWO-SAME:   %{{.*}}: i64, %{{.*}}: i64, %[[NAN:[a-z0-9]+]]: i1, %[[ROUND:[a-z0-9]+]]: i1, %{{.*}}: i32)
//         TWO:   %[[V:.*]] = tt.load
//         TWO:   tt.bitcast %[[V]] : tensor<64x32xf32> -> tensor<64x32xi32>
//         TWO:   arith.cmpf uno, %[[V]], %[[V]]
//         TWO:   arith.select %[[ROUND]], %{{.*}}, %[[V]]
tt.func public @kernel(%i: i32 {tt.divisibility = 16 : i32}, %d: !tt.tensordesc<tensor<64x32xf32>>, %j: i32) -> tensor<64x32xf32> {
  %v = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<tensor<64x32xf32>> -> tensor<64x32xf32>
  tt.return %v : tensor<64x32xf32>
}

// -----

// Through loops and calls go the parts.
// CHECK-LABEL: tt.func private @callee
//   CHECK-NOT:   tensordesc
// CHECK-LABEL: @through
//   CHECK-NOT:   tensordesc
//       CHECK:   scf.for
//       CHECK:     tt.call @callee
//   CHECK-NOT:   tensordesc
//       CHECK:   tt.return
tt.func private @callee(%d: !tt.tensordesc<tensor<64xf32>>, %i: i32) -> tensor<64xf32> attributes {noinline = true} {
  %v = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<64xf32>> -> tensor<64xf32>
  tt.return %v : tensor<64xf32>
}
tt.func public @through(%a: !tt.tensordesc<tensor<64xf32>>, %b: !tt.tensordesc<tensor<64xf32>>, %n: i32, %p: tensor<64x!tt.ptr<f32>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b)
      -> (!tt.tensordesc<tensor<64xf32>>, !tt.tensordesc<tensor<64xf32>>) : i32 {
    %v = tt.call @callee(%x, %i) : (!tt.tensordesc<tensor<64xf32>>, i32) -> tensor<64xf32>
    tt.store %p, %v : tensor<64x!tt.ptr<f32>>
    scf.yield %y, %x : !tt.tensordesc<tensor<64xf32>>, !tt.tensordesc<tensor<64xf32>>
  }
  tt.return
}

// -----

tt.func @increment(%base: !tt.ptr<i32>, %m: i32, %i: i32, %w: tensor<64xi32>) {
  %c1 = arith.constant 1 : i64
  %e = tt.make_tensor_descriptor %base, [%m], [%c1] : !tt.ptr<i32>, !tt.tensordesc<tensor<64xi32>>
  // expected-error @below {{has no atomic for inc of}}
  tt.descriptor_reduce inc, %e[%i], %w : !tt.tensordesc<tensor<64xi32>>, tensor<64xi32>
  tt.return
}
