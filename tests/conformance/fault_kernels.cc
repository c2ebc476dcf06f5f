// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/fault_kernels.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "tests/conformance/group_products.h"
#include "tests/conformance/persistent_products.h"

namespace tritond::conformance {
namespace {

constexpr int kTile = 64;

// out = the sum over four tiles along K of a (64 x 250) and b (250 x 64), whose rows have 256 and 64 elements.
constexpr char kProduct[] = R"(
module {
  tt.func public @kernel(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %fill = arith.constant dense<0.0> : tensor<64x64xf16>
    %pitch_a = arith.constant dense<256> : tensor<64x1xi32>
    %pitch_b = arith.constant dense<64> : tensor<64x1xi32>
    %next_a = arith.constant dense<64> : tensor<64x64xi32>
    %next_b = arith.constant dense<4096> : tensor<64x64xi32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %tile = arith.constant 64 : i32
    %k = arith.constant 248 : i32
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %column = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %row = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %rows = tt.broadcast %row : tensor<1x64xi32> -> tensor<64x64xi32>
    %columns = tt.broadcast %column : tensor<64x1xi32> -> tensor<64x64xi32>
    %start_a = arith.muli %column, %pitch_a : tensor<64x1xi32>
    %starts_a = tt.broadcast %start_a : tensor<64x1xi32> -> tensor<64x64xi32>
    %offsets_a = arith.addi %starts_a, %rows : tensor<64x64xi32>
    %start_b = arith.muli %column, %pitch_b : tensor<64x1xi32>
    %starts_b = tt.broadcast %start_b : tensor<64x1xi32> -> tensor<64x64xi32>
    %offsets_b = arith.addi %starts_b, %rows : tensor<64x64xi32>
    %splat_a = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %splat_b = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %splat_out = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %first_a = tt.addptr %splat_a, %offsets_a : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %first_b = tt.addptr %splat_b, %offsets_b : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %outs = tt.addptr %splat_out, %offsets_b : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %sum:4 = scf.for %n = %c0 to %c4 step %c1 iter_args(%pa = %first_a, %pb = %first_b, %left = %k, %acc = %zero) -> (tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>, i32, tensor<64x64xf32>) : i32 {
      %lefts = tt.splat %left : i32 -> tensor<64x64xi32>
      %in_a = arith.cmpi slt, %rows, %lefts : tensor<64x64xi32>
      %in_b = arith.cmpi slt, %columns, %lefts : tensor<64x64xi32>
      %x = tt.load %pa, %in_a, %fill : tensor<64x64x!tt.ptr<f16>>
      %y = tt.load %pb, %in_b, %fill : tensor<64x64x!tt.ptr<f16>>
      %d = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %pa1 = tt.addptr %pa, %next_a : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %pb1 = tt.addptr %pb, %next_b : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %left1 = arith.subi %left, %tile : i32
      scf.yield %pa1, %pb1, %left1, %d : tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>, i32, tensor<64x64xf32>
    }
    tt.store %outs, %sum#3 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
)";

// A 64 x 64 tile of $T at %in, whose first %n elements count, through $BODY from %x (64x64) to %r ($R).
constexpr char kTileKernel[] = R"(
module {
  tt.func public @kernel(%in: !tt.ptr<$T> {tt.divisibility = 16 : i32}, %out: !tt.ptr<$T> {tt.divisibility = 16 : i32}) {
    %n = arith.constant dense<4003> : tensor<4096xi32>
    %fill = arith.constant dense<$ZERO> : tensor<4096x$T>
    %i = tt.make_range {start = 0 : i32, end = 4096 : i32} : tensor<4096xi32>
    %s = tt.splat %in : !tt.ptr<$T> -> tensor<4096x!tt.ptr<$T>>
    %p = tt.addptr %s, %i : tensor<4096x!tt.ptr<$T>>, tensor<4096xi32>
    %m = arith.cmpi slt, %i, %n : tensor<4096xi32>
    %l = tt.load %p, %m, %fill : tensor<4096x!tt.ptr<$T>>
    %x = tt.reshape %l : tensor<4096x$T> -> tensor<64x64x$T>
$BODY
    %o = tt.splat %out : !tt.ptr<$T> -> tensor<$Rx!tt.ptr<$T>>
    %oi = tt.make_range {start = 0 : i32, end = $R : i32} : tensor<$Rxi32>
    %op = tt.addptr %o, %oi : tensor<$Rx!tt.ptr<$T>>, tensor<$Rxi32>
    tt.store %op, %r : tensor<$Rx!tt.ptr<$T>>
    tt.return
  }
}
)";

constexpr char kSum[] = R"(
    %y = tt.reshape %x : tensor<64x64x$T> -> tensor<8x512x$T>
    %r = "tt.reduce"(%y) <{axis = 1 : i32}> ({
    ^bb0(%u: $T, %v: $T):
      %w = arith.$ADD %u, %v : $T
      tt.reduce.return %w : $T
    }) : (tensor<8x512x$T>) -> tensor<8x$T>)";

constexpr char kColumnSum[] = R"(
    %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%u: $T, %v: $T):
      %w = arith.$ADD %u, %v : $T
      tt.reduce.return %w : $T
    }) : (tensor<64x64x$T>) -> tensor<64x$T>)";

