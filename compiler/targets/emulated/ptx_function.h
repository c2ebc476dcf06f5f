// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_EMULATED_PTX_FUNCTION_H_
#define COMPILER_TARGETS_EMULATED_PTX_FUNCTION_H_

#include <string>
#include <vector>

#include "compiler/targets/emulated/emulate.h"
#include "compiler/targets/emulated/ptx_text.h"
#include "compiler/targets/host/runtime.h"
#include "llvm/IR/IRBuilder.h"

namespace tritond::compiler::emulated {

// The function under construction. A register is a stack slot; values pass through as i64, of which the low bits count.
class PtxFunction final {
 public:
  PtxFunction(llvm::Module& module, const PtxCall& call, const PtxText& text);

  absl::StatusOr<llvm::Function*> Define();

  // For the instruction families.
  llvm::IRBuilder<>& b() { return b_; }
  llvm::Module& module() { return module_; }
  llvm::Value* Site() { return function_->getArg(0); }
  int threads() const { return call_.threads; }
  // The operand's value, i64; of immediates as `type` ("f32") has them. InvalidArgument for what has none.
  absl::StatusOr<llvm::Value*> Read(const PtxOperand& operand, llvm::StringRef type = "");
  // Whether it is a register of one bit.
  bool IsPredicate(const PtxOperand& operand);
  absl::Status Write(const PtxOperand& operand, llvm::Value* value);
  // "[base + offset]", i64.
  absl::StatusOr<llvm::Value*> Address(const PtxOperand& operand);
  // The elements of a vector operand, or the operand itself.
  static std::vector<PtxOperand> Elements(const PtxOperand& operand);
  llvm::CallInst* CallRuntime(host::RuntimeFunction function, llvm::ArrayRef<llvm::Value*> arguments);
  // tritond.execute of `name` with the values; one result for each slot.
  std::vector<llvm::Value*> Execute(const std::string& name, llvm::ArrayRef<llvm::Value*> in, size_t results);
  absl::Status Unknown(const PtxStatement& statement) const;

 private:
  struct Slot {
    llvm::AllocaInst* memory = nullptr;
    int bits = 0;
  };

  void MakeSlots();
  Slot MakeSlot(int bits);
  void ReturnResults();
  absl::StatusOr<Slot> SlotOf(const PtxOperand& operand);
  absl::Status Emit(const PtxStatement& statement);
  absl::Status EmitPredicated(const PtxStatement& statement);
  absl::Status EmitInstruction(const PtxStatement& statement);
  absl::Status EmitMove(const PtxStatement& statement);
  absl::Status EmitBarrier(const PtxStatement& statement);
  absl::Status EmitGeneric(const PtxStatement& statement);
  absl::Status EmitWgmmaWait(const PtxStatement& statement);
  absl::StatusOr<llvm::Value*> SpecialRegister(llvm::StringRef name);

  llvm::Module& module_;
  const PtxCall& call_;
  const PtxText& text_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  std::vector<Slot> registers_;  // of the text
  std::vector<Slot> arguments_;  // by number
  Slot carry_;                   // CC.CF
  size_t outputs_ = 0;
  std::vector<llvm::BasicBlock*> labels_;
};

// ptx_memory.cc. ld, st, atom, red and cp.async as LLVM's loads, stores and atomic operations with a check in front of
// them. Sets *known to whether it is one of these.
absl::Status EmitMemoryInstruction(PtxFunction& f, const PtxStatement& statement, bool* known);

}  // namespace tritond::compiler::emulated

#endif  // COMPILER_TARGETS_EMULATED_PTX_FUNCTION_H_
