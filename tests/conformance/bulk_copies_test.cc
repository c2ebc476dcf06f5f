// SPDX-License-Identifier: Apache-2.0
// Loops of dots whose operands are blocks of tensors that descriptors name. Where a device has bulk copies, tensor maps
// and mbarriers take the place of copies by threads. The results are those of the loop as it was written, for every
// number of iterations and stages, and for blocks that lie beyond the tensor in part or as a whole.
#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

// Products of $T tiles, one after the other, of 64 x $BN elements each: tile t has the rows from 40 t - 24 on. Of a
// tensor of %m rows and %k columns, and one of %n rows, or columns where it is not $TRANS.
constexpr char kProducts[] = R"(
module {
  tt.func public @kernel($OPERANDS, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %m: i32, %n: i32, %k: i32, %pitch_a: i64 {tt.divisibility = 16 : i32}, %pitch_b: i64 {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1 : i64
    %bk = arith.constant $BK : i32
    %last = arith.constant $LAST : i32
    %tiles = arith.constant $T : i32
    %rows = arith.constant 40 : i32
    %before = arith.constant 24 : i32
    %size = arith.constant $SIZE : i32
    %nothing = arith.constant dense<0.0> : tensor<64x$BNxf32>
    %width = arith.constant dense<$BN> : tensor<64x1xi32>
    $MADE
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %j = tt.make_range {start = 0 : i32, end = $BN : i32} : tensor<$BNxi32>
    %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<$BNxi32> -> tensor<1x$BNxi32>
    %iw = arith.muli %i1, %width : tensor<64x1xi32>
    %i2 = tt.broadcast %iw : tensor<64x1xi32> -> tensor<64x$BNxi32>
    %j2 = tt.broadcast %j0 : tensor<1x$BNxi32> -> tensor<64x$BNxi32>
    %at = arith.addi %i2, %j2 : tensor<64x$BNxi32>
    %round_up = arith.addi %k, %last : i32
    %steps = arith.divsi %round_up, %bk : i32
    scf.for %t = %c0 to %tiles step %c1 : i32 {
      %down = arith.muli %t, %rows : i32
      %row = arith.subi %down, %before : i32
      %r = scf.for %s = %c0 to %steps step %c1 iter_args(%acc = %nothing) -> (tensor<64x$BNxf32>) : i32 {
        %ks = arith.muli %s, %bk : i32
        $X = tt.descriptor_load %da[$AINDEX] : !tt.tensordesc<tensor<$ABLOCKx$TY>> -> tensor<$ABLOCKx$TY>
        $RESHAPE
        $Y = tt.descriptor_load %db[$BINDEX] : !tt.tensordesc<tensor<$BBLOCKx$TY>> -> tensor<$BBLOCKx$TY>
        $TURN
        %d = tt.dot %x, %y, %acc$PRECISION : tensor<64x$BKx$TY> * tensor<$BKx$BNx$TY> -> tensor<64x$BNxf32>
        scf.yield %d : tensor<64x$BNxf32>
      }
      %begin = arith.muli %t, %size : i32
      %base = tt.addptr %out, %begin : !tt.ptr<f32>, i32
      %bases = tt.splat %base : !tt.ptr<f32> -> tensor<64x$BNx!tt.ptr<f32>>
      %to = tt.addptr %bases, %at : tensor<64x$BNx!tt.ptr<f32>>, tensor<64x$BNxi32>
      tt.store %to, %r : tensor<64x$BNx!tt.ptr<f32>>
    }
    tt.return
  }
}
)";

constexpr char kPointers[] =
    "%a: !tt.ptr<$TY> {tt.divisibility = 16 : i32}, %b: !tt.ptr<$TY> {tt.divisibility = 16 : i32}";
constexpr char kMade[] =
    R"(%da = tt.make_tensor_descriptor %a, $ASHAPE, $ASTRIDES : !tt.ptr<$TY>, !tt.tensordesc<tensor<$ABLOCKx$TY>>
    %db = tt.make_tensor_descriptor %b, $BSHAPE, [%pitch_b, %one] : !tt.ptr<$TY>, !tt.tensordesc<tensor<$BBLOCKx$TY>>)";
constexpr char kDescriptors[] = "%da: !tt.tensordesc<tensor<$ABLOCKx$TY>>, %db: !tt.tensordesc<tensor<$BBLOCKx$TY>>";

// Who makes the descriptors, and what they pad with if it is not the kernel.
enum class Source { kKernel, kHost, kHostWithNans };

struct Products {
  std::string type = "f16";
  int rows = 100, columns = 64, depth = 128;  // of the tensors
  int tile_columns = 64, tile_depth = 64, tiles = 3, stages = 3;
  bool transposed = true;   // the second tensor has a row for each column
  bool has_middle = false;  // the first tensor has a dimension between, of which one element is taken
  Source source = Source::kKernel;
};

