// SPDX-License-Identifier: Apache-2.0
// Inline assembly that is known:
//
// - no text, which only keeps LLVM from looking through a value
// - instructions that wait or steer the device's scheduling
// - one instruction of few that compute a word, whose operands are those of the assembly in their order
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

llvm::Value* EmitWord(llvm::IRBuilder<>& b, llvm::StringRef name, llvm::Value* x, llvm::Value* y) {
  const auto as_float = [&](llvm::Value* value) { return b.CreateBitCast(value, b.getFloatTy()); };
  if (name == "v_mov_b32" && !y) return x;
  if (!y) return nullptr;
  if (name == "v_add_u32" || name == "v_add_nc_u32") return b.CreateAdd(x, y);
  if (name == "v_sub_u32" || name == "v_sub_nc_u32") return b.CreateSub(x, y);
  if (name == "v_and_b32") return b.CreateAnd(x, y);
  if (name == "v_or_b32") return b.CreateOr(x, y);
  if (name == "v_xor_b32") return b.CreateXor(x, y);
  if (name == "v_lshlrev_b32") return b.CreateShl(y, b.CreateAnd(x, 31));
  if (name == "v_add_f32") return b.CreateFAdd(as_float(x), as_float(y));
  if (name == "v_mul_f32") return b.CreateFMul(as_float(x), as_float(y));
  return nullptr;
}

// "v_add_f32 $0, $1, $2". False when it is unknown.
bool ReplaceWord(llvm::StringRef text, llvm::CallInst& assembly) {
  auto [name, operands] = text.split(' ');
  name.consume_back("_e32") || name.consume_back("_e64");
  const unsigned count = assembly.arg_size();
  if (count < 1 || count > 2 || operands.trim() != (count == 1 ? "$0, $1" : "$0, $1, $2")) return false;
  llvm::IRBuilder<> b(&assembly);
  llvm::SmallVector<llvm::Value*> words = {nullptr, nullptr};
  for (unsigned i = 0; i < count; ++i) {
    llvm::Type* type = assembly.getArgOperand(i)->getType();
    if (!type->isIntegerTy(32) && !type->isFloatTy()) return false;
    words[i] = b.CreateBitCast(assembly.getArgOperand(i), b.getInt32Ty());
  }
  if (!assembly.getType()->isIntegerTy(32) && !assembly.getType()->isFloatTy()) return false;
  llvm::Value* word = EmitWord(b, name, words[0], words[1]);
  if (!word) return false;
  assembly.replaceAllUsesWith(b.CreateBitCast(word, assembly.getType()));
  return true;
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
    if (statements.size() == 1 && ReplaceWord(statement.trim(" \t;"), call)) continue;
    return absl::InvalidArgumentError(absl::StrCat("the emulator has no AMD instruction ", statement.trim().str()));
  }
  call.eraseFromParent();
  return absl::OkStatus();
}

}  // namespace tritond::compiler::emulated
