// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --tt-rewrite-tensor-pointer --canonicalize --cse | FileCheck %s

// A load becomes a load through a tensor of pointers; checked dimensions get a mask, padding a value.
// CHECK-LABEL: @load
//  CHECK-SAME:   %[[BASE:[a-z0-9]+]]: !tt.ptr<f16>, %[[M:[a-z0-9]+]]: i64, %[[N:[a-z0-9]+]]: i64, %[[S:[a-z0-9]+]]: i64, %[[I:[a-z0-9]+]]: i32
//   CHECK-DAG:   %[[NAN:.*]] = arith.constant dense<0x7E00> : tensor<64x32xf16>
//   CHECK-DAG:   %[[ROW:.*]] = arith.extsi %[[I]] : i32 to i64
//       CHECK:   %[[AT:.*]] = arith.muli %[[ROW]], %[[S]] : i64
//       CHECK:   %[[START:.*]] = tt.addptr %[[BASE]], %[[AT]] : !tt.ptr<f16>, i64
//       CHECK:   %[[ROWS:.*]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
//       CHECK:   %[[WIDE:.*]] = arith.extsi %[[ROWS]]
//       CHECK:   %[[STRIDE:.*]] = tt.splat %[[S]] : i64 -> tensor<64xi64>
//       CHECK:   arith.muli %[[WIDE]], %[[STRIDE]] : tensor<64xi64>
//       CHECK:   %[[STARTS:.*]] = tt.splat %[[START]]
//       CHECK:   %[[P:.*]] = tt.addptr %[[STARTS]], %{{.*}} : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi64>
//       CHECK:   %[[LIMIT:.*]] = arith.minsi %[[M]], %{{.*}} : i64
//       CHECK:   arith.subi %[[LIMIT]], %[[ROW]]
//   CHECK-NOT:   arith.minsi %[[N]]
//       CHECK:   arith.cmpi sge, %[[ROWS]], %{{.*}} : tensor<64xi32>
//       CHECK:   arith.cmpi slt, %[[ROWS]], %{{.*}} : tensor<64xi32>
//       CHECK:   tt.load %[[P]], %{{.*}}, %[[NAN]] evictionPolicy = evict_last {isVolatile = true} : tensor<64x32x!tt.ptr<f16>>
tt.func @load(%base: !tt.ptr<f16>, %m: i64, %n: i64, %s: i64, %i: i32) -> tensor<64x32xf16> {
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %p = tt.make_tensor_ptr %base, [%m, %n], [%s, %c1], [%i, %c0] {order = array<i32: 1, 0>} : <tensor<64x32xf16>>
  %v = tt.load %p evictionPolicy = evict_last {boundaryCheck = array<i32: 0>, padding = 2 : i32, isVolatile = true} :
      !tt.ptr<tensor<64x32xf16>>
  tt.return %v : tensor<64x32xf16>
}

// -----

