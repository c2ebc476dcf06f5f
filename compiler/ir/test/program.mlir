// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s | FileCheck %s
// RUN: triton-opt %s | triton-opt | FileCheck %s

// CHECK-LABEL: @grid
//  CHECK-NEXT:   tt.get_program_id x : i32
//  CHECK-NEXT:   tt.get_program_id z {tt.divisibility = dense<4> : tensor<1xi32>} : i32
//  CHECK-NEXT:   tt.get_num_programs y : i32
//  CHECK-NEXT:   tt.get_num_programs z : i32
//  CHECK-NEXT:   tt.grid_dependency_wait
//  CHECK-NEXT:   tt.grid_dependency_launch_dependents
tt.func @grid() {
  %0 = tt.get_program_id x : i32
  %1 = tt.get_program_id z {tt.divisibility = dense<4> : tensor<1xi32>} : i32
  %2 = tt.get_num_programs y : i32
  %3 = tt.get_num_programs {axis = 2 : i32} : i32
  tt.grid_dependency_wait
  tt.grid_dependency_launch_dependents
  tt.return
}

// CHECK-LABEL: @dots
//       CHECK:   tt.dot %arg0, %arg1, %arg2 : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
//  CHECK-NEXT:   tt.dot %arg0, %arg1, %arg2, inputPrecision = tf32 {maxNumImpreciseAcc = 128 : i32} : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
//  CHECK-NEXT:   tt.dot %arg0, %arg1, %arg2, inputPrecision = bf16x6 : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
//  CHECK-NEXT:   tt.dot %arg3, %arg4, %arg5 : tensor<4x16x32xi8> * tensor<4x32x16xi8> -> tensor<4x16x16xi32>
tt.func @dots(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>, %x: tensor<4x16x32xi8>, %y: tensor<4x32x16xi8>, %z: tensor<4x16x16xi32>) {
  %0 = tt.dot %a, %b, %c {maxNumImpreciseAcc = 0 : i32} : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %1 = tt.dot %a, %b, %c, inputPrecision = tf32 {maxNumImpreciseAcc = 128 : i32} : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %2 = tt.dot %a, %b, %c, inputPrecision = bf16x6 : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %3 = tt.dot %x, %y, %z : tensor<4x16x32xi8> * tensor<4x32x16xi8> -> tensor<4x16x16xi32>
  tt.return
}

