// RUN: triton-opt %s --split-input-file --verify-diagnostics "--convert-tt-to-ttg=target=cuda:80 num-warps=4" | FileCheck %s

// Every tensor gets the default encoding of its shape, the module its launch shape.
// CHECK-DAG: #[[B1:.+]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[B2:.+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: "ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32
// CHECK-SAME: ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32
// CHECK: tt.func @elementwise(%{{.*}}: !tt.ptr<f32>, %{{.*}}: tensor<64x16xf32, #[[B2]]>) -> tensor<64x16xf32, #[[B2]]>
tt.func @elementwise(%p: !tt.ptr<f32>, %x: tensor<64x16xf32>) -> tensor<64x16xf32> {
  // CHECK: arith.constant dense<1.000000e+00> : tensor<64x16xf32, #[[B2]]>
  %one = arith.constant dense<1.0> : tensor<64x16xf32>
  // CHECK: tt.make_range {{.*}} : tensor<128xi32, #[[B1]]>
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %q = tt.addptr %s, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  // CHECK: tt.load %{{.*}} : tensor<128x!tt.ptr<f32>, #[[B1]]>
  %v = tt.load %q : tensor<128x!tt.ptr<f32>>
  tt.store %q, %v : tensor<128x!tt.ptr<f32>>
  // CHECK-NOT: convert_layout
  // CHECK: tt.return
  %y = arith.addf %x, %one : tensor<64x16xf32>
  tt.return %y : tensor<64x16xf32>
}

// -----

// A constant that is no splat keeps its elements.
// CHECK: #[[B:.+]] = #ttg.blocked
// CHECK: arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32, #[[B]]>
tt.func @list() -> tensor<4xi32> {
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  tt.return %c : tensor<4xi32>
}

// -----

// expand_dims takes a slice of its result's encoding, broadcast its result's.
// CHECK: %[[S:.+]] = ttg.convert_layout %{{.*}} : tensor<64xi32, #[[B1:.+]]> -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #[[B2:.+]]}>>
// CHECK: %[[E:.+]] = tt.expand_dims %[[S]] {{.*}} -> tensor<64x1xi32, #[[B2]]>
// CHECK: %[[C:.+]] = ttg.convert_layout %[[E]] : {{.*}} -> tensor<64x1xi32, #[[B3:.+]]>
// CHECK: tt.broadcast %[[C]] : tensor<64x1xi32, #[[B3]]> -> tensor<64x32xi32, #[[B3]]>
tt.func @shapes(%x: tensor<64xi32>) -> tensor<64x32xi32> {
  %e = tt.expand_dims %x {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %b = tt.broadcast %e : tensor<64x1xi32> -> tensor<64x32xi32>
  tt.return %b : tensor<64x32xi32>
}

// -----

// Results whose encoding follows from the operand's are converted to the default.
// CHECK-LABEL: @results
tt.func @results(%x: tensor<64x32xf32>) -> (tensor<64xf32>, tensor<32x64xf32>, tensor<2048xf32>) {
  // CHECK: (tensor<64x32xf32, #[[B:.+]]>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #[[B]]}>>
  // CHECK-NEXT: ttg.convert_layout
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<64x32xf32>) -> tensor<64xf32>
  // CHECK: tt.trans
  // CHECK-NEXT: ttg.convert_layout
  %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x32xf32> -> tensor<32x64xf32>
  // CHECK: tt.reshape {{.*}} -> tensor<2048xf32, #[[L:.+]]>
  // CHECK-NEXT: ttg.convert_layout %{{.*}} : tensor<2048xf32, #[[L]]>
  %f = tt.reshape %x : tensor<64x32xf32> -> tensor<2048xf32>
  tt.return %r, %t, %f : tensor<64xf32>, tensor<32x64xf32>, tensor<2048xf32>
}

// -----

// A reduction to a scalar needs nothing.
// CHECK-LABEL: @scalar
// CHECK-NOT: convert_layout
tt.func @scalar(%x: tensor<64xf32>) -> f32 {
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<64xf32>) -> f32
  tt.return %r : f32
}

// -----

