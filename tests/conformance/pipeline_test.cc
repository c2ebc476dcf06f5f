// SPDX-License-Identifier: Apache-2.0
// Loops whose iterations overlap: the results are those of the loop as it was written, for every number of stages and
// of iterations.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr int kTile = 32;
// Products of more stages than there are iterations, of as many, and of fewer.
constexpr int kStages[] = {1, 2, 3, 4}, kIterations[] = {0, 1, 2, 3, 7};

std::string NumStages(int stages) { return absl::StrCat("\"num_stages\": ", stages); }

// out = sum over the iterations of tiles of a (32 x K) and b (K x 32). Elements beyond K are $FILLA and $FILLB.
constexpr char kProduct[] = R"(
module {
  tt.func public @kernel(%a: !tt.ptr<$T> {tt.divisibility = 16 : i32}, %b: !tt.ptr<$T> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %lower: i32, %upper: i32, %step: i32, %K: i32 $DIVISIBLE) {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %fill_a = arith.constant dense<$FILLA> : tensor<32x32x$T>
    %fill_b = arith.constant dense<$FILLB> : tensor<32x32x$T>
    %width = arith.constant dense<32> : tensor<32x1xi32>
    %next_a = arith.constant dense<32> : tensor<32x32xi32>
    %next_b = arith.constant dense<1024> : tensor<32x32xi32>
    %tile = arith.constant 32 : i32
    %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %column = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %row = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %rows = tt.broadcast %row : tensor<1x32xi32> -> tensor<32x32xi32>
    %pitch = tt.splat %K : i32 -> tensor<32x1xi32>
    %start_a = arith.muli %column, %pitch : tensor<32x1xi32>
    %starts_a = tt.broadcast %start_a : tensor<32x1xi32> -> tensor<32x32xi32>
    %offsets_a = arith.addi %starts_a, %rows : tensor<32x32xi32>
    %start_b = arith.muli %column, %width : tensor<32x1xi32>
    %starts_b = tt.broadcast %start_b : tensor<32x1xi32> -> tensor<32x32xi32>
    %offsets_b = arith.addi %starts_b, %rows : tensor<32x32xi32>
    %splat_a = tt.splat %a : !tt.ptr<$T> -> tensor<32x32x!tt.ptr<$T>>
    %splat_b = tt.splat %b : !tt.ptr<$T> -> tensor<32x32x!tt.ptr<$T>>
    %splat_out = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %first_a = tt.addptr %splat_a, %offsets_a : tensor<32x32x!tt.ptr<$T>>, tensor<32x32xi32>
    %first_b = tt.addptr %splat_b, %offsets_b : tensor<32x32x!tt.ptr<$T>>, tensor<32x32xi32>
    %outs = tt.addptr %splat_out, %offsets_b : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
$LOOP
    tt.store %outs, %result : tensor<32x32x!tt.ptr<f32>>
    tt.return
  }
}
)";

constexpr char kLoop[] = R"(
    %sum:4 = scf.for %n = %lower to %upper step %step iter_args(%pa = %first_a, %pb = %first_b, %left = %K, %acc = $INITIAL) -> (tensor<32x32x!tt.ptr<$T>>, tensor<32x32x!tt.ptr<$T>>, i32, tensor<32x32xf32>) : i32 {
      %lefts = tt.splat %left : i32 -> tensor<32x32xi32>
      %columns = tt.broadcast %column : tensor<32x1xi32> -> tensor<32x32xi32>
      %in_a = arith.cmpi slt, %rows, %lefts : tensor<32x32xi32>
      %in_b = arith.cmpi slt, %columns, %lefts : tensor<32x32xi32>
      %x = tt.load %pa, %in_a, %fill_a : tensor<32x32x!tt.ptr<$T>>
      %y = tt.load %pb, %in_b, %fill_b : tensor<32x32x!tt.ptr<$T>>
      %d = tt.dot %x, %y, %acc : tensor<32x32x$T> * tensor<32x32x$T> -> tensor<32x32xf32>
      %pa1 = tt.addptr %pa, %next_a : tensor<32x32x!tt.ptr<$T>>, tensor<32x32xi32>
      %pb1 = tt.addptr %pb, %next_b : tensor<32x32x!tt.ptr<$T>>, tensor<32x32xi32>
      %left1 = arith.subi %left, %tile : i32
      scf.yield %pa1, %pb1, %left1, %d : tensor<32x32x!tt.ptr<$T>>, tensor<32x32x!tt.ptr<$T>>, i32, tensor<32x32xf32>
    }
)";

