// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s --split-input-file --ttg-end-idle-warps | FileCheck %s

// 64 elements in 128 threads: warps 2 and 3 hold what warps 0 and 1 hold.
// CHECK-LABEL: tt.func public @half
//       CHECK:   %[[WARP:.*]] = ttg.warp_id
//       CHECK:   %[[TWO:.*]] = arith.constant 2 : i32
//       CHECK:   %[[COPY:.*]] = arith.andi %[[WARP]], %[[TWO]]
//       CHECK:   %[[ZERO:.*]] = arith.constant 0 : i32
//       CHECK:   %[[IDLE:.*]] = arith.cmpi ne, %[[COPY]], %[[ZERO]]
//       CHECK:   cf.cond_br %[[IDLE]], ^[[END:.*]], ^[[BODY:bb[0-9]+]]
//       CHECK: ^[[BODY]]:
//       CHECK:   tt.store
//       CHECK:   tt.return
//       CHECK: ^[[END]]:
//  CHECK-NEXT:   tt.return
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32} {
  tt.func public @half(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #line>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #line>
    %from = tt.addptr %ps, %i : tensor<64x!tt.ptr<f32>, #line>, tensor<64xi32, #line>
    %x = tt.load %from : tensor<64x!tt.ptr<f32>, #line>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #line>
    %to = tt.addptr %qs, %i : tensor<64x!tt.ptr<f32>, #line>, tensor<64xi32, #line>
    tt.store %to, %x : tensor<64x!tt.ptr<f32>, #line>
    tt.return
  }
}

// -----

// One warp is enough for numbers that are no tensors.
// CHECK-LABEL: tt.func public @scalars
//       CHECK:   arith.constant 3 : i32
//       CHECK:   cf.cond_br
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32} {
  tt.func public @scalars(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %x = tt.load %p : !tt.ptr<f32>
    tt.store %q, %x : !tt.ptr<f32>
    tt.return
  }
}

// -----

// All warps hold elements of their own of one of the tensors.
// CHECK-LABEL: tt.func public @all_have_some
//   CHECK-NOT:   ttg.warp_id
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32} {
  tt.func public @all_have_some(%p: tensor<64x!tt.ptr<f32>, #line>, %q: tensor<128x!tt.ptr<f32>, #line>, %y: tensor<128xf32, #line>) {
    %x = tt.load %p : tensor<64x!tt.ptr<f32>, #line>
    tt.store %p, %x : tensor<64x!tt.ptr<f32>, #line>
    tt.store %q, %y : tensor<128x!tt.ptr<f32>, #line>
    tt.return
  }
}

// -----

// Each thread has to come to a barrier, and to print.
// CHECK-LABEL: tt.func public @meets
//   CHECK-NOT:   ttg.warp_id
// CHECK-LABEL: tt.func public @prints
//   CHECK-NOT:   ttg.warp_id
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32} {
  tt.func public @meets(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %x = tt.load %p : !tt.ptr<f32>
    ttg.barrier all
    tt.store %q, %x : !tt.ptr<f32>
    tt.return
  }
  tt.func public @prints(%p: !tt.ptr<i32>) {
    %x = tt.load %p : !tt.ptr<i32>
    tt.print "x" {hex = false, isSigned = array<i32: 1>} : %x : i32
    tt.return
  }
}

// -----

// Threads that share memory may end once they have met for the last time, if enough follows.
// CHECK-LABEL: tt.func public @shares
//   CHECK-NOT:   ttg.ended_warps
//       CHECK:   ttg.convert_layout
//       CHECK:   ttg.warp_id
//       CHECK:   arith.constant 2 : i32
//       CHECK:   cf.cond_br
//       CHECK:   tt.store
// CHECK-LABEL: tt.func public @little_follows
//   CHECK-NOT:   ttg.warp_id
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 32], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 8192 : i32} {
  tt.func public @shares(%p: tensor<64x32x!tt.ptr<f32>, #rows>, %x: tensor<64x32xf32, #columns>) {
    %y = ttg.convert_layout %x {allocation.offset = 0 : i32} : tensor<64x32xf32, #columns> -> tensor<64x32xf32, #rows>
    %z = arith.negf %y : tensor<64x32xf32, #rows>
    tt.store %p, %z : tensor<64x32x!tt.ptr<f32>, #rows>
    tt.return
  }
  tt.func public @little_follows(%p: tensor<64x!tt.ptr<f32>, #line>, %x: tensor<64xf32, #ttg.slice<{dim = 1, parent = #columns}>>) {
    %y = ttg.convert_layout %x {allocation.offset = 0 : i32} : tensor<64xf32, #ttg.slice<{dim = 1, parent = #columns}>> -> tensor<64xf32, #line>
    tt.store %p, %y : tensor<64x!tt.ptr<f32>, #line>
    tt.return
  }
}

