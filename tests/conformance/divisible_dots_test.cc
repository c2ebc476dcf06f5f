// SPDX-License-Identifier: Apache-2.0
// Products of matrices whose rows may begin anywhere. Kernels have one version for rows that begin at multiples of 16
// bytes, and one for all others. Both give the products that the text says.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

// 64x64 of a matrix of %m x %k elements times one of %k x %n.
constexpr char kProduct[] = R"(
module {
  tt.func public @kernel(%a: !tt.ptr<$TY> {tt.divisibility = 16 : i32}, %b: !tt.ptr<$TY> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %m: i32, %n: i32, %k: i32) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %none_a = arith.constant dense<0.0> : tensor<64x32x$TY>
    %none_b = arith.constant dense<0.0> : tensor<32x64x$TY>
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %s = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %row = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %col = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %ms = tt.splat %m : i32 -> tensor<64x1xi32>
    %ns = tt.splat %n : i32 -> tensor<1x64xi32>
    %in_m = arith.cmpi slt, %row, %ms : tensor<64x1xi32>
    %in_n = arith.cmpi slt, %col, %ns : tensor<1x64xi32>
    %ks = tt.splat %k : i32 -> tensor<64x1xi32>
    %downs = arith.muli %row, %ks : tensor<64x1xi32>
    %a_down = tt.broadcast %downs : tensor<64x1xi32> -> tensor<64x32xi32>
    %b_right = tt.broadcast %col : tensor<1x64xi32> -> tensor<32x64xi32>
    %a_base = tt.splat %a : !tt.ptr<$TY> -> tensor<64x32x!tt.ptr<$TY>>
    %b_base = tt.splat %b : !tt.ptr<$TY> -> tensor<32x64x!tt.ptr<$TY>>
    %r = scf.for %at = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %ats = tt.splat %at : i32 -> tensor<32xi32>
      %depth = arith.addi %ats, %s : tensor<32xi32>
      %across = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %down = tt.expand_dims %depth {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %a_right = tt.broadcast %across : tensor<1x32xi32> -> tensor<64x32xi32>
      %a_at = arith.addi %a_down, %a_right : tensor<64x32xi32>
      %pa = tt.addptr %a_base, %a_at : tensor<64x32x!tt.ptr<$TY>>, tensor<64x32xi32>
      %k_row = tt.splat %k : i32 -> tensor<1x32xi32>
      %k_col = tt.splat %k : i32 -> tensor<32x1xi32>
      %in_k = arith.cmpi slt, %across, %k_row : tensor<1x32xi32>
      %below_k = arith.cmpi slt, %down, %k_col : tensor<32x1xi32>
      %m_a = tt.broadcast %in_m : tensor<64x1xi1> -> tensor<64x32xi1>
      %k_a = tt.broadcast %in_k : tensor<1x32xi1> -> tensor<64x32xi1>
      %mask_a = arith.andi %m_a, %k_a : tensor<64x32xi1>
      %x = tt.load %pa, %mask_a, %none_a : tensor<64x32x!tt.ptr<$TY>>
      %n_row = tt.splat %n : i32 -> tensor<32x1xi32>
      %b_rows = arith.muli %down, %n_row : tensor<32x1xi32>
      %b_down = tt.broadcast %b_rows : tensor<32x1xi32> -> tensor<32x64xi32>
      %b_at = arith.addi %b_down, %b_right : tensor<32x64xi32>
      %pb = tt.addptr %b_base, %b_at : tensor<32x64x!tt.ptr<$TY>>, tensor<32x64xi32>
      %k_b = tt.broadcast %below_k : tensor<32x1xi1> -> tensor<32x64xi1>
      %n_b = tt.broadcast %in_n : tensor<1x64xi1> -> tensor<32x64xi1>
      %mask_b = arith.andi %k_b, %n_b : tensor<32x64xi1>
      %y = tt.load %pb, %mask_b, %none_b : tensor<32x64x!tt.ptr<$TY>>
      %d = tt.dot %x, %y, %acc$PRECISION : tensor<64x32x$TY> * tensor<32x64x$TY> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %width = arith.constant dense<64> : tensor<64x1xi32>
    %rows = arith.muli %row, %width : tensor<64x1xi32>
    %o_down = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
    %o_right = tt.broadcast %col : tensor<1x64xi32> -> tensor<64x64xi32>
    %o_at = arith.addi %o_down, %o_right : tensor<64x64xi32>
    %o_base = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %po = tt.addptr %o_base, %o_at : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %po, %r : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
)";

struct Sizes {
  int m, n, k;
};

std::string TextOf(const std::string& type) {
  return Substitute(kProduct, {{"TY", type}, {"PRECISION", type == "f32" ? ", inputPrecision = tf32" : ""}});
}

class DivisibleDots : public testing::TestWithParam<std::tuple<Machine, std::string, Sizes>> {};

TEST_P(DivisibleDots, AreThoseOfTheMatrices) {
  const auto& [machine, type, size] = GetParam();
  Array a(type, size.m * size.k), b(type, size.k * size.n), out("f32", 64 * 64), expected = out;
  for (size_t i = 0; i < a.size(); ++i) a.SetFloat(i, static_cast<int>(i * 7 % 11) - 5);
  for (size_t i = 0; i < b.size(); ++i) b.SetFloat(i, static_cast<int>(i * 5 % 13) - 6);
  const std::vector<double> as = a.Numbers(), bs = b.Numbers();
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j) {
      double sum = 0;
      const bool inside = i < size.m && j < size.n;
      for (int k = 0; inside && k < size.k; ++k) sum += as[i * size.k + k] * bs[k * size.n + j];
      expected.SetFloat(i * 64 + j, sum);
    }
  absl::Status status = RunKernel(machine, TextOf(type), {}, {a, b, out, size.m, size.n, size.k}, "\"num_stages\": 3");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(out, expected));
}

TEST(DivisibleDots, AreCopiedWhereRowsAreAligned) {
  if (RunsOnOneDevice()) GTEST_SKIP() << "does not depend on the device";
  absl::StatusOr<LlirKernel> kernel = CompileToLlir({"emulated:cuda:90", "cuda:90", 4}, TextOf("f16"), "");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_TRUE(absl::StrContains(kernel->text, "cp.async.cg.shared.global")) << kernel->text;
}

INSTANTIATE_TEST_SUITE_P(On, DivisibleDots,
                         testing::Combine(testing::ValuesIn(Machines({4})), testing::Values("f16", "f8E5M2", "f32"),
                                          testing::Values(Sizes{64, 64, 96}, Sizes{40, 48, 64}, Sizes{50, 63, 70},
                                                          Sizes{64, 56, 41}, Sizes{33, 61, 80}, Sizes{7, 16, 0})),
                         [](const auto& info) {
                           const Sizes& size = std::get<2>(info.param);
                           return absl::StrCat(NameOf(std::get<0>(info.param)), "_", std::get<1>(info.param), "_",
                                               size.m, "x", size.n, "x", size.k);
                         });

}  // namespace
}  // namespace tritond::conformance
