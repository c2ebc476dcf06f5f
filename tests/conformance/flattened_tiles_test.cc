// SPDX-License-Identifier: Apache-2.0
// One loop over all steps along K of all tiles of a program. Where a tile ends, a branch stores it and sets the sums to
// zero.
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr int kRows = 64, kColumns = 64, kStep = 32, kSteps = 4, kTiles = 3, kPrograms = 2;

// `$BRANCH` takes %d, the sums of the tile, and gives %sums. The program stops $MORE steps after the end of its tiles.
constexpr char kKernel[] = R"(
module {
  tt.func public @kernel(%x: !tt.ptr<$T> {tt.divisibility = 16 : i32}, %y: !tt.ptr<$T> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %programs = arith.constant 2 : i32
    %last = arith.constant 3 : i32
    %tiles = arith.constant 3 : i32
    %steps = arith.constant 4 : i32
    %step = arith.constant 32 : i32
    %height = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %tile_size = arith.constant 4096 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %initial = arith.constant dense<$INITIAL> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %left = arith.subi %tiles, %pid : i32
    %left_up = arith.addi %left, %c1 : i32
    %own = arith.divsi %left_up, %programs : i32
    %own_steps = arith.muli %own, %steps : i32
    %more = arith.constant $MORE : i32
    %n = arith.addi %own_steps, %more : i32
    %before = arith.subi %pid, %programs : i32
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %s = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %r_rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %r_columns = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %s_rows = tt.expand_dims %s {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %s_columns = tt.expand_dims %s {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %pitch_a = arith.constant dense<128> : tensor<64x1xi32>
    %pitch_b = arith.constant dense<64> : tensor<32x1xi32>
    %pitch_c = arith.constant dense<64> : tensor<64x1xi32>
    %a_rows = arith.muli %r_rows, %pitch_a : tensor<64x1xi32>
    %a_all = tt.broadcast %a_rows : tensor<64x1xi32> -> tensor<64x32xi32>
    %a_columns = tt.broadcast %s_columns : tensor<1x32xi32> -> tensor<64x32xi32>
    %a_offsets = arith.addi %a_all, %a_columns : tensor<64x32xi32>
    %b_rows = arith.muli %s_rows, %pitch_b : tensor<32x1xi32>
    %b_all = tt.broadcast %b_rows : tensor<32x1xi32> -> tensor<32x64xi32>
    %b_columns = tt.broadcast %r_columns : tensor<1x64xi32> -> tensor<32x64xi32>
    %b_offsets = arith.addi %b_all, %b_columns : tensor<32x64xi32>
    %c_rows = arith.muli %r_rows, %pitch_c : tensor<64x1xi32>
    %c_all = tt.broadcast %c_rows : tensor<64x1xi32> -> tensor<64x64xi32>
    %c_columns = tt.broadcast %r_columns : tensor<1x64xi32> -> tensor<64x64xi32>
    %c_offsets = arith.addi %c_all, %c_columns : tensor<64x64xi32>
    %end:3 = scf.for %i = %c0 to %n step %c1 iter_args(%k0 = %last, %tile0 = %before, %acc = %initial) -> (i32, i32, tensor<64x64xf32>) : i32 {
      %was_last = arith.cmpi eq, %k0, %last : i32
      %k1 = arith.addi %k0, %c1 : i32
      %k = arith.select %was_last, %c0, %k1 : i32
      %next_tile = arith.addi %tile0, %programs : i32
      %tile = arith.select %was_last, %next_tile, %tile0 : i32
      %row = arith.muli %tile, %height : i32
      %row_offset = arith.muli %row, %c128 : i32
      %k_offset = arith.muli %k, %step : i32
      %a_offset = arith.addi %row_offset, %k_offset : i32
      %a_base = tt.addptr %x, %a_offset : !tt.ptr<$T>, i32
      %a_ptr = tt.splat %a_base : !tt.ptr<$T> -> tensor<64x32x!tt.ptr<$T>>
      %a_ptrs = tt.addptr %a_ptr, %a_offsets : tensor<64x32x!tt.ptr<$T>>, tensor<64x32xi32>
      %a = tt.load %a_ptrs : tensor<64x32x!tt.ptr<$T>>
      %b_offset = arith.muli %k_offset, %height : i32
      %b_base = tt.addptr %y, %b_offset : !tt.ptr<$T>, i32
      %b_ptr = tt.splat %b_base : !tt.ptr<$T> -> tensor<32x64x!tt.ptr<$T>>
      %b_ptrs = tt.addptr %b_ptr, %b_offsets : tensor<32x64x!tt.ptr<$T>>, tensor<32x64xi32>
      %b = tt.load %b_ptrs : tensor<32x64x!tt.ptr<$T>>
      %d = tt.dot %a, %b, %acc, inputPrecision = tf32 : tensor<64x32x$T> * tensor<32x64x$T> -> tensor<64x64xf32>
      %c_offset = arith.muli %tile, %tile_size : i32
      %c_base = tt.addptr %out, %c_offset : !tt.ptr<f32>, i32
      %c_ptr = tt.splat %c_base : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
      %c_ptrs = tt.addptr %c_ptr, %c_offsets : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
$BRANCH
      scf.yield %k, %tile, %sums : i32, i32, tensor<64x64xf32>
    }
    %rest = arith.addi %tiles, %pid : i32
    %rest_offset = arith.muli %rest, %tile_size : i32
    %rest_base = tt.addptr %out, %rest_offset : !tt.ptr<f32>, i32
    %rest_ptr = tt.splat %rest_base : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %rest_ptrs = tt.addptr %rest_ptr, %c_offsets : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %rest_ptrs, %end#2 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
)";

constexpr char kThen[] = R"(
      %is_last = arith.cmpi eq, %k, %last : i32
      %sums = scf.if %is_last -> (tensor<64x64xf32>) {
        tt.store %c_ptrs, %d : tensor<64x64x!tt.ptr<f32>>
        scf.yield %zero : tensor<64x64xf32>
      } else {
        scf.yield %d : tensor<64x64xf32>
      })";

constexpr char kElse[] = R"(
      %goes_on = arith.cmpi ne, %k, %last : i32
      %sums = scf.if %goes_on -> (tensor<64x64xf32>) {
        scf.yield %d : tensor<64x64xf32>
      } else {
        tt.store %c_ptrs, %d : tensor<64x64x!tt.ptr<f32>>
        scf.yield %zero : tensor<64x64xf32>
      })";

// The sums go on, so that each tile also has those before it.
constexpr char kGoesOn[] = R"(
      %is_last = arith.cmpi eq, %k, %last : i32
      scf.if %is_last {
        tt.store %c_ptrs, %d : tensor<64x64x!tt.ptr<f32>>
      }
      %sums = arith.addf %d, %zero : tensor<64x64xf32>)";

