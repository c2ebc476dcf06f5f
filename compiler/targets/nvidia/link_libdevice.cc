// SPDX-License-Identifier: Apache-2.0
// libdevice is 300 functions of bitcode; a kernel calls a few. The module is opened lazily in the kernel's own context,
// which reads its symbol table alone. The linker then loads the bodies that are needed. This takes half a millisecond
// instead of the twenty that parsing all of it takes, and leaves nothing to keep between contexts.
#include "absl/strings/str_cat.h"
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/Internalize.h"

namespace tritond::compiler::nvidia {
namespace {

// The first function that only libdevice can have; null when there is none.
const llvm::Function* FirstOpenFunction(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    if (function.isDeclaration() && !function.use_empty() && function.getName().starts_with("__nv_")) return &function;
  }
  return nullptr;
}

// A call with other types than the function has would only be noticed by the assembler.
absl::Status CheckTypes(const llvm::Module& module, const llvm::Module& library) {
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() || function.use_empty()) continue;
    const llvm::Function* real = library.getFunction(function.getName());
    if (!real || real->getFunctionType() == function.getFunctionType()) continue;
    std::string has, called;
    llvm::raw_string_ostream(has) << *real->getFunctionType();
    llvm::raw_string_ostream(called) << *function.getFunctionType();
    return absl::InvalidArgumentError(absl::StrCat("libdevice's ", std::string(function.getName()), " is a function ",
                                                   has, ", but the kernel calls it as ", called));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status LinkLibdevice(llvm::Module& module, Toolchain& toolchain) {
  const llvm::Function* open = FirstOpenFunction(module);
  if (!open) return absl::OkStatus();
  absl::StatusOr<const llvm::MemoryBuffer*> bitcode = toolchain.GetLibdevice();
  if (!bitcode.ok()) {
    return absl::Status(bitcode.status().code(), absl::StrCat("the kernel calls ", std::string(open->getName()), ": ",
                                                              bitcode.status().message()));
  }
  auto library = llvm::getLazyBitcodeModule((*bitcode)->getMemBufferRef(), module.getContext());
  if (!library) {
    return absl::FailedPreconditionError(
        absl::StrCat("libdevice does not load: ", llvm::toString(library.takeError())));
  }
  if (absl::Status status = CheckTypes(module, **library); !status.ok()) return status;
  // libdevice names an older triple and layout on purpose; it is meant to be linked with any.
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  auto make_internal = [](llvm::Module& linked, const llvm::StringSet<>& names) {
    llvm::internalizeModule(
        linked, [&](const llvm::GlobalValue& value) { return !value.hasName() || !names.contains(value.getName()); });
  };
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded, make_internal)) {
    return absl::InternalError("linking libdevice failed");
  }
  if (const llvm::Function* left = FirstOpenFunction(module)) {
    return absl::InvalidArgumentError(absl::StrCat("libdevice has no function ", std::string(left->getName())));
  }
  return absl::OkStatus();
}

}  // namespace tritond::compiler::nvidia