constexpr char kOnce[] = R"($BODY
    %result = arith.addf %sum#3, %zero : tensor<32x32xf32>
)";

// The sum three times over, each beginning where the one before ended.
constexpr char kThrice[] = R"(
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %result = scf.for %r = %c0 to %c3 step %c1 iter_args(%total = %zero) -> (tensor<32x32xf32>) : i32 {
$BODY
      scf.yield %sum#3 : tensor<32x32xf32>
    }
)";

struct Product {
  std::string type = "f32";
  int k = 0;
  int32_t lower = 0, step = 1;
  int iterations = 0;
  double fill_a = 0, fill_b = 0;
  bool divisible = false, thrice = false;
};

void CheckProduct(const Machine& machine, const Product& c, int stages) {
  SCOPED_TRACE(absl::StrCat(c.type, ", K = ", c.k, ", ", c.iterations, " iterations, ", stages, " stages"));
  Array a = Moderate(c.type, kTile * c.k + 1, 1), b = Moderate(c.type, kTile * c.k + 1, 2);
  Array out("f32", kTile * kTile), expected = out;
  const std::vector<double> left = a.Numbers(), right = b.Numbers();
  for (int i = 0; i < kTile; ++i)
    for (int j = 0; j < kTile; ++j) {
      double sum = 0;
      for (int k = 0; k < c.iterations * kTile; ++k)
        sum += k < c.k ? left[i * c.k + k] * right[k * kTile + j] : c.fill_a * c.fill_b;
      expected.SetFloat(i * kTile + j, c.thrice ? 3 * sum : sum);
    }
  std::string loop = Substitute(c.thrice ? kThrice : kOnce, {{"BODY", kLoop}});
  std::string ir = Substitute(kProduct, {{"LOOP", loop}});
  ir = Substitute(ir, {{"T", c.type},
                       {"INITIAL", c.thrice ? "%total" : "%zero"},
                       {"FILLA", absl::StrFormat("%e", c.fill_a)},
                       {"FILLB", absl::StrFormat("%e", c.fill_b)},
                       {"DIVISIBLE", c.divisible ? "{tt.divisibility = 16 : i32}" : ""}});
  auto upper = static_cast<int32_t>(static_cast<int64_t>(c.lower) + static_cast<int64_t>(c.iterations) * c.step);
  absl::Status status =
      RunKernel(machine, ir, {}, {a, b, out, c.lower, upper, c.step, int32_t{c.k}}, NumStages(stages));
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(out, expected, 1e-4)) << ir;
}

class Pipeline : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Stages, Pipeline, testing::ValuesIn(kStages),
                         [](const auto& info) { return absl::StrCat(info.param); });

TEST_P(Pipeline, MultipliesForAnyNumberOfIterations) {
  for (int turn = 0; turn < 2; ++turn)
    for (int iterations : kIterations) {
      CheckProduct(MachineFor(turn), {.k = iterations * kTile, .iterations = iterations}, GetParam());
      CheckProduct(MachineFor(turn + 2),
                   {.type = "f16", .k = iterations * kTile, .iterations = iterations, .divisible = true}, GetParam());
    }
}

TEST_P(Pipeline, LeavesOutWhatIsBeyondTheEnd) {
  for (int k : {1, 31, 45, 97})
    CheckProduct(MachineFor(k), {.k = k, .iterations = (k + kTile - 1) / kTile}, GetParam());
  CheckProduct(MachineFor(0), {.k = 40, .iterations = 5}, GetParam());
  CheckProduct(MachineFor(1), {.type = "f16", .k = 80, .iterations = 4, .divisible = true}, GetParam());
}

