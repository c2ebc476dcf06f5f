// SPDX-License-Identifier: Apache-2.0
// Lowering leaves undefined what the mask of a load leaves out, where nothing sees it. ptxas makes branches of such
// loads where a kernel has several, and starts no load in front of a branch (12.8 and 13.0). Zeros keep the predicates:
//
//   "@$2 ld.global.b32 $0, [$1];", "=r,l,b"     ->     "mov.b32 $0, 0x0; @$2 ld.global.b32 $0, [$1];", "=&r,l,b"
//
// One or two loads stay as they are. They have nothing to wait for in turn, and zeros are instructions.
#include "absl/strings/str_cat.h"
#include "compiler/targets/nvidia/codegen.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

// Of a function, that stay.
constexpr size_t kFewLoads = 2;

// The bits of a register of this constraint; 0: it is none of integers.
int BitsOf(llvm::StringRef constraint) {
  return constraint == "=h" ? 16 : constraint == "=r" ? 32 : constraint == "=l" ? 64 : 0;
}

bool LeavesUndefined(const llvm::CallInst& call) {
  auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand());
  if (!assembly) return false;
  // Of a load that names other values than constants, these are operands in the registers of its results.
  const bool is_tied =
      llvm::any_of(assembly->ParseConstraints(),
                   [](const llvm::InlineAsm::ConstraintInfo& constraint) { return constraint.hasMatchingInput(); });
  const llvm::StringRef text = assembly->getAsmString();
  return !is_tied && text.starts_with("@$") && text.substr(text.find(' ') + 1).starts_with("ld.global");
}

void Fill(llvm::CallInst& call) {
  auto* assembly = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
  llvm::SmallVector<llvm::StringRef> constraints;
  llvm::StringRef(assembly->getConstraintString()).split(constraints, ',');
  std::vector<std::string> changed;
  std::string zeros;
  for (auto [i, constraint] : llvm::enumerate(constraints)) {
    changed.push_back(constraint.str());
    const int bits = BitsOf(constraint);
    if (bits == 0) continue;
    absl::StrAppend(&zeros, "mov.b", bits, " $", i, ", 0x0; ");
    changed.back().insert(1, "&");  // written before operands are read
  }
  const std::string text = absl::StrCat(zeros, std::string(assembly->getAsmString()));
  call.setCalledOperand(llvm::InlineAsm::get(assembly->getFunctionType(), text, llvm::join(changed, ","),
                                             assembly->hasSideEffects(), assembly->isAlignStack(),
                                             assembly->getDialect(), assembly->canThrow()));
}

}  // namespace

void FillMaskedLoads(llvm::Module& module) {
  for (llvm::Function& function : module) {
    std::vector<llvm::CallInst*> loads;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && LeavesUndefined(*call))
        loads.push_back(call);
    if (loads.size() > kFewLoads) llvm::for_each(loads, [](llvm::CallInst* call) { Fill(*call); });
  }
}

}  // namespace tritond::compiler::nvidia
