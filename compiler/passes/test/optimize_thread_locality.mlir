// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-optimize-thread-locality --canonicalize | FileCheck %s

// A row of 128 lies in two pieces of two registers: they become one dimension, reduced in each iteration; the rest once.
#row = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#sum = #ttg.slice<{dim = 1, parent = #row}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @rows
  //  CHECK-SAME:   %[[X:[a-z0-9]+]]: tensor<64x128xf32, #{{.*}}>, %[[A:[a-z0-9]+]]: tensor<64xf32
  //       CHECK:   %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : tensor<64x32xf32
  //       CHECK:   %[[P:.*]] = scf.for %{{.*}} iter_args(%[[B:.*]] = %[[ZERO]]) -> (tensor<64x32xf32
  //       CHECK:     %[[S:.*]] = tt.reshape %{{.*}} : tensor<64x128xf32, {{.*}} -> tensor<64x2x32x2xf32
  //       CHECK:     %[[T:.*]] = tt.trans %[[S]] {order = array<i32: 0, 2, 1, 3>}
  //       CHECK:     %[[M:.*]] = tt.reshape %[[T]] : {{.*}} -> tensor<64x32x4xf32
  //       CHECK:     %[[R:.*]] = "tt.reduce"(%[[M]]) <{axis = 2 : i32}>
  //       CHECK:     %[[C:.*]] = arith.addf %[[B]], %[[R]] fastmath<contract> : tensor<64x32xf32
  //       CHECK:     scf.yield %[[C]]
  //       CHECK:   %[[ALL:.*]] = "tt.reduce"(%[[P]]) <{axis = 1 : i32}>
  //       CHECK:   %[[CVT:.*]] = ttg.convert_layout %[[ALL]]
  //       CHECK:   %[[END:.*]] = arith.addf %[[A]], %[[CVT]] fastmath<contract>
  //       CHECK:   tt.return %[[END]]
  tt.func @rows(%x: tensor<64x128xf32, #row>, %a: tensor<64xf32, #sum>, %n: i32) -> tensor<64xf32, #sum> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %a) -> (tensor<64xf32, #sum>) : i32 {
      %k = arith.sitofp %i : i32 to f32
      %ks = tt.splat %k : f32 -> tensor<64x128xf32, #row>
      %v = arith.mulf %x, %ks : tensor<64x128xf32, #row>
      %s = "tt.reduce"(%v) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %h: f32):
        %add = arith.addf %l, %h fastmath<contract> : f32
        tt.reduce.return %add : f32
      }) : (tensor<64x128xf32, #row>) -> tensor<64xf32, #sum>
      %c = arith.addf %b, %s fastmath<contract> : tensor<64xf32, #sum>
      scf.yield %c : tensor<64xf32, #sum>
    }
    tt.return %r : tensor<64xf32, #sum>
  }
}

// -----

// One element a thread: the tensor itself is the part; a scalar is the sum. Nothing may be said about overflows.
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @scalar
  //       CHECK:   %[[P:.*]] = scf.for %{{.*}} iter_args(%[[B:.*]] = %{{.*}}) -> (tensor<128xi32
  //       CHECK:     %[[C:.*]] = arith.addi %[[B]], %{{.*}} : tensor<128xi32
  //   CHECK-NOT:     tt.reduce
  //       CHECK:     scf.yield %[[C]]
  //       CHECK:   "tt.reduce"(%[[P]]) <{axis = 0 : i32}>
  //       CHECK:     arith.addi %{{.*}}, %{{.*}} : i32
  //       CHECK:   arith.addi %{{.*}}, %{{.*}} : i32
  //       CHECK:   tt.return
  tt.func @scalar(%x: tensor<128xi32, #one>, %a: i32, %n: i32) -> i32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %a) -> (i32) : i32 {
      %k = tt.splat %i : i32 -> tensor<128xi32, #one>
      %v = arith.xori %x, %k : tensor<128xi32, #one>
      %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
      ^bb0(%l: i32, %h: i32):
        %add = arith.addi %l, %h overflow<nsw> : i32
        tt.reduce.return %add : i32
      }) : (tensor<128xi32, #one>) -> i32
      %c = arith.addi %s, %b overflow<nsw> : i32
      scf.yield %c : i32
    }
    tt.return %r : i32
  }
}

// -----

