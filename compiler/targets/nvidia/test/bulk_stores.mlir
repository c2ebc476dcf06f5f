// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file --nvidia-bulk-stores --canonicalize | FileCheck %s

// A block goes through shared memory. The wait for the copy of the iteration before comes before the write. The map is
// made together with one that is there already.
// CHECK-LABEL: @whole
//       CHECK:   ttng.tensormap_create %{{.*}}, %arg1
//       CHECK:   ttng.tensormap_create %[[MAP:.*]], %arg0, [%c64_i32{{.*}}, %c64_i32{{.*}}], [{{.*}}], {{.*}} {elem_type = 1 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32, warp = 1 : i32}
//  CHECK-NEXT:   ttng.tensormap_fenceproxy_acquire %[[MAP]]
//  CHECK-NEXT:   ttng.tensormap_fenceproxy_acquire
//       CHECK:   %[[DESC:.*]] = ttng.reinterpret_tensor_descriptor %[[MAP]]
//       CHECK:   %[[SLOTS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1x64x64xf16
//       CHECK:   scf.for %[[I:.*]] =
//       CHECK:     %[[X:.*]] = arith.truncf
//       CHECK:     ttng.async_tma_store_wait {pendings = 0 : i32}
//       CHECK:     %[[SLOT:.*]] = ttg.memdesc_index %[[SLOTS]][%c0_i32]
//  CHECK-NEXT:     ttg.local_store %[[X]], %[[SLOT]]
//  CHECK-NEXT:     ttng.fence_async_shared
//  CHECK-NEXT:     ttng.async_tma_copy_local_to_global %[[DESC]][%[[I]], %c0_i32] %[[SLOT]]
//   CHECK-NOT:     tt.store
//       CHECK:   ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
//  CHECK-NEXT:   ttg.local_dealloc %[[SLOTS]]
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @whole(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i32, %pitch: i64, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %zero: tensor<64x64xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #tile, #smem>, %b: !ttg.memdesc<64x64xf16, #turned, #smem>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %other = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ttng.tensormap_create %other, %q, [%c64, %c64], [%m, %m], [%pitch], [%c1, %c1] {elem_type = 1 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %other : !tt.ptr<i8>
    %rows = arith.extsi %m : i32 to i64
    scf.for %i = %c0 to %m step %c64 : i32 {
      %d = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x64xf16, #turned, #smem> -> tensor<64x64xf32, #mma>
      %x = arith.truncf %d : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %c = ttg.convert_layout %x : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
      %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      tt.store %ps, %c, %k : tensor<64x64x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}

// -----

// There is room for three quarters of a block. Nothing waits for the first three, the last one for the first one's read.
// CHECK-LABEL: @parts
//       CHECK:   %[[SLOTS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16
//       CHECK:     ttng.async_tma_store_wait {pendings = 0 : i32}
//   CHECK-NOT:     wait
//       CHECK:     ttng.async_tma_copy_local_to_global %{{.*}}[%[[I:.*]], %c0_i32]
//   CHECK-NOT:     wait
//       CHECK:     ttng.async_tma_copy_local_to_global %{{.*}}[%[[I]], %c64_i32]
//   CHECK-NOT:     wait
//       CHECK:     ttng.async_tma_copy_local_to_global %{{.*}}[%[[I]], %c128_i32]
//       CHECK:     ttng.async_tma_store_wait {pendings = 2 : i32, read_only}
//       CHECK:     ttg.memdesc_index %[[SLOTS]][%c0_i32]
//       CHECK:     ttng.async_tma_copy_local_to_global %{{.*}}[%[[I]], %c192_i32]
//       CHECK:   ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @parts(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i32, %pitch: i64, %inside: tensor<64x256xi1, #blocked>, %ps: tensor<64x256x!tt.ptr<f16>, #blocked>, %zero: tensor<64x256xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #tile, #smem>, %b: !ttg.memdesc<64x256xf16, #turned, #smem>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %rows = arith.extsi %m : i32 to i64
    %used = ttg.local_alloc : () -> !ttg.memdesc<25x64x64xf16, #tile, #smem, mutable>
    scf.for %i = %c0 to %m step %c64 : i32 {
      %d = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x256xf16, #turned, #smem> -> tensor<64x256xf32, #mma>
      %x = arith.truncf %d : tensor<64x256xf32, #mma> to tensor<64x256xf16, #mma>
      %c = ttg.convert_layout %x : tensor<64x256xf16, #mma> -> tensor<64x256xf16, #blocked>
      %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 256>} : tensor<64x256xi1, #blocked>, <f16>
      tt.store %ps, %c, %k : tensor<64x256x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}

