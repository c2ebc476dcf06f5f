// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-coalesce | FileCheck %s

// The load of bytes goes to a dot alone: it takes 16 bytes a thread, though the store of its shape takes 16 bytes of
// twice as wide elements.
// CHECK-DAG: #[[BYTES:.*]] = #ttg.blocked<{sizePerThread = [1, 16],
// CHECK-DAG: #[[HALVES:.*]] = #ttg.blocked<{sizePerThread = [1, 8],
// CHECK-LABEL: @operand
//       CHECK:   tt.load %{{.*}} : tensor<128x128x!tt.ptr<f8E4M3FN>, #[[BYTES]]>
//       CHECK:   tt.store %{{.*}} : tensor<128x128x!tt.ptr<f16>, #[[HALVES]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @operand(%p: tensor<128x128x!tt.ptr<f8E4M3FN>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %q: tensor<128x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %c: tensor<128x128xf32, #blocked>, %v: tensor<128x128xf16, #blocked>) -> tensor<128x128xf32, #blocked> {
    %x = tt.load %p : tensor<128x128x!tt.ptr<f8E4M3FN>, #blocked>
    %xa = ttg.convert_layout %x : tensor<128x128xf8E4M3FN, #blocked> -> tensor<128x128xf8E4M3FN, #a>
    %xb = ttg.convert_layout %x : tensor<128x128xf8E4M3FN, #blocked> -> tensor<128x128xf8E4M3FN, #b>
    %d = tt.dot %xa, %xb, %c : tensor<128x128xf8E4M3FN, #a> * tensor<128x128xf8E4M3FN, #b> -> tensor<128x128xf32, #blocked>
    tt.store %q, %v : tensor<128x128x!tt.ptr<f16>, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }
}

// -----

// Halves that are scaled on their way to a dot: 16 bytes a thread, though the store of their shape takes 16 bytes of
// twice as wide elements. The wide factors that they meet have the same encoding.
// CHECK-DAG: #[[EIGHT:.*]] = #ttg.blocked<{sizePerThread = [1, 8],
// CHECK-DAG: #[[FOUR:.*]] = #ttg.blocked<{sizePerThread = [1, 4],
// CHECK-LABEL: @scaled_operand
//       CHECK:   tt.load %{{.*}} : tensor<128x128x!tt.ptr<f16>, #[[EIGHT]]>
//       CHECK:   tt.load %{{.*}} : tensor<128x128x!tt.ptr<f32>, #[[EIGHT]]>
//       CHECK:   tt.store %{{.*}} : tensor<128x128x!tt.ptr<f32>, #[[FOUR]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @scaled_operand(%p: tensor<128x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %f: tensor<128x128x!tt.ptr<f32>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %q: tensor<128x128x!tt.ptr<f32>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %y: tensor<128x128xf16, #b>, %c: tensor<128x128xf32, #blocked>) {
    %x = tt.load %p : tensor<128x128x!tt.ptr<f16>, #blocked>
    %s = tt.load %f : tensor<128x128x!tt.ptr<f32>, #blocked>
    %w = arith.extf %x : tensor<128x128xf16, #blocked> to tensor<128x128xf32, #blocked>
    %m = arith.mulf %w, %s : tensor<128x128xf32, #blocked>
    %h = arith.truncf %m : tensor<128x128xf32, #blocked> to tensor<128x128xf16, #blocked>
    %xa = ttg.convert_layout %h : tensor<128x128xf16, #blocked> -> tensor<128x128xf16, #a>
    %d = tt.dot %xa, %y, %c : tensor<128x128xf16, #a> * tensor<128x128xf16, #b> -> tensor<128x128xf32, #blocked>
    tt.store %q, %d : tensor<128x128x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

