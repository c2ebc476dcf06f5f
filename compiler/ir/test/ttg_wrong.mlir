// SPDX-License-Identifier: Apache-2.0
// RUN: triton-opt %s -split-input-file -verify-diagnostics

#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @index_of_another_swizzle(%x: !ttg.memdesc<4x32x16xf32, #shared, #smem, mutable>, %i: i32) {
  // expected-error @+1 {{has a result encoding that places elements elsewhere}}
  %0 = ttg.memdesc_index %x[%i] : !ttg.memdesc<4x32x16xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x16xf32, #flat, #smem, mutable>
  tt.return
}

// -----

#cube = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 2, 1]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @index_along_a_fast_dimension(%x: !ttg.memdesc<4x32x16xf32, #cube, #smem, mutable>, %i: i32) {
  // expected-error @+1 {{has a result encoding that places elements elsewhere}}
  %0 = ttg.memdesc_index %x[%i] : !ttg.memdesc<4x32x16xf32, #cube, #smem, mutable> -> !ttg.memdesc<32x16xf32, #flat, #smem, mutable>
  tt.return
}

// -----

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @index_makes_mutable(%x: !ttg.memdesc<4x32x16xf32, #flat, #smem>, %i: i32) {
  // expected-error @+1 {{changes mutability}}
  %0 = ttg.memdesc_index %x[%i] : !ttg.memdesc<4x32x16xf32, #flat, #smem> -> !ttg.memdesc<32x16xf32, #flat, #smem, mutable>
  tt.return
}

// -----

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @slice_between_tiles(%x: !ttg.memdesc<32x16xf32, #flat, #smem>) {
  // expected-error @+1 {{offset 4 along dimension 1 is no multiple of the size 8}}
  %0 = ttg.memdesc_subslice %x[0, 4] : !ttg.memdesc<32x16xf32, #flat, #smem> -> !ttg.memdesc<32x8xf32, #flat, #smem, 32x16>
  tt.return
}

// -----

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @slice_outside(%x: !ttg.memdesc<32x16xf32, #flat, #smem>) {
  // expected-error @+1 {{takes elements 16 to 24 of 16 along dimension 1}}
  %0 = ttg.memdesc_subslice %x[0, 16] : !ttg.memdesc<32x16xf32, #flat, #smem> -> !ttg.memdesc<32x8xf32, #flat, #smem, 32x16>
  tt.return
}

// -----

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @three_of_six(%x: !ttg.memdesc<6x32x16xf32, #flat, #smem>) {
  // expected-error @+1 {{part of size 3 along dimension 0 is no power of two}}
  %0 = ttg.memdesc_subslice %x[3, 0, 0] : !ttg.memdesc<6x32x16xf32, #flat, #smem> -> !ttg.memdesc<3x32x16xf32, #flat, #smem, 6x32x16>
  tt.return
}

// -----

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @slice_forgets_its_whole(%x: !ttg.memdesc<32x16xf32, #flat, #smem>) {
  // expected-error @+1 {{changes the shape of the allocation}}
  %0 = ttg.memdesc_subslice %x[0, 8] : !ttg.memdesc<32x16xf32, #flat, #smem> -> !ttg.memdesc<32x8xf32, #flat, #smem>
  tt.return
}

// -----

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @trans_keeps_the_order(%x: !ttg.memdesc<32x16xf32, #flat, #smem>) {
  // expected-error @+1 {{has a result encoding that places elements elsewhere}}
  %0 = ttg.memdesc_trans %x {order = array<i32: 1, 0>} : !ttg.memdesc<32x16xf32, #flat, #smem> -> !ttg.memdesc<16x32xf32, #flat, #smem>
  tt.return
}

// -----

#swizzled = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @reshape_of_swizzled(%x: !ttg.memdesc<32x16xf32, #swizzled, #smem>) {
  // expected-error @+1 {{has a result encoding that places elements elsewhere}}
  %0 = ttg.memdesc_reshape %x : !ttg.memdesc<32x16xf32, #swizzled, #smem> -> !ttg.memdesc<512xf32, #line, #smem>
  tt.return
}

// -----

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @reinterpret_as_more(%x: !ttg.memdesc<32x16xf16, #flat, #smem>) {
  // expected-error @+1 {{needs 2048 bytes, the buffer has 1024}}
  %0 = ttg.memdesc_reinterpret %x : !ttg.memdesc<32x16xf16, #flat, #smem> -> !ttg.memdesc<32x16xf32, #flat, #smem>
  tt.return
}

