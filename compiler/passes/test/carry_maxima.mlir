// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-optimize-thread-locality --ttg-carry-maxima --canonicalize | FileCheck %s

// Each thread has a maximum for its two registers of a row; the loop reduces nothing across threads.
#row = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#sum = #ttg.slice<{dim = 1, parent = #row}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @endless
  //   CHECK-DAG:   %[[LEAST:.*]] = arith.constant dense<-3.40282347E+38> : tensor<4x32xf32
  //   CHECK-DAG:   %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<4x32xf32
  //       CHECK:   %[[P:.*]]:3 = scf.for %[[I:.*]] = %{{.*}} iter_args(%[[S:.*]] = %{{.*}}, %[[M:.*]] = %[[LEAST]], %[[F:.*]] = %[[ONE]])
  //       CHECK:     %[[R:.*]] = "tt.reduce"(%{{.*}}) <{axis = 2 : i32}>
  //       CHECK:     %[[N:.*]] = arith.maxnumf %[[M]], %[[R]] : tensor<4x32xf32
  //       CHECK:     %[[D:.*]] = arith.subf %[[M]], %[[N]]
  //       CHECK:     %[[G:.*]] = math.exp %[[D]]
  //       CHECK:     tt.expand_dims %[[N]]
  //       CHECK:     arith.mulf %[[S]], %[[G]]
  //       CHECK:     %[[NEXT:.*]] = arith.addf
  //       CHECK:     %[[FIRST:.*]] = arith.cmpi eq, %[[I]]
  //       CHECK:     arith.select %[[FIRST]], %[[NEXT]], %[[F]]
  //   CHECK-NOT:     axis = 1
  //       CHECK:     scf.yield
  //       CHECK:   %[[NONE:.*]] = arith.cmpf oeq, %[[P]]#0
  //       CHECK:   %[[SEEN:.*]] = arith.select %[[NONE]], %{{.*}}, %[[P]]#1
  //       CHECK:   "tt.reduce"(%[[SEEN]]) <{axis = 1 : i32}>
  //       CHECK:   "tt.reduce"(%[[P]]#2) <{axis = 1 : i32}>
  //       CHECK:   %[[RATE:.*]] = math.exp
  //       CHECK:   %[[SCALED:.*]] = arith.mulf %[[P]]#0, %[[RATE]]
  //       CHECK:   "tt.reduce"(%[[SCALED]]) <{axis = 1 : i32}>
  tt.func @endless(%x: tensor<4x64xf32, #row>, %n: i32) -> (tensor<4xf32, #sum>, tensor<4xf32, #sum>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %start = arith.constant dense<0xFF800000> : tensor<4xf32, #sum>
    %zero = arith.constant dense<0.0> : tensor<4xf32, #sum>
    %all:2 = scf.for %i = %c0 to %n step %c1 iter_args(%m = %start, %s = %zero) -> (tensor<4xf32, #sum>, tensor<4xf32, #sum>) : i32 {
      %k = arith.sitofp %i : i32 to f32
      %ks = tt.splat %k : f32 -> tensor<4x64xf32, #row>
      %v = arith.mulf %x, %ks : tensor<4x64xf32, #row>
      %r = "tt.reduce"(%v) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %g = arith.maxnumf %a, %b : f32
        tt.reduce.return %g : f32
      }) : (tensor<4x64xf32, #row>) -> tensor<4xf32, #sum>
      %next = arith.maxnumf %m, %r : tensor<4xf32, #sum>
      %grown = arith.subf %m, %next : tensor<4xf32, #sum>
      %scale = math.exp %grown : tensor<4xf32, #sum>
      %next1 = tt.expand_dims %next {axis = 1 : i32} : tensor<4xf32, #sum> -> tensor<4x1xf32, #row>
      %nexts = tt.broadcast %next1 : tensor<4x1xf32, #row> -> tensor<4x64xf32, #row>
      %less = arith.subf %v, %nexts : tensor<4x64xf32, #row>
      %e = math.exp %less : tensor<4x64xf32, #row>
      %t = "tt.reduce"(%e) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %g = arith.addf %a, %b : f32
        tt.reduce.return %g : f32
      }) : (tensor<4x64xf32, #row>) -> tensor<4xf32, #sum>
      %s0 = arith.mulf %s, %scale : tensor<4xf32, #sum>
      %s1 = arith.addf %s0, %t : tensor<4xf32, #sum>
      scf.yield %next, %s1 : tensor<4xf32, #sum>, tensor<4xf32, #sum>
    }
    tt.return %all#0, %all#1 : tensor<4xf32, #sum>, tensor<4xf32, #sum>
  }
}

