// SPDX-License-Identifier: Apache-2.0
// Grids whose programs take longer the greater (or the lesser) their index along one axis is. A compiler may let the
// longest ones start first. Each program still has to run once, with its own indices.
#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

struct OrderCase {
  const char* axis;  // along which programs take longer
  bool longest_first;
  workers::Grid grid;
};

class ProgramOrder : public testing::TestWithParam<std::tuple<Machine, OrderCase>> {};

// Program (x, y, z) sums up as many numbers of %in as its place along the axis tells.
constexpr char kKernel[] = R"(module {
  tt.func public @kernel(%in: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %z = tt.get_program_id z : i32
    %nx = tt.get_num_programs x : i32
    %ny = tt.get_num_programs y : i32
    %n = tt.get_num_programs $AXIS : i32
    %after = arith.addi %$AXIS, %one : i32
    %begin = arith.addi $BEGIN, %zero : i32
    %end = arith.addi $END, %zero : i32
    %sum = scf.for %i = %begin to %end step %one iter_args(%a = %zero) -> (i32) : i32 {
      %p = tt.addptr %in, %i : !tt.ptr<i32>, i32
      %v = tt.load %p : !tt.ptr<i32>
      %b = arith.addi %a, %v : i32
      scf.yield %b : i32
    }
    %zy = arith.muli %z, %ny : i32
    %row = arith.addi %zy, %y : i32
    %rowx = arith.muli %row, %nx : i32
    %index = arith.addi %rowx, %x : i32
    %q = tt.addptr %out, %index : !tt.ptr<i32>, i32
    tt.store %q, %sum : !tt.ptr<i32>
    tt.return
  }
}
)";

std::string KernelFor(const OrderCase& c) {
  std::string text = kKernel;
  const std::pair<std::string, std::string> replacements[] = {
      {"$AXIS", c.axis},
      {"$BEGIN", c.longest_first ? absl::StrCat("%", c.axis) : "%zero"},
      {"$END", c.longest_first ? "%n" : "%after"}};
  for (const auto& [from, to] : replacements)
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  return text;
}

TEST_P(ProgramOrder, EachProgramRunsOnceAsItself) {
  const auto& [machine, c] = GetParam();
  const unsigned sizes[] = {c.grid.x, c.grid.y, c.grid.z}, programs = c.grid.x * c.grid.y * c.grid.z;
  const unsigned axis = c.axis[0] - 'x';
  Array in("i32", sizes[axis]), out("i32", programs), wanted("i32", programs);
  for (unsigned i = 0; i < sizes[axis]; ++i) in.SetInt(i, 1 << (i % 20));
  for (unsigned program = 0; program < programs; ++program) {
    const unsigned ids[] = {program % c.grid.x, program / c.grid.x % c.grid.y, program / c.grid.x / c.grid.y};
    int64_t sum = 0;
    for (unsigned i = c.longest_first ? ids[axis] : 0, end = c.longest_first ? sizes[axis] : ids[axis] + 1; i < end;
         ++i)
      sum += in.Int(i);
    wanted.SetInt(program, sum);
  }
  absl::Status status = RunKernel(machine, KernelFor(c), c.grid, {in, out});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(out, wanted));
}

// With eight warps, 264 programs run at once on the largest GPU of compute capability 9.0: the last grids have several
// groups, of which one is smaller.
const OrderCase kCases[] = {
    {"x", false, {1, 1, 1}}, {"x", false, {9, 1, 1}},   {"x", false, {4, 6, 1}}, {"x", false, {3, 5, 2}},
    {"x", true, {4, 6, 1}},  {"x", true, {7, 1, 3}},    {"y", false, {2, 5, 1}}, {"y", false, {2, 3, 5}},
    {"y", true, {3, 4, 2}},  {"z", false, {2, 3, 4}},   {"z", true, {2, 3, 4}},  {"x", false, {5, 121, 1}},
    {"x", true, {3, 7, 41}}, {"y", false, {2, 11, 40}},
};

std::string NameOfCase(const testing::TestParamInfo<std::tuple<Machine, OrderCase>>& info) {
  const auto& [machine, c] = info.param;
  return absl::StrCat(NameOf(machine), "_", c.axis, c.longest_first ? "LongestFirst" : "", "_", c.grid.x, "x", c.grid.y,
                      "x", c.grid.z);
}

INSTANTIATE_TEST_SUITE_P(Machines, ProgramOrder,
                         testing::Combine(testing::ValuesIn(Machines({8})), testing::ValuesIn(kCases)), NameOfCase);

}  // namespace
}  // namespace tritond::conformance
