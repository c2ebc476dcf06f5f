// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-schedule-loops --ttg-pipeline --canonicalize --cse | FileCheck %s

// Three buffers each. Two iterations of copies come first, each only if there is such an iteration; then one wait, one group and
// one dot an iteration.
// CHECK-DAG: #[[S:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-LABEL: @product
//       CHECK:   %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #[[S]], #smem, mutable>
//       CHECK:   %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #[[S]], #smem, mutable>
//       CHECK:   %[[ANY:.*]] = arith.cmpi sgt, %arg2, %c0_i32
//       CHECK:   %[[MASK:.*]] = tt.splat %[[ANY]]
//       CHECK:   %[[A0:.*]] = ttg.memdesc_index %[[A]][%c0_i32]
//       CHECK:   %[[CA:.*]] = ttg.async_copy_global_to_local %arg0, %[[A0]] mask %[[MASK]]
//       CHECK:   %[[B0:.*]] = ttg.memdesc_index %[[B]][%c0_i32]
//       CHECK:   %[[CB:.*]] = ttg.async_copy_global_to_local %arg1, %[[B0]] mask %[[MASK]]
//       CHECK:   %[[G0:.*]] = ttg.async_commit_group tokens %[[CA]], %[[CB]]
//       CHECK:   ttg.memdesc_index %[[A]][%c1_i32]
//       CHECK:   %[[G1:.*]] = ttg.async_commit_group tokens
//       CHECK:   scf.for %[[I:.*]] = %c0_i32 to %arg2 {{.*}} iter_args(%[[U:.*]] = %[[G0]], %[[V:.*]] = %[[G1]], {{.*}} %[[PLACE:.*]] = %c2_i32)
//       CHECK:     %[[NEXT:.*]] = arith.select
//       CHECK:     %[[DONE:.*]] = ttg.async_wait %[[U]] {num = 1 : i32}
//       CHECK:     %[[MORE:.*]] = arith.cmpi slt, %[[I]]
//       CHECK:     %[[THERE:.*]] = tt.splat %[[MORE]]
//       CHECK:     %[[AW:.*]] = ttg.memdesc_index %[[A]][%[[PLACE]]]
//       CHECK:     ttg.async_copy_global_to_local %{{.*}}, %[[AW]] mask %[[THERE]]
//       CHECK:     %[[G:.*]] = ttg.async_commit_group tokens
//       CHECK:     %[[AR:.*]] = ttg.memdesc_index %[[A]][%[[NEXT]]]
//       CHECK:     %[[X:.*]] = ttg.local_load %[[AR]] token %[[DONE]] {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0
//       CHECK:     %[[BR:.*]] = ttg.memdesc_index %[[B]][%[[NEXT]]]
//       CHECK:     %[[Y:.*]] = ttg.local_load %[[BR]] token %[[DONE]] {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1
//       CHECK:     tt.dot %[[X]], %[[Y]]
//       CHECK:     scf.yield %[[V]], %[[G]], {{.*}}, %[[NEXT]]
//       CHECK:   ttg.async_wait {num = 0 : i32}
//       CHECK:   ttg.local_dealloc %[[A]]
//       CHECK:   ttg.local_dealloc %[[B]]
//   CHECK-NOT:   loop.stage
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @product(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa {tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q {tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %pn = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %pn, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    }
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// A buffer that a dot may read on has one slot more: it reads two slots after the one that is filled.
// CHECK-LABEL: @read_on
//       CHECK:   %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<4x64x64xf16,
//       CHECK:   %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16,
//       CHECK:   scf.for {{.*}} iter_args({{.*}}%[[PA:[a-z0-9]+]] = %c2_i32, %[[PB:[a-z0-9]+]] = %c2_i32)
//       CHECK:     %[[A1:.*]] = arith.addi %[[PA]], %c1_i32
//       CHECK:     %[[A1W:.*]] = arith.select %{{.*}}, %c0_i32, %[[A1]]
//       CHECK:     %[[A2:.*]] = arith.addi %[[A1W]], %c1_i32
//       CHECK:     %[[A2W:.*]] = arith.select %{{.*}}, %c0_i32, %[[A2]]
//       CHECK:     ttg.async_wait %{{.*}} {num = 1 : i32}
//       CHECK:     ttg.memdesc_index %[[A]][%[[PA]]]
//       CHECK:     ttg.memdesc_index %[[A]][%[[A2W]]]
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @read_on(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p {loop.read_on, tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q {tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

// A transposed tile is read through a transposed view.
// CHECK-DAG: #[[S:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-DAG: #[[T:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
// CHECK-LABEL: @transposed
//       CHECK:   scf.for
//       CHECK:     %[[R:.*]] = ttg.memdesc_index %{{.*}} -> !ttg.memdesc<64x64xf16, #[[S]]
//       CHECK:     %[[V:.*]] = ttg.memdesc_trans %{{.*}} -> !ttg.memdesc<64x64xf16, #[[T]]
//       CHECK:     ttg.local_load %[[V]] {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#turned = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @transposed(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q {tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #turned>
      %yb = ttg.convert_layout %yt : tensor<64x64xf16, #turned> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %pn = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %pn, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    }
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// Zeros under the mask come from the copy; something else from a select, with the mask of the same iteration.
// CHECK-LABEL: @filled
//       CHECK:   %[[ONES:.*]] = arith.constant dense<1.0
//       CHECK:   scf.for
//       CHECK:     %[[THERE:.*]] = arith.andi
//       CHECK:     ttg.async_copy_global_to_local %{{.*}} mask %[[THERE]] :
//       CHECK:     %[[X:.*]] = ttg.local_load %{{.*}} -> tensor<64x64xf16, #blocked>
//       CHECK:     arith.select %{{arg[0-9]+}}, %[[X]], %[[ONES]]
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @filled(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32, %m: tensor<64x64x!tt.ptr<i1>, #blocked>) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %ones = arith.constant dense<1.0> : tensor<64x64xf16, #blocked>
      %mask = tt.load %m : tensor<64x64x!tt.ptr<i1>, #blocked>
      %x = tt.load %pa, %mask, %ones {tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %pn = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %pn, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    }
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// Loads into registers: the first iteration's come before the loop, the next iteration's after the conversions of this iteration's.
// CHECK-LABEL: @in_registers
//   CHECK-NOT:   ttg.local_alloc
//       CHECK:   %[[X0:.*]] = tt.load %arg0, %{{.*}} : tensor
//       CHECK:   %[[Y0:.*]] = tt.load %arg1, %{{.*}} : tensor
//       CHECK:   scf.for {{.*}}%[[X:arg[0-9]+]] = %[[X0]]{{.*}}%[[Y:arg[0-9]+]] = %[[Y0]]
//       CHECK:     %[[XA:.*]] = ttg.convert_layout %[[X]]
//       CHECK:     %[[YB:.*]] = ttg.convert_layout %[[Y]]
//       CHECK:     %[[X1:.*]] = tt.load %{{.*}}, %{{.*}} : tensor
//       CHECK:     %[[Y1:.*]] = tt.load %{{.*}}, %{{.*}} : tensor
//       CHECK:     tt.dot %[[XA]], %[[YB]]
//       CHECK:     scf.yield {{.*}}%[[X1]]{{.*}}%[[Y1]]
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @in_registers(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa {loop.in_registers, tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q {loop.in_registers, tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %pn = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %pn, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    }
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// In iterations that are not there a load without latency gets a mask, with poison for what it leaves out, and a divisor
// that the loop makes is replaced, by a multiple of most powers of two.
// One from outside has divided in an iteration before.
// CHECK-LABEL: @guarded
//       CHECK:   scf.for
//       CHECK:     arith.divsi %{{.*}}, %arg3 : i32
//       CHECK:     %[[THERE:.*]] = arith.cmpi slt
//       CHECK:     %[[E:.*]] = tt.load %arg4, %[[THERE]], %{{.*}} : !tt.ptr<i32>
//       CHECK:     %[[D:.*]] = arith.select %[[THERE]], %[[E]], %c1073741824_i32
//       CHECK:     arith.divsi %{{.*}}, %[[D]]
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @guarded(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32, %m: i32, %l: !tt.ptr<i32>) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %k = arith.divsi %i, %m : i32
      %e = tt.load %l : !tt.ptr<i32>
      %o = arith.divsi %k, %e : i32
      %os = tt.splat %o : i32 -> tensor<64x64xi32, #blocked>
      %px = tt.addptr %pa, %os : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      %x = tt.load %px {tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %pn = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %pn, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    }
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// A schedule that needs a value before it is made is not followed.
// CHECK-LABEL: @illegal
//   CHECK-NOT:   ttg.local_alloc
//   CHECK-NOT:   loop.stage
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @illegal(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa {loop.stage = 0 : i32, tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %pn = tt.addptr %pa, %step {loop.stage = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %pn, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// Nor is one whose buffers would be read after the last stage.
// CHECK-LABEL: @beyond_the_end
//   CHECK-NOT:   ttg.local_alloc
//   CHECK-NOT:   loop.stage
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @beyond_the_end(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa {loop.stage = 0 : i32, tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %pn = tt.addptr %pa, %step {loop.stage = 0 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %pn, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// One slot alone: it is filled anew once it has been read.
// CHECK-LABEL: @in_place
//       CHECK:   %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1x64x64xf16,
//       CHECK:   %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1x64x64xf16,
//       CHECK:   %[[AV:.*]] = ttg.memdesc_index %[[A]][%c0_i32]
//       CHECK:   %[[BV:.*]] = ttg.memdesc_index %[[B]][%c0_i32]
//       CHECK:   scf.for
//       CHECK:     %[[DONE:.*]] = ttg.async_wait %{{.*}} {num = 0 : i32}
//       CHECK:     ttg.local_load %[[AV]] token %[[DONE]]
//       CHECK:     ttg.local_load %[[BV]] token %[[DONE]]
//       CHECK:     tt.dot
//       CHECK:     ttg.async_copy_global_to_local %{{.*}}, %[[AV]]
//       CHECK:     ttg.async_copy_global_to_local %{{.*}}, %[[BV]]
//       CHECK:     ttg.async_commit_group
//       CHECK:     scf.yield
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @in_place(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa {loop.in_place, tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q {loop.in_place, tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %pn = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %pn, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    }
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// With two slots, an iteration reads and fills the same one.
// CHECK-LABEL: @in_place
//       CHECK:   %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16,
//       CHECK:   scf.for {{.*}}iter_args({{.*}}%[[SLOT:[a-z0-9]+]] = %c0_i32)
//       CHECK:     ttg.async_wait %{{.*}} {num = 1 : i32}
//       CHECK:     %[[V:.*]] = ttg.memdesc_index %[[A]][%[[SLOT]]]
//       CHECK:     ttg.local_load %[[V]]
//       CHECK:     tt.dot
//       CHECK:     ttg.async_copy_global_to_local %{{.*}}, %[[V]]
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @in_place(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa {loop.in_place, tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q {loop.in_place, tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %pn = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %pn, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>
    }
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// What a load is converted to is read from its buffer; four lanes read 16 bytes of a row side by side there.
// CHECK-DAG: #[[TO:.*]] = #ttg.linear<
// CHECK-DAG: #[[BYTES:.*]] = #ttg.swizzled_shared<{vec = 16, perPhase = 2, maxPhase = 4, order = [1, 0]}>
// CHECK-LABEL: @converted
//       CHECK:   scf.for
//       CHECK:     ttg.local_load %{{.*}} : !ttg.memdesc<32x64xi8, #[[BYTES]], {{.*}} -> tensor<32x64xi8, #[[TO]]>
//   CHECK-NOT:     ttg.convert_layout
//       CHECK:     tt.reduce
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#to = #ttg.linear<{register = [[0, 1], [0, 2], [0, 16], [0, 32]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]], block = []}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @converted(%p: tensor<32x64x!tt.ptr<i8>, #rows> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<32xi8, #ttg.slice<{dim = 1, parent = #to}>> {
    %zero = arith.constant dense<0> : tensor<32xi8, #ttg.slice<{dim = 1, parent = #to}>>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<32xi8, #ttg.slice<{dim = 1, parent = #to}>>) : i32 {
      %x = tt.load %p {tt.latency = 2 : i32} : tensor<32x64x!tt.ptr<i8>, #rows>
      %y = ttg.convert_layout %x : tensor<32x64xi8, #rows> -> tensor<32x64xi8, #to>
      %s = "tt.reduce"(%y) <{axis = 1 : i32}> ({
      ^bb0(%a: i8, %b: i8):
        %ab = arith.addi %a, %b : i8
        tt.reduce.return %ab : i8
      }) : (tensor<32x64xi8, #to>) -> tensor<32xi8, #ttg.slice<{dim = 1, parent = #to}>>
      %next = arith.addi %sum, %s : tensor<32xi8, #ttg.slice<{dim = 1, parent = #to}>>
      scf.yield %next : tensor<32xi8, #ttg.slice<{dim = 1, parent = #to}>>
    }
    tt.return %r : tensor<32xi8, #ttg.slice<{dim = 1, parent = #to}>>
  }
}

// -----

// A tile that a dot reads and the program also adds up: the dot still reads the buffer.
// CHECK-LABEL: @operand_and_tile
//       CHECK:   scf.for
//       CHECK:     ttg.local_load %{{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0
//       CHECK:     ttg.local_load %{{.*}} -> tensor<64x64xf16, #blocked>
//   CHECK-NOT:     ttg.convert_layout
//       CHECK:     scf.yield
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @operand_and_tile(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %y: tensor<64x64xf16, #b>, %n: i32) -> (tensor<64x64xf16, #blocked>, tensor<64x64xf32, #mma>) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %none = arith.constant dense<0.0> : tensor<64x64xf16, #blocked>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %sum = %none, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf16, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa {tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %d = tt.dot %xa, %y, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %s = arith.addf %sum, %x : tensor<64x64xf16, #blocked>
      %pn = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %pn, %s, %d : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf16, #blocked>, tensor<64x64xf32, #mma>
    }
    tt.return %r#1, %r#2 : tensor<64x64xf16, #blocked>, tensor<64x64xf32, #mma>
  }
}

// -----

// The first dot's threads read a buffer of the second dot's unit, which reads no other one.
// CHECK-DAG: #[[UNIT:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// CHECK-LABEL: @unit_and_threads
//       CHECK:   scf.for
//       CHECK:     ttg.local_load {{.*}} !ttg.memdesc<64x64xf16, #[[UNIT]], {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1
//       CHECK:     ttg.local_load {{.*}} !ttg.memdesc<64x64xf16, #[[UNIT]], {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1
//       CHECK:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#old = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#olda = #ttg.dot_op<{opIdx = 0, parent = #old, kWidth = 2}>
#oldb = #ttg.dot_op<{opIdx = 1, parent = #old, kWidth = 2}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @unit_and_threads(%x: tensor<64x64xf16, #olda>, %z: tensor<64x64xf16, #a>, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> (tensor<64x64xf32, #old>, tensor<64x64xf32, #mma>) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #old>
    %none = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %sum = %none) -> (tensor<64x64xf32, #old>, tensor<64x64xf32, #mma>) : i32 {
      %y = tt.load %q {tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %yo = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #oldb>
      %d = tt.dot %x, %yo, %acc : tensor<64x64xf16, #olda> * tensor<64x64xf16, #oldb> -> tensor<64x64xf32, #old>
      %yb = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %e = tt.dot %z, %yb, %sum : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d, %e : tensor<64x64xf32, #old>, tensor<64x64xf32, #mma>
    }
    tt.return %r#0, %r#1 : tensor<64x64xf32, #old>, tensor<64x64xf32, #mma>
  }
}

// -----

// The slot that is filled here has not been read yet: nothing begins early.
// CHECK-LABEL: @in_place_too_early
//   CHECK-NOT:   ttg.local_alloc
//       CHECK:   tt.load
//   CHECK-NOT:   ttg.local_alloc
//       CHECK:   tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @in_place_too_early(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %y: tensor<64x64xf16, #b>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p {loop.cluster = 0 : i32, loop.in_place, loop.stage = 0 : i32, tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x {loop.cluster = 1 : i32, loop.stage = 1 : i32} : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %d = tt.dot %xa, %y, %acc {loop.cluster = 1 : i32, loop.stage = 1 : i32} : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
