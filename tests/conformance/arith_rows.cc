// SPDX-License-Identifier: Apache-2.0
// Operations of dialect arith.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/conformance/every_op.h"

namespace tritond::conformance {
namespace {

using In = const OpInputs&;

// "%y = op %x, %d : $I", where %d is 1 … 128, and never 0.
OpRow Integers(const char* op, std::function<int64_t(int64_t x, int64_t d)> fn) {
  return {
      op,
      absl::StrCat("%c = arith.constant dense<1> : $I\n    %d = arith.addi %i, %c : $I\n    %y = ", op, " %x, %d : $I"),
      "i32", [fn](In in, int i) { return double(static_cast<int32_t>(fn(in.X(i), i + 1))); }};
}
// The same by 0 … 31.
OpRow Shift(const char* op, std::function<int64_t(int64_t x, int64_t d)> fn) {
  return {op,
          absl::StrCat("%c = arith.constant dense<31> : $I\n    %d = arith.andi %i, %c : $I\n    %y = ", op,
                       " %x, %d : $I"),
          "i32", [fn](In in, int i) { return double(static_cast<int32_t>(fn(in.X(i), i & 31))); }};
}
// "%y = op %f, %d : $F", where %d is 1.5.
OpRow Floats(const char* op, std::function<double(double)> fn) {
  return {op, absl::StrCat("%d = arith.constant dense<1.5> : $F\n    %y = ", op, " %f, %d : $F"), "f32",
          [fn](In in, int i) { return fn(in.F(i)); }};
}

using S = int64_t;
uint32_t U(S x) { return static_cast<uint32_t>(x); }

std::vector<OpRow> IntegerRows() {
  return {
      Integers("arith.addi", [](S x, S d) { return x + d; }),
      Integers("arith.subi", [](S x, S d) { return x - d; }),
      Integers("arith.muli", [](S x, S d) { return x * d; }),
      Integers("arith.andi", [](S x, S d) { return x & d; }),
      Integers("arith.ori", [](S x, S d) { return x | d; }),
      Integers("arith.xori", [](S x, S d) { return x ^ d; }),
      Integers("arith.divsi", [](S x, S d) { return x / d; }),
      Integers("arith.divui", [](S x, S d) { return S{U(x) / U(d)}; }),
      Integers("arith.remsi", [](S x, S d) { return x % d; }),
      Integers("arith.remui", [](S x, S d) { return S{U(x) % U(d)}; }),
      Integers("arith.ceildivsi", [](S x, S d) { return S(std::ceil(double(x) / d)); }),
      Integers("arith.floordivsi", [](S x, S d) { return S(std::floor(double(x) / d)); }),
      Integers("arith.ceildivui", [](S x, S d) { return S(std::ceil(double(U(x)) / d)); }),
      Integers("arith.maxsi", [](S x, S d) { return std::max(x, d); }),
      Integers("arith.minsi", [](S x, S d) { return std::min(x, d); }),
      Integers("arith.maxui", [](S x, S d) { return S{std::max(U(x), U(d))}; }),
      Integers("arith.minui", [](S x, S d) { return S{std::min(U(x), U(d))}; }),
      Shift("arith.shli", [](S x, S d) { return x << d; }),
      Shift("arith.shrsi", [](S x, S d) { return x >> d; }),
      Shift("arith.shrui", [](S x, S d) { return S{U(x) >> d}; }),
      {"arith.addui_extended",
       "%s, %c = arith.addui_extended %x, %x : $I, $B\n    %y = arith.select %c, %s, %i : $B, $I", "i32",
       [](In in, int i) { return in.X(i) < 0 ? 2.0 * in.X(i) : i; }},
      {"arith.mulsi_extended", "%l, %y = arith.mulsi_extended %x, %i : $I", "i32",
       [](In in, int i) { return in.X(i) * i < 0 ? -1 : 0; }},
      {"arith.mului_extended", "%l, %y = arith.mului_extended %x, %i : $I", "i32",
       [](In in, int i) { return double(in.x.Unsigned(i) * i >> 32); }},
      {"arith.cmpi", "%c = arith.cmpi ult, %x, %i : $I\n    %y = arith.extui %c : $B to $I", "i32",
       [](In in, int i) { return in.x.Unsigned(i) < uint64_t(i); }},
      {"arith.select", "%c = arith.cmpi slt, %x, %i : $I\n    %y = arith.select %c, %x, %i : $B, $I", "i32",
       [](In in, int i) { return std::min<double>(in.X(i), i); }},
      {"arith.constant", "%y = arith.constant dense<-7> : $I", "i32", [](In, int) { return -7; }},
  };
}

std::vector<OpRow> FloatRows() {
  return {
      Floats("arith.addf", [](double x) { return x + 1.5; }),
      Floats("arith.subf", [](double x) { return x - 1.5; }),
      Floats("arith.mulf", [](double x) { return x * 1.5; }),
      Floats("arith.divf", [](double x) { return x / 1.5; }),
      Floats("arith.remf", [](double x) { return std::fmod(x, 1.5); }),
      Floats("arith.maximumf", [](double x) { return std::max(x, 1.5); }),
      Floats("arith.minimumf", [](double x) { return std::min(x, 1.5); }),
      Floats("arith.maxnumf", [](double x) { return std::max(x, 1.5); }),
      Floats("arith.minnumf", [](double x) { return std::min(x, 1.5); }),
      {"arith.negf", "%y = arith.negf %f : $F", "f32", [](In in, int i) { return -in.F(i); }},
      {"arith.cmpf",
       "%c = arith.constant dense<0.5> : $F\n    %d = arith.cmpf ogt, %f, %c : $F\n    %y = arith.select "
       "%d, %x, %i : $B, $I",
       "i32", [](In in, int i) { return in.F(i) > 0.5 ? double(in.X(i)) : i; }},
  };
}

std::vector<OpRow> CastRows() {
  return {
      {"arith.extsi", "%w = arith.extsi %x : $I to tensor<128xi64>\n    %y = arith.addi %w, %w : tensor<128xi64>",
       "i64", [](In in, int i) { return 2.0 * in.X(i); }},
      {"arith.extui", "%y = arith.extui %x : $I to tensor<128xi64>", "i64",
       [](In in, int i) { return double(in.x.Unsigned(i)); }},
      {"arith.trunci", "%y = arith.trunci %x : $I to tensor<128xi8>", "i8",
       [](In in, int i) { return static_cast<int8_t>(in.X(i)); }},
      {"arith.extf", "%y = arith.extf %f : $F to tensor<128xf64>", "f64", [](In in, int i) { return in.F(i); }},
      {"arith.truncf",
       "%w = arith.extf %f : $F to tensor<128xf64>\n    %v = arith.addf %w, %w : tensor<128xf64>\n    "
       "%y = arith.truncf %v : tensor<128xf64> to $F",
       "f32", [](In in, int i) { return 2 * in.F(i); }},
      {"arith.sitofp", "%y = arith.sitofp %x : $I to $F", "f32", [](In in, int i) { return double(in.X(i)); }},
      {"arith.uitofp", "%y = arith.uitofp %x : $I to $F", "f32", [](In in, int i) { return double(in.x.Unsigned(i)); }},
      {"arith.fptosi", "%y = arith.fptosi %f : $F to $I", "i32", [](In in, int i) { return std::trunc(in.F(i)); }},
      {"arith.fptoui", "%a = math.absf %f : $F\n    %y = arith.fptoui %a : $F to $I", "i32",
       [](In in, int i) { return std::trunc(std::fabs(in.F(i))); }},
      {"arith.bitcast", "%y = arith.bitcast %f : $F to $I", "i32", [](In in, int i) { return in.f.Int(i); }},
      {"arith.index_cast",
       R"(%a = arith.index_cast %one : i32 to index
    %b = arith.addi %a, %a : index
    %c = arith.index_cast %b : index to i32
    %s = tt.splat %c : i32 -> $I
    %y = arith.addi %x, %s : $I)",
       "i32", [](In in, int i) { return in.X(i) + 2; }},
      {"arith.index_castui",
       R"(%m = arith.constant -1 : i32
    %a = arith.index_castui %m : i32 to index
    %b = arith.index_cast %a : index to i64
    %y = tt.splat %b : i64 -> tensor<128xi64>)",
       "i64", [](In, int) { return 4294967295.0; }},
      // Triton scales by tt.dot_scaled and multiplications.
      {"arith.scaling_extf",
       R"(%w = arith.truncf %f : $F to tensor<128xf8E5M2>
    %y = arith.scaling_extf %w, %w : tensor<128xf8E5M2>, tensor<128xf8E5M2> to $F)",
       "f32",
       nullptr,
       {{"", "it has no lowering"}}},
      {"arith.scaling_truncf",
       R"(%w = arith.truncf %f : $F to tensor<128xf8E5M2>
    %v = arith.scaling_truncf %f, %w : $F, tensor<128xf8E5M2> to tensor<128xf8E5M2>
    %y = arith.extf %v : tensor<128xf8E5M2> to $F)",
       "f32",
       nullptr,
       {{"", "it has no lowering"}}},
  };
}

}  // namespace

std::vector<OpRow> ArithRows() {
  std::vector<OpRow> rows;
  for (auto make : {IntegerRows, FloatRows, CastRows})
    for (OpRow& row : make()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace tritond::conformance
