// SPDX-License-Identifier: Apache-2.0
// Rows of 8-bit and 16-bit elements that begin anywhere: loads take whole words, and must not see what lies beside
// them.
#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

struct RowCase {
  std::string type;
  int columns, begin;  // elements in front of the first row
  int block;
  std::string other;  // of what the mask leaves out; empty: nothing is named, and nothing sees it
  Machine machine;
};
void PrintTo(const RowCase& c, std::ostream* os) {
  *os << c.type << " " << c.columns << " from " << c.begin << " by " << c.block << " other " << c.other;
}

constexpr int kRows = 5;

class Rows : public testing::TestWithParam<RowCase> {};

// The memory ends with the last element of the last row.
TEST_P(Rows, HaveTheirSums) {
  const RowCase& c = GetParam();
  const int length = c.begin + kRows * c.columns;
  Array in = Values(c.type, length, 7), out("i32", kRows), expected = out;
  const int tiles = (c.columns + c.block - 1) / c.block;
  for (int row = 0; row < kRows; ++row) {
    int64_t sum = int64_t{tiles * c.block - c.columns} * (c.other.empty() ? 0 : std::stoi(c.other));
    for (int i = 0; i < c.columns; ++i) sum += in.Int(c.begin + row * c.columns + i);
    expected.SetInt(row, sum);
  }
  const std::string ir = Substitute(
      R"(module {
  tt.func public @kernel(%in: !tt.ptr<$T> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i32>, %n: i32, %begin: i32) {
    %zero = arith.constant 0 : i32
    %none = arith.constant dense<0> : tensor<$Bxi32>
    %other = arith.constant dense<$O> : tensor<$Bx$T>
    %step = arith.constant $B : i32
    %pid = tt.get_program_id x : i32
    %from = arith.muli %pid, %n : i32
    %start = arith.addi %from, %begin : i32
    %row = tt.addptr %in, %start : !tt.ptr<$T>, i32
    %rows = tt.splat %row : !tt.ptr<$T> -> tensor<$Bx!tt.ptr<$T>>
    %r = tt.make_range {start = 0 : i32, end = $B : i32} : tensor<$Bxi32>
    %limit = tt.splat %n : i32 -> tensor<$Bxi32>
    %sum = scf.for %at = %zero to %n step %step iter_args(%s = %none) -> (tensor<$Bxi32>) : i32 {
      %ats = tt.splat %at : i32 -> tensor<$Bxi32>
      %c = arith.addi %ats, %r : tensor<$Bxi32>
      %mask = arith.cmpi slt, %c, %limit : tensor<$Bxi32>
      %p = tt.addptr %rows, %c : tensor<$Bx!tt.ptr<$T>>, tensor<$Bxi32>
      %x = tt.load %p, %mask$OTHER : tensor<$Bx!tt.ptr<$T>>
      %w = arith.extsi %x : tensor<$Bx$T> to tensor<$Bxi32>
      $SEEN
      %next = arith.addi %s, %v : tensor<$Bxi32>
      scf.yield %next : tensor<$Bxi32>
    }
    %total = "tt.reduce"(%sum) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %ab = arith.addi %a, %b : i32
      tt.reduce.return %ab : i32
    }) : (tensor<$Bxi32>) -> i32
    %to = tt.addptr %out, %pid : !tt.ptr<i32>, i32
    tt.store %to, %total : !tt.ptr<i32>
    tt.return
  }
}
)",
      {{"T", c.type},
       {"B", absl::StrCat(c.block)},
       {"OTHER", c.other.empty() ? "" : ", %other"},
       {"SEEN", c.other.empty() ? absl::StrCat("%v = arith.select %mask, %w, %none : tensor<", c.block, "xi1>, tensor<",
                                               c.block, "xi32>")
                                : absl::StrCat("%v = arith.addi %w, %none : tensor<", c.block, "xi32>")},
       {"O", c.other.empty() ? "0" : c.other}});
  absl::Status status = RunKernel(c.machine, ir, {kRows}, {in, out, int32_t{c.columns}, int32_t{c.begin}});
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(out.bytes == expected.bytes) << Agree(out, expected).message() << "\n" << ir;
}

std::vector<RowCase> RowCases() {
  std::vector<RowCase> cases;
  int turn = 0;
  for (const char* type : {"i8", "i16"})
    for (int columns : {1, 7, 255, 1023, 1025, 1026, 2051})
      for (int begin : {0, 1, 2, 3})
        for (int block : {256, 1024})
          for (const char* other : {"", "3"}) cases.push_back({type, columns, begin, block, other, MachineFor(turn++)});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Cases, Rows, testing::ValuesIn(RowCases()));

