// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/amd/codegen.h"
#include "compiler/targets/amd/processor.h"
#include "compiler/targets/assembly_text.h"
#include "compiler/targets/link_elf.h"

namespace tritond::compiler::amd {

absl::StatusOr<std::string> EmitAmdgcn(llvm::Module& module, llvm::TargetMachine& machine, const Architecture& arch,
                                       DeviceLibrary& library) {
  absl::StatusOr<bool> prints = ExpandPrints(module);
  if (!prints.ok()) return prints.status();
  if (absl::Status status = LinkDeviceLibrary(module, arch, library); !status.ok()) return status;
  ExpandMaskedAccesses(module);
  return WriteAssemblyText(module, machine);
}

absl::StatusOr<std::string> AssembleAmdgcn(const std::string& text, const Architecture& arch) {
  absl::StatusOr<std::string> object = AssembleText(text, ProcessorOf(arch));
  if (!object.ok()) return object.status();
  return LinkSharedObject(*object, {"--no-undefined"});
}

}  // namespace tritond::compiler::amd