// Stays: a thread reduces by itself; the loop looks at the sum; another combination; a maximum without NaNs.
#own = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#own_sum = #ttg.slice<{dim = 1, parent = #own}>
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @stays
  //       CHECK:   scf.for %{{.*}} -> (tensor<128xf32, #{{.*}}>, f32, f32, f32)
  // CHECK-COUNT-4:   "tt.reduce"
  //       CHECK:   }
  //   CHECK-NOT:   "tt.reduce"
  tt.func @stays(%x: tensor<128x4xf32, #own>, %y: tensor<128xf32, #one>, %a: tensor<128xf32, #own_sum>, %z: f32, %n: i32)
      -> (tensor<128xf32, #own_sum>, f32, f32, f32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%b = %a, %p = %z, %q = %z, %m = %z)
        -> (tensor<128xf32, #own_sum>, f32, f32, f32) : i32 {
      %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %h: f32):
        %add = arith.addf %l, %h : f32
        tt.reduce.return %add : f32
      }) : (tensor<128x4xf32, #own>) -> tensor<128xf32, #own_sum>
      %c = arith.addf %b, %s : tensor<128xf32, #own_sum>
      %ps = tt.splat %p : f32 -> tensor<128xf32, #one>
      %v = arith.mulf %y, %ps : tensor<128xf32, #one>
      %t = "tt.reduce"(%v) <{axis = 0 : i32}> ({
      ^bb0(%l: f32, %h: f32):
        %add = arith.addf %l, %h : f32
        tt.reduce.return %add : f32
      }) : (tensor<128xf32, #one>) -> f32
      %d = arith.addf %p, %t : f32
      %u = "tt.reduce"(%y) <{axis = 0 : i32}> ({
      ^bb0(%l: f32, %h: f32):
        %mul = arith.mulf %l, %h : f32
        tt.reduce.return %mul : f32
      }) : (tensor<128xf32, #one>) -> f32
      %e = arith.addf %q, %u : f32
      %w = "tt.reduce"(%y) <{axis = 0 : i32}> ({
      ^bb0(%l: f32, %h: f32):
        %max = arith.maxnumf %l, %h fastmath<nnan> : f32
        tt.reduce.return %max : f32
      }) : (tensor<128xf32, #one>) -> f32
      %f = arith.maxnumf %m, %w fastmath<nnan> : f32
      scf.yield %c, %d, %e, %f : tensor<128xf32, #own_sum>, f32, f32, f32
    }
    tt.return %r#0, %r#1, %r#2, %r#3 : tensor<128xf32, #own_sum>, f32, f32, f32
  }
}

// -----

// The sum is converted before it is added: what threads carry has the reduction's encoding, and the total is converted.
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @converted
  //       CHECK:   %[[P:.*]] = scf.for %{{.*}} iter_args(%[[B:.*]] = %{{.*}}) -> (tensor<64x32xf32
  //   CHECK-NOT:     convert_layout
  //   CHECK-NOT:     tt.reduce
  //       CHECK:     scf.yield
  //       CHECK:   %[[ALL:.*]] = "tt.reduce"(%[[P]]) <{axis = 1 : i32}>
  //       CHECK:   ttg.convert_layout %[[ALL]]
  tt.func @converted(%x: tensor<64x32xf32, #rows>, %a: tensor<64xf32, #line>, %n: i32) -> tensor<64xf32, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %a) -> (tensor<64xf32, #line>) : i32 {
      %k = arith.sitofp %i : i32 to f32
      %ks = tt.splat %k : f32 -> tensor<64x32xf32, #rows>
      %v = arith.mulf %x, %ks : tensor<64x32xf32, #rows>
      %s = "tt.reduce"(%v) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %h: f32):
        %add = arith.addf %l, %h : f32
        tt.reduce.return %add : f32
      }) : (tensor<64x32xf32, #rows>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %t = ttg.convert_layout %s : tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<64xf32, #line>
      %c = arith.addf %b, %t : tensor<64xf32, #line>
      scf.yield %c : tensor<64xf32, #line>
    }
    tt.return %r : tensor<64xf32, #line>
  }
  // So many registers would leave too few for the body.
  // CHECK-LABEL: @too_many
  //       CHECK:   scf.for
  //       CHECK:     tt.reduce
  //       CHECK:     scf.yield
  tt.func @too_many(%x: tensor<1024x32xf32, #rows>, %a: tensor<1024xf32, #line>, %n: i32) -> tensor<1024xf32, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %a) -> (tensor<1024xf32, #line>) : i32 {
      %k = arith.sitofp %i : i32 to f32
      %ks = tt.splat %k : f32 -> tensor<1024x32xf32, #rows>
      %v = arith.mulf %x, %ks : tensor<1024x32xf32, #rows>
      %s = "tt.reduce"(%v) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %h: f32):
        %add = arith.addf %l, %h : f32
        tt.reduce.return %add : f32
      }) : (tensor<1024x32xf32, #rows>) -> tensor<1024xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %t = ttg.convert_layout %s : tensor<1024xf32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<1024xf32, #line>
      %c = arith.addf %b, %t : tensor<1024xf32, #line>
      scf.yield %c : tensor<1024xf32, #line>
    }
    tt.return %r : tensor<1024xf32, #line>
  }
}

// -----

