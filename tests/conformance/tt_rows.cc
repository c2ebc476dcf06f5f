// SPDX-License-Identifier: Apache-2.0
// Operations of dialect tt on values: casts, arithmetic, shapes, reductions, products of matrices, programs, functions.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/conformance/every_op.h"

namespace tritond::conformance {
namespace {

using In = const OpInputs&;
double X(In in, int i) { return in.X(i); }
double F(In in, int i) { return in.F(i); }

std::vector<OpRow> ElementwiseRows() {
  return {
      {"tt.bitcast", "%y = tt.bitcast %f : $F -> $I", "i32", [](In in, int i) { return in.f.Int(i); }},
      {"tt.fp_to_fp",
       R"(%h = tt.fp_to_fp %f, rounding = rtz : $F -> tensor<128xf16>
    %y = tt.fp_to_fp %h : tensor<128xf16> -> $F)",
       "f32",
       [](In in, int i) {  // eleven bits of the mantissa, of numbers that are large enough
         int exponent;
         double mantissa = std::frexp(F(in, i), &exponent);
         int bits = std::min(11, exponent + 24);
         return std::ldexp(std::trunc(std::ldexp(mantissa, bits)), exponent - bits);
       }},
      {"tt.clampf",
       R"(%l = arith.constant dense<-1.0> : $F
    %h = arith.constant dense<2.0> : $F
    %y = tt.clampf %f, %l, %h, propagateNan = all : $F)",
       "f32", [](In in, int i) { return std::min(std::max(F(in, i), -1.0), 2.0); }},
      {"tt.precise_sqrt", "%a = math.absf %f : $F\n    %y = tt.precise_sqrt %a : $F", "f32",
       [](In in, int i) { return std::sqrt(std::fabs(F(in, i))); }},
      {"tt.precise_divf", "%c = arith.constant dense<3.0> : $F\n    %y = tt.precise_divf %f, %c : $F", "f32",
       [](In in, int i) { return F(in, i) / 3; }},
      {"tt.mulhiui", "%y = tt.mulhiui %x, %x : $I", "i32",
       [](In in, int i) { return double(in.x.Unsigned(i) * in.x.Unsigned(i) >> 32); }},
      {"tt.extern_elementwise",
       R"(%y = tt.extern_elementwise %f {libname = "", libpath = "", pure = true, symbol = "__nv_fabsf"} : ($F) -> $F)",
       "f32", [](In in, int i) { return std::fabs(F(in, i)); }},
      {"tt.elementwise_inline_asm",
       R"(%y = tt.elementwise_inline_asm "add.s32 $0, $1, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : $I -> $I)",
       "i32",
       [](In in, int i) { return 2 * X(in, i); },
       {{"host", "assembly"}, {"hip", "'add.s32 $0, $1, $1'"}, {"xpu", "assembly"}}},
      {"tt.map_elementwise",
       R"(%y = "tt.map_elementwise"(%x, %i) <{pack = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.map_elementwise.return %c : i32
    }) : ($I, $I) -> $I)",
       "i32", [](In in, int i) { return X(in, i) + i; }},
      {"tt.map_elementwise.return",
       R"(%z, %y = "tt.map_elementwise"(%x, %i) <{pack = 2 : i32}> ({
    ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
      tt.map_elementwise.return %c, %d, %a, %b : i32, i32, i32, i32
    }) : ($I, $I) -> ($I, $I))",
       "i32", X},
  };
}

