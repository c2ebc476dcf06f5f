// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics --ttg-allocate-shared-memory --ttg-allocate-global-scratch --lower-to-llvm=target=cuda:90 | FileCheck %s

// Global scratch: programs have theirs one after the other, numbered from x on; a call passes its part on.
// CHECK-LABEL: llvm.func @scratch(%arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<1>)
//   CHECK-DAG:   %[[SIZE:.*]] = llvm.mlir.constant(128 : i64)
//       CHECK:   %[[PLACE:.*]] = llvm.mul %{{.*}}, %[[SIZE]]
//       CHECK:   %[[MINE:.*]] = llvm.getelementptr %arg0[%[[PLACE]]]
//       CHECK:   %[[PART:.*]] = llvm.getelementptr %[[MINE]][%{{.*}}]
//       CHECK:   llvm.call @helper(%{{.*}}, %[[PART]], %arg1)
// CHECK-LABEL: llvm.func internal @helper(%arg0: !llvm.ptr<3>, %arg1: !llvm.ptr<1>, %arg2: !llvm.ptr<1>)
//       CHECK:   st.global.b32 [$1], $0;{{.*}} %{{.*}}, %arg1,
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @scratch() {
    %0 = ttg.global_scratch_alloc {alignment = 64 : i32, nbytes = 40 : i32} : !tt.ptr<i32>
    tt.call @helper() : () -> ()
    tt.return
  }
  tt.func private @helper() {
    %0 = ttg.global_scratch_alloc {alignment = 64 : i32, nbytes = 40 : i32} : !tt.ptr<i32>
    %1 = tt.ptr_to_int %0 : !tt.ptr<i32> -> i64
    %c1 = arith.constant 1 : i32
    %p = tt.int_to_ptr %1 : i64 -> !tt.ptr<i32>
    tt.store %0, %c1 : !tt.ptr<i32>
    tt.return
  }
}

// -----

// CHECK-LABEL: llvm.func @stages
//       CHECK:   %[[D:.*]] = llvm.mul %arg2, %{{.*}} : i32
//       CHECK:   %[[B:.*]] = llvm.sub %arg1, %[[D]] : i32
//       CHECK:   %[[P:.*]] = llvm.icmp "slt" %arg0, %[[B]]
//       CHECK:   llvm.cond_br %[[P]], ^bb1, ^bb2(%{{.*}} : f32)
//       CHECK: ^bb1:
//       CHECK:   llvm.br ^bb2(%{{.*}} : f32)
//       CHECK: ^bb2(%{{.*}}: f32):
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @stages(%i: i32, %n: i32, %s: i32, %p: !tt.ptr<f32>) {
    %0 = ttg.predicate_stage %i, %n, %s maxStage 3 stage 1 : i32 -> i1
    %1 = "ttg.mask"(%0) ({
      %2 = tt.load %p : !tt.ptr<f32>
      ttg.mask.return %2 : f32
    }) : (i1) -> f32
    tt.store %p, %1 : !tt.ptr<f32>
    tt.return
  }
}

// -----

// Halves of a byte, the low one first. Magnitudes choose bytes of floats.
// CHECK-LABEL: llvm.func internal @fp4
//       CHECK:   %[[WORD:.*]] = llvm.bitcast %{{.*}} : vector<4xi8> to i32
//       CHECK:   %[[MAGNITUDES:.*]] = llvm.and %[[WORD]]
//       CHECK:   llvm.call_intrinsic "llvm.nvvm.prmt"(%{{.*}}, %{{.*}}, %[[MAGNITUDES]])
//       CHECK:   llvm.bitcast %{{.*}} : i32 to vector<2xf16>
#bytes = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#floats = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @fp4(%x: tensor<32xi8, #bytes>) -> tensor<64xf16, #floats> {
    %y = ttg.fp4_to_fp %x {axis = 0 : i32} : tensor<32xi8, #bytes> -> tensor<64xf16, #floats>
    tt.return %y : tensor<64xf16, #floats>
  }
}

// -----

#split = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0], CGALayout = [[1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @cluster() {
    // expected-error @+1 {{is spread over blocks of a cluster, which lowering does not support}}
    %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #split>
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // expected-error @+1 {{stands outside of every function}}
  ttg.barrier local
  tt.func public @nothing() {
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // expected-error @+1 {{has an argument that is passed by value, which this target does not take}}
  tt.func public @too_large(%n: i32, %map: !tt.ptr<i8, 0> {tt.by_value = 4100 : i32}) {
    tt.return
  }
}