// -----

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @reinterpret_a_part(%x: !ttg.memdesc<16x16xf16, #flat, #smem, 32x16>) {
  // expected-error @+1 {{cannot reinterpret a part of a buffer}}
  %0 = ttg.memdesc_reinterpret %x : !ttg.memdesc<16x16xf16, #flat, #smem, 32x16> -> !ttg.memdesc<8x16xf32, #flat, #smem>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @copy_to_immutable(%p: tensor<32x16x!tt.ptr<f16>, #blocked>, %x: !ttg.memdesc<32x16xf16, #flat, #smem>) {
  // expected-error @+1 {{writes to an immutable buffer}}
  %0 = ttg.async_copy_global_to_local %p, %x : tensor<32x16x!tt.ptr<f16>, #blocked> -> <32x16xf16, #flat, #smem>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @copy_of_another_type(%p: tensor<32x16x!tt.ptr<f32>, #blocked>, %x: !ttg.memdesc<32x16xf16, #flat, #smem, mutable>) {
  // expected-error @+1 {{to a buffer of another shape or type}}
  %0 = ttg.async_copy_global_to_local %p, %x : tensor<32x16x!tt.ptr<f32>, #blocked> -> <32x16xf16, #flat, #smem, mutable>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @gather_too_far(%x: !ttg.memdesc<32x16xf32, #flat, #smem>, %i: tensor<64x16xi32, #blocked>) {
  // expected-error @+1 {{indices have 64 elements along dimension 0, the buffer 32}}
  %0 = ttg.local_gather %x[%i] {axis = 1 : i32} : !ttg.memdesc<32x16xf32, #flat, #smem>, tensor<64x16xi32, #blocked> -> tensor<64x16xf32, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @pairs_apart(%x: tensor<32x16xi8, #blocked>) {
  // expected-error @+1 {{the halves of a byte do not stay in its thread}}
  %0 = ttg.fp4_to_fp %x {axis = 0 : i32} : tensor<32x16xi8, #blocked> -> tensor<64x16xf16, #blocked>
  tt.return
}

// -----

tt.func @no_region_result(%p: i1) {
  // expected-error @+1 {{'ttg.mask.return' op returns other types}}
  %0 = "ttg.mask"(%p) ({ ttg.mask.return %p : i1 }) : (i1) -> f32
  tt.return
}

// -----

tt.func @stage_beyond(%i: i32) {
  // expected-error @+1 {{stage 3 is not among 0 to 2}}
  %0 = ttg.predicate_stage %i, %i, %i maxStage 2 stage 3 : i32 -> i1
  tt.return
}

// -----

tt.func @three_warps(%i: i32) {
  // expected-error @+1 {{partition of 3 warps}}
  ttg.warp_specialize(%i)
  default { ttg.warp_yield }
  partition0(%a: i32) num_warps(3) { ttg.warp_return } : (i32) -> ()
  tt.return
}

// -----

#four = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @warps_of_a_partition() {
    ttg.warp_specialize()
    default { ttg.warp_yield }
    partition0() num_warps(2) {
      // expected-error @+1 {{lies on 4 warps, but its partition has 2}}
      %0 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #four>
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

tt.func @start_without_warps(%i: i32) {
  // expected-error @+1 {{needs a number of warps and a first warp for each partition}}
  %0 = "ttg.start_partitions"(%i) <{partitionNumWarps = array<i32: 4>, warpGroupStartIds = array<i32>}> ({
  ^bb0(%a: i32):
    ttg.warp_return
  }) : (i32) -> !ttg.async.token
  tt.return
}

// -----

tt.func @partition_arguments(%i: i32) {
  // expected-error @+1 {{partition 0 has arguments of other types than the captures}}
  ttg.warp_specialize(%i)
  default { ttg.warp_yield }
  partition0(%a: i64) num_warps(4) { ttg.warp_return } : (i32) -> ()
  tt.return
}

// -----

tt.func @scratch_alignment() {
  // expected-error @+1 {{alignment 12 is no power of two}}
  %0 = ttg.global_scratch_alloc {alignment = 12 : i32, nbytes = 256 : i32} : !tt.ptr<i8>
  tt.return
}
