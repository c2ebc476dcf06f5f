// SPDX-License-Identifier: Apache-2.0
// Operations on every element: integer and float arithmetic, comparisons, the functions that kernels use most.
#include <cmath>
#include <functional>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tests/conformance/elementwise_case.h"

namespace tritond::conformance {
namespace {

using Case = ElementwiseCase;

class Elementwise : public testing::TestWithParam<Case> {};

TEST_P(Elementwise, GivesTheExpectedValues) { RunElementwiseCase(GetParam()); }

const std::vector<std::string> kInts = {"i8", "i16", "i32", "i64"};
const std::vector<std::string> kFloats = {"f16", "bf16", "f32", "f64"};

// Denominators without 0, and no smallest / -1, whose quotient does not fit.
void MakeDivisible(std::vector<Array>& in) {
  for (size_t i = 0; i < in[1].size(); ++i)
    if (in[1].Int(i) == 0 || in[1].Int(i) == -1) in[1].SetInt(i, 3);
}
void LimitShifts(std::vector<Array>& in) {
  for (size_t i = 0; i < in[1].size(); ++i) in[1].SetInt(i, in[1].Unsigned(i) % in[1].bits());
}

std::vector<Case> IntegerCases() {
  using Fn = std::function<int64_t(const Array&, const Array&, size_t)>;
  struct Op {
    const char* name;
    Fn fn;
    void (*prepare)(std::vector<Array>&) = nullptr;
  };
  auto sext = [](auto fn) {
    return Fn([fn](const Array& a, const Array& b, size_t i) { return fn(a.Int(i), b.Int(i)); });
  };
  auto zext = [](auto fn) {
    return Fn([fn](const Array& a, const Array& b, size_t i) { return int64_t(fn(a.Unsigned(i), b.Unsigned(i))); });
  };
  using U = uint64_t;
  using S = int64_t;
  const std::vector<Op> ops = {
      {"arith.addi", zext([](U a, U b) { return a + b; })},
      {"arith.subi", zext([](U a, U b) { return a - b; })},
      {"arith.muli", zext([](U a, U b) { return a * b; })},
      {"arith.andi", zext([](U a, U b) { return a & b; })},
      {"arith.ori", zext([](U a, U b) { return a | b; })},
      {"arith.xori", zext([](U a, U b) { return a ^ b; })},
      {"arith.shli", zext([](U a, U b) { return a << b; }), LimitShifts},
      {"arith.shrui", zext([](U a, U b) { return a >> b; }), LimitShifts},
      {"arith.shrsi", sext([](S a, S b) { return a >> b; }), LimitShifts},
      {"arith.divsi", sext([](S a, S b) { return a / b; }), MakeDivisible},
      {"arith.divui", zext([](U a, U b) { return a / b; }), MakeDivisible},
      {"arith.remsi", sext([](S a, S b) { return a % b; }), MakeDivisible},
      {"arith.remui", zext([](U a, U b) { return a % b; }), MakeDivisible},
      {"arith.maxsi", sext([](S a, S b) { return std::max(a, b); })},
      {"arith.minsi", sext([](S a, S b) { return std::min(a, b); })},
      {"arith.maxui", zext([](U a, U b) { return std::max(a, b); })},
      {"arith.minui", zext([](U a, U b) { return std::min(a, b); })},
      {"arith.ceildivsi", sext([](S a, S b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }), MakeDivisible},
      {"arith.floordivsi", sext([](S a, S b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }), MakeDivisible},
      {"arith.ceildivui", zext([](U a, U b) { return a / b + (a % b != 0); }), MakeDivisible},
  };
  std::vector<Case> cases;
  for (const Op& op : ops)
    for (const std::string& type : kInts) {
      Fn fn = op.fn;
      cases.push_back({absl::StrCat(op.name, "_", type),
                       absl::StrCat("    %y = ", op.name, " %x0, %x1 : $T0"),
                       {type, type},
                       type,
                       [fn](const auto& in, size_t i, Array& out) { out.SetInt(i, fn(in[0], in[1], i)); },
                       0,
                       false,
                       op.prepare});
    }
  for (const std::string& type : {std::string("i32"), std::string("i64")})
    cases.push_back({"tt.mulhiui_" + type,
                     "    %y = tt.mulhiui %x0, %x1 : $T0",
                     {type, type},
                     type,
                     [](const auto& in, size_t i, Array& out) {
                       unsigned __int128 product =
                           static_cast<unsigned __int128>(in[0].Unsigned(i)) * in[1].Unsigned(i);
                       out.SetInt(i, static_cast<int64_t>(product >> in[0].bits()));
                     }});
  for (const std::string& type : kInts) {
    cases.push_back(
        {"select_" + type,
         "    %y = arith.select %x0, %x1, %x2 : tensor<$Bxi1>, $TO",
         {"i1", type, type},
         type,
         [](const auto& in, size_t i, Array& out) { out.SetInt(i, in[0].Int(i) ? in[1].Int(i) : in[2].Int(i)); }});
    cases.push_back(
        {"math.absi_" + type, "    %y = math.absi %x0 : $T0", {type}, type, [](const auto& in, size_t i, Array& out) {
           out.SetInt(i, in[0].Int(i) < 0 ? -static_cast<uint64_t>(in[0].Int(i)) : in[0].Int(i));
         }});
  }
  return cases;
}

std::vector<Case> IntegerComparisons() {
  const std::vector<std::pair<const char*, std::function<bool(const Array&, const Array&, size_t)>>> predicates = {
      {"eq", [](const Array& a, const Array& b, size_t i) { return a.Int(i) == b.Int(i); }},
      {"ne", [](const Array& a, const Array& b, size_t i) { return a.Int(i) != b.Int(i); }},
      {"slt", [](const Array& a, const Array& b, size_t i) { return a.Int(i) < b.Int(i); }},
      {"sle", [](const Array& a, const Array& b, size_t i) { return a.Int(i) <= b.Int(i); }},
      {"sgt", [](const Array& a, const Array& b, size_t i) { return a.Int(i) > b.Int(i); }},
      {"sge", [](const Array& a, const Array& b, size_t i) { return a.Int(i) >= b.Int(i); }},
      {"ult", [](const Array& a, const Array& b, size_t i) { return a.Unsigned(i) < b.Unsigned(i); }},
      {"ule", [](const Array& a, const Array& b, size_t i) { return a.Unsigned(i) <= b.Unsigned(i); }},
      {"ugt", [](const Array& a, const Array& b, size_t i) { return a.Unsigned(i) > b.Unsigned(i); }},
      {"uge", [](const Array& a, const Array& b, size_t i) { return a.Unsigned(i) >= b.Unsigned(i); }}};
  std::vector<Case> cases;
  for (const auto& [name, fn] : predicates)
    for (const std::string& type : kInts) {
      auto compare = fn;
      cases.push_back({absl::StrCat("arith.cmpi_", name, "_", type),
                       absl::StrCat("    %y = arith.cmpi ", name, ", %x0, %x1 : $T0"),
                       {type, type},
                       "i1",
                       [compare](const auto& in, size_t i, Array& out) { out.SetInt(i, compare(in[0], in[1], i)); },
                       0,
                       false,
                       [](std::vector<Array>& in) {  // some are equal
                         for (size_t i = 0; i < in[0].size(); i += 3) in[1].SetInt(i, in[0].Int(i));
                       }});
    }
  return cases;
}

std::vector<Case> FloatComparisons() {
  struct Predicate {
    const char* name;
    bool less, equal, greater, unordered;
  };
  std::vector<Case> cases;
  for (const Predicate& p : {Predicate{"oeq", false, true, false, false}, Predicate{"ogt", false, false, true, false},
                             Predicate{"oge", false, true, true, false}, Predicate{"olt", true, false, false, false},
                             Predicate{"ole", true, true, false, false}, Predicate{"one", true, false, true, false},
                             Predicate{"ord", true, true, true, false}, Predicate{"ueq", false, true, false, true},
                             Predicate{"ugt", false, false, true, true}, Predicate{"uge", false, true, true, true},
                             Predicate{"ult", true, false, false, true}, Predicate{"ule", true, true, false, true},
                             Predicate{"une", true, false, true, true}, Predicate{"uno", false, false, false, true}})
    for (const std::string& type : kFloats)
      cases.push_back({absl::StrCat("arith.cmpf_", p.name, "_", type),
                       absl::StrCat("    %y = arith.cmpf ", p.name, ", %x0, %x1 : $T0"),
                       {type, type},
                       "i1",
                       [p](const auto& in, size_t i, Array& out) {
                         double a = in[0].Float(i), b = in[1].Float(i);
                         out.SetInt(i, a < b ? p.less : a > b ? p.greater : a == b ? p.equal : p.unordered);
                       },
                       0,
                       false,
                       [](std::vector<Array>& in) {
                         for (size_t i = 0; i < in[0].size(); i += 3) in[1].SetFloat(i, in[0].Float(i));
                       }});
  return cases;
}

// IEEE 754-2019 maximum: NaN if there is one, and -0 < +0.
double Maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (a == b) return std::signbit(a) ? b : a;
  return std::max(a, b);
}

std::vector<Case> FloatCases() {
  struct Op {
    const char* name;
    std::function<double(double, double)> fn;
    double tolerance = 0;
  };
  std::vector<Case> cases;
  for (const Op& op : {Op{"arith.addf", [](double a, double b) { return a + b; }},
                       Op{"arith.subf", [](double a, double b) { return a - b; }},
                       Op{"arith.mulf", [](double a, double b) { return a * b; }},
                       Op{"arith.divf", [](double a, double b) { return a / b; }, 1e-6}, Op{"arith.maximumf", Maximum},
                       Op{"arith.minimumf", [](double a, double b) { return -Maximum(-a, -b); }},
                       // Zeros of either sign may be taken.
                       Op{"arith.maxnumf", [](double a, double b) { return std::fmax(a, b); }, 1e-30},
                       Op{"arith.minnumf", [](double a, double b) { return std::fmin(a, b); }, 1e-30}})
    for (const std::string& type : kFloats) {
      auto fn = op.fn;
      double tolerance = op.tolerance == 1e-6 ? (type == "f16" ? 1e-3 : type == "bf16" ? 8e-3 : 1e-6) : op.tolerance;
      cases.push_back(
          {absl::StrCat(op.name, "_", type),
           absl::StrCat("    %y = ", op.name, " %x0, %x1 : $T0"),
           {type, type},
           type,
           [fn](const auto& in, size_t i, Array& out) { out.SetFloat(i, fn(in[0].Float(i), in[1].Float(i))); },
           tolerance});
    }
  std::vector<std::string> all_floats(std::begin(kFloats), std::end(kFloats));
  for (const char* narrow : {"f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"}) all_floats.push_back(narrow);
  for (const std::string& type : all_floats)
    cases.push_back(
        {"math.absf_" + type, "    %y = math.absf %x0 : $T0", {type}, type, [](const auto& in, size_t i, Array& out) {
           out.SetFloat(i, std::fabs(in[0].Float(i)));
         }});
  for (const std::string& type : kFloats) {
    cases.push_back(
        {"arith.negf_" + type, "    %y = arith.negf %x0 : $T0", {type}, type, [](const auto& in, size_t i, Array& out) {
           out.SetFloat(i, -in[0].Float(i));
         }});
    cases.push_back({"select_" + type,
                     "    %y = arith.select %x0, %x1, %x2 : tensor<$Bxi1>, $TO",
                     {"i1", type, type},
                     type,
                     [](const auto& in, size_t i, Array& out) {
                       out.SetFloat(i, in[0].Int(i) ? in[1].Float(i) : in[2].Float(i));
                     }});
    for (bool all : {false, true})
      cases.push_back({absl::StrCat("tt.clampf_", all ? "all_" : "none_", type),
                       absl::StrCat("    %low = arith.constant dense<-1.5> : $T0\n"
                                    "    %high = arith.constant dense<2.0> : $T0\n"
                                    "    %y = tt.clampf %x0, %low, %high, propagateNan = ",
                                    all ? "all" : "none", " : $T0"),
                       {type},
                       type,
                       [all](const auto& in, size_t i, Array& out) {
                         double x = in[0].Float(i);
                         out.SetFloat(i, std::isnan(x) ? (all ? x : -1.5) : std::min(std::max(x, -1.5), 2.0));
                       }});
  }
  for (const std::string& type : {std::string("f32"), std::string("f64")}) {
    double tolerance = type == "f32" ? 1e-6 : 1e-14;
    cases.push_back({"math.fma_" + type,
                     "    %y = math.fma %x0, %x1, %x2 : $T0",
                     {type, type, type},
                     type,
                     [](const auto& in, size_t i, Array& out) {
                       bool wide = in[0].type == "f64";
                       double a = in[0].Float(i), b = in[1].Float(i), c = in[2].Float(i);
                       out.SetFloat(i, wide ? std::fma(a, b, c) : std::fma(float(a), float(b), float(c)));
                     },
                     0});
    cases.push_back({"tt.precise_sqrt_" + type,
                     "    %y = tt.precise_sqrt %x0 : $T0",
                     {type},
                     type,
                     [](const auto& in, size_t i, Array& out) { out.SetFloat(i, std::sqrt(in[0].Float(i))); }});
    cases.push_back({"tt.precise_divf_" + type,
                     "    %y = tt.precise_divf %x0, %x1 : $T0",
                     {type, type},
                     type,
                     [](const auto& in, size_t i, Array& out) { out.SetFloat(i, in[0].Float(i) / in[1].Float(i)); }});
    struct Function {
      const char* name;
      double (*fn)(double);
      bool positive = false;
    };
    for (const Function& f :
         {Function{"exp", std::exp}, Function{"exp2", std::exp2}, Function{"log", std::log, true},
          Function{"log2", std::log2, true}, Function{"sqrt", std::sqrt, true}, Function{"sin", std::sin},
          Function{"cos", std::cos}, Function{"erf", std::erf}, Function{"floor", std::floor},
          Function{"ceil", std::ceil}, Function{"rsqrt", [](double x) { return 1 / std::sqrt(x); }, true}}) {
      auto fn = f.fn;
      auto make_positive = [](std::vector<Array>& in) {
        for (size_t i = 0; i < in[0].size(); ++i) in[0].SetFloat(i, std::fabs(in[0].Float(i)) + 0.125);
      };
      cases.push_back({absl::StrCat("math.", f.name, "_", type),
                       absl::StrCat("    %y = math.", f.name, " %x0 : $T0"),
                       {type},
                       type,
                       [fn](const auto& in, size_t i, Array& out) { out.SetFloat(i, fn(in[0].Float(i))); },
                       4 * tolerance,
                       true,
                       f.positive ? make_positive : std::function<void(std::vector<Array>&)>()});
    }
  }
  // Products halfway between two numbers, and a third operand that only one rounding sees.
  for (const std::string& type : {std::string("f16"), std::string("bf16")}) {
    double last = type == "f16" ? 0x1p-10 : 0x1p-7, least = type == "f16" ? 0x1p-24 : 0x1p-100;
    cases.push_back({"math.fma_rounds_once_" + type,
                     "    %y = math.fma %x0, %x1, %x2 : $T0",
                     {type, type, type},
                     type,
                     [last](const auto&, size_t i, Array& out) { out.SetFloat(i, 1.5 + (i % 2 ? 2 : 1) * last); },
                     0,
                     false,
                     [last, least](std::vector<Array>& in) {
                       for (size_t i = 0; i < in[0].size(); ++i) {
                         in[0].SetFloat(i, 1.5);
                         in[1].SetFloat(i, 1 + last);
                         in[2].SetFloat(i, i % 2 ? least : -least);
                       }
                     }});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Integers, Elementwise, testing::ValuesIn(IntegerCases()), NameElementwiseCase);
INSTANTIATE_TEST_SUITE_P(IntegerComparisons, Elementwise, testing::ValuesIn(IntegerComparisons()), NameElementwiseCase);
INSTANTIATE_TEST_SUITE_P(FloatComparisons, Elementwise, testing::ValuesIn(FloatComparisons()), NameElementwiseCase);
INSTANTIATE_TEST_SUITE_P(Floats, Elementwise, testing::ValuesIn(FloatCases()), NameElementwiseCase);

}  // namespace
}  // namespace tritond::conformance
