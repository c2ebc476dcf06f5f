// SPDX-License-Identifier: Apache-2.0
// Rows of known length that three loops read: each row is centred and scaled.
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr size_t kRows = 3;

constexpr char kNorm[] = R"(module {
  tt.func public @norm(%x: !tt.ptr<f16>, %means: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %tile = arith.constant 256 : i32
    %columns = arith.constant $N : i32
    %n = arith.constant $N.0 : f32
    %one = arith.constant 1.0 : f32
    %zero = arith.constant dense<0.0> : tensor<256xf32>
    %none = arith.constant dense<0.0> : tensor<256xf16>
    %end = arith.constant dense<$N> : tensor<256xi32>
    %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %row = tt.get_program_id x : i32
    %begin = arith.muli %row, %columns : i32
    %xs = tt.addptr %x, %begin : !tt.ptr<f16>, i32
    %outs = tt.addptr %out, %begin : !tt.ptr<f32>, i32
    %from = tt.splat %xs : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
    %to = tt.splat %outs : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %sums = scf.for %i = %c0 to %columns step %tile iter_args(%s = %zero) -> (tensor<256xf32>) : i32 {
      %first = tt.splat %i : i32 -> tensor<256xi32>
      %c = arith.addi %first, %range : tensor<256xi32>
      %mask = arith.cmpi slt, %c, %end : tensor<256xi32>
      %p = tt.addptr %from, %c : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
      %v = tt.load %p, %mask, %none evictionPolicy = evict_last : tensor<256x!tt.ptr<f16>>
      %f = arith.extf %v : tensor<256xf16> to tensor<256xf32>
      %t = arith.addf %s, %f : tensor<256xf32>
      scf.yield %t : tensor<256xf32>
    }
    %sum = "tt.reduce"(%sums) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %g = arith.addf %a, %b : f32
      tt.reduce.return %g : f32
    }) : (tensor<256xf32>) -> f32
    %mean = arith.divf %sum, %n : f32
    %mean_at = tt.addptr %means, %row : !tt.ptr<f32>, i32
    tt.store %mean_at, %mean : !tt.ptr<f32>
    ttg.barrier all
    %centre = tt.splat %mean : f32 -> tensor<256xf32>
    %squares = scf.for %i = %c0 to %columns step %tile iter_args(%s = %zero) -> (tensor<256xf32>) : i32 {
      %first = tt.splat %i : i32 -> tensor<256xi32>
      %c = arith.addi %first, %range : tensor<256xi32>
      %mask = arith.cmpi slt, %c, %end : tensor<256xi32>
      %p = tt.addptr %from, %c : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
      %v = tt.load %p, %mask, %none evictionPolicy = evict_last : tensor<256x!tt.ptr<f16>>
      %f = arith.extf %v : tensor<256xf16> to tensor<256xf32>
      %d = arith.subf %f, %centre : tensor<256xf32>
      %e = arith.select %mask, %d, %zero : tensor<256xi1>, tensor<256xf32>
      %q = arith.mulf %e, %e : tensor<256xf32>
      %t = arith.addf %s, %q : tensor<256xf32>
      scf.yield %t : tensor<256xf32>
    }
    %square = "tt.reduce"(%squares) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %g = arith.addf %a, %b : f32
      tt.reduce.return %g : f32
    }) : (tensor<256xf32>) -> f32
    %variance = arith.divf %square, %n : f32
    %more = arith.addf %variance, %one : f32
    %deviation = math.sqrt %more : f32
    %scale = tt.splat %deviation : f32 -> tensor<256xf32>
    scf.for %i = %c0 to %columns step %tile : i32 {
      %first = tt.splat %i : i32 -> tensor<256xi32>
      %c = arith.addi %first, %range : tensor<256xi32>
      %mask = arith.cmpi slt, %c, %end : tensor<256xi32>
      %p = tt.addptr %from, %c : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
      %v = tt.load %p, %mask, %none evictionPolicy = evict_first : tensor<256x!tt.ptr<f16>>
      %f = arith.extf %v : tensor<256xf16> to tensor<256xf32>
      %d = arith.subf %f, %centre : tensor<256xf32>
      %r = arith.divf %d, %scale : tensor<256xf32>
      %o = tt.addptr %to, %c : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
      tt.store %o, %r, %mask : tensor<256x!tt.ptr<f32>>
    }
    tt.return
  }
}
)";

class KeptRows : public testing::TestWithParam<Machine> {};

TEST_P(KeptRows, AreCentredAndScaled) {
  for (const size_t columns : {257, 512, 1000, 1536, 4096}) {
    Array x("f16", kRows * columns), means("f32", kRows), out("f32", kRows * columns), m = means, o = out;
    for (size_t i = 0; i < kRows * columns; ++i) x.SetFloat(i, static_cast<float>(i * 7919 % 1009) / 64.0f - 5.0f);
    for (size_t row = 0; row < kRows; ++row) {
      double sum = 0, squares = 0;
      for (size_t i = 0; i < columns; ++i) sum += x.Float(row * columns + i);
      const double mean = sum / static_cast<double>(columns);
      for (size_t i = 0; i < columns; ++i) squares += std::pow(x.Float(row * columns + i) - mean, 2);
      const double deviation = std::sqrt(squares / static_cast<double>(columns) + 1);
      m.SetFloat(row, mean);
      for (size_t i = 0; i < columns; ++i)
        o.SetFloat(row * columns + i, (x.Float(row * columns + i) - mean) / deviation);
    }
    const std::string ir = Substitute(kNorm, {{"N", absl::StrCat(columns)}});
    absl::Status status = RunKernel(GetParam(), ir, {kRows, 1, 1}, {x, means, out});
    ASSERT_TRUE(status.ok()) << status << "\n" << ir;
    EXPECT_TRUE(Agree(means, m, 1e-5)) << columns;
    EXPECT_TRUE(Agree(out, o, 1e-4)) << columns;
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, KeptRows, testing::ValuesIn(Machines({1, 4})),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace
}  // namespace tritond::conformance
