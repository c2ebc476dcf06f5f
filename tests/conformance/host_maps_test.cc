// SPDX-License-Identifier: Apache-2.0
// Kernels that take tensor descriptors, launched by a launcher that makes tensor maps of them where the compiler wants
// it. The results are those of kernels that take the descriptors' parts, and of the loops as they were written.
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr int kTile = 64, kRowsBefore = 24;

// Tile t of the product has the rows from 64 t - 24 on, of a tensor of %am rows and %ak columns. The second tensor has
// a row for each of 64 columns.
constexpr char kProducts[] = R"(
module {
  tt.func public @kernel(%a: !tt.tensordesc<tensor<64x64x$TY>>, %am: i32, %ak: i32, %as: i64, %a1: i64, %b: !tt.tensordesc<tensor<64x64x$TY>>, %bn: i32, %bk: i32, %bs: i64, %b1: i64, %c: !tt.tensordesc<tensor<64x64xf16>>, %cm: i32, %cn: i32, %cs: i64, %cl: i64, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c63 = arith.constant 63 : i32
    %size = arith.constant 64 : i32
    %before = arith.constant 24 : i32
    %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
    %up = arith.addi %ak, %c63 : i32
    %steps = arith.divsi %up, %size : i32
    $BEGIN
      %down = arith.muli %t, %size : i32
      %row = arith.subi %down, %before : i32
      $BLOCK
      %r = scf.for %s = %c0 to %steps step %c1 iter_args(%acc = $FIRST) -> (tensor<64x64xf32>) : i32 {
        %ks = arith.muli %s, %size : i32
        %x = tt.descriptor_load %a[%row, %ks] : !tt.tensordesc<tensor<64x64x$TY>> -> tensor<64x64x$TY>
        %y0 = tt.descriptor_load %b[%c0, %ks] : !tt.tensordesc<tensor<64x64x$TY>> -> tensor<64x64x$TY>
        %y = tt.trans %y0 {order = array<i32: 1, 0>} : tensor<64x64x$TY> -> tensor<64x64x$TY>
        %d = tt.dot %x, %y, %acc : tensor<64x64x$TY> * tensor<64x64x$TY> -> tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      %h = arith.truncf %r : tensor<64x64xf32> to tensor<64x64xf16>
      tt.descriptor_store %c[%row, %c0], %h : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    $END
    tt.return
  }
}
)";

struct Products {
  std::string type = "f16";
  int rows = 100, columns = 64, depth = 128;  // of the tensors
  int tiles = 3, stages = 3;
  bool is_persistent = true;       // one program computes all tiles, one after the other; else each a program
  bool has_nans = false;           // outside of the first tensor
  bool begins_with_block = false;  // of the first tensor, to which the products are added
};

std::string NameOf(const Products& p) {
  return absl::StrCat(p.type, "_", p.rows, "x", p.columns, "x", p.depth, "_", p.tiles, "tiles_", p.stages, "stages",
                      p.is_persistent ? "_persistent" : "", p.has_nans ? "_nans" : "",
                      p.begins_with_block ? "_block" : "");
}
void PrintTo(const Products& p, std::ostream* os) { *os << NameOf(p); }

std::string TextOf(const Products& p) {
  constexpr char kBlock[] =
      R"(%e = tt.descriptor_load %a[%row, %c0] : !tt.tensordesc<tensor<64x64x$TY>> -> tensor<64x64x$TY>
      %first = arith.extf %e : tensor<64x64x$TY> to tensor<64x64xf32>)";
  return Substitute(kProducts, {{"TY", p.type},
                                {"BLOCK", p.begins_with_block ? kBlock : ""},
                                {"FIRST", p.begins_with_block ? "%first" : "%nothing"},
                                {"BEGIN", p.is_persistent ? "scf.for %t = %c0 to %tiles step %c1 : i32 {"
                                                          : "%t = tt.get_program_id x : i32"},
                                {"END", p.is_persistent ? "}" : ""}});
}

std::string Options(int stages) { return absl::StrCat("\"num_stages\": ", stages); }

int PitchOf(int columns) { return (columns + 15) / 16 * 16 + 16; }

Array Filled(const std::string& type, int rows, int pitch, int seed) {
  Array array(type, rows * pitch);
  for (size_t i = 0; i < array.size(); ++i) array.SetFloat(i, static_cast<int>((i + seed) * 2654435761u >> 20 & 7) - 3);
  return array;
}

