// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-form-warp-group-dots | FileCheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Both operands stay where they are.
  // CHECK-LABEL: @in_memory
  //  CHECK-SAME: %[[M:.*]]: !ttg.memdesc<64x32{{.*}}, %[[N:.*]]: !ttg.memdesc<32x64{{.*}}, %[[C:.*]]: tensor
  //   CHECK-NOT:   ttg.local_load
  //       CHECK:   ttng.warp_group_dot %[[M]], %[[N]], %[[C]] : !ttg.memdesc<64x32xf16, {{.*}}> * !ttg.memdesc<32x64xf16, {{.*}}> -> tensor<64x64xf32, #mma>
  tt.func @in_memory(%m: !ttg.memdesc<64x32xf16, #rows, #smem>, %n: !ttg.memdesc<32x64xf16, #wide, #smem>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %x = ttg.local_load %m : !ttg.memdesc<64x32xf16, #rows, #smem> -> tensor<64x32xf16, #a>
    %y = ttg.local_load %n : !ttg.memdesc<32x64xf16, #wide, #smem> -> tensor<32x64xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }

  // In registers: a stays there, b gets a buffer.
  // CHECK-LABEL: @in_registers
  //  CHECK-SAME: %[[X:.*]]: tensor<64x32{{.*}}, %[[Y:.*]]: tensor<32x64
  //       CHECK:   %[[N:.*]] = ttg.local_alloc %[[Y]] : (tensor<32x64xf16, {{.*}}>) -> !ttg.memdesc<32x64xf16, #shared{{[0-9]*}}, #smem>
  //       CHECK:   ttng.warp_group_dot %[[X]], %[[N]], {{.*}} : tensor<64x32xf16, {{.*}}> * !ttg.memdesc<32x64xf16
  tt.func @in_registers(%x: tensor<64x32xf16, #a>, %y: tensor<32x64xf16, #b>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %d = tt.dot %x, %y, %c : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }

  // What goes to global memory meanwhile leaves the buffer as it is.
  // CHECK-LABEL: @stored_meanwhile
  //   CHECK-NOT:   ttg.local_load
  //       CHECK:   ttng.warp_group_dot %arg0, %arg1,
  tt.func @stored_meanwhile(%m: !ttg.memdesc<64x32xf16, #rows, #smem, mutable>, %n: !ttg.memdesc<32x64xf16, #wide, #smem>, %p: tensor<64x32x!tt.ptr<f16>, #a>, %z: tensor<64x32xf16, #a>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %x = ttg.local_load %m : !ttg.memdesc<64x32xf16, #rows, #smem, mutable> -> tensor<64x32xf16, #a>
    tt.store %p, %z : tensor<64x32x!tt.ptr<f16>, #a>
    %s = tt.atomic_rmw exch, relaxed, gpu, %p, %z : (tensor<64x32x!tt.ptr<f16>, #a>, tensor<64x32xf16, #a>) -> tensor<64x32xf16, #a>
    %y = ttg.local_load %n : !ttg.memdesc<32x64xf16, #wide, #smem> -> tensor<32x64xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }

  // What was read may not be in the buffer any more.
  // CHECK-LABEL: @overwritten
  //       CHECK:   %[[X:.*]] = ttg.local_load
  //       CHECK:   ttg.local_store
  //       CHECK:   ttng.warp_group_dot %[[X]], {{.*}} : tensor<64x32xf16
  tt.func @overwritten(%m: !ttg.memdesc<64x32xf16, #rows, #smem, mutable>, %n: !ttg.memdesc<32x64xf16, #wide, #smem>, %z: tensor<64x32xf16, #a>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %x = ttg.local_load %m : !ttg.memdesc<64x32xf16, #rows, #smem, mutable> -> tensor<64x32xf16, #a>
    ttg.local_store %z, %m : tensor<64x32xf16, #a> -> !ttg.memdesc<64x32xf16, #rows, #smem, mutable>
    %y = ttg.local_load %n : !ttg.memdesc<32x64xf16, #wide, #smem> -> tensor<32x64xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
}

// -----

// Dots of version 2 are left alone.
// CHECK-LABEL: @by_warps
//       CHECK:   tt.dot
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @by_warps(%x: tensor<64x32xf16, #a>, %y: tensor<32x64xf16, #b>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %d = tt.dot %x, %y, %c : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
}

// -----

// Bytes of b with N contiguous: squares of four by four bytes go from one buffer to the other.
//   CHECK-DAG: #[[SQUARES:.*]] = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [0, 1]}>
//   CHECK-DAG: #[[TURNED:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
// CHECK-LABEL: @turned
//       CHECK:   %[[Y:.*]] = ttg.local_load %{{.*}} -> tensor<64x64xi8, #[[SQUARES]]>
//       CHECK:   %[[N:.*]] = ttg.local_alloc %[[Y]] : {{.*}} -> !ttg.memdesc<64x64xi8, #[[TURNED]], #smem>
//       CHECK:   ttng.warp_group_dot %{{.*}}, %[[N]], %{{.*}}
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 32]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#k_first = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#n_first = #ttg.swizzled_shared<{vec = 16, perPhase = 4, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @turned(%m: !ttg.memdesc<64x64xi8, #k_first, #smem>, %n: !ttg.memdesc<64x64xi8, #n_first, #smem>, %c: tensor<64x64xi32, #mma>) -> tensor<64x64xi32, #mma> {
    %x = ttg.local_load %m : !ttg.memdesc<64x64xi8, #k_first, #smem> -> tensor<64x64xi8, #a>
    %y = ttg.local_load %n : !ttg.memdesc<64x64xi8, #n_first, #smem> -> tensor<64x64xi8, #b>
    %d = tt.dot %x, %y, %c : tensor<64x64xi8, #a> * tensor<64x64xi8, #b> -> tensor<64x64xi32, #mma>
    tt.return %d : tensor<64x64xi32, #mma>
  }
}