constexpr char kScan[] = R"(
    %q = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%u: $T, %v: $T):
      %w = arith.$ADD %u, %v : $T
      tt.scan.return %w : $T
    }) : (tensor<64x64x$T>) -> tensor<64x64x$T>
    %r = tt.reshape %q : tensor<64x64x$T> -> tensor<4096x$T>)";

constexpr char kTranspose[] = R"(
    %q = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64x$T> -> tensor<64x64x$T>
    %r = tt.reshape %q : tensor<64x64x$T> -> tensor<4096x$T>)";

// Each element is added to one of 64 counters by two programs.
constexpr char kCount[] = R"(
module {
  tt.func public @kernel(%in: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %n = arith.constant dense<1003> : tensor<1024xi32>
    %mask = arith.constant dense<63> : tensor<1024xi32>
    %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
    %s = tt.splat %in : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
    %p = tt.addptr %s, %i : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
    %m = arith.cmpi slt, %i, %n : tensor<1024xi32>
    %x = tt.load %p, %m : tensor<1024x!tt.ptr<i32>>
    %o = tt.splat %out : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
    %at = arith.andi %i, %mask : tensor<1024xi32>
    %op = tt.addptr %o, %at : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
    %old = tt.atomic_rmw add, acq_rel, gpu, %op, %x, %m : (tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>, tensor<1024xi1>) -> tensor<1024xi32>
    tt.return
  }
}
)";

// (a x b) x b: the first product stays in registers as an operand of the second.
constexpr char kChain[] = R"(
module {
  tt.func public @kernel(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %i = tt.make_range {start = 0 : i32, end = 4096 : i32} : tensor<4096xi32>
    %sa = tt.splat %a : !tt.ptr<f16> -> tensor<4096x!tt.ptr<f16>>
    %pa = tt.addptr %sa, %i : tensor<4096x!tt.ptr<f16>>, tensor<4096xi32>
    %la = tt.load %pa : tensor<4096x!tt.ptr<f16>>
    %sb = tt.splat %b : !tt.ptr<f16> -> tensor<4096x!tt.ptr<f16>>
    %pb = tt.addptr %sb, %i : tensor<4096x!tt.ptr<f16>>, tensor<4096xi32>
    %lb = tt.load %pb : tensor<4096x!tt.ptr<f16>>
    %x = tt.reshape %la : tensor<4096xf16> -> tensor<64x64xf16>
    %y = tt.reshape %lb : tensor<4096xf16> -> tensor<64x64xf16>
    %d = tt.dot %x, %y, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %h = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xf16>
    %e = tt.dot %h, %y, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %r = tt.reshape %e : tensor<64x64xf32> -> tensor<4096xf32>
    %so = tt.splat %out : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
    %po = tt.addptr %so, %i : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
    tt.store %po, %r : tensor<4096x!tt.ptr<f32>>
    tt.return
  }
}
)";

