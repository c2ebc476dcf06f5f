// SPDX-License-Identifier: Apache-2.0
// Loops whose dots take operands that lie in memory as matrices, with rows of many pitches, bounds, and rows that wrap
// around. Devices that read them by blocks compute what all others do.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

// out ($M x $N) = a (rows from %first on, modulo %rows) times b, over %K of K in tiles of $K.
constexpr char kProduct[] = R"(
module {
  tt.func public @kernel(%a: !tt.ptr<$T> {tt.divisibility = 16 : i32}, %b: !tt.ptr<$T> {tt.divisibility = 16 : i32}, %out: !tt.ptr<$C> {tt.divisibility = 16 : i32},
      %K: i32 {tt.divisibility = 8 : i32}, %pitch_a: i32 {tt.divisibility = 4 : i32}, %pitch_b: i32 {tt.divisibility = 8 : i32}, %first: i32, %rows: i32, %columns: i32 {tt.divisibility = 4 : i32}) {
    %c0 = arith.constant 0 : i32
    %tile = arith.constant $K : i32
    %zero = arith.constant dense<$ZERO> : tensor<$Mx$Nx$C>
    %m = tt.make_range {start = 0 : i32, end = $M : i32} : tensor<$Mxi32>
    %n = tt.make_range {start = 0 : i32, end = $N : i32} : tensor<$Nxi32>
    %k = tt.make_range {start = 0 : i32, end = $K : i32} : tensor<$Kxi32>
    %firsts = tt.splat %first : i32 -> tensor<$Mxi32>
    %from = arith.addi %firsts, %m : tensor<$Mxi32>
    %moduli = tt.splat %rows : i32 -> tensor<$Mxi32>
    %row = arith.remsi %from, %moduli : tensor<$Mxi32>
    %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<$Mxi32> -> tensor<$Mx1xi32>
    %krow = tt.expand_dims %k {axis = 0 : i32} : tensor<$Kxi32> -> tensor<1x$Kxi32>
    %kcol = tt.expand_dims %k {axis = 1 : i32} : tensor<$Kxi32> -> tensor<$Kx1xi32>
    %nrow = tt.expand_dims %n {axis = 0 : i32} : tensor<$Nxi32> -> tensor<1x$Nxi32>
    %sa = tt.splat %pitch_a : i32 -> tensor<$Mx1xi32>
    %starts_a = arith.muli %rowcol, %sa : tensor<$Mx1xi32>
    %pa = tt.splat %a : !tt.ptr<$T> -> tensor<$Mx1x!tt.ptr<$T>>
    %prow_a = tt.addptr %pa, %starts_a : tensor<$Mx1x!tt.ptr<$T>>, tensor<$Mx1xi32>
    %pall_a = tt.broadcast %prow_a : tensor<$Mx1x!tt.ptr<$T>> -> tensor<$Mx$Kx!tt.ptr<$T>>
    %kall_a = tt.broadcast %krow : tensor<1x$Kxi32> -> tensor<$Mx$Kxi32>
    %ptr_a = tt.addptr %pall_a, %kall_a : tensor<$Mx$Kx!tt.ptr<$T>>, tensor<$Mx$Kxi32>
    %step_a = arith.constant dense<$K> : tensor<$Mx$Kxi32>
    %zero_a = arith.constant dense<$ZERO> : tensor<$Mx$Kx$T>
    %zero_b = arith.constant dense<$ZERO> : tensor<$Kx$Nx$T>
$B
    %sum:3 = scf.for %i = %c0 to %K step %tile iter_args(%acc = %zero, %at_a = %ptr_a, %at_b = %ptr_b) -> (tensor<$Mx$Nx$C>, tensor<$Mx$Kx!tt.ptr<$T>>, tensor<$Kx$Nx!tt.ptr<$T>>) : i32 {
      %left = arith.subi %K, %i : i32
      %left_a = tt.splat %left : i32 -> tensor<1x$Kxi32>
      %in_a = arith.cmpi slt, %krow, %left_a : tensor<1x$Kxi32>
      %mask_a = tt.broadcast %in_a : tensor<1x$Kxi1> -> tensor<$Mx$Kxi1>
      %x = tt.load %at_a, %mask_a, %zero_a : tensor<$Mx$Kx!tt.ptr<$T>>
      %left_b = tt.splat %left : i32 -> tensor<$Kx1xi32>
      %in_b = arith.cmpi slt, %kcol, %left_b : tensor<$Kx1xi32>
      %maskk_b = tt.broadcast %in_b : tensor<$Kx1xi1> -> tensor<$Kx$Nxi1>
      %bound = tt.splat %columns : i32 -> tensor<1x$Nxi32>
      %in_n = arith.cmpi sgt, %bound, %nrow : tensor<1x$Nxi32>
      %maskn_b = tt.broadcast %in_n : tensor<1x$Nxi1> -> tensor<$Kx$Nxi1>
      %mask_b = arith.andi %maskk_b, %maskn_b : tensor<$Kx$Nxi1>
      %y = tt.load %at_b, %mask_b, %zero_b : tensor<$Kx$Nx!tt.ptr<$T>>
      %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<$Mx$Kx$T> * tensor<$Kx$Nx$T> -> tensor<$Mx$Nx$C>
      %next_a = tt.addptr %at_a, %step_a : tensor<$Mx$Kx!tt.ptr<$T>>, tensor<$Mx$Kxi32>
      %next_b = tt.addptr %at_b, %step_b : tensor<$Kx$Nx!tt.ptr<$T>>, tensor<$Kx$Nxi32>
      scf.yield %d, %next_a, %next_b : tensor<$Mx$Nx$C>, tensor<$Mx$Kx!tt.ptr<$T>>, tensor<$Kx$Nx!tt.ptr<$T>>
    }
    %mcol = tt.expand_dims %m {axis = 1 : i32} : tensor<$Mxi32> -> tensor<$Mx1xi32>
    %width = arith.constant dense<$N> : tensor<$Mx1xi32>
    %lines = arith.muli %mcol, %width : tensor<$Mx1xi32>
    %all_lines = tt.broadcast %lines : tensor<$Mx1xi32> -> tensor<$Mx$Nxi32>
    %all_n = tt.broadcast %nrow : tensor<1x$Nxi32> -> tensor<$Mx$Nxi32>
    %at = arith.addi %all_lines, %all_n : tensor<$Mx$Nxi32>
    %outs = tt.splat %out : !tt.ptr<$C> -> tensor<$Mx$Nx!tt.ptr<$C>>
    %pout = tt.addptr %outs, %at : tensor<$Mx$Nx!tt.ptr<$C>>, tensor<$Mx$Nxi32>
    tt.store %pout, %sum#0 : tensor<$Mx$Nx!tt.ptr<$C>>
    tt.return
  }
}
)";

