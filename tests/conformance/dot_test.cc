// SPDX-License-Identifier: Apache-2.0
// Matrix products of every operand type, plain, in batches and microscaled, small and large enough for a loop over K.
#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/cover_pairs.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

// Loads a row-major matrix `name` (batch x rows x columns) from %name.
std::string Load(const std::string& name, const std::string& type, int count, const std::string& shape) {
  return Substitute(R"(    %$M_i = tt.make_range {start = 0 : i32, end = $N : i32} : tensor<$Nxi32>
    %$M_s = tt.splat %$M : !tt.ptr<$T> -> tensor<$Nx!tt.ptr<$T>>
    %$M_p = tt.addptr %$M_s, %$M_i : tensor<$Nx!tt.ptr<$T>>, tensor<$Nxi32>
    %$M_f = tt.load %$M_p : tensor<$Nx!tt.ptr<$T>>
    %$M_x = tt.reshape %$M_f : tensor<$Nx$T> -> tensor<$SHAPEx$T>
)",
                    {{"M", name}, {"T", type}, {"N", absl::StrCat(count)}, {"SHAPE", shape}});
}

std::string Store(const std::string& type, int count, const std::string& shape) {
  return Substitute(R"(    %f = tt.reshape %d : tensor<$SHAPEx$T> -> tensor<$Nx$T>
    %i = tt.make_range {start = 0 : i32, end = $N : i32} : tensor<$Nxi32>
    %s = tt.splat %out : !tt.ptr<$T> -> tensor<$Nx!tt.ptr<$T>>
    %p = tt.addptr %s, %i : tensor<$Nx!tt.ptr<$T>>, tensor<$Nxi32>
    tt.store %p, %f : tensor<$Nx!tt.ptr<$T>>
    tt.return
)",
                    {{"T", type}, {"N", absl::StrCat(count)}, {"SHAPE", shape}});
}

struct Case {
  int batch, m, n, k;
  std::string a, c;  // element types of operands and result
  Machine machine;
  std::string precision = "";  // as in tt.dot
  std::string b = a;
  int imprecise = b == a ? 0 : 1 << 30;  // maxNumImpreciseAcc
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.m << "x" << c.n << "x" << c.k << " " << c.a; }
std::string NameCase(const testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return absl::StrCat(c.a, "_", c.b == c.a ? "" : c.b + "_", c.c, "_",
                      c.b == c.a && c.imprecise > 0 ? absl::StrCat("each", c.imprecise, "_") : "", c.batch, "x", c.m,
                      "x", c.n, "x", c.k, "_", c.precision.empty() ? "" : c.precision + "_", NameOf(c.machine));
}

// Of results, in relation to those greater than 1.
double ToleranceOf(const Case& c) {
  if (c.precision == "tf32") return 2e-2;
  if (c.precision == "bf16x3") return 1e-3;
  if (!c.precision.empty()) return 2e-5;
  if (c.c[0] == 'i') return 0;
  // Tensor cores may add to f16 accumulators as they are: they are then rounded each 16 elements of K.
  if (c.c == "f16") return 2e-2 * std::max(1.0, c.k / 32.0);
  return c.c == "f64" ? 1e-12 : c.c == "bf16" ? 5e-2 : 1e-4;
}

std::string KernelOf(const Case& c, int a_size, int b_size, int c_size) {
  const auto shape = [&](int rows, int columns) {
    return absl::StrCat(c.batch > 1 ? absl::StrCat(c.batch, "x") : "", rows, "x", columns);
  };
  const std::string shape_a = shape(c.m, c.k), shape_b = shape(c.k, c.n), shape_c = shape(c.m, c.n);
  return absl::StrCat("module {\n  tt.func public @kernel(%a: !tt.ptr<", c.a, ">, %b: !tt.ptr<", c.b, ">, %c: !tt.ptr<",
                      c.c, ">, %out: !tt.ptr<", c.c, ">) {\n", Load("a", c.a, a_size, shape_a),
                      Load("b", c.b, b_size, shape_b), Load("c", c.c, c_size, shape_c),
                      "    %d = tt.dot %a_x, %b_x, %c_x",
                      c.precision.empty() ? "" : ", inputPrecision = " + c.precision,
                      c.imprecise == 0 ? "" : absl::StrCat(" {maxNumImpreciseAcc = ", c.imprecise, " : i32}"),
                      " : tensor<", shape_a, "x", c.a, "> * tensor<", shape_b, "x", c.b, "> -> tensor<", shape_c, "x",
                      c.c, ">\n", Store(c.c, c_size, shape_c), "  }\n}\n");
}

