// SPDX-License-Identifier: Apache-2.0
// Conversions between number formats, all values of the narrow ones included. Eight elements a thread and one, so that
// packed instructions take part.
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

struct Case {
  std::string op, from, to;
  std::string attributes;  // ", rounding = rtz"
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.op << " " << c.from << " to " << c.to; }

std::string NameCase(const testing::TestParamInfo<Case>& info) {
  std::string name = absl::StrCat(info.param.op, "_", info.param.from, "_to_", info.param.to, info.param.attributes);
  std::string clean;
  for (char c : name)
    if (std::isalnum(c) || c == '_') clean += c;
  return clean;
}

constexpr int kLength = 2048;

std::string Kernel(const Case& c) {
  std::string convert = c.op == "tt.fp_to_fp" || c.op == "tt.bitcast"
                            ? absl::StrCat(c.op, " %x", c.attributes, " : tensor<2048x$F> -> tensor<2048x$T>")
                            : absl::StrCat(c.op, " %x : tensor<2048x$F> to tensor<2048x$T>");
  return Substitute(R"(module {
  tt.func public @kernel(%in: !tt.ptr<$F> {tt.divisibility = 16 : i32}, %out: !tt.ptr<$T> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32>
    %ins = tt.splat %in : !tt.ptr<$F> -> tensor<2048x!tt.ptr<$F>>
    %from = tt.addptr %ins, %i : tensor<2048x!tt.ptr<$F>>, tensor<2048xi32>
    %x = tt.load %from : tensor<2048x!tt.ptr<$F>>
    %y = $CONVERT
    %outs = tt.splat %out : !tt.ptr<$T> -> tensor<2048x!tt.ptr<$T>>
    %to = tt.addptr %outs, %i : tensor<2048x!tt.ptr<$T>>, tensor<2048xi32>
    tt.store %to, %y : tensor<2048x!tt.ptr<$T>>
    tt.return
  }
}
)",
                    {{"CONVERT", convert}, {"F", c.from}, {"T", c.to}});
}

// Every code of 8 and 11 bits' worth of wider ones, spread over the range, besides interesting values.
Array Codes(const std::string& type) {
  Array values = Values(type, kLength, 7);
  for (size_t i = 0; i < kLength; ++i) {
    if (values.bits() == 8) values.SetInt(i, i);
    if (values.bits() == 16 && values.is_float() && i % 2) values.SetInt(i, i * 37);
  }
  return values;
}

// The largest finite value of `type`, and whether too large numbers become it: 8-bit floats saturate.
double LargestFinite(const std::string& type) {
  return type == "f8E4M3FN" ? 448 : type == "f8E5M2" || type == "f8E5M2FNUZ" ? 57344 : type == "f8E4M3FNUZ" ? 240 : 0;
}

// `x` towards zero in `type`: the nearest value, or its neighbour if that is further out.
void SetTowardsZero(Array& out, size_t i, double x) {
  out.SetFloat(i, x);
  if (std::isnan(x) || std::isinf(x)) return;
  if (std::isinf(out.Float(i)) || std::isnan(out.Float(i)) || std::abs(out.Float(i)) > std::abs(x))
    out.SetInt(i, out.Int(i) - 1);
  // The FNUZ formats have no -0; its code is NaN.
  if (std::isnan(out.Float(i))) out.SetInt(i, 0);
}

class Convert : public testing::TestWithParam<Case> {};

TEST_P(Convert, GivesTheNearestOrTruncatedValue) {
  const Case& c = GetParam();
  Array in = Codes(c.from), actual(c.to, kLength), expected(c.to, kLength);
  double largest = LargestFinite(c.to);
  bool to_int = !expected.is_float();
  for (size_t i = 0; i < kLength; ++i) {
    if (to_int && in.is_float()) {  // only numbers that fit
      double limit = std::ldexp(1.0, std::min(expected.bits() - 1, 62)) - 1;
      double x = in.Float(i);
      if (!std::isfinite(x)) x = 1.75;
      if (c.op == "arith.fptoui") x = std::abs(x);
      in.SetFloat(i, std::abs(x) < limit ? x : std::fmod(x, std::min(limit, 100.0)));
    }
    if (c.op == "arith.sitofp") expected.SetFloat(i, c.from == "i1" ? double(-in.Int(i)) : double(in.Int(i)));
    if (c.op == "arith.uitofp") expected.SetFloat(i, double(in.Unsigned(i)));
    if (c.op == "arith.fptosi" || c.op == "arith.fptoui") expected.SetInt(i, int64_t(in.Float(i)));
    if (c.op == "arith.extsi") expected.SetInt(i, c.from == "i1" ? -in.Int(i) : in.Int(i));
    if (c.op == "arith.extui") expected.SetInt(i, in.Unsigned(i));
    if (c.op == "arith.trunci") expected.SetInt(i, in.Int(i));
    if (c.op == "tt.bitcast") expected.SetInt(i, in.Int(i));
    if (c.op == "arith.extf" || c.op == "arith.truncf" || c.op == "tt.fp_to_fp") {
      double x = in.Float(i);
      if (largest > 0 && std::abs(x) > largest) x = std::copysign(largest, x);
      if (c.attributes.empty() || c.attributes == ", rounding = rtne") {
        expected.SetFloat(i, x);
      } else {
        SetTowardsZero(expected, i, x);
      }
    }
  }
  std::string ir = Kernel(c);
  Machine machine = MachineFor(std::hash<std::string>()(c.op + c.from + c.to) % 97);
  absl::Status status = RunKernel(machine, ir, {}, {in, actual});
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(actual, expected)) << NameOf(machine) << "\n" << ir;
  if (RunsOnOneDevice()) return;
  for (const char* target : {"cuda:80", "cuda:90"})
    EXPECT_TRUE((status = CompileKernel(target, ir)).ok()) << target << ": " << status << "\n" << ir;
}

