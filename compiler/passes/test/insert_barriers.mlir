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

  // One conversion in a loop meets itself in the next round.
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

  // Two in one place: the first also waits for the second of the round before.
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

  // Two in places of their own separate each other, round after round.
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