// What goes elsewhere, too, shares the width of the store.
// CHECK-DAG: #[[FOUR:.*]] = #ttg.blocked<{sizePerThread = [1, 4],
// CHECK-LABEL: @stored_operand
//       CHECK:   tt.load %{{.*}} : tensor<128x128x!tt.ptr<f16>, #[[FOUR]]>
//       CHECK:   tt.store %{{.*}} : tensor<128x128x!tt.ptr<f32>, #[[FOUR]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @stored_operand(%p: tensor<128x128x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %q: tensor<128x128x!tt.ptr<f32>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %y: tensor<128x128xf16, #b>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    %x = tt.load %p : tensor<128x128x!tt.ptr<f16>, #blocked>
    %w = arith.extf %x : tensor<128x128xf16, #blocked> to tensor<128x128xf32, #blocked>
    tt.store %q, %w : tensor<128x128x!tt.ptr<f32>, #blocked>
    %xa = ttg.convert_layout %x : tensor<128x128xf16, #blocked> -> tensor<128x128xf16, #a>
    %d = tt.dot %xa, %y, %c : tensor<128x128xf16, #a> * tensor<128x128xf16, #b> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }
}

// -----

// Bytes that are neighbours along both dimensions: a thread has neighbours along K, also where that is the shorter one.
// The last load is wide along M alone.
// CHECK-DAG: #[[A:.*]] = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], {{.*}}order = [1, 0]}>
// CHECK-DAG: #[[B:.*]] = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [8, 4], {{.*}}order = [0, 1]}>
// CHECK-DAG: #[[M:.*]] = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [16, 2], {{.*}}order = [0, 1]}>
// CHECK-LABEL: @neighbours_along_both
//       CHECK:   tt.load %{{.*}} : tensor<256x128x!tt.ptr<f8E4M3FN>, #[[A]]>
//       CHECK:   tt.load %{{.*}} : tensor<128x128x!tt.ptr<f8E4M3FN>, #[[B]]>
//       CHECK:   tt.load %{{.*}} : tensor<256x128x!tt.ptr<f8E4M3FN>, #[[M]]>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @neighbours_along_both(%p: tensor<256x128x!tt.ptr<f8E4M3FN>, #blocked> {tt.divisibility = dense<[16, 16]> : tensor<2xi32>, tt.contiguity = dense<[256, 128]> : tensor<2xi32>}, %q: tensor<128x128x!tt.ptr<f8E4M3FN>, #blocked> {tt.divisibility = dense<[16, 16]> : tensor<2xi32>, tt.contiguity = dense<[128, 128]> : tensor<2xi32>}, %r: tensor<256x128x!tt.ptr<f8E4M3FN>, #blocked> {tt.divisibility = dense<[16, 1]> : tensor<2xi32>, tt.contiguity = dense<[256, 128]> : tensor<2xi32>}, %c: tensor<256x128xf32, #blocked>) -> tensor<256x128xf32, #blocked> {
    %x = tt.load %p : tensor<256x128x!tt.ptr<f8E4M3FN>, #blocked>
    %xa = ttg.convert_layout %x : tensor<256x128xf8E4M3FN, #blocked> -> tensor<256x128xf8E4M3FN, #a>
    %y = tt.load %q : tensor<128x128x!tt.ptr<f8E4M3FN>, #blocked>
    %yb = ttg.convert_layout %y : tensor<128x128xf8E4M3FN, #blocked> -> tensor<128x128xf8E4M3FN, #b>
    %d = tt.dot %xa, %yb, %c : tensor<256x128xf8E4M3FN, #a> * tensor<128x128xf8E4M3FN, #b> -> tensor<256x128xf32, #blocked>
    %z = tt.load %r : tensor<256x128x!tt.ptr<f8E4M3FN>, #blocked>
    %za = ttg.convert_layout %z : tensor<256x128xf8E4M3FN, #blocked> -> tensor<256x128xf8E4M3FN, #a>
    %e = tt.dot %za, %yb, %d : tensor<256x128xf8E4M3FN, #a> * tensor<128x128xf8E4M3FN, #b> -> tensor<256x128xf32, #blocked>
    tt.return %e : tensor<256x128xf32, #blocked>
  }
}
