// SPDX-License-Identifier: Apache-2.0
// No way to hand assembly to a target that assembles it in the compiler's process. /etc/hostname stands for any file.
#include "compiler/driver/foreign_assembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/driver/compile.h"

namespace tritond::compiler {
namespace {

using testing::HasSubstr;

constexpr char kModuleAssembly[] = R"(target triple = "x86_64-unknown-linux-gnu"
module asm ".data"
module asm "leak: .incbin \22/etc/hostname\22"
define void @k(ptr %x) "tritond.kernel" {
  ret void
}
)";

constexpr char kInlineAssembly[] = R"(; asm in a comment, and in a name, is none
@"asm" = global i32 0
define void @k(ptr %x) "tritond.kernel" {
  call void asm sideeffect ".incbin \22/etc/hostname\22", ""()
  ret void
}
)";

constexpr char kOperation[] = R"(module {
  tt.func public @k(%x: i32) {
    %y = tt.elementwise_inline_asm ".incbin \22/etc/hostname\22" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %x : i32 -> i32
    tt.return
  }
}
)";

constexpr char kLlvmOperation[] = R"(module {
  tt.func public @k(%x: i32) {
    llvm.inline_asm has_side_effects ".incbin \22/etc/hostname\22", "" : () -> ()
    tt.return
  }
}
)";

CompileResult Compile(const std::string& target, Stage input, const std::string& ir, Stage output = Stage::kBinary) {
  static Compiler* compiler = Compiler::Create().release();
  CompileRequest request;
  request.ir = ir;
  request.input = input;
  request.target = target;
  request.options = nlohmann::json::object();
  request.outputs = {output};
  return compiler->Compile(request);
}

class ForeignAssembly : public testing::TestWithParam<const char*> {
 protected:
  void ExpectRefused(Stage input, const std::string& ir, const std::string& message) {
    const CompileResult result = Compile(GetParam(), input, ir);
    EXPECT_EQ(result.status.code(), absl::StatusCode::kInvalidArgument) << result.status;
    EXPECT_THAT(std::string(result.status.message()), HasSubstr(message));
    EXPECT_THAT(std::string(result.status.message()), HasSubstr(GetParam()));
    EXPECT_TRUE(result.artifacts.empty());
  }
};

INSTANTIATE_TEST_SUITE_P(Targets, ForeignAssembly, testing::Values("host", "host:64"));

TEST_P(ForeignAssembly, AssemblyOfAModuleIsRefusedWithItsPlace) {
  ExpectRefused(Stage::kLlir, kModuleAssembly, "stage llir, line 2, column 8: module asm: target host");
}

TEST_P(ForeignAssembly, InAFunctionIsRefusedWithItsPlace) {
  ExpectRefused(Stage::kLlir, kInlineAssembly, "stage llir, line 4, column 13: inline asm in function k: target host");
}

TEST_P(ForeignAssembly, AsAnOperationIsRefusedWithItsPlace) {
  ExpectRefused(Stage::kTtir, kOperation, "stage ttir, line 3, column 10: 'tt.elementwise_inline_asm' op holds");
}

TEST_P(ForeignAssembly, AsAnOperationOfLlvmIsRefusedWithItsPlace) {
  ExpectRefused(Stage::kTtir, kLlvmOperation, "stage ttir, line 3, column 5: 'llvm.inline_asm' op holds assembly");
}

TEST_P(ForeignAssembly, AsATextIsRefused) {
  ExpectRefused(Stage::kAsm, "\t.text\n\t.incbin \"/etc/hostname\"\n", "input asm: target host");
}

TEST(ForeignAssemblyForADevice, IsItsAssemblersToCheck) {
  const CompileResult result = Compile("cuda:90", Stage::kTtir,
                                       R"(module {
  tt.func public @k(%p: !tt.ptr<i32>, %x: i32) {
    %y = tt.elementwise_inline_asm "add.s32 $0, $1, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : i32 -> i32
    tt.store %p, %y : !tt.ptr<i32>
    tt.return
  }
}
)",
                                       Stage::kAsm);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.artifacts[0].bytes, HasSubstr("add.s32"));
}

}  // namespace
}  // namespace tritond::compiler