// The mask leaves out the first elements, in front of which there is no memory.
TEST(Ends, OfRows) {
  constexpr int kLength = 512;
  for (const Machine& machine : Machines({1, 2}))
    for (const char* type : {"i8", "i16"})
      for (int skip : {0, 1, 2, 3, 5, 8, 13, 511}) {
        Array in = Values(type, kLength - skip, 9), out("i32", 1), expected = out;
        int64_t sum = 0;
        for (int i = 0; i < kLength - skip; ++i) sum += in.Int(i);
        expected.SetInt(0, sum);
        const std::string ir = Substitute(R"(module {
  tt.func public @kernel(%in: !tt.ptr<$T> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i32>, %skip: i32) {
    %zero = arith.constant 0 : i32
    %none = arith.constant dense<0> : tensor<512x$T>
    %back = arith.subi %zero, %skip : i32
    %row = tt.addptr %in, %back : !tt.ptr<$T>, i32
    %rows = tt.splat %row : !tt.ptr<$T> -> tensor<512x!tt.ptr<$T>>
    %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
    %limit = tt.splat %skip : i32 -> tensor<512xi32>
    %mask = arith.cmpi sge, %r, %limit : tensor<512xi32>
    %p = tt.addptr %rows, %r : tensor<512x!tt.ptr<$T>>, tensor<512xi32>
    %x = tt.load %p, %mask, %none : tensor<512x!tt.ptr<$T>>
    %w = arith.extsi %x : tensor<512x$T> to tensor<512xi32>
    %total = "tt.reduce"(%w) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %ab = arith.addi %a, %b : i32
      tt.reduce.return %ab : i32
    }) : (tensor<512xi32>) -> i32
    tt.store %out, %total : !tt.ptr<i32>
    tt.return
  }
}
)",
                                          {{"T", type}});
        absl::Status status = RunKernel(machine, ir, {1}, {in, out, int32_t{skip}});
        ASSERT_TRUE(status.ok()) << status;
        EXPECT_TRUE(out.bytes == expected.bytes) << Agree(out, expected).message() << type << skip;
      }
}

// A tile of rows, whose lengths are odd. Each has a place of its own in words.
TEST(Tiles, OfRowsThatBeginAnywhere) {
  for (const Machine& machine : Machines({1, 4})) {
    constexpr int kTall = 16, kWide = 64;
    for (const int stride : {65, 67, 70}) {
      Array in = Values("i16", kTall * stride, 11), out("i32", kTall), expected = out;
      for (int row = 0; row < kTall; ++row) {
        int64_t sum = 0;
        for (int i = 0; i < kWide; ++i) sum += in.Int(row * stride + i);
        expected.SetInt(row, sum);
      }
      const std::string ir = R"(module {
  tt.func public @kernel(%in: !tt.ptr<i16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i32>, %stride: i32) {
    %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
    %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %strides = tt.splat %stride : i32 -> tensor<16xi32>
    %starts = arith.muli %r, %strides : tensor<16xi32>
    %s0 = tt.expand_dims %starts {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %c0 = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %s1 = tt.broadcast %s0 : tensor<16x1xi32> -> tensor<16x64xi32>
    %c1 = tt.broadcast %c0 : tensor<1x64xi32> -> tensor<16x64xi32>
    %i = arith.addi %s1, %c1 : tensor<16x64xi32>
    %ins = tt.splat %in : !tt.ptr<i16> -> tensor<16x64x!tt.ptr<i16>>
    %p = tt.addptr %ins, %i : tensor<16x64x!tt.ptr<i16>>, tensor<16x64xi32>
    %x = tt.load %p : tensor<16x64x!tt.ptr<i16>>
    %w = arith.extsi %x : tensor<16x64xi16> to tensor<16x64xi32>
    %sum = "tt.reduce"(%w) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %ab = arith.addi %a, %b : i32
      tt.reduce.return %ab : i32
    }) : (tensor<16x64xi32>) -> tensor<16xi32>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %to = tt.addptr %outs, %r : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    tt.store %to, %sum : tensor<16x!tt.ptr<i32>>
    tt.return
  }
}
)";
      absl::Status status = RunKernel(machine, ir, {1}, {in, out, int32_t{stride}});
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_TRUE(out.bytes == expected.bytes) << Agree(out, expected).message();
    }
  }
}

}  // namespace
}  // namespace tritond::conformance
