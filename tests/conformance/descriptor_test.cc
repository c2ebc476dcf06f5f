// SPDX-License-Identifier: Apache-2.0
// Tensor descriptors: blocks that lie partly outside of their tensor, loaded, stored, reduced, gathered and scattered,
// in one to five dimensions.
#include <algorithm>
#include <cmath>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

// A tensor in memory, row-major, and one block of it.
struct Block {
  std::vector<int> tensor, block, at;

  int Count(const std::vector<int>& sizes) const {
    int count = 1;
    for (int size : sizes) count *= size;
    return count;
  }
  int Elements() const { return Count(block); }
  // The offset in the tensor of the block's element `i`; -1 outside.
  int OffsetOf(int i) const {
    int offset = 0, stride = 1;
    for (size_t d = block.size(); d-- > 0;) {
      int here = at[d] + i % block[d];
      i /= block[d];
      if (here < 0 || here >= tensor[d]) return -1;
      offset += here * stride;
      stride *= tensor[d];
    }
    return offset;
  }
};

struct Case {
  std::string name;
  Block block;
  std::string type;
  Machine machine;
  std::string padding = "";  // "nan"
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.name << " " << c.type; }
std::string NameCase(const testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return absl::StrCat(c.name, c.padding, "_", c.type, "_", NameOf(c.machine));
}

// Definitions of %d, the descriptor of %tensor, and of %b0 …, the block's place.
std::string Descriptor(const Case& c) {
  std::string text;
  std::vector<std::string> sizes, strides, places;
  int stride = c.block.Count(c.block.tensor);
  for (size_t i = 0; i < c.block.block.size(); ++i) {
    stride /= c.block.tensor[i];
    absl::StrAppend(&text, "    %n", i, " = arith.constant ", c.block.tensor[i], " : i32\n    %s", i,
                    " = arith.constant ", stride, " : i64\n    %b", i, " = arith.constant ", c.block.at[i], " : i32\n");
    sizes.push_back(absl::StrCat("%n", i));
    strides.push_back(absl::StrCat("%s", i));
    places.push_back(absl::StrCat("%b", i));
  }
  std::string padding = c.padding == "nan" ? " {padding = 2 : i32}" : "";
  absl::StrAppend(&text, "    %d = tt.make_tensor_descriptor %tensor, [", absl::StrJoin(sizes, ", "), "], [",
                  absl::StrJoin(strides, ", "), "]", padding, " : !tt.ptr<$T>, !tt.tensordesc<$SHAPEx$D>\n");
  return Substitute(text, {{"PLACES", absl::StrJoin(places, ", ")}});
}

// %tensor is what the descriptor describes, %flat the block's elements in row-major order. The body uses %d, $PLACES
// and $BLOCK; `store` is whether it defines %x, else it has it.
std::string Kernel(const Case& c, const std::string& body, bool loads, const std::string& described = "") {
  std::vector<std::string> places;
  for (size_t i = 0; i < c.block.block.size(); ++i) places.push_back(absl::StrCat("%b", i));
  const char* read = R"(    %l = tt.load %p : tensor<$Nx!tt.ptr<$T>>
    %x = tt.reshape %l : tensor<$Nx$T> -> $BLOCK
)";
  const char* write = R"(    %l = tt.reshape %x : $BLOCK -> tensor<$Nx$T>
    tt.store %p, %l : tensor<$Nx!tt.ptr<$T>>
)";
  return Substitute(
      absl::StrCat("module {\n  tt.func public @kernel(%tensor: !tt.ptr<$T>, %flat: !tt.ptr<$T>) {\n", Descriptor(c),
                   R"(    %i = tt.make_range {start = 0 : i32, end = $N : i32} : tensor<$Nxi32>
    %fs = tt.splat %flat : !tt.ptr<$T> -> tensor<$Nx!tt.ptr<$T>>
    %p = tt.addptr %fs, %i : tensor<$Nx!tt.ptr<$T>>, tensor<$Nxi32>
)",
                   loads ? "" : read, body, loads ? write : "", "    tt.return\n  }\n}\n"),
      {{"T", c.type},
       {"D", described.empty() ? c.type : described},
       {"N", absl::StrCat(c.block.Elements())},
       {"PLACES", absl::StrJoin(places, ", ")},
       {"SHAPE", absl::StrJoin(c.block.block, "x")},
       {"BLOCK", absl::StrCat("tensor<", absl::StrJoin(c.block.block, "x"), "x", c.type, ">")}});
}

