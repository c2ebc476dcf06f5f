// SPDX-License-Identifier: Apache-2.0
// Masks of loads and stores whose bounds are not where a thread's elements end.
#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

class MasksOnEveryMachine : public testing::TestWithParam<Machine> {};
INSTANTIATE_TEST_SUITE_P(Machines, MasksOnEveryMachine, testing::ValuesIn(Machines({1, 2, 4, 8})),
                         [](const auto& info) { return NameOf(info.param); });

// Rows of any length in a matrix without gaps: those of a multiple of eight or two are aligned, which shows only when
// the kernel runs.
TEST_P(MasksOnEveryMachine, RowsAreOfAnyLength) {
  constexpr char kIr[] = R"(module {
  tt.func public @kernel(%in: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %n : i32
    %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
    %limit = tt.splat %n : i32 -> tensor<512xi32>
    %inside = arith.cmpi slt, %r, %limit : tensor<512xi32>
    %a = tt.addptr %in, %start : !tt.ptr<f16>, i32
    %b = tt.splat %a : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>>
    %from = tt.addptr %b, %r : tensor<512x!tt.ptr<f16>>, tensor<512xi32>
    %x = tt.load %from, %inside : tensor<512x!tt.ptr<f16>>
    %c = tt.addptr %out, %start : !tt.ptr<f16>, i32
    %d = tt.splat %c : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>>
    %to = tt.addptr %d, %r : tensor<512x!tt.ptr<f16>>, tensor<512xi32>
    tt.store %to, %x, %inside : tensor<512x!tt.ptr<f16>>
    tt.return
  }
}
)";
  for (int32_t n : {1, 2, 7, 8, 360, 361, 362, 364, 508, 510, 511, 512}) {
    Array in = Values("f16", 3 * 512, 5), out("f16", 3 * 512), expected = out;
    for (int i = 0; i < 3 * n; ++i) expected.SetInt(i, in.Int(i));
    absl::Status status = RunKernel(GetParam(), kIr, {3}, {in, out, n});
    ASSERT_TRUE(status.ok()) << n << ": " << status;
    EXPECT_TRUE(out.bytes == expected.bytes) << n << ": " << Agree(out, expected).message();
  }
}

// Columns at a distance that only the launch knows, of buffers that are promised to be small, through a loop that moves
// its pointers on.
TEST_P(MasksOnEveryMachine, SmallBuffersTakeAnyDistance) {
  constexpr char kIr[] = R"(module {
  tt.func public @kernel(%in: !tt.ptr<i32> {tt.pointer_range = 32 : i32}, %out: !tt.ptr<i32> {tt.pointer_range = 32 : i32}, %pitch: i32, %n: i32, %k: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %fill = arith.constant dense<7> : tensor<128xi32>
    %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %limit = tt.splat %n : i32 -> tensor<128xi32>
    %inside = arith.cmpi slt, %r, %limit : tensor<128xi32>
    %pitches = tt.splat %pitch : i32 -> tensor<128xi32>
    %starts = arith.muli %r, %pitches : tensor<128xi32>
    %ins = tt.splat %in : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    %from = tt.addptr %ins, %starts : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    %to = tt.addptr %outs, %starts : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    %one = tt.splat %c1 : i32 -> tensor<128xi32>
    %ends:2 = scf.for %i = %c0 to %k step %c1 iter_args(%p = %from, %q = %to) -> (tensor<128x!tt.ptr<i32>>, tensor<128x!tt.ptr<i32>>) : i32 {
      %x = tt.load %p, %inside, %fill : tensor<128x!tt.ptr<i32>>
      %y = arith.addi %x, %one : tensor<128xi32>
      tt.store %q, %y, %inside : tensor<128x!tt.ptr<i32>>
      %p1 = tt.addptr %p, %one : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
      %q1 = tt.addptr %q, %one : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
      scf.yield %p1, %q1 : tensor<128x!tt.ptr<i32>>, tensor<128x!tt.ptr<i32>>
    }
    tt.return
  }
}
)";
  for (int32_t n : {0, 1, 77, 128}) {
    constexpr int32_t kPitch = 5, kColumns = 3;
    Array in = Values("i32", 128 * kPitch, 6), out("i32", 128 * kPitch), expected = out;
    for (int row = 0; row < n; ++row)
      for (int i = row * kPitch; i < row * kPitch + kColumns; ++i) expected.SetInt(i, in.Int(i) + 1);
    absl::Status status = RunKernel(GetParam(), kIr, {1}, {in, out, kPitch, n, kColumns});
    ASSERT_TRUE(status.ok()) << n << ": " << status;
    EXPECT_TRUE(out.bytes == expected.bytes) << n << ": " << Agree(out, expected).message();
  }
}

