// SPDX-License-Identifier: Apache-2.0
// LLVM's masked accesses, whose lanes memory_ops.cc lets share one condition, as what the hardware has.
//
// A load needs no branch: where the condition is false it reads zeros that are always there. So all loads of a block
// stay together, and their latencies overlap.
//
//   %v = masked.load(%p, splat %c, %other)    ->    %from = select %c, %p, @tritond.zeros
//                                                   %read = load %from
//                                                   %v = select %c, %read, %other      (no select where %other is 0)
//
// Stores need one. Those of one condition with nothing but arithmetic between them share it:
//
//   masked.store(%x, %p, splat %c)                  br %c, act, after
//   %q = …                                    ->    act:  store %x, %p; store %y, %q; br after
//   masked.store(%y, %q, splat %c)
//
// Accesses of other conditions, as other people's LLVM IR may have them, are left to LLVM.
#include "compiler/targets/amd/codegen.h"
#include "compiler/targets/amd/masked_accesses.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace tritond::compiler::amd {
namespace {

constexpr unsigned kGlobalSpace = 1;
constexpr uint64_t kMostBytes = 16;

llvm::IntrinsicInst* AsIntrinsic(llvm::Instruction& instruction, llvm::Intrinsic::ID id) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == id ? call : nullptr;
}

llvm::GlobalVariable* Zeros(llvm::Module& module) {
  const char* name = "tritond.zeros";
  if (llvm::GlobalVariable* zeros = module.getGlobalVariable(name, /*AllowInternal=*/true)) return zeros;
  auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), kMostBytes);
  auto* zeros = new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
                                         llvm::Constant::getNullValue(type), name, nullptr,
                                         llvm::GlobalValue::NotThreadLocal, kGlobalSpace);
  zeros->setAlignment(llvm::Align(kMostBytes));
  return zeros;
}

void ExpandLoad(llvm::IntrinsicInst* call) {
  llvm::Value *ptr = call->getArgOperand(0), *other = call->getArgOperand(2);
  llvm::Value* condition = ConditionOfMask(call->getArgOperand(1));
  const uint64_t bits = call->getModule()->getDataLayout().getTypeStoreSizeInBits(call->getType());
  const bool fits = ptr->getType()->getPointerAddressSpace() == kGlobalSpace && bits <= 8 * kMostBytes;
  if (!condition || !fits) return;
  llvm::IRBuilder<> b(call);
  llvm::Value* from = b.CreateSelect(condition, ptr, Zeros(*call->getModule()));
  llvm::LoadInst* load = b.CreateAlignedLoad(call->getType(), from, call->getParamAlign(0).valueOrOne());
  load->copyMetadata(*call);
  llvm::Value* value = load;
  if (!ReadsZeros(other)) value = b.CreateSelect(condition, load, other);
  call->replaceAllUsesWith(value);
  call->eraseFromParent();
}

struct Stores {
  llvm::Value* condition = nullptr;
  llvm::SmallVector<llvm::IntrinsicInst*> calls;
};

// Runs of stores of one condition, in the order of the block.
llvm::SmallVector<Stores> FindStores(llvm::BasicBlock& block) {
  llvm::SmallVector<Stores> runs;
  bool open = false;
  for (llvm::Instruction& instruction : block) {
    llvm::IntrinsicInst* call = AsIntrinsic(instruction, llvm::Intrinsic::masked_store);
    llvm::Value* condition = call ? ConditionOfMask(call->getArgOperand(2)) : nullptr;
    if (condition) {
      if (!open || runs.back().condition != condition) runs.push_back({condition, {}});
      runs.back().calls.push_back(call);
      open = true;
    } else if (instruction.mayReadOrWriteMemory() || instruction.mayHaveSideEffects()) {
      open = false;
    }
  }
  return runs;
}

// All at the last one's place: what they store is known there.
void ExpandStores(const Stores& stores) {
  llvm::IntrinsicInst* last = stores.calls.back();
  llvm::Instruction* end =
      llvm::SplitBlockAndInsertIfThen(stores.condition, last->getIterator(), /*Unreachable=*/false);
  llvm::IRBuilder<> b(end);
  for (llvm::IntrinsicInst* call : stores.calls) {
    b.SetCurrentDebugLocation(call->getDebugLoc());
    b.CreateAlignedStore(call->getArgOperand(0), call->getArgOperand(1), call->getParamAlign(1).valueOrOne())
        ->copyMetadata(*call);
  }
  for (llvm::IntrinsicInst* call : stores.calls) call->eraseFromParent();
}

}  // namespace

llvm::Value* ConditionOfMask(llvm::Value* mask) {
  if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(mask);
      insert && llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements() == 1)
    return insert->getOperand(1);
  if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(mask); cast && cast->getSrcTy()->isIntegerTy(1))
    return cast->getOperand(0);
  return llvm::getSplatValue(mask);
}

bool ReadsZeros(const llvm::Value* other) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(other);
  return constant && (constant->isNullValue() || llvm::isa<llvm::UndefValue>(constant));
}

void ExpandMaskedAccesses(llvm::Module& module) {
  for (llvm::Function& function : module) {
    llvm::SmallVector<llvm::IntrinsicInst*> loads;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = AsIntrinsic(instruction, llvm::Intrinsic::masked_load)) loads.push_back(call);
    for (llvm::IntrinsicInst* call : loads) ExpandLoad(call);
    llvm::SmallVector<Stores> all;
    for (llvm::BasicBlock& block : function) all.append(FindStores(block));
    for (const Stores& stores : all) ExpandStores(stores);
  }
}

}  // namespace tritond::compiler::amd
