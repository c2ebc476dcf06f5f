// SPDX-License-Identifier: Apache-2.0
// Sums of exponentials in one pass, whose maximum grows on the way.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kLargest = std::numeric_limits<float>::max();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr int kTile = 256, kRows = 4;

// One row: its maximum, the sum of exponentials, and that of exponentials times the columns' numbers.
constexpr char kRow[] = R"(module {
  tt.func public @row(%x: !tt.ptr<f32>, %maxima: !tt.ptr<f32>, %sums: !tt.ptr<f32>, %weighted: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %tile = arith.constant 256 : i32
    %zero = arith.constant 0.0 : f32
    %start = arith.constant $START : f32
    %none = arith.constant dense<0xFF800000> : tensor<256xf32>
    %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %end = tt.splat %n : i32 -> tensor<256xi32>
    %row = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %all:3 = scf.for %i = %c0 to %n step %tile iter_args(%m = %start, %s = %zero, %w = %zero) -> (f32, f32, f32) : i32 {
      %first = tt.splat %i : i32 -> tensor<256xi32>
      %columns = arith.addi %first, %range : tensor<256xi32>
      %mask = arith.cmpi slt, %columns, %end : tensor<256xi32>
      %from = tt.addptr %row, %columns : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
      %scores = tt.load %from, %mask, %none : tensor<256x!tt.ptr<f32>>
      %r = "tt.reduce"(%scores) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %g = arith.maxnumf %a, %b : f32
        tt.reduce.return %g : f32
      }) : (tensor<256xf32>) -> f32
      %next = arith.maxnumf %m, %r : f32
      %grown = arith.subf %m, %next : f32
      %scale = math.exp %grown : f32
      %nexts = tt.splat %next : f32 -> tensor<256xf32>
      %less = arith.subf %scores, %nexts : tensor<256xf32>
      %e = math.exp %less : tensor<256xf32>
      %t = "tt.reduce"(%e) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %g = arith.addf %a, %b : f32
        tt.reduce.return %g : f32
      }) : (tensor<256xf32>) -> f32
      %s0 = arith.mulf %s, %scale : f32
      %s1 = arith.addf %s0, %t : f32
      %weights = arith.sitofp %columns : tensor<256xi32> to tensor<256xf32>
      %we = arith.mulf %e, %weights : tensor<256xf32>
      %u = "tt.reduce"(%we) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %g = arith.addf %a, %b : f32
        tt.reduce.return %g : f32
      }) : (tensor<256xf32>) -> f32
      %w0 = arith.mulf %w, %scale : f32
      %w1 = arith.addf %w0, %u : f32
      scf.yield %next, %s1, %w1 : f32, f32, f32
    }
    tt.store %maxima, %all#0 : !tt.ptr<f32>
    tt.store %sums, %all#1 : !tt.ptr<f32>
    tt.store %weighted, %all#2 : !tt.ptr<f32>
    tt.return
  }
}
)";

// Four rows at once, in tiles of 64 columns and without masks: maxima and sums of exponentials, as powers of two.
constexpr char kRows4[] = R"(module {
  tt.func public @rows(%x: !tt.ptr<f32>, %maxima: !tt.ptr<f32>, %sums: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %tile = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %start = arith.constant dense<$START> : tensor<4xf32>
    %rate = arith.constant dense<1.44269502> : tensor<4x64xf32>
    %row_rate = arith.constant dense<1.44269502> : tensor<4xf32>
    %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %four = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
    %ns = tt.splat %n : i32 -> tensor<4xi32>
    %begins = arith.muli %four, %ns : tensor<4xi32>
    %begins1 = tt.expand_dims %begins {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %begins2 = tt.broadcast %begins1 : tensor<4x1xi32> -> tensor<4x64xi32>
    %base = tt.splat %x : !tt.ptr<f32> -> tensor<4x64x!tt.ptr<f32>>
    %all:2 = scf.for %i = %c0 to %n step %tile iter_args(%m = %start, %s = %zero) -> (tensor<4xf32>, tensor<4xf32>) : i32 {
      %first = tt.splat %i : i32 -> tensor<64xi32>
      %columns = arith.addi %first, %range : tensor<64xi32>
      %columns1 = tt.expand_dims %columns {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %columns2 = tt.broadcast %columns1 : tensor<1x64xi32> -> tensor<4x64xi32>
      %places = arith.addi %begins2, %columns2 : tensor<4x64xi32>
      %from = tt.addptr %base, %places : tensor<4x64x!tt.ptr<f32>>, tensor<4x64xi32>
      %scores = tt.load %from : tensor<4x64x!tt.ptr<f32>>
      %r = "tt.reduce"(%scores) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %g = arith.maxnumf %a, %b : f32
        tt.reduce.return %g : f32
      }) : (tensor<4x64xf32>) -> tensor<4xf32>
      %next = arith.maxnumf %m, %r : tensor<4xf32>
      %grown = arith.subf %m, %next : tensor<4xf32>
      %grown2 = arith.mulf %grown, %row_rate : tensor<4xf32>
      %scale = math.exp2 %grown2 : tensor<4xf32>
      %next1 = tt.expand_dims %next {axis = 1 : i32} : tensor<4xf32> -> tensor<4x1xf32>
      %nexts = tt.broadcast %next1 : tensor<4x1xf32> -> tensor<4x64xf32>
      %less = arith.subf %scores, %nexts : tensor<4x64xf32>
      %less2 = arith.mulf %less, %rate : tensor<4x64xf32>
      %e = math.exp2 %less2 : tensor<4x64xf32>
      %t = "tt.reduce"(%e) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %g = arith.addf %a, %b : f32
        tt.reduce.return %g : f32
      }) : (tensor<4x64xf32>) -> tensor<4xf32>
      %s0 = arith.mulf %s, %scale : tensor<4xf32>
      %s1 = arith.addf %s0, %t : tensor<4xf32>
      scf.yield %next, %s1 : tensor<4xf32>, tensor<4xf32>
    }
    %ms = tt.splat %maxima : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
    %to_m = tt.addptr %ms, %four : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    tt.store %to_m, %all#0 : tensor<4x!tt.ptr<f32>>
    %ss = tt.splat %sums : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
    %to_s = tt.addptr %ss, %four : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    tt.store %to_s, %all#1 : tensor<4x!tt.ptr<f32>>
    tt.return
  }
}
)";

