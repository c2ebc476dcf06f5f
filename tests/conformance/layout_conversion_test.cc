// SPDX-License-Identifier: Apache-2.0
// Conversions between random layouts, executed: elements of every size, copies in registers, lanes and warps included.
#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr char kKernel[] = R"(
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "$TARGET", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%in: !tt.ptr<$T>, %out: !tt.ptr<$T>) {
    %row = tt.make_range {start = 0 : i32, end = $M : i32} : tensor<$Mxi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %column = tt.make_range {start = 0 : i32, end = $N : i32} : tensor<$Nxi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %row2 = tt.expand_dims %row {axis = 1 : i32} : tensor<$Mxi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<$Mx1xi32, #blocked>
    %column2 = tt.expand_dims %column {axis = 0 : i32} : tensor<$Nxi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x$Nxi32, #blocked>
    %rows = tt.broadcast %row2 : tensor<$Mx1xi32, #blocked> -> tensor<$Mx$Nxi32, #blocked>
    %columns = tt.broadcast %column2 : tensor<1x$Nxi32, #blocked> -> tensor<$Mx$Nxi32, #blocked>
    %width = arith.constant dense<$N> : tensor<$Mx$Nxi32, #blocked>
    %starts = arith.muli %rows, %width : tensor<$Mx$Nxi32, #blocked>
    %offsets = arith.addi %starts, %columns : tensor<$Mx$Nxi32, #blocked>
    %in1 = tt.splat %in : !tt.ptr<$T> -> tensor<$Mx$Nx!tt.ptr<$T>, #blocked>
    %out1 = tt.splat %out : !tt.ptr<$T> -> tensor<$Mx$Nx!tt.ptr<$T>, #blocked>
    %ins = tt.addptr %in1, %offsets : tensor<$Mx$Nx!tt.ptr<$T>, #blocked>, tensor<$Mx$Nxi32, #blocked>
    %outs = tt.addptr %out1, %offsets : tensor<$Mx$Nx!tt.ptr<$T>, #blocked>, tensor<$Mx$Nxi32, #blocked>
    %x0 = tt.load %ins : tensor<$Mx$Nx!tt.ptr<$T>, #blocked>
$BODY
    tt.store %outs, %y : tensor<$Mx$Nx!tt.ptr<$T>, #blocked>
    tt.return
  }
}
)";

// An encoding of 2^m x 2^n elements in four warps of 32 lanes: every element in a random place, and up to two copies.
// Bits of the column from `n` on are those of registers alone.
std::string RandomEncoding(std::mt19937& rng, int m, int n, int of_registers = 0) {
  std::vector<std::string> bases;
  for (int bit = 0; bit < m; ++bit) bases.push_back(absl::StrCat("[", 1 << bit, ", 0]"));
  for (int bit = 0; bit < n; ++bit) bases.push_back(absl::StrCat("[0, ", 1 << bit, "]"));
  const int copies = std::uniform_int_distribution<int>(0, 2)(rng);
  for (int i = 0; i < copies || bases.size() < 7; ++i) bases.push_back("[0, 0]");
  std::shuffle(bases.begin(), bases.end(), rng);
  const std::vector<std::string> lanes(bases.begin(), bases.begin() + 5), warps(bases.begin() + 5, bases.begin() + 7);
  std::vector<std::string> registers(bases.begin() + 7, bases.end());
  for (int bit = n; bit < n + of_registers; ++bit) registers.push_back(absl::StrCat("[0, ", 1 << bit, "]"));
  std::shuffle(registers.begin(), registers.end(), rng);
  return absl::StrCat("#ttg.linear<{register = [", absl::StrJoin(registers, ", "), "], lane = [",
                      absl::StrJoin(lanes, ", "), "], warp = [", absl::StrJoin(warps, ", "), "], block = []}>");
}

class LayoutConversions : public testing::TestWithParam<const char*> {};

// Converts to random encodings and back. Two bits of the column are those of registers alone where conversions work on
// 2^`part_bits` parts.
void ExpectSameElements(const std::string& type, int part_bits) {
  constexpr int kConversions = 6;
  std::mt19937 rng(71);
  const int of_registers = part_bits > 0 ? 2 : 0;
  for (int round = 0; round < 12; ++round) {
    const int m = 3 + round % 3, n = 3 + round % 4, width = 1 << (n + of_registers), size = width << m;
    std::string body, from = "#blocked";
    for (int i = 0; i <= kConversions; ++i) {
      const std::string to = i == kConversions ? "#blocked" : RandomEncoding(rng, m, n, of_registers);
      const std::string tensor = absl::StrCat("tensor<", 1 << m, "x", width, "x", type, ", ");
      const bool is_random = i > 0 && i < kConversions;
      absl::StrAppend(&body, "    %", i == kConversions ? "y" : absl::StrCat("x", i + 1), " = ttg.convert_layout %x", i,
                      is_random ? absl::StrCat(" {conversion.parts_log2 = ", part_bits, " : i32}") : "", " : ", tensor,
                      from, "> -> ", tensor, to, ">\n");
      from = to;
    }
    for (const Machine& machine : MachinesOf32Lanes()) {
      Array in = Values(type, size, round), out(type, size);
      const std::string ir = Substitute(kKernel, {{"BODY", body},
                                                  {"TARGET", machine.target},
                                                  {"M", absl::StrCat(1 << m)},
                                                  {"N", absl::StrCat(width)},
                                                  {"T", type}});
      const absl::Status status = RunTtgir(machine, ir, {1}, {in, out});
      ASSERT_TRUE(status.ok()) << status << "\n" << ir;
      ASSERT_TRUE(Agree(out, in)) << NameOf(machine) << "\n" << ir;
    }
  }
}

TEST_P(LayoutConversions, KeepEveryElement) { ExpectSameElements(GetParam(), 0); }
TEST_P(LayoutConversions, KeepEveryElementInHalves) { ExpectSameElements(GetParam(), 1); }
TEST_P(LayoutConversions, KeepEveryElementInQuarters) { ExpectSameElements(GetParam(), 2); }

INSTANTIATE_TEST_SUITE_P(Elements, LayoutConversions, testing::Values("i1", "i8", "f16", "bf16", "f32", "i64"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tritond::conformance
