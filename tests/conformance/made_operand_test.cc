// SPDX-License-Identifier: Apache-2.0
// Products in a loop whose second operand threads make of what was copied. Bytes are turned, integers become floats,
// 4-bit floats are scaled. Tiles are large enough for products that go on beside the threads.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr int kTile = 64, kGroups = 2;

// out = sum over iterations of the products of tiles of a and of what is made of tiles of b and s. Tiles of a are 64 x
// 64, $A, and those of s are 64 x 2. Tiles of b are $ROWS x 64, $B, with element (k, n) at k * $ALONG_K + n * $ALONG_N.
constexpr char kProduct[] = R"(
module {
  tt.func public @kernel(%a: !tt.ptr<$A> {tt.divisibility = 16 : i32}, %b: !tt.ptr<$B> {tt.divisibility = 16 : i32}, %s: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %out: !tt.ptr<$C> {tt.divisibility = 16 : i32}, %iterations: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<$ZERO> : tensor<$Mx64x$C>
    %next_a = arith.constant dense<$TILE_A> : tensor<$Mx64xi32>
    %next_b = arith.constant dense<$SIZE> : tensor<$ROWSx64xi32>
    %next_s = arith.constant dense<128> : tensor<64x2xi32>
    %pitch = arith.constant dense<64> : tensor<$Mx1xi32>
    %along_k = arith.constant dense<$ALONG_K> : tensor<$ROWSx1xi32>
    %along_n = arith.constant dense<$ALONG_N> : tensor<1x64xi32>
    %two = arith.constant dense<2> : tensor<64x1xi32>
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %j = tt.make_range {start = 0 : i32, end = $ROWS : i32} : tensor<$ROWSxi32>
    %g = tt.make_range {start = 0 : i32, end = 2 : i32} : tensor<2xi32>
    %m = tt.make_range {start = 0 : i32, end = $M : i32} : tensor<$Mxi32>
    %lines = tt.expand_dims %m {axis = 1 : i32} : tensor<$Mxi32> -> tensor<$Mx1xi32>
    %column = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %row = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %rows = tt.broadcast %row : tensor<1x64xi32> -> tensor<$Mx64xi32>
    %starts = arith.muli %lines, %pitch : tensor<$Mx1xi32>
    %all_starts = tt.broadcast %starts : tensor<$Mx1xi32> -> tensor<$Mx64xi32>
    %offsets = arith.addi %all_starts, %rows : tensor<$Mx64xi32>
    %ks = tt.expand_dims %j {axis = 1 : i32} : tensor<$ROWSxi32> -> tensor<$ROWSx1xi32>
    %ks1 = arith.muli %ks, %along_k : tensor<$ROWSx1xi32>
    %ks2 = tt.broadcast %ks1 : tensor<$ROWSx1xi32> -> tensor<$ROWSx64xi32>
    %ns1 = arith.muli %row, %along_n : tensor<1x64xi32>
    %ns2 = tt.broadcast %ns1 : tensor<1x64xi32> -> tensor<$ROWSx64xi32>
    %offsets_b = arith.addi %ks2, %ns2 : tensor<$ROWSx64xi32>
    %groups = tt.expand_dims %g {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
    %groups1 = tt.broadcast %groups : tensor<1x2xi32> -> tensor<64x2xi32>
    %starts_s = arith.muli %column, %two : tensor<64x1xi32>
    %starts_s1 = tt.broadcast %starts_s : tensor<64x1xi32> -> tensor<64x2xi32>
    %offsets_s = arith.addi %starts_s1, %groups1 : tensor<64x2xi32>
    %splat_a = tt.splat %a : !tt.ptr<$A> -> tensor<$Mx64x!tt.ptr<$A>>
    %splat_b = tt.splat %b : !tt.ptr<$B> -> tensor<$ROWSx64x!tt.ptr<$B>>
    %splat_s = tt.splat %s : !tt.ptr<i8> -> tensor<64x2x!tt.ptr<i8>>
    %splat_out = tt.splat %out : !tt.ptr<$C> -> tensor<$Mx64x!tt.ptr<$C>>
    %first_a = tt.addptr %splat_a, %offsets : tensor<$Mx64x!tt.ptr<$A>>, tensor<$Mx64xi32>
    %first_b = tt.addptr %splat_b, %offsets_b : tensor<$ROWSx64x!tt.ptr<$B>>, tensor<$ROWSx64xi32>
    %first_s = tt.addptr %splat_s, %offsets_s : tensor<64x2x!tt.ptr<i8>>, tensor<64x2xi32>
    %outs = tt.addptr %splat_out, %offsets : tensor<$Mx64x!tt.ptr<$C>>, tensor<$Mx64xi32>
    %sum:4 = scf.for %n = %c0 to %iterations step %c1 iter_args(%pa = %first_a, %pb = %first_b, %ps = %first_s, %acc = %zero) -> (tensor<$Mx64x!tt.ptr<$A>>, tensor<$ROWSx64x!tt.ptr<$B>>, tensor<64x2x!tt.ptr<i8>>, tensor<$Mx64x$C>) : i32 {
      %x = tt.load %pa : tensor<$Mx64x!tt.ptr<$A>>
      %y = tt.load %pb : tensor<$ROWSx64x!tt.ptr<$B>>
$BODY
      %pa1 = tt.addptr %pa, %next_a : tensor<$Mx64x!tt.ptr<$A>>, tensor<$Mx64xi32>
      %pb1 = tt.addptr %pb, %next_b : tensor<$ROWSx64x!tt.ptr<$B>>, tensor<$ROWSx64xi32>
      %ps1 = tt.addptr %ps, %next_s : tensor<64x2x!tt.ptr<i8>>, tensor<64x2xi32>
      scf.yield %pa1, %pb1, %ps1, %d : tensor<$Mx64x!tt.ptr<$A>>, tensor<$ROWSx64x!tt.ptr<$B>>, tensor<64x2x!tt.ptr<i8>>, tensor<$Mx64x$C>
    }
    tt.store %outs, %sum#3 : tensor<$Mx64x!tt.ptr<$C>>
    tt.return
  }
}
)";