class Descriptors : public testing::TestWithParam<Case> {};

TEST_P(Descriptors, LoadPads) {
  const Case& c = GetParam();
  Array tensor = Values(c.type, c.block.Count(c.block.tensor), 3), flat(c.type, c.block.Elements()), expected = flat;
  for (int i = 0; i < c.block.Elements(); ++i) {
    int offset = c.block.OffsetOf(i);
    if (offset >= 0) {
      expected.SetInt(i, tensor.Int(offset));
    } else {
      tensor.is_float() ? expected.SetFloat(i, c.padding == "nan" ? std::nan("") : 0) : expected.SetInt(i, 0);
    }
  }
  std::string ir =
      Kernel(c, "    %x = tt.descriptor_load %d[$PLACES] : !tt.tensordesc<$SHAPEx$T> -> $BLOCK\n", /*loads=*/true);
  absl::Status status = RunKernel(c.machine, ir, {}, {tensor, flat});
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(flat, expected)) << ir;
}

TEST_P(Descriptors, StoreDropsWhatIsOutside) {
  const Case& c = GetParam();
  Array tensor = Values(c.type, c.block.Count(c.block.tensor), 3), flat = Values(c.type, c.block.Elements(), 4);
  Array expected = tensor;
  for (int i = 0; i < c.block.Elements(); ++i)
    if (int offset = c.block.OffsetOf(i); offset >= 0) expected.SetInt(offset, flat.Int(i));
  std::string ir =
      Kernel(c, "    tt.descriptor_store %d[$PLACES], %x : !tt.tensordesc<$SHAPEx$T>, $BLOCK\n", /*loads=*/false);
  absl::Status status = RunKernel(c.machine, ir, {}, {tensor, flat});
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(tensor, expected)) << ir;
}

std::vector<Case> Cases() {
  const std::pair<const char*, Block> blocks[] = {
      {"Inside", {{40, 64}, {16, 32}, {8, 16}}},
      {"BelowAndRight", {{30, 48}, {16, 32}, {20, 32}}},
      {"AboveAndLeft", {{30, 48}, {16, 32}, {-3, -16}}},
      {"FarOutside", {{16, 16}, {8, 16}, {100, -100}}},
      {"Line", {{100}, {64}, {50}}},
      {"OneRow", {{9, 64}, {1, 32}, {4, 48}}},
      {"OneOfABatch", {{5, 6, 32}, {1, 8, 16}, {3, 2, 16}}},
      {"AfterTheBatch", {{3, 6, 32}, {1, 8, 16}, {3, -1, 16}}},
      {"BeforeTheBatch", {{3, 6, 32}, {1, 8, 16}, {-1, 0, 0}}},
      {"OnesWithin", {{3, 4, 2, 32}, {1, 4, 1, 16}, {2, 1, 1, 24}}},
      {"Cuboid", {{5, 6, 16}, {4, 8, 8}, {2, -1, 12}}},
      {"FourDimensions", {{3, 2, 5, 16}, {2, 2, 4, 16}, {2, 1, 3, 0}}},
      {"FiveDimensions", {{2, 3, 2, 5, 16}, {2, 2, 2, 2, 16}, {1, 2, 0, 4, 0}}}};
  const char* types[] = {"f16", "f32", "i32", "bf16", "i8", "f8E4M3FN", "i16", "f64", "i64", "f8E5M2"};
  std::vector<Case> cases;
  int turn = 0;
  for (const auto& [name, block] : blocks)
    for (int k = 0; k < 5; ++k) cases.push_back({name, block, types[turn % 10], MachineFor(turn)}), turn += 3;
  for (const char* type : {"f16", "bf16", "f32"})
    cases.push_back({"BelowAndRight", blocks[1].second, type, MachineFor(turn++), "nan"});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, Descriptors, testing::ValuesIn(Cases()),
                         [](const auto& info) { return absl::StrCat(NameCase(info), "_", info.index); });

struct ReduceCase {
  std::string kind, type, described;
  Machine machine;
};
void PrintTo(const ReduceCase& c, std::ostream* os) { *os << c.kind << " " << c.type; }

class DescriptorReductions : public testing::TestWithParam<ReduceCase> {};