// Pointers to b, whose rows lie along N, or along K.
constexpr char kRowsAlongN[] = R"(
    %sb = tt.splat %pitch_b : i32 -> tensor<$Kx1xi32>
    %starts_b = arith.muli %kcol, %sb : tensor<$Kx1xi32>
    %all_b = tt.broadcast %starts_b : tensor<$Kx1xi32> -> tensor<$Kx$Nxi32>
    %nall_b = tt.broadcast %nrow : tensor<1x$Nxi32> -> tensor<$Kx$Nxi32>
    %off_b = arith.addi %all_b, %nall_b : tensor<$Kx$Nxi32>
    %pb = tt.splat %b : !tt.ptr<$T> -> tensor<$Kx$Nx!tt.ptr<$T>>
    %ptr_b = tt.addptr %pb, %off_b : tensor<$Kx$Nx!tt.ptr<$T>>, tensor<$Kx$Nxi32>
    %far = arith.muli %pitch_b, %tile : i32
    %step_b = tt.splat %far : i32 -> tensor<$Kx$Nxi32>
)";
constexpr char kRowsAlongK[] = R"(
    %sb = tt.splat %pitch_b : i32 -> tensor<1x$Nxi32>
    %starts_b = arith.muli %nrow, %sb : tensor<1x$Nxi32>
    %all_b = tt.broadcast %starts_b : tensor<1x$Nxi32> -> tensor<$Kx$Nxi32>
    %kall_b = tt.broadcast %kcol : tensor<$Kx1xi32> -> tensor<$Kx$Nxi32>
    %off_b = arith.addi %all_b, %kall_b : tensor<$Kx$Nxi32>
    %pb = tt.splat %b : !tt.ptr<$T> -> tensor<$Kx$Nx!tt.ptr<$T>>
    %ptr_b = tt.addptr %pb, %off_b : tensor<$Kx$Nx!tt.ptr<$T>>, tensor<$Kx$Nxi32>
    %step_b = arith.constant dense<$K> : tensor<$Kx$Nxi32>
)";

struct Shape {
  std::string type;
  int m, n, k;  // of a tile
  bool along_k;
};

std::string KernelOf(const Shape& c) {
  const bool ints = c.type == "i8";
  std::string text = Substitute(kProduct, {{"B", c.along_k ? kRowsAlongK : kRowsAlongN}});
  return Substitute(text, {{"M", absl::StrCat(c.m)},
                           {"N", absl::StrCat(c.n)},
                           {"K", absl::StrCat(c.k)},
                           {"T", c.type},
                           {"C", ints ? "i32" : "f32"},
                           {"ZERO", ints ? "0" : "0.0"}});
}

struct Launch {
  int k, pitch_a, pitch_b, first, rows, columns;
};

