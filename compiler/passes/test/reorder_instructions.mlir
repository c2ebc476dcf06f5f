// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-reorder-instructions | FileCheck %s

// What grows goes down to its user: an extension after the load, with the constant it is added to.
#a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @grows
  //       CHECK:   %[[V:.*]] = tt.load
  //       CHECK:   %[[E:.*]] = arith.extf
  //       CHECK:   %[[S:.*]] = arith.addf %[[E]], %[[V]]
  //       CHECK:   %[[ONE:.*]] = arith.constant dense<1.0
  //       CHECK:   arith.mulf %[[S]], %[[ONE]]
  tt.func @grows(%x: tensor<512xf16, #a>, %p: tensor<512x!tt.ptr<f32>, #a>) -> tensor<512xf32, #a> {
    %one = arith.constant dense<1.0> : tensor<512xf32, #a>
    %e = arith.extf %x : tensor<512xf16, #a> to tensor<512xf32, #a>
    %v = tt.load %p : tensor<512x!tt.ptr<f32>, #a>
    %s = arith.addf %e, %v : tensor<512xf32, #a>
    %r = arith.mulf %s, %one : tensor<512xf32, #a>
    tt.return %r : tensor<512xf32, #a>
  }
}

// -----

// What shrinks stays: its operand would live longer. It moves as well where the operand lives on anyway.
#a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @shrinks
  //       CHECK:   arith.truncf
  //       CHECK:   tt.load
  //       CHECK:   tt.store
  // CHECK-LABEL: @shrinks_alive
  //       CHECK:   tt.load
  //       CHECK:   arith.truncf
  //       CHECK:   tt.store
  tt.func @shrinks(%x: tensor<512xf32, #a>, %p: tensor<512x!tt.ptr<f16>, #a>) -> tensor<512xf16, #a> {
    %t = arith.truncf %x : tensor<512xf32, #a> to tensor<512xf16, #a>
    %v = tt.load %p : tensor<512x!tt.ptr<f16>, #a>
    tt.store %p, %t : tensor<512x!tt.ptr<f16>, #a>
    tt.return %v : tensor<512xf16, #a>
  }
  tt.func @shrinks_alive(%x: tensor<512xf32, #a>, %p: tensor<512x!tt.ptr<f16>, #a>)
      -> (tensor<512xf16, #a>, tensor<512xf32, #a>) {
    %t = arith.truncf %x : tensor<512xf32, #a> to tensor<512xf16, #a>
    %v = tt.load %p : tensor<512x!tt.ptr<f16>, #a>
    tt.store %p, %t : tensor<512x!tt.ptr<f16>, #a>
    tt.return %v, %x : tensor<512xf16, #a>, tensor<512xf32, #a>
  }
}

// -----

// Into the branch that alone needs it, and there to its user; not into a loop, not to the end of its body.
#a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @branch
  //       CHECK:   scf.if
  //       CHECK:     tt.load
  //       CHECK:     arith.extf
  //       CHECK:     tt.store
  // CHECK-LABEL: @loop
  //       CHECK:   arith.extf
  //       CHECK:   scf.for
  //       CHECK:     arith.extf
  //       CHECK:     tt.store
  //       CHECK:     scf.yield
  tt.func @branch(%c: i1, %x: tensor<512xf16, #a>, %p: tensor<512x!tt.ptr<f32>, #a>) {
    %e = arith.extf %x : tensor<512xf16, #a> to tensor<512xf32, #a>
    scf.if %c {
      %v = tt.load %p : tensor<512x!tt.ptr<f32>, #a>
      %s = arith.addf %e, %v : tensor<512xf32, #a>
      tt.store %p, %s : tensor<512x!tt.ptr<f32>, #a>
    }
    tt.return
  }
  tt.func @loop(%n: i32, %x: tensor<512xf16, #a>, %p: tensor<512x!tt.ptr<f32>, #a>, %q: tensor<512x!tt.ptr<f16>, #a>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %e = arith.extf %x : tensor<512xf16, #a> to tensor<512xf32, #a>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %e) -> (tensor<512xf32, #a>) : i32 {
      %h = tt.load %q : tensor<512x!tt.ptr<f16>, #a>
      %f = arith.extf %h : tensor<512xf16, #a> to tensor<512xf32, #a>
      tt.store %p, %a : tensor<512x!tt.ptr<f32>, #a>
      scf.yield %f : tensor<512xf32, #a>
    }
    tt.return
  }
}