// Two bytes are too few for an asynchronous copy: the first operand waits in registers, the second in a buffer.
TEST_P(Pipeline, WaitsInRegistersWhereCopiesAreTooSmall) {
  for (int iterations : kIterations)
    CheckProduct(MachineFor(iterations), {.type = "f16", .k = iterations * kTile, .iterations = iterations},
                 GetParam());
  for (int k : {1, 45, 97})
    CheckProduct(MachineFor(k + 1),
                 {.type = "bf16", .k = k, .iterations = (k + kTile - 1) / kTile, .fill_a = 2, .fill_b = 3}, GetParam());
  CheckProduct(MachineFor(3), {.type = "f16", .k = 45, .iterations = 2, .thrice = true}, GetParam());
}

TEST_P(Pipeline, FillsInWhatTheProgramSays) {
  CheckProduct(MachineFor(2), {.k = 45, .iterations = 3, .fill_a = 1.5, .fill_b = 2}, GetParam());
  CheckProduct(MachineFor(3), {.k = 7, .iterations = 2, .fill_a = -0.5, .fill_b = 4}, GetParam());
}

TEST_P(Pipeline, CountsNearTheLimitsOfNumbers) {
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min(), kMax = std::numeric_limits<int32_t>::max();
  CheckProduct(MachineFor(0), {.k = 70, .lower = kMin, .step = 2, .iterations = 3}, GetParam());
  CheckProduct(MachineFor(1), {.k = 70, .lower = kMax - 3, .step = 1, .iterations = 3}, GetParam());
  CheckProduct(MachineFor(2), {.k = 70, .lower = kMin, .step = 1 << 30, .iterations = 3}, GetParam());
  CheckProduct(MachineFor(3), {.k = 70, .lower = kMin, .step = kMax, .iterations = 2}, GetParam());
}

TEST_P(Pipeline, RunsAgainWithinAnOuterLoop) {
  for (int iterations : kIterations)
    CheckProduct(MachineFor(iterations), {.k = iterations * kTile, .iterations = iterations, .thrice = true},
                 GetParam());
}

// out = sum over the iterations of tiles of a ($M x $K, one after the other) and b ($K x $N), which fill most of a
// block's shared memory: a copy goes to where its iteration has read.
constexpr char kLarge[] = R"(
module {
  tt.func public @kernel(%a: !tt.ptr<$T> {tt.divisibility = 16 : i32}, %b: !tt.ptr<$T> {tt.divisibility = 16 : i32}, %out: !tt.ptr<$S> {tt.divisibility = 16 : i32}, %iterations: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<$Mx$Nx$S>
    %next_a = arith.constant dense<$SIZEA> : tensor<$Mx$Kxi32>
    %next_b = arith.constant dense<$SIZEB> : tensor<$Kx$Nxi32>
$OFFSETS
    %splat_a = tt.splat %a : !tt.ptr<$T> -> tensor<$Mx$Kx!tt.ptr<$T>>
    %splat_b = tt.splat %b : !tt.ptr<$T> -> tensor<$Kx$Nx!tt.ptr<$T>>
    %splat_out = tt.splat %out : !tt.ptr<$S> -> tensor<$Mx$Nx!tt.ptr<$S>>
    %first_a = tt.addptr %splat_a, %offsets_a : tensor<$Mx$Kx!tt.ptr<$T>>, tensor<$Mx$Kxi32>
    %first_b = tt.addptr %splat_b, %offsets_b : tensor<$Kx$Nx!tt.ptr<$T>>, tensor<$Kx$Nxi32>
    %outs = tt.addptr %splat_out, %offsets_out : tensor<$Mx$Nx!tt.ptr<$S>>, tensor<$Mx$Nxi32>
    %sum:3 = scf.for %n = %c0 to %iterations step %c1 iter_args(%pa = %first_a, %pb = %first_b, %acc = %zero) -> (tensor<$Mx$Kx!tt.ptr<$T>>, tensor<$Kx$Nx!tt.ptr<$T>>, tensor<$Mx$Nx$S>) : i32 {
      %x = tt.load %pa : tensor<$Mx$Kx!tt.ptr<$T>>
      %y = tt.load %pb : tensor<$Kx$Nx!tt.ptr<$T>>
      %d = tt.dot %x, %y, %acc : tensor<$Mx$Kx$T> * tensor<$Kx$Nx$T> -> tensor<$Mx$Nx$S>
      %pa1 = tt.addptr %pa, %next_a : tensor<$Mx$Kx!tt.ptr<$T>>, tensor<$Mx$Kxi32>
      %pb1 = tt.addptr %pb, %next_b : tensor<$Kx$Nx!tt.ptr<$T>>, tensor<$Kx$Nxi32>
      scf.yield %pa1, %pb1, %d : tensor<$Mx$Kx!tt.ptr<$T>>, tensor<$Kx$Nx!tt.ptr<$T>>, tensor<$Mx$Nx$S>
    }
    tt.store %outs, %sum#2 : tensor<$Mx$Nx!tt.ptr<$S>>
    tt.return
  }
}
)";

