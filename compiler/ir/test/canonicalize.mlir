// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --canonicalize | FileCheck %s

// A mask that is true everywhere goes, with its alternative; one that is false leaves the alternative.
// CHECK-LABEL: @loads
//  CHECK-SAME:   %[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[O:.*]]: tensor<8xf32>
//       CHECK:   %[[V:.*]] = tt.load %[[P]] cacheModifier = ca {tt.hint} : tensor<8x!tt.ptr<f32>>
//       CHECK:   tt.return %[[V]], %[[O]]
tt.func @loads(%p: tensor<8x!tt.ptr<f32>>, %o: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %true = arith.constant dense<true> : tensor<8xi1>
  %false = arith.constant dense<false> : tensor<8xi1>
  %0 = tt.load %p, %true, %o cacheModifier = ca {tt.hint} : tensor<8x!tt.ptr<f32>>
  %1 = tt.load %p, %false, %o : tensor<8x!tt.ptr<f32>>
  tt.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Volatile loads stay as they are.
// CHECK-LABEL: @volatile
//       CHECK:   tt.load %{{.*}}, %{{.*}} {isVolatile = true}
tt.func @volatile(%p: !tt.ptr<f32>) -> f32 {
  %true = arith.constant true
  %0 = tt.load %p, %true {isVolatile = true} : !tt.ptr<f32>
  tt.return %0 : f32
}

// -----

// A store that never happens goes; one that always does needs no mask.
// CHECK-LABEL: @stores
//  CHECK-NEXT:   tt.store %{{.*}}, %{{.*}} cacheModifier = wb : !tt.ptr<f32>
//  CHECK-NEXT:   tt.return
tt.func @stores(%p: !tt.ptr<f32>, %v: f32) {
  %true = arith.constant true
  %false = arith.constant false
  tt.store %p, %v, %true cacheModifier = wb : !tt.ptr<f32>
  tt.store %p, %v, %false : !tt.ptr<f32>
  tt.return
}

// -----

// A shape operation of a splat is a splat; two broadcasts are one, two reshapes are one.
// CHECK-LABEL: @shapes
//  CHECK-SAME:   %[[X:.*]]: f32, %[[T:.*]]: tensor<1x8xf32>
//   CHECK-DAG:   tt.splat %[[X]] : f32 -> tensor<8x4xf32>
//   CHECK-DAG:   tt.splat %[[X]] : f32 -> tensor<32xf32>
//   CHECK-DAG:   tt.broadcast %[[T]] : tensor<1x8xf32> -> tensor<4x8xf32>
//   CHECK-DAG:   tt.reshape %[[T]] : tensor<1x8xf32> -> tensor<4x2xf32>
//   CHECK-DAG:   tt.reshape %[[T]] allow_reorder : tensor<1x8xf32> -> tensor<2x4xf32>
//       CHECK:   tt.return
tt.func @shapes(%x: f32, %t: tensor<1x8xf32>)
    -> (tensor<8x4xf32>, tensor<32xf32>, tensor<4x8xf32>, tensor<4x2xf32>, tensor<2x4xf32>) {
  %0 = tt.splat %x : f32 -> tensor<8xf32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  %2 = tt.broadcast %1 : tensor<8x1xf32> -> tensor<8x4xf32>
  %3 = tt.reshape %2 : tensor<8x4xf32> -> tensor<32xf32>
  %4 = tt.broadcast %t : tensor<1x8xf32> -> tensor<1x8xf32>
  %5 = tt.broadcast %4 : tensor<1x8xf32> -> tensor<4x8xf32>
  %6 = tt.reshape %t : tensor<1x8xf32> -> tensor<8xf32>
  %7 = tt.reshape %6 : tensor<8xf32> -> tensor<4x2xf32>
  %8 = tt.reshape %t allow_reorder : tensor<1x8xf32> -> tensor<8xf32>
  %9 = tt.reshape %8 : tensor<8xf32> -> tensor<2x4xf32>
  tt.return %2, %3, %5, %7, %9 : tensor<8x4xf32>, tensor<32xf32>, tensor<4x8xf32>, tensor<4x2xf32>, tensor<2x4xf32>
}

// -----

// A conversion of what is alike under every encoding makes it under the wanted one.
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  //   CHECK-DAG: #[[A:blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1]
  //   CHECK-DAG: #[[B:blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [4]
  // CHECK-LABEL: @conversions
  //  CHECK-SAME:   %[[X:.*]]: f32, %[[T:.*]]: tensor<512xf32, #[[A]]>
  //   CHECK-DAG:   arith.constant dense<1.000000e+00> : tensor<512xf32, #[[B]]>
  //   CHECK-DAG:   tt.splat %[[X]] : f32 -> tensor<512xf32, #[[B]]>
  //   CHECK-DAG:   tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #[[B]]>
  //   CHECK-NOT:   ttg.convert_layout
  //       CHECK:   tt.return %{{.*}}, %{{.*}}, %{{.*}}, %[[T]]
  tt.func @conversions(%x: f32, %t: tensor<512xf32, #a>)
      -> (tensor<512xf32, #b>, tensor<512xf32, #b>, tensor<512xi32, #b>, tensor<512xf32, #a>) {
    %c = arith.constant dense<1.0> : tensor<512xf32, #a>
    %s = tt.splat %x : f32 -> tensor<512xf32, #a>
    %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #a>
    %0 = ttg.convert_layout %c : tensor<512xf32, #a> -> tensor<512xf32, #b>
    %1 = ttg.convert_layout %s : tensor<512xf32, #a> -> tensor<512xf32, #b>
    %2 = ttg.convert_layout %r : tensor<512xi32, #a> -> tensor<512xi32, #b>
    %3 = ttg.convert_layout %t : tensor<512xf32, #a> -> tensor<512xf32, #b>
    %4 = ttg.convert_layout %3 : tensor<512xf32, #b> -> tensor<512xf32, #a>
    tt.return %0, %1, %2, %4 : tensor<512xf32, #b>, tensor<512xf32, #b>, tensor<512xi32, #b>, tensor<512xf32, #a>
  }
}
