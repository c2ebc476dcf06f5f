// SPDX-License-Identifier: Apache-2.0
// Products of products: each result is both operands of the next one.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr int kSize = 64, kTurns = 3;

// x, then x + e e / 16 again and again: once before the loop, where x is also loaded, and in each turn.
constexpr char kSquares[] = R"(module {
  tt.func public @squares(%in: !tt.ptr<$T> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32},
                          %turns: i32) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %share = arith.constant dense<6.250000e-02> : tensor<64x64xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %width = arith.constant dense<64> : tensor<64x1xi32>
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %starts = arith.muli %rows, %width : tensor<64x1xi32>
    %all_starts = tt.broadcast %starts : tensor<64x1xi32> -> tensor<64x64xi32>
    %all_columns = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
    %offsets = arith.addi %all_starts, %all_columns : tensor<64x64xi32>
    %from_all = tt.splat %in : !tt.ptr<$T> -> tensor<64x64x!tt.ptr<$T>>
    %from = tt.addptr %from_all, %offsets : tensor<64x64x!tt.ptr<$T>>, tensor<64x64xi32>
    %x = tt.load %from : tensor<64x64x!tt.ptr<$T>>
    %wide = $WIDE
    %square = tt.dot %x, %x, %zero$PRECISION : tensor<64x64x$T> * tensor<64x64x$T> -> tensor<64x64xf32>
    %part = arith.mulf %square, %share : tensor<64x64xf32>
    %e0 = arith.addf %wide, %part : tensor<64x64xf32>
    %e = scf.for %i = %c0 to %turns step %c1 iter_args(%before = %e0) -> (tensor<64x64xf32>) : i32 {
      %y = $NARROW
      %s = tt.dot %y, %y, %zero$PRECISION : tensor<64x64x$T> * tensor<64x64x$T> -> tensor<64x64xf32>
      %p = arith.mulf %s, %share : tensor<64x64xf32>
      %next = arith.addf %wide, %p : tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    %to_all = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %to = tt.addptr %to_all, %offsets : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %to, %e : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
)";

struct Case {
  std::string type, precision;
  Machine machine;
};

class ChainedDots : public testing::TestWithParam<Case> {};

TEST_P(ChainedDots, AreOperandsOfEachOther) {
  const Case& c = GetParam();
  const bool is_f32 = c.type == "f32";
  Array in(c.type, kSize * kSize), actual("f32", kSize * kSize), expected = actual;
  std::vector<double> x(kSize * kSize), e;
  for (int i = 0; i < kSize * kSize; ++i)
    in.SetFloat(i, x[i] = ((i / kSize * 7 + i % kSize * 3) % 5 - 2 + i % 2) / 16.0);
  e = x;
  for (int turn = 0; turn <= kTurns; ++turn) {
    std::vector<double> next = x;
    for (int i = 0; i < kSize; ++i)
      for (int j = 0; j < kSize; ++j)
        for (int k = 0; k < kSize; ++k) next[i * kSize + j] += e[i * kSize + k] * e[k * kSize + j] / 16;
    e = next;
  }
  for (int i = 0; i < kSize * kSize; ++i) expected.SetFloat(i, e[i]);
  const std::string ir = Substitute(
      kSquares,
      {{"WIDE", is_f32 ? "arith.addf %x, %zero : tensor<64x64xf32>"
                       : absl::StrCat("arith.extf %x : tensor<64x64x", c.type, "> to tensor<64x64xf32>")},
       {"NARROW", is_f32 ? "arith.addf %before, %zero : tensor<64x64xf32>"
                         : absl::StrCat("arith.truncf %before : tensor<64x64xf32> to tensor<64x64x", c.type, ">")},
       {"PRECISION", is_f32 ? absl::StrCat(", inputPrecision = ", c.precision) : ""},
       {"T", c.type}});
  absl::Status status = RunKernel(c.machine, ir, {}, {in, actual, kTurns});
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(actual, expected, c.precision == "tf32x3" ? 1e-5 : 1e-2)) << ir;
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Machine& machine : Machines({4, 8}))
    for (auto [type, precision] : {std::pair("f32", "tf32"), std::pair("f32", "tf32x3"), std::pair("f16", "f16")})
      cases.push_back({type, precision, machine});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, ChainedDots, testing::ValuesIn(Cases()), [](const auto& info) {
  return absl::StrCat(info.param.precision, "_", NameOf(info.param.machine));
});

}  // namespace
}  // namespace tritond::conformance
