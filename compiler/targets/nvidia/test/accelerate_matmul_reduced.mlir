// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --split-input-file --nvidia-accelerate-matmul=compute-capability=90 | FileCheck %s

// Forward substitution: the loop adds up columns of what the dot has made, so each warp has whole columns. That the
// result feeds another dot matters less.
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
// CHECK: #[[A:mma.*]] = #ttg.nvidia_mma<{{.*}}warpsPerCTA = [1, 2], instrShape = [16, 8]
// CHECK: #[[B:mma.*]] = #ttg.nvidia_mma<{{.*}}warpsPerCTA = [2, 1], instrShape = [16, 8]
// CHECK-LABEL: @columns
// CHECK: tt.dot {{.*}} -> tensor<32x32xf32, #[[A]]>
// CHECK: scf.for
// CHECK: tt.dot {{.*}} -> tensor<32x32xf32, #[[B]]>
module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @columns(%a: tensor<32x32xf16, #a>, %b: tensor<32x32xf16, #b>, %c: tensor<32x32xf32, #blocked>, %n: i32) -> tensor<32x32xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %d = tt.dot %a, %b, %c : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #blocked>
    %l = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d) -> (tensor<32x32xf32, #blocked>) : i32 {
      %h = arith.mulf %x, %x : tensor<32x32xf32, #blocked>
      %r = "tt.reduce"(%h) <{axis = 0 : i32}> ({
      ^bb0(%p: f32, %q: f32):
        %s = arith.addf %p, %q : f32
        tt.reduce.return %s : f32
      }) : (tensor<32x32xf32, #blocked>) -> tensor<32xf32, #ttg.slice<{dim = 0, parent = #blocked}>>
      %e = tt.expand_dims %r {axis = 0 : i32} : tensor<32xf32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xf32, #blocked>
      %f = tt.broadcast %e : tensor<1x32xf32, #blocked> -> tensor<32x32xf32, #blocked>
      %y = arith.addf %x, %f : tensor<32x32xf32, #blocked>
      scf.yield %y : tensor<32x32xf32, #blocked>
    }
    %t = arith.truncf %l : tensor<32x32xf32, #blocked> to tensor<32x32xf16, #blocked>
    %o = ttg.convert_layout %t : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #a>
    %g = tt.dot %o, %b, %c : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #blocked>
    tt.return %g : tensor<32x32xf32, #blocked>
  }
}

// -----

// Softmax beside a dot of its own loop: the loop is the dot's.
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
// CHECK: #ttg.nvidia_mma<{{.*}}warpsPerCTA = [2, 1], instrShape = [16, 8]
// CHECK-LABEL: @in_its_loop
module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @in_its_loop(%a: tensor<32x32xf16, #a>, %b: tensor<32x32xf16, #b>, %c: tensor<32x32xf32, #blocked>, %z: tensor<32xf32, #ttg.slice<{dim = 0, parent = #blocked}>>, %n: i32) -> tensor<32xf32, #ttg.slice<{dim = 0, parent = #blocked}>> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %l = scf.for %i = %c0 to %n step %c1 iter_args(%x = %z) -> (tensor<32xf32, #ttg.slice<{dim = 0, parent = #blocked}>>) : i32 {
      %d = tt.dot %a, %b, %c : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #blocked>
      %r = "tt.reduce"(%d) <{axis = 0 : i32}> ({
      ^bb0(%p: f32, %q: f32):
        %s = arith.addf %p, %q : f32
        tt.reduce.return %s : f32
      }) : (tensor<32x32xf32, #blocked>) -> tensor<32xf32, #ttg.slice<{dim = 0, parent = #blocked}>>
      %y = arith.addf %x, %r : tensor<32xf32, #ttg.slice<{dim = 0, parent = #blocked}>>
      scf.yield %y : tensor<32xf32, #ttg.slice<{dim = 0, parent = #blocked}>>
    }
    tt.return %l : tensor<32xf32, #ttg.slice<{dim = 0, parent = #blocked}>>
  }
}

// -----

// A while loop may have fewer results than it carries values.
#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
// CHECK: #[[M:mma.*]] = #ttg.nvidia_mma<{{.*}}warpsPerCTA = [2, 1], instrShape = [16, 8]
// CHECK-LABEL: @while_carries_more
// CHECK: tt.dot {{.*}} -> tensor<32x32xf32, #[[M]]>
module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @while_carries_more(%a: tensor<32x32xf16, #a>, %b: tensor<32x32xf16, #b>, %c: tensor<32x32xf32, #blocked>, %n: i32) -> i32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.while (%i = %c0, %x = %c) : (i32, tensor<32x32xf32, #blocked>) -> i32 {
      %more = arith.cmpi slt, %i, %n : i32
      scf.condition(%more) %i : i32
    } do {
    ^bb0(%i: i32):
      %d = tt.dot %a, %b, %c : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #blocked>
      %j = arith.addi %i, %c1 : i32
      scf.yield %j, %d : i32, tensor<32x32xf32, #blocked>
    }
    tt.return %r : i32
  }
}