bool HasMaps(const Machine& machine) { return absl::EndsWith(machine.device, "cuda:90"); }

class ProductsOfMaps : public testing::TestWithParam<std::tuple<Machine, Products>> {};

TEST_P(ProductsOfMaps, AreThoseOfTheTensors) {
  const auto& [machine, p] = GetParam();
  const int pitch = PitchOf(p.depth), pitch_c = PitchOf(p.columns);
  Array a = Filled(p.type, p.rows + 1, pitch, 1), b = Filled(p.type, p.columns + 1, pitch, 5);
  const Array untouched("f16", (p.rows + 1) * pitch_c);
  Array expected = untouched;
  const std::vector<double> as = a.Numbers(), bs = b.Numbers();
  for (int i = 0; i < std::min(p.rows, kTile * p.tiles - kRowsBefore); ++i)
    for (int j = 0; j < p.columns; ++j) {
      double sum = p.begins_with_block && j < p.depth ? as[i * pitch + j] : 0;
      for (int k = 0; k < p.depth; ++k) sum += as[i * pitch + k] * bs[j * pitch + k];
      expected.SetFloat(i * pitch_c + j, p.has_nans && p.depth % kTile ? std::nan("") : sum);
    }
  const workers::Grid grid{static_cast<uint32_t>(p.is_persistent ? 1 : p.tiles), 1, 1};
  for (auto run : {RunKernel, RunWithHostMaps}) {
    Array c = untouched;
    absl::Status status = run(
        machine, TextOf(p), grid,
        {Parameter(a, {{p.rows, p.depth}, {pitch, 1}, p.has_nans}), Parameter(b, {{p.columns, p.depth}, {pitch, 1}}),
         Parameter(c, {{p.rows, p.columns}, {pitch_c, 1}}), int32_t{p.tiles}},
        Options(p.stages));
    ASSERT_TRUE(status.ok()) << status << "\n" << TextOf(p);
    EXPECT_TRUE(Agree(c, expected));
  }
}

const Products kAllProducts[] = {
    {},
    {"f16", 100, 64, 128, 3, 4},  // stores are copies, too
    {"f16", 100, 50, 130, 3, 4},
    {"f16", 100, 64, 0},          // no iteration
    {"f16", 100, 64, 40},         // fewer than stages
    {"f16", 100, 50, 264, 3, 2},  // a row's end inside a block
    {"f16", 10, 50, 200, 4, 4},   // whole blocks beyond the tensor
    {"bf16", 150, 64, 192, 3, 3},
    {"f8E4M3FN", 100, 64, 256, 2, 3},
    {"f16", 100, 64, 256, 2, 3, false},
    {"bf16", 100, 60, 200, 2, 4, false},
    {"f16", 100, 64, 200, 2, 3, true, true},
    {"bf16", 100, 64, 200, 2, 3, false, true},
    {"f16", 100, 64, 192, 2, 3, false, true},  // NaNs in rows alone that nobody stores
    {"f16", 100, 64, 130, 2, 3, false, false, true},
};

INSTANTIATE_TEST_SUITE_P(On, ProductsOfMaps,
                         testing::Combine(testing::ValuesIn(Machines({2, 4, 8})), testing::ValuesIn(kAllProducts)),
                         [](const auto& info) {
                           return NameOf(std::get<0>(info.param)) + "_" + NameOf(std::get<1>(info.param));
                         });