struct Tiles {
  const char* branch;
  double initial;
  int more;  // steps after the last tile
};

// What each program stores: its tiles, then the sums that its loop ends with.
std::vector<double> Expected(const std::vector<double>& x, const std::vector<double>& y, const Tiles& tiles) {
  constexpr int kK = kStep * kSteps;
  std::vector<double> out(static_cast<size_t>(kTiles + kPrograms) * kRows * kColumns);
  for (int program = 0; program < kPrograms; ++program)
    for (int row = 0; row < kRows; ++row)
      for (int column = 0; column < kColumns; ++column) {
        double sum = tiles.initial;
        const int n = (kTiles - program + 1) / kPrograms * kSteps + tiles.more;
        for (int i = 0; i < n; ++i) {
          const int tile = program + i / kSteps * kPrograms, k = i % kSteps;
          for (int j = k * kStep; j < (k + 1) * kStep; ++j)
            sum += x[(tile * kRows + row) * kK + j] * y[j * kColumns + column];
          if (k < kSteps - 1) continue;
          out[(tile * kRows + row) * kColumns + column] = sum;
          if (tiles.branch != kGoesOn) sum = 0;
        }
        out[((kTiles + program) * kRows + row) * kColumns + column] = sum;
      }
  return out;
}

TEST(FlattenedTiles, AreEachTheirOwnSum) {
  // A tile more than there are may begin.
  constexpr int kReadTiles = kTiles + kPrograms;
  for (const Machine& machine : Machines({4, 8}))
    for (const char* type : {"f16", "f32"})
      for (const Tiles& tiles : {Tiles{kThen, 0, 0}, {kThen, 2, 3}, {kElse, 0, 2}, {kElse, 1, 0}, {kGoesOn, 0, 1}}) {
        Array x = Array::OfFloats(type, Moderate("bf16", kReadTiles * kRows * kStep * kSteps, 1).Numbers());
        Array y = Array::OfFloats(type, Moderate("bf16", kStep * kSteps * kColumns, 2).Numbers());
        Array actual("f32", (kTiles + kPrograms) * kRows * kColumns), expected = actual;
        const std::vector<double> sums = Expected(x.Numbers(), y.Numbers(), tiles);
        for (size_t i = 0; i < sums.size(); ++i) expected.SetFloat(i, sums[i]);
        const std::string text = Substitute(kKernel, {{"BRANCH", tiles.branch},
                                                      {"INITIAL", absl::StrCat(tiles.initial, ".0")},
                                                      {"MORE", absl::StrCat(tiles.more)},
                                                      {"T", type}});
        const absl::Status status = RunKernel(machine, text, {kPrograms, 1, 1}, {x, y, actual});
        ASSERT_TRUE(status.ok()) << NameOf(machine) << " " << type << ": " << status;
        EXPECT_TRUE(Agree(actual, expected, 1e-4)) << NameOf(machine) << " " << type << " " << tiles.initial;
      }
}

