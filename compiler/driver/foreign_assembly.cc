// SPDX-License-Identifier: Apache-2.0
#include "compiler/driver/foreign_assembly.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/ir/tt_dialect.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tritond::compiler {
namespace {

// The column of the keyword `asm` in a line of LLVM IR, from 1; 0 when it has none. The keyword comes before the line's
// first string, and comments do not count.
size_t ColumnOfAsm(absl::string_view line) {
  line = line.substr(0, line.find_first_of("\";"));
  auto is_word = [&](size_t at) {
    return at < line.size() && (absl::ascii_isalnum(line[at]) || absl::StrContains("_.$@%", line[at]));
  };
  for (size_t at = line.find("asm"); at != absl::string_view::npos; at = line.find("asm", at + 1)) {
    if ((at == 0 || !is_word(at - 1)) && !is_word(at + 3)) return at + 1;
  }
  return 0;
}

TextPosition FirstAsm(absl::string_view text) {
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (const size_t column = ColumnOfAsm(line); column != 0) return {number, static_cast<int>(column)};
  }
  return {};
}

}  // namespace

mlir::LogicalResult CheckNoAssembly(mlir::ModuleOp module, absl::string_view target) {
  auto walked = module.walk([&](mlir::Operation* op) -> mlir::WalkResult {
    if (!mlir::isa<tt::ElementwiseInlineAsmOp, mlir::LLVM::InlineAsmOp>(op)) return mlir::WalkResult::advance();
    return op->emitOpError("holds assembly, which target ")
           << llvm::StringRef(target.data(), target.size())
           << " does not take; write it as operations, or compile for another target";
  });
  return mlir::failure(walked.wasInterrupted());
}

std::optional<AssemblyPlace> FindAssembly(const llvm::Module& module, absl::string_view text) {
  if (!module.getModuleInlineAsm().empty()) return AssemblyPlace{"module asm", FirstAsm(text)};
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr || !call->isInlineAsm()) continue;
      return AssemblyPlace{absl::StrCat("inline asm in function ", function.getName().str()), FirstAsm(text)};
    }
  }
  return std::nullopt;
}

}  // namespace tritond::compiler