// Branches of a loop that load: where the condition does not hold, their addresses are outside of the buffer.
TEST_P(MasksOnEveryMachine, BranchesOfLoopsLoadWhereTheyAreTaken) {
  constexpr char kIr[] = R"(module {
  tt.func public @kernel(%in: !tt.ptr<f32>, %scale: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c9 = arith.constant 9 : i32
    %c128 = arith.constant 128 : i32
    %zero = arith.constant dense<0.0> : tensor<128xf32>
    %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %sum = scf.for %i = %c0 to %c9 step %c1 iter_args(%s = %zero) -> (tensor<128xf32>) : i32 {
      %c = arith.cmpi slt, %i, %n : i32
      %next = scf.if %c -> (tensor<128xf32>) {
        %start = arith.muli %i, %c128 : i32
        %a = tt.addptr %in, %start : !tt.ptr<f32>, i32
        %b = tt.splat %a : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
        %p = tt.addptr %b, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
        %x = tt.load %p : tensor<128x!tt.ptr<f32>>
        %q = tt.addptr %scale, %i : !tt.ptr<f32>, i32
        %k = tt.load %q : !tt.ptr<f32>
        %l = tt.splat %k : f32 -> tensor<128xf32>
        %y = arith.mulf %x, %l : tensor<128xf32>
        %t = arith.addf %s, %y : tensor<128xf32>
        scf.yield %t : tensor<128xf32>
      } else {
        scf.yield %s : tensor<128xf32>
      }
      scf.yield %next : tensor<128xf32>
    }
    %o = tt.splat %out : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %to = tt.addptr %o, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    tt.store %to, %sum : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
)";
  for (int32_t n : {1, 4, 9}) {
    Array in("f32", 128 * n), scale("f32", n), out("f32", 128), expected = out;
    for (int i = 0; i < n; ++i) scale.SetFloat(i, i + 1);
    for (int i = 0; i < 128 * n; ++i) in.SetFloat(i, i % 11);
    for (int j = 0; j < 128; ++j) {
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += (i + 1) * ((128 * i + j) % 11);
      expected.SetFloat(j, sum);
    }
    absl::Status status = RunKernel(GetParam(), kIr, {1}, {in, scale, out, n});
    ASSERT_TRUE(status.ok()) << n << ": " << status;
    EXPECT_TRUE(out.bytes == expected.bytes) << n << ": " << Agree(out, expected).message();
  }
}

// A band along the diagonal of a matrix has two bounds, whose places in a thread's rows differ. They meet inside a
// group of neighbours where the band is narrow.
TEST_P(MasksOnEveryMachine, MasksFollowADiagonal) {
  constexpr char kIr[] = R"(module {
  tt.func public @kernel(%in: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %below: i32, %above: i32) {
    %width = arith.constant dense<64> : tensor<32x1xi32>
    %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %row = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %column = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %below_all = tt.splat %below : i32 -> tensor<32x1xi32>
    %above_all = tt.splat %above : i32 -> tensor<32x1xi32>
    %low = arith.subi %row, %below_all : tensor<32x1xi32>
    %high = arith.addi %row, %above_all : tensor<32x1xi32>
    %columns = tt.broadcast %column : tensor<1x64xi32> -> tensor<32x64xi32>
    %lows = tt.broadcast %low : tensor<32x1xi32> -> tensor<32x64xi32>
    %highs = tt.broadcast %high : tensor<32x1xi32> -> tensor<32x64xi32>
    %from_low = arith.cmpi sge, %columns, %lows : tensor<32x64xi32>
    %to_high = arith.cmpi slt, %columns, %highs : tensor<32x64xi32>
    %inside = arith.andi %from_low, %to_high : tensor<32x64xi1>
    %start = arith.muli %row, %width : tensor<32x1xi32>
    %starts = tt.broadcast %start : tensor<32x1xi32> -> tensor<32x64xi32>
    %at = arith.addi %starts, %columns : tensor<32x64xi32>
    %ins = tt.splat %in : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>>
    %from = tt.addptr %ins, %at : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
    %x = tt.load %from, %inside : tensor<32x64x!tt.ptr<f32>>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>>
    %to = tt.addptr %outs, %at : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
    tt.store %to, %x, %inside : tensor<32x64x!tt.ptr<f32>>
    tt.return
  }
}
)";
  for (auto [below, above] :
       {std::pair<int32_t, int32_t>{0, 1}, {1, 1}, {64, 0}, {-1, 64}, {3, 7}, {64, 64}, {-5, 2}}) {
    Array in = Values("f32", 32 * 64, 5), out("f32", 32 * 64), expected = out;
    for (int row = 0; row < 32; ++row)
      for (int column = std::max(0, row - below); column < std::min(64, row + above); ++column)
        expected.SetFloat(row * 64 + column, in.Float(row * 64 + column));
    absl::Status status = RunKernel(GetParam(), kIr, {}, {in, out, below, above});
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(out.bytes == expected.bytes) << below << ", " << above << ": " << Agree(out, expected).message();
  }
}