// Without a check there is no mask, without padding no value.
// CHECK-LABEL: @unchecked
//       CHECK:   tt.load %{{[a-z0-9]+}} : tensor<64x!tt.ptr<f16>>
//       CHECK:   tt.load %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<64x!tt.ptr<f16>>
tt.func @unchecked(%base: !tt.ptr<f16>, %m: i64, %s: i64, %i: i32) -> (tensor<64xf16>, tensor<64xf16>) {
  %p = tt.make_tensor_ptr %base, [%m], [%s], [%i] {order = array<i32: 0>} : <tensor<64xf16>>
  %v = tt.load %p : !tt.ptr<tensor<64xf16>>
  %w = tt.load %p {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<64xf16>>
  tt.return %v, %w : tensor<64xf16>, tensor<64xf16>
}

// -----

// A store is masked along every checked dimension.
// CHECK-LABEL: @store
//       CHECK:   %[[MASK:.*]] = arith.andi %{{.*}}, %{{.*}} : tensor<64x32xi1>
//       CHECK:   tt.store %{{.*}}, %{{.*}}, %[[MASK]] cacheModifier = wb : tensor<64x32x!tt.ptr<f16>>
tt.func @store(%base: !tt.ptr<f16>, %m: i64, %n: i64, %s: i64, %i: i32, %v: tensor<64x32xf16>) {
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %p = tt.make_tensor_ptr %base, [%m, %n], [%s, %c1], [%i, %c0] {order = array<i32: 1, 0>} : <tensor<64x32xf16>>
  tt.store %p, %v cacheModifier = wb {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<64x32xf16>>
  tt.return
}

// -----

// Through a loop only the offset that moves is carried.
// CHECK-LABEL: @loop
//       CHECK:   scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[OFF:.*]] = %{{.*}}) -> (tensor<64xf32>, i64)
//       CHECK:     arith.muli %[[OFF]], %{{.*}} : i64
//       CHECK:     %[[NEXT:.*]] = arith.addi %[[OFF]], %{{.*}} : i64
//       CHECK:     scf.yield %{{.*}}, %[[NEXT]]
//       CHECK:   } {tt.num_stages = 3 : i32}
tt.func @loop(%base: !tt.ptr<f32>, %m: i64, %s: i64, %n: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %p = tt.make_tensor_ptr %base, [%m], [%s], [%c0] {order = array<i32: 0>} : <tensor<64xf32>>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %q = %p) -> (tensor<64xf32>, !tt.ptr<tensor<64xf32>>) : i32 {
    %v = tt.load %q : !tt.ptr<tensor<64xf32>>
    %sum = arith.addf %acc, %v : tensor<64xf32>
    %next = tt.advance %q, [%c64] : <tensor<64xf32>>
    scf.yield %sum, %next : tensor<64xf32>, !tt.ptr<tensor<64xf32>>
  } {tt.num_stages = 3 : i32}
  tt.return %r#0 : tensor<64xf32>
}

// -----

// Branches, while loops and selects choose between the parts.
// CHECK-LABEL: @branches
//   CHECK-NOT:   !tt.ptr<tensor
//       CHECK:   arith.select %{{.*}}, %{{.*}}, %{{.*}} : !tt.ptr<f32>
//   CHECK-NOT:   !tt.ptr<tensor
//       CHECK:   scf.while
//   CHECK-NOT:   !tt.ptr<tensor
//       CHECK:   tt.return
tt.func @branches(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %m: i64, %s: i64, %c: i1, %d: tensor<1xi1>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %p = tt.make_tensor_ptr %a, [%m], [%s], [%c0] {order = array<i32: 0>} : <tensor<64xf32>>
  %q = tt.make_tensor_ptr %b, [%m], [%s], [%c64] {order = array<i32: 0>} : <tensor<64xf32>>
  %x = scf.if %c -> !tt.ptr<tensor<64xf32>> {
    %x1 = tt.advance %p, [%c64] : <tensor<64xf32>>
    scf.yield %x1 : !tt.ptr<tensor<64xf32>>
  } else {
    scf.yield %q : !tt.ptr<tensor<64xf32>>
  }
  %y = arith.select %c, %x, %q : !tt.ptr<tensor<64xf32>>
  %z = scf.while (%w = %y) : (!tt.ptr<tensor<64xf32>>) -> !tt.ptr<tensor<64xf32>> {
    %v = tt.load %w : !tt.ptr<tensor<64xf32>>
    %i = tt.unsplat %d : tensor<1xi1>
    scf.condition(%i) %w : !tt.ptr<tensor<64xf32>>
  } do {
  ^bb0(%w: !tt.ptr<tensor<64xf32>>):
    %n = tt.advance %w, [%c64] : <tensor<64xf32>>
    scf.yield %n : !tt.ptr<tensor<64xf32>>
  }
  %r = tt.load %z : !tt.ptr<tensor<64xf32>>
  tt.return %r : tensor<64xf32>
}

// -----

// A function that is not inlined takes the parts; other arguments keep their attributes.
// CHECK-LABEL: tt.func private @callee
//  CHECK-SAME:   (%{{.*}}: i32 {tt.divisibility = 16 : i32}, %{{.*}}: !tt.ptr<f32>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64) -> (!tt.ptr<f32>, i64, i64, i64)
//       CHECK:   tt.return %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !tt.ptr<f32>, i64, i64, i64
// CHECK-LABEL: @caller
//       CHECK:   tt.call @callee({{.*}}) : (i32, !tt.ptr<f32>, i64, i64, i64) -> (!tt.ptr<f32>, i64, i64, i64)
tt.func private @callee(%n: i32 {tt.divisibility = 16 : i32}, %p: !tt.ptr<tensor<64xf32>>) -> !tt.ptr<tensor<64xf32>>
    attributes {noinline = true} {
  %q = tt.advance %p, [%n] : <tensor<64xf32>>
  tt.return %q : !tt.ptr<tensor<64xf32>>
}
tt.func public @caller(%a: !tt.ptr<f32>, %m: i64, %s: i64, %n: i32) -> tensor<64xf32> {
  %p = tt.make_tensor_ptr %a, [%m], [%s], [%n] {order = array<i32: 0>} : <tensor<64xf32>>
  %q = tt.call @callee(%n, %p) : (i32, !tt.ptr<tensor<64xf32>>) -> !tt.ptr<tensor<64xf32>>
  %r = tt.load %q : !tt.ptr<tensor<64xf32>>
  tt.return %r : tensor<64xf32>
}

// -----

// Padding of integers is zero, whatever it says.
// CHECK-LABEL: @integers
//       CHECK:   arith.constant dense<0> : tensor<64xi8>
tt.func @integers(%base: !tt.ptr<i8>, %m: i64, %s: i64, %i: i32) -> tensor<64xi8> {
  %p = tt.make_tensor_ptr %base, [%m], [%s], [%i] {order = array<i32: 0>} : <tensor<64xi8>>
  %w = tt.load %p {boundaryCheck = array<i32: 0>, padding = 2 : i32} : !tt.ptr<tensor<64xi8>>
  tt.return %w : tensor<64xi8>
}

// -----

// Ordinary pointers stay as they are.
// CHECK-LABEL: @ordinary
//       CHECK:   tt.load %{{.*}}, %{{.*}} : tensor<64x!tt.ptr<i8>>
tt.func @ordinary(%p: tensor<64x!tt.ptr<i8>>, %m: tensor<64xi1>) -> tensor<64xi8> {
  %v = tt.load %p, %m : tensor<64x!tt.ptr<i8>>
  tt.return %v : tensor<64xi8>
}

// -----

// expected-error @below {{a kernel takes no block pointers}}
tt.func public @kernel(%p: !tt.ptr<tensor<64xi8>>) {
  tt.return
}

// -----

tt.func private @blocks(%c: i1, %p: !tt.ptr<tensor<64xi8>>) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  // expected-error @below {{'cf.br' op does not take a block pointer}}
  cf.br ^bb3(%p : !tt.ptr<tensor<64xi8>>)
^bb2:
  cf.br ^bb3(%p : !tt.ptr<tensor<64xi8>>)
^bb3(%q: !tt.ptr<tensor<64xi8>>):
  %v = tt.load %q : !tt.ptr<tensor<64xi8>>
  tt.return
}
