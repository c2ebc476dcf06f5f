// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-keep-rows=registers=65536 | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

// Two tiles are loaded, masks that hold everywhere are none, and both loops use what was loaded.
// CHECK-LABEL: @row
// CHECK-COUNT-2: tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<1024x!tt.ptr<f32>
//   CHECK-NOT:   scf.for
//   CHECK-NOT:   tt.load
// CHECK-COUNT-2: arith.addf
//       CHECK:   "tt.reduce"
// CHECK-COUNT-2: tt.store
//       CHECK:   tt.return
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @row(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %c1024 = arith.constant 1024 : i32
    %c2000 = arith.constant 2000 : i32
    %bound = arith.constant dense<2000> : tensor<1024xi32, #blocked>
    %zero = arith.constant dense<0.0> : tensor<1024xf32, #blocked>
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %sx = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %so = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %sums = scf.for %i = %c0 to %c2000 step %c1024 iter_args(%s = %zero) -> (tensor<1024xf32, #blocked>) : i32 {
      %t = tt.splat %i : i32 -> tensor<1024xi32, #blocked>
      %c = arith.addi %t, %r : tensor<1024xi32, #blocked>
      %m = arith.cmpi slt, %c, %bound : tensor<1024xi32, #blocked>
      %p = tt.addptr %sx, %c : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      %v = tt.load %p, %m, %zero evictionPolicy = evict_last : tensor<1024x!tt.ptr<f32>, #blocked>
      %next = arith.addf %s, %v : tensor<1024xf32, #blocked>
      scf.yield %next : tensor<1024xf32, #blocked>
    }
    %sum = "tt.reduce"(%sums) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %e = arith.addf %a, %b : f32
      tt.reduce.return %e : f32
    }) : (tensor<1024xf32, #blocked>) -> f32
    ttg.barrier all
    %mean = tt.splat %sum : f32 -> tensor<1024xf32, #blocked>
    scf.for %i = %c0 to %c2000 step %c1024 : i32 {
      %t = tt.splat %i : i32 -> tensor<1024xi32, #blocked>
      %c = arith.addi %t, %r : tensor<1024xi32, #blocked>
      %m = arith.cmpi slt, %c, %bound : tensor<1024xi32, #blocked>
      %p = tt.addptr %sx, %c : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      %v = tt.load %p, %m, %zero evictionPolicy = evict_first : tensor<1024x!tt.ptr<f32>, #blocked>
      %d = arith.subf %v, %mean : tensor<1024xf32, #blocked>
      %q = tt.addptr %so, %c : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      tt.store %q, %d, %m : tensor<1024x!tt.ptr<f32>, #blocked>
    }
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

// What is stored may be what the second loop loads; another row is not what the first loop has loaded.
// CHECK-LABEL: @written
// CHECK-COUNT-2: scf.for
// CHECK-LABEL: @others
// CHECK-COUNT-2: scf.for
// CHECK-LABEL: @atomics_between
// CHECK-COUNT-2: scf.for
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @written(%x: !tt.ptr<f32>, %sums: !tt.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %c1024 = arith.constant 1024 : i32
    %c2048 = arith.constant 2048 : i32
    %zero = arith.constant dense<0.0> : tensor<1024xf32, #blocked>
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %sx = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %all = scf.for %i = %c0 to %c2048 step %c1024 iter_args(%s = %zero) -> (tensor<1024xf32, #blocked>) : i32 {
      %t = tt.splat %i : i32 -> tensor<1024xi32, #blocked>
      %c = arith.addi %t, %r : tensor<1024xi32, #blocked>
      %p = tt.addptr %sx, %c : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked>
      %next = arith.addf %s, %v : tensor<1024xf32, #blocked>
      scf.yield %next : tensor<1024xf32, #blocked>
    }
    scf.for %i = %c0 to %c2048 step %c1024 : i32 {
      %t = tt.splat %i : i32 -> tensor<1024xi32, #blocked>
      %c = arith.addi %t, %r : tensor<1024xi32, #blocked>
      %p = tt.addptr %sx, %c : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked>
      %d = arith.subf %v, %all : tensor<1024xf32, #blocked>
      tt.store %p, %d : tensor<1024x!tt.ptr<f32>, #blocked>
    }
    tt.return
  }

  tt.func @others(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %c1024 = arith.constant 1024 : i32
    %c2048 = arith.constant 2048 : i32
    %zero = arith.constant dense<0.0> : tensor<1024xf32, #blocked>
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %sx = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %sy = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %so = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %all = scf.for %i = %c0 to %c2048 step %c1024 iter_args(%s = %zero) -> (tensor<1024xf32, #blocked>) : i32 {
      %t = tt.splat %i : i32 -> tensor<1024xi32, #blocked>
      %c = arith.addi %t, %r : tensor<1024xi32, #blocked>
      %p = tt.addptr %sx, %c : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked>
      %next = arith.addf %s, %v : tensor<1024xf32, #blocked>
      scf.yield %next : tensor<1024xf32, #blocked>
    }
    scf.for %i = %c0 to %c2048 step %c1024 : i32 {
      %t = tt.splat %i : i32 -> tensor<1024xi32, #blocked>
      %c = arith.addi %t, %r : tensor<1024xi32, #blocked>
      %p = tt.addptr %sy, %c : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked>
      %d = arith.subf %v, %all : tensor<1024xf32, #blocked>
      %q = tt.addptr %so, %c : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      tt.store %q, %d : tensor<1024x!tt.ptr<f32>, #blocked>
    }
    tt.return
  }

  tt.func @atomics_between(%x: !tt.ptr<f32>, %flag: !tt.ptr<i32>, %out: !tt.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c1024 = arith.constant 1024 : i32
    %c2048 = arith.constant 2048 : i32
    %true = arith.constant true
    %zero = arith.constant dense<0.0> : tensor<1024xf32, #blocked>
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %sx = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %so = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %all = scf.for %i = %c0 to %c2048 step %c1024 iter_args(%s = %zero) -> (tensor<1024xf32, #blocked>) : i32 {
      %t = tt.splat %i : i32 -> tensor<1024xi32, #blocked>
      %c = arith.addi %t, %r : tensor<1024xi32, #blocked>
      %p = tt.addptr %sx, %c : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked>
      %next = arith.addf %s, %v : tensor<1024xf32, #blocked>
      scf.yield %next : tensor<1024xf32, #blocked>
    }
    %seen = tt.atomic_rmw add, acq_rel, gpu, %flag, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %turn = tt.splat %seen : i32 -> tensor<1024xi32, #blocked>
    scf.for %i = %c0 to %c2048 step %c1024 : i32 {
      %t = tt.splat %i : i32 -> tensor<1024xi32, #blocked>
      %c = arith.addi %t, %r : tensor<1024xi32, #blocked>
      %p = tt.addptr %sx, %c : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked>
      %d = arith.subf %v, %all : tensor<1024xf32, #blocked>
      %k = arith.addi %c, %turn : tensor<1024xi32, #blocked>
      %q = tt.addptr %so, %k : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      tt.store %q, %d : tensor<1024x!tt.ptr<f32>, #blocked>
    }
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

// Sixteen tiles take 128 registers of a thread.
// CHECK-LABEL: @long
// CHECK-COUNT-2: scf.for
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @long(%x: !tt.ptr<f16>, %out: !tt.ptr<f16>) {
    %c0 = arith.constant 0 : i32
    %c1024 = arith.constant 1024 : i32
    %end = arith.constant 16384 : i32
    %zero = arith.constant dense<0.0> : tensor<1024xf16, #blocked>
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %sx = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
    %so = tt.splat %out : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
    %all = scf.for %i = %c0 to %end step %c1024 iter_args(%s = %zero) -> (tensor<1024xf16, #blocked>) : i32 {
      %t = tt.splat %i : i32 -> tensor<1024xi32, #blocked>
      %c = arith.addi %t, %r : tensor<1024xi32, #blocked>
      %p = tt.addptr %sx, %c : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
      %v = tt.load %p : tensor<1024x!tt.ptr<f16>, #blocked>
      %next = arith.maxnumf %s, %v : tensor<1024xf16, #blocked>
      scf.yield %next : tensor<1024xf16, #blocked>
    }
    scf.for %i = %c0 to %end step %c1024 : i32 {
      %t = tt.splat %i : i32 -> tensor<1024xi32, #blocked>
      %c = arith.addi %t, %r : tensor<1024xi32, #blocked>
      %p = tt.addptr %sx, %c : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
      %v = tt.load %p : tensor<1024x!tt.ptr<f16>, #blocked>
      %d = arith.subf %v, %all : tensor<1024xf16, #blocked>
      %q = tt.addptr %so, %c : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
      tt.store %q, %d : tensor<1024x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}
