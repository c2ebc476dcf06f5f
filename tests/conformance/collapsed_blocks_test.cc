// SPDX-License-Identifier: Apache-2.0
// Blocks of tensors of several dimensions as rows of a dot's operands, as a convolution of images has them. They lie
// beyond the tensor in part or as a whole, in any dimension. The product is stored to such a block too.
#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr int kRows = 64, kColumns = 64;

// Tile t multiplies the block of the first tensor at %a0 …, which depend on t, by all rows of the second tensor.
constexpr char kProducts[] = R"(
module {
  tt.func public @kernel($A, $B, $C, %k: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1 : i64
    %bk = arith.constant $BK : i32
    %last = arith.constant $LAST : i32
    %tiles = arith.constant $TILES : i32
    %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
    $MADE
    %round_up = arith.addi %k, %last : i32
    %steps = arith.divsi %round_up, %bk : i32
    scf.for %t = %c0 to %tiles step %c1 : i32 {
      $PLACE
      %r = scf.for %s = %c0 to %steps step %c1 iter_args(%acc = %nothing) -> (tensor<64x64xf32>) : i32 {
        %ks = arith.muli %s, %bk : i32
        %x0 = tt.descriptor_load %da[$AT, %ks] : !tt.tensordesc<$XBLOCK> -> $XBLOCK
        $NEGATE
        %x = tt.reshape $X : $XBLOCK -> tensor<64x$BKx$TY>
        %y0 = tt.descriptor_load %db[%c0, %c0, %ks] : !tt.tensordesc<$YBLOCK> -> $YBLOCK
        %y1 = tt.reshape %y0 : $YBLOCK -> tensor<64x$BKx$TY>
        %y = tt.trans %y1 {order = array<i32: 1, 0>} : tensor<64x$BKx$TY> -> tensor<$BKx64x$TY>
        %d = tt.dot %x, %y, %acc : tensor<64x$BKx$TY> * tensor<$BKx64x$TY> -> tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      %w = tt.reshape %r : tensor<64x64xf32> -> $WBLOCK
      %z = arith.truncf %w : $WBLOCK to $ZBLOCK
      tt.descriptor_store %dc[$AT, %c0], %z : !tt.tensordesc<$ZBLOCK>, $ZBLOCK
    }
    tt.return
  }
}
)";

enum class Source { kKernel, kHost, kHostWithNans };

struct Products {
  std::string type = "f16";
  // But for the last dimension: the sizes of the first tensor and of its block, where the first block is, and how far
  // it is to the next.
  std::vector<int> sizes = {2, 7, 20}, block = {1, 4, 16}, begin = {1, -2, -3}, step = {0, 4, 5};
  int depth = 128, tile_depth = 64, tiles = 3, stages = 3;
  Source source = Source::kKernel;
  bool negates = false;  // each element before the block becomes rows
};

std::string NameOf(const Products& p) {
  return absl::StrCat(p.type, "_", absl::StrJoin(p.block, "x"), "_of_", absl::StrJoin(p.sizes, "x"), "x", p.depth,
                      "_by_", p.tile_depth, "_", p.stages, "stages", p.begin[0] < 0 ? "_before" : "",
                      p.negates ? "_negated" : "",
                      p.source == Source::kHost           ? "_host"
                      : p.source == Source::kHostWithNans ? "_host_nans"
                                                          : "");
}
void PrintTo(const Products& p, std::ostream* os) { *os << NameOf(p); }

// Rows of a tensor lie apart, so that what is between them must not be read.
Described TensorOf(const std::vector<int>& sizes, int columns, bool has_nans) {
  Described tensor{{sizes.begin(), sizes.end()}, {1}, has_nans};
  tensor.shape.push_back(columns);
  int64_t stride = (columns + 15) / 16 * 16 + 16;
  for (size_t dim = sizes.size(); dim-- > 0; stride *= sizes[dim] + 1)
    tensor.strides.insert(tensor.strides.begin(), stride);
  return tensor;
}
size_t ElementsOf(const Described& tensor) { return tensor.strides[0] * (tensor.shape[0] + 1); }

