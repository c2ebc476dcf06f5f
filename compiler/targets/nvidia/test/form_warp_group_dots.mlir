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

// -----

// Threads widen both operands: K in an order in which a thread has words of a. What makes b has the same order.
//   CHECK-DAG: #[[WORDS:.*]] = #ttg.linear<{register = {{\[}}[0, 1], [8, 0], [0, 16], [0, 32], [0, 64], [0, 2]], lane = {{\[}}[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]],
//   CHECK-DAG: #[[VECTORS:.*]] = #ttg.linear<{register = {{\[}}[1, 0], [64, 0], [2, 0], [4, 0], [0, 16]], lane = {{\[}}[8, 0], [16, 0], [32, 0], [0, 1], [0, 2]],
// CHECK-LABEL: @widened
//       CHECK:   %[[W:.*]] = ttg.local_load %{{.*}} -> tensor<64x128xf8E4M3FN, #[[WORDS]]>
//       CHECK:   %[[E:.*]] = tt.fp_to_fp %[[W]]
//       CHECK:   %[[R:.*]] = tt.reshape %[[E]] : {{.*}} -> tensor<64x1x32x2x2xf16,
//       CHECK:   %[[T:.*]] = tt.trans %[[R]] {order = array<i32: 0, 1, 3, 2, 4>}
//       CHECK:   %[[X:.*]] = tt.reshape %[[T]] : {{.*}} -> tensor<64x128xf16,
//       CHECK:   tt.reshape %{{.*}} -> tensor<1x32x2x2x32xf16,
//       CHECK:   tt.trans %{{.*}} {order = array<i32: 0, 2, 1, 3, 4>}
//       CHECK:   %[[Y:.*]] = tt.reshape %{{.*}} -> tensor<128x32xf16, #[[VECTORS]]>
//       CHECK:   %[[N:.*]] = ttg.local_alloc %[[Y]]
//       CHECK:   ttng.warp_group_dot %[[X]], %[[N]],
//
// Groups of 16 where K is shorter. Where b has K in another order than in vectors, none of this.
// CHECK-LABEL: @widened_short
//       CHECK:   tt.reshape {{.*}} -> tensor<64x4x4x2x2xf16,
// CHECK-LABEL: @widened_across
//   CHECK-NOT:   tt.trans
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#along = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#across = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#bytes = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#short = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#halves = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @widened(%m: !ttg.memdesc<64x128xf8E4M3FN, #bytes, #smem>, %n: !ttg.memdesc<128x32xf8E4M3FN, #plain, #smem>, %c: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
    %w = ttg.local_load %m : !ttg.memdesc<64x128xf8E4M3FN, #bytes, #smem> -> tensor<64x128xf8E4M3FN, #a>
    %x = tt.fp_to_fp %w : tensor<64x128xf8E4M3FN, #a> -> tensor<64x128xf16, #a>
    %v = ttg.local_load %n : !ttg.memdesc<128x32xf8E4M3FN, #plain, #smem> -> tensor<128x32xf8E4M3FN, #along>
    %e = tt.fp_to_fp %v : tensor<128x32xf8E4M3FN, #along> -> tensor<128x32xf16, #along>
    %p = ttg.local_alloc %e : (tensor<128x32xf16, #along>) -> !ttg.memdesc<128x32xf16, #halves, #smem>
    %y = ttg.local_load %p : !ttg.memdesc<128x32xf16, #halves, #smem> -> tensor<128x32xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<64x128xf16, #a> * tensor<128x32xf16, #b> -> tensor<64x32xf32, #mma>
    tt.return %d : tensor<64x32xf32, #mma>
  }

  tt.func @widened_short(%m: !ttg.memdesc<64x64xf8E4M3FN, #short, #smem>, %n: !ttg.memdesc<64x32xf8E4M3FN, #plain, #smem>, %c: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
    %w = ttg.local_load %m : !ttg.memdesc<64x64xf8E4M3FN, #short, #smem> -> tensor<64x64xf8E4M3FN, #a>
    %x = tt.fp_to_fp %w : tensor<64x64xf8E4M3FN, #a> -> tensor<64x64xf16, #a>
    %v = ttg.local_load %n : !ttg.memdesc<64x32xf8E4M3FN, #plain, #smem> -> tensor<64x32xf8E4M3FN, #along>
    %e = tt.fp_to_fp %v : tensor<64x32xf8E4M3FN, #along> -> tensor<64x32xf16, #along>
    %p = ttg.local_alloc %e : (tensor<64x32xf16, #along>) -> !ttg.memdesc<64x32xf16, #halves, #smem>
    %y = ttg.local_load %p : !ttg.memdesc<64x32xf16, #halves, #smem> -> tensor<64x32xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x32xf16, #b> -> tensor<64x32xf32, #mma>
    tt.return %d : tensor<64x32xf32, #mma>
  }

  tt.func @widened_across(%m: !ttg.memdesc<64x128xf8E4M3FN, #bytes, #smem>, %n: !ttg.memdesc<128x32xf8E4M3FN, #plain, #smem>, %c: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
    %w = ttg.local_load %m : !ttg.memdesc<64x128xf8E4M3FN, #bytes, #smem> -> tensor<64x128xf8E4M3FN, #a>
    %x = tt.fp_to_fp %w : tensor<64x128xf8E4M3FN, #a> -> tensor<64x128xf16, #a>
    %v = ttg.local_load %n : !ttg.memdesc<128x32xf8E4M3FN, #plain, #smem> -> tensor<128x32xf8E4M3FN, #across>
    %e = tt.fp_to_fp %v : tensor<128x32xf8E4M3FN, #across> -> tensor<128x32xf16, #across>
    %p = ttg.local_alloc %e : (tensor<128x32xf16, #across>) -> !ttg.memdesc<128x32xf16, #halves, #smem>
    %y = ttg.local_load %p : !ttg.memdesc<128x32xf16, #halves, #smem> -> tensor<128x32xf16, #b>
    %d = tt.dot %x, %y, %c : tensor<64x128xf16, #a> * tensor<128x32xf16, #b> -> tensor<64x32xf32, #mma>
    tt.return %d : tensor<64x32xf32, #mma>
  }
}
