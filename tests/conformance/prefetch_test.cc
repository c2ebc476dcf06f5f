// SPDX-License-Identifier: Apache-2.0
// Loops whose dots read slices of their operands an iteration ahead, or whose warps share K. The results are those of
// the loop as it was written, and the loops here are such that the passes act.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

// out = sum over the iterations of tiles of a ($S x $K) and b ($K x $S). Elements beyond K are zero.
constexpr char kProduct[] = R"(
module {
  tt.func public @kernel(%a: !tt.ptr<$T> {tt.divisibility = 16 : i32}, %b: !tt.ptr<$T> {tt.divisibility = 16 : i32}, %out: !tt.ptr<$C> {tt.divisibility = 16 : i32}, %iterations: i32, %K: i32 $DIVISIBLE) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = arith.constant $K : i32
    %zero = arith.constant dense<$ZERO> : tensor<$Sx$Sx$C>
    %s = tt.make_range {start = 0 : i32, end = $S : i32} : tensor<$Sxi32>
    %k = tt.make_range {start = 0 : i32, end = $K : i32} : tensor<$Kxi32>
    %kcol = tt.expand_dims %k {axis = 1 : i32} : tensor<$Kxi32> -> tensor<$Kx1xi32>
    %krow = tt.expand_dims %k {axis = 0 : i32} : tensor<$Kxi32> -> tensor<1x$Kxi32>
    %scol = tt.expand_dims %s {axis = 1 : i32} : tensor<$Sxi32> -> tensor<$Sx1xi32>
    %srow = tt.expand_dims %s {axis = 0 : i32} : tensor<$Sxi32> -> tensor<1x$Sxi32>
    %width = arith.constant dense<$S> : tensor<$Kx1xi32>
    %pitch = arith.constant dense<$S> : tensor<$Sx1xi32>
    %sum = scf.for %r = %c0 to %iterations step %c1 iter_args(%acc = %zero) -> (tensor<$Sx$Sx$C>) : i32 {
      %done = arith.muli %r, %tile : i32
      %left = arith.subi %K, %done : i32
$LOADA
$LOADB
      %d = tt.dot %$A, %$B, %acc : tensor<$Sx$Kx$T> * tensor<$Kx$Sx$T> -> tensor<$Sx$Sx$C>
      scf.yield %d : tensor<$Sx$Sx$C>
    }
    %row = arith.muli %scol, %pitch : tensor<$Sx1xi32>
    %rows = tt.broadcast %row : tensor<$Sx1xi32> -> tensor<$Sx$Sxi32>
    %columns = tt.broadcast %srow : tensor<1x$Sxi32> -> tensor<$Sx$Sxi32>
    %at = arith.addi %rows, %columns : tensor<$Sx$Sxi32>
    %outs = tt.splat %out : !tt.ptr<$C> -> tensor<$Sx$Sx!tt.ptr<$C>>
    %pout = tt.addptr %outs, %at : tensor<$Sx$Sx!tt.ptr<$C>>, tensor<$Sx$Sxi32>
    tt.store %pout, %sum : tensor<$Sx$Sx!tt.ptr<$C>>
    tt.return
  }
}
)";

