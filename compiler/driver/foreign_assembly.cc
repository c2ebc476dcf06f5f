// SPDX-License-Identifier: Apache-2.0
#include "compiler/driver/foreign_assembly.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/ir/tt_dialect.h"
#include "llvm/IR/InlineAsm.h"
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

mlir::LogicalResult CheckNoAssembly(mlir::ModuleOp module, const Target& target) {
  auto walked = module.walk([&](mlir::Operation* op) -> mlir::WalkResult {
    llvm::StringRef text;
    if (auto assembly = mlir::dyn_cast<tt::ElementwiseInlineAsmOp>(op)) {
      text = assembly.getAsmString();
    } else if (auto assembly = mlir::dyn_cast<mlir::LLVM::InlineAsmOp>(op)) {
      text = assembly.getAsmString();
    } else {
      return mlir::WalkResult::advance();
    }
    const absl::Status status = target.CheckInlineAssembly({text.data(), text.size()});
    if (status.ok()) return mlir::WalkResult::advance();
    const std::string reason(status.message());
    return op->emitOpError("holds assembly, ") << reason;
  });
  return mlir::failure(walked.wasInterrupted());
}

std::optional<AssemblyPlace> FindAssembly(const llvm::Module& module, absl::string_view text, const Target& target) {
  if (!module.getModuleInlineAsm().empty()) return AssemblyPlace{"module asm", FirstAsm(text)};
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr || !call->isInlineAsm()) continue;
      const llvm::StringRef assembly = llvm::cast<llvm::InlineAsm>(call->getCalledOperand())->getAsmString();
      if (target.CheckInlineAssembly({assembly.data(), assembly.size()}).ok()) continue;
      return AssemblyPlace{absl::StrCat("inline asm in function ", function.getName().str()), FirstAsm(text)};
    }
  }
  return std::nullopt;
}

}  // namespace tritond::compiler
