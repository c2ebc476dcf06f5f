// SPDX-License-Identifier: Apache-2.0
// What devices of one family have and others do not. Each row is right everywhere, by whatever instructions there are,
// or is refused with a reason.
#include "absl/strings/str_cat.h"
#include "tests/conformance/every_op.h"

namespace tritond::conformance {
namespace {

using In = const OpInputs&;

// Row i of a is i mod 8, row k of b is k mod 4; each row of their product is summed. All numbers are exact in all
// types.
constexpr char kProduct[] = R"(%three = arith.constant dense<3> : tensor<64xi32>
    %seven = arith.constant dense<7> : $I
    %k = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %bi = arith.andi %k, %three : tensor<64xi32>
    %ai = arith.andi %i, %seven : $I
    $CONVERT
    %a1 = tt.expand_dims %as {axis = 1 : i32} : tensor<128x$T> -> tensor<128x1x$T>
    %a2 = tt.broadcast %a1 : tensor<128x1x$T> -> tensor<128x64x$T>
    %b1 = tt.expand_dims %bs {axis = 1 : i32} : tensor<64x$T> -> tensor<64x1x$T>
    %b2 = tt.broadcast %b1 : tensor<64x1x$T> -> tensor<64x64x$T>
    %c = arith.constant dense<$ZERO> : tensor<128x64x$SUM>
    %d = tt.dot %a2, %b2, %c$PRECISION : tensor<128x64x$T> * tensor<64x64x$T> -> tensor<128x64x$SUM>
    %y = "tt.reduce"(%d) <{axis = 1 : i32}> ({
    ^bb0(%p: $SUM, %q: $SUM):
      %r = $ADD %p, %q : $SUM
      tt.reduce.return %r : $SUM
    }) : (tensor<128x64x$SUM>) -> tensor<128x$SUM>)";

constexpr char kToFloats[] = R"(%af = arith.sitofp %ai : $I to $F
    %bf = arith.sitofp %bi : tensor<64xi32> to tensor<64xf32>)";

constexpr char kAsFloats[] = R"(%as = arith.sitofp %ai : $I to $F
    %bs = arith.sitofp %bi : tensor<64xi32> to tensor<64xf32>)";

double SumOfProduct(In, int i) { return 64 * 96 * (i % 8); }

OpRow Product(const std::string& name, const std::string& type, const std::string& convert,
              const std::string& sum = "f32", const std::string& precision = "") {
  const bool is_float = sum[0] == 'f';
  const std::string body = Substitute(kProduct, {{"CONVERT", convert},
                                                 {"T", type},
                                                 {"SUM", sum},
                                                 {"ZERO", is_float ? "0.0" : "0"},
                                                 {"ADD", is_float ? "arith.addf" : "arith.addi"},
                                                 {"PRECISION", precision}});
  OpRow row{name, body, sum, SumOfProduct};
  row.num_warps = 4;  // a warp group
  return row;
}

// %af and %bf by the operation `op`, written with `arrow` between the types.
std::string Converted(const std::string& op, const std::string& arrow, const std::string& type) {
  const std::string name = op.substr(0, op.find(' '));
  const std::string more = op.substr(name.size());
  return absl::StrCat(kToFloats, "\n    %as = ", name, " %af", more, " : $F ", arrow, " tensor<128x", type,
                      ">\n    %bs = ", name, " %bf", more, " : tensor<64xf32> ", arrow, " tensor<64x", type, ">");
}

double Rounded(const char* type, double value) { return Array::OfFloats(type, {value}).Float(0); }

// There and back.
OpRow RoundTrip(const std::string& name, const char* type) {
  return {name,
          absl::StrCat("%h = tt.fp_to_fp %f, rounding = rtne : $F -> tensor<128x", type,
                       ">\n    %y = tt.fp_to_fp %h : tensor<128x", type, "> -> $F"),
          "f32", [type](In in, int i) { return Rounded(type, in.F(i)); }};
}

// The value before the second of two additions to zero.
OpRow AtomicAddition(const std::string& name, const char* type) {
  return {name,
          Substitute(R"(%p = tt.bitcast %at : tensor<128x!tt.ptr<i32>> -> tensor<128x!tt.ptr<$T>>
    %w = arith.truncf %f : $F to tensor<128x$T>
    %o = tt.atomic_rmw fadd, relaxed, gpu, %p, %w : (tensor<128x!tt.ptr<$T>>, tensor<128x$T>) -> tensor<128x$T>
    %n = tt.atomic_rmw fadd, relaxed, gpu, %p, %w : (tensor<128x!tt.ptr<$T>>, tensor<128x$T>) -> tensor<128x$T>
    %y = arith.extf %n : tensor<128x$T> to $F)",
                     {{"T", type}}),
          "f32", [type](In in, int i) { return Rounded(type, in.F(i)); }};
}

OpRow Clusters() {
  OpRow row{"clusters of two blocks", "%y = arith.addi %x, %i : $I", "i32", [](In in, int i) { return in.X(i) + i; }};
  row.options = "\"num_ctas\": 2";
  row.refusals = {{"host", "option num_ctas = 2: must be 1"},
                  {"emulated:cuda:8", "option num_ctas = 2: must be 1"},
                  {"emulated:hip", "option num_ctas = 2: must be 1"},
                  {"emulated:xpu", "option num_ctas = 2: must be 1"},
                  {"cuda:8", "option num_ctas = 2: must be 1"}};
  return row;
}

}  // namespace

std::vector<OpRow> FeatureRows() {
  return {
      Product("product of f16", "f16", Converted("arith.truncf", "to", "f16")),
      Product("product of bf16", "bf16", Converted("arith.truncf", "to", "bf16")),
      Product("product of f32 as tf32", "f32", kAsFloats, "f32", ", inputPrecision = tf32"),
      Product("product of f8E4M3FN", "f8E4M3FN", Converted("tt.fp_to_fp , rounding = rtne", "->", "f8E4M3FN")),
      Product("product of f8E5M2", "f8E5M2", Converted("tt.fp_to_fp , rounding = rtne", "->", "f8E5M2")),
      Product("product of i8", "i8",
              "%as = arith.trunci %ai : $I to tensor<128xi8>\n    %bs = arith.trunci %bi : tensor<64xi32> to "
              "tensor<64xi8>",
              "i32"),
      RoundTrip("f32 to f8E4M3FN", "f8E4M3FN"),
      RoundTrip("f32 to f8E5M2", "f8E5M2"),
      RoundTrip("f32 to bf16", "bf16"),
      AtomicAddition("atomic addition of f16", "f16"),
      AtomicAddition("atomic addition of bf16", "bf16"),
      Clusters(),
  };
}

}  // namespace tritond::conformance
