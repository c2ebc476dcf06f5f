// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/second_assembly.h"
#include "gtest/gtest.h"

namespace tritond::compiler::nvidia {
namespace {

TEST(NoteMoreBlocks, SaysHowManyAndHowMuchSharedMemoryABlockHas) {
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto* kernel = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "kernel", module);
  kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
  std::string text = ".visible .entry kernel()\n.reqntid 256\n{\n";
  const std::string before = text;
  NoteMoreBlocks(module, text);
  EXPECT_EQ(text, before);
  kernel->addFnAttr(kMoreBlocksAttr, kSecondBlock);
  kernel->addFnAttr(kSharedBytesAttr, "65536");
  NoteMoreBlocks(module, text);
  EXPECT_EQ(text, absl::StrCat(".visible .entry kernel()\n.reqntid 256\n",
                               "// second block: 65536 bytes of shared memory\n{\n"));
  kernel->addFnAttr(kMoreBlocksAttr, kAllWarps);
  text = before;
  NoteMoreBlocks(module, text);
  EXPECT_EQ(text, ".visible .entry kernel()\n.reqntid 256\n// all warps: 65536 bytes of shared memory\n{\n");
  kernel->addFnAttr(kLoadsAtOnceAttr, "48");
  text = before;
  NoteMoreBlocks(module, text);
  EXPECT_EQ(text,
            ".visible .entry kernel()\n.reqntid 256\n// all warps: 65536 bytes of shared memory\n"
            "// loads 48 bytes at once\n{\n");
  kernel->addFnAttr(kWaitsAttr, "2");
  text = before;
  NoteMoreBlocks(module, text);
  EXPECT_EQ(text,
            ".visible .entry kernel()\n.reqntid 256\n// all warps: 65536 bytes of shared memory\n"
            "// loads 48 bytes at once\n// waits 2 times for that\n{\n");
  kernel->addFnAttr(kProgramsAttr, "132");
  text = before;
  NoteMoreBlocks(module, text);
  EXPECT_EQ(text,
            ".visible .entry kernel()\n.reqntid 256\n// all warps: 65536 bytes of shared memory\n"
            "// loads 48 bytes at once\n// waits 2 times for that\n// has 132 programs\n{\n");
}

}  // namespace
}  // namespace tritond::compiler::nvidia