std::vector<Case> Cases() {
  const std::vector<std::string> ints = {"i1", "i8", "i16", "i32", "i64"}, floats = {"f16", "bf16", "f32", "f64"},
                                 fp8 = {"f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"};
  std::vector<Case> cases;
  for (size_t i = 0; i < ints.size(); ++i) {
    for (size_t k = i + 1; k < ints.size(); ++k) {
      cases.push_back({"arith.extsi", ints[i], ints[k], ""});
      cases.push_back({"arith.extui", ints[i], ints[k], ""});
      cases.push_back({"arith.trunci", ints[k], ints[i], ""});
    }
    for (const std::string& type : floats) {
      cases.push_back({"arith.sitofp", ints[i], type, ""});
      cases.push_back({"arith.uitofp", ints[i], type, ""});
      if (ints[i] == "i1") continue;
      cases.push_back({"arith.fptosi", type, ints[i], ""});
      cases.push_back({"arith.fptoui", type, ints[i], ""});
    }
  }
  for (const char* narrow : {"f16", "bf16"})
    for (const char* wide : {"f32", "f64"}) {
      cases.push_back({"arith.extf", narrow, wide, ""});
      cases.push_back({"arith.truncf", wide, narrow, ""});
    }
  cases.push_back({"arith.extf", "f32", "f64", ""});
  cases.push_back({"arith.truncf", "f64", "f32", ""});
  // Towards zero, and between formats of one width.
  for (const char* narrow : {"f16", "bf16"})
    for (const char* wide : {"f32", "f64"}) cases.push_back({"tt.fp_to_fp", wide, narrow, ", rounding = rtz"});
  cases.push_back({"tt.fp_to_fp", "f64", "f32", ", rounding = rtz"});
  for (auto [from, to] : {std::pair("f16", "bf16"), std::pair("bf16", "f16")})
    for (const char* rounding : {"rtne", "rtz"})
      cases.push_back({"tt.fp_to_fp", from, to, absl::StrCat(", rounding = ", rounding)});
  for (const std::string& narrow : fp8)
    for (const char* wide : {"f16", "bf16", "f32", "f64"}) {
      cases.push_back({"tt.fp_to_fp", narrow, wide, ""});
      cases.push_back({"tt.fp_to_fp", wide, narrow, ", rounding = rtne"});
      cases.push_back({"tt.fp_to_fp", wide, narrow, ", rounding = rtz"});
    }
  for (const std::string& from : fp8)
    for (const std::string& to : fp8)
      for (const char* rounding : {"rtne", "rtz"})
        if (from != to) cases.push_back({"tt.fp_to_fp", from, to, absl::StrCat(", rounding = ", rounding)});
  for (auto [from, to] : {std::pair("i8", "f8E4M3FN"), std::pair("f16", "bf16"), std::pair("i16", "f16"),
                          std::pair("bf16", "i16"), std::pair("i32", "f32"), std::pair("f64", "i64")})
    cases.push_back({"tt.bitcast", from, to, ""});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, Convert, testing::ValuesIn(Cases()), NameCase);

// 2^29 has one bit, which f16 holds, and is infinite in f16 all the same.
TEST(ConvertLarge, NumbersOfFewBitsAreInfiniteInF16) {
  for (const Machine& machine : Machines({4}))
    for (const char* op : {"arith.sitofp", "arith.uitofp"}) {
      const std::string ir = Substitute(R"(module {
  tt.func public @kernel(%in: !tt.ptr<i32>, %out: !tt.ptr<f32>) {
    %one = arith.constant dense<1> : tensor<64xi32>
    %bits = arith.constant dense<29> : tensor<64xi32>
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %ins = tt.splat %in : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %from = tt.addptr %ins, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %x = tt.load %from : tensor<64x!tt.ptr<i32>>
    %bit = arith.andi %x, %one : tensor<64xi32>
    %large = arith.shli %bit, %bits : tensor<64xi32>
    %h = $OP %large : tensor<64xi32> to tensor<64xf16>
    %y = arith.extf %h : tensor<64xf16> to tensor<64xf32>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %to = tt.addptr %outs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %to, %y : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
)",
                                        {{"OP", op}});
      Array in("i32", 64), out("f32", 64), expected = out;
      for (int i = 0; i < 64; ++i) {
        in.SetInt(i, i * 5);
        expected.SetFloat(i, i % 2 ? std::numeric_limits<double>::infinity() : 0);
      }
      absl::Status status = RunKernel(machine, ir, {}, {in, out});
      ASSERT_TRUE(status.ok()) << status << "\n" << ir;
      EXPECT_TRUE(Agree(out, expected)) << NameOf(machine) << " " << op;
    }
}

}  // namespace
}  // namespace tritond::conformance