constexpr char kBytes[] = "%d = tt.dot %x, %y, %acc : tensor<$Mx64xi8> * tensor<64x64xi8> -> tensor<$Mx64xi32>";
constexpr char kConverted[] = R"(%w = arith.sitofp %y : tensor<64x64xi8> to tensor<64x64x$A>
      %d = tt.dot %x, %w, %acc : tensor<$Mx64x$A> * tensor<64x64x$A> -> tensor<$Mx64xf32>)";
constexpr char kScaled[] = R"(%t = tt.load %ps : tensor<64x2x!tt.ptr<i8>>
      %d = tt.dot_scaled %x, %y scale %t, %acc lhs = bf16 rhs = e2m1 : tensor<$Mx64xbf16> * tensor<32x64xi8>, tensor<64x2xi8> -> tensor<$Mx64xf32>)";
constexpr char kHalves[] = R"(%yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<32x64xi8> -> tensor<64x32xi8>
      %mask = arith.constant dense<15> : tensor<64x32xi8>
      %shift = arith.constant dense<4> : tensor<64x32xi8>
      %low = arith.andi %yt, %mask : tensor<64x32xi8>
      %high = arith.shrui %yt, %shift : tensor<64x32xi8>
      %l = arith.uitofp %low : tensor<64x32xi8> to tensor<64x32xf32>
      %h = arith.uitofp %high : tensor<64x32xi8> to tensor<64x32xf32>
      %pair = tt.join %l, %h : tensor<64x32xf32> -> tensor<64x32x2xf32>
      %r = tt.reshape %pair : tensor<64x32x2xf32> -> tensor<64x64xf32>
      %f = arith.truncf %r : tensor<64x64xf32> to tensor<64x64x$A>
      %w = tt.trans %f {order = array<i32: 1, 0>} : tensor<64x64x$A> -> tensor<64x64x$A>
      %d = tt.dot %x, %w, %acc : tensor<$Mx64x$A> * tensor<64x64x$A> -> tensor<$Mx64xf32>)";

struct Making {
  std::string name, a, c, body;
  bool is_packed = false, k_first = false;
  int m = kTile;
};