// Both floats of a byte lie in its thread.
// CHECK-LABEL: @halves
tt.func @halves(%x: tensor<128x8xi8>) -> tensor<256x8xf16> {
  // CHECK: ttg.fp4_to_fp {{.*}} : tensor<128x8xi8, #[[B:.+]]> -> tensor<256x8xf16, #[[L:.+]]>
  // CHECK-NEXT: ttg.convert_layout %{{.*}} : tensor<256x8xf16, #[[L]]>
  %y = ttg.fp4_to_fp %x {axis = 0 : i32} : tensor<128x8xi8> -> tensor<256x8xf16>
  tt.return %y : tensor<256x8xf16>
}

// -----

// split takes an operand whose pairs lie in one thread, join yields such a result, cat appends registers.
// CHECK-LABEL: @pairs
tt.func @pairs(%x: tensor<128x2xf32>) -> (tensor<128x2xf32>, tensor<256xf32>) {
  // CHECK: %[[C:.+]] = ttg.convert_layout %{{.*}} : tensor<128x2xf32, {{.*}}> -> tensor<128x2xf32, #[[L:.+]]>
  // CHECK: tt.split %[[C]] : tensor<128x2xf32, #[[L]]> -> tensor<128xf32, #[[B:.+]]>
  %a, %b = tt.split %x : tensor<128x2xf32> -> tensor<128xf32>
  // CHECK: tt.join {{.*}} -> tensor<128x2xf32, #[[L]]>
  // CHECK-NEXT: ttg.convert_layout
  %j = tt.join %b, %a : tensor<128xf32> -> tensor<128x2xf32>
  // CHECK: tt.cat {{.*}} : tensor<128xf32, #[[B]]> -> tensor<256xf32, #[[K:.+]]>
  // CHECK-NEXT: ttg.convert_layout %{{.*}} : tensor<256xf32, #[[K]]>
  %c = tt.cat %a, %b : tensor<128xf32> -> tensor<256xf32>
  tt.return %j, %c : tensor<128x2xf32>, tensor<256xf32>
}

// -----

// Dot operands get operand encodings of the result's.
// CHECK: ttg.convert_layout {{.*}} -> tensor<32x16xf16, #ttg.dot_op<{opIdx = 0, parent = #[[B:.+]]}>>
// CHECK: ttg.convert_layout {{.*}} -> tensor<16x32xf16, #ttg.dot_op<{opIdx = 1, parent = #[[B]]}>>
// CHECK: tt.dot {{.*}} -> tensor<32x32xf32, #[[B]]>
tt.func @dot(%a: tensor<32x16xf16>, %b: tensor<16x32xf16>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = tt.dot %a, %b, %c : tensor<32x16xf16> * tensor<16x32xf16> -> tensor<32x32xf32>
  tt.return %d : tensor<32x32xf32>
}

// -----

// Loops, branches, block arguments and calls carry the new types.
// CHECK-LABEL: @callee
// CHECK-SAME: tensor<64xf32, #[[B:.+]]>) -> tensor<64xf32, #[[B]]>
tt.func private @callee(%x: tensor<64xf32>) -> tensor<64xf32> {
  cf.br ^end(%x : tensor<64xf32>)
// CHECK: ^bb1(%{{.*}}: tensor<64xf32, #[[B]]>)
^end(%y: tensor<64xf32>):
  tt.return %y : tensor<64xf32>
}
// CHECK-LABEL: @control
tt.func @control(%x: tensor<64xf32>, %n: i32, %p: i1) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: scf.for {{.*}} -> (tensor<64xf32, #[[B]]>)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<64xf32>) : i32 {
    // CHECK: tt.call @callee(%{{.*}}) : (tensor<64xf32, #[[B]]>) -> tensor<64xf32, #[[B]]>
    %w = tt.call @callee(%v) : (tensor<64xf32>) -> tensor<64xf32>
    scf.yield %w : tensor<64xf32>
  }
  // CHECK: scf.if {{.*}} -> (tensor<64xf32, #[[B]]>)
  %s = scf.if %p -> (tensor<64xf32>) {
    scf.yield %r : tensor<64xf32>
  } else {
    scf.yield %x : tensor<64xf32>
  }
  tt.return %s : tensor<64xf32>
}

// -----

// Block pointers have to be gone.
tt.func @block_pointer(%p: !tt.ptr<f32>, %n: i64) {
  %c0 = arith.constant 0 : i32
  // expected-error @+1 {{block pointers have no encoding}}
  %b = tt.make_tensor_ptr %p, [%n], [%n], [%c0] {order = array<i32: 0>} : !tt.ptr<tensor<64xf32>>
  %v = tt.load %b : !tt.ptr<tensor<64xf32>>
  tt.return
}