// %$X as the argument $S x $K: rows along K, of as many elements as all of K has.
constexpr char kAlong[] = R"(
      %pitch_$X = tt.splat %K : i32 -> tensor<$Sx1xi32>
      %start_$X = arith.muli %scol, %pitch_$X : tensor<$Sx1xi32>
      %starts_$X = tt.broadcast %start_$X : tensor<$Sx1xi32> -> tensor<$Sx$Kxi32>
      %ks_$X = tt.broadcast %krow : tensor<1x$Kxi32> -> tensor<$Sx$Kxi32>
      %offsets_$X = arith.addi %starts_$X, %ks_$X : tensor<$Sx$Kxi32>
      %base_$X = tt.addptr %$X, %done : !tt.ptr<$T>, i32
      %bases_$X = tt.splat %base_$X : !tt.ptr<$T> -> tensor<$Sx$Kx!tt.ptr<$T>>
      %ptr_$X = tt.addptr %bases_$X, %offsets_$X : tensor<$Sx$Kx!tt.ptr<$T>>, tensor<$Sx$Kxi32>
      %lefts_$X = tt.splat %left : i32 -> tensor<$Sx$Kxi32>
      %in_$X = arith.cmpi slt, %ks_$X, %lefts_$X : tensor<$Sx$Kxi32>
      %behind_$X = arith.constant dense<$ZERO> : tensor<$Sx$Kx$T>
      %tile_$X = tt.load %ptr_$X, %in_$X, %behind_$X : tensor<$Sx$Kx!tt.ptr<$T>>
)";
// %$X as $K x $S, rows across K.
constexpr char kAcross[] = R"(
      %start_$X = arith.muli %kcol, %width : tensor<$Kx1xi32>
      %starts_$X = tt.broadcast %start_$X : tensor<$Kx1xi32> -> tensor<$Kx$Sxi32>
      %others_$X = tt.broadcast %srow : tensor<1x$Sxi32> -> tensor<$Kx$Sxi32>
      %offsets_$X = arith.addi %starts_$X, %others_$X : tensor<$Kx$Sxi32>
      %size_$X = arith.constant $S : i32
      %first_$X = arith.muli %done, %size_$X : i32
      %base_$X = tt.addptr %$X, %first_$X : !tt.ptr<$T>, i32
      %bases_$X = tt.splat %base_$X : !tt.ptr<$T> -> tensor<$Kx$Sx!tt.ptr<$T>>
      %ptr_$X = tt.addptr %bases_$X, %offsets_$X : tensor<$Kx$Sx!tt.ptr<$T>>, tensor<$Kx$Sxi32>
      %ks_$X = tt.broadcast %kcol : tensor<$Kx1xi32> -> tensor<$Kx$Sxi32>
      %lefts_$X = tt.splat %left : i32 -> tensor<$Kx$Sxi32>
      %in_$X = arith.cmpi slt, %ks_$X, %lefts_$X : tensor<$Kx$Sxi32>
      %behind_$X = arith.constant dense<$ZERO> : tensor<$Kx$Sx$T>
      %tile_$X = tt.load %ptr_$X, %in_$X, %behind_$X : tensor<$Kx$Sx!tt.ptr<$T>>
)";

// $X the other way round.
constexpr char kTurned[] = R"(
      %turned_$X = tt.trans %tile_$X {order = array<i32: 1, 0>} : tensor<$FROMx$T> -> tensor<$TOx$T>
)";

struct Product {
  std::string type;
  int size, k;  // of a tile: size x k times k x size
  bool transposed_a = false, transposed_b = false;
};

std::string KernelOf(const Product& c, bool divisible) {
  auto load = [](const char* name, bool along, bool transposed) {
    std::string text = along ? kAlong : kAcross;
    if (transposed)
      text += Substitute(kTurned, {{"FROM", along ? "$Sx$K" : "$Kx$S"}, {"TO", along ? "$Kx$S" : "$Sx$K"}});
    return Substitute(text, {{"X", name}});
  };
  bool ints = c.type == "i8";
  std::string text = Substitute(kProduct, {{"LOADA", load("a", !c.transposed_a, c.transposed_a)},
                                           {"LOADB", load("b", c.transposed_b, c.transposed_b)},
                                           {"A", c.transposed_a ? "turned_a" : "tile_a"},
                                           {"B", c.transposed_b ? "turned_b" : "tile_b"}});
  return Substitute(text, {{"S", absl::StrCat(c.size)},
                           {"K", absl::StrCat(c.k)},
                           {"T", c.type},
                           {"C", ints ? "i32" : "f32"},
                           {"ZERO", ints ? "0" : "0.0"},
                           {"DIVISIBLE", divisible ? "{tt.divisibility = 16 : i32}" : ""}});
}