double ElementOf(const Making& making, const Array& b, const Array& s, int iteration, int k, int n) {
  const int rows = making.is_packed ? kTile / 2 : kTile, row = making.is_packed ? k / 2 : k;
  const int at = iteration * rows * kTile + (making.k_first ? n * rows + row : row * kTile + n);
  if (!making.is_packed) return static_cast<double>(b.Int(at));
  static constexpr double kNumbers[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const unsigned code = b.Unsigned(at) >> (k % 2 * 4) & 15;
  if (making.body == kHalves) return code;
  const int exponent = static_cast<int>(s.Unsigned((iteration * kTile + n) * kGroups + k * kGroups / kTile)) - 127;
  return std::ldexp(code & 8 ? -kNumbers[code & 7] : kNumbers[code & 7], exponent);
}

void Check(const Machine& machine, const Making& making, int iterations, int stages) {
  SCOPED_TRACE(absl::StrCat(making.name, ", ", iterations, " iterations, ", stages, " stages"));
  const int rows = making.is_packed ? kTile / 2 : kTile;
  Array a = Moderate(making.a, (iterations + 1) * making.m * kTile, 1),
        b = Values("i8", (iterations + 1) * rows * kTile, 2);
  Array s("i8", (iterations + 1) * kTile * kGroups), out(making.c, making.m * kTile), expected = out;
  for (size_t i = 0; i < s.size(); ++i) s.SetInt(i, 124 + i % 7);
  for (int i = 0; i < making.m; ++i)
    for (int j = 0; j < kTile; ++j) {
      double sum = 0;
      for (int k = 0; k < iterations * kTile; ++k) {
        const int iteration = k / kTile, at = (iteration * making.m + i) * kTile + k % kTile;
        sum += (a.is_float() ? a.Float(at) : static_cast<double>(a.Int(at))) *
               ElementOf(making, b, s, iteration, k % kTile, j);
      }
      if (out.is_float()) {
        expected.SetFloat(i * kTile + j, sum);
      } else {
        expected.SetInt(i * kTile + j, static_cast<int64_t>(sum));
      }
    }
  std::string ir = Substitute(kProduct, {{"BODY", making.body}});
  ir = Substitute(ir, {{"M", absl::StrCat(making.m)},
                       {"TILE_A", absl::StrCat(making.m * kTile)},
                       {"A", making.a},
                       {"B", "i8"},
                       {"C", making.c},
                       {"ZERO", out.is_float() ? "0.0" : "0"},
                       {"ROWS", absl::StrCat(rows)},
                       {"SIZE", absl::StrCat(rows * kTile)},
                       {"ALONG_K", absl::StrCat(making.k_first ? 1 : kTile)},
                       {"ALONG_N", absl::StrCat(making.k_first ? rows : 1)}});
  absl::Status status =
      RunKernel(machine, ir, {}, {a, b, s, out, int32_t{iterations}}, absl::StrCat("\"num_stages\": ", stages));
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(out, expected, out.is_float() ? 1e-3 : 0)) << ir;
}

TEST(MadeOperands, AreThereWhenProductsReadThem) {
  const Making makings[] = {
      {"bytes along N", "i8", "i32", kBytes},
      {"bytes along K", "i8", "i32", kBytes, false, true},
      {"bytes to f16", "f16", "f32", kConverted},
      {"bytes to bf16", "bf16", "f32", kConverted, false, true},
      {"fp4 along K", "bf16", "f32", kScaled, true, true},
      {"fp4 along N", "bf16", "f32", kScaled, true, false},
      {"4 bits along K", "bf16", "f32", kHalves, true, true},
      {"4 bits along K for few rows", "bf16", "f32", kHalves, true, true, 16},
      {"4 bits along N for few rows", "f16", "f32", kHalves, true, false, 16},
      {"bytes to f16 for few rows", "f16", "f32", kConverted, false, true, 16},
  };
  int turn = 0;
  for (const Machine& machine : Machines({4, 8}))
    for (const Making& making : makings)
      for (int iterations : {0, 1, 4}) Check(machine, making, iterations, 1 + turn++ % 4);
}

}  // namespace
}  // namespace tritond::conformance
