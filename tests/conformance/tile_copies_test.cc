// SPDX-License-Identifier: Apache-2.0
// Persistent products whose tiles are in an order that takes divisions, as launches with few programs compute them. A
// device with bulk copies may copy for a tile while the one before is stored. What copies compute for it must be right,
// and must not be computed past the last tile: a group of tiles has no rows there, and the kernel divides by them.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr int kRows = 64, kColumns = 64, kGroup = 2;

constexpr char kText[] = R"(
module {
  tt.func public @kernel(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %m: i32, %n: i32, %k: i32, %pitch: i64 {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1 : i64
    %size = arith.constant 64 : i32
    %last = arith.constant 63 : i32
    %group = arith.constant 2 : i32
    %elements = arith.constant 4096 : i32
    %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
    %width = arith.constant dense<64> : tensor<64x1xi32>
    %da = tt.make_tensor_descriptor %a, [%m, %k], [%pitch, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16>>
    %db = tt.make_tensor_descriptor %b, [%n, %k], [%pitch, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16>>
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %i0 = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %iw = arith.muli %i1, %width : tensor<64x1xi32>
    %i2 = tt.broadcast %iw : tensor<64x1xi32> -> tensor<64x64xi32>
    %j2 = tt.broadcast %i0 : tensor<1x64xi32> -> tensor<64x64xi32>
    %at = arith.addi %i2, %j2 : tensor<64x64xi32>
    %m0 = arith.addi %m, %last : i32
    %n0 = arith.addi %n, %last : i32
    %k0 = arith.addi %k, %last : i32
    %rows = arith.divsi %m0, %size : i32
    %columns = arith.divsi %n0, %size : i32
    %steps = arith.divsi %k0, %size : i32
    %tiles = arith.muli %rows, %columns : i32
    %in_group = arith.muli %group, %columns : i32
    %program = tt.get_program_id x : i32
    %programs = tt.get_num_programs x : i32
    scf.for %t = %program to %tiles step %programs : i32 {
      %number = arith.divsi %t, %in_group : i32
      %first = arith.muli %number, %group : i32
      %left = arith.subi %rows, %first : i32
      %high = arith.minsi %left, %group : i32
      %place = arith.remsi %t, %in_group : i32
      %down = arith.remsi %place, %high : i32
      %tile_row = arith.addi %first, %down : i32
      %tile_column = arith.divsi %place, %high : i32
      %row = arith.muli %tile_row, %size : i32
      %column = arith.muli %tile_column, %size : i32
      %r = scf.for %s = %c0 to %steps step %c1 iter_args(%acc = %nothing) -> (tensor<64x64xf32>) : i32 {
        %ks = arith.muli %s, %size : i32
        %x = tt.descriptor_load %da[%row, %ks] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
        %y0 = tt.descriptor_load %db[%column, %ks] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
        %y = tt.trans %y0 {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
        %d = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      %begin = arith.muli %t, %elements : i32
      %base = tt.addptr %out, %begin : !tt.ptr<f32>, i32
      %bases = tt.splat %base : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
      %to = tt.addptr %bases, %at : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      tt.store %to, %r : tensor<64x64x!tt.ptr<f32>>
    }
    tt.return
  }
}
)";

struct Products {
  int rows, columns, depth, programs, stages;
};

std::string NameOf(const Products& p) {
  return absl::StrCat(p.rows, "x", p.columns, "x", p.depth, "_", p.programs, "programs_", p.stages, "stages");
}
void PrintTo(const Products& p, std::ostream* os) { *os << NameOf(p); }

std::string Options(int stages) { return absl::StrCat("\"num_stages\": ", stages); }

class TileCopies : public testing::TestWithParam<std::tuple<Machine, Products>> {};

TEST_P(TileCopies, AreThoseOfTheirTiles) {
  const auto& [machine, p] = GetParam();
  const int pitch = (p.depth + 15) / 16 * 16 + 16;
  Array a("f16", p.rows * pitch), b("f16", p.columns * pitch);
  for (size_t i = 0; i < a.size(); ++i) a.SetFloat(i, static_cast<int>(i * 7 % 11) - 5);
  for (size_t i = 0; i < b.size(); ++i) b.SetFloat(i, static_cast<int>(i * 5 % 13) - 6);
  const int tile_rows = (p.rows + kRows - 1) / kRows, tile_columns = (p.columns + kColumns - 1) / kColumns;
  Array out("f32", tile_rows * tile_columns * kRows * kColumns), expected = out;
  const std::vector<double> as = a.Numbers(), bs = b.Numbers();
  for (int t = 0; t < tile_rows * tile_columns; ++t) {
    const int first = t / (kGroup * tile_columns) * kGroup, high = std::min(tile_rows - first, kGroup);
    const int place = t % (kGroup * tile_columns);
    const int begin = (first + place % high) * kRows, left = place / high * kColumns;
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kColumns; ++j) {
        double sum = 0;
        if (begin + i < p.rows && left + j < p.columns)
          for (int k = 0; k < p.depth; ++k) sum += as[(begin + i) * pitch + k] * bs[(left + j) * pitch + k];
        expected.SetFloat((t * kRows + i) * kColumns + j, sum);
      }
  }
  const std::vector<Parameter> parameters = {
      a, b, out, int32_t{p.rows}, int32_t{p.columns}, int32_t{p.depth}, int64_t{pitch}};
  const workers::Grid grid{static_cast<uint32_t>(p.programs), 1, 1};
  absl::Status status = RunKernel(machine, kText, grid, parameters, Options(p.stages));
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(out, expected));
}

// The copies of the first tile are in front of the loop over tiles, with the mbarriers, and those of the loop of dots
// go on: no other.
TEST(TileCopies, AreMadeInTheLoopOfDots) {
  if (RunsOnOneDevice()) GTEST_SKIP() << "does not depend on the device";
  for (const int stages : {3, 4}) {
    absl::StatusOr<LlirKernel> kernel = CompileToLlir({"emulated:cuda:90", "cuda:90", 4}, kText, Options(stages));
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    int copies = 0;
    for (size_t at = 0; (at = kernel->text.find("cp.async.bulk.tensor.2d", at)) != std::string::npos; ++at) ++copies;
    EXPECT_EQ(copies, 2 * stages) << kernel->text;
  }
}

const Products kAll[] = {
    {256, 192, 256, 1, 3}, {256, 192, 256, 5, 4},  // more iterations than stages
    {200, 150, 72, 3, 4},                          // fewer: copies are tiles ahead; edges
    {200, 150, 8, 2, 4},                           // one iteration
    {200, 150, 0, 2, 3},                           // none
    {64, 64, 200, 3, 3},                           // programs without a tile
    {320, 64, 136, 4, 2},                          // groups of one row
};

INSTANTIATE_TEST_SUITE_P(On, TileCopies, testing::Combine(testing::ValuesIn(Machines({4, 8})), testing::ValuesIn(kAll)),
                         [](const auto& info) {
                           return NameOf(std::get<0>(info.param)) + "_" + NameOf(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace tritond::conformance