// out = a (16 x 256, e4m3) * b (256 x 16, e2m1), with a scale for 32 elements along K each: two products of a wave.
constexpr char kScaled[] = R"(
module {
  tt.func public @kernel(%a: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %b: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %sa: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %sb: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %a_i = tt.make_range {start = 0 : i32, end = 4096 : i32} : tensor<4096xi32>
    %b_i = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32>
    %s_i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %o_i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %a_s = tt.splat %a : !tt.ptr<f8E4M3FN> -> tensor<4096x!tt.ptr<f8E4M3FN>>
    %b_s = tt.splat %b : !tt.ptr<i8> -> tensor<2048x!tt.ptr<i8>>
    %sa_s = tt.splat %sa : !tt.ptr<i8> -> tensor<128x!tt.ptr<i8>>
    %sb_s = tt.splat %sb : !tt.ptr<i8> -> tensor<128x!tt.ptr<i8>>
    %o_s = tt.splat %out : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %a_p = tt.addptr %a_s, %a_i : tensor<4096x!tt.ptr<f8E4M3FN>>, tensor<4096xi32>
    %b_p = tt.addptr %b_s, %b_i : tensor<2048x!tt.ptr<i8>>, tensor<2048xi32>
    %sa_p = tt.addptr %sa_s, %s_i : tensor<128x!tt.ptr<i8>>, tensor<128xi32>
    %sb_p = tt.addptr %sb_s, %s_i : tensor<128x!tt.ptr<i8>>, tensor<128xi32>
    %o_p = tt.addptr %o_s, %o_i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %a_l = tt.load %a_p : tensor<4096x!tt.ptr<f8E4M3FN>>
    %b_l = tt.load %b_p : tensor<2048x!tt.ptr<i8>>
    %sa_l = tt.load %sa_p : tensor<128x!tt.ptr<i8>>
    %sb_l = tt.load %sb_p : tensor<128x!tt.ptr<i8>>
    %x = tt.reshape %a_l : tensor<4096xf8E4M3FN> -> tensor<16x256xf8E4M3FN>
    %y = tt.reshape %b_l : tensor<2048xi8> -> tensor<128x16xi8>
    %s = tt.reshape %sa_l : tensor<128xi8> -> tensor<16x8xi8>
    %t = tt.reshape %sb_l : tensor<128xi8> -> tensor<16x8xi8>
    %d = tt.dot_scaled %x scale %s, %y scale %t, %zero lhs = e4m3 rhs = e2m1 : tensor<16x256xf8E4M3FN>, tensor<16x8xi8> * tensor<128x16xi8>, tensor<16x8xi8> -> tensor<16x16xf32>
    %r = tt.reshape %d : tensor<16x16xf32> -> tensor<256xf32>
    tt.store %o_p, %r : tensor<256x!tt.ptr<f32>>
    tt.return
  }
}
)";

FaultKernel Tile(const std::string& name, const std::string& target, const std::string& body, const std::string& type,
                 int results) {
  const bool is_float = type[0] == 'f';
  FaultKernel kernel;
  kernel.name = name;
  kernel.target = target;
  kernel.ir = Substitute(kTileKernel, {{"BODY", body},
                                       {"T", type},
                                       {"ZERO", is_float ? "0.0" : "0"},
                                       {"ADD", is_float ? "addf" : "addi"},
                                       {"R", std::to_string(results)}});
  kernel.arrays = {Moderate(type, kTile * kTile, 1), Array(type, results)};
  kernel.tolerance = is_float ? 1e-3 : 0;
  return kernel;
}

FaultKernel Products(const std::string& name, const std::string& ir, const std::string& target, int k) {
  FaultKernel kernel;
  kernel.name = name;
  kernel.target = target;
  kernel.ir = ir;
  kernel.options = "\"num_stages\": 3";
  kernel.arrays = {Moderate("f16", kTile * k, 1), Moderate("f16", k * kTile, 2), Array("f32", kTile * kTile)};
  kernel.tolerance = 5e-3;
  return kernel;
}

FaultKernel Persistent(const std::string& name, const PersistentProducts& p) {
  FaultKernel kernel;
  kernel.name = name;
  kernel.target = "emulated:cuda:90";
  kernel.ir = TextOf(p);
  kernel.options = absl::StrCat("\"num_stages\": ", p.stages);
  kernel.arrays = {LeftOf(p), RightOf(p), ResultOf(p)};
  return kernel;
}

