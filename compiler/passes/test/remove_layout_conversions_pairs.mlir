// RUN: triton-opt %s --convert-tt-to-ttg="target=cuda:90 num-warps=4" --ttg-coalesce --ttg-remove-layout-conversions | FileCheck %s

// A thread has eight elements. It makes two stages of the butterfly with those that it has loaded, and three after each
// exchange: these bring the bits that are split next.
// CHECK-LABEL: @butterfly
// CHECK: tt.load
// CHECK-NOT: ttg.convert_layout
// CHECK-COUNT-2: tt.split
// CHECK: ttg.convert_layout
// CHECK-NOT: ttg.convert_layout
// CHECK-COUNT-3: tt.split
// CHECK: ttg.convert_layout
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.split
// CHECK: ttg.convert_layout
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.store
tt.func @butterfly(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %s = tt.splat %p : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
  %q = tt.addptr %s, %i : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
  %x0 = tt.load %q : tensor<1024x!tt.ptr<i32>>
  %y0 = tt.reshape %x0 : tensor<1024xi32> -> tensor<512x2xi32>
  %a0, %b0 = tt.split %y0 : tensor<512x2xi32> -> tensor<512xi32>
  %c0 = arith.addi %a0, %b0 : tensor<512xi32>
  %d0 = arith.subi %a0, %b0 : tensor<512xi32>
  %j0 = tt.join %c0, %d0 : tensor<512xi32> -> tensor<512x2xi32>
  %t0 = tt.trans %j0 {order = array<i32: 1, 0>} : tensor<512x2xi32> -> tensor<2x512xi32>
  %x1 = tt.reshape %t0 : tensor<2x512xi32> -> tensor<1024xi32>
  %y1 = tt.reshape %x1 : tensor<1024xi32> -> tensor<512x2xi32>
  %a1, %b1 = tt.split %y1 : tensor<512x2xi32> -> tensor<512xi32>
  %c1 = arith.addi %a1, %b1 : tensor<512xi32>
  %d1 = arith.subi %a1, %b1 : tensor<512xi32>
  %j1 = tt.join %c1, %d1 : tensor<512xi32> -> tensor<512x2xi32>
  %t1 = tt.trans %j1 {order = array<i32: 1, 0>} : tensor<512x2xi32> -> tensor<2x512xi32>
  %x2 = tt.reshape %t1 : tensor<2x512xi32> -> tensor<1024xi32>
  %y2 = tt.reshape %x2 : tensor<1024xi32> -> tensor<512x2xi32>
  %a2, %b2 = tt.split %y2 : tensor<512x2xi32> -> tensor<512xi32>
  %c2 = arith.addi %a2, %b2 : tensor<512xi32>
  %d2 = arith.subi %a2, %b2 : tensor<512xi32>
  %j2 = tt.join %c2, %d2 : tensor<512xi32> -> tensor<512x2xi32>
  %t2 = tt.trans %j2 {order = array<i32: 1, 0>} : tensor<512x2xi32> -> tensor<2x512xi32>
  %x3 = tt.reshape %t2 : tensor<2x512xi32> -> tensor<1024xi32>
  %y3 = tt.reshape %x3 : tensor<1024xi32> -> tensor<512x2xi32>
  %a3, %b3 = tt.split %y3 : tensor<512x2xi32> -> tensor<512xi32>
  %c3 = arith.addi %a3, %b3 : tensor<512xi32>
  %d3 = arith.subi %a3, %b3 : tensor<512xi32>
  %j3 = tt.join %c3, %d3 : tensor<512xi32> -> tensor<512x2xi32>
  %t3 = tt.trans %j3 {order = array<i32: 1, 0>} : tensor<512x2xi32> -> tensor<2x512xi32>
  %x4 = tt.reshape %t3 : tensor<2x512xi32> -> tensor<1024xi32>
  %y4 = tt.reshape %x4 : tensor<1024xi32> -> tensor<512x2xi32>
  %a4, %b4 = tt.split %y4 : tensor<512x2xi32> -> tensor<512xi32>
  %c4 = arith.addi %a4, %b4 : tensor<512xi32>
  %d4 = arith.subi %a4, %b4 : tensor<512xi32>
  %j4 = tt.join %c4, %d4 : tensor<512xi32> -> tensor<512x2xi32>
  %t4 = tt.trans %j4 {order = array<i32: 1, 0>} : tensor<512x2xi32> -> tensor<2x512xi32>
  %x5 = tt.reshape %t4 : tensor<2x512xi32> -> tensor<1024xi32>
  %y5 = tt.reshape %x5 : tensor<1024xi32> -> tensor<512x2xi32>
  %a5, %b5 = tt.split %y5 : tensor<512x2xi32> -> tensor<512xi32>
  %c5 = arith.addi %a5, %b5 : tensor<512xi32>
  %d5 = arith.subi %a5, %b5 : tensor<512xi32>
  %j5 = tt.join %c5, %d5 : tensor<512xi32> -> tensor<512x2xi32>
  %t5 = tt.trans %j5 {order = array<i32: 1, 0>} : tensor<512x2xi32> -> tensor<2x512xi32>
  %x6 = tt.reshape %t5 : tensor<2x512xi32> -> tensor<1024xi32>
  tt.store %q, %x6 : tensor<1024x!tt.ptr<i32>>
  tt.return
}