std::string NumStages(int stages) { return absl::StrCat("\"num_stages\": ", stages); }

void Check(const Machine& machine, const Product& c, int k, int iterations, int stages) {
  SCOPED_TRACE(absl::StrCat(c.type, ", ", c.size, "x", c.k, ", K = ", k, ", ", iterations, " iterations, ", stages,
                            " stages, ", NameOf(machine)));
  Array a = Moderate(c.type, c.size * k + 1, 1), b = Moderate(c.type, c.size * k + 1, 2);
  Array out(c.type == "i8" ? "i32" : "f32", c.size * c.size), expected = out;
  const std::vector<double> left = a.Numbers(), right = b.Numbers();
  for (int i = 0; i < c.size; ++i)
    for (int j = 0; j < c.size; ++j) {
      double sum = 0;
      for (int l = 0; l < std::min(k, iterations * c.k); ++l) {
        int at_a = c.transposed_a ? l * c.size + i : i * k + l, at_b = c.transposed_b ? j * k + l : l * c.size + j;
        sum += left[at_a] * right[at_b];
      }
      out.is_float() ? expected.SetFloat(i * c.size + j, sum) : expected.SetInt(i * c.size + j, sum);
    }
  std::string ir = KernelOf(c, /*divisible=*/k % 16 == 0);
  absl::Status status = RunKernel(machine, ir, {}, {a, b, out, int32_t{iterations}, int32_t{k}}, NumStages(stages));
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(out, expected, out.is_float() ? 1e-4 : 0)) << ir;
}

// Dots small enough to stay whole, which read multibuffers, and dots in tiles, whose loops count through theirs.
std::vector<Product> Products() {
  std::vector<Product> products;
  for (const char* type : {"f32", "f16", "bf16", "i8"})
    for (auto [size, k] : {std::pair(32, 32), std::pair(16, 64), std::pair(64, 64)})
      for (int transposed = 0; transposed < 4; ++transposed)
        products.push_back({type, size, k, (transposed & 1) != 0, (transposed & 2) != 0});
  return products;
}

class Prefetch : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Stages, Prefetch, testing::Values(1, 2, 3, 4),
                         [](const auto& info) { return absl::StrCat(info.param); });

// Each product is tried with every number of stages and of iterations, though not in every combination.
TEST_P(Prefetch, MultipliesForAnyNumberOfIterations) {
  int turn = GetParam();
  for (const Product& product : Products()) {
    int iterations = (turn + GetParam()) % 6;
    if (turn % 2 == 0) Check(MachineFor(turn / 2), product, iterations * product.k, iterations, GetParam());
    ++turn;
  }
}

TEST_P(Prefetch, LeavesOutWhatIsBeyondTheEnd) {
  int turn = GetParam();
  for (const Product& product : Products()) {
    int k = turn % 4 == 1 ? 16 * (1 + turn % 7) : 1 + 9 * (turn % 11);
    if (turn % 2 == 1) Check(MachineFor(turn / 2), product, k, (k + product.k - 1) / product.k, GetParam());
    ++turn;
  }
}

// The loops here are such that slices are carried to the next iteration, so that the tests above are tests of that.
// Without stages a small dot's operands never come from a buffer. A tile of 8-bit operands is one slice.
TEST_P(Prefetch, Acts) {
  if (RunsOnOneDevice()) GTEST_SKIP() << "compiled where all devices are";
  for (const Product& product : Products()) {
    bool in_multibuffer = product.size == 32 && GetParam() > 1, in_tiles = product.size == 64 && product.type != "i8";
    if (!in_multibuffer && !in_tiles) continue;
    std::string ir = KernelOf(product, /*divisible=*/true);
    auto ttgir = CompileToTtgir({"host", "host", 4}, ir, NumStages(GetParam()));
    ASSERT_TRUE(ttgir.ok()) << ttgir.status();
    EXPECT_TRUE(absl::StrContains(*ttgir, "ttg.memdesc_subslice")) << ir << *ttgir;
  }
}

