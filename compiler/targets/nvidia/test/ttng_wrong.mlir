// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --verify-diagnostics

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @encoding(%m: !ttg.memdesc<64x64xf16, #n, #smem>, %c: tensor<64x64xf32, #blocked>) {
  // expected-error @below {{yields a tensor of encoding nvidia_mma, version 3}}
  %d = ttng.warp_group_dot %m, %m, %c : !ttg.memdesc<64x64xf16, #n, #smem> * !ttg.memdesc<64x64xf16, #n, #smem> -> tensor<64x64xf32, #blocked>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @shapes(%m: !ttg.memdesc<64x64xf16, #n, #smem>, %o: !ttg.memdesc<32x64xf16, #n, #smem>, %c: tensor<64x64xf32, #mma>) {
  // expected-error @below {{do not fit}}
  %d = ttng.warp_group_dot %m, %o, %c : !ttg.memdesc<64x64xf16, #n, #smem> * !ttg.memdesc<32x64xf16, #n, #smem> -> tensor<64x64xf32, #mma>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 8]}>
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
tt.func @order(%m: !ttg.memdesc<64x64xf32, #n, #smem>, %c: tensor<64x64xf32, #mma>) {
  // expected-error @below {{cannot read operand b from}}
  %d = ttng.warp_group_dot %m, %m, %c : !ttg.memdesc<64x64xf32, #n, #smem> * !ttg.memdesc<64x64xf32, #n, #smem> -> tensor<64x64xf32, #mma>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @narrow_sums(%m: !ttg.memdesc<64x64xbf16, #n, #smem>, %c: tensor<64x64xbf16, #mma>) {
  // expected-error @below {{stays in flight with accumulators that wgmma has alone, not with 'bf16'}}
  %d = ttng.warp_group_dot %m, %m, %c {in_flight} : !ttg.memdesc<64x64xbf16, #n, #smem> * !ttg.memdesc<64x64xbf16, #n, #smem> -> tensor<64x64xbf16, #mma>
  tt.return
}

// -----

tt.func @pending() {
  // expected-error @below {{can leave at most 7 dots in flight}}
  ttng.warp_group_wait {pending = 8 : i32}
  tt.return
}

// -----

tt.func @results(%c: tensor<64x64xf32>) {
  // expected-error @below {{yields results of other types than its accumulators}}
  %d = ttng.warp_group_wait %c : tensor<64x64xf32> -> tensor<64x64xi32> {pending = 0 : i32}
  tt.return
}

// -----

#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 5, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [64, 64, 16]}>
#smem = #ttg.shared_memory
tt.func @registers(%a: tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, %m: !ttg.memdesc<64x64xf16, #n, #smem>, %c: tensor<64x64xf32, #mma>) {
  // expected-error @below {{takes operand a from a buffer}}
  %d = ttng.warp_group_dot %a, %m, %c : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x64xf16, #n, #smem> -> tensor<64x64xf32, #mma>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @columns(%slot: !ttg.memdesc<1xi32, #s, #smem, mutable>) {
  // expected-error @below {{takes a power of two of columns from 32 to 512, not 48}}
  %t = ttng.tensor_memory_alloc %slot, 48 : !ttg.memdesc<1xi32, #s, #smem, mutable>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
tt.func @accumulators(%t: i32) {
  // expected-error @below {{takes accumulators of 32 bits of nvidia_mma version 5}}
  %d = ttng.tensor_memory_load %t : tensor<64x64xf32, #mma>
  tt.return
}

// -----

#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @reduction(%d: !tt.tensordesc<tensor<64x64xf16>>, %i: i32, %b: !ttg.memdesc<64x64xf16, #rows, #smem, mutable>) {
  // expected-error @below {{has no 'xor' of floats}}
  ttng.async_tma_reduce xor, %d[%i, %i] %b : !tt.tensordesc<tensor<64x64xf16>>, !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
  tt.return
}
