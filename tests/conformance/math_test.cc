// SPDX-License-Identifier: Apache-2.0
// The rest of arith and math: counts of bits, products and sums with their carries. Also every function of one and two
// floats, in all float types.
#include <cmath>
#include <functional>

#include "absl/strings/str_cat.h"
#include "tests/conformance/elementwise_case.h"

namespace tritond::conformance {
namespace {

using Case = ElementwiseCase;

class Math : public testing::TestWithParam<Case> {};

TEST_P(Math, GivesTheExpectedValues) { RunElementwiseCase(GetParam()); }

const std::vector<std::string> kInts = {"i8", "i16", "i32", "i64"};
const std::vector<std::string> kFloats = {"f16", "bf16", "f32", "f64"};

std::vector<Case> Bits() {
  struct Count {
    const char* name;
    int (*fn)(uint64_t x, int bits);
  };
  const Count counts[] = {
      {"math.ctlz", [](uint64_t x, int bits) { return x == 0 ? bits : __builtin_clzll(x) - (64 - bits); }},
      {"math.cttz", [](uint64_t x, int bits) { return x == 0 ? bits : __builtin_ctzll(x); }},
      {"math.ctpop", [](uint64_t x, int) { return __builtin_popcountll(x); }}};
  std::vector<Case> cases;
  for (const Count& count : counts)
    for (const std::string& type : kInts) {
      auto fn = count.fn;
      cases.push_back(
          {absl::StrCat(count.name, "_", type),
           absl::StrCat("    %y = ", count.name, " %x0 : $T0"),
           {type},
           type,
           [fn](const auto& in, size_t i, Array& out) { out.SetInt(i, fn(in[0].Unsigned(i), in[0].bits())); },
           0,
           false,
           [](std::vector<Array>& in) {  // zero among them, and small numbers
             for (size_t i = 0; i < 40; ++i) in[0].SetInt(i, i / 2);
           }});
    }
  return cases;
}

// Both results of operations that have two; 128 bits hold every product.
std::vector<Case> Extended() {
  std::vector<Case> cases;
  for (const std::string& type : kInts) {
    cases.push_back(
        {"arith.addui_extended_sum_" + type,
         "    %y, %c = arith.addui_extended %x0, %x1 : $T0, tensor<$Bxi1>",
         {type, type},
         type,
         [](const auto& in, size_t i, Array& out) { out.SetInt(i, in[0].Unsigned(i) + in[1].Unsigned(i)); }});
    cases.push_back({"arith.addui_extended_carry_" + type,
                     "    %s, %y = arith.addui_extended %x0, %x1 : $T0, tensor<$Bxi1>",
                     {type, type},
                     "i1",
                     [](const auto& in, size_t i, Array& out) {
                       unsigned __int128 sum = in[0].Unsigned(i);
                       sum += in[1].Unsigned(i);
                       out.SetInt(i, static_cast<int>(sum >> in[0].bits()));
                     }});
    for (bool high : {false, true}) {
      std::string names = high ? "%l, %y" : "%y, %h";
      cases.push_back({absl::StrCat("arith.mului_extended_", high ? "high_" : "low_", type),
                       absl::StrCat("    ", names, " = arith.mului_extended %x0, %x1 : $T0"),
                       {type, type},
                       type,
                       [high](const auto& in, size_t i, Array& out) {
                         unsigned __int128 product = in[0].Unsigned(i);
                         product *= in[1].Unsigned(i);
                         out.SetInt(i, static_cast<int64_t>(high ? product >> in[0].bits() : product));
                       }});
      cases.push_back({absl::StrCat("arith.mulsi_extended_", high ? "high_" : "low_", type),
                       absl::StrCat("    ", names, " = arith.mulsi_extended %x0, %x1 : $T0"),
                       {type, type},
                       type,
                       [high](const auto& in, size_t i, Array& out) {
                         __int128 product = in[0].Int(i);
                         product *= in[1].Int(i);
                         out.SetInt(i, static_cast<int64_t>(high ? product >> in[0].bits() : product));
                       }});
    }
  }
  return cases;
}

double ToleranceOf(const std::string& type) {
  return type == "f16" ? 2e-3 : type == "bf16" ? 2e-2 : type == "f32" ? 4e-6 : 1e-13;
}

// Where a function is defined and does not overflow, from arguments of moderate size.
using Domain = double (*)(double);
double Everywhere(double x) { return std::fmod(x, 8); }
double Positive(double x) { return std::fabs(x) + 0.125; }
double Unit(double x) { return std::fmod(x, 1); }
double AboveOne(double x) { return std::fabs(x) + 1; }

std::vector<Case> Functions() {
  struct Function {
    const char* name;
    double (*fn)(double);
    Domain domain = Everywhere;
  };
  const Function functions[] = {{"acos", std::acos, Unit},
                                {"acosh", std::acosh, AboveOne},
                                {"asin", std::asin, Unit},
                                {"asinh", std::asinh},
                                {"atan", std::atan},
                                {"atanh", std::atanh, Unit},
                                {"cbrt", std::cbrt},
                                {"ceil", std::ceil},
                                {"cos", std::cos},
                                {"cosh", std::cosh},
                                {"erf", std::erf},
                                {"exp", std::exp},
                                {"exp2", std::exp2},
                                {"expm1", std::expm1},
                                {"floor", std::floor},
                                {"log", std::log, Positive},
                                {"log10", std::log10, Positive},
                                {"log1p", std::log1p, Positive},
                                {"log2", std::log2, Positive},
                                {"round", std::round},
                                {"roundeven", [](double x) { return std::nearbyint(x); }},
                                {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, Positive},
                                {"sin", std::sin},
                                {"sinh", std::sinh},
                                {"sqrt", std::sqrt, Positive},
                                {"tan", std::tan, Unit},
                                {"tanh", std::tanh},
                                {"trunc", std::trunc}};
  std::vector<Case> cases;
  for (const Function& function : functions)
    for (const std::string& type : kFloats) {
      auto fn = function.fn;
      Domain domain = function.domain;
      cases.push_back({absl::StrCat("math.", function.name, "_", type),
                       absl::StrCat("    %y = math.", function.name, " %x0 : $T0"),
                       {type},
                       type,
                       [fn](const auto& in, size_t i, Array& out) { out.SetFloat(i, fn(in[0].Float(i))); },
                       ToleranceOf(type),
                       true,
                       [domain](std::vector<Array>& in) {
                         for (size_t i = 0; i < in[0].size(); ++i) {
                           in[0].SetFloat(i, domain(in[0].Float(i)));
                           if (domain == Unit && std::fabs(in[0].Float(i)) > 0.97) in[0].SetFloat(i, 0.5);
                         }
                       }});
    }
  return cases;
}

std::vector<Case> FunctionsOfTwo() {
  std::vector<Case> cases;
  for (const std::string& type : kFloats) {
    auto add = [&](const std::string& op, double (*fn)(double, double), double tolerance, bool moderate,
                   std::function<void(std::vector<Array>&)> prepare) {
      cases.push_back(
          {absl::StrCat(op, "_", type),
           absl::StrCat("    %y = ", op, " %x0, %x1 : $T0"),
           {type, type},
           type,
           [fn](const auto& in, size_t i, Array& out) { out.SetFloat(i, fn(in[0].Float(i), in[1].Float(i))); },
           tolerance,
           moderate,
           prepare});
    };
    // Signs are copied whatever the number: infinities, NaN and zeros among them.
    add(
        "math.copysign", [](double a, double b) { return std::copysign(a, b); }, 0, false, nullptr);
    add(
        "math.atan2", [](double a, double b) { return std::atan2(a, b); }, ToleranceOf(type), true, nullptr);
    add(
        "math.powf", [](double a, double b) { return std::pow(a, b); }, 2 * ToleranceOf(type), true,
        [](std::vector<Array>& in) {
          for (size_t i = 0; i < in[0].size(); ++i) {
            in[0].SetFloat(i, std::fmod(std::fabs(in[0].Float(i)), 4) + 0.5);
            in[1].SetFloat(i, std::fmod(in[1].Float(i), 3));
          }
        });
    add(
        "arith.remf", [](double a, double b) { return std::fmod(a, b); }, 0, true,
        [](std::vector<Array>& in) {
          for (size_t i = 0; i < in[0].size(); ++i) in[1].SetFloat(i, std::fabs(in[1].Float(i)) + 1);
        });
  }
  return cases;
}

// Multiplied and added at once: rounded once.
std::vector<Case> Fused() {
  std::vector<Case> cases;
  for (const std::string& type : {std::string("f16"), std::string("bf16")})
    cases.push_back({"math.fma_" + type,
                     "    %y = math.fma %x0, %x1, %x2 : $T0",
                     {type, type, type},
                     type,
                     [](const auto& in, size_t i, Array& out) {
                       out.SetFloat(i, std::fma(in[0].Float(i), in[1].Float(i), in[2].Float(i)));
                     },
                     ToleranceOf(type),
                     true});
  return cases;
}

// Sums of one and a function that goes to 1 and -1: to three units of one, near zero and far from it.
std::vector<Case> Complements() {
  struct Sum {
    const char* name;
    const char* text;
    double (*fn)(double);
  };
  const Sum sums[] = {
      {"one_plus_erf", "    %f = math.erf %x0 : $T0\n    %y = arith.addf %f, %one : $T0",
       [](double x) { return std::erfc(-x); }},
      {"one_minus_erf", "    %f = math.erf %x0 : $T0\n    %y = arith.subf %one, %f : $T0",
       [](double x) { return std::erfc(x); }},
      {"one_plus_tanh", "    %f = math.tanh %x0 : $T0\n    %y = arith.addf %one, %f : $T0",
       [](double x) { return 2 / (1 + std::exp(-2 * x)); }},
      {"one_minus_tanh", "    %f = math.tanh %x0 : $T0\n    %y = arith.subf %one, %f : $T0",
       [](double x) { return 2 / (1 + std::exp(2 * x)); }},
  };
  std::vector<Case> cases;
  for (const Sum& sum : sums)
    cases.push_back({sum.name,
                     absl::StrCat("    %one = arith.constant dense<1.0> : $T0\n", sum.text),
                     {"f32"},
                     "f32",
                     [fn = sum.fn](const auto& in, size_t i, Array& out) { out.SetFloat(i, fn(in[0].Float(i))); },
                     3.6e-7,
                     true,
                     [](std::vector<Array>& in) {
                       for (size_t i = 0; i < in[0].size(); ++i)
                         in[0].SetFloat(i, std::fmod(in[0].Float(i), i % 4 == 0 ? 0.25 : 6));
                       const double ends[] = {0, -0.0, HUGE_VAL, -HUGE_VAL, 1e20, -1e20, 1e-40, -1e-40, NAN};
                       for (size_t i = 0; i < std::size(ends); ++i) in[0].SetFloat(i, ends[i]);
                     }});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Complements, Math, testing::ValuesIn(Complements()), NameElementwiseCase);
INSTANTIATE_TEST_SUITE_P(Bits, Math, testing::ValuesIn(Bits()), NameElementwiseCase);
INSTANTIATE_TEST_SUITE_P(Extended, Math, testing::ValuesIn(Extended()), NameElementwiseCase);
INSTANTIATE_TEST_SUITE_P(Functions, Math, testing::ValuesIn(Functions()), NameElementwiseCase);
INSTANTIATE_TEST_SUITE_P(FunctionsOfTwo, Math, testing::ValuesIn(FunctionsOfTwo()), NameElementwiseCase);
INSTANTIATE_TEST_SUITE_P(Fused, Math, testing::ValuesIn(Fused()), NameElementwiseCase);

}  // namespace
}  // namespace tritond::conformance
