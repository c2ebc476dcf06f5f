// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=hip:gfx942 | FileCheck %s

// The program's place, and the size of the grid from after the kernel's arguments.
//       CHECK: #[[LOCAL:.*]] = #llvm.mmra_tag<"amdgpu-synchronize-as":"local">
// CHECK-LABEL: llvm.func @program
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.workgroup.id.y"
//       CHECK:   %[[HIDDEN:.*]] = llvm.call_intrinsic "llvm.amdgcn.implicitarg.ptr"
//       CHECK:   %[[COUNT:.*]] = llvm.getelementptr %[[HIDDEN]][2]
//       CHECK:   llvm.load %[[COUNT]] invariant
//       CHECK:   llvm.fence syncscope("workgroup") release
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.s.barrier"
//       CHECK:   llvm.fence syncscope("workgroup") acquire
//       CHECK:   llvm.fence syncscope("workgroup") release {llvm.mmra = #[[LOCAL]]}
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.s.barrier"
//       CHECK:   llvm.fence syncscope("workgroup") acquire {llvm.mmra = #[[LOCAL]]}
module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @program(%p: !tt.ptr<i32>) {
    %y = tt.get_program_id y : i32
    %n = tt.get_num_programs z : i32
    ttg.barrier all
    ttg.barrier local
    %s = arith.addi %y, %n : i32
    tt.store %p, %s : !tt.ptr<i32>
    tt.return
  }
}

// -----

// A sum over the 64 lanes of a wave, from near to far, into its last lane: shifts within rows of 16, then from the last
// lane of a row to the next, then from that of the first two rows to the others. All lanes read the last one.
// CHECK-LABEL: llvm.func @sum
//   CHECK-NOT:   llvm.amdgcn.ds.
//       CHECK:   llvm.mlir.constant(160 : i32)
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.update.dpp"
//       CHECK:   llvm.mlir.constant(100 : i32)
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.update.dpp"
//       CHECK:   llvm.mlir.constant(276 : i32)
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.update.dpp"
//       CHECK:   llvm.mlir.constant(280 : i32)
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.update.dpp"
//       CHECK:   llvm.mlir.constant(322 : i32)
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.update.dpp"
//       CHECK:   llvm.mlir.constant(323 : i32)
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.update.dpp"
//   CHECK-NOT:   llvm.amdgcn.ds.
//       CHECK:   %[[LAST:.*]] = llvm.mlir.constant(63 : i32)
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.readlane"(%{{.*}}, %[[LAST]])
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @sum(%p: !tt.ptr<i32>, %n: i32) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
    %s = "tt.reduce"(%r) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.reduce.return %c : i32
    }) : (tensor<64xi32, #blocked>) -> i32
    tt.store %p, %s : !tt.ptr<i32>
    tt.return
  }
}

// -----

// One warp waits for its lanes, whatever memory the barrier is for.
// CHECK-LABEL: llvm.func @one_warp
//   CHECK-NOT:   s.barrier
//       CHECK:   llvm.fence syncscope("wavefront") release
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.wave.barrier"
//       CHECK:   llvm.call_intrinsic "llvm.amdgcn.wave.barrier"
//   CHECK-NOT:   s.barrier
//       CHECK:   llvm.return
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @one_warp() {
    ttg.barrier all
    ttg.barrier local
    tt.return
  }
}