// Each element of the tensor meets one of the block.
TEST_P(DescriptorReductions, CombineIntoMemory) {
  const ReduceCase& r = GetParam();
  Case c{"", {{30, 48}, {16, 32}, {20, 32}}, r.type, r.machine};
  Array tensor = Moderate(r.type, 30 * 48, 3), flat = Moderate(r.type, 512, 4), expected = tensor;
  if (!tensor.is_float())  // large unsigned numbers too
    for (int i = 0; i < 512; i += 5) flat.SetInt(i, flat.Int(i) * 0x2000003);
  for (int i = 0; i < 512; ++i) {
    int at = c.block.OffsetOf(i);
    if (at < 0) continue;
    if (tensor.is_float()) {
      double old = tensor.Float(at), x = flat.Float(i);
      expected.SetFloat(at, r.kind == "add" ? old + x : r.kind == "min" ? std::min(old, x) : std::max(old, x));
      continue;
    }
    bool is_unsigned = r.described[0] == 'u';
    int64_t old = tensor.Int(at), x = flat.Int(i);
    bool less = is_unsigned ? flat.Unsigned(i) < tensor.Unsigned(at) : x < old;
    int64_t min = less ? x : old, max = less ? old : x;
    expected.SetInt(at, r.kind == "add"   ? old + x
                        : r.kind == "min" ? min
                        : r.kind == "max" ? max
                        : r.kind == "and" ? (old & x)
                        : r.kind == "or"  ? (old | x)
                                          : (old ^ x));
  }
  std::string ir = Kernel(
      c, absl::StrCat("    tt.descriptor_reduce ", r.kind, ", %d[$PLACES], %x : !tt.tensordesc<$SHAPEx$D>, $BLOCK\n"),
      /*loads=*/false, r.described);
  absl::Status status = RunKernel(r.machine, ir, {}, {tensor, flat});
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(tensor, expected)) << ir;
  if (RunsOnOneDevice()) return;
  EXPECT_TRUE((status = CompileKernel("cuda:80", ir)).ok()) << status << "\n" << ir;
}

std::vector<ReduceCase> ReduceCases() {
  std::vector<ReduceCase> cases;
  int turn = 0;
  for (const char* kind : {"add", "min", "max", "and", "or", "xor"})
    for (const char* described : {"i32", "si32", "ui32", "i64", "ui64", "f16", "bf16", "f32", "f64"}) {
      std::string type = described[0] == 's' || described[0] == 'u' ? described + 1 : described;
      bool is_bitwise = kind == std::string("and") || kind == std::string("or") || kind == std::string("xor");
      if (is_bitwise && type.find('f') != std::string::npos) continue;
      cases.push_back({kind, type, described, MachineFor(turn++)});
    }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, DescriptorReductions, testing::ValuesIn(ReduceCases()), [](const auto& info) {
  return absl::StrCat(info.param.kind, "_", info.param.described, "_", NameOf(info.param.machine));
});

TEST(DescriptorReductions, OthersAreRefused) {
  Case c{"", {{30, 48}, {16, 32}, {20, 32}}, "i32", MachineFor(0)};
  Array tensor = Moderate("i32", 30 * 48, 3), flat = Moderate("i32", 512, 4);
  for (const char* kind : {"inc", "dec"}) {
    std::string ir = Kernel(
        c, absl::StrCat("    tt.descriptor_reduce ", kind, ", %d[$PLACES], %x : !tt.tensordesc<$SHAPEx$T>, $BLOCK\n"),
        /*loads=*/false);
    absl::Status status = RunKernel(c.machine, ir, {}, {tensor, flat});
    EXPECT_NE(status.message().find(absl::StrCat("has no atomic for ", kind)), std::string::npos) << status;
  }
}

struct RowsCase {
  std::string type, index;
  int y;
  Machine machine;
};
void PrintTo(const RowsCase& c, std::ostream* os) { *os << c.type << " " << c.index; }

class DescriptorRows : public testing::TestWithParam<RowsCase> {};

