// SPDX-License-Identifier: Apache-2.0
// ocml and ockl are bitcode with hundreds of functions; a kernel calls a few. Each library is opened lazily in the
// kernel's own context, and the linker loads the bodies that are needed. What varies between devices the libraries read
// from constants named __oclc_…, which are defined here rather than loaded from files.
#include "absl/strings/str_cat.h"
#include "compiler/targets/amd/codegen.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Transforms/IPO/Internalize.h"

namespace tritond::compiler::amd {
namespace {

// The first open function with the prefix of a library; null when there is none.
const llvm::Function* FirstOpenFunction(const llvm::Module& module, llvm::StringRef library) {
  const std::string prefix = ("__" + library + "_").str();
  for (const llvm::Function& function : module)
    if (function.isDeclaration() && !function.use_empty() && function.getName().starts_with(prefix)) return &function;
  return nullptr;
}

// A call with other types than the function has would be taken as it is.
absl::Status CheckTypes(const llvm::Module& module, const llvm::Module& library, llvm::StringRef name) {
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() || function.use_empty()) continue;
    const llvm::Function* real = library.getFunction(function.getName());
    if (!real || real->getFunctionType() == function.getFunctionType()) continue;
    std::string has, called;
    llvm::raw_string_ostream(has) << *real->getFunctionType();
    llvm::raw_string_ostream(called) << *function.getFunctionType();
    return absl::InvalidArgumentError(absl::StrCat(name.str(), "'s ", function.getName().str(), " is a function ", has,
                                                   ", but the kernel calls it as ", called));
  }
  return absl::OkStatus();
}

absl::Status LinkOne(llvm::Module& module, DeviceLibrary& files, llvm::StringRef name) {
  const llvm::Function* open = FirstOpenFunction(module, name);
  if (!open) return absl::OkStatus();
  absl::StatusOr<const llvm::MemoryBuffer*> bitcode = files.Get(name.str());
  if (!bitcode.ok())
    return absl::Status(bitcode.status().code(),
                        absl::StrCat("the kernel calls ", open->getName().str(), ": ", bitcode.status().message()));
  auto library = llvm::getLazyBitcodeModule((*bitcode)->getMemBufferRef(), module.getContext());
  if (!library)
    return absl::FailedPreconditionError(
        absl::StrCat(name.str(), ".bc does not load: ", llvm::toString(library.takeError())));
  if (absl::Status status = CheckTypes(module, **library, name); !status.ok()) return status;
  // Its flags and layout are an older LLVM's; the code is meant for any.
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  if (llvm::NamedMDNode* flags = (*library)->getModuleFlagsMetadata()) flags->eraseFromParent();
  auto make_internal = [](llvm::Module& linked, const llvm::StringSet<>& names) {
    llvm::internalizeModule(
        linked, [&](const llvm::GlobalValue& value) { return !value.hasName() || !names.contains(value.getName()); });
  };
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded, make_internal))
    return absl::InternalError(absl::StrCat("linking ", name.str(), ".bc failed"));
  if (const llvm::Function* left = FirstOpenFunction(module, name))
    return absl::InvalidArgumentError(absl::StrCat(name.str(), ".bc has no function ", left->getName().str()));
  return absl::OkStatus();
}

// Gives the open constant `name` a value, of the type that the library reads it with.
void Define(llvm::Module& module, llvm::StringRef name, int value) {
  llvm::GlobalVariable* constant = module.getGlobalVariable(name, /*AllowInternal=*/true);
  if (!constant || constant->hasInitializer()) return;
  constant->setInitializer(llvm::ConstantInt::get(constant->getValueType(), value));
  constant->setConstant(true);
  constant->setLinkage(llvm::GlobalValue::InternalLinkage);
}

void DefineConstants(llvm::Module& module, const Architecture& arch) {
  Define(module, "__oclc_finite_only_opt", 0);
  Define(module, "__oclc_unsafe_math_opt", 0);
  Define(module, "__oclc_daz_opt", 0);
  Define(module, "__oclc_correctly_rounded_sqrt32", 1);
  Define(module, "__oclc_wavefrontsize64", arch.lanes == 64);
  Define(module, "__oclc_wavefrontsize_log2", arch.lanes == 64 ? 6 : 5);
  Define(module, "__oclc_ISA_version", arch.isa_version);
  Define(module, "__oclc_ABI_version", 500);
}

// What came from a library was compiled for no device in particular.
void DropDeviceAttributes(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
  }
}

}  // namespace

absl::Status LinkDeviceLibrary(llvm::Module& module, const Architecture& arch, DeviceLibrary& library) {
  // ockl last: functions of ocml call some of it.
  for (const char* name : {"ocml", "ockl"})
    if (absl::Status status = LinkOne(module, library, name); !status.ok()) return status;
  DefineConstants(module, arch);
  DropDeviceAttributes(module);
  return absl::OkStatus();
}

}  // namespace tritond::compiler::amd