struct Totals {
  double maximum, sum = 0, weighted = 0;
};

// What the program says, tile by tile.
Totals Expected(const std::vector<float>& row, float start, size_t tile) {
  Totals totals{start};
  for (size_t first = 0; first < row.size(); first += tile) {
    const size_t end = std::min(row.size(), first + tile);
    double next = totals.maximum;
    for (size_t i = first; i < end; ++i) next = std::fmax(next, row[i]);
    const double scale = std::exp(totals.maximum - next);
    totals.sum *= scale;
    totals.weighted *= scale;
    for (size_t i = first; i < first + tile; ++i) {
      const double e = std::exp((i < end ? row[i] : -kInfinity) - next);
      totals.sum += e;
      totals.weighted += e * static_cast<double>(i);
    }
    totals.maximum = next;
  }
  return totals;
}

float Score(size_t i) { return static_cast<float>(i * 7919 % 1009) / 50.0f - 8.0f; }

// Rows of ordinary scores, and of such as have no place in a difference.
std::vector<std::vector<float>> Rows(size_t n) {
  std::vector<float> plain(n), late(n, -kInfinity), gaps(n), none(n, -kInfinity), least(n, -kLargest), growing(n);
  for (size_t i = 0; i < n; ++i) {
    plain[i] = Score(i);
    if (i >= kTile) late[i] = Score(i);  // a first tile without any
    gaps[i] = i % 37 == 5 ? Score(i) : -kInfinity;
    growing[i] = static_cast<float>(i);
  }
  std::vector<std::vector<float>> rows{plain, late, gaps, none, least, growing};
  if (n > 3) {
    for (float odd : {kInfinity, kNaN, kLargest, -kLargest}) {
      rows.push_back(plain);
      rows.back()[n - 2] = odd;
    }
    rows.push_back(none);  // one finite score in the first tile, then nothing
    rows.back()[3] = -kLargest;
  }
  return rows;
}

class OnlineMaxima : public testing::TestWithParam<Machine> {};

TEST_P(OnlineMaxima, OfOneRow) {
  for (const auto& [text, start] : {std::pair("0xFF800000", -kInfinity), {"-3.0e+38", -3.0e38f}, {"2.0", 2.0f}})
    for (const size_t n : {size_t{0}, size_t{5}, size_t{kTile}, size_t{3 * kTile + 17}})
      for (const std::vector<float>& row : Rows(n)) {
        Array x("f32", std::max<size_t>(n, 1)), maxima("f32", 1), sums = maxima, weighted = maxima, m = maxima,
                                                                  s = maxima, w = maxima;
        for (size_t i = 0; i < n; ++i) x.SetFloat(i, row[i]);
        const Totals totals = Expected(row, start, kTile);
        m.SetFloat(0, totals.maximum);
        s.SetFloat(0, totals.sum);
        w.SetFloat(0, totals.weighted);
        const std::string ir = Substitute(kRow, {{"START", text}});
        absl::Status status = RunKernel(GetParam(), ir, {}, {x, maxima, sums, weighted, static_cast<int>(n)});
        ASSERT_TRUE(status.ok()) << status << "\n" << ir;
        EXPECT_TRUE(Agree(maxima, m)) << text << " " << n;
        EXPECT_TRUE(Agree(sums, s, 1e-5)) << text << " " << n;
        EXPECT_TRUE(Agree(weighted, w, 1e-5)) << text << " " << n;
      }
}

TEST_P(OnlineMaxima, OfRowsAtOnce) {
  constexpr size_t kColumns = 320;
  const std::vector<std::vector<float>> rows = Rows(kColumns);
  for (const auto& [text, start] : {std::pair("0xFF800000", -kInfinity), {"-1.0e+30", -1.0e30f}})
    for (size_t first = 0; first + kRows <= rows.size(); ++first) {
      Array x("f32", kRows * kColumns), maxima("f32", kRows), sums = maxima, m = maxima, s = maxima;
      for (size_t row = 0; row < kRows; ++row) {
        for (size_t i = 0; i < kColumns; ++i) x.SetFloat(row * kColumns + i, rows[first + row][i]);
        const Totals totals = Expected(rows[first + row], start, 64);
        m.SetFloat(row, totals.maximum);
        s.SetFloat(row, totals.sum);
      }
      const std::string ir = Substitute(kRows4, {{"START", text}});
      absl::Status status = RunKernel(GetParam(), ir, {}, {x, maxima, sums, static_cast<int>(kColumns)});
      ASSERT_TRUE(status.ok()) << status << "\n" << ir;
      EXPECT_TRUE(Agree(maxima, m)) << text << " " << first;
      EXPECT_TRUE(Agree(sums, s, 1e-5)) << text << " " << first;
    }
}

INSTANTIATE_TEST_SUITE_P(Machines, OnlineMaxima, testing::ValuesIn(Machines({1, 4})),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace
}  // namespace tritond::conformance