std::vector<OpRow> ShapeRows() {
  return {
      {"tt.splat", "%y = tt.splat %one : i32 -> $I", "i32", [](In, int) { return 1; }},
      {"tt.unsplat",
       R"(%s = tt.splat %one : i32 -> tensor<1xi32>
    %u = tt.unsplat %s : tensor<1xi32>
    %y = tt.splat %u : i32 -> $I)",
       "i32", [](In, int) { return 1; }},
      {"tt.make_range", "%y = tt.make_range {start = 5 : i32, end = 133 : i32} : $I", "i32",
       [](In, int i) { return i + 5; }},
      {"tt.expand_dims",
       R"(%a = tt.expand_dims %x {axis = 0 : i32} : $I -> tensor<1x128xi32>
    %y = tt.reshape %a : tensor<1x128xi32> -> $I)",
       "i32", X},
      {"tt.broadcast",
       R"(%k = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
    %a = tt.expand_dims %k {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %b = tt.broadcast %a : tensor<8x1xi32> -> tensor<8x16xi32>
    %y = tt.reshape %b : tensor<8x16xi32> -> $I)",
       "i32", [](In, int i) { return i / 16; }},
      {"tt.reshape",
       R"(%a = tt.reshape %x : $I -> tensor<4x2x16xi32>
    %y = tt.reshape %a : tensor<4x2x16xi32> -> $I)",
       "i32", X},
      {"tt.trans",
       R"(%a = tt.reshape %x : $I -> tensor<8x16xi32>
    %b = tt.trans %a {order = array<i32: 1, 0>} : tensor<8x16xi32> -> tensor<16x8xi32>
    %y = tt.reshape %b : tensor<16x8xi32> -> $I)",
       "i32", [](In in, int i) { return X(in, i % 8 * 16 + i / 8); }},
      {"tt.join",
       R"(%a = tt.join %x, %i : $I -> tensor<128x2xi32>
    %y = "tt.reduce"(%a) <{axis = 1 : i32}> ({
    ^bb0(%p: i32, %q: i32):
      %r = arith.addi %p, %q : i32
      tt.reduce.return %r : i32
    }) : (tensor<128x2xi32>) -> $I)",
       "i32", [](In in, int i) { return X(in, i) + i; }},
      {"tt.split",
       R"(%a = tt.join %x, %i : $I -> tensor<128x2xi32>
    %b, %c = tt.split %a : tensor<128x2xi32> -> $I
    %y = arith.subi %b, %c : $I)",
       "i32", [](In in, int i) { return X(in, i) - i; }},
      {"tt.cat",
       R"(%a = tt.splat %one : i32 -> tensor<64xi32>
    %y = tt.cat %a, %a : tensor<64xi32> -> $I)",
       "i32", [](In, int) { return 1; }},
      {"tt.gather",
       R"(%c = arith.constant dense<127> : $I
    %j = arith.subi %c, %i : $I
    %y = tt.gather %x[%j] {axis = 0 : i32} : ($I, $I) -> $I)",
       "i32", [](In in, int i) { return X(in, 127 - i); }},
      {"tt.histogram",
       R"(%c = arith.constant dense<3> : $I
    %k = arith.andi %i, %c : $I
    %m = arith.cmpi ne, %i, %c : $I
    %y = tt.histogram %k, %m : $I -> $I)",
       "i32", [](In, int i) { return i < 3    ? 32
                                     : i == 3 ? 31
                                              : 0; }},
      {"tt.reduce",
       R"(%s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%p: i32, %q: i32):
      %r = arith.maxsi %p, %q : i32
      tt.reduce.return %r : i32
    }) : ($I) -> i32
    %y = tt.splat %s : i32 -> $I)",
       "i32",
       [](In in, int) {
         double largest = X(in, 0);
         for (int i = 0; i < 128; ++i) largest = std::max(largest, X(in, i));
         return largest;
       }},
      {"tt.reduce.return",
       R"(%a = tt.join %x, %i : $I -> tensor<128x2xi32>
    %z, %y = "tt.reduce"(%a, %a) <{axis = 1 : i32}> ({
    ^bb0(%p: i32, %q: i32, %r: i32, %s: i32):
      %t = arith.maxsi %p, %r : i32
      %u = arith.minsi %q, %s : i32
      tt.reduce.return %t, %u : i32, i32
    }) : (tensor<128x2xi32>, tensor<128x2xi32>) -> ($I, $I))",
       "i32", [](In in, int i) { return std::min(X(in, i), double(i)); }},
      {"tt.scan",
       R"(%y = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%p: i32, %q: i32):
      %r = arith.addi %p, %q : i32
      tt.scan.return %r : i32
    }) : ($I) -> $I)",
       "i32",
       [](In in, int i) {
         double sum = 0;
         for (int k = 0; k <= i; ++k) sum += X(in, k);
         return sum;
       }},
      {"tt.scan.return",
       R"(%y, %z = "tt.scan"(%x, %i) <{axis = 0 : i32, reverse = true}> ({
    ^bb0(%a: i32, %b: i32, %p: i32, %q: i32):
      %r = arith.addi %a, %p : i32
      %s = arith.minsi %b, %q : i32
      tt.scan.return %r, %s : i32, i32
    }) : ($I, $I) -> ($I, $I))",
       "i32",
       [](In in, int i) {
         double sum = 0;
         for (int k = i; k < 128; ++k) sum += X(in, k);
         return sum;
       }},
  };
}

// 16 x 16 products of constants, of which every second element is kept.
constexpr char kHalve[] = R"(
    %h = tt.reshape %d : tensor<16x16xf32> -> tensor<128x2xf32>
    %y, %z = tt.split %h : tensor<128x2xf32> -> $F)";