std::string NameOf(const Products& p) {
  return absl::StrCat(p.type, "_", p.rows, "x", p.columns, "x", p.depth, "_by_", p.tile_columns, "x", p.tile_depth, "_",
                      p.tiles, "tiles_", p.stages, "stages", p.transposed ? "_transposed" : "",
                      p.has_middle ? "_middle" : "",
                      p.source == Source::kHost           ? "_host"
                      : p.source == Source::kHostWithNans ? "_host_nans"
                                                          : "");
}
void PrintTo(const Products& p, std::ostream* os) { *os << NameOf(p); }

std::string TextOf(const Products& p) {
  const std::string bk = absl::StrCat(p.tile_depth), bn = absl::StrCat(p.tile_columns);
  const std::string b_block = p.transposed ? bn + "x" + bk : bk + "x" + bn;
  const bool makes = p.source == Source::kKernel;
  const std::string text =
      Substitute(kProducts, {{"OPERANDS", makes ? kPointers : kDescriptors}, {"MADE", makes ? kMade : ""}});
  return Substitute(
      text, {{"TY", p.type},
             {"PRECISION", p.type == "f32" ? ", inputPrecision = tf32" : ""},
             {"BK", bk},
             {"BN", bn},
             {"T", absl::StrCat(p.tiles)},
             {"LAST", absl::StrCat(p.tile_depth - 1)},
             {"SIZE", absl::StrCat(64 * p.tile_columns)},
             {"ASHAPE", p.has_middle ? "[%m, %c1, %k]" : "[%m, %k]"},
             {"ASTRIDES", p.has_middle ? "[%pitch_a, %pitch_a, %one]" : "[%pitch_a, %one]"},
             {"ABLOCK", p.has_middle ? "64x1x" + bk : "64x" + bk},
             {"AINDEX", p.has_middle ? "%row, %c0, %ks" : "%row, %ks"},
             {"X", p.has_middle ? "%x0" : "%x"},
             {"Y", p.transposed ? "%y0" : "%y"},
             {"RESHAPE", p.has_middle ? "%x = tt.reshape %x0 : tensor<64x1x" + bk + "x" + p.type + "> -> tensor<64x" +
                                            bk + "x" + p.type + ">"
                                      : ""},
             {"BSHAPE", p.transposed ? "[%n, %k]" : "[%k, %n]"},
             {"BBLOCK", b_block},
             {"BINDEX", p.transposed ? "%c0, %ks" : "%ks, %c0"},
             {"TURN", p.transposed ? "%y = tt.trans %y0 {order = array<i32: 1, 0>} : tensor<" + b_block + "x" + p.type +
                                         "> -> tensor<" + bk + "x" + bn + "x" + p.type + ">"
                                   : ""}});
}

class BulkProducts : public testing::TestWithParam<std::tuple<Machine, Products>> {};

TEST_P(BulkProducts, AreThoseOfTheTensors) {
  const auto& [machine, p] = GetParam();
  const int pitch_a = (p.depth + 15) / 16 * 16 + 16, b_columns = p.transposed ? p.depth : p.columns;
  const int pitch_b = (b_columns + 15) / 16 * 16 + 16, b_rows = p.transposed ? p.columns : p.depth;
  Array a(p.type, (p.rows + 1) * pitch_a), b(p.type, (b_rows + 1) * pitch_b);
  for (size_t i = 0; i < a.size(); ++i) a.SetFloat(i, static_cast<int>(i * 7 % 11) - 5);
  for (size_t i = 0; i < b.size(); ++i) b.SetFloat(i, static_cast<int>(i * 5 % 13) - 6);
  Array out("f32", p.tiles * 64 * p.tile_columns), expected = out;
  const std::vector<double> as = a.Numbers(), bs = b.Numbers();
  for (int t = 0; t < p.tiles; ++t)
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j < p.tile_columns; ++j) {
        const int row = 40 * t - 24 + i;
        double sum = 0;
        const bool pads = row < 0 || row >= p.rows || j >= p.columns || p.depth % p.tile_depth != 0;
        if (p.source == Source::kHostWithNans && pads && p.depth > 0)
          sum = std::nan("");
        else if (row >= 0 && row < p.rows && j < p.columns)
          for (int k = 0; k < p.depth; ++k)
            sum += as[row * pitch_a + k] * bs[p.transposed ? j * pitch_b + k : k * pitch_b + j];
        expected.SetFloat((t * 64 + i) * p.tile_columns + j, sum);
      }
  const auto descriptor = [&](Array& tensor, std::vector<int64_t> sizes) {
    std::vector<Parameter> parts = {tensor};
    parts.insert(parts.end(), sizes.begin(), sizes.end());
    parts.emplace_back(p.source == Source::kHostWithNans);
    return parts;
  };
  std::vector<Parameter> parameters = {a, b};
  if (p.source != Source::kKernel) {
    parameters = p.has_middle ? descriptor(a, {p.rows, 1, p.depth, pitch_a, pitch_a, 1})
                              : descriptor(a, {p.rows, p.depth, pitch_a, 1});
    for (const Parameter& part : descriptor(b, {b_rows, b_columns, pitch_b, 1})) parameters.push_back(part);
  }
  for (const Parameter& other : std::vector<Parameter>{out, int32_t{p.rows}, int32_t{p.columns}, int32_t{p.depth},
                                                       int64_t{pitch_a}, int64_t{pitch_b}})
    parameters.push_back(other);
  absl::Status status = RunKernel(machine, TextOf(p), {}, parameters, absl::StrCat("\"num_stages\": ", p.stages));
  ASSERT_TRUE(status.ok()) << status << "\n" << TextOf(p);
  EXPECT_TRUE(Agree(out, expected));
}