// Rows in any order, some outside, of a 30 x 48 tensor; 16 columns from y on.
constexpr char kRows[] = R"(module {
  tt.func public @kernel(%tensor: !tt.ptr<$T>, %rows: !tt.ptr<$X>, %flat: !tt.ptr<$T>) {
    %n0 = arith.constant 30 : i32
    %n1 = arith.constant 48 : i32
    %s0 = arith.constant 48 : i64
    %s1 = arith.constant 1 : i64
    %y = arith.constant $Y : i32
    %d = tt.make_tensor_descriptor %tensor, [%n0, %n1], [%s0, %s1] : !tt.ptr<$T>, !tt.tensordesc<1x16x$T>
    %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %rs = tt.splat %rows : !tt.ptr<$X> -> tensor<32x!tt.ptr<$X>>
    %rp = tt.addptr %rs, %k : tensor<32x!tt.ptr<$X>>, tensor<32xi32>
    %r = tt.load %rp : tensor<32x!tt.ptr<$X>>
    %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
    %fs = tt.splat %flat : !tt.ptr<$T> -> tensor<512x!tt.ptr<$T>>
    %p = tt.addptr %fs, %i : tensor<512x!tt.ptr<$T>>, tensor<512xi32>
$BODY
    tt.return
  }
}
)";

std::string RowsKernel(const RowsCase& c, const char* body) {
  return Substitute(kRows, {{"BODY", body}, {"T", c.type}, {"X", c.index}, {"Y", absl::StrCat(c.y)}});
}
// Row k of the gather or scatter; each row of the tensor at most once.
int RowAt(int k) { return k < 29 ? (k * 7 + 3) % 30 : k * 2000 - 61000; }
Array RowNumbers(const std::string& type) {
  Array rows(type, 32);
  for (int k = 0; k < 32; ++k) rows.SetInt(k, RowAt(k));
  return rows;
}

TEST_P(DescriptorRows, AreGathered) {
  const RowsCase& c = GetParam();
  Array tensor = Values(c.type, 30 * 48, 3), rows = RowNumbers(c.index), flat(c.type, 512), expected = flat;
  for (int i = 0; i < 512; ++i) {
    int row = RowAt(i / 16), column = c.y + i % 16;
    bool inside = row >= 0 && row < 30 && column >= 0 && column < 48;
    expected.SetInt(i, inside ? tensor.Int(row * 48 + column) : 0);
  }
  std::string ir = RowsKernel(
      c, R"(    %x = tt.descriptor_gather %d[%r, %y] : (!tt.tensordesc<1x16x$T>, tensor<32x$X>, i32) -> tensor<32x16x$T>
    %l = tt.reshape %x : tensor<32x16x$T> -> tensor<512x$T>
    tt.store %p, %l : tensor<512x!tt.ptr<$T>>)");
  absl::Status status = RunKernel(c.machine, ir, {}, {tensor, rows, flat});
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(flat, expected)) << ir;
}

TEST_P(DescriptorRows, AreScattered) {
  const RowsCase& c = GetParam();
  Array tensor = Values(c.type, 30 * 48, 3), rows = RowNumbers(c.index), flat = Values(c.type, 512, 4);
  Array expected = tensor;
  for (int i = 0; i < 512; ++i) {
    int row = RowAt(i / 16), column = c.y + i % 16;
    if (row >= 0 && row < 30 && column >= 0 && column < 48) expected.SetInt(row * 48 + column, flat.Int(i));
  }
  std::string ir = RowsKernel(c, R"(    %l = tt.load %p : tensor<512x!tt.ptr<$T>>
    %x = tt.reshape %l : tensor<512x$T> -> tensor<32x16x$T>
    tt.descriptor_scatter %d[%r, %y], %x : !tt.tensordesc<1x16x$T>, tensor<32x$X>, i32, tensor<32x16x$T>)");
  absl::Status status = RunKernel(c.machine, ir, {}, {tensor, rows, flat});
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(tensor, expected)) << ir;
}

std::vector<RowsCase> RowsCases() {
  std::vector<RowsCase> cases;
  int turn = 0;
  for (const char* type : {"f32", "f16", "bf16", "i8", "i32", "f8E5M2"})
    for (int y : {0, 16, 40, -8}) cases.push_back({type, turn % 3 == 0 ? "i16" : "i32", y, MachineFor(turn)}), ++turn;
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, DescriptorRows, testing::ValuesIn(RowsCases()), [](const auto& info) {
  const RowsCase& c = info.param;
  return absl::StrCat(c.type, "_by_", c.index, "_from_", c.y < 0 ? "minus" : "", std::abs(c.y), "_", NameOf(c.machine));
});

}  // namespace
}  // namespace tritond::conformance
