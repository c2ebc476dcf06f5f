// SPDX-License-Identifier: Apache-2.0
// Kernels without dots whose blocks come and go by tensor maps of the launcher. The results are those of kernels that
// take the descriptors' parts.
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr int kRows = 128, kColumns = 64, kBefore = 24;

// Of blocks of 128 rows from 128 t - 24 on, and of 64 columns: twice the one from %col on, and the next one from a
// column later. Their sum is stored as it is and transposed.
constexpr char kSums[] = R"(
module {
  tt.func public @kernel(%x: !tt.tensordesc<tensor<128x64x$TY>>, %xm: i32, %xn: i32, %xs: i64, %x1: i64, %y: !tt.tensordesc<tensor<128x64x$TY>>, %ym: i32, %yn: i32, %ys: i64, %y1: i64, %z: !tt.tensordesc<tensor<128x64x$TY>>, %zm: i32, %zn: i32, %zs: i64, %z1: i64, %w: !tt.tensordesc<tensor<64x128x$TY>>, %wm: i32, %wn: i32, %ws: i64, %w1: i64, %col: i32) {
    %size = arith.constant 128 : i32
    %before = arith.constant 24 : i32
    %one = arith.constant 1 : i32
    %t = tt.get_program_id x : i32
    %down = arith.muli %t, %size : i32
    %row = arith.subi %down, %before : i32
    %a = tt.descriptor_load %x[%row, %col] : !tt.tensordesc<tensor<128x64x$TY>> -> tensor<128x64x$TY>
    %twice = arith.$ADD %a, %a : tensor<128x64x$TY>
    %next = arith.addi %col, %one : i32
    %b = tt.descriptor_load %y[%row, %next] : !tt.tensordesc<tensor<128x64x$TY>> -> tensor<128x64x$TY>
    %s = arith.$ADD %twice, %b : tensor<128x64x$TY>
    tt.descriptor_store %z[%row, %col], %s : !tt.tensordesc<tensor<128x64x$TY>>, tensor<128x64x$TY>
    %u = tt.trans %s {order = array<i32: 1, 0>} : tensor<128x64x$TY> -> tensor<64x128x$TY>
    tt.descriptor_store %w[%col, %row], %u : !tt.tensordesc<tensor<64x128x$TY>>, tensor<64x128x$TY>
    tt.return
  }
}
)";

struct Sums {
  std::string type = "f16";
  int rows = 200, columns = 64;  // of the tensors
  int first_column = 0;          // of the blocks
  bool has_nans = false;         // outside of the first tensor, which has one column less than the others
};

std::string NameOf(const Sums& s) {
  return absl::StrCat(s.type, "_", s.rows, "x", s.columns, s.first_column < 0 ? "_from_minus_" : "_from_",
                      std::abs(s.first_column), s.has_nans ? "_nans" : "");
}
void PrintTo(const Sums& s, std::ostream* os) { *os << NameOf(s); }

std::string TextOf(const std::string& type) {
  return Substitute(kSums, {{"TY", type}, {"ADD", type[0] == 'i' ? "addi" : "addf"}});
}

bool HasMaps(const Machine& machine) { return absl::EndsWith(machine.device, "cuda:90"); }

Array Filled(const std::string& type, int size, int seed) {
  Array array(type, size);
  for (int i = 0; i < size; ++i) {
    const int value = static_cast<int>((i + seed) * 2654435761u >> 20 & 7) - 3;
    type[0] == 'i' ? array.SetInt(i, value) : array.SetFloat(i, value);
  }
  return array;
}

class SumsOfBlocks : public testing::TestWithParam<std::tuple<Machine, Sums>> {};

TEST_P(SumsOfBlocks, AreThoseOfTheTensors) {
  const auto& [machine, s] = GetParam();
  constexpr int kPitch = 144, kTurnedPitch = 272;
  const bool is_int = s.type[0] == 'i';
  Array x = Filled(s.type, (s.rows + 1) * kPitch, 1), y = Filled(s.type, (s.rows + 1) * kPitch, 5);
  const Array untouched(s.type, (s.rows + 1) * kPitch), turned(s.type, (s.columns + 1) * kTurnedPitch);
  Array sums = untouched, turned_sums = turned;
  const std::vector<double> xs = x.Numbers(), ys = y.Numbers();
  const int x_columns = s.has_nans ? s.columns - 1 : s.columns;
  for (int i = 0; i < std::min(s.rows, 2 * kRows - kBefore); ++i) {
    for (int j = std::max(0, s.first_column); j < std::min(s.columns, s.first_column + kColumns); ++j) {
      const double later = j + 1 < s.columns ? ys[i * kPitch + j + 1] : 0;
      const double sum = j < x_columns ? 2 * xs[i * kPitch + j] + later : std::nan("");
      for (auto [array, at] : {std::pair(&sums, i * kPitch + j), std::pair(&turned_sums, j * kTurnedPitch + i)})
        is_int ? array->SetInt(at, static_cast<int64_t>(sum)) : array->SetFloat(at, sum);
    }
  }
  for (auto run : {RunKernel, RunWithHostMaps}) {
    Array z = untouched, w = turned;
    absl::Status status =
        run(machine, TextOf(s.type), {2, 1, 1},
            {Parameter(x, {{s.rows, x_columns}, {kPitch, 1}, s.has_nans}),
             Parameter(y, {{s.rows, s.columns}, {kPitch, 1}}), Parameter(z, {{s.rows, s.columns}, {kPitch, 1}}),
             Parameter(w, {{s.columns, s.rows}, {kTurnedPitch, 1}}), int32_t{s.first_column}},
            "");
    ASSERT_TRUE(status.ok()) << status << "\n" << TextOf(s.type);
    EXPECT_TRUE(Agree(z, sums));
    EXPECT_TRUE(Agree(w, turned_sums));
  }
}

