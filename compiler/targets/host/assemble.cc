// SPDX-License-Identifier: Apache-2.0
// From assembly text to a shared object, by what all targets share; the symbols that stay open are checked here.
#include "absl/strings/str_cat.h"
#include "compiler/targets/assemble_text.h"
#include "compiler/targets/host/codegen.h"
#include "compiler/targets/host/extern_functions.h"
#include "compiler/targets/host/runtime.h"
#include "compiler/targets/link_elf.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tritond::compiler::host {
namespace {

// What LLVM itself and HostOps call, besides libm.
bool IsLibraryFunction(llvm::StringRef name) {
  constexpr const char* kMemory[] = {"memcpy", "memset", "memmove"};
  return llvm::is_contained(kMemory, name) || name == kClockFunction || IsLibmFunction(name);
}

// An open symbol that nobody has would only be noticed when the object is loaded, far away.
absl::Status CheckOpenSymbols(const std::string& object) {
  auto file = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(object, "kernel.o"));
  if (!file) return absl::InternalError(absl::StrCat("reading the object back: ", llvm::toString(file.takeError())));
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      return absl::InternalError("reading the object's symbols back failed");
    }
    if (!(*flags & llvm::object::SymbolRef::SF_Undefined) || name->empty()) continue;
    if (*name == "_GLOBAL_OFFSET_TABLE_" || IsLibraryFunction(*name)) continue;
    return absl::InternalError(
        absl::StrCat("the code calls ", name->str(), ", which neither it nor the C library has"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> AssembleObject(const std::string& text) {
  InitializeBackEnd();
  return AssembleText(text, {kTriple, kCpu, ""});
}

absl::StatusOr<std::string> LinkObject(const std::string& object) {
  if (absl::Status status = CheckOpenSymbols(object); !status.ok()) return status;
  return LinkSharedObject(object, {// Open symbols are the C library's, and are there when the object is loaded.
                                   "--unresolved-symbols=ignore-all", "-z", "now", "-Bsymbolic", "--gc-sections",
                                   // A kernel of such a name is not to be run when the object is loaded.
                                   "-init=", "-fini=", "--eh-frame-hdr"});
}

}  // namespace tritond::compiler::host