Products OfHost() {
  Products products;
  products.source = Source::kHost;
  return products;
}
Products OfFloats() {
  Products products;
  products.type = "f32";
  products.tile_depth = 32;
  return products;
}

TEST(BulkCopies, AreMadeWhereTheDeviceHasThem) {
  for (const Machine& machine : Machines({4, 8})) {
    if (!absl::EndsWith(machine.device, "cuda:90")) continue;
    for (const Products& products : {Products{}, OfHost(), OfFloats()}) {
      absl::StatusOr<LlirKernel> kernel = CompileToLlir(machine, TextOf(products), "\"num_stages\": 3");
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      EXPECT_TRUE(absl::StrContains(kernel->text, "cp.async.bulk.tensor.2d")) << kernel->text;
      EXPECT_FALSE(absl::StrContains(kernel->text, "cp.async.cg")) << kernel->text;
      EXPECT_EQ(kernel->global_scratch, 256);
    }
  }
}

const Products kAll[] = {
    {},
    {"f16", 100, 64, 0},                    // no iteration
    {"f16", 100, 64, 40},                   // fewer than stages
    {"f16", 100, 64, 264, 64, 64, 3, 2},    // a row's end inside a block
    {"f16", 10, 50, 200, 64, 64, 4, 4},     // whole blocks beyond the tensor
    {"f16", 100, 128, 192, 128, 64, 2, 3},  // rows of two boxes
    {"f16", 100, 64, 192, 64, 64, 3, 3, false},
    {"bf16", 100, 120, 160, 128, 32, 2, 4, false},
    {"f8E4M3FN", 100, 64, 256, 64, 128, 3, 3},
    {"f16", 100, 64, 256, 64, 64, 2, 3, true, true},
    {"f16", 100, 64, 264, 64, 64, 3, 3, true, false, Source::kHost},
    {"bf16", 90, 120, 160, 128, 32, 2, 4, false, false, Source::kHost},
    {"f8E4M3FN", 100, 60, 250, 64, 128, 3, 3, true, false, Source::kHost},
    {"f16", 100, 60, 256, 64, 64, 3, 3, true, true, Source::kHost},
    {"f16", 100, 60, 256, 64, 64, 3, 3, true, false, Source::kHostWithNans},
    {"bf16", 90, 120, 160, 128, 32, 2, 4, false, false, Source::kHostWithNans},
    {"f16", 100, 64, 264, 64, 64, 3, 2, true, true, Source::kHostWithNans},
    {"f32", 100, 60, 132, 64, 32, 3, 3},
    {"f32", 100, 120, 96, 128, 64, 2, 4, false},
    {"f32", 100, 60, 128, 64, 32, 2, 3, true, false, Source::kHost},
    {"f32", 100, 60, 128, 64, 32, 2, 3, false, true, Source::kHost},
    {"f32", 100, 60, 128, 64, 32, 2, 3, true, false, Source::kHostWithNans},
    {"f32", 100, 60, 0, 64, 32, 2, 3, true, false, Source::kHostWithNans},
    {"f8E4M3FN", 100, 60, 256, 64, 128, 3, 3, true, false, Source::kHostWithNans},  // by threads, as all that follow
    {"f8E4M3FN", 100, 60, 250, 64, 128, 3, 3, true, false, Source::kHostWithNans},  // a row's end inside a copy
    {"f8E4M3FN", 90, 50, 331, 128, 64, 2, 4, false, false, Source::kHostWithNans},
};

// Whose warp makes the maps, meets at a barrier of its own, and takes them.
const Products kOfOneWarp[] = {{"f16", 100, 16, 72, 16, 16, 2, 3}, {"bf16", 100, 16, 64, 16, 32, 2, 2, false}};

INSTANTIATE_TEST_SUITE_P(OnOneWarp, BulkProducts,
                         testing::Combine(testing::ValuesIn(Machines({1})), testing::ValuesIn(kOfOneWarp)),
                         [](const auto& info) {
                           return NameOf(std::get<0>(info.param)) + "_" + NameOf(std::get<1>(info.param));
                         });

INSTANTIATE_TEST_SUITE_P(On, BulkProducts,
                         testing::Combine(testing::ValuesIn(Machines({4, 8})), testing::ValuesIn(kAll)),
                         [](const auto& info) {
                           return NameOf(std::get<0>(info.param)) + "_" + NameOf(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace tritond::conformance