// The place of the element of row `row` and this column of the block at `at`; -1: it is outside.
int64_t PlaceOf(const Described& tensor, const std::vector<int>& block, const std::vector<int>& at, int row,
                int column) {
  int64_t place = column;
  if (column >= tensor.shape.back()) return -1;
  for (size_t dim = block.size(); dim-- > 0; row /= block[dim]) {
    const int index = at[dim] + row % block[dim];
    if (index < 0 || index >= tensor.shape[dim]) return -1;
    place += index * tensor.strides[dim];
  }
  return place;
}

std::vector<int> PlaceOfTile(const Products& p, int tile) {
  std::vector<int> at;
  for (size_t dim = 0; dim < p.block.size(); ++dim) at.push_back(p.begin[dim] + tile * p.step[dim]);
  return at;
}

std::string BlockOf(const std::vector<int>& rows, int columns, const std::string& type) {
  return absl::StrCat("tensor<", absl::StrJoin(rows, "x"), "x", columns, "x", type, ">");
}

// What the kernel takes of a tensor: also a descriptor has its sizes and strides after it.
std::string OperandOf(const std::string& name, size_t rank, const std::string& type) {
  std::string text = absl::StrCat("%", name, ": ", type);
  for (size_t i = 0; i < rank; ++i) absl::StrAppend(&text, ", %", name, "n", i, ": i32");
  for (size_t i = 0; i < rank; ++i) absl::StrAppend(&text, ", %", name, "s", i, ": i64 {tt.divisibility = 16 : i32}");
  return text;
}
std::string MakingOf(const std::string& name, size_t rank, const std::string& type, const std::string& block) {
  std::vector<std::string> sizes, strides;
  for (size_t i = 0; i < rank; ++i) sizes.push_back(absl::StrCat("%", name, "n", i));
  for (size_t i = 0; i + 1 < rank; ++i) strides.push_back(absl::StrCat("%", name, "s", i));
  return absl::StrCat("%d", name, " = tt.make_tensor_descriptor %", name, ", [", absl::StrJoin(sizes, ", "), "], [",
                      absl::StrJoin(strides, ", "), ", %one] : !tt.ptr<", type, ">, !tt.tensordesc<", block, ">\n    ");
}

const std::vector<int> kSecondSizes = {3, 15}, kSecondBlock = {4, 16};

std::string TextOf(const Products& p) {
  const struct {
    std::string name, type, block;
    size_t rank;
  } tensors[] = {{"a", p.type, BlockOf(p.block, p.tile_depth, p.type), p.block.size() + 1},
                 {"b", p.type, BlockOf(kSecondBlock, p.tile_depth, p.type), 3},
                 {"c", "f16", BlockOf(p.block, kColumns, "f16"), p.block.size() + 1}};
  std::string made, place;
  std::vector<std::string> operands, at;
  for (const auto& [name, type, block, rank] : tensors) {
    const bool is_pointer = p.source == Source::kKernel;
    operands.push_back(OperandOf(is_pointer ? name : "d" + name, rank,
                                 is_pointer ? absl::StrCat("!tt.ptr<", type, "> {tt.divisibility = 16 : i32}")
                                            : absl::StrCat("!tt.tensordesc<", block, ">")));
    if (is_pointer) absl::StrAppend(&made, MakingOf(name, rank, type, block));
  }
  for (size_t i = 0; i < p.block.size(); ++i) {
    absl::StrAppend(&place, "%b", i, " = arith.constant ", p.begin[i], " : i32\n      %p", i, " = arith.constant ",
                    p.step[i], " : i32\n      %m", i, " = arith.muli %t, %p", i, " : i32\n      %at", i,
                    " = arith.addi %m", i, ", %b", i, " : i32\n      ");
    at.push_back(absl::StrCat("%at", i));
  }
  return Substitute(kProducts, {{"A", operands[0]},
                                {"B", operands[1]},
                                {"C", operands[2]},
                                {"MADE", made},
                                {"PLACE", place},
                                {"AT", absl::StrJoin(at, ", ")},
                                {"X", p.negates ? "%nx" : "%x0"},
                                {"NEGATE", p.negates ? "%nx = arith.negf %x0 : " + tensors[0].block : ""},
                                {"WBLOCK", BlockOf(p.block, kColumns, "f32")},
                                {"XBLOCK", tensors[0].block},
                                {"YBLOCK", tensors[1].block},
                                {"ZBLOCK", tensors[2].block},
                                {"BK", absl::StrCat(p.tile_depth)},
                                {"LAST", absl::StrCat(p.tile_depth - 1)},
                                {"TILES", absl::StrCat(p.tiles)},
                                {"TY", p.type}});
}

