// SPDX-License-Identifier: Apache-2.0
// The steps from LLVM IR to a shared object, each on a few lines of LLVM IR.
#include "compiler/targets/host/codegen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/targets/assembly_text.h"
#include "compiler/targets/host/extern_functions.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler::host {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

class HostCodegenTest : public testing::Test {
 protected:
  std::unique_ptr<llvm::Module> Parse(const std::string& text) {
    llvm::SMDiagnostic error;
    auto module = llvm::parseAssemblyString(text, error, context_);
    EXPECT_NE(module, nullptr) << error.getLineNo() << ": " << error.getMessage().str();
    return module;
  }

  static std::string Print(const llvm::Module& module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    EXPECT_FALSE(llvm::verifyModule(module, &os)) << text;
    text.clear();
    module.print(os, nullptr);
    return text;
  }

  // The module as a shared object.
  absl::StatusOr<std::string> Build(const std::string& ir) {
    auto module = Parse(ir);
    auto machine = MakeTargetMachine();
    if (!machine.ok()) return machine.status();
    if (absl::Status status = OptimizeModule(*module, **machine, KernelOptions()); !status.ok()) return status;
    auto text = WriteAssemblyText(*module, **machine);
    if (!text.ok()) return text.status();
    auto object = AssembleObject(*text);
    return object.ok() ? LinkObject(*object) : object.status();
  }

  llvm::LLVMContext context_;
};

TEST_F(HostCodegenTest, EveryAccessToGlobalAndSharedMemoryIsChecked) {
  auto module = Parse(R"(
define void @k(ptr addrspace(1) %g, ptr addrspace(3) %s, ptr %stack) {
  %a = load <4 x i32>, ptr addrspace(1) %g
  store i16 7, ptr addrspace(3) %s
  %b = atomicrmw add ptr addrspace(3) %s, i32 1 monotonic
  store i32 1, ptr %stack
  call void @llvm.memcpy.p1.p3.i64(ptr addrspace(1) %g, ptr addrspace(3) %s, i64 24, i1 false)
  ret void
}
declare void @llvm.memcpy.p1.p3.i64(ptr addrspace(1), ptr addrspace(3), i64, i1)
)");
  InstrumentAccesses(*module);
  const std::string text = Print(*module);
  EXPECT_THAT(text, ContainsRegex("check_access\\(ptr @tritond.place, ptr %1, i64 16, i32 0\\)\n  %a = load"));
  EXPECT_THAT(text, ContainsRegex("check_access\\(.*i64 2, i32 5\\)\n  store i16 7"));
  EXPECT_THAT(text, ContainsRegex("check_access\\(.*i64 4, i32 6\\)\n  %b = atomicrmw"));
  EXPECT_THAT(text, ContainsRegex("check_access\\(.*i64 24, i32 4\\)"));
  EXPECT_THAT(text, ContainsRegex("check_access\\(.*i64 24, i32 1\\)"));
  EXPECT_THAT(text, Not(ContainsRegex("check_access[^\n]*\n  store i32 1, ptr %stack")));
  EXPECT_THAT(text, HasSubstr("@tritond.place = private constant { ptr, ptr, i32, i32 }"));
  EXPECT_THAT(text, Not(HasSubstr("@tritond.place.1"))) << "one place, as no location tells them apart";
}

TEST_F(HostCodegenTest, CallsThatTellAPlaceGetTheirOwn) {
  auto module = Parse(R"(
define void @k() !dbg !4 {
  call void @tritond.barrier(ptr null), !dbg !5
  ret void
}
declare void @tritond.barrier(ptr) "tritond.site"
!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C, file: !2, emissionKind: LineTablesOnly)
!2 = !DIFile(filename: "kernel.py", directory: "dir")
!3 = !DISubroutineType(types: !{})
!4 = distinct !DISubprogram(name: "softmax", file: !2, line: 1, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!5 = !DILocation(line: 12, column: 34, scope: !4)
)");
  InstrumentAccesses(*module);
  const std::string text = Print(*module);
  EXPECT_THAT(text, HasSubstr("c\"dir/kernel.py\\00\""));
  EXPECT_THAT(text, HasSubstr("c\"softmax\\00\""));
  EXPECT_THAT(text, HasSubstr("i32 12, i32 34 }"));
  EXPECT_THAT(text, HasSubstr("call void @tritond.barrier(ptr @tritond.place)"));
}

