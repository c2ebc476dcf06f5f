// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/lost_operands.h"

#include <cstring>
#include <memory>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "compiler/targets/nvidia/architecture.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/second_assembly.h"
#include "compiler/targets/nvidia/test_loop.h"
#include "compiler/targets/nvidia/toolchain.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::HasSubstr;

// Instructions as ptxas 13.0 encodes them.
Instruction Product(uint64_t results, uint64_t operand) {
  return {0x40e0000c00007df0 | results << 16 | operand << 24, 0x000fe80008700878};
}
Instruction Pack(uint64_t to) { return {0x000000191a00723e | to << 16, 0x000fe200000000ff}; }
// PRMT, under predicate 0 if `sometimes`.
Instruction Permute(uint64_t to, bool sometimes = false) {
  return {0x0000321005007816 - (sometimes ? 0x7000 : 0) + (to << 16), 0x000fe200000000ff};
}
Instruction CompareInto(uint64_t field) { return {0x000000070000720c | field << 16, 0x000fda0003f24070}; }
Instruction CopyToShared(uint64_t address) { return {0x000000000e007fae | address << 16, 0x000fe2000b101c4e}; }
Instruction Exit() { return {0x000000000000794d, 0x000fea0003800000}; }
// From instruction `from` to `to`; always, or under predicate 0.
Instruction Branch(int64_t from, int64_t to, bool always) {
  const int64_t words = (to - from - 1) * 4;
  return {
      static_cast<uint64_t>(words >> 8) << 34 | static_cast<uint64_t>(words & 0xff) << 16 | (always ? 0x7947 : 0x0947),
      0x000fea0003800000 | (words < 0 ? uint64_t{0x3ffff} : 0)};
}

// Whether a loop with this body loses operands. `before` stands in front of it.
bool Loses(std::vector<Instruction> body, std::vector<Instruction> before = {Pack(160)}) {
  const auto begin = static_cast<int64_t>(before.size());
  before.insert(before.end(), body.begin(), body.end());
  before.push_back(Branch(static_cast<int64_t>(before.size()), begin, /*always=*/false));
  before.push_back(Exit());
  return LosesOperands(before);
}

TEST(LosesOperands, WhereAnotherOneIsMadeInItsRegisters) {
  EXPECT_TRUE(Loses({Product(24, 160), Pack(160), Product(88, 160)}));
  EXPECT_TRUE(Loses({Product(24, 160), Product(32, 160), Pack(160), Product(88, 160), CompareInto(160)}));
}

TEST(LosesOperands, NotInOtherRegistersOrWithoutALoop) {
  EXPECT_FALSE(Loses({Product(24, 160), Pack(164), Product(88, 164)}));
  EXPECT_FALSE(
      LosesOperands(std::vector<Instruction>{Pack(160), Product(24, 160), Pack(160), Product(88, 160), Exit()}));
}

TEST(LosesOperands, NotWhereTheyAreMadeAgain) {
  EXPECT_FALSE(Loses({Permute(160), Product(24, 160), Pack(160), Product(88, 160)}));
  EXPECT_FALSE(Loses({Product(24, 160), Pack(160), Product(88, 160), Permute(160)}));
  EXPECT_TRUE(Loses({Product(24, 160), Pack(160), Product(88, 160), Permute(160, /*sometimes=*/true)}));
}

TEST(LosesOperands, NotWhereTheLoopCarriesThem) {
  EXPECT_FALSE(Loses({Product(24, 160), Pack(160)})) << "the next iteration takes them";
  EXPECT_FALSE(Loses({Product(24, 160), Permute(160, /*sometimes=*/true), Product(88, 160)})) << "of another tile";
}

TEST(LosesOperands, FieldsThatNameNoRegisterOfAThreadAreNone) {
  EXPECT_FALSE(Loses({Product(24, 160), CompareInto(160), CopyToShared(160), Product(88, 160)}));
}

