// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-flatten-nests --canonicalize | FileCheck %s

// Threads load each element by itself, from places that both loops tell: one loop, which counts the inner iterations.
// CHECK-LABEL: @flat
//  CHECK-SAME:   %[[H:[a-z0-9]+]]: i32, %[[W:[a-z0-9]+]]: i32)
//       CHECK:   %[[INNER:.*]] = arith.select {{.*}} : i64
//       CHECK:   %[[OUTER:.*]] = arith.select {{.*}} : i64
//       CHECK:   %[[ALL:.*]] = arith.muli %[[OUTER]], %[[INNER]] : i64
//       CHECK:   %[[R:.*]]:3 = scf.for %{{.*}} = %c0_i64 to %[[ALL]] step %c1_i64 iter_args(%[[ACC:.*]] = %{{.*}}, %[[I:.*]] = %c0_i32, %[[N:.*]] = %c0_i64)
//       CHECK:     %[[NARROW:.*]] = arith.trunci %[[N]] : i64 to i32
//       CHECK:     %[[J:.*]] = arith.muli %[[NARROW]], %c32_i32
//   CHECK-DAG:     tt.splat %[[I]]
//   CHECK-DAG:     tt.splat %[[J]]
//       CHECK:     tt.load
//       CHECK:     %[[D:.*]] = tt.dot {{.*}}, %[[ACC]]
//       CHECK:     %[[NEXT:.*]] = arith.addi %[[N]], %c1_i64
//       CHECK:     %[[LAST:.*]] = arith.cmpi eq, %[[NEXT]], %[[INNER]]
//       CHECK:     %[[ON:.*]] = arith.addi %[[I]], %c1_i32
//   CHECK-DAG:     %[[X:.*]] = arith.select %[[LAST]], %[[ON]], %[[I]] : i32
//   CHECK-DAG:     %[[Y:.*]] = arith.select %[[LAST]], %c0_i64, %[[NEXT]] : i64
//       CHECK:     scf.yield %[[D]], %[[X]], %[[Y]]
//   CHECK-NOT:   scf.for
//       CHECK:   tt.return %[[R]]#0
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #blocked}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @flat(%p: tensor<32x32x!tt.ptr<f16>, #blocked>, %s: tensor<32x32xi32, #blocked>, %y: tensor<32x32xf16, #b>, %h: i32, %w: i32) -> tensor<32x32xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %r = scf.for %i = %c0 to %h step %c1 iter_args(%a = %zero) -> (tensor<32x32xf32, #mma>) : i32 {
      %row = tt.splat %i : i32 -> tensor<32xi32, #rows>
      %e = tt.expand_dims %row {axis = 1 : i32} : tensor<32xi32, #rows> -> tensor<32x1xi32, #blocked>
      %f = tt.broadcast %e : tensor<32x1xi32, #blocked> -> tensor<32x32xi32, #blocked>
      %q = scf.for %j = %c0 to %w step %c32 iter_args(%acc = %a) -> (tensor<32x32xf32, #mma>) : i32 {
        %n = tt.splat %j : i32 -> tensor<32x32xi32, #blocked>
        %m = arith.muli %n, %s : tensor<32x32xi32, #blocked>
        %o = arith.addi %m, %f : tensor<32x32xi32, #blocked>
        %t = tt.addptr %p, %o : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
        %x = tt.load %t : tensor<32x32x!tt.ptr<f16>, #blocked>
        %xa = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #a>
        %d = tt.dot %xa, %y, %acc : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #mma>
        scf.yield %d : tensor<32x32xf32, #mma>
      }
      scf.yield %q : tensor<32x32xf32, #mma>
    }
    tt.return %r : tensor<32x32xf32, #mma>
  }
}

// -----

// Neighbours that are loaded together: their addresses advance more cheaply in a loop of their own.
// CHECK-LABEL: @neighbours
//       CHECK:   scf.for
//       CHECK:     scf.for
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #blocked}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @neighbours(%p: tensor<32x32x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %y: tensor<32x32xf16, #b>, %h: i32, %w: i32) -> tensor<32x32xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %r = scf.for %i = %c0 to %h step %c1 iter_args(%a = %zero) -> (tensor<32x32xf32, #mma>) : i32 {
      %q = scf.for %j = %c0 to %w step %c32 iter_args(%acc = %a) -> (tensor<32x32xf32, #mma>) : i32 {
        %x = tt.load %p : tensor<32x32x!tt.ptr<f16>, #blocked>
        %xa = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #a>
        %d = tt.dot %xa, %y, %acc : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #mma>
        scf.yield %d : tensor<32x32xf32, #mma>
      }
      scf.yield %q : tensor<32x32xf32, #mma>
    }
    tt.return %r : tensor<32x32xf32, #mma>
  }
}

// -----

