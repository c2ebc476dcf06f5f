// SPDX-License-Identifier: Apache-2.0
// Inline assembly that is known: no text, which only keeps LLVM from looking through a value, and instructions that
// wait or steer the device's scheduling.
#include "absl/strings/str_cat.h"
#include "compiler/targets/emulated/amdgcn_calls.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace tritond::compiler::emulated {
namespace {

llvm::CallInst* Call(llvm::CallInst& before, llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::IRBuilder<> b(&before);
  llvm::CallInst* call = b.CreateIntrinsic(id, {}, arguments);
  call->setDebugLoc(before.getDebugLoc());
  return call;
}

// The number in "vmcnt(3)"; -1 when the text has none.
int CountIn(llvm::StringRef text, llvm::StringRef counter) {
  const size_t at = text.find(counter);
  int count = -1;
  if (at == llvm::StringRef::npos) return count;
  text = text.drop_front(at + counter.size());
  return text.consume_front("(") && !text.consumeInteger(10, count) ? count : -1;
}

// As s_waitcnt has it: only loads count here.
unsigned WaitOperand(int loads, llvm::StringRef arch) {
  const unsigned count = loads < 0 ? 63 : loads;
  return arch.starts_with("gfx11") ? count << 10 : (count & 15) | (count >> 4) << 14;
}

// A statement without operands. False when it is unknown.
bool ReplaceStatement(llvm::StringRef text, llvm::CallInst& assembly, llvm::StringRef arch,
                      llvm::SmallVectorImpl<llvm::CallInst*>& calls) {
  const llvm::StringRef mnemonic = text.take_until([](char c) { return c == ' ' || c == '\t'; });
  llvm::IRBuilder<> b(&assembly);
  if (mnemonic == "s_waitcnt") {
    const unsigned operand = WaitOperand(CountIn(text, "vmcnt"), arch);
    calls.push_back(Call(assembly, llvm::Intrinsic::amdgcn_s_waitcnt, {b.getInt32(operand)}));
    return true;
  }
  if (mnemonic == "s_barrier") {
    calls.push_back(Call(assembly, llvm::Intrinsic::amdgcn_s_barrier, {}));
    return true;
  }
  for (const char* idle : {"s_nop", "s_setprio", "s_sleep", "s_waitcnt_depctr", "s_delay_alu", "s_wait_dscnt",
                           "s_wait_loadcnt", "s_wait_storecnt", "s_wait_kmcnt", "s_wait_loadcnt_dscnt"})
    if (mnemonic == idle) return true;
  return false;
}

// Without text a result is the operand that is tied to it; one that is not has no value in particular.
absl::Status ReplaceEmpty(llvm::CallInst& assembly) {
  const auto constraints = llvm::cast<llvm::InlineAsm>(assembly.getCalledOperand())->ParseConstraints();
  llvm::Value* tied = nullptr;
  unsigned argument = 0;
  for (const llvm::InlineAsm::ConstraintInfo& info : constraints) {
    if (info.Type != llvm::InlineAsm::isInput) continue;
    if (!info.Codes.empty() && info.Codes[0] == "0") tied = assembly.getArgOperand(argument);
    ++argument;
  }
  if (!assembly.getType()->isVoidTy()) {
    if (!tied || tied->getType() != assembly.getType())
      return absl::InvalidArgumentError(
          "the emulator has inline assembly without text only where a result is an operand");
    assembly.replaceAllUsesWith(tied);
  }
  assembly.eraseFromParent();
  return absl::OkStatus();
}

}  // namespace

absl::Status ReplaceAmdAssembly(llvm::CallInst& call, llvm::StringRef arch,
                                llvm::SmallVectorImpl<llvm::CallInst*>& calls) {
  const std::string text(llvm::cast<llvm::InlineAsm>(call.getCalledOperand())->getAsmString());
  llvm::SmallVector<llvm::StringRef> statements;
  llvm::StringRef(text).trim().split(statements, '\n', -1, /*KeepEmpty=*/false);
  if (statements.empty()) return ReplaceEmpty(call);
  for (llvm::StringRef statement : statements) {
    if (call.getType()->isVoidTy() && ReplaceStatement(statement.trim(" \t;"), call, arch, calls)) continue;
    return absl::InvalidArgumentError(absl::StrCat("the emulator has no AMD instruction ", statement.trim().str()));
  }
  call.eraseFromParent();
  return absl::OkStatus();
}

}  // namespace tritond::compiler::emulated