// The forms of 3.3 and later, then of 3.2.
// CHECK-LABEL: @scaled
//       CHECK:   tt.dot_scaled %arg0 scale %arg2, %arg1 scale %arg3, %arg4 lhs = e4m3 rhs = e5m2 {fastMath = true} : tensor<16x32xi8>, tensor<16x1xi8> * tensor<32x16xi8>, tensor<16x1xi8> -> tensor<16x16xf32>
//  CHECK-NEXT:   tt.dot_scaled %arg0 scale %arg2, %arg1, %arg4 lhs = e4m3 rhs = e5m2 {{.*}}: tensor<16x32xi8>, tensor<16x1xi8> * tensor<32x16xi8> -> tensor<16x16xf32>
//  CHECK-NEXT:   tt.dot_scaled %arg0, %arg1, %arg4 lhs = e4m3 rhs = e5m2 {{.*}}: tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xf32>
//  CHECK-NEXT:   tt.dot_scaled %arg0 scale %arg2, %arg1, %arg4 lhs = e4m3 rhs = e5m2 {{.*}}: tensor<16x32xi8>, tensor<16x1xi8> * tensor<32x16xi8> -> tensor<16x16xf32>
//  CHECK-NEXT:   tt.dot_scaled %arg0 scale %arg2, %arg1 scale %arg3, %arg4 lhs = e4m3 rhs = e5m2 {{.*}}: tensor<16x32xi8>, tensor<16x1xi8> * tensor<32x16xi8>, tensor<16x1xi8> -> tensor<16x16xf32>
//  CHECK-NEXT:   tt.dot_scaled %arg5 scale %arg2, %arg1, %arg4 lhs = e2m1 rhs = e5m2 {{.*}}: tensor<16x16xi8>, tensor<16x1xi8> * tensor<32x16xi8> -> tensor<16x16xf32>
tt.func @scaled(%a: tensor<16x32xi8>, %b: tensor<32x16xi8>, %s: tensor<16x1xi8>, %t: tensor<16x1xi8>, %c: tensor<16x16xf32>, %p: tensor<16x16xi8>) {
  %0 = tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e4m3 rhs = e5m2 {fastMath = true} : tensor<16x32xi8>, tensor<16x1xi8> * tensor<32x16xi8>, tensor<16x1xi8> -> tensor<16x16xf32>
  %1 = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = e5m2 {fastMath = false} : tensor<16x32xi8>, tensor<16x1xi8> * tensor<32x16xi8> -> tensor<16x16xf32>
  %2 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e5m2 {fastMath = false, lhs_k_pack = true, rhs_k_pack = true} : tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xf32>
  %3 = tt.dot_scaled %a, %s, %b, %c lhs = e4m3 rhs = e5m2 : tensor<16x32xi8>, tensor<16x1xi8> * tensor<32x16xi8> -> tensor<16x16xf32>
  %4 = tt.dot_scaled %a, %s, %b, %t, %c lhs = e4m3 rhs = e5m2 : tensor<16x32xi8>, tensor<16x1xi8> * tensor<32x16xi8>, tensor<16x1xi8> -> tensor<16x16xf32>
  %5 = tt.dot_scaled %p scale %s, %b, %c lhs = e2m1 rhs = e5m2 {fastMath = false} : tensor<16x16xi8>, tensor<16x1xi8> * tensor<32x16xi8> -> tensor<16x16xf32>
  tt.return
}

// Regions; the axis may stand in the properties or in the older attribute dictionary.
// CHECK-LABEL: @regions
//  CHECK-NEXT:   "tt.reduce"(%arg0) <{axis = 1 : i32}> ({
//  CHECK-NEXT:   ^bb0(%arg2: f32, %arg3: f32):
//       CHECK:     tt.reduce.return %{{.*}} : f32
//       CHECK:   }) : (tensor<16x16xf32>) -> tensor<16xf32>
//       CHECK:   "tt.reduce"(%arg0, %arg1) <{axis = 0 : i32}> ({
//       CHECK:   "tt.scan"(%arg0) <{axis = 0 : i32, reverse = true}> ({
//       CHECK:     tt.scan.return %{{.*}} : f32
tt.func @regions(%x: tensor<16x16xf32>, %i: tensor<16x16xi32>) {
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<16x16xf32>) -> tensor<16xf32>
  %1:2 = "tt.reduce"(%x, %i) ({
  ^bb0(%a: f32, %k: i32, %b: f32, %l: i32):
    tt.reduce.return %a, %k : f32, i32
  }) {axis = 0 : i32} : (tensor<16x16xf32>, tensor<16x16xi32>) -> (tensor<16xf32>, tensor<16xi32>)
  %2 = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  tt.return
}