// -----

// There is room for one quarter: each waits until the one before has been read.
// CHECK-LABEL: @one_slot
//       CHECK:   ttg.local_alloc : () -> !ttg.memdesc<1x64x64xf16
//       CHECK:     ttng.async_tma_store_wait {pendings = 0 : i32}
//       CHECK:     ttng.async_tma_copy_local_to_global
//       CHECK:     ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
//       CHECK:     ttng.async_tma_copy_local_to_global
//       CHECK:     ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
//       CHECK:     ttng.async_tma_copy_local_to_global
//       CHECK:     ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
//       CHECK:     ttng.async_tma_copy_local_to_global
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @one_slot(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i32, %pitch: i64, %inside: tensor<64x256xi1, #blocked>, %ps: tensor<64x256x!tt.ptr<f16>, #blocked>, %zero: tensor<64x256xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #tile, #smem>, %b: !ttg.memdesc<64x256xf16, #turned, #smem>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %rows = arith.extsi %m : i32 to i64
    %used = ttg.local_alloc : () -> !ttg.memdesc<27x64x64xf16, #tile, #smem, mutable>
    scf.for %i = %c0 to %m step %c64 : i32 {
      %d = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x256xf16, #turned, #smem> -> tensor<64x256xf32, #mma>
      %x = arith.truncf %d : tensor<64x256xf32, #mma> to tensor<64x256xf16, #mma>
      %c = ttg.convert_layout %x : tensor<64x256xf16, #mma> -> tensor<64x256xf16, #blocked>
      %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 256>} : tensor<64x256xi1, #blocked>, <f16>
      tt.store %ps, %c, %k : tensor<64x256x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}

// -----

// Not even one quarter fits.
// CHECK-LABEL: @no_room
//   CHECK-NOT:   async_tma
//       CHECK:   tt.store
//   CHECK-NOT:   async_tma
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @no_room(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i32, %pitch: i64, %inside: tensor<64x256xi1, #blocked>, %ps: tensor<64x256x!tt.ptr<f16>, #blocked>, %zero: tensor<64x256xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #tile, #smem>, %b: !ttg.memdesc<64x256xf16, #turned, #smem>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %rows = arith.extsi %m : i32 to i64
    %used = ttg.local_alloc : () -> !ttg.memdesc<28x64x64xf16, #tile, #smem, mutable>
    scf.for %i = %c0 to %m step %c64 : i32 {
      %d = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x256xf16, #turned, #smem> -> tensor<64x256xf32, #mma>
      %x = arith.truncf %d : tensor<64x256xf32, #mma> to tensor<64x256xf16, #mma>
      %c = ttg.convert_layout %x : tensor<64x256xf16, #mma> -> tensor<64x256xf16, #blocked>
      %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 256>} : tensor<64x256xi1, #blocked>, <f16>
      tt.store %ps, %c, %k : tensor<64x256x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}

// -----

// The second block is beside the first one, the third one may have elements of both. It waits until these are written.
// CHECK-LABEL: @order
//       CHECK:     ttng.async_tma_store_wait {pendings = 0 : i32}
//       CHECK:     ttng.async_tma_copy_local_to_global %{{.*}}[%[[I:.*]], %[[J:.*]]]
//   CHECK-NOT:     wait
//       CHECK:     ttng.async_tma_copy_local_to_global
//       CHECK:     ttng.async_tma_store_wait {pendings = 0 : i32}
//       CHECK:     ttng.async_tma_copy_local_to_global
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @order(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i32, %pitch: i64, %inside: tensor<64x256xi1, #blocked>, %ps: tensor<64x256x!tt.ptr<f16>, #blocked>, %zero: tensor<64x256xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #tile, #smem>, %b: !ttg.memdesc<64x256xf16, #turned, #smem>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %rows = arith.extsi %m : i32 to i64
    %c256 = arith.constant 256 : i32
    %used = ttg.local_alloc : () -> !ttg.memdesc<15x64x64xf16, #tile, #smem, mutable>
    scf.for %i = %c0 to %m step %c64 : i32 {
      %d = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x256xf16, #turned, #smem> -> tensor<64x256xf32, #mma>
      %x = arith.truncf %d : tensor<64x256xf32, #mma> to tensor<64x256xf16, #mma>
      %c = ttg.convert_layout %x : tensor<64x256xf16, #mma> -> tensor<64x256xf16, #blocked>
      %j = arith.muli %i, %m : i32
      %next = arith.addi %j, %c256 : i32
      %between = arith.addi %j, %c64 : i32
      %k = tt.block_mask %inside, %p[%i, %j], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 256>} : tensor<64x256xi1, #blocked>, <f16>
      tt.store %ps, %c, %k : tensor<64x256x!tt.ptr<f16>, #blocked>
      %k2 = tt.block_mask %inside, %p[%i, %next], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 256>} : tensor<64x256xi1, #blocked>, <f16>
      tt.store %ps, %c, %k2 : tensor<64x256x!tt.ptr<f16>, #blocked>
      %k3 = tt.block_mask %inside, %p[%i, %between], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 256>} : tensor<64x256xi1, #blocked>, <f16>
      tt.store %ps, %c, %k3 : tensor<64x256x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}