// Where %i % 3 == 1 the sums begin anew, and are kept as they are until the next such iteration.
constexpr char kKept[] = R"(
module {
  tt.func public @kernel(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %flags: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %step = arith.constant 4096 : i32
    %width = arith.constant dense<64> : tensor<64x1xi32>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %starts = arith.muli %rows, %width : tensor<64x1xi32>
    %all = tt.broadcast %starts : tensor<64x1xi32> -> tensor<64x64xi32>
    %across = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
    %offsets = arith.addi %all, %across : tensor<64x64xi32>
    %end:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero, %kept = %zero) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
      %at = arith.muli %i, %step : i32
      %a_base = tt.addptr %x, %at : !tt.ptr<f16>, i32
      %a_ptr = tt.splat %a_base : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
      %a_ptrs = tt.addptr %a_ptr, %offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %a = tt.load %a_ptrs : tensor<64x64x!tt.ptr<f16>>
      %b_ptr = tt.splat %y : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
      %b_ptrs = tt.addptr %b_ptr, %offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %b = tt.load %b_ptrs : tensor<64x64x!tt.ptr<f16>>
      %d = tt.dot %a, %b, %sum : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %k = arith.remsi %i, %c3 : i32
      %ends = arith.cmpi eq, %k, %c1 : i32
      %flag = tt.addptr %flags, %i : !tt.ptr<i32>, i32
      %s:2 = scf.if %ends -> (tensor<64x64xf32>, tensor<64x64xf32>) {
        tt.store %flag, %c1 : !tt.ptr<i32>
        scf.yield %zero, %d : tensor<64x64xf32>, tensor<64x64xf32>
      } else {
        scf.yield %d, %kept : tensor<64x64xf32>, tensor<64x64xf32>
      }
      scf.yield %s#0, %s#1 : tensor<64x64xf32>, tensor<64x64xf32>
    }
    %o_ptr = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %o_ptrs = tt.addptr %o_ptr, %offsets : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %o_ptrs, %end#1 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
)";

TEST(FlattenedTiles, KeepTheirSumsInTheNextIterations) {
  constexpr int kSteps = 7, kElements = 64 * 64;
  for (const Machine& machine : Machines({4, 8})) {
    Array x("f16", kSteps * kElements), y("f16", kElements), actual("f32", kElements), expected = actual;
    Array flags = Array::OfInts("i32", std::vector<int64_t>(kSteps));
    for (size_t i = 0; i < x.size(); ++i) x.SetFloat(i, static_cast<int>(i * 7 % 11) - 5);
    for (int i = 0; i < kElements; ++i) y.SetFloat(i, i / 64 == i % 64);
    // Iterations 2, 3 and 4 are the last ones that end.
    for (int i = 0; i < kElements; ++i)
      expected.SetFloat(i, x.Float(2 * kElements + i) + x.Float(3 * kElements + i) + x.Float(4 * kElements + i));
    absl::Status status = RunKernel(machine, kKept, {}, {x, y, actual, flags, int32_t{kSteps}});
    ASSERT_TRUE(status.ok()) << NameOf(machine) << ": " << status;
    EXPECT_TRUE(Agree(actual, expected)) << NameOf(machine);
  }
}

}  // namespace
}  // namespace tritond::conformance