const Sums kAllSums[] = {
    {},
    {"f16", 100, 50},        // a second block outside, and the end of a row inside
    {"bf16", 200, 130, 64},  // in the middle of rows
    {"f16", 200, 100, 47},   // between groups of 16 bytes
    {"f16", 200, 60, -9},
    {"f32", 200, 57},
    {"i32", 150, 64},
    {"i8", 200, 61},
    {"i64", 100, 60},  // no map
    {"f16", 200, 50, 0, true},
    {"bf16", 100, 64, 16, true},
};

INSTANTIATE_TEST_SUITE_P(On, SumsOfBlocks,
                         testing::Combine(testing::ValuesIn(Machines({2, 4, 8})), testing::ValuesIn(kAllSums)),
                         [](const auto& info) {
                           return NameOf(std::get<0>(info.param)) + "_" + NameOf(std::get<1>(info.param));
                         });

// Heads of rows become rows of heads.
constexpr char kHeads[] = R"(
module {
  tt.func public @kernel(%x: !tt.tensordesc<tensor<1x16x8x64xf16>>, %xb: i32, %xt: i32, %xh: i32, %xd: i32, %xs0: i64, %xs1: i64, %xs2: i64, %x1: i64, %y: !tt.tensordesc<tensor<1x8x16x64xf16>>, %yb: i32, %yh: i32, %yt: i32, %yd: i32, %ys0: i64, %ys1: i64, %ys2: i64, %y1: i64) {
    %c0 = arith.constant 0 : i32
    %c16 = arith.constant 16 : i32
    %b = tt.get_program_id x : i32
    %i = tt.get_program_id y : i32
    %t = arith.muli %i, %c16 : i32
    %v = tt.descriptor_load %x[%b, %t, %c0, %c0] : !tt.tensordesc<tensor<1x16x8x64xf16>> -> tensor<1x16x8x64xf16>
    %u = tt.trans %v {order = array<i32: 0, 2, 1, 3>} : tensor<1x16x8x64xf16> -> tensor<1x8x16x64xf16>
    tt.descriptor_store %y[%b, %c0, %t, %c0], %u : !tt.tensordesc<tensor<1x8x16x64xf16>>, tensor<1x8x16x64xf16>
    tt.return
  }
}
)";

class HeadsOfBlocks : public testing::TestWithParam<Machine> {};

TEST_P(HeadsOfBlocks, ChangePlacesWithRows) {
  constexpr int kBatches = 2, kTimes = 40, kHeadsOfRow = 7, kWidth = 56;
  constexpr int kSize = kBatches * kTimes * kHeadsOfRow * kWidth;
  Array x = Filled("f16", kSize, 3), expected("f16", kSize);
  const std::vector<double> xs = x.Numbers();
  for (int i = 0; i < kSize; ++i) {
    const int d = i % kWidth, h = i / kWidth % kHeadsOfRow, t = i / kWidth / kHeadsOfRow % kTimes;
    const int b = i / kWidth / kHeadsOfRow / kTimes;
    expected.SetFloat(((b * kHeadsOfRow + h) * kTimes + t) * kWidth + d, xs[i]);
  }
  for (auto run : {RunKernel, RunWithHostMaps}) {
    Array y("f16", kSize);
    absl::Status status = run(GetParam(), kHeads, {kBatches, 3, 1},
                              {Parameter(x, {{kBatches, kTimes, kHeadsOfRow, kWidth},
                                             {kTimes * kHeadsOfRow * kWidth, kHeadsOfRow * kWidth, kWidth, 1}}),
                               Parameter(y, {{kBatches, kHeadsOfRow, kTimes, kWidth},
                                             {kTimes * kHeadsOfRow * kWidth, kTimes * kWidth, kWidth, 1}})},
                              "");
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(Agree(y, expected));
  }
}

INSTANTIATE_TEST_SUITE_P(On, HeadsOfBlocks, testing::ValuesIn(Machines({2, 4, 8})),
                         [](const auto& info) { return NameOf(info.param); });

TEST(MapsOfSums, AreOfAllBlocks) {
  for (const Machine& machine : Machines({4})) {
    if (!HasMaps(machine)) continue;
    absl::StatusOr<std::string> maps = HostMapsOf(machine, TextOf("f16"));
    ASSERT_TRUE(maps.ok()) << maps.status();
    EXPECT_FALSE(absl::StrContains(*maps, "null")) << *maps;
    maps = HostMapsOf(machine, kHeads);
    ASSERT_TRUE(maps.ok()) << maps.status();
    EXPECT_FALSE(absl::StrContains(*maps, "null")) << *maps;
  }
}

}  // namespace
}  // namespace tritond::conformance