// -----

// A branch of the same iteration has begun a copy from the slot. It is waited for after the branch, not before the
// copies of the dots.
// CHECK-LABEL: @branch_before
//       CHECK:     ttg.async_wait
//       CHECK:     scf.if
//       CHECK:       ttng.async_tma_store_wait {pendings = 0 : i32}
//       CHECK:       ttng.async_tma_copy_local_to_global
//       CHECK:     }
//       CHECK:     ttng.async_tma_store_wait {pendings = 0 : i32}
//       CHECK:     ttg.local_store
//       CHECK:     ttng.async_tma_copy_local_to_global
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @branch_before(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i32, %flag: i1, %pitch: i64, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %qs: tensor<64x64x!tt.ptr<f16>, #blocked>, %zero: tensor<64x64xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #tile, #smem>, %b: !ttg.memdesc<64x64xf16, #turned, #smem>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %rows = arith.extsi %m : i32 to i64
    scf.for %i = %c0 to %m step %c64 : i32 {
      %w = ttg.async_wait {num = 0 : i32}
      %d = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x64xf16, #turned, #smem> -> tensor<64x64xf32, #mma>
      %x = arith.truncf %d : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      scf.if %flag {
        %c = ttg.convert_layout %x : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
        %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
        tt.store %ps, %c, %k : tensor<64x64x!tt.ptr<f16>, #blocked>
      }
      %y = arith.addf %x, %x : tensor<64x64xf16, #mma>
      %c2 = ttg.convert_layout %y : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
      %k2 = tt.block_mask %inside, %q[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      tt.store %qs, %c2, %k2 : tensor<64x64x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}

// -----

// The tensor is read, too.
// CHECK-LABEL: @reads
//   CHECK-NOT:   async_tma
//       CHECK:   tt.store
//   CHECK-NOT:   async_tma
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @reads(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i32, %pitch: i64, %inside: tensor<64x256xi1, #blocked>, %ps: tensor<64x256x!tt.ptr<f16>, #blocked>, %zero: tensor<64x256xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #tile, #smem>, %b: !ttg.memdesc<64x256xf16, #turned, #smem>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %rows = arith.extsi %m : i32 to i64
    scf.for %i = %c0 to %m step %c64 : i32 {
      %y = tt.load %p : !tt.ptr<f16>
      %d = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x256xf16, #turned, #smem> -> tensor<64x256xf32, #mma>
      %x = arith.truncf %d : tensor<64x256xf32, #mma> to tensor<64x256xf16, #mma>
      %c = ttg.convert_layout %x : tensor<64x256xf16, #mma> -> tensor<64x256xf16, #blocked>
      %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 256>} : tensor<64x256xi1, #blocked>, <f16>
      tt.store %ps, %c, %k : tensor<64x256x!tt.ptr<f16>, #blocked>
      tt.store %q, %y : !tt.ptr<f16>
    }
    tt.return
  }
}

// -----