// %offsets_NAME: where the elements of a matrix lie, row after row.
std::string Offsets(absl::string_view name, int rows, int columns) {
  const std::string shape = absl::StrCat("tensor<", rows, "x", columns, "xi32>");
  const std::string column = absl::StrCat("tensor<", rows, "x1xi32>"),
                    row = absl::StrCat("tensor<1x", columns, "xi32>");
  return Substitute(R"(
    %i_$NAME = tt.make_range {start = 0 : i32, end = $ROWS : i32} : tensor<$ROWSxi32>
    %j_$NAME = tt.make_range {start = 0 : i32, end = $COLUMNS : i32} : tensor<$COLUMNSxi32>
    %column_$NAME = tt.expand_dims %i_$NAME {axis = 1 : i32} : tensor<$ROWSxi32> -> $VERTICAL
    %row_$NAME = tt.expand_dims %j_$NAME {axis = 0 : i32} : tensor<$COLUMNSxi32> -> $HORIZONTAL
    %pitch_$NAME = arith.constant dense<$COLUMNS> : $VERTICAL
    %start_$NAME = arith.muli %column_$NAME, %pitch_$NAME : $VERTICAL
    %starts_$NAME = tt.broadcast %start_$NAME : $VERTICAL -> $SHAPE
    %rows_$NAME = tt.broadcast %row_$NAME : $HORIZONTAL -> $SHAPE
    %offsets_$NAME = arith.addi %starts_$NAME, %rows_$NAME : $SHAPE
)",
                    {{"NAME", std::string(name)},
                     {"ROWS", absl::StrCat(rows)},
                     {"COLUMNS", absl::StrCat(columns)},
                     {"VERTICAL", column},
                     {"HORIZONTAL", row},
                     {"SHAPE", shape}});
}

struct Large {
  std::string type, sum_type;
  int m, k, n;
};