// -----

// The loop's maximum is stored in each iteration: threads need one.
#row = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @seen
  //       CHECK:   scf.for {{.*}} iter_args(%[[M:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (f32, tensor<128xf32
  //       CHECK:     "tt.reduce"(%{{.*}}) <{axis = 0 : i32}>
  //       CHECK:     scf.yield
  tt.func @seen(%x: tensor<256xf32, #row>, %n: i32, %out: !tt.ptr<f32>) -> (f32, f32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %start = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %all:2 = scf.for %i = %c0 to %n step %c1 iter_args(%m = %start, %s = %zero) -> (f32, f32) : i32 {
      %k = arith.sitofp %i : i32 to f32
      %ks = tt.splat %k : f32 -> tensor<256xf32, #row>
      %v = arith.mulf %x, %ks : tensor<256xf32, #row>
      %r = "tt.reduce"(%v) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %g = arith.maxnumf %a, %b : f32
        tt.reduce.return %g : f32
      }) : (tensor<256xf32, #row>) -> f32
      %next = arith.maxnumf %m, %r : f32
      tt.store %out, %next : !tt.ptr<f32>
      %grown = arith.subf %m, %next : f32
      %scale = math.exp %grown : f32
      %nexts = tt.splat %next : f32 -> tensor<256xf32, #row>
      %less = arith.subf %v, %nexts : tensor<256xf32, #row>
      %e = math.exp %less : tensor<256xf32, #row>
      %t = "tt.reduce"(%e) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %g = arith.addf %a, %b : f32
        tt.reduce.return %g : f32
      }) : (tensor<256xf32, #row>) -> f32
      %s0 = arith.mulf %s, %scale : f32
      %s1 = arith.addf %s0, %t : f32
      scf.yield %next, %s1 : f32, f32
    }
    tt.return %all#0, %all#1 : f32, f32
  }

  // Two exponentials of the maximum multiplied: no one scale fits the sum.
  // CHECK-LABEL: @squares
  //       CHECK:   scf.for {{.*}} iter_args(%[[M:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (f32, tensor<128xf32
  //       CHECK:     "tt.reduce"(%{{.*}}) <{axis = 0 : i32}>
  //       CHECK:     scf.yield
  tt.func @squares(%x: tensor<256xf32, #row>, %n: i32) -> (f32, f32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %start = arith.constant -1.0 : f32
    %zero = arith.constant 0.0 : f32
    %all:2 = scf.for %i = %c0 to %n step %c1 iter_args(%m = %start, %s = %zero) -> (f32, f32) : i32 {
      %k = arith.sitofp %i : i32 to f32
      %ks = tt.splat %k : f32 -> tensor<256xf32, #row>
      %v = arith.mulf %x, %ks : tensor<256xf32, #row>
      %r = "tt.reduce"(%v) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %g = arith.maxnumf %a, %b : f32
        tt.reduce.return %g : f32
      }) : (tensor<256xf32, #row>) -> f32
      %next = arith.maxnumf %m, %r : f32
      %grown = arith.subf %m, %next : f32
      %scale = math.exp %grown : f32
      %nexts = tt.splat %next : f32 -> tensor<256xf32, #row>
      %less = arith.subf %v, %nexts : tensor<256xf32, #row>
      %e = math.exp %less : tensor<256xf32, #row>
      %ee = arith.mulf %e, %e : tensor<256xf32, #row>
      %t = "tt.reduce"(%ee) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %g = arith.addf %a, %b : f32
        tt.reduce.return %g : f32
      }) : (tensor<256xf32, #row>) -> f32
      %s0 = arith.mulf %s, %scale : f32
      %s1 = arith.addf %s0, %t : f32
      scf.yield %next, %s1 : f32, f32
    }
    tt.return %all#0, %all#1 : f32, f32
  }
}