// -----

// What follows has to be copies, as have its operands.
// CHECK-LABEL: tt.func public @all_warps_go_on
//   CHECK-NOT:   ttg.warp_id
#rows = #ttg.blocked<{sizePerThread = [1, 32], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 8192 : i32} {
  tt.func public @all_warps_go_on(%p: tensor<64x32x!tt.ptr<f32>, #rows>, %q: tensor<64x32x!tt.ptr<f32>, #columns>, %x: tensor<64x32xf32, #columns>) {
    %y = ttg.convert_layout %x {allocation.offset = 0 : i32} : tensor<64x32xf32, #columns> -> tensor<64x32xf32, #rows>
    %z = arith.negf %y : tensor<64x32xf32, #rows>
    tt.store %p, %z : tensor<64x32x!tt.ptr<f32>, #rows>
    tt.store %q, %x : tensor<64x32x!tt.ptr<f32>, #columns>
    tt.return
  }
}

// -----

// Nor do threads end that another function called.
// CHECK-LABEL: tt.func private @called
//   CHECK-NOT:   ttg.warp_id
// CHECK-LABEL: tt.func public @calls
//   CHECK-NOT:   ttg.warp_id
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32} {
  tt.func private @called(%p: !tt.ptr<f32>) {
    %x = tt.load %p : !tt.ptr<f32>
    tt.store %p, %x : !tt.ptr<f32>
    tt.return
  }
  tt.func public @calls(%p: !tt.ptr<f32>) {
    tt.call @called(%p) : (!tt.ptr<f32>) -> ()
    tt.return
  }
}

// -----

// A scalar that is published waits for all threads. One that is not does not.
// CHECK-LABEL: tt.func public @published
//   CHECK-NOT:   ttg.warp_id
// CHECK-LABEL: tt.func public @relaxed
//       CHECK:   ttg.warp_id
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32} {
  tt.func public @published(%p: !tt.ptr<i32>, %x: i32, %mask: i1) {
    %old = tt.atomic_rmw add, acq_rel, gpu, %p, %x, %mask : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
  tt.func public @relaxed(%p: !tt.ptr<i32>, %x: i32, %mask: i1) {
    %old = tt.atomic_rmw add, relaxed, gpu, %p, %x, %mask : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
}

// -----

// Copies that load what other warps store would wait for these. Once they have ended, no thread waits.
// CHECK-LABEL: tt.func public @in_place
//  CHECK-SAME:   ttg.ended_warps = 2 : i32
//       CHECK:   ttg.warp_id
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32} {
  tt.func public @in_place(%p: !tt.ptr<f32>) {
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #line>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #line>
    %at = tt.addptr %ps, %i : tensor<64x!tt.ptr<f32>, #line>, tensor<64xi32, #line>
    %x = tt.load %at : tensor<64x!tt.ptr<f32>, #line>
    %y = arith.negf %x : tensor<64xf32, #line>
    tt.store %at, %y : tensor<64x!tt.ptr<f32>, #line>
    tt.return
  }
}

// -----

// Lanes hold copies, too, and wait for each other still.
// CHECK-LABEL: tt.func public @lanes
//   CHECK-NOT:   ttg.ended_warps
//   CHECK-NOT:   ttg.warp_id
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32} {
  tt.func public @lanes(%p: !tt.ptr<f32>) {
    %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #line>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #line>
    %at = tt.addptr %ps, %i : tensor<16x!tt.ptr<f32>, #line>, tensor<16xi32, #line>
    %x = tt.load %at : tensor<16x!tt.ptr<f32>, #line>
    %y = arith.negf %x : tensor<16xf32, #line>
    tt.store %at, %y : tensor<16x!tt.ptr<f32>, #line>
    tt.return
  }
}