// A sum that an exponential scales in each iteration: each thread scales what it has of it. What the sum starts from is
// scaled as before.
#row = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#sum = #ttg.slice<{dim = 1, parent = #row}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @scaled
  //       CHECK:   %[[P:.*]]:2 = scf.for %{{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) -> (tensor<64xf32, {{.*}}>, tensor<64x32xf32
  //       CHECK:     %[[ALPHA:.*]] = math.exp2
  //       CHECK:     %[[START:.*]] = arith.mulf %[[A]], %[[ALPHA]]
  //       CHECK:     %[[T:.*]] = "tt.reduce"
  //       CHECK:     %[[LINE:.*]] = ttg.convert_layout %[[ALPHA]]
  //       CHECK:     %[[COLUMN:.*]] = tt.expand_dims %[[LINE]] {axis = 1 : i32}
  //       CHECK:     %[[ALL:.*]] = tt.broadcast %[[COLUMN]]
  //       CHECK:     %[[S:.*]] = arith.mulf %[[B]], %[[ALL]]
  //       CHECK:     %[[C:.*]] = arith.addf %[[S]], %[[T]]
  //       CHECK:     scf.yield %[[START]], %[[C]]
  //       CHECK:   "tt.reduce"(%[[P]]#1)
  tt.func @scaled(%x: tensor<64x128xf32, #row>, %a: tensor<64xf32, #sum>, %m: tensor<64xf32, #sum>, %n: i32) -> tensor<64xf32, #sum> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %a) -> (tensor<64xf32, #sum>) : i32 {
      %k = arith.sitofp %i : i32 to f32
      %ks = tt.splat %k : f32 -> tensor<64x128xf32, #row>
      %v = arith.mulf %x, %ks : tensor<64x128xf32, #row>
      %kr = tt.splat %k : f32 -> tensor<64xf32, #sum>
      %e = arith.mulf %m, %kr : tensor<64xf32, #sum>
      %alpha = math.exp2 %e : tensor<64xf32, #sum>
      %d = arith.mulf %b, %alpha : tensor<64xf32, #sum>
      %s = "tt.reduce"(%v) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %h: f32):
        %add = arith.addf %l, %h : f32
        tt.reduce.return %add : f32
      }) : (tensor<64x128xf32, #row>) -> tensor<64xf32, #sum>
      %c = arith.addf %d, %s : tensor<64xf32, #sum>
      scf.yield %c : tensor<64xf32, #sum>
    }
    tt.return %r : tensor<64xf32, #sum>
  }
}

// -----

// A scalar sum that starts from zero: nothing but the parts is scaled.
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @scaled_scalar
  //       CHECK:   scf.for %{{.*}} iter_args(%[[B:.*]] = %{{.*}}) -> (tensor<128xf32
  //       CHECK:     %[[ALPHA:.*]] = math.exp %{{.*}} : f32
  //       CHECK:     %[[ALL:.*]] = tt.splat %[[ALPHA]] : f32 -> tensor<128xf32
  //       CHECK:     %[[S:.*]] = arith.mulf %[[B]], %[[ALL]]
  //       CHECK:     %[[C:.*]] = arith.addf %[[S]],
  //       CHECK:     scf.yield %[[C]]
  tt.func @scaled_scalar(%x: tensor<128xf32, #one>, %n: i32) -> f32 {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %zero) -> (f32) : i32 {
      %k = arith.sitofp %i : i32 to f32
      %ks = tt.splat %k : f32 -> tensor<128xf32, #one>
      %v = arith.mulf %x, %ks : tensor<128xf32, #one>
      %alpha = math.exp %k : f32
      %d = arith.mulf %b, %alpha : f32
      %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
      ^bb0(%l: f32, %h: f32):
        %add = arith.addf %l, %h : f32
        tt.reduce.return %add : f32
      }) : (tensor<128xf32, #one>) -> f32
      %c = arith.addf %d, %s : f32
      scf.yield %c : f32
    }
    tt.return %r : f32
  }
}

// -----

// Any other scale may be infinite.
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @any_scale
  //       CHECK:   scf.for {{.*}} -> (f32)
  //       CHECK:     "tt.reduce"
  //       CHECK:     scf.yield
  tt.func @any_scale(%x: tensor<128xf32, #one>, %n: i32) -> f32 {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %zero) -> (f32) : i32 {
      %k = arith.sitofp %i : i32 to f32
      %ks = tt.splat %k : f32 -> tensor<128xf32, #one>
      %v = arith.mulf %x, %ks : tensor<128xf32, #one>
      %d = arith.mulf %b, %k : f32
      %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
      ^bb0(%l: f32, %h: f32):
        %add = arith.addf %l, %h : f32
        tt.reduce.return %add : f32
      }) : (tensor<128xf32, #one>) -> f32
      %c = arith.addf %d, %s : f32
      scf.yield %c : f32
    }
    tt.return %r : f32
  }
}