// The sums of (q k) v over blocks of 64 rows of k and v, in two loops, as of blocks with and without a mask. With a
// bias, each block of q k has one of another tensor added.
constexpr char kAttention[] = R"(
module {
  tt.func public @kernel(%q: !tt.tensordesc<tensor<64x64xf16>>, %qm: i32, %qd: i32, %qs: i64, %q1: i64, %k: !tt.tensordesc<tensor<64x64xf16>>, %kn: i32, %kd: i32, %ks: i64, %k1: i64, %v: !tt.tensordesc<tensor<64x64xf16>>, %vn: i32, %vd: i32, %vs: i64, %v1: i64, %o: !tt.tensordesc<tensor<64x64xf32>>, %om: i32, %od: i32, %os: i64, %o1: i64, %middle: i32 {tt.divisibility = 64 : i32}$PARAMETERS) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
    %t = tt.get_program_id x : i32
    %row = arith.muli %t, %c64 : i32
    %x = tt.descriptor_load %q[%row, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %first = tt.call @add(%x, %k, %v, %nothing, %c0, %middle$ARGUMENTS) : (tensor<64x64xf16>, !tt.tensordesc<tensor<64x64xf16>>, !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf32>, i32, i32$TYPES) -> tensor<64x64xf32>
    %all = tt.call @add(%x, %k, %v, %first, %middle, %kn$ARGUMENTS) : (tensor<64x64xf16>, !tt.tensordesc<tensor<64x64xf16>>, !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf32>, i32, i32$TYPES) -> tensor<64x64xf32>
    tt.descriptor_store %o[%row, %c0], %all : !tt.tensordesc<tensor<64x64xf32>>, tensor<64x64xf32>
    tt.return
  }
  tt.func private @add(%x: tensor<64x64xf16>, %k: !tt.tensordesc<tensor<64x64xf16>>, %v: !tt.tensordesc<tensor<64x64xf16>>, %init: tensor<64x64xf32>, %begin: i32, %end: i32$TAKEN) -> tensor<64x64xf32> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
    %scale = arith.constant dense<0.0625> : tensor<64x64xf32>
    %r = scf.for %s = %begin to %end step %c64 iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
      %y0 = tt.descriptor_load %k[%s, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %y = tt.trans %y0 {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
      %d = tt.dot %x, %y, %nothing : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %scaled = arith.mulf %d, %scale : tensor<64x64xf32>
      $ADD
      %p = arith.truncf %score : tensor<64x64xf32> to tensor<64x64xf16>
      %z = tt.descriptor_load %v[%s, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %e = tt.dot %p, %z, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %e : tensor<64x64xf32>
    }
    tt.return %r : tensor<64x64xf32>
  }
}
)";

std::string AttentionText(bool has_bias) {
  constexpr char kAdd[] =
      R"(%b = tt.descriptor_load %g[%row, %s] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %bias = arith.extf %b : tensor<64x64xf16> to tensor<64x64xf32>
      %score = arith.addf %scaled, %bias : tensor<64x64xf32>)";
  constexpr char kNoAdd[] = "%score = arith.addf %scaled, %nothing : tensor<64x64xf32>";
  constexpr char kParameters[] = ", %g: !tt.tensordesc<tensor<64x64xf16>>, %gm: i32, %gn: i32, %gs: i64, %g1: i64";
  return Substitute(kAttention, {{"PARAMETERS", has_bias ? kParameters : ""},
                                 {"ARGUMENTS", has_bias ? ", %g, %row" : ""},
                                 {"TYPES", has_bias ? ", !tt.tensordesc<tensor<64x64xf16>>, i32" : ""},
                                 {"TAKEN", has_bias ? ", %g: !tt.tensordesc<tensor<64x64xf16>>, %row: i32" : ""},
                                 {"ADD", has_bias ? kAdd : kNoAdd}});
}

// On a machine, with a bias or without one.
class AttentionOfMaps : public testing::TestWithParam<std::tuple<Machine, bool>> {};