// 66 KiB an iteration with numbers of 16 bits, 34 KiB where a block has 64 KiB; 48 KiB with numbers of 64 bits.
TEST_P(Pipeline, FillsSharedMemory) {
  for (int iterations : {0, 1, 2, 5}) {
    Machine machine = MachineFor(iterations);
    machine.num_warps = 4;
    const bool is_small = absl::StrContains(machine.target, "hip:") || absl::StrContains(machine.target, "dg2");
    for (const Large& c : {Large{"f16", "f32", 16, 64, is_small ? 256 : 512}, Large{"f64", "f64", 32, 64, 64}}) {
      SCOPED_TRACE(absl::StrCat(c.type, ", ", iterations, " iterations"));
      Array a = Moderate(c.type, c.m * c.k * std::max(iterations, 1), 1);
      Array b = Moderate(c.type, c.k * c.n * std::max(iterations, 1), 2);
      Array out(c.sum_type, c.m * c.n), expected = out;
      const std::vector<double> left = a.Numbers(), right = b.Numbers();
      for (int i = 0; i < c.m; ++i)
        for (int j = 0; j < c.n; ++j) {
          double sum = 0;
          for (int t = 0; t < iterations; ++t)
            for (int k = 0; k < c.k; ++k) sum += left[(t * c.m + i) * c.k + k] * right[(t * c.k + k) * c.n + j];
          expected.SetFloat(i * c.n + j, sum);
        }
      std::string ir =
          Substitute(kLarge, {{"OFFSETS", Offsets("a", c.m, c.k) + Offsets("b", c.k, c.n) + Offsets("out", c.m, c.n)},
                              {"SIZEA", absl::StrCat(c.m * c.k)},
                              {"SIZEB", absl::StrCat(c.k * c.n)},
                              {"M", absl::StrCat(c.m)},
                              {"K", absl::StrCat(c.k)},
                              {"N", absl::StrCat(c.n)},
                              {"T", c.type},
                              {"S", c.sum_type}});
      absl::Status status = RunKernel(machine, ir, {}, {a, b, out, int32_t{iterations}}, NumStages(GetParam()));
      ASSERT_TRUE(status.ok()) << status << "\n" << ir;
      EXPECT_TRUE(Agree(out, expected, 1e-4)) << ir;
    }
  }
}

// Rows of b by index, each index loaded in the iteration.
constexpr char kGathered[] = R"(
module {
  tt.func public @kernel(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %rows: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %iterations: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = arith.constant 32 : i32
    %size = arith.constant 1024 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %width = arith.constant dense<32> : tensor<32x1xi32>
    %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %column = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %row = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %row_offsets = tt.broadcast %row : tensor<1x32xi32> -> tensor<32x32xi32>
    %start = arith.muli %column, %width : tensor<32x1xi32>
    %starts = tt.broadcast %start : tensor<32x1xi32> -> tensor<32x32xi32>
    %offsets = arith.addi %starts, %row_offsets : tensor<32x32xi32>
    %splat_b = tt.splat %b : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %splat_rows = tt.splat %rows : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %splat_out = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %outs = tt.addptr %splat_out, %offsets : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    %result = scf.for %n = %c0 to %iterations step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32>) : i32 {
      %at = arith.muli %n, %tile : i32
      %at_a = arith.muli %n, %size : i32
      %base_a = tt.addptr %a, %at_a : !tt.ptr<f32>, i32
      %splat_a = tt.splat %base_a : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
      %pa = tt.addptr %splat_a, %offsets : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
      %ats = tt.splat %at : i32 -> tensor<32xi32>
      %numbers = arith.addi %ats, %i : tensor<32xi32>
      %pi = tt.addptr %splat_rows, %numbers : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
      %index = tt.load %pi : tensor<32x!tt.ptr<i32>>
      %index2 = tt.expand_dims %index {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %start_b = arith.muli %index2, %width : tensor<32x1xi32>
      %starts_b = tt.broadcast %start_b : tensor<32x1xi32> -> tensor<32x32xi32>
      %offsets_b = arith.addi %starts_b, %row_offsets : tensor<32x32xi32>
      %pb = tt.addptr %splat_b, %offsets_b : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
      %x = tt.load %pa : tensor<32x32x!tt.ptr<f32>>
      %y = tt.load %pb : tensor<32x32x!tt.ptr<f32>>
      %d = tt.dot %x, %y, %acc : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
      scf.yield %d : tensor<32x32xf32>
    }
    tt.store %outs, %result : tensor<32x32x!tt.ptr<f32>>
    tt.return
  }
}
)";

