// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=cuda:90 --cse | FileCheck %s

// Views cost an address: an index moves the base by a whole buffer, a part is one more constant; a transposed view is
// the same buffer under another layout. A row of four elements is one access.
// CHECK-LABEL: llvm.func @views
//   CHECK-DAG:   %[[STRIDE:.*]] = llvm.mlir.constant(1024 : i32)
//   CHECK-DAG:   %[[PART:.*]] = llvm.mlir.constant(512 : i32)
//       CHECK:   %[[BASE:.*]] = llvm.mlir.addressof @global_smem
//       CHECK:   %[[I:.*]] = llvm.mul %arg0, %[[STRIDE]]
//       CHECK:   %[[ONE:.*]] = llvm.getelementptr %[[BASE]][%[[I]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
//       CHECK:   %[[AT:.*]] = llvm.add %{{.*}}, %[[PART]]
//       CHECK:   %[[PTR:.*]] = llvm.getelementptr %[[ONE]][%[[AT]]]
//       CHECK:   llvm.load %[[PTR]] {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
//   CHECK-NOT:   llvm.load
//       CHECK:   llvm.return
#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#column = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#turned = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @views(%i: i32) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<3x32x32xf32, #shared, #smem, mutable>
    %one = ttg.memdesc_index %a[%i] : !ttg.memdesc<3x32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %part = ttg.memdesc_subslice %one[16, 0] : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable, 32x32>
    %t = ttg.memdesc_trans %part {order = array<i32: 1, 0>} : !ttg.memdesc<16x32xf32, #shared, #smem, mutable, 32x32> -> !ttg.memdesc<32x16xf32, #turned, #smem, mutable, 32x32>
    %x = ttg.local_load %t : !ttg.memdesc<32x16xf32, #turned, #smem, mutable, 32x32> -> tensor<32x16xf32, #column>
    tt.return
  }
}

// -----

// A part that is only known at run time is a pointer and an offset, which addresses XOR.
// CHECK-LABEL: llvm.func @part_of_two
//       CHECK:   llvm.cond_br %arg0, ^bb1(%[[ALL:.*]], %{{.*}} : !llvm.ptr<3>, i32), ^bb1(%[[ALL]], %{{.*}} : !llvm.ptr<3>, i32)
//       CHECK: ^bb1(%[[BASE:.*]]: !llvm.ptr<3>, %[[OFFSET:.*]]: i32):
//       CHECK:   %[[AT:.*]] = llvm.xor %{{.*}}, %[[OFFSET]]
//       CHECK:   llvm.getelementptr %[[BASE]][%[[AT]]]
#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @part_of_two(%c: i1) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
    %low = ttg.memdesc_subslice %a[0, 0] : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable, 32x32>
    %high = ttg.memdesc_subslice %a[16, 0] : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable, 32x32>
    cf.cond_br %c, ^bb1(%low : !ttg.memdesc<16x32xf32, #shared, #smem, mutable, 32x32>), ^bb1(%high : !ttg.memdesc<16x32xf32, #shared, #smem, mutable, 32x32>)
  ^bb1(%part: !ttg.memdesc<16x32xf32, #shared, #smem, mutable, 32x32>):
    %x = ttg.local_load %part : !ttg.memdesc<16x32xf32, #shared, #smem, mutable, 32x32> -> tensor<16x32xf32, #row>
    tt.return
  }
}

// -----

// Gaps of four halves bound the accesses; eight would be aligned without them.
// CHECK-LABEL: llvm.func @padded
//       CHECK:   %[[AT:.*]] = llvm.add
//       CHECK:   %[[GAPS:.*]] = llvm.lshr %[[AT]], %{{.*}}
//       CHECK:   %[[ELEMENTS:.*]] = llvm.shl %[[GAPS]], %{{.*}}
//       CHECK:   llvm.add %[[AT]], %[[ELEMENTS]]
//       CHECK:   llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xi32>
//   CHECK-NOT:   alignment = 16
//       CHECK:   llvm.return
#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.padded_shared<[64:+4] {order = [1, 0], shape = [16, 64]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @padded() {
    %a = ttg.local_alloc : () -> !ttg.memdesc<16x64xf16, #shared, #smem, mutable>
    %x = ttg.local_load %a : !ttg.memdesc<16x64xf16, #shared, #smem, mutable> -> tensor<16x64xf16, #row>
    tt.return
  }
}