// Groups of products, whose descriptors loops make.
FaultKernel Grouped(const std::string& name, const GroupProducts& g) {
  FaultKernel kernel;
  kernel.name = name;
  kernel.target = "emulated:cuda:90";
  kernel.ir = TextOf(g);
  kernel.options = absl::StrCat("\"loop_maps\": true, \"num_stages\": ", g.stages);
  kernel.arrays = {GroupLefts(), GroupRights(), GroupSizes(), GroupResults()};
  return kernel;
}

}  // namespace

std::vector<FaultKernel> TritonFaultKernels(const std::string& target) {
  FaultKernel count;
  count.name = "count";
  count.target = target;
  count.ir = kCount;
  count.grid = {2};
  count.arrays = {Moderate("i32", 1024, 1), Array::OfInts("i32", std::vector<int64_t>(64, 5))};
  return {Products("mma", kProduct, target, 256),
          Products("chain", kChain, target, 64),
          Tile("sum", target, kSum, "i32", 8),
          Tile("column_sum", target, kColumnSum, "f32", 64),
          Tile("scan", target, kScan, "i32", 4096),
          Tile("transpose", target, kTranspose, "f32", 4096),
          count};
}

// The product is read by blocks: without prefetches, and with them where no mask says what there is. Loads that ask for
// a cache are not, and go through shared memory.
FaultKernel ScaledFaultKernel(const std::string& target) {
  FaultKernel kernel;
  kernel.name = "scaled";
  kernel.target = target;
  kernel.ir = kScaled;
  kernel.num_warps = 1;
  kernel.tolerance = 1e-4;
  Array a_scales("i8", 128), b_scales = a_scales;
  for (int i = 0; i < 128; ++i) {
    a_scales.SetInt(i, 122 + i % 11);
    b_scales.SetInt(i, 125 + i % 7);
  }
  kernel.arrays = {Moderate("f8E4M3FN", 16 * 256, 1), Values("i8", 128 * 16, 2), a_scales, b_scales,
                   Array("f32", 16 * 16)};
  return kernel;
}

std::vector<FaultKernel> IntelFaultKernels() {
  const char* target = "emulated:xpu:pvc";
  std::vector<FaultKernel> kernels = TritonFaultKernels(target);
  kernels[0].name = "blocks";
  kernels[0].options = "\"num_stages\": 1";
  std::string unmasked = kProduct;
  for (const char* mask : {", %in_a, %fill", ", %in_b, %fill"}) unmasked.erase(unmasked.find(mask), strlen(mask));
  kernels.push_back(Products("prefetches", unmasked, target, 256));
  std::string cached = kProduct;
  for (const char* load : {"%in_a, %fill", "%in_b, %fill"})
    cached.insert(cached.find(load) + std::string(load).size(), " cacheModifier = cg");
  kernels.push_back(Products("mma", cached, target, 256));
  return kernels;
}

std::vector<FaultKernel> FaultKernels() {
  std::vector<FaultKernel> kernels = TritonFaultKernels("emulated:cuda:80");
  kernels.erase(kernels.begin() + 1);  // "chain" is of wgmma
  kernels.push_back(Products("wgmma", kProduct, "emulated:cuda:90", 256));
  kernels.push_back(Products("chain", kChain, "emulated:cuda:90", 64));
  // Of two warp groups, which run apart.
  kernels.push_back(Products("groups", kProduct, "emulated:cuda:90", 256));
  kernels.back().num_warps = 8;
  // Through shared memory by tiles: stored by vectors, loaded transposed.
  kernels.push_back(Tile("turn", "emulated:cuda:90", kTranspose, "f16", 4096));
  // Stores by bulk copies: of parts that take turns, and of halves that overlap.
  kernels.push_back(Persistent("parts", {"f16", "f32", 100, 128, 128, 128, 3, 4}));
  kernels.push_back(Persistent("halves", {"f16", "f16", 100, 128, 128, 128, 3, 4, 8}));
  // Tensor maps that are made in loops.
  kernels.push_back(Grouped("group_maps", {3, false, false, false}));
  kernels.push_back(Products("tensor", kProduct, "emulated:cuda:100", 256));
  kernels.push_back(ScaledFaultKernel("emulated:cuda:120"));
  for (FaultKernel& kernel : HandwrittenKernels()) kernels.push_back(std::move(kernel));
  return kernels;
}

}  // namespace tritond::conformance
