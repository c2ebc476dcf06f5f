// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/emulated/ptx_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::compiler::emulated {
namespace {

using Kind = PtxOperand::Kind;
using testing::HasSubstr;

PtxText Parse(absl::string_view text) {
  auto parsed = ParsePtx(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? *parsed : PtxText();
}

TEST(PtxText, ReadsPredicatesVectorsAndAddresses) {
  const PtxText text = Parse("@!$5 ld.global.L1::evict_last.v2.b32 {$0, $1}, [$4 + 0x10]; // a comment");
  ASSERT_EQ(text.statements.size(), 1u);
  const PtxStatement& load = text.statements[0];
  EXPECT_EQ(load.Name(), "ld.global.L1::evict_last.v2.b32");
  EXPECT_TRUE(load.Has("v2"));
  ASSERT_TRUE(load.predicate.has_value());
  EXPECT_TRUE(load.predicate->is_negated);
  EXPECT_EQ(load.predicate->index, 5);
  ASSERT_EQ(load.operands.size(), 2u);
  EXPECT_EQ(load.operands[0].kind, Kind::kVector);
  EXPECT_EQ(load.operands[0].parts[1].index, 1);
  EXPECT_EQ(load.operands[1].kind, Kind::kAddress);
  EXPECT_EQ(load.operands[1].parts[0].index, 4);
  EXPECT_EQ(load.operands[1].offset, 16);
}

TEST(PtxText, ResolvesRegistersByTheirBraces) {
  const PtxText text = Parse("{ .reg .b32 a, b<2>; { .reg .b64 a; mov.b64 a, 1; } mov.b32 a, b1; }");
  ASSERT_EQ(text.registers.size(), 4u);
  EXPECT_EQ(text.registers[text.statements[0].operands[0].index].bits, 64);
  EXPECT_EQ(text.registers[text.statements[1].operands[0].index].bits, 32);
  EXPECT_EQ(text.registers[text.statements[1].operands[1].index].name, "b1");
}

TEST(PtxText, ReadsLabelsAndBranches) {
  const PtxText text = Parse("{ .reg .pred p; again: setp.eq.u32 p, $0, 1; @p bra again; bra done; done: }");
  ASSERT_EQ(text.labels, 2);
  EXPECT_EQ(*text.statements[0].label, text.statements[2].operands[0].index);
}

TEST(PtxText, ReadsNumbers) {
  const PtxText text = Parse("mov.b32 $0, -1; mov.b32 $0, 0x1fU; mov.f32 $0, 0f3F800000; mov.f64 $0, -0.5;");
  EXPECT_EQ(text.statements[0].operands[1].value, ~uint64_t{0});
  EXPECT_EQ(text.statements[1].operands[1].value, 0x1fu);
  EXPECT_EQ(text.statements[2].operands[1].value, 0x3f800000u);
  EXPECT_EQ(text.statements[3].operands[1].number, -0.5);
}

TEST(PtxText, ReadsPairsSinksAndSpecialRegisters) {
  const PtxText text = Parse("shfl.sync.idx.b32 $0|$1, $2, 0, 31, -1; elect.sync _|$0, -1; mov.u32 $0, %tid.x;");
  EXPECT_EQ(text.statements[0].operands[0].kind, Kind::kPair);
  EXPECT_EQ(text.statements[1].operands[0].parts[0].kind, Kind::kSink);
  EXPECT_EQ(text.statements[2].operands[1].name, "tid.x");
}

TEST(PtxText, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> kRows[] = {
      {"add.s32 x, $0, 1;", "no register x"},
      {"mov.b32 $0, 1", "';' is missing"},
      {"{ mov.b32 $0, 1;", "not closed"},
      {"}", "closes nothing"},
      {".file 1 \"x\";", "no directive .file"},
      {"bra nowhere;", "no label nowhere"},
      {"a: a: ", "there twice"},
      {".reg .v4 x;", "no type"},
      {"ld.b32 $0, [$1;", "']' is missing"},
      {"/* x", "does not end"},
      {"mov.b32 $0, 12z;", "number is wrong"},
      {"@", "an operand is missing"},
      {".reg .b32 r<99999>;", "a number of"},
      {"mov.b32 $0, {};", "no register"},
  };
  for (const auto& [text, what] : kRows) {
    const auto parsed = ParsePtx(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(what)) << text;
  }
}

}  // namespace
}  // namespace tritond::compiler::emulated
