// RUN: triton-opt %s --split-input-file --verify-diagnostics --ttg-insert-barriers | FileCheck %s

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#col = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-warps" = 4 : i32} {
  // The second of two operations in one place waits for the readers of the first.
  // CHECK-LABEL: tt.func @same_place
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: tt.return
  tt.func @same_place(%x: tensor<64x64xf16, #row>) {
    %0 = ttg.convert_layout %x {allocation.offset = 0 : i32} : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
    %1 = ttg.convert_layout %x {allocation.offset = 4096 : i32} : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
    tt.return
  }

  // Different places need none, and what the barrier inside of an operation has separated neither: the third may overwrite
  // the first.
  // CHECK-LABEL: tt.func @different_places
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func @different_places(%x: tensor<64x64xf16, #row>) {
    %0 = ttg.convert_layout %x {allocation.offset = 0 : i32} : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
    %1 = ttg.convert_layout %x {allocation.offset = 8192 : i32} : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
    %2 = ttg.convert_layout %x {allocation.offset = 0 : i32} : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
    tt.return
  }

  // Read after write, write after read, write after write; reads alone do not conflict.
  // CHECK-LABEL: tt.func @buffers
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttg.local_dealloc
  // CHECK-NEXT: tt.return
  tt.func @buffers(%x: tensor<64x64xf16, #row>) {
    %a = ttg.local_alloc %x {allocation.offset = 0 : i32} : (tensor<64x64xf16, #row>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %0 = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #row>
    %1 = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #row>
    ttg.local_store %0, %a : tensor<64x64xf16, #row> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_store %1, %a : tensor<64x64xf16, #row> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_dealloc %a : !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return
  }

  // An allocation without content is no access. A barrier that is there already counts, one for global memory does not.
  // CHECK-LABEL: tt.func @existing_barriers
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttg.barrier local|global_read
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.barrier all
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: ttg.barrier local{{$}}
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.return
  tt.func @existing_barriers(%x: tensor<64x64xf16, #row>) {
    %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_store %x, %a : tensor<64x64xf16, #row> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.barrier local|global_read
    %0 = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #row>
    ttg.barrier all
    ttg.local_store %0, %a : tensor<64x64xf16, #row> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.barrier global_read|global_write
    %1 = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #row>
    tt.return
  }

  // One conversion in a loop meets itself in the next iteration.
  // CHECK-LABEL: tt.func @loop_with_one
  // CHECK: ^bb1:
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: cf.cond_br
  tt.func @loop_with_one(%x: tensor<64x64xf16, #row>, %c: i1) {
    cf.br ^bb1
  ^bb1:
    %0 = ttg.convert_layout %x {allocation.offset = 0 : i32} : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
    cf.cond_br %c, ^bb1, ^bb2
  ^bb2:
    tt.return
  }

  // Two in one place: the first also waits for the second of the iteration before.
  // CHECK-LABEL: tt.func @loop_with_two
  // CHECK: ^bb1:
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: cf.cond_br
  // CHECK: ^bb2:
  // CHECK-NEXT: tt.return
  tt.func @loop_with_two(%x: tensor<64x64xf16, #row>, %c: i1) {
    cf.br ^bb1
  ^bb1:
    %0 = ttg.convert_layout %x {allocation.offset = 0 : i32} : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
    %1 = ttg.convert_layout %x {allocation.offset = 0 : i32} : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
    cf.cond_br %c, ^bb1, ^bb2
  ^bb2:
    tt.return
  }

  // Two in places of their own separate each other, iteration after iteration.
  // CHECK-LABEL: tt.func @loop_with_two_places
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func @loop_with_two_places(%x: tensor<64x64xf16, #row>, %c: i1) {
    cf.br ^bb1
  ^bb1:
    %0 = ttg.convert_layout %x {allocation.offset = 0 : i32} : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
    %1 = ttg.convert_layout %x {allocation.offset = 8192 : i32} : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
    cf.cond_br %c, ^bb1, ^bb2
  ^bb2:
    tt.return
  }

  // A conflict on one path of two is one. After the barrier of the first place that needs it, the second needs none.
  // CHECK-LABEL: tt.func @one_path
  // CHECK: ^bb1:
  // CHECK-NEXT: ttg.local_store
  // CHECK: ^bb2:
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.return
  tt.func @one_path(%x: tensor<64x64xf16, #row>, %c: i1) {
    %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    ttg.local_store %x, %a : tensor<64x64xf16, #row> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    cf.br ^bb2
  ^bb2:
    %0 = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #row>
    %1 = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #row>
    tt.return
  }

  // Two branches that each make a barrier leave nothing to wait for.
  // CHECK-LABEL: tt.func @both_paths
  // CHECK: ttg.local_alloc
  // CHECK: ^bb1:
  // CHECK-NEXT: ttg.barrier local
  // CHECK: ^bb2:
  // CHECK-NEXT: ttg.barrier local
  // CHECK: ^bb3:
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.return
  tt.func @both_paths(%x: tensor<64x64xf16, #row>, %c: i1) {
    %a = ttg.local_alloc %x {allocation.offset = 0 : i32} : (tensor<64x64xf16, #row>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    ttg.barrier local
    cf.br ^bb3
  ^bb2:
    ttg.barrier local
    cf.br ^bb3
  ^bb3:
    %0 = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #row>
    tt.return
  }

  // A barrier at the head of a loop makes those that the first look at its body would have asked for unnecessary.
  // CHECK-LABEL: tt.func @no_more_than_needed
  // CHECK: ^bb1:
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: cf.cond_br
  tt.func @no_more_than_needed(%x: tensor<64x64xf16, #row>, %c: i1) {
    %a = ttg.local_alloc %x {allocation.offset = 0 : i32} : (tensor<64x64xf16, #row>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    cf.br ^bb1
  ^bb1:
    %0 = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #row>
    %1 = ttg.convert_layout %0 {allocation.offset = 8192 : i32} : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
    ttg.local_store %0, %a : tensor<64x64xf16, #row> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    cf.cond_br %c, ^bb1, ^bb2
  ^bb2:
    tt.return
  }

  // A view that may be of either buffer stands for both.
  // CHECK-LABEL: tt.func @either_buffer
  // CHECK: ^bb1(%2:
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.return
  tt.func @either_buffer(%x: tensor<64x64xf16, #row>, %c: i1) {
    %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_store %x, %b : tensor<64x64xf16, #row> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    cf.cond_br %c, ^bb1(%a : !ttg.memdesc<64x64xf16, #shared, #smem, mutable>), ^bb1(%b : !ttg.memdesc<64x64xf16, #shared, #smem, mutable>)
  ^bb1(%v: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>):
    %0 = ttg.local_load %v : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #row>
    tt.return
  }

  // Atomics, reductions and calls use shared memory as well; operations without a place do not.
  // CHECK-LABEL: tt.func @other_operations
  // CHECK-NEXT: tt.atomic_rmw
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: "tt.reduce"
  // CHECK: ttg.barrier local
  // CHECK-NEXT: tt.call @callee
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: tt.call @callee
  // CHECK-NEXT: arith.addi
  // CHECK-NEXT: tt.return
  tt.func @other_operations(%x: tensor<64x64xf16, #row>, %p: !tt.ptr<i32>, %v: i32) {
    %old = tt.atomic_rmw add, acq_rel, gpu, %p, %v {allocation.offset = 0 : i32} : (!tt.ptr<i32>, i32) -> i32
    %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%l: f16, %h: f16):
      %add = arith.addf %l, %h : f16
      tt.reduce.return %add : f16
    }) {allocation.offset = 0 : i32} : (tensor<64x64xf16, #row>) -> tensor<64xf16, #ttg.slice<{dim = 0, parent = #row}>>
    tt.call @callee(%x) {allocation.offset = 0 : i32} : (tensor<64x64xf16, #row>) -> ()
    %1 = ttg.convert_layout %x {allocation.offset = 8192 : i32} : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
    tt.call @callee(%x) {allocation.offset = 8192 : i32} : (tensor<64x64xf16, #row>) -> ()
    %sum = arith.addi %old, %v : i32
    tt.return
  }
  // CHECK-LABEL: tt.func private @callee
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func private @callee(%x: tensor<64x64xf16, #row>) attributes {allocation.bytes = 8192 : i32} {
    %0 = ttg.convert_layout %x {allocation.offset = 0 : i32} : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
    tt.return
  }
}

// -----

#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#col = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>

// Structured control flow with accesses has to be gone.
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @structured(%x: tensor<64x64xf16, #row>, %c: i1) {
    scf.if %c {
      // expected-error @+1 {{accesses shared memory within structured control flow}}
      %0 = ttg.convert_layout %x {allocation.offset = 0 : i32} : tensor<64x64xf16, #row> -> tensor<64x64xf16, #col>
    }
    tt.return
  }
}

// -----

#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#other = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-warps" = 4 : i32} {
  // Four warps read what one has stored, and may read on while it stores again.
  // CHECK-LABEL: tt.func public @copies
  // CHECK: tt.store
  // CHECK-NEXT: ttg.barrier all
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: ttg.barrier all
  // CHECK-NEXT: tt.store
  tt.func public @copies(%p: tensor<32x!tt.ptr<f32>, #one>, %q: !tt.ptr<f32>, %x: tensor<32xf32, #one>) {
    %ps = tt.splat %q : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #one>
    tt.store %ps, %x : tensor<32x!tt.ptr<f32>, #one>
    %y = tt.load %ps : tensor<32x!tt.ptr<f32>, #one>
    tt.store %ps, %y : tensor<32x!tt.ptr<f32>, #one>
    tt.return
  }

  // Each thread reads its own again; and other arguments are other data.
  // CHECK-LABEL: tt.func public @own
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func public @own(%q: !tt.ptr<f32>, %r: !tt.ptr<f32>, %x: tensor<128xf32, #one>) {
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #one>
    %rs = tt.splat %r : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #other>
    tt.store %qs, %x : tensor<128x!tt.ptr<f32>, #one>
    %y = tt.load %qs : tensor<128x!tt.ptr<f32>, #one>
    %z = tt.load %rs : tensor<128x!tt.ptr<f32>, #other>
    tt.store %qs, %y : tensor<128x!tt.ptr<f32>, #one>
    tt.return
  }

  // Other addresses of one argument. What has been read is settled at any barrier, what has been written is not.
  // CHECK-LABEL: tt.func public @others
  // CHECK: tt.load
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.barrier all
  // CHECK-NEXT: tt.load
  tt.func public @others(%q: !tt.ptr<f32>, %i: tensor<512xi32, #other>, %x: tensor<512xf32, #other>) {
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #other>
    %at = tt.addptr %qs, %i : tensor<512x!tt.ptr<f32>, #other>, tensor<512xi32, #other>
    %y = tt.load %at : tensor<512x!tt.ptr<f32>, #other>
    ttg.barrier local
    tt.store %qs, %x : tensor<512x!tt.ptr<f32>, #other>
    ttg.barrier local
    %z = tt.load %at : tensor<512x!tt.ptr<f32>, #other>
    tt.return
  }

  // Around a loop, through the arguments of its blocks; and a scalar, which one thread writes and all read.
  // CHECK-LABEL: tt.func public @loop
  // CHECK: ^bb1
  // CHECK: ttg.barrier all
  // CHECK-NEXT: tt.load
  // CHECK: ttg.barrier all
  // CHECK-NEXT: tt.store
  tt.func public @loop(%q: !tt.ptr<i32>, %c: i1, %one: i32) {
    cf.br ^bb1(%q : !tt.ptr<i32>)
  ^bb1(%p: !tt.ptr<i32>):
    %x = tt.load %p : !tt.ptr<i32>
    %next = tt.addptr %p, %one : !tt.ptr<i32>, i32
    tt.store %p, %x : !tt.ptr<i32>
    cf.cond_br %c, ^bb1(%next : !tt.ptr<i32>), ^bb2
  ^bb2:
    tt.return
  }

  // Elements that move by one in each iteration: each thread writes what another one has written. By 32, none does.
  // CHECK-LABEL: tt.func public @moving
  // CHECK: ttg.barrier all
  // CHECK-NEXT: tt.store
  // CHECK: tt.addptr
  // CHECK-NEXT: tt.store
  tt.func public @moving(%q: !tt.ptr<i32>, %w: !tt.ptr<i32>, %x: tensor<32xi32, #one>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %all = arith.constant 32 : i32
    %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #one>
    %qs = tt.splat %q : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #one>
    %ws = tt.splat %w : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #one>
    cf.br ^bb1(%zero : i32)
  ^bb1(%k: i32):
    %ks = tt.splat %k : i32 -> tensor<32xi32, #one>
    %at = arith.addi %ks, %i : tensor<32xi32, #one>
    %p = tt.addptr %qs, %at : tensor<32x!tt.ptr<i32>, #one>, tensor<32xi32, #one>
    tt.store %p, %x : tensor<32x!tt.ptr<i32>, #one>
    %k1 = arith.addi %k, %one : i32
    %more = arith.cmpi slt, %k1, %n : i32
    cf.cond_br %more, ^bb1(%k1 : i32), ^bb2(%zero : i32)
  ^bb2(%h: i32):
    %hs = tt.splat %h : i32 -> tensor<32xi32, #one>
    %there = arith.addi %hs, %i : tensor<32xi32, #one>
    %r = tt.addptr %ws, %there : tensor<32x!tt.ptr<i32>, #one>, tensor<32xi32, #one>
    tt.store %r, %x : tensor<32x!tt.ptr<i32>, #one>
    %h1 = arith.addi %h, %all : i32
    %again = arith.cmpi slt, %h1, %n : i32
    cf.cond_br %again, ^bb2(%h1 : i32), ^bb3
  ^bb3:
    tt.return
  }

  // A pointer that a loop carries, and that is not there yet in the first iteration.
  // CHECK-LABEL: tt.func public @carried
  // CHECK: ttg.barrier all
  // CHECK-NEXT: tt.store
  // CHECK: ttg.barrier all
  // CHECK-NEXT: tt.store
  tt.func public @carried(%q: !tt.ptr<i32>, %x: tensor<32xi32, #one>, %y: i32, %c: i1) {
    %none = ub.poison : tensor<32x!tt.ptr<i32>, #one>
    %qs = tt.splat %q : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #one>
    cf.br ^bb1(%none, %c : tensor<32x!tt.ptr<i32>, #one>, i1)
  ^bb1(%before: tensor<32x!tt.ptr<i32>, #one>, %first: i1):
    cf.cond_br %first, ^bb2(%qs : tensor<32x!tt.ptr<i32>, #one>), ^bb2(%before : tensor<32x!tt.ptr<i32>, #one>)
  ^bb2(%p: tensor<32x!tt.ptr<i32>, #one>):
    tt.store %p, %x : tensor<32x!tt.ptr<i32>, #one>
    tt.store %q, %y : !tt.ptr<i32>
    cf.cond_br %c, ^bb1(%p, %c : tensor<32x!tt.ptr<i32>, #one>, i1), ^bb3
  ^bb3:
    tt.return
  }

  // The same by pointers that move. Another pointer that moves likewise, 32 elements behind in rows of 64, is apart.
  // CHECK-LABEL: tt.func public @moving_pointers
  // CHECK: ^bb1
  // CHECK: ttg.barrier all
  // CHECK-NEXT: tt.store
  // CHECK: ^bb2
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func public @moving_pointers(%q: !tt.ptr<i32>, %w: !tt.ptr<i32>, %x: tensor<32xi32, #one>, %n: i1) {
    %one = arith.constant dense<1> : tensor<32xi32, #one>
    %half = arith.constant dense<32> : tensor<32xi32, #one>
    %row = arith.constant dense<64> : tensor<32xi32, #one>
    %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #one>
    %qs = tt.splat %q : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #one>
    %q0 = tt.addptr %qs, %i : tensor<32x!tt.ptr<i32>, #one>, tensor<32xi32, #one>
    %ws = tt.splat %w : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #one>
    %w0 = tt.addptr %ws, %i : tensor<32x!tt.ptr<i32>, #one>, tensor<32xi32, #one>
    %h0 = tt.addptr %w0, %half : tensor<32x!tt.ptr<i32>, #one>, tensor<32xi32, #one>
    cf.br ^bb1(%q0 : tensor<32x!tt.ptr<i32>, #one>)
  ^bb1(%p: tensor<32x!tt.ptr<i32>, #one>):
    tt.store %p, %x : tensor<32x!tt.ptr<i32>, #one>
    %p1 = tt.addptr %p, %one : tensor<32x!tt.ptr<i32>, #one>, tensor<32xi32, #one>
    cf.cond_br %n, ^bb1(%p1 : tensor<32x!tt.ptr<i32>, #one>), ^bb2(%w0, %h0 : tensor<32x!tt.ptr<i32>, #one>, tensor<32x!tt.ptr<i32>, #one>)
  ^bb2(%r: tensor<32x!tt.ptr<i32>, #one>, %h: tensor<32x!tt.ptr<i32>, #one>):
    tt.store %r, %x : tensor<32x!tt.ptr<i32>, #one>
    tt.store %h, %x : tensor<32x!tt.ptr<i32>, #one>
    %r1 = tt.addptr %r, %row : tensor<32x!tt.ptr<i32>, #one>, tensor<32xi32, #one>
    %h1 = tt.addptr %h, %row : tensor<32x!tt.ptr<i32>, #one>, tensor<32xi32, #one>
    cf.cond_br %n, ^bb2(%r1, %h1 : tensor<32x!tt.ptr<i32>, #one>, tensor<32x!tt.ptr<i32>, #one>), ^bb3
  ^bb3:
    tt.return
  }

  // Beside a number that the loop does not change, and beside one that it does.
  // CHECK-LABEL: tt.func public @moving_beside
  // CHECK: ttg.barrier all
  // CHECK-NEXT: tt.store
  // CHECK: ^bb3
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func public @moving_beside(%q: !tt.ptr<i32>, %w: !tt.ptr<i32>, %x: tensor<32xi32, #one>, %n: i1, %o: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #one>
    %qs = tt.splat %q : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #one>
    %ws = tt.splat %w : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #one>
    cf.br ^bb1(%o : i32)
  ^bb1(%far: i32):
    %next = arith.muli %far, %o : i32
    cf.br ^bb2(%zero : i32)
  ^bb2(%k: i32):
    %sum = arith.addi %k, %far : i32
    %ks = tt.splat %sum : i32 -> tensor<32xi32, #one>
    %at = arith.addi %ks, %i : tensor<32xi32, #one>
    %p = tt.addptr %qs, %at : tensor<32x!tt.ptr<i32>, #one>, tensor<32xi32, #one>
    tt.store %p, %x : tensor<32x!tt.ptr<i32>, #one>
    %k1 = arith.addi %k, %one : i32
    cf.cond_br %n, ^bb2(%k1 : i32), ^bb3(%zero, %o : i32, i32)
  ^bb3(%h: i32, %any: i32):
    %both = arith.addi %h, %any : i32
    %hs = tt.splat %both : i32 -> tensor<32xi32, #one>
    %there = arith.addi %hs, %i : tensor<32xi32, #one>
    %r = tt.addptr %ws, %there : tensor<32x!tt.ptr<i32>, #one>, tensor<32xi32, #one>
    tt.store %r, %x : tensor<32x!tt.ptr<i32>, #one>
    %h1 = arith.addi %h, %one : i32
    %other = arith.muli %any, %o : i32
    cf.cond_br %n, ^bb3(%h1, %other : i32, i32), ^bb4
  ^bb4:
    cf.cond_br %n, ^bb1(%next : i32), ^bb5
  ^bb5:
    tt.return
  }

  // Atomic operations by one value of pointers do not conflict with each other, but with a load.
  // CHECK-LABEL: tt.func public @atomics
  // CHECK: tt.atomic_rmw
  // CHECK-NEXT: tt.atomic_rmw
  // CHECK-NEXT: ttg.barrier all
  // CHECK-NEXT: tt.load
  tt.func public @atomics(%q: !tt.ptr<i32>, %x: tensor<32xi32, #one>, %m: tensor<32xi1, #one>) {
    %qs = tt.splat %q : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #one>
    %a = tt.atomic_rmw add, relaxed, gpu, %qs, %x, %m : (tensor<32x!tt.ptr<i32>, #one>, tensor<32xi32, #one>, tensor<32xi1, #one>) -> tensor<32xi32, #one>
    %b = tt.atomic_rmw max, relaxed, gpu, %qs, %x, %m : (tensor<32x!tt.ptr<i32>, #one>, tensor<32xi32, #one>, tensor<32xi1, #one>) -> tensor<32xi32, #one>
    %y = tt.load %qs : tensor<32x!tt.ptr<i32>, #one>
    tt.return
  }
}

// -----

// Reads before a loop that writes: all threads are past them before the first iteration, so later ones need not wait.
// What threads write and read again in the loop is their own.
// CHECK-LABEL: tt.func @loop_after_reads
//       CHECK:   tt.load
//       CHECK:   ttg.barrier all
//  CHECK-NEXT:   cf.br ^bb1
//       CHECK: ^bb1(
//   CHECK-NOT:   ttg.barrier
//       CHECK:   tt.return
#rows = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @loop_after_reads(%x: !tt.ptr<f32>, %p: tensor<128x!tt.ptr<f32>, #rows>, %n: i32, %y: !tt.ptr<f32>, %k: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %at = tt.addptr %y, %k : !tt.ptr<f32>, i32
    %s = tt.load %at : !tt.ptr<f32>
    %v = tt.splat %s : f32 -> tensor<128xf32, #rows>
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #rows>
    %base = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #rows>
    %ptr = tt.addptr %base, %range : tensor<128x!tt.ptr<f32>, #rows>, tensor<128xi32, #rows>
    cf.br ^bb1(%c0 : i32)
  ^bb1(%i: i32):
    %more = arith.cmpi slt, %i, %n : i32
    cf.cond_br %more, ^bb2, ^bb3
  ^bb2:
    %w = tt.load %ptr : tensor<128x!tt.ptr<f32>, #rows>
    %sum = arith.addf %w, %v : tensor<128xf32, #rows>
    tt.store %ptr, %sum : tensor<128x!tt.ptr<f32>, #rows>
    %next = arith.addi %i, %c1 : i32
    cf.br ^bb1(%next : i32)
  ^bb3:
    tt.return
  }
}

// -----

// Iterations meet each other, whatever is in front of the loop: the barrier stays, and there is no second one.
// CHECK-LABEL: tt.func @loop_meets_itself
//       CHECK:   tt.load
//  CHECK-NEXT:   cf.br ^bb1
//       CHECK: ^bb1:
//       CHECK:   ttg.barrier all
//  CHECK-NEXT:   tt.load
//       CHECK:   ttg.barrier all
//  CHECK-NEXT:   tt.store
//       CHECK:   cf.cond_br
#rows = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @loop_meets_itself(%y: !tt.ptr<f32>, %k: i32, %c: i1) {
    %at = tt.addptr %y, %k : !tt.ptr<f32>, i32
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #rows>
    %base = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #rows>
    %ptr = tt.addptr %base, %range : tensor<128x!tt.ptr<f32>, #rows>, tensor<128xi32, #rows>
    %s = tt.load %at : !tt.ptr<f32>
    cf.br ^bb1
  ^bb1:
    %w = tt.load %at : !tt.ptr<f32>
    %v = tt.splat %w : f32 -> tensor<128xf32, #rows>
    tt.store %ptr, %v : tensor<128x!tt.ptr<f32>, #rows>
    cf.cond_br %c, ^bb1, ^bb2
  ^bb2:
    tt.return
  }
}