std::vector<Parameter> ParametersOf(const Products& p, Array& array, const Described& tensor) {
  if (p.source != Source::kKernel) return {Parameter(array, tensor)};
  std::vector<Parameter> parameters = {array};
  for (int64_t size : tensor.shape) parameters.emplace_back(static_cast<int32_t>(size));
  for (int64_t stride : tensor.strides) parameters.emplace_back(stride);
  return parameters;
}

class CollapsedBlocks : public testing::TestWithParam<std::tuple<Machine, Products>> {};

TEST_P(CollapsedBlocks, AreRowsOfProducts) {
  const auto& [machine, p] = GetParam();
  const Described of_a = TensorOf(p.sizes, p.depth, p.source == Source::kHostWithNans);
  const Described of_b = TensorOf(kSecondSizes, p.depth, false), of_c = TensorOf(p.sizes, kColumns - 4, false);
  Array a(p.type, ElementsOf(of_a)), b(p.type, ElementsOf(of_b));
  for (size_t i = 0; i < a.size(); ++i) a.SetFloat(i, static_cast<int>(i * 7 % 11) - 5);
  for (size_t i = 0; i < b.size(); ++i) b.SetFloat(i, static_cast<int>(i * 5 % 13) - 6);
  const Array untouched("f16", ElementsOf(of_c));
  Array expected = untouched;
  const std::vector<double> as = a.Numbers(), bs = b.Numbers();
  const int padded = (p.depth + p.tile_depth - 1) / p.tile_depth * p.tile_depth;
  for (int t = 0; t < p.tiles; ++t) {
    const std::vector<int> at = PlaceOfTile(p, t);
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kColumns; ++j) {
        const int64_t to = PlaceOf(of_c, p.block, at, i, j);
        if (to < 0) continue;
        double sum = 0;
        for (int k = 0; k < padded; ++k) {
          const int64_t x = PlaceOf(of_a, p.block, at, i, k), y = PlaceOf(of_b, kSecondBlock, {0, 0}, j, k);
          if (x < 0 && of_a.has_nans) sum = std::nan("");
          if (x >= 0 && y >= 0) sum += (p.negates ? -as[x] : as[x]) * bs[y];
        }
        expected.SetFloat(to, sum);
      }
  }
  for (auto run : {RunKernel, RunWithHostMaps}) {
    Array c = untouched;
    std::vector<Parameter> parameters = ParametersOf(p, a, of_a);
    for (const Parameter& each : ParametersOf(p, b, of_b)) parameters.push_back(each);
    for (const Parameter& each : ParametersOf(p, c, of_c)) parameters.push_back(each);
    parameters.emplace_back(int32_t{p.depth});
    absl::Status status = run(machine, TextOf(p), {}, parameters, absl::StrCat("\"num_stages\": ", p.stages));
    ASSERT_TRUE(status.ok()) << status << "\n" << TextOf(p);
    EXPECT_TRUE(Agree(c, expected));
    // No map fills 8-bit floats with NaNs.
    if (p.source == Source::kKernel || (of_a.has_nans && a.bits() == 8)) break;
  }
}