// Another program may wait for the block.
// CHECK-LABEL: @tells
//   CHECK-NOT:   async_tma
//       CHECK:   tt.store
//   CHECK-NOT:   async_tma
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @tells(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i32, %pitch: i64, %inside: tensor<64x256xi1, #blocked>, %ps: tensor<64x256x!tt.ptr<f16>, #blocked>, %zero: tensor<64x256xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #tile, #smem>, %b: !ttg.memdesc<64x256xf16, #turned, #smem>, %flag: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %rows = arith.extsi %m : i32 to i64
    scf.for %i = %c0 to %m step %c64 : i32 {
      %d = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x256xf16, #turned, #smem> -> tensor<64x256xf32, #mma>
      %x = arith.truncf %d : tensor<64x256xf32, #mma> to tensor<64x256xf16, #mma>
      %c = ttg.convert_layout %x : tensor<64x256xf16, #mma> -> tensor<64x256xf16, #blocked>
      %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 256>} : tensor<64x256xi1, #blocked>, <f16>
      tt.store %ps, %c, %k : tensor<64x256x!tt.ptr<f16>, #blocked>
      %t = arith.constant true
      %old = tt.atomic_rmw add, release, gpu, %flag, %m, %t : (!tt.ptr<i32>, i32, i1) -> i32
    }
    tt.return
  }
}

// -----

// The block is stored under a condition.
// CHECK-LABEL: @condition
//   CHECK-NOT:   async_tma
//       CHECK:   tt.store
//   CHECK-NOT:   async_tma
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @condition(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i32, %pitch: i64, %inside: tensor<64x256xi1, #blocked>, %ps: tensor<64x256x!tt.ptr<f16>, #blocked>, %zero: tensor<64x256xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #tile, #smem>, %b: !ttg.memdesc<64x256xf16, #turned, #smem>, %t: i1) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %rows = arith.extsi %m : i32 to i64
    scf.for %i = %c0 to %m step %c64 : i32 {
      %d = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x256xf16, #turned, #smem> -> tensor<64x256xf32, #mma>
      %x = arith.truncf %d : tensor<64x256xf32, #mma> to tensor<64x256xf16, #mma>
      %c = ttg.convert_layout %x : tensor<64x256xf16, #mma> -> tensor<64x256xf16, #blocked>
      %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 256>} : tensor<64x256xi1, #blocked>, <f16>
      %s = tt.splat %t : i1 -> tensor<64x256xi1, #blocked>
      %k2 = arith.andi %k, %s : tensor<64x256xi1, #blocked>
      tt.store %ps, %c, %k2 : tensor<64x256x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}

// -----

// There is no loop, so that the map is not worth its time.
// CHECK-LABEL: @once
//   CHECK-NOT:   async_tma
//       CHECK:   tt.store
//   CHECK-NOT:   async_tma
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @once(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i32, %pitch: i64, %inside: tensor<64x256xi1, #blocked>, %ps: tensor<64x256x!tt.ptr<f16>, #blocked>, %zero: tensor<64x256xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #tile, #smem>, %b: !ttg.memdesc<64x256xf16, #turned, #smem>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %rows = arith.extsi %m : i32 to i64
      %d = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x256xf16, #turned, #smem> -> tensor<64x256xf32, #mma>
      %x = arith.truncf %d : tensor<64x256xf32, #mma> to tensor<64x256xf16, #mma>
      %c = ttg.convert_layout %x : tensor<64x256xf16, #mma> -> tensor<64x256xf16, #blocked>
      %k = tt.block_mask %inside, %p[%m, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 256>} : tensor<64x256xi1, #blocked>, <f16>
      tt.store %ps, %c, %k : tensor<64x256x!tt.ptr<f16>, #blocked>
    tt.return
  }
}

// -----

// Threads hold whole rows anyway.
// CHECK-LABEL: @rows
//   CHECK-NOT:   async_tma
//       CHECK:   tt.store
//   CHECK-NOT:   async_tma
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @rows(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i32, %pitch: i64, %inside: tensor<64x256xi1, #blocked>, %ps: tensor<64x256x!tt.ptr<f16>, #blocked>, %zero: tensor<64x256xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #tile, #smem>, %b: !ttg.memdesc<64x256xf16, #turned, #smem>, %y: tensor<64x256xf16, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %rows = arith.extsi %m : i32 to i64
    scf.for %i = %c0 to %m step %c64 : i32 {
      %d = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x256xf16, #turned, #smem> -> tensor<64x256xf32, #mma>
      %x = arith.truncf %d : tensor<64x256xf32, #mma> to tensor<64x256xf16, #mma>
      %c = ttg.convert_layout %x : tensor<64x256xf16, #mma> -> tensor<64x256xf16, #blocked>
      %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 256>} : tensor<64x256xi1, #blocked>, <f16>
      tt.store %ps, %y, %k : tensor<64x256x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}

