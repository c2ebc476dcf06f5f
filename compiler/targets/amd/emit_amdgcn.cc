// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "compiler/targets/amd/codegen.h"
#include "compiler/targets/amd/processor.h"
#include "compiler/targets/assembly_text.h"
#include "compiler/targets/link_elf.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"

namespace tritond::compiler::amd {
namespace {

bool HasInlineAssembly(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && call->isInlineAsm()) return true;
  return false;
}

}  // namespace

absl::StatusOr<std::string> EmitAmdgcn(llvm::Module& module, llvm::TargetMachine& machine, const Architecture& arch,
                                       DeviceLibrary& library) {
  absl::StatusOr<bool> prints = ExpandPrints(module);
  if (!prints.ok()) return prints.status();
  if (absl::Status status = LinkDeviceLibrary(module, arch, library); !status.ok()) return status;
  ExpandMaskedAccesses(module);
  absl::StatusOr<std::string> text = WriteAssemblyText(module, machine);
  // The assembler reads a caller's instructions here.
  if (absl::IsInternal(text.status()) && HasInlineAssembly(module))
    return absl::InvalidArgumentError(absl::StrCat("inline assembly: ", std::string(text.status().message())));
  return text;
}

absl::StatusOr<std::string> AssembleAmdgcn(const std::string& text, const Architecture& arch) {
  absl::StatusOr<std::string> object = AssembleText(text, ProcessorOf(arch));
  if (!object.ok()) return object.status();
  return LinkSharedObject(*object, {"--no-undefined"});
}

}  // namespace tritond::compiler::amd