TEST_P(Pipeline, FollowsIndicesThatAreLoaded) {
  for (int iterations : kIterations) {
    const int num_rows = 50;
    Array a = Moderate("f32", iterations * kTile * kTile + 1, 1), b = Moderate("f32", num_rows * kTile, 2);
    Array rows("i32", iterations * kTile + 1), out("f32", kTile * kTile), expected = out;
    for (size_t i = 0; i < rows.size(); ++i) rows.SetInt(i, i * 7 % num_rows);
    const std::vector<double> left = a.Numbers(), right = b.Numbers();
    for (int i = 0; i < kTile; ++i)
      for (int j = 0; j < kTile; ++j) {
        double sum = 0;
        for (int k = 0; k < iterations * kTile; ++k)
          sum += left[k / kTile * kTile * kTile + i * kTile + k % kTile] * right[rows.Int(k) * kTile + j];
        expected.SetFloat(i * kTile + j, sum);
      }
    absl::Status status =
        RunKernel(MachineFor(iterations), kGathered, {}, {a, b, rows, out, int32_t{iterations}}, NumStages(GetParam()));
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(Agree(out, expected, 1e-4)) << iterations << " iterations";
  }
}

// out = sum over the iterations of tiles of a (64 x K, e4m3) and b (K x 64, e2m1: two a byte along K). Each row of a
// and column of b has a scale for 32 elements along K.
constexpr char kScaledProduct[] = R"(
module {
  tt.func public @kernel(%a: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %b: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %sa: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %sb: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %iterations: i32, %K: i32 {tt.divisibility = 16 : i32}, %groups: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %next_a = arith.constant dense<128> : tensor<64x128xi32>
    %next_b = arith.constant dense<4096> : tensor<64x64xi32>
    %next_s = arith.constant dense<4> : tensor<64x4xi32>
    %width = arith.constant dense<64> : tensor<64x1xi32>
    %r64 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %r128 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %r4 = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
    %column = tt.expand_dims %r64 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %row64 = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %row128 = tt.expand_dims %r128 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %row4 = tt.expand_dims %r4 {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %pitch_a = tt.splat %K : i32 -> tensor<64x1xi32>
    %pitch_s = tt.splat %groups : i32 -> tensor<64x1xi32>
    %start_a = arith.muli %column, %pitch_a : tensor<64x1xi32>
    %start_b = arith.muli %column, %width : tensor<64x1xi32>
    %start_s = arith.muli %column, %pitch_s : tensor<64x1xi32>
    %starts_a = tt.broadcast %start_a : tensor<64x1xi32> -> tensor<64x128xi32>
    %starts_b = tt.broadcast %start_b : tensor<64x1xi32> -> tensor<64x64xi32>
    %starts_s = tt.broadcast %start_s : tensor<64x1xi32> -> tensor<64x4xi32>
    %rows128 = tt.broadcast %row128 : tensor<1x128xi32> -> tensor<64x128xi32>
    %rows64 = tt.broadcast %row64 : tensor<1x64xi32> -> tensor<64x64xi32>
    %rows4 = tt.broadcast %row4 : tensor<1x4xi32> -> tensor<64x4xi32>
    %at_a = arith.addi %starts_a, %rows128 : tensor<64x128xi32>
    %at_b = arith.addi %starts_b, %rows64 : tensor<64x64xi32>
    %at_s = arith.addi %starts_s, %rows4 : tensor<64x4xi32>
    %splat_a = tt.splat %a : !tt.ptr<f8E4M3FN> -> tensor<64x128x!tt.ptr<f8E4M3FN>>
    %splat_b = tt.splat %b : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>>
    %splat_sa = tt.splat %sa : !tt.ptr<i8> -> tensor<64x4x!tt.ptr<i8>>
    %splat_sb = tt.splat %sb : !tt.ptr<i8> -> tensor<64x4x!tt.ptr<i8>>
    %splat_out = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %first_a = tt.addptr %splat_a, %at_a : tensor<64x128x!tt.ptr<f8E4M3FN>>, tensor<64x128xi32>
    %first_b = tt.addptr %splat_b, %at_b : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
    %first_sa = tt.addptr %splat_sa, %at_s : tensor<64x4x!tt.ptr<i8>>, tensor<64x4xi32>
    %first_sb = tt.addptr %splat_sb, %at_s : tensor<64x4x!tt.ptr<i8>>, tensor<64x4xi32>
    %outs = tt.addptr %splat_out, %at_b : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %sum:5 = scf.for %n = %c0 to %iterations step %c1 iter_args(%pa = %first_a, %pb = %first_b, %psa = %first_sa, %psb = %first_sb, %acc = %zero) -> (tensor<64x128x!tt.ptr<f8E4M3FN>>, tensor<64x64x!tt.ptr<i8>>, tensor<64x4x!tt.ptr<i8>>, tensor<64x4x!tt.ptr<i8>>, tensor<64x64xf32>) : i32 {
      %x = tt.load %pa : tensor<64x128x!tt.ptr<f8E4M3FN>>
      %y = tt.load %pb : tensor<64x64x!tt.ptr<i8>>
      %s = tt.load %psa : tensor<64x4x!tt.ptr<i8>>
      %t = tt.load %psb : tensor<64x4x!tt.ptr<i8>>
      %d = tt.dot_scaled %x scale %s, %y scale %t, %acc lhs = e4m3 rhs = e2m1 : tensor<64x128xf8E4M3FN>, tensor<64x4xi8> * tensor<64x64xi8>, tensor<64x4xi8> -> tensor<64x64xf32>
      %pa1 = tt.addptr %pa, %next_a : tensor<64x128x!tt.ptr<f8E4M3FN>>, tensor<64x128xi32>
      %pb1 = tt.addptr %pb, %next_b : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
      %psa1 = tt.addptr %psa, %next_s : tensor<64x4x!tt.ptr<i8>>, tensor<64x4xi32>
      %psb1 = tt.addptr %psb, %next_s : tensor<64x4x!tt.ptr<i8>>, tensor<64x4xi32>
      scf.yield %pa1, %pb1, %psa1, %psb1, %d : tensor<64x128x!tt.ptr<f8E4M3FN>>, tensor<64x64x!tt.ptr<i8>>, tensor<64x4x!tt.ptr<i8>>, tensor<64x4x!tt.ptr<i8>>, tensor<64x64xf32>
    }
    tt.store %outs, %sum#4 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
)";

double ScaleOf(const Array& scales, int at) { return std::ldexp(1.0, static_cast<int>(scales.Unsigned(at)) - 127); }

TEST_P(Pipeline, MultipliesScaledTiles) {
  static constexpr double kNumbers[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6};
  constexpr int kSize = 64, kDepth = 128, kGroup = 32;
  for (int iterations : {0, 1, 4}) {
    const int k = iterations * kDepth, groups = k / kGroup;
    Array a = Moderate("f8E4M3FN", kSize * k + 1, 1), b = Values("i8", kSize * k / 2 + 1, 2);
    Array scales_a("i8", kSize * groups + 1), scales_b = scales_a, out("f32", kSize * kSize), expected = out;
    for (int i = 0; i < kSize * groups; ++i) {
      scales_a.SetInt(i, 124 + i % 7);
      scales_b.SetInt(i, 125 + i % 5);
    }
    // Rows of a and columns of b, scaled.
    std::vector<double> left = a.Numbers(), right(kSize * k);
    for (int i = 0; i < kSize; ++i)
      for (int l = 0; l < k; ++l) {
        left[i * k + l] *= ScaleOf(scales_a, i * groups + l / kGroup);
        right[i * k + l] =
            kNumbers[b.Unsigned(l / 2 * kSize + i) >> (l % 2 * 4) & 15] * ScaleOf(scales_b, i * groups + l / kGroup);
      }
    for (int i = 0; i < kSize; ++i)
      for (int j = 0; j < kSize; ++j)
        expected.SetFloat(i * kSize + j, std::inner_product(left.begin() + i * k, left.begin() + (i + 1) * k,
                                                            right.begin() + j * k, 0.0));
    absl::Status status = RunKernel(MachineFor(iterations), kScaledProduct, {},
                                    {a, b, scales_a, scales_b, out, int32_t{iterations}, int32_t{k}, int32_t{groups}},
                                    NumStages(GetParam()));
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(Agree(out, expected, 1e-4)) << iterations << " iterations";
  }
}

// No dot: the loop itself asks for stages. The pointer that the loop ends with and the last tile are results too.
constexpr char kSum[] = R"(
module {
  tt.func public @kernel(%in: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %iterations: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<512xf32>
    %next = arith.constant dense<512> : tensor<512xi32>
    %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
    %in1 = tt.splat %in : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %ins = tt.addptr %in1, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %out1 = tt.splat %out : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %outs = tt.addptr %out1, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %end:3 = scf.for %n = %c0 to %iterations step %c1 iter_args(%p = %ins, %acc = %zero, %before = %zero) -> (tensor<512x!tt.ptr<f32>>, tensor<512xf32>, tensor<512xf32>) : i32 {
      %x = tt.load %p : tensor<512x!tt.ptr<f32>>
      %number = arith.sitofp %n : i32 to f32
      %numbers = tt.splat %number : f32 -> tensor<512xf32>
      %scaled = arith.mulf %x, %numbers : tensor<512xf32>
      %both = arith.addf %scaled, %before : tensor<512xf32>
      %sum = arith.addf %acc, %both : tensor<512xf32>
      %p1 = tt.addptr %p, %next : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
      scf.yield %p1, %sum, %x : tensor<512x!tt.ptr<f32>>, tensor<512xf32>, tensor<512xf32>
    } {tt.num_stages = $STAGES : i32}
    %after = tt.load %end#0 : tensor<512x!tt.ptr<f32>>
    %total = arith.addf %end#1, %after : tensor<512xf32>
    tt.store %outs, %total : tensor<512x!tt.ptr<f32>>
    tt.return
  }
}
)";

TEST_P(Pipeline, SumsWithoutADot) {
  for (int iterations : kIterations) {
    Array in = Moderate("f32", (iterations + 1) * 512, 1), out("f32", 512), expected = out;
    for (int i = 0; i < 512; ++i) {
      double sum = in.Float(iterations * 512 + i);
      for (int n = 0; n < iterations; ++n) {
        sum += in.Float(n * 512 + i) * n;
        if (n > 0) sum += in.Float((n - 1) * 512 + i);
      }
      expected.SetFloat(i, sum);
    }
    std::string ir = Substitute(kSum, {{"STAGES", absl::StrCat(GetParam())}});
    absl::Status status = RunKernel(MachineFor(iterations), ir, {}, {in, out, int32_t{iterations}});
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(Agree(out, expected, 1e-5)) << iterations << " iterations";
  }
}

// The loop writes what it later reads, so it must keep its order.
TEST_P(Pipeline, DoesNotReadBeforeTheWrite) {
  std::string ir = Substitute(R"(
module {
  tt.func public @kernel(%data: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c6 = arith.constant 6 : i32
    %size = arith.constant 128 : i32
    %one = arith.constant dense<1.0> : tensor<128xf32>
    %next = arith.constant dense<128> : tensor<128xi32>
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    scf.for %n = %c0 to %c6 step %c1 : i32 {
      %at = arith.muli %n, %size : i32
      %base = tt.addptr %data, %at : !tt.ptr<f32>, i32
      %bases = tt.splat %base : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
      %p = tt.addptr %bases, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
      %x = tt.load %p : tensor<128x!tt.ptr<f32>>
      %y = arith.addf %x, %one : tensor<128xf32>
      %q = tt.addptr %p, %next : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
      tt.store %q, %y : tensor<128x!tt.ptr<f32>>
    } {tt.num_stages = $STAGES : i32}
    tt.return
  }
}
)",
                              {{"STAGES", absl::StrCat(GetParam())}});
  Array data("f32", 7 * 128), expected = data;
  for (int i = 0; i < 7 * 128; ++i) {
    data.SetFloat(i, i < 128 ? i : -1);
    expected.SetFloat(i, i % 128 + i / 128);
  }
  absl::Status status = RunKernel(MachineFor(2), ir, {}, {data});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(data, expected));
}

}  // namespace
}  // namespace tritond::conformance