TEST(CopyOperands, CopiesTheWordsOfEachBlock) {
  const std::string product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1, %r2, %r3, %r4}, ";
  const std::string text =
      CopyOperands("\t// begin inline asm\n\t{\n.reg .b64 b;\nwgmma.fence.sync.aligned;\n" + product +
                   "{%r5, %r6, %r7, %r8}, b, 1, 1, 1, 1;\n" + product +
                   "{%r5, %r6, %r7, %r9}, b, 1, 1, 1, 1;\n}\n\tadd.s32 %r1, %r2, %r3;\n\t// begin inline asm\n\t{\n" +
                   product + "a, b, 1, 1, 1, 1, 1;\n}\n");
  EXPECT_THAT(text, HasSubstr("{\n.reg .b32 copy_r5;\nprmt.b32 copy_r5, %r5, 0, 0x3210;\n.reg .b32 copy_r6;\n"));
  EXPECT_THAT(text, HasSubstr("prmt.b32 copy_r9, %r9, 0, 0x3210;\n.reg .b64 b;\nwgmma.fence.sync.aligned;\n" + product +
                              "{copy_r5, copy_r6, copy_r7, copy_r8}, b, 1, 1, 1, 1;\n" + product +
                              "{copy_r5, copy_r6, copy_r7, copy_r9}, b, 1, 1, 1, 1;\n}\n\tadd.s32 %r1, %r2, %r3;\n\t// "
                              "begin inline asm\n\t{\n" +
                              product + "a, b, 1, 1, 1, 1, 1;\n}\n"));
  EXPECT_EQ(CopyOperands(".visible .entry f()\n{\n\tret;\n}\n"), ".visible .entry f()\n{\n\tret;\n}\n");
}

// Loses an operand, unless the text has copies of it.
class LosingAssembler final : public Assembler {
 public:
  LosingAssembler(std::string right, std::string wrong) : right_(std::move(right)), wrong_(std::move(wrong)) {}
  std::string Name() const override { return "losing"; }
  int PtxVersion() const override { return 80; }
  std::string Path() const override { return ""; }
  absl::StatusOr<std::string> Assemble(const std::string& ptx, const AssembleOptions&) const override {
    return absl::StrContains(ptx, "copy_r5") ? right_ : wrong_;
  }

 private:
  const std::string right_, wrong_;
};

TEST(LosesOperands, IsFoundOutBeforeABinaryIsTaken) {
  const std::shared_ptr<Toolchain> toolchain = Toolchain::ForConfig(TargetConfig());
  auto assembler = toolchain->GetAssembler();
  if (!assembler.ok()) GTEST_SKIP() << assembler.status();
  AssembleOptions options;
  options.arch = "sm_90a";
  auto right = (*assembler)->Assemble(LoopThatLoads(4, /*at_once=*/true, options.arch), options);
  ASSERT_TRUE(right.ok()) << right.status();
  const std::vector<Instruction> code = InstructionsOf(*right, "kernel");
  const std::vector<Instruction> losing = {
      Pack(160), Product(24, 160), Pack(160), Product(88, 160), Branch(4, 1, /*always=*/false), Exit()};
  ASSERT_GE(code.size(), losing.size());
  const size_t begin = right->find({reinterpret_cast<const char*>(code.data()), sizeof(Instruction)});
  std::string wrong = *right;
  memcpy(&wrong[begin], losing.data(), losing.size() * sizeof(Instruction));
  const std::string without = *right;
  const Instruction product = Product(24, 160);
  memcpy(&(*right)[begin], &product, sizeof(Instruction));
  const Architecture& arch = *absl::c_find_if(kArchitectures, [](auto& each) { return each.compute_capability == 90; });
  EXPECT_TRUE(CheckCubin(*right, arch, "kernel").ok());
  EXPECT_THAT(std::string(CheckCubin(wrong, arch, "kernel").message()), HasSubstr("overwritten an operand"));
  TargetInfo info;
  info.arch = 90;
  const std::string ptx =
      ".visible .entry kernel()\n{\n\t// begin inline asm\n\t{\nwgmma.mma_async {%r1}, {%r5}, b;\n}\n}\n";
  EXPECT_TRUE(AssembleBest(LosingAssembler(*right, wrong), ptx, options, 4, info).value_or("") == *right);
  const std::string parts = absl::StrReplaceAll(ptx, {{"{%r1}", "{part0, part1}"}});
  EXPECT_FALSE(LosesProducts(parts, *right, "kernel", 90));
  const std::string line = "wgmma.mma_async {part0, part1}, {%r5}, b;\n";
  const std::string more = absl::StrReplaceAll(parts, {{line, line + line}});
  EXPECT_TRUE(LosesProducts(more, *right, "kernel", 90));
  EXPECT_FALSE(LosesProducts(more, *right, "kernel", 100));
  EXPECT_FALSE(LosesProducts(absl::StrReplaceAll(more, {{"part0, part1", "%r1"}}), *right, "kernel", 90));
  EXPECT_FALSE(LosesProducts(more, without, "kernel", 90));  // nobody needs them
  EXPECT_THAT(AssembleBest(LosingAssembler(*right, wrong), more, options, 4, info).status().message(),
              HasSubstr("left out products"));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