TEST_F(HostCodegenTest, SharedMemoryIsAskedForOnceAFunction) {
  auto module = Parse(R"(
@global_smem = external addrspace(3) global [0 x i8], align 16
define void @k(i32 %x) {
  store i32 1, ptr addrspace(3) @global_smem
  store i32 1, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 64)
  ret void
}
)");
  BindSharedMemory(*module);
  const std::string text = Print(*module);
  EXPECT_THAT(text, Not(HasSubstr("global_smem")));
  EXPECT_THAT(text, HasSubstr("call ptr @tritond.shared_memory()"));
  EXPECT_EQ(text.find("call ptr @tritond.shared_memory()"), text.rfind("call ptr @tritond.shared_memory()"));
}

TEST_F(HostCodegenTest, DivisionsByWhatMayBeZeroAreGuarded) {
  auto module = Parse(R"(
define i32 @k(i32 %x, i32 %y) {
  %a = sdiv i32 %x, %y
  %b = urem i32 %a, %y
  %c = sdiv i32 %b, 12
  %d = srem i32 %c, -1
  ret i32 %d
}
)");
  GuardDivisions(*module);
  const std::string text = Print(*module);
  EXPECT_THAT(text, Not(HasSubstr("sdiv i32 %x, %y")));
  EXPECT_THAT(text, Not(HasSubstr("urem i32 %a, %y")));
  EXPECT_THAT(text, HasSubstr("sdiv i32 %b, 12"));
  EXPECT_THAT(text, Not(HasSubstr("srem i32 %c, -1")));
  EXPECT_THAT(text, HasSubstr("icmp eq i32 %x, -2147483648"));
}

TEST_F(HostCodegenTest, LargeBlocksAreCutAfterTheirStackSlots) {
  std::string adds;
  for (int i = 0; i < 5000; ++i) adds += absl::StrCat("  %v", i + 1, " = add i32 %v", i, ", %x\n");
  auto module =
      Parse(absl::StrCat("define i32 @large(i32 %x) {\n  %v0 = add i32 %x, 1\n", adds, "  %slot = alloca i32\n",
                         "  %w0 = add i32 %x, 1\n", absl::StrReplaceAll(adds, {{"%v", "%w"}}), "  ret i32 %w5000\n}\n",
                         "define i32 @small(i32 %x) {\n  ret i32 %x\n}\n"));
  SplitLargeBlocks(*module);
  Print(*module);
  const llvm::Function& large = *module->getFunction("large");
  EXPECT_EQ(large.size(), 51u) << "fifty times 100 after the slot, and the last one";
  EXPECT_EQ(large.getEntryBlock().size(), 5001u + 1 + 100 + 1);
  EXPECT_EQ(large.back().size(), 2u);
  EXPECT_EQ(module->getFunction("small")->size(), 1u);
}

TEST_F(HostCodegenTest, AKernelTakesTheAddressesOfItsParameters) {
  auto module = Parse(R"(
define void @k(ptr addrspace(1) %p, i1 %flag, half %h) "tritond.kernel" {
  call void @expf()
  ret void
}
define void @expf() {
  ret void
}
)");
  ASSERT_TRUE(ExportKernels(*module).ok());
  const std::string text = Print(*module);
  EXPECT_THAT(text, ContainsRegex("define void @k\\(ptr"));
  EXPECT_THAT(text, HasSubstr("load i8, ptr"));
  EXPECT_THAT(text, HasSubstr("load half, ptr"));
  EXPECT_THAT(text, HasSubstr("define internal void @k.body(ptr addrspace(1) %p, i1 %flag, half %h)"));
  EXPECT_THAT(text, HasSubstr("define internal void @expf.device()")) << "the C library's stays what it is";
}

TEST_F(HostCodegenTest, AModuleWithoutKernelIsRefused) {
  auto none = Parse("define void @f() {\n  ret void\n}\n");
  EXPECT_EQ(ExportKernels(*none).message(), "the module has no kernel");
  EXPECT_THAT(
      Build("define void @k() \"tritond.kernel\" {\n  call void @nobody()\n  ret void\n}\ndeclare void @nobody()\n")
          .status()
          .message(),
      HasSubstr("calls nobody, which no library has"));
}

// The names in the dynamic symbol table, open ones with a question mark after.
std::vector<std::string> DynamicSymbols(const std::string& object) {
  std::vector<std::string> names;
  auto file = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(object, "so"));
  if (!file) return {llvm::toString(file.takeError())};
  for (const llvm::object::SymbolRef& symbol :
       llvm::cast<llvm::object::ELFObjectFileBase>(**file).getDynamicSymbolIterators()) {
    std::string name = llvm::cantFail(symbol.getName()).str();
    if (llvm::cantFail(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined) name += "?";
    names.push_back(name);
  }
  return names;
}