TEST_P(AttentionOfMaps, IsThatOfTheTensors) {
  const auto& [machine, has_bias] = GetParam();
  constexpr int kRows = 100, kWidth = 64, kPitch = 80;
  for (const int length : {64, 130, 400}) {
    const int middle = length / 128 * 64, bias_pitch = PitchOf(length);
    Array q = Filled("f16", kRows, kPitch, 1), k = Filled("f16", length, kPitch, 2),
          v = Filled("f16", length, kPitch, 3), g = Filled("f16", kRows, bias_pitch, 4);
    const Array untouched("f32", kRows * kPitch);
    Array expected = untouched;
    const std::vector<double> qs = q.Numbers(), ks = k.Numbers(), vs = v.Numbers(), gs = g.Numbers();
    for (int i = 0; i < kRows; ++i) {
      std::vector<double> sums(kWidth);
      for (int n = 0; n < length; ++n) {
        double score = 0;
        for (int d = 0; d < kWidth; ++d) score += qs[i * kPitch + d] * ks[n * kPitch + d];
        score = score / 16 + (has_bias ? gs[i * bias_pitch + n] : 0);
        for (int d = 0; d < kWidth; ++d) sums[d] += score * vs[n * kPitch + d];
      }
      for (int d = 0; d < kWidth; ++d) expected.SetFloat(i * kPitch + d, sums[d]);
    }
    for (auto run : {RunKernel, RunWithHostMaps}) {
      Array o = untouched;
      std::vector<Parameter> parameters = {
          Parameter(q, {{kRows, kWidth}, {kPitch, 1}}), Parameter(k, {{length, kWidth}, {kPitch, 1}}),
          Parameter(v, {{length, kWidth}, {kPitch, 1}}), Parameter(o, {{kRows, kWidth}, {kPitch, 1}}), int32_t{middle}};
      if (has_bias) parameters.push_back(Parameter(g, {{kRows, length}, {bias_pitch, 1}}));
      absl::Status status = run(machine, AttentionText(has_bias), {2, 1, 1}, parameters, Options(3));
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_TRUE(Agree(o, expected)) << length;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, AttentionOfMaps, testing::Combine(testing::ValuesIn(Machines({4, 8})), testing::Bool()),
                         [](const auto& info) {
                           return NameOf(std::get<0>(info.param)) + (std::get<1>(info.param) ? "_with_bias" : "");
                         });

class HostMaps : public testing::Test {
 protected:
  void SetUp() override {
    for (const Machine& machine : Machines({4}))
      if (HasMaps(machine)) machine_ = machine;
    if (machine_.device.empty()) GTEST_SKIP() << "no device of compute capability 9.0";
  }

  std::string Of(const std::string& text, int stages = 3) {
    absl::StatusOr<std::string> maps = HostMapsOf(machine_, text, Options(stages));
    return maps.ok() ? *maps : maps.status().ToString();
  }

  Machine machine_;
};

constexpr char kMap[] = R"({"block_size":[64,64],"elem_size":2,"elem_type":6,"fp4_padded":false,"swizzle":3})";
// Of halves of a block of f32.
constexpr char kMapOfHalves[] = R"({"block_size":[64,32],"elem_size":4,"elem_type":7,"fp4_padded":false,"swizzle":3})";

TEST_F(HostMaps, AreOfLoadsAndStores) {
  EXPECT_EQ(Of(TextOf({}), /*stages=*/4), absl::StrCat("[", kMap, ",", kMap, ",", kMap, "]"));
}

TEST_F(HostMaps, AssemblersTakeThem) {
  absl::string_view target = machine_.target;
  absl::ConsumePrefix(&target, "emulated:");
  for (const std::string& text : {TextOf({}), AttentionText(false), AttentionText(true)}) {
    absl::StatusOr<std::string> maps = HostMapsOf({"", std::string(target), 4}, text, Options(4));
    if (absl::IsFailedPrecondition(maps.status())) GTEST_SKIP() << maps.status();
    EXPECT_TRUE(maps.ok()) << maps.status();
  }
}

// Slots for the stores would take the shared memory of a block (bulk_stores_test.cc).
TEST_F(HostMaps, AreOfLoadsWhereStoresStayStores) {
  EXPECT_EQ(Of(TextOf({}), /*stages=*/3), absl::StrCat("[", kMap, ",", kMap, ",null]"));
}

// The loop's buffers are free by then.
TEST_F(HostMaps, StoresBehindTheLoopHaveSome) {
  Products p;
  p.is_persistent = false;
  EXPECT_EQ(Of(TextOf(p)), absl::StrCat("[", kMap, ",", kMap, ",", kMap, "]"));
}

TEST_F(HostMaps, LoadsInFrontOfTheLoopHaveNone) {
  EXPECT_EQ(Of(AttentionText(false)), absl::StrCat("[null,", kMap, ",", kMap, ",", kMapOfHalves, "]"));
}

// The bias goes to its registers from a buffer that is swizzled as bulk copies fill it.
TEST_F(HostMaps, LoadsBesideDotsHaveSomeToo) {
  EXPECT_EQ(Of(AttentionText(true)), absl::StrCat("[null,", kMap, ",", kMap, ",", kMapOfHalves, ",", kMap, "]"));
}

// Of these the kernel makes the map, for the loads in the loop.
TEST_F(HostMaps, DescriptorsOfOtherLoadsHaveNone) {
  Products p;
  p.is_persistent = false;
  p.begins_with_block = true;
  EXPECT_EQ(Of(TextOf(p)), absl::StrCat("[null,", kMap, ",null]"));
}

TEST_F(HostMaps, NobodyMakesThemForPartsOfLoads) {
  Products p;
  p.is_persistent = false;
  p.type = "f32";
  EXPECT_EQ(Of(TextOf(p)), absl::StrCat("[null,null,", kMap, "]"));
}

}  // namespace
}  // namespace tritond::conformance