// Where tensor cores read the slices, of swizzled and of transposed buffers: unless the request says otherwise.
TEST(PrefetchForNvidia, Compiles) {
  if (RunsOnOneDevice()) GTEST_SKIP() << "compiled where all devices are";
  for (const char* target : {"cuda:80", "cuda:89"})
    for (const char* type : {"f16", "bf16", "i8"})
      for (int transposed = 0; transposed < 4; ++transposed) {
        Product product{type, 128, std::string(type) == "i8" ? 128 : 64, (transposed & 1) != 0, (transposed & 2) != 0};
        // Bytes cannot be read the other way round; such a tile goes through registers.
        if (product.type == "i8" && product.transposed_a) continue;
        std::string ir = KernelOf(product, /*divisible=*/true);
        absl::Status status = CompileKernel(target, ir);
        EXPECT_TRUE(status.ok()) << status << ir;
        for (bool asked : {false, true}) {
          std::string options = asked ? "" : "\"prefetch\": false";
          auto ttgir = CompileToTtgir({"", target, 4}, ir, options);
          ASSERT_TRUE(ttgir.ok()) << ttgir.status();
          EXPECT_EQ(absl::StrContains(*ttgir, "ttg.memdesc_subslice"), asked) << ir << *ttgir;
        }
      }
}

// Few accumulators, few slices, floats that are converted on the way: there it costs more than it gives.
TEST(PrefetchForNvidia, StaysAwayWhereItDoesNotPay) {
  if (RunsOnOneDevice()) GTEST_SKIP() << "compiled where all devices are";
  for (const Product& product :
       {Product{"f16", 64, 64}, Product{"bf16", 128, 32}, Product{"i8", 128, 64}, Product{"f8E5M2", 128, 128}}) {
    std::string ir = KernelOf(product, /*divisible=*/true);
    auto ttgir = CompileToTtgir({"", "cuda:89", 4}, ir);
    ASSERT_TRUE(ttgir.ok()) << ttgir.status();
    EXPECT_FALSE(absl::StrContains(*ttgir, "ttg.memdesc_subslice")) << ir << *ttgir;
  }
}

// Multiply-adds of few accumulators: the warps share K, so that the tests above are tests of that too. Many
// accumulators stay whole.
TEST(ShareKForNvidia, Acts) {
  if (RunsOnOneDevice()) GTEST_SKIP() << "compiled where all devices are";
  for (const char* target : {"cuda:80", "cuda:90"})
    for (int size : {32, 64})
      for (int transposed = 0; transposed < 4; ++transposed) {
        Product product{"f32", size, 32, (transposed & 1) != 0, (transposed & 2) != 0};
        std::string ir = KernelOf(product, /*divisible=*/true);
        auto ttgir = CompileToTtgir({"", target, 4}, ir);
        ASSERT_TRUE(ttgir.ok()) << ttgir.status();
        EXPECT_EQ(absl::StrContains(*ttgir, "tt.reduce"), size == 32) << ir << *ttgir;
      }
}

// wgmma reads its operands by itself.
TEST(PrefetchForNvidia, StaysAwayFromWarpGroups) {
  if (RunsOnOneDevice()) GTEST_SKIP() << "compiled where all devices are";
  std::string ir = KernelOf(Product{"f16", 128, 64}, /*divisible=*/true);
  auto ttgir = CompileToTtgir({"", "cuda:90", 4}, ir);
  ASSERT_TRUE(ttgir.ok()) << ttgir.status();
  EXPECT_TRUE(absl::StrContains(*ttgir, "ttng.warp_group_dot")) << ir << *ttgir;
  EXPECT_FALSE(absl::StrContains(*ttgir, "ttg.memdesc_subslice")) << ir << *ttgir;
}

}  // namespace
}  // namespace tritond::conformance
