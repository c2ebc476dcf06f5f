// SPDX-License-Identifier: Apache-2.0
// Loops that divide 64 bits by a number that they do not change.
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr int kCount = 256, kTurns = 2;

// In each turn, the quotient and the remainder of what is one more than in the turn before.
constexpr char kDivisions[] = R"(module {
  tt.func public @divide(%in: !tt.ptr<i64>, %by: !tt.ptr<i64>, %quotients: !tt.ptr<i64>, %rests: !tt.ptr<i64>, %turns: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant dense<1> : tensor<256xi64>
    %zero = arith.constant dense<0> : tensor<256xi64>
    %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %ins = tt.splat %in : !tt.ptr<i64> -> tensor<256x!tt.ptr<i64>>
    %from = tt.addptr %ins, %i : tensor<256x!tt.ptr<i64>>, tensor<256xi32>
    %x = tt.load %from : tensor<256x!tt.ptr<i64>>
    %d = tt.load %by : !tt.ptr<i64>
    %ds = tt.splat %d : i64 -> tensor<256xi64>
    %all:3 = scf.for %t = %c0 to %turns step %c1 iter_args(%y = %x, %q0 = %zero, %r0 = %zero)
        -> (tensor<256xi64>, tensor<256xi64>, tensor<256xi64>) : i32 {
      %q = arith.div$SIGNi %y, %ds : tensor<256xi64>
      %r = arith.rem$SIGNi %y, %ds : tensor<256xi64>
      %next = arith.addi %y, %one : tensor<256xi64>
      scf.yield %next, %q, %r : tensor<256xi64>, tensor<256xi64>, tensor<256xi64>
    }
    %qs = tt.splat %quotients : !tt.ptr<i64> -> tensor<256x!tt.ptr<i64>>
    %to_q = tt.addptr %qs, %i : tensor<256x!tt.ptr<i64>>, tensor<256xi32>
    tt.store %to_q, %all#1 : tensor<256x!tt.ptr<i64>>
    %rs = tt.splat %rests : !tt.ptr<i64> -> tensor<256x!tt.ptr<i64>>
    %to_r = tt.addptr %rs, %i : tensor<256x!tt.ptr<i64>>, tensor<256xi32>
    tt.store %to_r, %all#2 : tensor<256x!tt.ptr<i64>>
    tt.return
  }
}
)";

class InvariantDivision : public testing::TestWithParam<Machine> {};

// Numbers of all sizes, and those around the multiples of the divisor.
int64_t DividendAt(int i, uint64_t divisor) {
  const uint64_t near = divisor * static_cast<uint64_t>(i / 8) + static_cast<uint64_t>(i % 4) - 3;
  const uint64_t any = 0x9e3779b97f4a7c15u * static_cast<uint64_t>(i + 1) >> (i / 4 % 64);
  return static_cast<int64_t>(i % 8 < 4 ? near : any);
}

TEST_P(InvariantDivision, EqualsDivision) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const bool is_signed : {true, false})
    for (const int64_t divisor : {int64_t{1}, int64_t{2}, int64_t{-3}, int64_t{7}, int64_t{2147483629},
                                  int64_t{1} << 32, (int64_t{1} << 40) + 3, -(int64_t{5} << 50), kMost, -kMost - 1}) {
      Array in("i64", kCount), by("i64", 1), quotients("i64", kCount), rests = quotients, expected_q = quotients,
                                                                       expected_r = quotients;
      by.SetInt(0, divisor);
      for (int i = 0; i < kCount; ++i) {
        const int64_t x = DividendAt(i, divisor);
        in.SetInt(i, x);
        const uint64_t last = static_cast<uint64_t>(x) + kTurns - 1, by_unsigned = static_cast<uint64_t>(divisor);
        const auto last_signed = static_cast<int64_t>(last);
        expected_q.SetInt(i, is_signed ? last_signed / divisor : static_cast<int64_t>(last / by_unsigned));
        expected_r.SetInt(i, is_signed ? last_signed % divisor : static_cast<int64_t>(last % by_unsigned));
      }
      const std::string ir = Substitute(kDivisions, {{"SIGN", is_signed ? "s" : "u"}});
      absl::Status status = RunKernel(GetParam(), ir, {}, {in, by, quotients, rests, kTurns});
      ASSERT_TRUE(status.ok()) << status << "\n" << ir;
      EXPECT_TRUE(Agree(quotients, expected_q)) << divisor << (is_signed ? " signed" : " unsigned");
      EXPECT_TRUE(Agree(rests, expected_r)) << divisor << (is_signed ? " signed" : " unsigned");
    }
}

INSTANTIATE_TEST_SUITE_P(Machines, InvariantDivision, testing::ValuesIn(Machines({4})),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace
}  // namespace tritond::conformance