class Dot : public testing::TestWithParam<Case> {};

TEST_P(Dot, MultipliesMatrices) {
  const Case& c = GetParam();
  Array a = Moderate(c.a, c.batch * c.m * c.k, 1), b = Moderate(c.b, c.batch * c.k * c.n, 2);
  // Splitting an infinity into parts must not make a NaN of it.
  if (!c.precision.empty()) a.SetFloat(0, INFINITY);
  Array initial = Moderate(c.c, c.batch * c.m * c.n, 3), actual(c.c, initial.size()), expected = actual;
  const std::vector<double> left = a.Numbers(), right = b.Numbers(), accumulators = initial.Numbers();
  for (int g = 0; g < c.batch; ++g)
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        size_t at = (g * c.m + i) * c.n + j;
        double sum = accumulators[at];
        for (int k = 0; k < c.k; ++k) sum += left[(g * c.m + i) * c.k + k] * right[(g * c.k + k) * c.n + j];
        initial.is_float() ? expected.SetFloat(at, sum) : expected.SetInt(at, static_cast<int64_t>(sum));
      }
  const std::string ir = KernelOf(c, a.size(), b.size(), initial.size());
  absl::Status status = RunKernel(c.machine, ir, {}, {a, b, initial, actual});
  if (absl::IsInvalidArgument(status) && absl::StrContains(status.message(), "has no f64")) GTEST_SKIP() << status;
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(actual, expected, ToleranceOf(c))) << ir;
}