// -----

// The other loop stores to the tensor as threads do: its size is not known in front of it.
// CHECK-LABEL: @other_loop
//   CHECK-NOT:   async_tma
// CHECK-COUNT-2:   tt.store
//   CHECK-NOT:   async_tma
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @other_loop(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i32, %pitch: i64, %inside: tensor<64x256xi1, #blocked>, %ps: tensor<64x256x!tt.ptr<f16>, #blocked>, %zero: tensor<64x256xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #tile, #smem>, %b: !ttg.memdesc<64x256xf16, #turned, #smem>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %rows = arith.extsi %m : i32 to i64
    %to = tt.splat %p : !tt.ptr<f16> -> tensor<64x256x!tt.ptr<f16>, #blocked>
    scf.for %i = %c0 to %m step %c64 : i32 {
      %d = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x256xf16, #turned, #smem> -> tensor<64x256xf32, #mma>
      %x = arith.truncf %d : tensor<64x256xf32, #mma> to tensor<64x256xf16, #mma>
      %c = ttg.convert_layout %x : tensor<64x256xf16, #mma> -> tensor<64x256xf16, #blocked>
      %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 256>} : tensor<64x256xi1, #blocked>, <f16>
      tt.store %to, %c, %k : tensor<64x256x!tt.ptr<f16>, #blocked>
    }
    scf.for %i = %c0 to %m step %c64 : i32 {
      %d = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x256xf16, #turned, #smem> -> tensor<64x256xf32, #mma>
      %x = arith.truncf %d : tensor<64x256xf32, #mma> to tensor<64x256xf16, #mma>
      %c = ttg.convert_layout %x : tensor<64x256xf16, #mma> -> tensor<64x256xf16, #blocked>
      %size = arith.extsi %i : i32 to i64
      %k = tt.block_mask %inside, %p[%i, %c0], [%size, %rows], [%pitch, %one] {block = array<i64: 64, 256>} : tensor<64x256xi1, #blocked>, <f16>
      tt.store %to, %c, %k : tensor<64x256x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}

// -----

// The maps of two tensors are made at once, by a warp each, and have a place in shared memory each.
// CHECK-LABEL: @maps
//   CHECK-DAG:   %[[FIRST:.*]] = ttg.local_alloc {alignment = 128 : i32}
//   CHECK-DAG:   %[[SECOND:.*]] = ttg.local_alloc {alignment = 128 : i32}
//       CHECK:   ttng.tensormap_create %{{.*}}, %arg0, {{.*}} slot %{{.*}} {elem_type = 1 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32}
//   CHECK-NOT:   acquire
//       CHECK:   ttng.tensormap_create %{{.*}}, %arg1, {{.*}} slot %{{.*}} {elem_type = 1 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32, warp = 1 : i32}
//  CHECK-NEXT:   ttng.tensormap_fenceproxy_acquire
//  CHECK-NEXT:   ttng.tensormap_fenceproxy_acquire
//       CHECK:   scf.for
//       CHECK:     ttng.async_tma_store_wait {pendings = 0 : i32}
//       CHECK:     ttng.async_tma_copy_local_to_global
//   CHECK-NOT:     wait
//       CHECK:     ttng.async_tma_copy_local_to_global
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @maps(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i32, %pitch: i64, %inside: tensor<64x256xi1, #blocked>, %ps: tensor<64x256x!tt.ptr<f16>, #blocked>, %zero: tensor<64x256xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #tile, #smem>, %b: !ttg.memdesc<64x256xf16, #turned, #smem>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %rows = arith.extsi %m : i32 to i64
    %used = ttg.local_alloc : () -> !ttg.memdesc<15x64x64xf16, #tile, #smem, mutable>
    scf.for %i = %c0 to %m step %c64 : i32 {
      %d = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x256xf16, #turned, #smem> -> tensor<64x256xf32, #mma>
      %x = arith.truncf %d : tensor<64x256xf32, #mma> to tensor<64x256xf16, #mma>
      %c = ttg.convert_layout %x : tensor<64x256xf16, #mma> -> tensor<64x256xf16, #blocked>
      %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 256>} : tensor<64x256xi1, #blocked>, <f16>
      tt.store %ps, %c, %k : tensor<64x256x!tt.ptr<f16>, #blocked>
      %k2 = tt.block_mask %inside, %q[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 256>} : tensor<64x256xi1, #blocked>, <f16>
      tt.store %ps, %c, %k2 : tensor<64x256x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}