// The outer loop decides how often the inner one runs.
// CHECK-LABEL: @triangle
//       CHECK:   scf.for
//       CHECK:     scf.for
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @triangle(%p: tensor<32x32x!tt.ptr<f16>, #blocked>, %y: tensor<32x32xf16, #b>, %h: i32) -> tensor<32x32xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %h step %c1 iter_args(%a = %zero) -> (tensor<32x32xf32, #mma>) : i32 {
      %q = scf.for %j = %c0 to %i step %c1 iter_args(%acc = %a) -> (tensor<32x32xf32, #mma>) : i32 {
        %x = tt.load %p : tensor<32x32x!tt.ptr<f16>, #blocked>
        %xa = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #a>
        %d = tt.dot %xa, %y, %acc : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #mma>
        scf.yield %d : tensor<32x32xf32, #mma>
      }
      scf.yield %q : tensor<32x32xf32, #mma>
    }
    tt.return %r : tensor<32x32xf32, #mma>
  }
}

// -----

// Three loops become one. The second counter starts again at its end, and the first one's advances then.
// CHECK-LABEL: @three
//  CHECK-SAME:   %[[H:[a-z0-9]+]]: i32, %[[V:[a-z0-9]+]]: i32, %[[W:[a-z0-9]+]]: i32)
//       CHECK:   %[[LESS:.*]] = arith.muli %{{.*}}, %{{.*}} : i64
//       CHECK:   %[[ALL:.*]] = arith.muli %{{.*}}, %[[LESS]] : i64
//       CHECK:   %[[R:.*]]:4 = scf.for %{{.*}} = %c0_i64 to %[[ALL]] step %c1_i64 iter_args(%[[ACC:.*]] = %{{.*}}, %[[I:.*]] = %c0_i32, %[[J:.*]] = %c1_i32, %[[N:.*]] = %c0_i64)
//       CHECK:     %[[D:.*]] = tt.dot {{.*}}, %[[ACC]]
//       CHECK:     %[[NEXT:.*]] = arith.addi %[[N]], %c1_i64
//       CHECK:     %[[LAST:.*]] = arith.cmpi eq, %[[NEXT]], %{{.*}}
//       CHECK:     %[[ON:.*]] = arith.addi %[[J]], %c2_i32
//       CHECK:     %[[ENDS:.*]] = arith.cmpi sge, %[[ON]], %[[V]]
//       CHECK:     %[[AGAIN:.*]] = arith.select %[[ENDS]], %c1_i32, %[[ON]]
//       CHECK:     %[[Y:.*]] = arith.select %[[LAST]], %[[AGAIN]], %[[J]]
//       CHECK:     %[[BOTH:.*]] = arith.andi %[[LAST]], %[[ENDS]]
//       CHECK:     %[[FAR:.*]] = arith.addi %[[I]], %c1_i32
//   CHECK-DAG:     %[[X:.*]] = arith.select %[[BOTH]], %[[FAR]], %[[I]]
//   CHECK-DAG:     %[[Z:.*]] = arith.select %[[LAST]], %c0_i64, %[[NEXT]]
//       CHECK:     scf.yield %[[D]], %[[X]], %[[Y]], %[[Z]]
//   CHECK-NOT:   scf.for
//       CHECK:   tt.return %[[R]]#0
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @three(%p: tensor<32x32x!tt.ptr<f16>, #blocked>, %s: tensor<32x32xi32, #blocked>, %y: tensor<32x32xf16, #b>, %h: i32, %v: i32, %w: i32) -> tensor<32x32xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c32 = arith.constant 32 : i32
    %r = scf.for %i = %c0 to %h step %c1 iter_args(%a = %zero) -> (tensor<32x32xf32, #mma>) : i32 {
      %q = scf.for %j = %c1 to %v step %c2 iter_args(%e = %a) -> (tensor<32x32xf32, #mma>) : i32 {
        %k = arith.muli %i, %j : i32
        %z = scf.for %c = %c0 to %w step %c32 iter_args(%acc = %e) -> (tensor<32x32xf32, #mma>) : i32 {
          %l = arith.addi %c, %k : i32
          %n = tt.splat %l : i32 -> tensor<32x32xi32, #blocked>
          %o = arith.muli %n, %s : tensor<32x32xi32, #blocked>
          %t = tt.addptr %p, %o : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
          %x = tt.load %t : tensor<32x32x!tt.ptr<f16>, #blocked>
          %xa = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #a>
          %d = tt.dot %xa, %y, %acc : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #mma>
          scf.yield %d : tensor<32x32xf32, #mma>
        }
        scf.yield %z : tensor<32x32xf32, #mma>
      }
      scf.yield %q : tensor<32x32xf32, #mma>
    }
    tt.return %r : tensor<32x32xf32, #mma>
  }
}