std::vector<Case> Cases() {
  const std::vector<std::pair<std::string, std::string>> types = {
      {"f32", "f32"},   {"f16", "f32"},    {"bf16", "f32"},     {"i8", "i32"},  {"f64", "f64"}, {"f16", "f16"},
      {"bf16", "bf16"}, {"f8E5M2", "f32"}, {"f8E4M3FN", "f32"}, {"i16", "i32"}, {"i32", "i32"}};
  std::vector<Case> cases;
  int turn = 0;
  for (const auto& [a, c] : types)
    for (auto [batch, m, n, k] :
         {std::array{1, 16, 16, 16}, std::array{1, 32, 16, 64}, std::array{1, 16, 64, 32}, std::array{1, 64, 64, 32},
          std::array{1, 128, 32, 16}, std::array{4, 16, 16, 32}, std::array{2, 32, 32, 16}, std::array{1, 1, 64, 32},
          std::array{1, 8, 16, 64}, std::array{1, 32, 4, 32}, std::array{2, 4, 2, 32}, std::array{1, 2, 16, 64}})
      cases.push_back({batch, m, n, k, a, c, MachineFor(turn++)});
  for (const Machine& machine : Machines({1, 2, 4, 8})) {
    for (const char* precision : {"tf32", "tf32x3", "bf16x3", "bf16x6"})
      cases.push_back({1, 32, 32, 32, "f32", "f32", machine, precision});
    for (int rows : {1, 4, 8}) cases.push_back({1, rows, 16, 32, "f32", "f32", machine, "tf32"});
    cases.push_back({1, 64, 32, 64, "f8E4M3FN", "f32", machine, "", "f8E5M2"});
    cases.push_back({1, 64, 32, 64, "f8E5M2", "f32", machine, "", "f8E4M3FN"});
    for (int imprecise : {32, 80, 128})
      cases.push_back({1, 128, 64, 128, "f8E4M3FN", "f32", machine, "", "f8E4M3FN", imprecise});
    cases.push_back({1, 128, 64, 128, "f16", "f32", machine});
    cases.push_back({1, 128, 64, 64, "f16", "f16", machine});
    cases.push_back({1, 64, 32, 64, "f64", "f64", machine});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, Dot, testing::ValuesIn(Cases()), NameCase);

// To the binary, whose check knows the device's functions.
TEST(SmallDots, CompileForMatrixUnits) {
  if (RunsOnOneDevice()) GTEST_SKIP() << "compiled where all devices are";
  for (const char* target : {"xpu:pvc", "xpu:bmg", "xpu:dg2:8"})
    for (int rows : {1, 2, 4, 8})
      for (const auto& [type, precision] : {std::pair("f16", ""), {"bf16", ""}, {"i8", ""}, {"f32", "tf32"}}) {
        const Case c = {1, rows, 16, 32, type, type[0] == 'i' ? "i32" : "f32", {}, precision};
        const absl::Status status = CompileKernel(target, KernelOf(c, rows * 32, 32 * 16, rows * 16));
        EXPECT_TRUE(status.ok()) << target << " " << rows << " " << type << ": " << status;
      }
}

struct ScaledCase {
  std::string a, b;  // as in tt.dot_scaled
  bool scale_a, scale_b;
  Machine machine;
  bool pack_k = true;             // e2m1 codes lie two a byte along K, or along the other dimension
  int group = 32;                 // elements along K with one scale
  std::string scale_type = "i8";  // powers of two, or numbers of f8E4M3FN
  int batch = 1;
  int m = 32, n = 16, k = 64;
};

void PrintTo(const ScaledCase& c, std::ostream* os) { *os << c.a << " " << c.b; }

std::string TypeOf(const std::string& format) {
  if (format == "e4m3") return "f8E4M3FN";
  if (format == "e5m2") return "f8E5M2";
  return format == "e2m1" || format == "e2m3" || format == "e3m2" ? "i8" : format == "fp16" ? "f16" : format;
}

// One operand as it lies in memory: batch x rows x columns, where a's columns and b's rows run along K.
class ScaledOperand {
 public:
  ScaledOperand(const ScaledCase& c, bool is_a, unsigned seed)
      : format_(is_a ? c.a : c.b),
        rows_(is_a ? c.m : c.k),
        columns_(is_a ? c.k : c.n),
        is_packed_(format_ == "e2m1"),
        packs_columns_(c.pack_k == is_a),
        values_(is_packed_ ? Values("i8", c.batch * rows_ * columns_ / 2, seed)
                           : Moderate(TypeOf(format_), c.batch * rows_ * columns_, seed)),
        numbers_(is_packed_ ? Unpacked(c.batch) : values_.Numbers()) {}

  Array& values() { return values_; }
  std::string Shape() const {
    int rows = is_packed_ && !packs_columns_ ? rows_ / 2 : rows_;
    return absl::StrCat(rows, "x", is_packed_ && packs_columns_ ? columns_ / 2 : columns_);
  }
  double At(int batch, int row, int column) const { return numbers_[(batch * rows_ + row) * columns_ + column]; }

 private:
  std::vector<double> Unpacked(int batches) const {
    static constexpr double kNumbers[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    std::vector<double> numbers;
    for (int at = 0; at < batches * rows_ * columns_; ++at) {
      const int row = at / columns_, column = at % columns_;  // rows of all batches are one after the other
      const int byte = packs_columns_ ? row * (columns_ / 2) + column / 2 : row / 2 * columns_ + column;
      const unsigned code = values_.Unsigned(byte) >> ((packs_columns_ ? column : row) % 2 * 4) & 15;
      numbers.push_back(code & 8 ? -kNumbers[code & 7] : kNumbers[code & 7]);
    }
    return numbers;
  }

  std::string format_;
  int rows_, columns_;
  bool is_packed_, packs_columns_;
  Array values_;
  std::vector<double> numbers_;
};

Array Scales(const ScaledCase& c, int rows, unsigned first) {
  Array scales(c.scale_type, c.batch * rows * (c.k / c.group));
  for (size_t i = 0; i < scales.size(); ++i) {
    if (scales.is_float()) {
      scales.SetFloat(i, 0.25 * (1 + (i + first) % 9));
    } else {
      scales.SetInt(i, 124 + (i + first) % 7);
    }
  }
  return scales;
}
std::vector<double> NumbersOf(const Array& scales) {
  std::vector<double> numbers;
  for (size_t i = 0; i < scales.size(); ++i)
    numbers.push_back(scales.is_float() ? scales.Float(i)
                                        : std::ldexp(1.0, static_cast<int>(scales.Unsigned(i)) - 127));
  return numbers;
}

std::string Kernel(const ScaledCase& c, ScaledOperand& a, ScaledOperand& b) {
  std::string batch = c.batch > 1 ? absl::StrCat(c.batch, "x") : "", groups = absl::StrCat("x", c.k / c.group);
  std::string shape_a = batch + a.Shape(), shape_b = batch + b.Shape(), shape = absl::StrCat(batch, c.m, "x", c.n);
  std::string scales_a = absl::StrCat(batch, c.m, groups), scales_b = absl::StrCat(batch, c.n, groups);
  auto typed = [](const std::string& shape, const std::string& type) { return "tensor<" + shape + "x" + type + ">"; };
  std::string attributes = c.pack_k ? "" : " {fastMath = false, lhs_k_pack = false, rhs_k_pack = false}";
  int size = c.batch * c.k / c.group;
  return absl::StrCat(
      "module {\n  tt.func public @kernel(%a: !tt.ptr<", TypeOf(c.a), ">, %b: !tt.ptr<", TypeOf(c.b),
      ">, %sa: !tt.ptr<", c.scale_type, ">, %sb: !tt.ptr<", c.scale_type, ">, %out: !tt.ptr<f32>) {\n",
      Load("a", TypeOf(c.a), a.values().size(), shape_a), Load("b", TypeOf(c.b), b.values().size(), shape_b),
      Load("sa", c.scale_type, c.m * size, scales_a), Load("sb", c.scale_type, c.n * size, scales_b),
      "    %zero = arith.constant dense<0.0> : ", typed(shape, "f32"), "\n    %d = tt.dot_scaled %a_x",
      c.scale_a ? " scale %sa_x" : "", ", %b_x", c.scale_b ? " scale %sb_x" : "", ", %zero lhs = ", c.a, " rhs = ", c.b,
      attributes, " : ", typed(shape_a, TypeOf(c.a)), c.scale_a ? ", " + typed(scales_a, c.scale_type) : "", " * ",
      typed(shape_b, TypeOf(c.b)), c.scale_b ? ", " + typed(scales_b, c.scale_type) : "", " -> ", typed(shape, "f32"),
      "\n", Store("f32", c.batch * c.m * c.n, shape), "  }\n}\n");
}

class DotScaled : public testing::TestWithParam<ScaledCase> {};

TEST_P(DotScaled, MultipliesScaledMatrices) {
  const ScaledCase& c = GetParam();
  ScaledOperand a(c, true, 1), b(c, false, 2);
  Array scale_a = Scales(c, c.m, 0), scale_b = Scales(c, c.n, 3);
  Array actual("f32", c.batch * c.m * c.n), expected = actual;
  const std::vector<double> left = NumbersOf(scale_a), right = NumbersOf(scale_b);
  int groups = c.k / c.group;
  for (int g = 0; g < c.batch; ++g)
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        double sum = 0;
        for (int k = 0; k < c.k; ++k) {
          double x = a.At(g, i, k), y = b.At(g, k, j);
          if (c.scale_a) x *= left[(g * c.m + i) * groups + k / c.group];
          if (c.scale_b) y *= right[(g * c.n + j) * groups + k / c.group];
          sum += x * y;
        }
        expected.SetFloat((g * c.m + i) * c.n + j, sum);
      }
  std::string ir = Kernel(c, a, b);
  absl::Status status = RunKernel(c.machine, ir, {}, {a.values(), b.values(), scale_a, scale_b, actual});
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  // Numbers of f8E4M3FN, unlike powers of two, make products that bf16 rounds.
  EXPECT_TRUE(Agree(actual, expected, c.scale_type == "i8" ? 1e-4 : 0.2)) << ir;
}

// Powers of two that no number has: the smallest, and the code for NaN.
TEST_P(DotScaled, ScalesOfTheEnds) {
  ScaledCase c = GetParam();
  if (!c.scale_a || c.scale_type != "i8" || c.batch > 1) return;
  ScaledOperand a(c, true, 1), b(c, false, 2);
  Array scale_a = Scales(c, c.m, 0), scale_b = Scales(c, c.n, 3), actual("f32", c.m * c.n);
  for (size_t i = 0; i < scale_a.size(); ++i) scale_a.SetInt(i, int(i) / (c.k / c.group) % 2 == 0 ? 0 : 255);
  absl::Status status = RunKernel(c.machine, Kernel(c, a, b), {}, {a.values(), b.values(), scale_a, scale_b, actual});
  ASSERT_TRUE(status.ok()) << status;
  for (int i = 0; i < c.m * c.n; ++i) {
    if (i / c.n % 2 == 0) EXPECT_LT(std::abs(actual.Float(i)), 1e-30) << i;
    if (i / c.n % 2 == 1) EXPECT_TRUE(std::isnan(actual.Float(i))) << i;
  }
}

TEST(DotScaledFormats, AllOthersCompileForNvidia) {
  if (RunsOnOneDevice()) GTEST_SKIP() << "compiled where all devices are";
  const char* formats[] = {"e4m3", "e5m2", "e2m1", "bf16", "fp16"};
  for (const char* format_a : formats)
    for (const char* format_b : formats) {
      ScaledCase c{format_a, format_b, true, true, MachineFor(0)};
      ScaledOperand a(c, true, 1), b(c, false, 2);
      absl::Status status = CompileKernel("cuda:90", Kernel(c, a, b));
      EXPECT_TRUE(status.ok()) << format_a << " " << format_b << ": " << status;
    }
}

TEST(DotScaledFormats, SixBitsAreRefused) {
  for (const char* format : {"e2m3", "e3m2"}) {
    ScaledCase c{format, "bf16", true, false, MachineFor(0)};
    ScaledOperand a(c, true, 1), b(c, false, 2);
    Array scale_a = Scales(c, c.m, 0), scale_b = Scales(c, c.n, 3), actual("f32", c.m * c.n);
    absl::Status status = RunKernel(c.machine, Kernel(c, a, b), {}, {a.values(), b.values(), scale_a, scale_b, actual});
    EXPECT_NE(status.message().find(absl::StrCat("operands of format ", format)), std::string::npos) << status;
  }
}

// The machine of a turn. Large tiles go to 4 and 8 warps, as in every kernel: one warp has thousands of instructions
// for them, which take seconds to compile.
Machine MachineForTile(int turn, int64_t products) {
  if (products < int64_t{1} << 19) return MachineFor(turn);
  static const auto* machines = new std::vector<Machine>(Machines({4, 8}));
  return (*machines)[turn % machines->size()];
}

// Whole tiles of the matrix instructions that take scales: large and small ones, one and several of them. Pairs of two
// parameters are complete: formats, shape, which scales there are, and machine. Tiles of e2m1 alone have instructions
// of their own, so they have each shape.
std::vector<ScaledCase> WholeTiles() {
  static constexpr const char* kFormats[] = {"e4m3", "e5m2", "e2m1"};
  static constexpr int kShapes[][4] = {{1, 32, 32, 64},  {1, 16, 16, 128}, {1, 64, 128, 128},
                                       {1, 16, 64, 256}, {2, 32, 64, 128}, {1, 64, 16, 512}};
  const int count = static_cast<int>(Machines({1, 2, 4, 8}).size());
  std::vector<std::vector<int>> rows = CoverPairs({3, 3, std::size(kShapes), 4, count});
  for (int shape = 0; shape < static_cast<int>(std::size(kShapes)); ++shape)
    rows.push_back({2, 2, shape, 3, shape % count});
  std::vector<ScaledCase> cases;
  for (const std::vector<int>& row : rows) {
    const auto& [batch, m, n, k] = kShapes[row[2]];
    cases.push_back({kFormats[row[0]], kFormats[row[1]], (row[3] & 1) != 0, (row[3] & 2) != 0,
                     MachineForTile(row[4], int64_t{batch} * m * n * k),
                     /*pack_k=*/true, 32, "i8", batch, m, n, k});
  }
  return cases;
}

std::vector<ScaledCase> ScaledCases() {
  std::vector<ScaledCase> cases;
  int turn = 0;
  const char* formats[] = {"e4m3", "e5m2", "e2m1", "bf16", "fp16"};
  for (const char* a : formats)
    for (const char* b : formats)
      cases.push_back({a, b, std::string(a) != "bf16" && std::string(a) != "fp16", turn % 2 == 0, MachineFor(turn++)});
  for (const char* other : formats) {
    cases.push_back({"e2m1", other, true, false, MachineFor(turn++), /*pack_k=*/false});
    cases.push_back({other, "e2m1", turn % 2 == 0, true, MachineFor(turn++), /*pack_k=*/false});
    cases.push_back({"e2m1", other, true, true, MachineFor(turn++), true, /*group=*/16});
    cases.push_back({"e4m3", other, true, true, MachineFor(turn++), true, 32, "i8", /*batch=*/2});
  }
  // As two of today's formats have it: fp4 with a number of fp8 for 16 elements.
  for (const Machine& machine : Machines({1, 2, 4, 8}))
    cases.push_back({"e2m1", "e2m1", true, true, machine, true, 16, "f8E4M3FN"});
  for (const ScaledCase& c : WholeTiles()) cases.push_back(c);
  // The same with e2m1 packed along the rows of a and the columns of b.
  for (auto [a, b] : {std::pair("e2m1", "e2m1"), {"e2m1", "e4m3"}, {"e5m2", "e2m1"}}) {
    for (auto [batch, m, n, k] : {std::array{1, 32, 32, 64}, std::array{1, 16, 16, 128}, std::array{1, 64, 128, 128},
                                  std::array{2, 32, 64, 128}, std::array{1, 64, 16, 512}}) {
      cases.push_back({a, b, turn % 3 != 0, turn % 2 == 0, MachineForTile(turn, int64_t{batch} * m * n * k),
                       /*pack_k=*/false, 32, "i8", batch, m, n, k});
      ++turn;
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, DotScaled, testing::ValuesIn(ScaledCases()), [](const auto& info) {
  const ScaledCase& c = info.param;
  return absl::StrCat(c.a, "_", c.b, "_by_", c.group, c.scale_type, c.pack_k ? "_" : "_across_", c.batch, "_", c.m, "x",
                      c.n, "x", c.k, "_", NameOf(c.machine), "_", info.index);
});

// Programs that go from tile to tile of the result, with one loop over the tiles and K together.
constexpr char kPersistentProduct[] = R"(module {
  tt.func public @kernel(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32},
                         %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32 {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %tiles = arith.constant 6 : i32
    %c32 = arith.constant 32 : i32
    %next_a = arith.constant dense<32> : tensor<32x32xi32>
    %next_b = arith.constant dense<2048> : tensor<32x32xi32>
    %width = arith.constant dense<64> : tensor<32x1xi32>
    %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %r_row = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %r_column = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %first = tt.get_program_id x : i32
    %programs = tt.get_num_programs x : i32
    scf.for %t = %first to %tiles step %programs : i32 {
      %tm = arith.divsi %t, %c2 : i32
      %tn = arith.remsi %t, %c2 : i32
      %m = arith.muli %tm, %c32 : i32
      %n = arith.muli %tn, %c32 : i32
      %ms = tt.splat %m : i32 -> tensor<32x1xi32>
      %rows = arith.addi %ms, %r_column : tensor<32x1xi32>
      %ns = tt.splat %n : i32 -> tensor<1x32xi32>
      %columns = arith.addi %ns, %r_row : tensor<1x32xi32>
      %all_columns = tt.broadcast %columns : tensor<1x32xi32> -> tensor<32x32xi32>
      %ks = tt.splat %k : i32 -> tensor<32x1xi32>
      %a_rows = arith.muli %rows, %ks : tensor<32x1xi32>
      %a_starts = tt.broadcast %a_rows : tensor<32x1xi32> -> tensor<32x32xi32>
      %a_along = tt.broadcast %r_row : tensor<1x32xi32> -> tensor<32x32xi32>
      %a_offsets = arith.addi %a_starts, %a_along : tensor<32x32xi32>
      %a_all = tt.splat %a : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
      %a_from = tt.addptr %a_all, %a_offsets : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
      %b_rows = arith.muli %r_column, %width : tensor<32x1xi32>
      %b_starts = tt.broadcast %b_rows : tensor<32x1xi32> -> tensor<32x32xi32>
      %b_offsets = arith.addi %b_starts, %all_columns : tensor<32x32xi32>
      %b_all = tt.splat %b : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
      %b_from = tt.addptr %b_all, %b_offsets : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
      %sum:3 = scf.for %j = %c0 to %k step %c32 iter_args(%acc = %zero, %ap = %a_from, %bp = %b_from)
          -> (tensor<32x32xf32>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>) : i32 {
        %x = tt.load %ap : tensor<32x32x!tt.ptr<f16>>
        %y = tt.load %bp : tensor<32x32x!tt.ptr<f16>>
        %d = tt.dot %x, %y, %acc : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
        %ap2 = tt.addptr %ap, %next_a : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
        %bp2 = tt.addptr %bp, %next_b : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
        scf.yield %d, %ap2, %bp2 : tensor<32x32xf32>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>
      }
      %c_rows = arith.muli %rows, %width : tensor<32x1xi32>
      %c_starts = tt.broadcast %c_rows : tensor<32x1xi32> -> tensor<32x32xi32>
      %c_offsets = arith.addi %c_starts, %all_columns : tensor<32x32xi32>
      %c_all = tt.splat %c : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
      %to = tt.addptr %c_all, %c_offsets : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
      tt.store %to, %sum#0 : tensor<32x32x!tt.ptr<f32>>
    } {tt.flatten}
    tt.return
  }
}
)";

class PersistentProduct : public testing::TestWithParam<Machine> {};

TEST_P(PersistentProduct, GoesOnFromTileToTile) {
  constexpr int kRows = 96, kColumns = 64;
  int turn = 0;
  for (int k : {0, 32, 96})
    for (uint32_t programs : {1u, 4u, 7u}) {
      Array a = Moderate("f16", kRows * std::max(k, 1), 1), b = Moderate("f16", std::max(k, 1) * kColumns, 2);
      Array actual("f32", kRows * kColumns), expected = actual;
      const std::vector<double> left = a.Numbers(), right = b.Numbers();
      for (int i = 0; i < kRows; ++i)
        for (int j = 0; j < kColumns; ++j) {
          double sum = 0;
          for (int l = 0; l < k; ++l) sum += left[i * k + l] * right[l * kColumns + j];
          expected.SetFloat(i * kColumns + j, sum);
        }
      workers::Grid grid;
      grid.x = programs;
      std::string options = absl::StrCat("\"num_stages\": ", 1 + turn++ % 3);
      absl::Status status = RunKernel(GetParam(), kPersistentProduct, grid, {a, b, actual, k}, options);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_TRUE(Agree(actual, expected, 1e-4)) << "k = " << k << ", " << programs << " programs, " << options;
    }
}

INSTANTIATE_TEST_SUITE_P(Machines, PersistentProduct, testing::ValuesIn(Machines({1, 4})),
                         [](const auto& info) { return NameOf(info.param); });

// A product of 64 x 64 elements whose loop over K carries the accumulators, in the type of the result.
constexpr char kLoop[] = R"(module {
  tt.func public @kernel(%a: !tt.ptr<$T> {tt.divisibility = 16 : i32}, %b: !tt.ptr<$T> {tt.divisibility = 16 : i32},
                         %c: !tt.ptr<$S> {tt.divisibility = 16 : i32}, %k: i32 {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.0> : tensor<64x64x$S>
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %width = arith.constant dense<64> : tensor<64x1xi32>
    %width_b = arith.constant dense<64> : tensor<32x1xi32>
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %s = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %ks = tt.splat %k : i32 -> tensor<64x1xi32>
    %a_rows = arith.muli %rows, %ks : tensor<64x1xi32>
    %a_starts = tt.broadcast %a_rows : tensor<64x1xi32> -> tensor<64x32xi32>
    %b_columns = tt.broadcast %columns : tensor<1x64xi32> -> tensor<32x64xi32>
    %a_all = tt.splat %a : !tt.ptr<$T> -> tensor<64x32x!tt.ptr<$T>>
    %b_all = tt.splat %b : !tt.ptr<$T> -> tensor<32x64x!tt.ptr<$T>>
    %sum = scf.for %j = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<64x64x$S>) : i32 {
      %js = tt.splat %j : i32 -> tensor<32xi32>
      %at = arith.addi %js, %s : tensor<32xi32>
      %along = tt.expand_dims %at {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %across = tt.expand_dims %at {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %a_along = tt.broadcast %along : tensor<1x32xi32> -> tensor<64x32xi32>
      %a_offsets = arith.addi %a_starts, %a_along : tensor<64x32xi32>
      %b_rows = arith.muli %across, %width_b : tensor<32x1xi32>
      %b_starts = tt.broadcast %b_rows : tensor<32x1xi32> -> tensor<32x64xi32>
      %b_offsets = arith.addi %b_starts, %b_columns : tensor<32x64xi32>
      %ap = tt.addptr %a_all, %a_offsets : tensor<64x32x!tt.ptr<$T>>, tensor<64x32xi32>
      %bp = tt.addptr %b_all, %b_offsets : tensor<32x64x!tt.ptr<$T>>, tensor<32x64xi32>
      %x = tt.load %ap : tensor<64x32x!tt.ptr<$T>>
      %y = tt.load %bp : tensor<32x64x!tt.ptr<$T>>
      %d = tt.dot %x, %y, %acc : tensor<64x32x$T> * tensor<32x64x$T> -> tensor<64x64x$S>
      scf.yield %d : tensor<64x64x$S>
    }
    %c_rows = arith.muli %rows, %width : tensor<64x1xi32>
    %c_starts = tt.broadcast %c_rows : tensor<64x1xi32> -> tensor<64x64xi32>
    %c_columns = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
    %c_offsets = arith.addi %c_starts, %c_columns : tensor<64x64xi32>
    %c_all = tt.splat %c : !tt.ptr<$S> -> tensor<64x64x!tt.ptr<$S>>
    %to = tt.addptr %c_all, %c_offsets : tensor<64x64x!tt.ptr<$S>>, tensor<64x64xi32>
    tt.store %to, %sum : tensor<64x64x!tt.ptr<$S>>
    tt.return
  }
}
)";

struct LoopCase {
  std::string operand, sum;
  Machine machine;
};

class CarriedAccumulators : public testing::TestWithParam<LoopCase> {};

TEST_P(CarriedAccumulators, AreAddedToInEachIteration) {
  const LoopCase& c = GetParam();
  constexpr int kSize = 64;
  for (int k : {0, 32, 160})
    for (int stages : {1, 3}) {
      Array a = Moderate(c.operand, kSize * std::max(k, 1), 1), b = Moderate(c.operand, std::max(k, 1) * kSize, 2);
      Array actual(c.sum, kSize * kSize), expected = actual;
      const std::vector<double> left = a.Numbers(), right = b.Numbers();
      for (int i = 0; i < kSize; ++i)
        for (int j = 0; j < kSize; ++j) {
          double sum = 0;
          for (int l = 0; l < k; ++l) sum += left[i * k + l] * right[l * kSize + j];
          expected.SetFloat(i * kSize + j, sum);
        }
      std::string options = absl::StrCat("\"num_stages\": ", stages);
      absl::Status status =
          RunKernel(c.machine, Substitute(kLoop, {{"T", c.operand}, {"S", c.sum}}), {}, {a, b, actual, k}, options);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_TRUE(Agree(actual, expected, ToleranceOf({1, kSize, kSize, k, c.operand, c.sum, c.machine})))
          << "k = " << k << ", " << options;
    }
}

std::vector<LoopCase> LoopCases() {
  std::vector<LoopCase> cases;
  for (const Machine& machine : Machines({4, 8}))
    for (auto [operand, sum] : {std::pair("f16", "f16"), std::pair("bf16", "f32"), std::pair("f64", "f64")})
      cases.push_back({operand, sum, machine});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, CarriedAccumulators, testing::ValuesIn(LoopCases()), [](const auto& info) {
  return absl::StrCat(info.param.operand, "_", info.param.sum, "_", NameOf(info.param.machine));
});

}  // namespace
}  // namespace tritond::conformance