// -----

// A buffer is filled as soon as its source is there, but not before the next load has been sent.
#a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @buffer
  //       CHECK:   %[[V:.*]] = tt.load
  //       CHECK:   %[[W:.*]] = tt.load
  //       CHECK:   %[[B:.*]] = ttg.local_alloc %[[V]]
  //       CHECK:   %[[S:.*]] = arith.addf
  //       CHECK:   ttg.local_load %[[B]]
  tt.func @buffer(%p: tensor<512x!tt.ptr<f32>, #a>, %q: tensor<512x!tt.ptr<f32>, #a>)
      -> (tensor<512xf32, #a>, tensor<512xf32, #a>) {
    %v = tt.load %p : tensor<512x!tt.ptr<f32>, #a>
    %w = tt.load %q : tensor<512x!tt.ptr<f32>, #a>
    %s = arith.addf %w, %w : tensor<512xf32, #a>
    %b = ttg.local_alloc %v : (tensor<512xf32, #a>) -> !ttg.memdesc<512xf32, #shared, #smem>
    %l = ttg.local_load %b : !ttg.memdesc<512xf32, #shared, #smem> -> tensor<512xf32, #a>
    tt.return %s, %l : tensor<512xf32, #a>, tensor<512xf32, #a>
  }
}

// -----

// A conversion to an operand that many threads hold goes down to its user, but does not take shared memory beside a
// buffer that was not there before.
#a = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#opb = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @operand
  //       CHECK:   tt.load
  //       CHECK:   ttg.convert_layout
  //       CHECK:   arith.addf
  // CHECK-LABEL: @operand_and_buffer
  //       CHECK:   tt.load
  //       CHECK:   ttg.convert_layout
  //       CHECK:   ttg.local_alloc
  tt.func @operand(%x: tensor<32x32xf16, #a>, %p: tensor<32x32x!tt.ptr<f16>, #a>)
      -> (tensor<32x32xf16, #opb>, tensor<32x32xf16, #a>) {
    %c = ttg.convert_layout %x : tensor<32x32xf16, #a> -> tensor<32x32xf16, #opb>
    %v = tt.load %p : tensor<32x32x!tt.ptr<f16>, #a>
    %s = arith.addf %c, %c : tensor<32x32xf16, #opb>
    tt.return %s, %v : tensor<32x32xf16, #opb>, tensor<32x32xf16, #a>
  }
  tt.func @operand_and_buffer(%x: tensor<32x32xf16, #a>, %p: tensor<32x32x!tt.ptr<f16>, #a>)
      -> (tensor<32x32xf16, #opb>, tensor<32x32xf16, #a>) {
    %c = ttg.convert_layout %x : tensor<32x32xf16, #a> -> tensor<32x32xf16, #opb>
    %v = tt.load %p : tensor<32x32x!tt.ptr<f16>, #a>
    %b = ttg.local_alloc %v : (tensor<32x32xf16, #a>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    %s = arith.addf %c, %c : tensor<32x32xf16, #opb>
    %l = ttg.local_load %b : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #a>
    tt.return %s, %l : tensor<32x32xf16, #opb>, tensor<32x32xf16, #a>
  }
}

// -----

// A conversion that needs a barrier stands at the wait, whose readers need one, too; with what makes its source. One of
// what is read there stays.
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @at_the_wait
  //       CHECK:   ttg.async_wait
  //  CHECK-NEXT:   %[[E:.*]] = arith.extui
  //  CHECK-NEXT:   ttg.convert_layout %[[E]]
  //       CHECK:   ttg.local_load
  // CHECK-LABEL: @of_what_is_read
  //       CHECK:   ttg.async_wait
  //  CHECK-NEXT:   %[[X:.*]] = ttg.local_load
  //       CHECK:   ttg.convert_layout %[[X]]
  tt.func @at_the_wait(%m: !ttg.memdesc<256xi32, #shared, #smem, mutable>, %s: tensor<256xi8, #a>) -> tensor<256xi32, #b> {
    %t = ttg.async_wait {num = 0 : i32}
    %x = ttg.local_load %m token %t : !ttg.memdesc<256xi32, #shared, #smem, mutable> -> tensor<256xi32, #b>
    %e = arith.extui %s : tensor<256xi8, #a> to tensor<256xi32, #a>
    %y = ttg.convert_layout %e : tensor<256xi32, #a> -> tensor<256xi32, #b>
    %z = arith.addi %x, %y : tensor<256xi32, #b>
    tt.return %z : tensor<256xi32, #b>
  }
  tt.func @of_what_is_read(%m: !ttg.memdesc<256xi32, #shared, #smem, mutable>) -> tensor<256xi32, #b> {
    %t = ttg.async_wait {num = 0 : i32}
    %x = ttg.local_load %m token %t : !ttg.memdesc<256xi32, #shared, #smem, mutable> -> tensor<256xi32, #a>
    %y = ttg.convert_layout %x : tensor<256xi32, #a> -> tensor<256xi32, #b>
    tt.return %y : tensor<256xi32, #b>
  }
}

// -----

// What only the end needs is made behind the loop, though the comparison has as many registers as its operands.
// CHECK-LABEL: @past_a_loop
//       CHECK:   scf.for
//       CHECK:   }
//       CHECK:   tt.make_range
//       CHECK:   arith.addi
//       CHECK:   arith.cmpi
//       CHECK:   tt.store
#row = #ttg.blocked<{sizePerThread = [64], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @past_a_loop(%p: !tt.ptr<f32>, %n: i32, %first: i32, %x: tensor<8192xf32, #row>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %starts = tt.splat %first : i32 -> tensor<8192xi32, #row>
    %range = tt.make_range {start = 0 : i32, end = 8192 : i32} : tensor<8192xi32, #row>
    %at = arith.addi %starts, %range : tensor<8192xi32, #row>
    %limits = tt.splat %n : i32 -> tensor<8192xi32, #row>
    %mask = arith.cmpi slt, %at, %limits : tensor<8192xi32, #row>
    %bases = tt.splat %p : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #row>
    %to = tt.addptr %bases, %at : tensor<8192x!tt.ptr<f32>, #row>, tensor<8192xi32, #row>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<8192xf32, #row>) : i32 {
      %next = arith.mulf %acc, %acc : tensor<8192xf32, #row>
      scf.yield %next : tensor<8192xf32, #row>
    }
    tt.store %to, %sum, %mask : tensor<8192x!tt.ptr<f32>, #row>
    tt.return
  }
}