// CHECK-LABEL: @debug
//  CHECK-NEXT:   tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %arg0 : tensor<8xi32>
//  CHECK-NEXT:   tt.print "hi" {hex = true{{.*}}}
//  CHECK-NEXT:   tt.print " x: " {hex = false{{.*}}} : %arg0, %arg1 : tensor<8xi32>, i1
//  CHECK-NEXT:   tt.assert %arg1, "message" : i1
//  CHECK-NEXT:   tt.assert %arg2, "m" : tensor<8xi1>
//  CHECK-NEXT:   tt.assert %arg2, "older" : tensor<8xi1>
//  CHECK-NEXT:   ttg.barrier all
//  CHECK-NEXT:   ttg.barrier local|global_read
//  CHECK-NEXT:   ttg.barrier all
//  CHECK-NEXT:   llvm.intr.assume %arg1 : i1
//  CHECK-NEXT:   ub.poison : i32
//  CHECK-NEXT:   ub.poison : tensor<8xf32>
tt.func @debug(%x: tensor<8xi32>, %c: i1, %m: tensor<8xi1>) {
  tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : tensor<8xi32>
  tt.print "hi" {hex = true, isSigned = array<i32>}
  tt.print " x: " {hex = false} : %x, %c : tensor<8xi32>, i1
  tt.assert %c, "message" : i1
  tt.assert %m, "m" : tensor<8xi1>
  tt.assert %m, "older", "file.py", "function", 12 : tensor<8xi1>
  ttg.barrier all
  ttg.barrier local|global_read
  gpu.barrier
  llvm.intr.assume %c : i1
  %0 = llvm.mlir.undef : i32
  %1 = ub.poison : tensor<8xf32>
  tt.return
}

// Symbols hold any characters.
// CHECK-LABEL: tt.func private @"triton.language.standard.sum__fp32S32S__(1,)cconstexpr_0_"
//       CHECK:   tt.call @"triton.language.standard.sum__fp32S32S__(1,)cconstexpr_0_"(%arg0) : (i32) -> tensor<8xi32>
tt.func private @"triton.language.standard.sum__fp32S32S__(1,)cconstexpr_0_"(%x: i32) -> tensor<8xi32> attributes {noinline = false} {
  %0 = tt.splat %x : i32 -> tensor<8xi32>
  tt.return %0 : tensor<8xi32>
}
tt.func public @calls(%x: i32 {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) -> (tensor<8xi32> {tt.hint = 1 : i32}) {
  %0 = tt.call @"triton.language.standard.sum__fp32S32S__(1,)cconstexpr_0_"(%x) : (i32) -> tensor<8xi32>
  tt.return %0 : tensor<8xi32>
}
tt.func private @declaration(!tt.ptr<f32>, i32) -> f32

// What newer MLIR prints and this one does not read.
// CHECK-LABEL: @newer
//  CHECK-NEXT:   arith.extui %arg0 : i32 to i64
//  CHECK-NEXT:   arith.ori %arg0, %arg0 : i32
//  CHECK-NEXT:   arith.divui %arg0, %arg0 : i32
//  CHECK-NEXT:   arith.trunci %{{.*}} : i64 to i32
//  CHECK-NEXT:   arith.addi %arg0, %arg0 overflow<nsw> : i32
tt.func @newer(%x: i32) {
  %0 = arith.extui %x nneg : i32 to i64
  %1 = arith.ori %x, %x disjoint : i32
  %2 = arith.divui %x, %x exact : i32
  %3 = arith.trunci %0 overflow<nsw> : i64 to i32
  %4 = arith.addi %x, %x overflow<nsw> : i32 loc("a.py":1:2 to :3)
  tt.return
}

// An unsigned loop counts from shifted bound to shifted bound.
// CHECK-LABEL: @unsigned_loop
//       CHECK:   %[[MIN:.*]] = arith.constant -2147483648 : i32
//       CHECK:   %[[L:.*]] = arith.addi %arg0, %[[MIN]] : i32
//       CHECK:   %[[U:.*]] = arith.addi %arg1, %[[MIN]] : i32
//       CHECK:   scf.for %[[I:.*]] = %[[L]] to %[[U]] step %arg2 iter_args(%[[A:.*]] = %arg0) -> (i32) : i32 {
//       CHECK:     %[[COUNTER:.*]] = arith.addi %[[I]], %[[MIN]] : i32
//       CHECK:     arith.addi %[[A]], %[[COUNTER]] : i32
tt.func @unsigned_loop(%l: i32, %u: i32, %s: i32) -> i32 {
  %r = scf.for unsigned %i = %l to %u step %s iter_args(%a = %l) -> (i32)  : i32 {
    %b = arith.addi %a, %i : i32
    scf.yield %b : i32
  }
  tt.return %r : i32
}
