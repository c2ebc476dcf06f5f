// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/spirv_text.h"

#include "compiler/targets/intel/spirv_words.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler::intel {
namespace {

using ::testing::HasSubstr;

std::string ModuleOf(std::vector<uint32_t> body) {
  SpirvWords words;
  words.version = 0x00010400;
  words.generator = 0x002b0016;
  words.bound = 100;
  words.body = std::move(body);
  return words.Serialize();
}

// One instruction: `opcode`, and its operands.
std::vector<uint32_t> Instruction(uint32_t opcode, std::vector<uint32_t> operands) {
  operands.insert(operands.begin(), static_cast<uint32_t>(operands.size() + 1) << 16 | opcode);
  return operands;
}

std::string LineOf(std::vector<uint32_t> instruction) {
  absl::StatusOr<std::string> text = DisassembleSpirv(ModuleOf(std::move(instruction)));
  if (!text.ok()) return text.status().ToString();
  const size_t schema = text->find("; Schema: 0\n");
  return schema == std::string::npos ? *text : text->substr(schema + 12);
}

TEST(SpirvText, TellsTheHeader) {
  absl::StatusOr<std::string> text = DisassembleSpirv(ModuleOf({}));
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, "; SPIR-V\n; Version: 1.4\n; Generator: 0x002b0016\n; Bound: 100\n; Schema: 0\n");
}

TEST(SpirvText, NamesOperands) {
  EXPECT_EQ(LineOf(Instruction(17, {6})), "OpCapability Kernel\n");
  EXPECT_EQ(LineOf(Instruction(21, {9, 32, 0})), "%9 = OpTypeInt 32 0\n");
  EXPECT_EQ(LineOf(Instruction(61, {25, 63, 62, 2, 16})), "%63 = OpLoad %25 %62 Aligned 16\n");
  EXPECT_EQ(LineOf(Instruction(61, {7, 89, 51, 7, 4})), "%89 = OpLoad %7 %51 Volatile|Aligned|Nontemporal 4\n");
  EXPECT_EQ(LineOf(Instruction(54, {12, 55, 0, 13})), "%55 = OpFunction %12 None %13\n");
  EXPECT_EQ(LineOf(Instruction(71, {43, 41, 0x6162, 1})), "OpDecorate %43 LinkageAttributes \"ba\" Import\n");
  EXPECT_EQ(LineOf(Instruction(12, {7, 70, 1, 19, 69})), "%70 = OpExtInst %7 %1 exp %69\n");
}

TEST(SpirvText, NumbersOfOneWordAreDecimal) {
  std::vector<uint32_t> body = Instruction(21, {9, 32, 0});
  for (const auto& more : {Instruction(21, {14, 64, 0}), Instruction(43, {9, 18, 7}), Instruction(43, {14, 19, 7, 1})})
    body.insert(body.end(), more.begin(), more.end());
  EXPECT_THAT(LineOf(body), HasSubstr("%18 = OpConstant %9 7\n%19 = OpConstant %14 !0x00000007 !0x00000001\n"));
}

TEST(SpirvText, UnknownInstructionsPrintAsWords) {
  EXPECT_EQ(LineOf(Instruction(0x1fff, {1, 2})), "!0x00031fff !0x00000001 !0x00000002\n");
  EXPECT_EQ(LineOf(Instruction(17, {0xfffe})), "!0x00020011 !0x0000fffe\n") << "an enumerant";
  EXPECT_EQ(LineOf(Instruction(21, {9, 32})), "!0x00030015 !0x00000009 !0x00000020\n") << "an operand is missing";
  EXPECT_EQ(LineOf(Instruction(5, {9, 0x61, 0x62})), "!0x00040005 !0x00000009 !0x00000061 !0x00000062\n");
}

TEST(SpirvText, GivesTheSameBytesAgain) {
  const std::vector<std::vector<uint32_t>> instructions = {
      Instruction(17, {6}),
      Instruction(5, {9, 0x00225c62}),  // b\"
      Instruction(5, {9, 0x003b2520}),  // " %;"
      Instruction(21, {9, 32, 0}),
      Instruction(43, {9, 18, 0xffffffff}),
      Instruction(43, {14, 19, 7, 1}),
      Instruction(61, {7, 89, 51, 7, 4}),
      Instruction(62, {7, 89}),
      Instruction(245, {9, 94, 32, 116, 93, 2}),
      Instruction(16, {55, 17, 64, 1, 1}),
      Instruction(0x1fff, {1, 2}),
      Instruction(253, {}),
  };
  for (const auto& instruction : instructions) {
    const std::string binary = ModuleOf(instruction);
    absl::StatusOr<std::string> text = DisassembleSpirv(binary);
    ASSERT_TRUE(text.ok()) << text.status();
    absl::StatusOr<std::string> again = AssembleSpirv(*text);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, binary) << *text;
  }
}

TEST(SpirvText, RefusesWhatIsNoModule) {
  EXPECT_EQ(DisassembleSpirv("").status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(DisassembleSpirv(std::string(20, '\0')).status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(DisassembleSpirv(ModuleOf({0})).status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(DisassembleSpirv(ModuleOf({0x00030011, 6})).status().code(), absl::StatusCode::kInternal) << "cut off";
}

TEST(SpirvText, NamesTheLineThatItDoesNotUnderstand) {
  const std::string header = "; Version: 1.4\n; Generator: 0x0\n; Bound: 9\n";
  for (const char* wrong :
       {"OpCapability Nobody", "OpNothing", "OpLoad %1 %2", "%1 = OpCapability Kernel", "OpName %1 \"open",
        "%x = OpTypeVoid", "OpTypeVoid", "OpCapability Kernel Kernel", "!7 x"}) {
    const absl::Status status = AssembleSpirv(header + wrong + "\n").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << wrong;
    EXPECT_THAT(std::string(status.message()), HasSubstr("line 4")) << wrong;
  }
  EXPECT_FALSE(AssembleSpirv("OpCapability Kernel\n").ok()) << "without a header";
}

}  // namespace
}  // namespace tritond::compiler::intel