// -----

// The second load is on its way while the first sum goes through shared memory. One that takes many registers is not.
// CHECK-LABEL: @loads_before_conversions
//       CHECK:   tt.load
//       CHECK:   tt.load
//       CHECK:   ttg.convert_layout
//       CHECK:   tt.load
#near = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#far = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#row = #ttg.blocked<{sizePerThread = [64], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @loads_before_conversions(%p: tensor<512x!tt.ptr<f32>, #near>, %by: tensor<512xi32, #near>,
                                           %wide: tensor<8192x!tt.ptr<f32>, #row>)
      -> (tensor<512xf32, #far>, tensor<512xf32, #near>, tensor<8192xf32, #row>) {
    %x = tt.load %p : tensor<512x!tt.ptr<f32>, #near>
    %y = ttg.convert_layout %x : tensor<512xf32, #near> -> tensor<512xf32, #far>
    %q = tt.addptr %p, %by : tensor<512x!tt.ptr<f32>, #near>, tensor<512xi32, #near>
    %z = tt.load %q : tensor<512x!tt.ptr<f32>, #near>
    %w = tt.load %wide : tensor<8192x!tt.ptr<f32>, #row>
    tt.return %y, %z, %w : tensor<512xf32, #far>, tensor<512xf32, #near>, tensor<8192xf32, #row>
  }
}

// -----

