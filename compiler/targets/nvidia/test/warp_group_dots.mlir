// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --ttg-allocate-shared-memory --lower-to-llvm=target=cuda:90 | FileCheck %s

// Two slices of K, 32 bytes and so two units of a descriptor apart in a row of 64; in b, whose rows are K, 16 rows of 128
// bytes. Accumulators that begin with zero are not read. One statement from the fence to the wait.
// CHECK-LABEL: llvm.func @slices
//       CHECK:   llvm.inline_asm has_side_effects
//  CHECK-SAME: wgmma.fence.sync.aligned;
//  CHECK-SAME: add.s64 a, $33, 0;\0Aadd.s64 b, $32, 0;
//  CHECK-SAME: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {$0, $1, {{.*}}$31}, a, b, set, 1, 1, 0, 1;
//  CHECK-SAME: add.s64 a, $33, 2;\0Aadd.s64 b, $32, 128;
//  CHECK-SAME: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, a, b, add, 1, 1, 0, 1;
//  CHECK-SAME: wgmma.commit_group.sync.aligned;\0Awgmma.wait_group.sync.aligned 0;
//   CHECK-NOT:   wgmma
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @slices(%p: !tt.ptr<f32>) {
    %one = arith.constant dense<1.0> : tensor<64x32xf16, #blocked>
    %two = arith.constant dense<2.0> : tensor<32x64xf16, #blocked>
    %m = ttg.local_alloc %one : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #rows, #smem>
    %n = ttg.local_alloc %two : (tensor<32x64xf16, #blocked>) -> !ttg.memdesc<32x64xf16, #wide, #smem>
    %z = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d = ttng.warp_group_dot %m, %n, %z : !ttg.memdesc<64x32xf16, #rows, #smem> * !ttg.memdesc<32x64xf16, #wide, #smem> -> tensor<64x64xf32, #mma>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %q, %d : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}

// -----

// Upstream's spelling: a dot that may go on, and its wait.
// CHECK-LABEL: llvm.func @asynchronous
//       CHECK:   wgmma.wait_group.sync.aligned 0;
//   CHECK-NOT:   wgmma
//       CHECK:   llvm.return
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @asynchronous(%p: !tt.ptr<f32>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #wide, #smem, mutable>
    %z = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d = ttng.warp_group_dot %m, %m, %z {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #wide, #smem, mutable> * !ttg.memdesc<64x64xf16, #wide, #smem, mutable> -> tensor<64x64xf32, #mma>
    %e:2 = ttng.warp_group_dot_wait %d, %m {pendings = 0 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #wide, #smem, mutable>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.store %q, %e#0 : tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}

// -----

// Operand a from registers, four words a slice; bytes have no transposition and their accumulators are i32, added to those that
// are there.
// CHECK-LABEL: llvm.func @registers
//       CHECK:   llvm.inline_asm has_side_effects
//  CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {$0, $1, $2, $3}, {$9, $10, $11, $12}, b, add;
//  CHECK-SAME: "=r,=r,=r,=r,0,1,2,3,l,r,r,r,r,~{memory}"
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8, 32]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#blocked = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#columns = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 8}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @registers(%p: !tt.ptr<i32>) {
    %one = arith.constant dense<1> : tensor<64x32xi8, #a>
    %two = arith.constant dense<2> : tensor<32x8xi8, #blocked>
    %n = ttg.local_alloc %two : (tensor<32x8xi8, #blocked>) -> !ttg.memdesc<32x8xi8, #columns, #smem>
    %c = arith.constant dense<3> : tensor<64x8xi32, #mma>
    %d = ttng.warp_group_dot %one, %n, %c : tensor<64x32xi8, #a> * !ttg.memdesc<32x8xi8, #columns, #smem> -> tensor<64x8xi32, #mma>
    %q = tt.splat %p : !tt.ptr<i32> -> tensor<64x8x!tt.ptr<i32>, #mma>
    tt.store %q, %d : tensor<64x8x!tt.ptr<i32>, #mma>
    tt.return
  }
}

// -----

// Accumulators of f16, two neighbours a register; also where a wait passes them on.
// CHECK-LABEL: llvm.func @halves
//       CHECK:   llvm.inline_asm has_side_effects
//  CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {$0, $1}, a, b, add, 1, 1, 0, 0;
//  CHECK-SAME: "=r,=r,0,1,l,l,~{memory}"
//       CHECK:   llvm.inline_asm has_side_effects
//  CHECK-SAME: "wgmma.wait_group.sync.aligned 0;", "=r,=r,0,1,~{memory}"
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#columns = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @halves(%p: !tt.ptr<f16>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x16xf16, #rows, #smem, mutable>
    %n = ttg.local_alloc : () -> !ttg.memdesc<16x8xf16, #columns, #smem, mutable>
    %c = arith.constant dense<3.0> : tensor<64x8xf16, #mma>
    %d = ttng.warp_group_dot %m, %n, %c {in_flight} : !ttg.memdesc<64x16xf16, #rows, #smem, mutable> * !ttg.memdesc<16x8xf16, #columns, #smem, mutable> -> tensor<64x8xf16, #mma>
    %e = ttng.warp_group_wait %d : tensor<64x8xf16, #mma> -> tensor<64x8xf16, #mma> buffers %m, %n : !ttg.memdesc<64x16xf16, #rows, #smem, mutable>, !ttg.memdesc<16x8xf16, #columns, #smem, mutable> {pending = 0 : i32}
    %q = tt.splat %p : !tt.ptr<f16> -> tensor<64x8x!tt.ptr<f16>, #mma>
    tt.store %q, %e : tensor<64x8x!tt.ptr<f16>, #mma>
    tt.return
  }
}

// -----

// Of 8-bit floats, sums of 32 elements along K each; threads add them to the accumulators. The second part runs while
// the first one is added. Upstream's dot asks for it by leaving out after how many.
// CHECK-LABEL: llvm.func @promoted
//       CHECK:   llvm.inline_asm has_side_effects
//  CHECK-SAME: .reg .f32 part<32>;
//  CHECK-SAME: wgmma.fence.sync.aligned;
//  CHECK-SAME: wgmma.mma_async.sync.aligned.m64n32k32.f32.e4m3.e4m3 {part0, part1, {{.*}}part15}, a, b, set, 1, 1;
//  CHECK-SAME: wgmma.commit_group.sync.aligned;\0Awgmma.fence.sync.aligned;
//  CHECK-SAME: wgmma.mma_async.sync.aligned.m64n32k32.f32.e4m3.e4m3 {part16, part17, {{.*}}part31}, a, b, set, 1, 1;
//  CHECK-SAME: wgmma.commit_group.sync.aligned;\0Awgmma.wait_group.sync.aligned 1;\0Aadd.f32 $0, $0, part0;
//  CHECK-SAME: wgmma.wait_group.sync.aligned 0;\0Aadd.f32 $0, $0, part16;
//   CHECK-NOT:   wgmma
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 32]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#columns = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @promoted(%p: !tt.ptr<f32>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf8E4M3FN, #rows, #smem, mutable>
    %n = ttg.local_alloc : () -> !ttg.memdesc<64x32xf8E4M3FN, #columns, #smem, mutable>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>, #mma>
    %c = tt.load %q : tensor<64x32x!tt.ptr<f32>, #mma>
    %d = ttng.warp_group_dot %m, %n, %c {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf8E4M3FN, #rows, #smem, mutable> * !ttg.memdesc<64x32xf8E4M3FN, #columns, #smem, mutable> -> tensor<64x32xf32, #mma>
    tt.store %q, %d : tensor<64x32x!tt.ptr<f32>, #mma>
    tt.return
  }
}