TEST_F(HostCodegenTest, AnObjectNeedsTheCLibraryAlone) {
  auto object = Build(R"(
define void @k(ptr addrspace(1) %p, float %x, double %y, bfloat %z) "tritond.kernel" {
  %a = call float @llvm.exp.f32(float %x)
  %b = fptrunc float %a to bfloat
  %c = fptrunc double %y to half
  %d = fadd bfloat %b, %z
  store volatile bfloat %d, ptr addrspace(1) %p
  store volatile half %c, ptr addrspace(1) %p
  call void @llvm.memset.p1.i64(ptr addrspace(1) %p, i8 0, i64 10000, i1 false)
  ret void
}
declare float @llvm.exp.f32(float)
declare void @llvm.memset.p1.i64(ptr addrspace(1), i8, i64, i1)
)");
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_THAT(DynamicSymbols(*object),
              UnorderedElementsAre("k", "tritond_host_abi", "tritond_host_runtime", "expf?", "memset?"));
}

TEST_F(HostCodegenTest, ConstantsOfNarrowFloatsThatCallsTakeNeedNoLibrary) {
  auto object = Build(R"(
define void @k(ptr addrspace(1) %p) "tritond.kernel" {
  %a = call i16 @f(bfloat 0xR3F80)
  store volatile i16 %a, ptr addrspace(1) %p
  ret void
}
define internal i16 @f(bfloat %x) noinline optnone {
  %a = bitcast bfloat %x to i16
  ret i16 %a
}
)");
  ASSERT_TRUE(object.ok()) << object.status();
}

TEST_F(HostCodegenTest, LinksAgainAndAgain) {
  const std::string ir = "define void @k() \"tritond.kernel\" {\n  ret void\n}\n";
  auto first = Build(ir);
  ASSERT_TRUE(first.ok()) << first.status();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(*Build(ir), *first);
}

TEST_F(HostCodegenTest, AnUnresolvedSymbolIsNamed) {
  auto object = AssembleObject("\t.text\n\t.globl\tk\nk:\n\tcall\tnobody@PLT\n\tretq\n");
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_THAT(LinkObject(*object).status().message(), HasSubstr("nobody"));
}

TEST_F(HostCodegenTest, ASymbolDefinedTwiceIsAnErrorWithItsLine) {
  auto object = AssembleObject("\t.text\nk:\nk:\n\tretq\n");
  EXPECT_THAT(std::string(object.status().message()), HasSubstr("line 3: symbol 'k' is already defined"));
}

TEST_F(HostCodegenTest, FindsTheKernelInAssemblyText) {
  EXPECT_EQ(KernelNameIn("\t.globl\tv\n\t.type\tv,@object\n\t.globl\tk\n\t.type\tk,@function\n"), "k");
  EXPECT_EQ(KernelNameIn("\t.hidden\th\n\t.globl\th\n\t.type\th,@function\n"), "");
  EXPECT_EQ(KernelNameIn(""), "");
}

TEST(LibmFunctions, AreKnownInBothPrecisions) {
  for (const char* name : {"exp", "expf", "erf", "erff", "fmod", "fmodf", "sincosf", "jn", "jnf"})
    EXPECT_TRUE(IsLibmFunction(name)) << name;
  for (const char* name : {"", "f", "expff", "malloc", "system", "ef"}) EXPECT_FALSE(IsLibmFunction(name)) << name;
}

// A caller's text comes this far in no target; the assembler refuses on its own all the same.
TEST(AssembleObject, ReadsNoFiles) {
  for (const char* directive : {".incbin \"/etc/hostname\"", ".INCBIN \"/etc/hostname\"", ".include \"/etc/hostname\"",
                                ".macro m\n.endm", ".irp x,a\n.endr", ".rept 2\n.endr", ".altmacro"}) {
    const absl::Status status = AssembleObject(absl::StrCat("\t.data\n\t", directive, "\n")).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << directive;
    EXPECT_THAT(std::string(status.message()), HasSubstr("is allowed")) << directive;
  }
}

TEST(AssembleObject, NamesTheLineThatItDoesNotUnderstand) {
  EXPECT_THAT(std::string(AssembleObject("\tnonsense %rax\n").status().message()),
              HasSubstr("line 1: invalid instruction mnemonic"));
}

}  // namespace
}  // namespace tritond::compiler::host