// A quarter of a thread's registers may wait: 4 and 32.
// CHECK-LABEL: @loads_of_36_words
//       CHECK:   tt.load
//       CHECK:   tt.load
//       CHECK:   tt.load
//       CHECK:   ttg.convert_layout
#near = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#far = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#row = #ttg.blocked<{sizePerThread = [32], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @loads_of_36_words(%p: tensor<512x!tt.ptr<f32>, #near>, %by: tensor<512xi32, #near>,
                                    %wide: tensor<4096x!tt.ptr<f32>, #row>)
      -> (tensor<512xf32, #far>, tensor<512xf32, #near>, tensor<4096xf32, #row>) {
    %x = tt.load %p : tensor<512x!tt.ptr<f32>, #near>
    %y = ttg.convert_layout %x : tensor<512xf32, #near> -> tensor<512xf32, #far>
    %q = tt.addptr %p, %by : tensor<512x!tt.ptr<f32>, #near>, tensor<512xi32, #near>
    %z = tt.load %q : tensor<512x!tt.ptr<f32>, #near>
    %w = tt.load %wide : tensor<4096x!tt.ptr<f32>, #row>
    tt.return %y, %z, %w : tensor<512xf32, #far>, tensor<512xf32, #near>, tensor<4096xf32, #row>
  }
}

// -----

// What other warps make is read behind a barrier. A thread would hold 128 registers there, and holds 32.
// CHECK-LABEL: @made_first
//       CHECK:   ttg.local_load {{.*}} -> tensor<32x32xf16
//       CHECK:   ttg.local_load {{.*}} -> tensor<32x512xf16
// CHECK-LABEL: @in_time
//       CHECK:   ttg.local_load {{.*}} -> tensor<32x128xf16
//       CHECK:   ttg.local_load {{.*}} -> tensor<32x32xf16
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @made_first(%p: tensor<32x32xf16, #mma>, %v: !ttg.memdesc<32x512xf16, #shared, #smem, mutable>, %acc: tensor<32x512xf32, #mma>) -> tensor<32x512xf32, #mma> {
    %m = ttg.local_alloc %p : (tensor<32x32xf16, #mma>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    %y = ttg.local_load %v : !ttg.memdesc<32x512xf16, #shared, #smem, mutable> -> tensor<32x512xf16, #b>
    %x = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #a>
    %d = tt.dot %x, %y, %acc : tensor<32x32xf16, #a> * tensor<32x512xf16, #b> -> tensor<32x512xf32, #mma>
    tt.return %d : tensor<32x512xf32, #mma>
  }
  tt.func public @in_time(%p: tensor<32x32xf16, #mma>, %v: !ttg.memdesc<32x128xf16, #shared, #smem, mutable>, %acc: tensor<32x128xf32, #mma>) -> tensor<32x128xf32, #mma> {
    %m = ttg.local_alloc %p : (tensor<32x32xf16, #mma>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    %y = ttg.local_load %v : !ttg.memdesc<32x128xf16, #shared, #smem, mutable> -> tensor<32x128xf16, #b>
    %x = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #a>
    %d = tt.dot %x, %y, %acc : tensor<32x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<32x128xf32, #mma>
    tt.return %d : tensor<32x128xf32, #mma>
  }
}

// -----

// A buffer is filled in front of a conversion that takes little shared memory beside it. Else what fills it would wait in registers
// at the conversion's barrier.
#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @small_conversion
  //       CHECK:   arith.addf
  //       CHECK:   ttg.local_alloc
  //       CHECK:   ttg.convert_layout
  //       CHECK:   ttg.local_load
  tt.func @small_conversion(%x: tensor<128x64xf16, #a>, %scales: tensor<128xf16, #row>)
      -> (tensor<128x64xf16, #a>, tensor<128xf16, #ttg.slice<{dim = 1, parent = #a}>>) {
    %v = arith.addf %x, %x : tensor<128x64xf16, #a>
    %c = ttg.convert_layout %scales : tensor<128xf16, #row> -> tensor<128xf16, #ttg.slice<{dim = 1, parent = #a}>>
    %b = ttg.local_alloc %v : (tensor<128x64xf16, #a>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %l = ttg.local_load %b : !ttg.memdesc<128x64xf16, #shared, #smem> -> tensor<128x64xf16, #a>
    tt.return %l, %c : tensor<128x64xf16, #a>, tensor<128xf16, #ttg.slice<{dim = 1, parent = #a}>>
  }
}
