// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-schedule-loops | FileCheck %s

// The first operand's load and the pointer that the next iteration's load needs come two iterations early, the other load one.
// CHECK-LABEL: @product
//       CHECK:   tt.load %arg4 {loop.cluster = 1 : i32, loop.stage = 0 : i32
//       CHECK:   tt.load %arg1 {loop.cluster = 0 : i32, loop.stage = 1 : i32
//       CHECK:   ttg.convert_layout {{.*}}loop.cluster = 2 : i32, loop.stage = 2 : i32
//       CHECK:   ttg.convert_layout {{.*}}loop.cluster = 2 : i32, loop.stage = 2 : i32
//       CHECK:   tt.dot {{.*}}loop.cluster = 2 : i32, loop.stage = 2 : i32
//       CHECK:   tt.addptr {{.*}}loop.cluster = 1 : i32, loop.stage = 0 : i32
//       CHECK:   tt.scheduled_max_stage = 2 : i32
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
      %y = tt.load %q {tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
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

// What waits in registers is loaded just before the dot, when the conversions before it have taken what was loaded in
// the iteration before.
// CHECK-LABEL: @waits
//       CHECK:   tt.load %arg4 {loop.cluster = 1 : i32, loop.stage = 0 : i32
//       CHECK:   tt.load %arg1 {loop.cluster = 3 : i32, loop.in_registers, loop.stage = 1 : i32
//       CHECK:   ttg.convert_layout {{.*}}loop.cluster = 2 : i32, loop.stage = 2 : i32
//       CHECK:   ttg.convert_layout {{.*}}loop.cluster = 2 : i32, loop.stage = 2 : i32
//       CHECK:   tt.dot {{.*}}loop.cluster = 4 : i32, loop.stage = 2 : i32
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @waits(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa {tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
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

// Without latencies there is nothing to spread.
// CHECK-LABEL: @plain
//   CHECK-NOT:   loop.stage
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @plain(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa : tensor<64x64x!tt.ptr<f16>, #blocked>
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

// The next address is what this iteration has loaded: it cannot be loaded before.
// CHECK-LABEL: @chases
//   CHECK-NOT:   loop.stage
//   CHECK-NOT:   tt.latency
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @chases(%p: tensor<512x!tt.ptr<i32>, #blocked>, %n: i32) -> tensor<512xi32, #blocked> {
    %zero = arith.constant dense<0> : tensor<512xi32, #blocked>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%at = %zero) -> (tensor<512xi32, #blocked>) : i32 {
      %pi = tt.addptr %p, %at : tensor<512x!tt.ptr<i32>, #blocked>, tensor<512xi32, #blocked>
      %x = tt.load %pi {tt.latency = 2 : i32} : tensor<512x!tt.ptr<i32>, #blocked>
      scf.yield %x : tensor<512xi32, #blocked>
    }
    tt.return %r : tensor<512xi32, #blocked>
  }
}

// -----

// Latencies that add up to more stages than a loop may have are given up.
// CHECK-LABEL: @too_many
//   CHECK-NOT:   loop.stage
//   CHECK-NOT:   tt.latency
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @too_many(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %p, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %pa {tt.latency = 2000000000 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q {tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
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

// Copies in place, and what they alone need, come after the dot.
// CHECK-LABEL: @in_place
//       CHECK:   tt.load %arg4 {loop.cluster = 5 : i32, loop.in_place, loop.stage = 0 : i32
//       CHECK:   tt.load %arg1 {loop.cluster = 5 : i32, loop.in_place, loop.stage = 0 : i32
//       CHECK:   tt.dot {{.*}}loop.cluster = 2 : i32, loop.stage = 2 : i32
//       CHECK:   tt.addptr {{.*}}loop.cluster = 5 : i32, loop.stage = 0 : i32
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

// A persistent loop finds its next tile in a branch, by divisions. It comes as early as the load whose address it makes.
// CHECK-LABEL: @next_tile
//       CHECK:   scf.if
//       CHECK:   } {loop.cluster = 0 : i32, loop.stage = 0 : i32}
//       CHECK:   tt.load {{.*}}loop.cluster = 0 : i32, loop.stage = 0 : i32
//       CHECK:   tt.dot {{.*}}loop.stage = 1 : i32
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @next_tile(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %yb: tensor<64x64xf16, #b>, %tiles: i32, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c7 = arith.constant 7 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%tile = %c0, %acc = %zero) -> (i32, tensor<64x64xf32, #mma>) : i32 {
      %k = arith.remsi %i, %c7 : i32
      %is_new = arith.cmpi eq, %k, %c0 : i32
      %next = scf.if %is_new -> (i32) {
        %t = arith.addi %tile, %c1 : i32
        %row = arith.divsi %t, %tiles : i32
        scf.yield %row : i32
      } else {
        scf.yield %tile : i32
      }
      %offset = tt.splat %next : i32 -> tensor<64x64xi32, #blocked>
      %q = tt.addptr %p, %offset : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      %x = tt.load %q {tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %d = tt.dot %xa, %yb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %next, %d : i32, tensor<64x64xf32, #mma>
    }
    tt.return %r#1 : tensor<64x64xf32, #mma>
  }
}

// -----

// What a recurrence loads for the next iteration comes before what it computes.
// CHECK-LABEL: @recurrence
//       CHECK:   tt.load {{.*}}loop.cluster = 0 : i32, loop.first, loop.in_registers, loop.stage = 0 : i32
//       CHECK:   arith.divf {{.*}}loop.cluster = 1 : i32, loop.stage = 1 : i32
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @recurrence(%p: tensor<8192x!tt.ptr<f32>, #blocked>, %h0: tensor<8192xf32, #blocked>, %n: i32) -> tensor<8192xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %h0) -> (tensor<8192xf32, #blocked>) : i32 {
      %offsets = tt.splat %i : i32 -> tensor<8192xi32, #blocked>
      %pi = tt.addptr %p, %offsets : tensor<8192x!tt.ptr<f32>, #blocked>, tensor<8192xi32, #blocked>
      %x = tt.load %pi {loop.first, loop.in_registers, tt.latency = 1 : i32} : tensor<8192x!tt.ptr<f32>, #blocked>
      %a = arith.divf %x, %h : tensor<8192xf32, #blocked>
      scf.yield %a : tensor<8192xf32, #blocked>
    }
    tt.return %r : tensor<8192xf32, #blocked>
  }
}

// -----

// A copy into the slot that the iteration has read comes last, also where its address is loaded into registers.
// CHECK-LABEL: @in_place_at_loaded_address
//       CHECK:   tt.load {{.*}}loop.in_place, loop.in_registers, loop.stage = 0 : i32
//       CHECK:   tt.addptr {{.*}}loop.cluster = 5 : i32, loop.stage = 1 : i32
//       CHECK:   tt.load {{.*}}loop.cluster = 5 : i32, loop.in_place, loop.stage = 1 : i32
//       CHECK:   tt.dot {{.*}}loop.cluster = 4 : i32, loop.stage = 2 : i32
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @in_place_at_loaded_address(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %indices: !tt.ptr<i32>, %y: tensor<64x64xf16, #b>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %at = tt.addptr %indices, %i : !tt.ptr<i32>, i32
      %index = tt.load %at {loop.in_place, loop.in_registers, tt.latency = 1 : i32} : !tt.ptr<i32>
      %offset = tt.splat %index : i32 -> tensor<64x64xi32, #blocked>
      %px = tt.addptr %p, %offset : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      %x = tt.load %px {loop.in_place, tt.latency = 1 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xa = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %d = tt.dot %xa, %y, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