// -----

// Rows of images that are too short to cut: a copy has a quarter of the images.
// CHECK-LABEL: @images
//       CHECK:   %[[SLOTS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16
//       CHECK:     ttng.async_tma_copy_local_to_global %{{.*}}[%c0_i32, %[[I:.*]], %c0_i32, %c0_i32] %{{.*}} : !tt.tensordesc<tensor<1x4x16x64xf16>>
//       CHECK:     %[[HALF:.*]] = arith.addi %[[I]], %c4_i32
//       CHECK:     ttng.async_tma_copy_local_to_global %{{.*}}[%c0_i32, %[[HALF]], %c0_i32, %c0_i32]
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @images(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i32, %pitch: i64, %inside: tensor<256x64xi1, #blocked>, %ps: tensor<256x64x!tt.ptr<f16>, #blocked>, %zero: tensor<256x64xf32, #mma>, %a: !ttg.memdesc<256x64xf16, #tile, #smem>, %b: !ttg.memdesc<64x64xf16, #turned, #smem>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %rows = arith.extsi %m : i32 to i64
    %used = ttg.local_alloc : () -> !ttg.memdesc<25x64x64xf16, #tile, #smem, mutable>
    scf.for %i = %c0 to %m step %c64 : i32 {
      %d = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<256x64xf16, #tile, #smem> * !ttg.memdesc<64x64xf16, #turned, #smem> -> tensor<256x64xf32, #mma>
      %x = arith.truncf %d : tensor<256x64xf32, #mma> to tensor<256x64xf16, #mma>
      %c = ttg.convert_layout %x : tensor<256x64xf16, #mma> -> tensor<256x64xf16, #blocked>
      %k = tt.block_mask %inside, %p[%c0, %i, %c0, %c0], [%rows, %rows, %rows, %rows], [%pitch, %pitch, %pitch, %one] {block = array<i64: 1, 16, 16, 64>} : tensor<256x64xi1, #blocked>, <f16>
      tt.store %ps, %c, %k : tensor<256x64x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}

// -----

// Copies by threads end where all bulk stores are waited for, so that the wait comes before the iteration's own.
// CHECK-LABEL: @beside_copies
//       CHECK:   scf.for
//  CHECK-NEXT:     ttng.async_tma_store_wait {pendings = 0 : i32}
//  CHECK-NEXT:     ttg.async_wait
//       CHECK:     ttg.async_copy_global_to_local
//       CHECK:     ttng.warp_group_dot
//   CHECK-NOT:     wait
//       CHECK:     ttng.async_tma_copy_local_to_global
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @beside_copies(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i32, %pitch: i64, %inside: tensor<64x64xi1, #blocked>, %ps: tensor<64x64x!tt.ptr<f16>, #blocked>, %zero: tensor<64x64xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #tile, #smem>, %cs: tensor<64x64x!tt.ptr<f16>, #blocked>, %to: !ttg.memdesc<64x64xf16, #tile, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #turned, #smem>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %other = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ttng.tensormap_create %other, %q, [%c64, %c64], [%m, %m], [%pitch], [%c1, %c1] {elem_type = 1 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %other : !tt.ptr<i8>
    %rows = arith.extsi %m : i32 to i64
    %t = ttg.async_commit_group
    scf.for %i = %c0 to %m step %c64 : i32 {
      ttg.async_wait %t {num = 0 : i32}
      %g = ttg.async_copy_global_to_local %cs, %to : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #tile, #smem, mutable>
      ttg.async_commit_group tokens %g
      %d = ttng.warp_group_dot %a, %b, %zero : !ttg.memdesc<64x64xf16, #tile, #smem> * !ttg.memdesc<64x64xf16, #turned, #smem> -> tensor<64x64xf32, #mma>
      %x = arith.truncf %d : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %c = ttg.convert_layout %x : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
      %k = tt.block_mask %inside, %p[%i, %c0], [%rows, %rows], [%pitch, %one] {block = array<i64: 64, 64>} : tensor<64x64xi1, #blocked>, <f16>
      tt.store %ps, %c, %k : tensor<64x64x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}
