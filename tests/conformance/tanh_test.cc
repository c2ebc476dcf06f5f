// SPDX-License-Identifier: Apache-2.0
// Scaled tanh of many elements in a thread, which may ask for all at once how large they are: as of one element.
#include <cmath>

#include "gtest/gtest.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr int kMany = 4096, kFew = 32, kBlocks = 4;

std::string Kernel(const std::string& type, int block) {
  return Substitute(R"(module {
  tt.func public @kernel(%in: !tt.ptr<$T>, %out: !tt.ptr<$T>) {
    %pid = tt.get_program_id x : i32
    %block = arith.constant $B : i32
    %start = arith.muli %pid, %block : i32
    %range = tt.make_range {start = 0 : i32, end = $B : i32} : tensor<$Bxi32>
    %starts = tt.splat %start : i32 -> tensor<$Bxi32>
    %i = arith.addi %starts, %range : tensor<$Bxi32>
    %ins = tt.splat %in : !tt.ptr<$T> -> tensor<$Bx!tt.ptr<$T>>
    %from = tt.addptr %ins, %i : tensor<$Bx!tt.ptr<$T>>, tensor<$Bxi32>
    %x = tt.load %from : tensor<$Bx!tt.ptr<$T>>
    %t = math.tanh %x : tensor<$Bx$T>
    %two = arith.constant dense<2.0> : tensor<$Bx$T>
    %y = arith.mulf %t, %two : tensor<$Bx$T>
    %outs = tt.splat %out : !tt.ptr<$T> -> tensor<$Bx!tt.ptr<$T>>
    %to = tt.addptr %outs, %i : tensor<$Bx!tt.ptr<$T>>, tensor<$Bxi32>
    tt.store %to, %y : tensor<$Bx!tt.ptr<$T>>
    tt.return
  }
}
)",
                    {{"T", type}, {"B", std::to_string(block)}});
}

// A block of small numbers, one with a large number here and there, one of all sizes, and one of special numbers among
// small ones.
Array Arguments(const std::string& type) {
  std::vector<double> x;
  for (int i = 0; i < kMany; ++i) x.push_back(0.59 * std::sin(i));
  for (int i = 0; i < kMany; ++i) x.push_back(i % 777 == 5 ? 0.61 + i % 7 : 0.3 * std::cos(i));
  for (int i = 0; i < kMany; ++i) x.push_back((i - kMany / 2) * 0x1p-8);
  const double special[] = {NAN, HUGE_VAL, -HUGE_VAL, -0.0, 1e-40, -1e-40, 0.6, -0.6, 9.02, 0};
  for (int i = 0; i < kMany; ++i) x.push_back(i % 97 == 0 ? special[i / 97 % std::size(special)] : 0.01 * std::sin(i));
  return Array::OfFloats(type, x);
}

class Tanh : public testing::TestWithParam<std::string> {};

TEST_P(Tanh, OfManyElementsIsAsOfOne) {
  for (const Machine& machine : Machines({1, 4})) {
    Array x = Arguments(GetParam());
    Array many(GetParam(), kBlocks * kMany), few(GetParam(), kBlocks * kMany), right(GetParam(), kBlocks * kMany);
    absl::Status status = RunKernel(machine, Kernel(GetParam(), kMany), {kBlocks}, {x, many});
    ASSERT_TRUE(status.ok()) << status;
    status = RunKernel(machine, Kernel(GetParam(), kFew), {kBlocks * kMany / kFew}, {x, few});
    ASSERT_TRUE(status.ok()) << status;
    for (size_t i = 0; i < right.size(); ++i) right.SetFloat(i, 2 * std::tanh(x.Float(i)));
    EXPECT_TRUE(Agree(many, right, GetParam() == "f32" ? 4e-6 : 2e-2)) << NameOf(machine);
    EXPECT_TRUE(many.bytes == few.bytes) << NameOf(machine);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Tanh, testing::Values("f32", "f16", "bf16"));

}  // namespace
}  // namespace tritond::conformance