std::vector<OpRow> DotRows() {
  return {
      {"tt.dot",
       std::string(R"(%a = arith.constant dense<2.0> : tensor<16x32xf16>
    %b = arith.constant dense<3.0> : tensor<32x16xf16>
    %c = arith.constant dense<1.0> : tensor<16x16xf32>
    %d = tt.dot %a, %b, %c, inputPrecision = ieee : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>)") +
           kHalve,
       "f32", [](In, int) { return 193; }},
      {"tt.dot_scaled",
       std::string(R"(%a8 = arith.constant dense<56> : tensor<16x32xi8>
    %a = tt.bitcast %a8 : tensor<16x32xi8> -> tensor<16x32xf8E4M3FN>
    %b = arith.constant dense<3.0> : tensor<32x16xbf16>
    %s = arith.constant dense<128> : tensor<16x1xi8>
    %c = arith.constant dense<1.0> : tensor<16x16xf32>
    %d = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = bf16 {fastMath = false} : tensor<16x32xf8E4M3FN>, tensor<16x1xi8> * tensor<32x16xbf16> -> tensor<16x16xf32>)") +
           kHalve,
       "f32", [](In, int) { return 193; }},
  };
}

std::vector<OpRow> ProgramRows() {
  const char* const no_clusters = "is of a cluster, which the target does not have";
  const std::vector<Refusal> refusals = {{"host", no_clusters},
                                         {"emulated:cuda:8", no_clusters},
                                         {"emulated:hip", no_clusters},
                                         {"emulated:xpu", no_clusters},
                                         {"cuda:8", no_clusters}};
  return {
      {"tt.block_in_cluster",
       "%b = tt.block_in_cluster : i32\n    %s = tt.splat %b : i32 -> $I\n    %y = arith.addi %x, %s : $I", "i32", X,
       refusals},
      {"tt.cluster_barrier", "tt.cluster_barrier\n    %y = arith.addi %x, %i : $I", "i32",
       [](In in, int i) { return X(in, i) + i; }, refusals},
      {"tt.get_program_id",
       "%p = tt.get_program_id z : i32\n    %s = tt.splat %p : i32 -> $I\n    %y = arith.addi %x, %s : $I", "i32", X},
      {"tt.get_num_programs",
       "%p = tt.get_num_programs y : i32\n    %s = tt.splat %p : i32 -> $I\n    %y = arith.addi %x, %s : $I", "i32",
       [](In in, int i) { return X(in, i) + 1; }},
      {"tt.print", R"(tt.print "one: " {hex = false, isSigned = array<i32: 1>} : %one : i32
    %y = arith.addi %x, %i : $I)",
       "i32", [](In in, int i) { return X(in, i) + i; }},
      {"tt.assert", R"(%c = arith.cmpi sge, %i, %i : $I
    tt.assert %c, "never seen" : $B
    %y = arith.addi %x, %i : $I)",
       "i32", [](In in, int i) { return X(in, i) + i; }},
      {"tt.grid_dependency_wait", "tt.grid_dependency_wait\n    %y = arith.addi %x, %i : $I", "i32",
       [](In in, int i) { return X(in, i) + i; }},
      {"tt.grid_dependency_launch_dependents", "tt.grid_dependency_launch_dependents\n    %y = arith.addi %x, %i : $I",
       "i32", [](In in, int i) { return X(in, i) + i; }},
      // Every kernel is a function that returns.
      {"tt.func", "%y = arith.addi %x, %i : $I", "i32", [](In in, int i) { return X(in, i) + i; }},
      {"tt.return",
       "%y = tt.call @f(%x) : ($I) -> $I",
       "i32",
       X,
       {},
       "  tt.func private @f(%a: tensor<128xi32>) -> tensor<128xi32> {\n    tt.return %a : tensor<128xi32>\n  }\n"},
      {"tt.call",
       "%y, %z = tt.call @f(%x, %one) : ($I, i32) -> ($I, i32)",
       "i32",
       [](In in, int i) { return X(in, i) + 1; },
       {},
       R"(  tt.func private @f(%a: tensor<128xi32>, %b: i32) -> (tensor<128xi32>, i32) attributes {noinline = true} {
    %s = tt.splat %b : i32 -> tensor<128xi32>
    %c = arith.addi %a, %s : tensor<128xi32>
    tt.return %c, %b : tensor<128xi32>, i32
  }
)"},
  };
}

}  // namespace

std::vector<OpRow> TtRows() {
  std::vector<OpRow> rows;
  for (auto make : {ElementwiseRows, ShapeRows, DotRows, ProgramRows})
    for (OpRow& row : make()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace tritond::conformance