TEST(CollapsedBlocks, AreCopiedAsAWhole) {
  const char* const kStages = "\"num_stages\": 4";  // beside which there is room for the stored block
  for (const Machine& machine : Machines({4, 8})) {
    if (!absl::EndsWith(machine.device, "cuda:90")) continue;
    for (Source source : {Source::kKernel, Source::kHost}) {
      Products products;
      products.source = source;
      absl::StatusOr<LlirKernel> kernel = CompileToLlir(machine, TextOf(products), kStages);
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      for (const char* name : {"tensor.3d.shared", "tensor.4d.shared", "tensor.4d.global"})
        EXPECT_TRUE(absl::StrContains(kernel->text, absl::StrCat("cp.async.bulk.", name))) << name << kernel->text;
      EXPECT_FALSE(absl::StrContains(kernel->text, "cp.async.cg")) << kernel->text;
    }
    Products products;
    products.source = Source::kHost;
    absl::StatusOr<std::string> maps = HostMapsOf(machine, TextOf(products), kStages);
    ASSERT_TRUE(maps.ok()) << maps.status();
    EXPECT_TRUE(absl::StrContains(*maps, "\"block_size\":[1,4,16,64]")) << *maps;
  }
}

const std::vector<int> kImages = {2, 7, 20}, kPatch = {1, 4, 16};

const Products kAll[] = {
    {},
    {"f16", kImages, kPatch, {1, -2, -3}, {0, 4, 5}, 128, 64, 3, 4},                    // stores are copies, too
    {"f16", kImages, kPatch, {-1, 1, 2}, {1, 2, 1}, 128, 64, 4},                        // images before and beyond
    {"f16", kImages, kPatch, {0, 0, 0}, {1, 4, 0}, 0},                                  // no iteration
    {"bf16", kImages, {2, 2, 16}, {-1, -1, 7}, {2, 2, 0}, 200, 64, 3, 4},               // parts of two images
    {"f16", kImages, kPatch, {1, -3, 10}, {0, 4, 3}, 264, 128},                         // rows of two boxes
    {"f16", kImages, {4, 1, 16}, {0, 6, -15}, {0, -1, 15}, 100, 32},                    // rows of 64 bytes
    {"f8E4M3FN", kImages, {1, 1, 64}, {0, 0, -20}, {1, 1, 10}, 250, 128, 2},            // one row of an image
    {"f16", {9, 12}, {8, 8}, {-3, -2}, {8, 3}, 136, 64},                                // three dimensions
    {"bf16", {2, 3, 5, 6}, {2, 2, 4, 4}, {-1, 0, -1, 3}, {1, 1, 1, 0}, 128, 64, 3, 2},  // five dimensions
    {"f32", kImages, kPatch, {1, -2, -3}, {0, 4, 5}, 96, 32, 2},                        // by threads
    {"f16", kImages, kPatch, {1, -2, -3}, {0, 4, 5}, 136, 64, 3, 4, Source::kHost},
    {"f16", kImages, {4, 4, 4}, {-1, -1, 18}, {0, 4, 0}, 264, 128, 2, 3, Source::kHost},
    {"f8E4M3FN", {9, 12}, {8, 8}, {-3, -2}, {8, 3}, 250, 128, 3, 3, Source::kHost},
    {"bf16", {2, 3, 5, 6}, {1, 1, 16, 4}, {1, 2, -1, 3}, {0, 0, 16, 0}, 128, 64, 2, 4, Source::kHost},
    {"f16", kImages, kPatch, {0, -2, -3}, {1, 4, 5}, 128, 64, 3, 3, Source::kHostWithNans},
    {"bf16", {9, 12}, {8, 8}, {-3, -2}, {8, 3}, 136, 64, 3, 3, Source::kHostWithNans},
    {"f8E4M3FN", {9, 12}, {8, 8}, {-3, -2}, {8, 3}, 256, 128, 3, 3, Source::kHostWithNans},  // by threads
    {"f16", kImages, kPatch, {0, -2, -3}, {1, 4, 5}, 136, 64, 3, 4, Source::kHost, true},
};

INSTANTIATE_TEST_SUITE_P(On, CollapsedBlocks,
                         testing::Combine(testing::ValuesIn(Machines({4, 8})), testing::ValuesIn(kAll)),
                         [](const auto& info) {
                           return NameOf(std::get<0>(info.param)) + "_" + NameOf(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace tritond::conformance
