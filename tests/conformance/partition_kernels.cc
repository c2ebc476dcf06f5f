// SPDX-License-Identifier: Apache-2.0
// Warp-specialised kernels in TTGIR, by hand.
#include "absl/strings/str_cat.h"
#include "tests/conformance/fault_kernels.h"

namespace tritond::conformance {
namespace {

constexpr char kModule[] = R"(
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#two = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>
#four = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
#rows2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [2, 1], order = [1, 0]}>
#columns2 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 2], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
$BODY
}
)";

// out[i] = in[i] + $N * iteration for the 128 elements of each of four iterations, by a partition that hands them over
// in shared memory. out[512 + iteration] = the sum of 0 … 127 and the iteration's offset, by a partition whose two
// warps reduce it. The default region yields the offset. An iteration starts and joins the partitions.
constexpr char kIterations[] = R"(
  tt.func public @kernel(%in: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %size = arith.constant 128 : i32
    %buffer = ttg.local_alloc : () -> !ttg.memdesc<128xi32, #flat, #smem, mutable>
    scf.for %i = %c0 to %c4 step %c1 : i32 {
      %base = arith.muli %i, %size : i32
      %offset = ttg.warp_specialize(%in, %out, %base, %buffer, %i) attributes {requestedRegisters = array<i32: 24, 40>}
      default {
        %x = arith.addi %base, %c0 : i32
        ttg.warp_yield %x : i32
      }
      partition0(%a: !tt.ptr<i32>, %o: !tt.ptr<i32>, %b: i32, %m: !ttg.memdesc<128xi32, #flat, #smem, mutable>, %iteration: i32) num_warps(1) {
        %k = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
        %bs = tt.splat %b : i32 -> tensor<128xi32, #one>
        %at = arith.addi %k, %bs : tensor<128xi32, #one>
        %p = tt.splat %a : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #one>
        %q = tt.addptr %p, %at : tensor<128x!tt.ptr<i32>, #one>, tensor<128xi32, #one>
        %v = tt.load %q : tensor<128x!tt.ptr<i32>, #one>
        %rs = tt.splat %iteration : i32 -> tensor<128xi32, #one>
        %w = arith.addi %v, %rs : tensor<128xi32, #one>
        ttg.local_store %w, %m : tensor<128xi32, #one> -> !ttg.memdesc<128xi32, #flat, #smem, mutable>
        ttg.warp_return
      }
      partition1(%a: !tt.ptr<i32>, %o: !tt.ptr<i32>, %b: i32, %m: !ttg.memdesc<128xi32, #flat, #smem, mutable>, %iteration: i32) num_warps(2) {
        %k = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #two>
        %sum = "tt.reduce"(%k) <{axis = 0 : i32}> ({
        ^bb0(%u: i32, %w: i32):
          %z = arith.addi %u, %w : i32
          tt.reduce.return %z : i32
        }) : (tensor<128xi32, #two>) -> i32
        %t = arith.addi %sum, %b : i32
        %c512 = arith.constant 512 : i32
        %place = arith.addi %iteration, %c512 : i32
        %o1 = tt.addptr %o, %place : !tt.ptr<i32>, i32
        tt.store %o1, %t : !tt.ptr<i32>
        ttg.warp_return
      } : (!tt.ptr<i32>, !tt.ptr<i32>, i32, !ttg.memdesc<128xi32, #flat, #smem, mutable>, i32) -> i32
      %k = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #four>
      %v = ttg.local_load %buffer : !ttg.memdesc<128xi32, #flat, #smem, mutable> -> tensor<128xi32, #four>
      %offsets = tt.splat %offset : i32 -> tensor<128xi32, #four>
      %at = arith.addi %k, %offsets : tensor<128xi32, #four>
      %p = tt.splat %out : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #four>
      %q = tt.addptr %p, %at : tensor<128x!tt.ptr<i32>, #four>, tensor<128xi32, #four>
      tt.store %q, %v : tensor<128x!tt.ptr<i32>, #four>
    }
    tt.return
  })";

// out[i] = the sum of in[128 * iteration + i] over eight iterations. A producer of one warp fills a multibuffer of two
// buffers, the default region adds what is there. "full" and "empty" are mbarriers. $PRODUCE puts %q into %view and
// arrives at %full.
constexpr char kMultibuffer[] = R"(
  tt.func public @kernel(%in: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c8 = arith.constant 8 : i32
    %zero = arith.constant dense<0> : tensor<128xi32, #four>
    %multibuffer = ttg.local_alloc : () -> !ttg.memdesc<2x128xi32, #flat, #smem, mutable>
    %fulls = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #flat, #smem, mutable>
    %empties = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #flat, #smem, mutable>
    %full0 = ttg.memdesc_index %fulls[%c0] : !ttg.memdesc<2x1xi64, #flat, #smem, mutable> -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
    %full1 = ttg.memdesc_index %fulls[%c1] : !ttg.memdesc<2x1xi64, #flat, #smem, mutable> -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
    %empty0 = ttg.memdesc_index %empties[%c0] : !ttg.memdesc<2x1xi64, #flat, #smem, mutable> -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
    %empty1 = ttg.memdesc_index %empties[%c1] : !ttg.memdesc<2x1xi64, #flat, #smem, mutable> -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
    ttng.init_barrier %full0, $ARRIVALS : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    ttng.init_barrier %full1, $ARRIVALS : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    ttng.init_barrier %empty0, 1 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    ttng.init_barrier %empty1, 1 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    %result = ttg.warp_specialize(%in, %multibuffer, %fulls, %empties)
    default {
      %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> (tensor<128xi32, #four>) : i32 {
        %slot = arith.remui %i, %c2 : i32
        %turn = arith.divui %i, %c2 : i32
        %phase = arith.andi %turn, %c1 : i32
        %full = ttg.memdesc_index %fulls[%slot] : !ttg.memdesc<2x1xi64, #flat, #smem, mutable> -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
        %empty = ttg.memdesc_index %empties[%slot] : !ttg.memdesc<2x1xi64, #flat, #smem, mutable> -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
        %view = ttg.memdesc_index %multibuffer[%slot] : !ttg.memdesc<2x128xi32, #flat, #smem, mutable> -> !ttg.memdesc<128xi32, #flat, #smem, mutable>
        ttng.wait_barrier %full, %phase deps %view : !ttg.memdesc<1xi64, #flat, #smem, mutable>, !ttg.memdesc<128xi32, #flat, #smem, mutable>
        %v = ttg.local_load %view : !ttg.memdesc<128xi32, #flat, #smem, mutable> -> tensor<128xi32, #four>
        ttng.arrive_barrier %empty, 1 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
        %next = arith.addi %acc, %v : tensor<128xi32, #four>
        scf.yield %next : tensor<128xi32, #four>
      }
      ttg.warp_yield %sum : tensor<128xi32, #four>
    }
    partition0(%a: !tt.ptr<i32>, %buffers: !ttg.memdesc<2x128xi32, #flat, #smem, mutable>, %fs: !ttg.memdesc<2x1xi64, #flat, #smem, mutable>, %es: !ttg.memdesc<2x1xi64, #flat, #smem, mutable>) num_warps(1) {
      %d0 = arith.constant 0 : i32
      %d1 = arith.constant 1 : i32
      %d2 = arith.constant 2 : i32
      %d8 = arith.constant 8 : i32
      %size = arith.constant 128 : i32
      %k = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #one>
      scf.for %i = %d0 to %d8 step %d1 : i32 {
        %slot = arith.remui %i, %d2 : i32
        %turn = arith.divui %i, %d2 : i32
        %parity = arith.andi %turn, %d1 : i32
        %phase = arith.xori %parity, %d1 : i32
        %full = ttg.memdesc_index %fs[%slot] : !ttg.memdesc<2x1xi64, #flat, #smem, mutable> -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
        %empty = ttg.memdesc_index %es[%slot] : !ttg.memdesc<2x1xi64, #flat, #smem, mutable> -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
        %view = ttg.memdesc_index %buffers[%slot] : !ttg.memdesc<2x128xi32, #flat, #smem, mutable> -> !ttg.memdesc<128xi32, #flat, #smem, mutable>
        ttng.wait_barrier %empty, %phase : !ttg.memdesc<1xi64, #flat, #smem, mutable>
        %base = arith.muli %i, %size : i32
        %bs = tt.splat %base : i32 -> tensor<128xi32, #one>
        %at = arith.addi %k, %bs : tensor<128xi32, #one>
        %p = tt.splat %a : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #one>
        %q = tt.addptr %p, %at : tensor<128x!tt.ptr<i32>, #one>, tensor<128xi32, #one>
$PRODUCE
      }
      ttg.warp_return
    } : (!tt.ptr<i32>, !ttg.memdesc<2x128xi32, #flat, #smem, mutable>, !ttg.memdesc<2x1xi64, #flat, #smem, mutable>, !ttg.memdesc<2x1xi64, #flat, #smem, mutable>) -> tensor<128xi32, #four>
    ttng.inval_barrier %full0 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    ttng.inval_barrier %full1 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    ttng.inval_barrier %empty0 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    ttng.inval_barrier %empty1 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    %k4 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #four>
    %p4 = tt.splat %out : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #four>
    %q4 = tt.addptr %p4, %k4 : tensor<128x!tt.ptr<i32>, #four>, tensor<128xi32, #four>
    tt.store %q4, %result : tensor<128x!tt.ptr<i32>, #four>
    tt.return
  })";

constexpr char kProduceByStores[] = R"(
        %v = tt.load %q : tensor<128x!tt.ptr<i32>, #one>
        ttg.local_store %v, %view : tensor<128xi32, #one> -> !ttg.memdesc<128xi32, #flat, #smem, mutable>
        ttng.arrive_barrier %full, 1 : !ttg.memdesc<1xi64, #flat, #smem, mutable>)";

constexpr char kProduceByCopies[] = R"(
        %token = ttg.async_copy_global_to_local %q, %view : tensor<128x!tt.ptr<i32>, #one> -> <128xi32, #flat, #smem, mutable>
        ttng.async_copy_mbarrier_arrive %full {noIncrement} : !ttg.memdesc<1xi64, #flat, #smem, mutable>)";

// The product of a (64 x 64) and b (64 x 64), one after the other in %in, and that of the next two, added. A producer
// of four warps hands tiles to a consumer of four, whose wgmma reads them.
constexpr char kProducts[] = R"(
  tt.func public @kernel(%in: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #tile, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #tile, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
    %empty = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
    ttng.init_barrier %full, 1 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    ttng.init_barrier %empty, 1 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    ttg.warp_specialize(%in, %out, %a, %b, %full, %empty) attributes {requestedRegisters = array<i32: 40, 232>}
    default {
      ttg.warp_yield
    }
    partition0(%src: !tt.ptr<f16>, %dst: !tt.ptr<f32>, %x: !ttg.memdesc<64x64xf16, #tile, #smem, mutable>, %y: !ttg.memdesc<64x64xf16, #tile, #smem, mutable>, %f: !ttg.memdesc<1xi64, #flat, #smem, mutable>, %e: !ttg.memdesc<1xi64, #flat, #smem, mutable>) num_warps(4) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %pitch = arith.constant dense<64> : tensor<64x1xi32, #rows>
      %tile = arith.constant dense<4096> : tensor<64x64xi32, #rows>
      %k = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
      %m = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #rows}>>
      %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
      %m1 = tt.expand_dims %m {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<64x1xi32, #rows>
      %m2 = arith.muli %m1, %pitch : tensor<64x1xi32, #rows>
      %k3 = tt.broadcast %k1 : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
      %m3 = tt.broadcast %m2 : tensor<64x1xi32, #rows> -> tensor<64x64xi32, #rows>
      %at = arith.addi %k3, %m3 : tensor<64x64xi32, #rows>
      %p = tt.splat %src : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
      %first = tt.addptr %p, %at : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
      %last = scf.for %i = %c0 to %c2 step %c1 iter_args(%q = %first) -> (tensor<64x64x!tt.ptr<f16>, #rows>) : i32 {
        %parity = arith.xori %i, %c1 : i32
        ttng.wait_barrier %e, %parity : !ttg.memdesc<1xi64, #flat, #smem, mutable>
        %u = tt.load %q : tensor<64x64x!tt.ptr<f16>, #rows>
        %q1 = tt.addptr %q, %tile : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
        %v = tt.load %q1 : tensor<64x64x!tt.ptr<f16>, #rows>
        %q2 = tt.addptr %q1, %tile : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
        ttg.local_store %u, %x : tensor<64x64xf16, #rows> -> !ttg.memdesc<64x64xf16, #tile, #smem, mutable>
        ttg.local_store %v, %y : tensor<64x64xf16, #rows> -> !ttg.memdesc<64x64xf16, #tile, #smem, mutable>
        ttng.fence_async_shared {bCluster = false}
        ttng.arrive_barrier %f, 1 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
        scf.yield %q2 : tensor<64x64x!tt.ptr<f16>, #rows>
      }
      ttg.warp_return
    }
    partition1(%src: !tt.ptr<f16>, %dst: !tt.ptr<f32>, %x: !ttg.memdesc<64x64xf16, #tile, #smem, mutable>, %y: !ttg.memdesc<64x64xf16, #tile, #smem, mutable>, %f: !ttg.memdesc<1xi64, #flat, #smem, mutable>, %e: !ttg.memdesc<1xi64, #flat, #smem, mutable>) num_warps(4) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
      %sum = scf.for %i = %c0 to %c2 step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
        ttng.wait_barrier %f, %i : !ttg.memdesc<1xi64, #flat, #smem, mutable>
        %started = ttng.warp_group_dot %x, %y, %acc {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #tile, #smem, mutable> * !ttg.memdesc<64x64xf16, #tile, #smem, mutable> -> tensor<64x64xf32, #mma>
        %d = ttng.warp_group_dot_wait %started {pendings = 0 : i32} : tensor<64x64xf32, #mma>
        ttng.arrive_barrier %e, 1 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
        scf.yield %d : tensor<64x64xf32, #mma>
      }
      %result = ttg.convert_layout %sum : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #rows>
      %pitch = arith.constant dense<64> : tensor<64x1xi32, #rows>
      %k = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
      %m = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #rows}>>
      %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
      %m1 = tt.expand_dims %m {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<64x1xi32, #rows>
      %m2 = arith.muli %m1, %pitch : tensor<64x1xi32, #rows>
      %k3 = tt.broadcast %k1 : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
      %m3 = tt.broadcast %m2 : tensor<64x1xi32, #rows> -> tensor<64x64xi32, #rows>
      %at = arith.addi %k3, %m3 : tensor<64x64xi32, #rows>
      %p = tt.splat %dst : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #rows>
      %q = tt.addptr %p, %at : tensor<64x64x!tt.ptr<f32>, #rows>, tensor<64x64xi32, #rows>
      tt.store %q, %result : tensor<64x64x!tt.ptr<f32>, #rows>
      ttg.warp_return
    } : (!tt.ptr<f16>, !tt.ptr<f32>, !ttg.memdesc<64x64xf16, #tile, #smem, mutable>, !ttg.memdesc<64x64xf16, #tile, #smem, mutable>, !ttg.memdesc<1xi64, #flat, #smem, mutable>, !ttg.memdesc<1xi64, #flat, #smem, mutable>) -> ()
    tt.return
  })";

// out = in + 1, for 200 rows of 128 elements, in four tiles of 64 rows of which the last one is cut. A producer of one
// warp starts bulk copies of the tiles, the default region adds and sends them back.
constexpr char kTiles[] = R"(
  tt.func public @kernel(%in: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %c200 = arith.constant 200 : i32
    %pitch = arith.constant 256 : i64
    %one = arith.constant dense<1.0> : tensor<64x128xf16, #rows>
    %maps = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 256 : i32} : !tt.ptr<i8>
    %map1 = tt.addptr %maps, %c128 : !tt.ptr<i8>, i32
    ttng.tensormap_create %maps, %in, [%c64, %c64], [%c128, %c200], [%pitch], [%c1, %c1] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_create %map1, %out, [%c64, %c64], [%c128, %c200], [%pitch], [%c1, %c1] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %maps : !tt.ptr<i8>
    ttng.tensormap_fenceproxy_acquire %map1 : !tt.ptr<i8>
    %from = ttng.reinterpret_tensor_descriptor %maps : !tt.ptr<i8> to !tt.tensordesc<tensor<64x128xf16, #tile>>
    %to = ttng.reinterpret_tensor_descriptor %map1 : !tt.ptr<i8> to !tt.tensordesc<tensor<64x128xf16, #tile>>
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #tile, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #tile, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
    %empty = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
    ttng.init_barrier %full, 1 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    ttng.init_barrier %empty, 1 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    ttg.warp_specialize(%from, %a, %full, %empty)
    default {
      scf.for %i = %c0 to %c4 step %c1 : i32 {
        %phase = arith.andi %i, %c1 : i32
        ttng.wait_barrier %full, %phase deps %a : !ttg.memdesc<1xi64, #flat, #smem, mutable>, !ttg.memdesc<64x128xf16, #tile, #smem, mutable>
        %x = ttg.local_load %a : !ttg.memdesc<64x128xf16, #tile, #smem, mutable> -> tensor<64x128xf16, #rows>
        ttng.arrive_barrier %empty, 1 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
        %y = arith.addf %x, %one : tensor<64x128xf16, #rows>
        ttg.local_store %y, %b : tensor<64x128xf16, #rows> -> !ttg.memdesc<64x128xf16, #tile, #smem, mutable>
        ttng.fence_async_shared {bCluster = false}
        %row = arith.muli %i, %c64 : i32
        ttng.async_tma_copy_local_to_global %to[%row, %c0] %b : !tt.tensordesc<tensor<64x128xf16, #tile>>, !ttg.memdesc<64x128xf16, #tile, #smem, mutable>
        ttng.async_tma_store_wait {pendings = 0 : i32}
      }
      ttg.warp_yield
    }
    partition0(%src: !tt.tensordesc<tensor<64x128xf16, #tile>>, %m: !ttg.memdesc<64x128xf16, #tile, #smem, mutable>, %f: !ttg.memdesc<1xi64, #flat, #smem, mutable>, %e: !ttg.memdesc<1xi64, #flat, #smem, mutable>) num_warps(1) {
      %d0 = arith.constant 0 : i32
      %d1 = arith.constant 1 : i32
      %d4 = arith.constant 4 : i32
      %d64 = arith.constant 64 : i32
      %true = arith.constant true
      scf.for %i = %d0 to %d4 step %d1 : i32 {
        %turn = arith.addi %i, %d1 : i32
        %phase = arith.andi %turn, %d1 : i32
        ttng.wait_barrier %e, %phase : !ttg.memdesc<1xi64, #flat, #smem, mutable>
        ttng.barrier_expect %f, 16384, %true : !ttg.memdesc<1xi64, #flat, #smem, mutable>
        %row = arith.muli %i, %d64 : i32
        ttng.async_tma_copy_global_to_local %src[%row, %d0] %m, %f, %true : !tt.tensordesc<tensor<64x128xf16, #tile>>, !ttg.memdesc<1xi64, #flat, #smem, mutable> -> !ttg.memdesc<64x128xf16, #tile, #smem, mutable>
      }
      ttg.warp_return
    } : (!tt.tensordesc<tensor<64x128xf16, #tile>>, !ttg.memdesc<64x128xf16, #tile, #smem, mutable>, !ttg.memdesc<1xi64, #flat, #smem, mutable>, !ttg.memdesc<1xi64, #flat, #smem, mutable>) -> ()
    tt.return
  })";

// Parts of 64 x 64 elements of %in, transposed by warps of their own at the same time. The default region takes the
// first, partitions the others. The second half of the kernel does it once more with the parts in the other order, if
// its first element is odd.
constexpr char kTransposes[] = R"(
  tt.func public @kernel(%in: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %c1 = arith.constant 1 : i32
    %s0 = arith.constant 0 : i32
    %s1 = arith.constant 4096 : i32
    %s2 = arith.constant 8192 : i32
    ttg.warp_specialize(%in, %out, %s1, %s2)
    default {
$DEFAULT0
      ttg.warp_yield
    }
    partition0(%i: !tt.ptr<i32>, %o: !tt.ptr<i32>, %first: i32, %second: i32) num_warps(4) {
$PARTITION4
      ttg.warp_return
    }
    partition1(%i: !tt.ptr<i32>, %o: !tt.ptr<i32>, %second: i32, %first: i32) num_warps(2) {
$PARTITION2
      ttg.warp_return
    } : (!tt.ptr<i32>, !tt.ptr<i32>, i32, i32) -> ()
    %word = tt.load %in : !tt.ptr<i32>
    %low = arith.andi %word, %c1 : i32
    %odd = arith.cmpi eq, %low, %c1 : i32
    scf.if %odd {
      %word2 = arith.muli %low, %s2 : i32
      %out2 = tt.addptr %out, %word2 : !tt.ptr<i32>, i32
      %out3 = tt.addptr %out2, %s1 : !tt.ptr<i32>, i32
      ttg.warp_specialize(%in, %out3, %s1, %word2)
      default {
$DEFAULT3
        ttg.warp_yield
      }
      partition0(%i: !tt.ptr<i32>, %o: !tt.ptr<i32>, %second: i32, %first: i32) num_warps(2) {
$PARTITION2
        ttg.warp_return
      } : (!tt.ptr<i32>, !tt.ptr<i32>, i32, i32) -> ()
    }
    tt.return
  })";

// out[at + 64 * c + r] = in[at + 64 * r + c]; encodings of warps $W.
constexpr char kTranspose[] = R"(
      %$Pk = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows$W}>>
      %$Pm = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #rows$W}>>
      %$Pk1 = tt.expand_dims %$Pk {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows$W}>> -> tensor<1x64xi32, #rows$W>
      %$Pm1 = tt.expand_dims %$Pm {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #rows$W}>> -> tensor<64x1xi32, #rows$W>
      %$Ppitch = arith.constant dense<64> : tensor<64x1xi32, #rows$W>
      %$Pm2 = arith.muli %$Pm1, %$Ppitch : tensor<64x1xi32, #rows$W>
      %$Pk3 = tt.broadcast %$Pk1 : tensor<1x64xi32, #rows$W> -> tensor<64x64xi32, #rows$W>
      %$Pm3 = tt.broadcast %$Pm2 : tensor<64x1xi32, #rows$W> -> tensor<64x64xi32, #rows$W>
      %$Pplace = arith.addi %$Pk3, %$Pm3 : tensor<64x64xi32, #rows$W>
      %$Pat = tt.addptr $IN, $AT : !tt.ptr<i32>, i32
      %$Pto = tt.addptr $OUT, $AT : !tt.ptr<i32>, i32
      %$Pp = tt.splat %$Pat : !tt.ptr<i32> -> tensor<64x64x!tt.ptr<i32>, #rows$W>
      %$Pq = tt.addptr %$Pp, %$Pplace : tensor<64x64x!tt.ptr<i32>, #rows$W>, tensor<64x64xi32, #rows$W>
      %$Px = tt.load %$Pq : tensor<64x64x!tt.ptr<i32>, #rows$W>
      %$Py = tt.trans %$Px {order = array<i32: 1, 0>} : tensor<64x64xi32, #rows$W> -> tensor<64x64xi32, #columns$W>
      %$Pz = ttg.convert_layout %$Py : tensor<64x64xi32, #columns$W> -> tensor<64x64xi32, #rows$W>
      %$Po = tt.splat %$Pto : !tt.ptr<i32> -> tensor<64x64x!tt.ptr<i32>, #rows$W>
      %$Poq = tt.addptr %$Po, %$Pplace : tensor<64x64x!tt.ptr<i32>, #rows$W>, tensor<64x64xi32, #rows$W>
      tt.store %$Poq, %$Pz : tensor<64x64x!tt.ptr<i32>, #rows$W>)";

std::string Transpose(const std::string& prefix, const std::string& warps, const std::string& in,
                      const std::string& out, const std::string& at) {
  return Substitute(kTranspose, {{"P", prefix}, {"W", warps}, {"IN", in}, {"OUT", out}, {"AT", at}});
}

FaultKernel Kernel(const std::string& name, const std::string& body, int warps, std::vector<Array> arrays) {
  FaultKernel kernel;
  kernel.name = name;
  kernel.target = "emulated:cuda:90";
  kernel.ir = Substitute(kModule, {{"BODY", body}});
  kernel.is_ttgir = true;
  kernel.num_warps = warps;
  kernel.expected = arrays.back();
  kernel.arrays = std::move(arrays);
  return kernel;
}

FaultKernel Iterations() {
  const Array in = Moderate("i32", 512, 1);
  FaultKernel kernel = Kernel("iterations", kIterations, 8, {in, Array("i32", 516)});
  for (int i = 0; i < 512; ++i) kernel.expected.SetInt(i, in.Int(i) + i / 128);
  for (int iteration = 0; iteration < 4; ++iteration)
    kernel.expected.SetInt(512 + iteration, 127 * 64 + 128 * iteration);
  return kernel;
}

FaultKernel Multibuffer(const std::string& name, const std::string& produce, int arrivals) {
  const Array in = Moderate("i32", 1024, 2);
  const std::string body = Substitute(kMultibuffer, {{"PRODUCE", produce}, {"ARRIVALS", absl::StrCat(arrivals)}});
  FaultKernel kernel = Kernel(name, Substitute(body, {}), 8, {in, Array("i32", 128)});
  for (int i = 0; i < 128; ++i) {
    int64_t sum = 0;
    for (int iteration = 0; iteration < 8; ++iteration) sum += in.Int(128 * iteration + i);
    kernel.expected.SetInt(i, sum);
  }
  return kernel;
}

FaultKernel Products() {
  const Array in = Moderate("f16", 4 * 4096, 3);
  FaultKernel kernel = Kernel("products", kProducts, 12, {in, Array("f32", 4096)});
  kernel.tolerance = 1e-3;
  for (int m = 0; m < 64; ++m) {
    for (int n = 0; n < 64; ++n) {
      double sum = 0;
      for (int iteration = 0; iteration < 2; ++iteration)
        for (int k = 0; k < 64; ++k)
          sum += in.Float(8192 * iteration + 64 * m + k) * in.Float(8192 * iteration + 4096 + 64 * k + n);
      kernel.expected.SetFloat(64 * m + n, sum);
    }
  }
  return kernel;
}

FaultKernel Tiles() {
  // One row more, which nobody is to write.
  const Array in = Moderate("f16", 200 * 128, 5);
  FaultKernel kernel = Kernel("tiles", kTiles, 8, {in, Array("f16", 201 * 128)});
  kernel.tolerance = 1e-2;
  for (int i = 0; i < 200 * 128; ++i) kernel.expected.SetFloat(i, in.Float(i) + 1);
  return kernel;
}

FaultKernel Transposes() {
  Array in = Moderate("i32", 3 * 4096, 4);
  in.SetInt(0, 1);
  const std::string body = Substitute(kTransposes, {{"DEFAULT0", Transpose("a", "", "%in", "%out", "%s0")},
                                                    {"DEFAULT3", Transpose("d", "", "%in", "%out3", "%s1")},
                                                    {"PARTITION4", Transpose("b", "", "%i", "%o", "%first")},
                                                    {"PARTITION2", Transpose("c", "2", "%i", "%o", "%first")}});
  FaultKernel kernel = Kernel("transposes", body, 12, {in, Array("i32", 6 * 4096)});
  for (int part = 0; part < 3; ++part)
    for (int r = 0; r < 64; ++r)
      for (int c = 0; c < 64; ++c) kernel.expected.SetInt(4096 * part + 64 * c + r, in.Int(4096 * part + 64 * r + c));
  for (int part : {1, 2})
    for (int i = 0; i < 4096; ++i) kernel.expected.SetInt(4096 * (3 + part) + i, kernel.expected.Int(4096 * part + i));
  return kernel;
}

}  // namespace

std::vector<FaultKernel> PartitionKernels() {
  return {Iterations(),
          Multibuffer("multibuffer", kProduceByStores, 1),
          Multibuffer("copies", kProduceByCopies, 32),
          Products(),
          Tiles(),
          Transposes()};
}

}  // namespace tritond::conformance
