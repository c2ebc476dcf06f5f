// SPDX-License-Identifier: Apache-2.0
// Blocks that kernels combine with a descriptor's tensor. Where a device has bulk copies and the launcher makes the
// map, a copy does it. All programs do it to the same rows, and some of their blocks lie beyond the tensor in part.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr int kPrograms = 5, kRowStep = 5, kRowsBefore = 7, kColumn = -3;

// Program p has the rows from 5 p - 7 on. In a loop the same block is combined $TIMES times.
constexpr char kText[] = R"(
module {
  tt.func public @kernel(%c: !tt.tensordesc<tensor<$Mx$Nx$TY>>, %rows: i32, %columns: i32, %pitch: i64, %one: i64, %x: !tt.ptr<$TY> {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %times = arith.constant $TIMES : i32
    %five = arith.constant 5 : i32
    %before = arith.constant 7 : i32
    %column = arith.constant -3 : i32
    %size = arith.constant $SIZE : i32
    %width = arith.constant dense<$N> : tensor<$Mx1xi32>
    %p = tt.get_program_id x : i32
    %down = arith.muli %p, %five : i32
    %row = arith.subi %down, %before : i32
    %i = tt.make_range {start = 0 : i32, end = $M : i32} : tensor<$Mxi32>
    %j = tt.make_range {start = 0 : i32, end = $N : i32} : tensor<$Nxi32>
    %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<$Mxi32> -> tensor<$Mx1xi32>
    %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<$Nxi32> -> tensor<1x$Nxi32>
    %iw = arith.muli %i1, %width : tensor<$Mx1xi32>
    %i2 = tt.broadcast %iw : tensor<$Mx1xi32> -> tensor<$Mx$Nxi32>
    %j2 = tt.broadcast %j0 : tensor<1x$Nxi32> -> tensor<$Mx$Nxi32>
    %at = arith.addi %i2, %j2 : tensor<$Mx$Nxi32>
    %begin = arith.muli %p, %size : i32
    %base = tt.addptr %x, %begin : !tt.ptr<$TY>, i32
    %bases = tt.splat %base : !tt.ptr<$TY> -> tensor<$Mx$Nx!tt.ptr<$TY>>
    %from = tt.addptr %bases, %at : tensor<$Mx$Nx!tt.ptr<$TY>>, tensor<$Mx$Nxi32>
    %v = tt.load %from : tensor<$Mx$Nx!tt.ptr<$TY>>
    scf.for %t = %c0 to %times step %c1 : i32 {
      tt.descriptor_reduce $KIND, %c[%row, %column], %v : !tt.tensordesc<tensor<$Mx$Nx$TY>>, tensor<$Mx$Nx$TY>
    }
    tt.return
  }
}
)";

struct Reduction {
  std::string kind, type;
  int rows = 20, columns = 64;  // of the tensor
  int block_rows = 16, block_columns = 64, times = 1;
  bool has_copies = true;  // where a device can make them
};

std::string NameOf(const Reduction& r) {
  return absl::StrCat(r.kind, "_", r.type, "_", r.rows, "x", r.columns, "_by_", r.block_rows, "x", r.block_columns, "_",
                      r.times, "times");
}
void PrintTo(const Reduction& r, std::ostream* os) { *os << NameOf(r); }

std::string TextOf(const Reduction& r) {
  return Substitute(kText, {{"M", absl::StrCat(r.block_rows)},
                            {"N", absl::StrCat(r.block_columns)},
                            {"SIZE", absl::StrCat(r.block_rows * r.block_columns)},
                            {"TIMES", absl::StrCat(r.times)},
                            {"TY", r.type},
                            {"KIND", r.kind}});
}

// Of numbers that all types hold.
int64_t Combined(const std::string& kind, int64_t a, int64_t b) {
  if (kind == "add") return a + b;
  if (kind == "min") return std::min(a, b);
  if (kind == "max") return std::max(a, b);
  if (kind == "and") return a & b;
  return kind == "or" ? a | b : a ^ b;
}

Array OfIntegers(const Reduction& r, const std::vector<int64_t>& values) {
  if (r.type[0] == 'i') return Array::OfInts(r.type, values);
  return Array::OfFloats(r.type, std::vector<double>(values.begin(), values.end()));
}

std::vector<int64_t> Numbers(size_t size, int seed) {
  std::vector<int64_t> numbers(size);
  for (size_t i = 0; i < size; ++i) numbers[i] = static_cast<int>((i + seed) * 2654435761u >> 20 & 63) - 32;
  return numbers;
}

class BulkReductions : public testing::TestWithParam<std::tuple<Machine, Reduction>> {};

TEST_P(BulkReductions, CombineWithTheTensor) {
  const auto& [machine, r] = GetParam();
  const int pitch = (r.columns + 15) / 16 * 16 + 16;
  const std::vector<int64_t> before = Numbers(r.rows * pitch, 3),
                             values = Numbers(kPrograms * r.block_rows * r.block_columns, 11);
  std::vector<int64_t> after = before;
  for (int p = 0; p < kPrograms; ++p)
    for (int i = 0; i < r.block_rows; ++i)
      for (int j = 0; j < r.block_columns; ++j) {
        const int row = kRowStep * p - kRowsBefore + i, column = kColumn + j;
        if (row < 0 || row >= r.rows || column < 0 || column >= r.columns) continue;
        int64_t& at = after[row * pitch + column];
        for (int t = 0; t < r.times; ++t)
          at = Combined(r.kind, at, values[(p * r.block_rows + i) * r.block_columns + j]);
      }
  Array x = OfIntegers(r, values);
  for (auto run : {RunKernel, RunWithHostMaps}) {
    Array c = OfIntegers(r, before);
    absl::Status status = run(machine, TextOf(r), workers::Grid{kPrograms, 1, 1},
                              {Parameter(c, {{r.rows, r.columns}, {pitch, 1}}), x}, "");
    ASSERT_TRUE(status.ok()) << status << "\n" << TextOf(r);
    EXPECT_TRUE(Agree(c, OfIntegers(r, after)));
  }
  if (!absl::EndsWith(machine.device, "cuda:90")) return;
  absl::StatusOr<std::string> maps = HostMapsOf(machine, TextOf(r));
  ASSERT_TRUE(maps.ok()) << maps.status();
  EXPECT_EQ(absl::StrContains(*maps, "elem_type"), r.has_copies) << *maps;
}

const Reduction kAll[] = {
    {"add", "f32"},
    {"add", "f32", 33, 250, 32, 256},  // rows of eight boxes
    {"add", "f32", 20, 64, 16, 64, 3},
    {"add", "f16"},
    {"add", "bf16", 20, 30, 16, 32},
    {"add", "i32"},
    {"min", "i32"},
    {"max", "i32", 20, 64, 16, 64, 2},
    {"and", "i32"},
    {"or", "i32"},
    {"xor", "i32", 20, 64, 16, 64, 3},
    {"min", "f32", 20, 64, 16, 64, 1, false},  // as integers, by their sign
    {"add", "i64", 20, 64, 16, 64, 1, false},
};

INSTANTIATE_TEST_SUITE_P(On, BulkReductions,
                         testing::Combine(testing::ValuesIn(Machines({4, 8})), testing::ValuesIn(kAll)),
                         [](const auto& info) {
                           return NameOf(std::get<0>(info.param)) + "_" + NameOf(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace tritond::conformance