void Check(const Machine& machine, const Shape& c, const Launch& l, const std::string& options = "") {
  SCOPED_TRACE(absl::StrCat(c.type, ", ", c.m, "x", c.n, "x", c.k, c.along_k ? ", rows along K" : ", rows along N",
                            ", K = ", l.k, ", pitches ", l.pitch_a, " and ", l.pitch_b, ", rows ", l.first, " modulo ",
                            l.rows, ", ", l.columns, " columns, ", NameOf(machine)));
  const int lines_b = c.along_k ? std::min(c.n, l.columns) : l.k, width_b = c.along_k ? l.k : std::min(c.n, l.columns);
  // Not an element more than is read.
  Array a = Moderate(c.type, (l.rows - 1) * l.pitch_a + l.k, 1);
  Array b = Moderate(c.type, (lines_b - 1) * l.pitch_b + width_b, 2);
  Array out(c.type == "i8" ? "i32" : "f32", c.m * c.n), expected = out;
  const std::vector<double> left = a.Numbers(), right = b.Numbers();
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      double sum = 0;
      for (int d = 0; d < l.k && j < l.columns; ++d) {
        const int at_a = (l.first + i) % l.rows * l.pitch_a + d;
        const int at_b = c.along_k ? j * l.pitch_b + d : d * l.pitch_b + j;
        sum += left[at_a] * right[at_b];
      }
      out.is_float() ? expected.SetFloat(i * c.n + j, sum) : expected.SetInt(i * c.n + j, sum);
    }
  const std::string ir = KernelOf(c);
  absl::Status status = RunKernel(machine, ir, {},
                                  {a, b, out, int32_t{l.k}, int32_t{l.pitch_a}, int32_t{l.pitch_b}, int32_t{l.first},
                                   int32_t{l.rows}, int32_t{l.columns}},
                                  options);
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  // Matrix units cut operands off to tf32.
  EXPECT_TRUE(Agree(out, expected, !out.is_float() ? 0 : c.type == "f32" ? 6e-2 : 1e-3)) << ir;
}

std::vector<Shape> Shapes() {
  std::vector<Shape> shapes = {{"bf16", 16, 32, 64, false}};
  for (const char* type : {"f16", "f32", "i8"})
    for (const bool along_k : {false, true})
      for (auto [m, n, k] : {std::make_tuple(32, 64, 32), std::make_tuple(16, 32, 64)})
        shapes.push_back({type, m, n, k, along_k});
  return shapes;
}

class BlockReads : public testing::TestWithParam<Machine> {};
INSTANTIATE_TEST_SUITE_P(All, BlockReads, testing::ValuesIn(Machines({4})),
                         [](const auto& info) { return NameOf(info.param); });

TEST_P(BlockReads, GiveTheSameForAllPitchesBoundsAndRows) {
  for (const Shape& shape : Shapes()) {
    const int elements = shape.type == "f32" ? 4 : shape.type == "i8" ? 1 : 2;
    const int whole = 256 / elements;  // 256 bytes a row
    // Rows of whole lines; K and columns end within a block. Pitches that are no multiples of 16 bytes; rows that wrap
    // around; pitches that are too short.
    for (const Launch& launch :
         {Launch{whole, whole, whole, 0, 64, 128}, Launch{whole - 24, whole, whole + 16, 3, 40, 12},
          Launch{whole - 8, whole + 4, whole + 40, 5, 48, 28}, Launch{whole, whole, whole, 20, 24, 64},
          Launch{whole / 4, whole / 4, whole / 2, 1, 40, 16}}) {
      Check(GetParam(), shape, launch);
      if (HasFatalFailure()) return;
    }
  }
}

// And not where an option says so.
TEST_P(BlockReads, AreThereWhereTheDeviceHasThem) {
  const std::string& target = GetParam().target;
  const bool has =
      absl::StrContains(target, "xpu:") && !absl::StrContains(target, ":32") && !absl::StrContains(target, "dg2");
  for (const Shape& shape : Shapes()) {
    absl::StatusOr<std::string> text = CompileToTtgir(GetParam(), KernelOf(shape));
    ASSERT_TRUE(text.ok()) << text.status();
    size_t reads = 0;
    for (size_t at = text->find("block_read"); at != std::string::npos; at = text->find("block_read", at + 1)) ++reads;
    absl::StatusOr<std::string> without = CompileToTtgir(GetParam(), KernelOf(shape), "\"block_reads\": false");
    ASSERT_TRUE(without.ok()) << without.status();
    EXPECT_FALSE(absl::StrContains(*without, "block_read")) << *without;
    const bool has_unit = shape.type != "f32" || absl::StrContains(target, "pvc");
    EXPECT_EQ(reads, has && has_unit ? 2u : 0u) << shape.type << "\n" << *text;
  }
}

// What is prefetched lies within the matrices, from the first iteration to the last, however many iterations ahead.
TEST_P(BlockReads, GiveTheSameForAllStages) {
  const int kStages[] = {1, 3, 4};
  for (const int stages : kStages) {
    for (const bool along_k : {false, true}) {
      const Shape shape = {"f16", 32, 64, 32, along_k};
      for (const int k : {32, 64, 128, 104})
        Check(GetParam(), shape, {k, 128, 128, 0, 64, 64}, absl::StrCat("\"num_stages\": ", stages));
      absl::StatusOr<std::string> text =
          CompileToTtgir(GetParam(), KernelOf(shape), absl::StrCat("\"num_stages\": ", stages));
      ASSERT_TRUE(text.ok()) << text.status();
      EXPECT_EQ(absl::StrContains(*text, "block_prefetch"), stages > 1 && absl::StrContains(*text, "block_read"));
    }
  }
}

}  // namespace
}  // namespace tritond::conformance
