// SPDX-License-Identifier: Apache-2.0
// Operations of dialect math.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/conformance/every_op.h"

namespace tritond::conformance {
namespace {

using In = const OpInputs&;

// "%y = op %f : $F" of any argument.
OpRow Of(const char* op, double (*fn)(double)) {
  return {op, absl::StrCat("%y = ", op, " %f : $F"), "f32", [fn](In in, int i) { return fn(in.F(i)); }};
}
// Of one from 1 on.
OpRow FromOne(const char* op, double (*fn)(double)) {
  return {op,
          absl::StrCat("%a = math.absf %f : $F\n    %c = arith.constant dense<1.0> : $F\n    %b = arith.addf %a, %c : "
                       "$F\n    %y = ",
                       op, " %b : $F"),
          "f32", [fn](In in, int i) { return fn(static_cast<float>(std::fabs(in.F(i)) + 1)); }};
}
// Of one from -0.5 to 0.5.
OpRow Small(const char* op, double (*fn)(double)) {
  return {op,
          absl::StrCat("%l = arith.constant dense<-0.5> : $F\n    %h = arith.constant dense<0.5> : $F\n    %b = "
                       "tt.clampf %f, %l, %h, propagateNan = none : $F\n    %y = ",
                       op, " %b : $F"),
          "f32", [fn](In in, int i) { return fn(std::min(std::max(in.F(i), -0.5), 0.5)); }};
}
constexpr char kNone[] = "it has no lowering", kRefused[] = "is not supported; ";
// "%c = op %f : $F", an i1.
OpRow IsKind(const char* op) {
  return {
      op, absl::StrCat("%c = ", op, " %f : $F\n    %y = arith.extui %c : $B to $I"), "i32", nullptr, {{"", kRefused}}};
}
OpRow OfInteger(const char* op, int (*fn)(uint32_t)) {
  return {op, absl::StrCat("%y = ", op, " %x : $I"), "i32",
          [fn](In in, int i) { return double(fn(static_cast<uint32_t>(in.X(i)))); }};
}

}  // namespace

std::vector<OpRow> MathRows() {
  return {
      Of("math.absf", std::fabs),
      Small("math.acos", std::acos),
      FromOne("math.acosh", std::acosh),
      Small("math.asin", std::asin),
      Of("math.asinh", std::asinh),
      Of("math.atan", std::atan),
      Small("math.atanh", std::atanh),
      Of("math.cbrt", std::cbrt),
      Of("math.ceil", std::ceil),
      Of("math.cos", std::cos),
      Of("math.cosh", std::cosh),
      Of("math.erf", std::erf),
      Of("math.erfc", std::erfc),
      Of("math.exp", std::exp),
      Of("math.exp2", std::exp2),
      Of("math.expm1", std::expm1),
      Of("math.floor", std::floor),
      FromOne("math.log", std::log),
      FromOne("math.log10", std::log10),
      FromOne("math.log1p", std::log1p),
      FromOne("math.log2", std::log2),
      Of("math.round", std::round),
      Of("math.roundeven", std::nearbyint),
      FromOne("math.rsqrt", [](double x) { return 1 / std::sqrt(x); }),
      Of("math.sin", std::sin),
      Of("math.sinh", std::sinh),
      FromOne("math.sqrt", std::sqrt),
      Small("math.tan", std::tan),
      Of("math.tanh", std::tanh),
      Of("math.trunc", std::trunc),
      {"math.absi", "%y = math.absi %x : $I", "i32", [](In in, int i) { return std::abs(double(in.X(i))); }},
      OfInteger("math.ctlz", [](uint32_t x) { return x ? __builtin_clz(x) : 32; }),
      OfInteger("math.cttz", [](uint32_t x) { return x ? __builtin_ctz(x) : 32; }),
      OfInteger("math.ctpop", [](uint32_t x) { return __builtin_popcount(x); }),
      {"math.fma", "%y = math.fma %f, %f, %f : $F", "f32", [](In in, int i) { return in.F(i) * in.F(i) + in.F(i); }},
      {"math.copysign", "%c = arith.constant dense<3.0> : $F\n    %y = math.copysign %c, %f : $F", "f32",
       [](In in, int i) { return std::copysign(3, in.F(i)); }},
      {"math.atan2", "%c = arith.constant dense<-2.0> : $F\n    %y = math.atan2 %f, %c : $F", "f32",
       [](In in, int i) { return std::atan2(in.F(i), -2.0); }},
      {"math.powf", "%a = math.absf %f : $F\n    %c = arith.constant dense<1.5> : $F\n    %y = math.powf %a, %c : $F",
       "f32", [](In in, int i) { return std::pow(std::fabs(in.F(i)), 1.5); }},
      // No frontend makes integer powers.
      {"math.fpowi", "%y = math.fpowi %f, %i : $F, $I", "f32", nullptr, {{"", kNone}}},
      {"math.ipowi", "%y = math.ipowi %x, %i : $I", "i32", nullptr, {{"", kNone}}},
      // Nor these, which Triton spells tt.clampf, comparisons, and two operations.
      {"math.clampf", "%y = math.clampf %f to [%f, %f] : $F", "f32", nullptr, {{"", kRefused}}},
      {"math.sincos", "%y, %c = math.sincos %f : $F", "f32", nullptr, {{"", kRefused}}},
      IsKind("math.isfinite"),
      IsKind("math.isinf"),
      IsKind("math.isnan"),
      IsKind("math.isnormal"),
  };
}

}  // namespace tritond::conformance