// An index less a shift, under a condition: masks that hold inside a group of neighbours and at neither of its ends.
struct Condition {
  const char* name;
  std::string inside;  // i1 from %at, %low and %high, tensor<64xi32>
  bool (*holds)(int32_t at, int32_t low, int32_t high);
};

std::string Compare(const char* result, const char* predicate, const char* left, const char* right) {
  return absl::StrCat("    %", result, " = arith.cmpi ", predicate, ", %", left, ", %", right, " : tensor<64xi32>\n");
}

std::vector<Condition> Conditions() {
  return {
      {"one", Compare("inside", "eq", "at", "low"), [](int32_t at, int32_t low, int32_t high) { return at == low; }},
      {"window",
       Compare("from", "sge", "at", "low") + Compare("to", "slt", "at", "high") +
           "    %inside = arith.andi %from, %to : tensor<64xi1>\n",
       [](int32_t at, int32_t low, int32_t high) { return at >= low && at < high; }},
      {"without a sign", Compare("inside", "ult", "at", "high"),
       [](int32_t at, int32_t low, int32_t high) { return static_cast<uint32_t>(at) < static_cast<uint32_t>(high); }}};
}

TEST_P(MasksOnEveryMachine, MasksHoldInTheMiddleOfAGroup) {
  constexpr char kBegin[] = R"(module {
  tt.func public @kernel(%in: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %shift: i32, %first: i32, %last: i32) {
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %rows = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
    %shifts = tt.splat %shift : i32 -> tensor<64xi32>
    %low = tt.splat %first : i32 -> tensor<64xi32>
    %high = tt.splat %last : i32 -> tensor<64xi32>
    %at = arith.subi %r, %shifts : tensor<64xi32>
)";
  constexpr char kEnd[] = R"(    %inside1 = tt.expand_dims %inside {axis = 0 : i32} : tensor<64xi1> -> tensor<1x64xi1>
    %mask = tt.broadcast %inside1 : tensor<1x64xi1> -> tensor<4x64xi1>
    %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %columns2 = tt.broadcast %columns : tensor<1x64xi32> -> tensor<4x64xi32>
    %rows1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %width = arith.constant dense<64> : tensor<4x1xi32>
    %starts = arith.muli %rows1, %width : tensor<4x1xi32>
    %starts2 = tt.broadcast %starts : tensor<4x1xi32> -> tensor<4x64xi32>
    %offsets = arith.addi %starts2, %columns2 : tensor<4x64xi32>
    %ins = tt.splat %in : !tt.ptr<i8> -> tensor<4x64x!tt.ptr<i8>>
    %from2 = tt.addptr %ins, %offsets : tensor<4x64x!tt.ptr<i8>>, tensor<4x64xi32>
    %x = tt.load %from2, %mask : tensor<4x64x!tt.ptr<i8>>
    %outs = tt.splat %out : !tt.ptr<i8> -> tensor<4x64x!tt.ptr<i8>>
    %to2 = tt.addptr %outs, %offsets : tensor<4x64x!tt.ptr<i8>>, tensor<4x64xi32>
    tt.store %to2, %x, %mask : tensor<4x64x!tt.ptr<i8>>
    tt.return
  }
}
)";
  for (const Condition& condition : Conditions()) {
    for (auto [shift, low, high] :
         {std::tuple<int32_t, int32_t, int32_t>{0, 5, 9}, {2, 0, 3}, {21, 0, 7}, {3, 60, 61}}) {
      Array in = Values("i8", 4 * 64, 5), out("i8", 4 * 64), expected = out;
      for (int i = 0; i < 4 * 64; ++i)
        if (condition.holds(i % 64 - shift, low, high)) expected.SetInt(i, in.Int(i));
      absl::Status status =
          RunKernel(GetParam(), absl::StrCat(kBegin, condition.inside, kEnd), {}, {in, out, shift, low, high});
      ASSERT_TRUE(status.ok()) << condition.name << ": " << status;
      EXPECT_TRUE(out.bytes == expected.bytes)
          << condition.name << ", " << shift << ", " << low << ", " << high << ": " << Agree(out, expected).message();
    }
  }
}

}  // namespace
}  // namespace tritond::conformance
