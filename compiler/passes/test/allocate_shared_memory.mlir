// RUN: triton-opt %s --split-input-file --verify-diagnostics --ttg-allocate-shared-memory | FileCheck %s
// RUN: triton-opt %s --split-input-file --verify-diagnostics --convert-scf-to-cf --ttg-allocate-shared-memory | FileCheck %s --check-prefix=CF

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#col = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
#row2 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#lane = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>

// What needs no scratch: registers alone, shuffles within a warp, nothing at all.
// CHECK: module attributes {{{.*}}ttg.shared = 0
module attributes {"ttg.num-warps" = 4 : i32} {
  // CHECK-LABEL: tt.func @nothing
  // CHECK-NOT: allocation
  // CHECK: tt.return
  tt.func @nothing(%x: tensor<4x128xf32, #row>) {
    %0 = ttg.convert_layout %x : tensor<4x128xf32, #row> -> tensor<4x128xf32, #row2>
    %1 = arith.addf %x, %x : tensor<4x128xf32, #row>
    tt.return
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#col = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>

// A conversion holds the whole tensor; booleans take a byte, pointers eight. All follow each other and share one place.
// CHECK: module attributes {{{.*}}ttg.shared = 131072
module attributes {"ttg.num-warps" = 4 : i32} {
  // CHECK-LABEL: tt.func @conversions
  // CHECK-SAME: allocation.bytes = 131072 : i32
  tt.func @conversions(%x: tensor<128x128xf16, #row>, %b: tensor<128x128xi1, #row>, %p: tensor<128x128x!tt.ptr<f32>, #row>) {
    // CHECK: ttg.convert_layout %{{.*}} {allocation.offset = 0 : i32} : tensor<128x128xf16
    %0 = ttg.convert_layout %x : tensor<128x128xf16, #row> -> tensor<128x128xf16, #col>
    // CHECK: ttg.convert_layout %{{.*}} {allocation.offset = 0 : i32} : tensor<128x128xi1
    %1 = ttg.convert_layout %b : tensor<128x128xi1, #row> -> tensor<128x128xi1, #col>
    // CHECK: ttg.convert_layout %{{.*}} {allocation.offset = 0 : i32} : tensor<128x128x!tt.ptr
    %2 = ttg.convert_layout %p : tensor<128x128x!tt.ptr<f32>, #row> -> tensor<128x128x!tt.ptr<f32>, #col>
    tt.return
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>

// Along dimension 0 lie 4 warps: 4 partial results for each of the 128 columns. Dimension 1 stays within a warp.
// CHECK: module attributes {{{.*}}ttg.shared = 2048
module attributes {"ttg.num-warps" = 4 : i32} {
  // CHECK-LABEL: tt.func @reduce_across_warps
  tt.func @reduce_across_warps(%x: tensor<16x128xf32, #row>) {
    // CHECK: "tt.reduce"(%{{.*}}) <{axis = 0 : i32}> ({
    // CHECK: }) {allocation.offset = 0 : i32}
    %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %h: f32):
      %add = arith.addf %l, %h : f32
      tt.reduce.return %add : f32
    }) : (tensor<16x128xf32, #row>) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #row}>>
    // CHECK: "tt.reduce"(%{{.*}}) <{axis = 1 : i32}> ({
    // CHECK: }) : (
    %1 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %h: f32):
      %add = arith.addf %l, %h : f32
      tt.reduce.return %add : f32
    }) : (tensor<16x128xf32, #row>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #row}>>
    tt.return
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>

// A part an operand: 4 x 128 bytes of i8, then 4 x 128 of i32. Warps that only hold copies do not count: 2 rows on 4 warps
// have 2 partial results.
// CHECK: module attributes {{{.*}}ttg.shared = 2560
module attributes {"ttg.num-warps" = 4 : i32} {
  // CHECK-LABEL: tt.func @reduce_tuple
  // CHECK-SAME: allocation.bytes = 2560 : i32
  tt.func @reduce_tuple(%x: tensor<16x128xi8, #row>, %y: tensor<16x128xi32, #row>) {
    // CHECK: }) {allocation.offset = 0 : i32}
    %0:2 = "tt.reduce"(%x, %y) <{axis = 0 : i32}> ({
    ^bb0(%a: i8, %b: i32, %c: i8, %d: i32):
      tt.reduce.return %a, %b : i8, i32
    }) : (tensor<16x128xi8, #row>, tensor<16x128xi32, #row>) -> (tensor<128xi8, #ttg.slice<{dim = 0, parent = #row}>>, tensor<128xi32, #ttg.slice<{dim = 0, parent = #row}>>)
    tt.return
  }
  // CHECK-LABEL: tt.func @reduce_copies
  // CHECK-SAME: allocation.bytes = 1024 : i32
  tt.func @reduce_copies(%x: tensor<2x128xf32, #row>) {
    %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %h: f32):
      %add = arith.addf %l, %h : f32
      tt.reduce.return %add : f32
    }) : (tensor<2x128xf32, #row>) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #row}>>
    tt.return
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-warps" = 4 : i32} {
  // A total for each of sixteen rows, as no thread has neighbours.
  // CHECK-LABEL: tt.func @scan
  // CHECK-SAME: allocation.bytes = 8192 : i32
  tt.func @scan(%x: tensor<16x128xf32, #row>) {
    %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%l: f32, %h: f32):
      %add = arith.addf %l, %h : f32
      tt.scan.return %add : f32
    }) : (tensor<16x128xf32, #row>) -> tensor<16x128xf32, #row>
    tt.return
  }
  // A counter a bin.
  // CHECK-LABEL: tt.func @histogram
  // CHECK-SAME: allocation.bytes = 1024 : i32
  tt.func @histogram(%x: tensor<512xi32, #one>) {
    %0 = tt.histogram %x : tensor<512xi32, #one> -> tensor<256xi32, #one>
    tt.return
  }
  // CHECK-LABEL: tt.func @gather
  // CHECK-SAME: allocation.bytes = 512 : i32
  tt.func @gather(%x: tensor<256xf16, #one>, %i: tensor<512xi32, #one>) {
    %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<256xf16, #one>, tensor<512xi32, #one>) -> tensor<512xf16, #one>
    tt.return
  }
  // One thread does a scalar atomic and tells the others, if they ask. Small areas in a row get places of their own, so that
  // no barrier is needed between them.
  // CHECK-LABEL: tt.func @atomics
  // CHECK-SAME: allocation.bytes = 40 : i32
  tt.func @atomics(%p: !tt.ptr<i64>, %v: i64, %ps: tensor<8x!tt.ptr<i32>, #one>, %vs: tensor<8xi32, #one>,
                   %pl: tensor<128x!tt.ptr<i32>, #one>, %vl: tensor<128xi32, #one>, %q: !tt.ptr<i64>) {
    // CHECK: tt.atomic_rmw add, acq_rel, gpu, %arg0, %arg1 : (!tt.ptr<i64>, i64) -> i64
    %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %v : (!tt.ptr<i64>, i64) -> i64
    // CHECK: tt.atomic_rmw add, acq_rel, gpu, %arg0, %arg1 {allocation.offset = 0 : i32}
    %1 = tt.atomic_rmw add, acq_rel, gpu, %p, %v : (!tt.ptr<i64>, i64) -> i64
    // CHECK: tt.atomic_cas acq_rel, gpu, %arg0, %{{.*}} {allocation.offset = 32 : i32}
    %2 = tt.atomic_cas acq_rel, gpu, %p, %1, %v : (!tt.ptr<i64>, i64, i64) -> i64
    tt.store %q, %2 : !tt.ptr<i64>
    // Of 8 elements on 128 threads there are copies; of 128 there are none.
    // CHECK: tt.atomic_rmw add, acq_rel, gpu, %arg2, %arg3 {allocation.offset = 0 : i32}
    %3 = tt.atomic_rmw add, acq_rel, gpu, %ps, %vs : (tensor<8x!tt.ptr<i32>, #one>, tensor<8xi32, #one>) -> tensor<8xi32, #one>
    // CHECK: tt.atomic_rmw add, acq_rel, gpu, %arg4, %arg5 : (
    %4 = tt.atomic_rmw add, acq_rel, gpu, %pl, %vl : (tensor<128x!tt.ptr<i32>, #one>, tensor<128xi32, #one>) -> tensor<128xi32, #one>
    tt.store %ps, %3 : tensor<8x!tt.ptr<i32>, #one>
    tt.store %pl, %4 : tensor<128x!tt.ptr<i32>, #one>
    tt.return
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#col = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-warps" = 4 : i32} {
  // A buffer lives to its last use: the first conversion goes beside it, the second takes its place.
  // CHECK-LABEL: tt.func @buffer_and_scratch
  // CHECK-SAME: allocation.bytes = 65536 : i32
  tt.func @buffer_and_scratch(%x: tensor<128x128xf16, #row>) {
    // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = [[BUFFER:[0-9]+]] : i32}
    %a = ttg.local_alloc %x : (tensor<128x128xf16, #row>) -> !ttg.memdesc<128x128xf16, #shared, #smem>
    // CHECK-NOT: allocation.offset = [[BUFFER]] : i32
    // CHECK: ttg.convert_layout
    %0 = ttg.convert_layout %x : tensor<128x128xf16, #row> -> tensor<128x128xf16, #col>
    %1 = ttg.local_load %a : !ttg.memdesc<128x128xf16, #shared, #smem> -> tensor<128x128xf16, #row>
    // CHECK: ttg.convert_layout %{{.*}} {allocation.offset = 0 : i32}
    %2 = ttg.convert_layout %1 : tensor<128x128xf16, #row> -> tensor<128x128xf16, #col>
    tt.return
  }

  // A buffer that a loop uses lives through all of it, one made in the loop only there.
  // CHECK-LABEL: tt.func @loop
  // CHECK-SAME: allocation.bytes = 24576 : i32
  // CF-LABEL: tt.func @loop
  // CF-SAME: allocation.bytes = 24576 : i32
  tt.func @loop(%x: tensor<64x64xf16, #row>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #row>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %0 = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #row>
      %b = ttg.local_alloc %0 : (tensor<64x64xf16, #row>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %1 = ttg.local_load %b : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #row>
      %2 = ttg.convert_layout %1 : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
      %c = ttg.local_alloc %1 : (tensor<64x64xf16, #row>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %d = ttg.local_alloc %1 : (tensor<64x64xf16, #row>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %3 = ttg.local_load %c : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #row>
      %4 = ttg.local_load %d : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #row>
    }
    tt.return
  }

  // Two buffers that a loop exchanges live as long as the loop, and so does one that goes around.
  // CHECK-LABEL: tt.func @carried
  // CHECK-SAME: allocation.bytes = 32768 : i32
  // CF-LABEL: tt.func @carried
  // CF-SAME: allocation.bytes = 32768 : i32
  tt.func @carried(%x: tensor<64x64xf16, #row>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #row>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %b = ttg.local_alloc %x : (tensor<64x64xf16, #row>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b)
        -> (!ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>) : i32 {
      %0 = ttg.local_load %p : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #row>
      %1 = ttg.convert_layout %0 : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
      %f = ttg.local_alloc %0 : (tensor<64x64xf16, #row>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      scf.yield %q, %f : !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>
    }
    tt.return
  }

  // Only one branch of two runs, so both use one place.
  // CHECK-LABEL: tt.func @branches
  // CHECK-SAME: allocation.bytes = 8192 : i32
  // CF-LABEL: tt.func @branches
  // CF-SAME: allocation.bytes = 8192 : i32
  tt.func @branches(%x: tensor<64x64xf16, #row>, %c: i1) {
    scf.if %c {
      %a = ttg.local_alloc %x : (tensor<64x64xf16, #row>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %0 = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #row>
    } else {
      %b = ttg.local_alloc %x : (tensor<64x64xf16, #row>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %1 = ttg.local_load %b : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #row>
    }
    tt.return
  }

  // A wanted alignment is kept; a dealloc counts as a use.
  // CHECK-LABEL: tt.func @alignment
  tt.func @alignment(%x: tensor<64x64xf16, #row>) {
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #row>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    // CHECK: ttg.local_alloc %{{.*}} {alignment = 1024 : i32, allocation.offset = {{0|8192}} : i32}
    %b = ttg.local_alloc %x {alignment = 1024 : i32} : (tensor<64x64xf16, #row>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    ttg.local_dealloc %a : !ttg.memdesc<64x64xf16, #shared, #smem>
    ttg.local_dealloc %b : !ttg.memdesc<64x64xf16, #shared, #smem>
    tt.return
  }

  // In blocks whose order is not that of execution: %a lives in ^bb1 and ^bb3, though ^bb2 with its conversion lies between
  // them in the text.
  // CHECK-LABEL: tt.func @unordered_blocks
  // CHECK-SAME: allocation.bytes = 16384 : i32
  tt.func @unordered_blocks(%x: tensor<64x64xf16, #row>, %c: i1) {
    cf.br ^bb3
  ^bb1:
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #row>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    cf.br ^bb4
  ^bb2:
    %0 = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #row>
    tt.return
  ^bb3:
    cf.br ^bb1
  ^bb4:
    %1 = ttg.convert_layout %x : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
    cf.br ^bb2
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#col = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

// A callee's frame lies where its caller has room at the call; functions without scratch get none.
// CHECK: module attributes {{{.*}}ttg.shared = 16384
module attributes {"ttg.num-warps" = 4 : i32} {
  // CHECK-LABEL: tt.func public @kernel
  // CHECK-SAME: allocation.bytes = 16384 : i32
  tt.func public @kernel(%x: tensor<64x64xf16, #row>) {
    // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = [[BUFFER:[0-9]+]] : i32}
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #row>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    // CHECK-NOT: allocation.offset = [[BUFFER]] : i32
    // CHECK: tt.call @converts
    tt.call @converts(%x) : (tensor<64x64xf16, #row>) -> ()
    // CHECK: tt.call @adds(%{{.*}}) : (
    tt.call @adds(%x) : (tensor<64x64xf16, #row>) -> ()
    %0 = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #row>
    // CHECK: tt.call @converts(%{{.*}}) {allocation.offset = 0 : i32}
    tt.call @converts(%x) : (tensor<64x64xf16, #row>) -> ()
    tt.return
  }
  // CHECK-LABEL: tt.func private @converts
  // CHECK-SAME: allocation.bytes = 8192 : i32
  tt.func private @converts(%x: tensor<64x64xf16, #row>) attributes {noinline = true} {
    %0 = ttg.convert_layout %x : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
    tt.return
  }
  // CHECK-LABEL: tt.func private @adds
  // CHECK-NOT: allocation
  tt.func private @adds(%x: tensor<64x64xf16, #row>) {
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32} {
  // expected-error @+1 {{calls itself}}
  tt.func private @recursive() {
    tt.call @recursive() : () -> ()
    tt.return
  }
}
