// SPDX-License-Identifier: Apache-2.0
// LLVM's masked accesses, whose lanes share one condition, become branches around checked ones:
//
//   %x = call <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1) align 16 %p, <4 x i1> %splat, <4 x i32> %other)
//
//   %x = call <4 x i32> @tritond.masked(ptr null, i1 %c, ptr addrspace(1) %p, <4 x i32> %other)
#include <map>

#include "compiler/targets/emulated/any_device.h"
#include "compiler/targets/host/runtime.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tritond::compiler::emulated {
namespace {

constexpr unsigned kSharedSpace = 3;

// A mask that comes from several blocks has equal elements if all of these have.
bool HasEqualElements(llvm::Value* mask) {
  if (llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements() == 1 || llvm::isSplatValue(mask))
    return true;
  auto* phi = llvm::dyn_cast<llvm::PHINode>(mask);
  return phi && llvm::all_of(phi->incoming_values(), [](llvm::Value* from) { return llvm::isSplatValue(from); });
}

// The one condition of a mask, for an access at `b`; null when its elements may differ.
llvm::Value* ConditionOf(llvm::Value* mask, llvm::IRBuilder<>& b) {
  if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(mask); cast && cast->getSrcTy()->isIntegerTy(1))
    return cast->getOperand(0);
  auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(mask);
  if (insert && llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements() == 1) return insert->getOperand(1);
  if (llvm::Value* splat = llvm::getSplatValue(mask)) return splat;
  return HasEqualElements(mask) ? b.CreateExtractElement(mask, uint64_t{0}) : nullptr;
}

// The function that reads (`other` is the result where the condition is false) or writes `value_type`.
llvm::Function* Define(llvm::Module& module, llvm::Type* pointer, llvm::Type* value_type, bool is_load) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> b(context);
  auto* type = llvm::FunctionType::get(is_load ? value_type : b.getVoidTy(),
                                       {b.getPtrTy(), b.getInt1Ty(), pointer, value_type}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "tritond.masked", module);
  function->addFnAttr(host::kSiteAttr);
  function->addFnAttr(llvm::Attribute::NoInline);
  auto* entry = llvm::BasicBlock::Create(context, "", function);
  auto* act = llvm::BasicBlock::Create(context, "act", function);
  auto* skip = llvm::BasicBlock::Create(context, "skip", function);
  b.SetInsertPoint(entry);
  b.CreateCondBr(function->getArg(1), act, skip);
  b.SetInsertPoint(act);
  const uint32_t space = pointer->getPointerAddressSpace() == kSharedSpace ? host::kSharedAccess : 0;
  const uint64_t bytes = module.getDataLayout().getTypeStoreSize(value_type).getFixedValue();
  b.CreateCall(host::DeclareRuntime(module, host::RuntimeFunction::kCheckAccess),
               {function->getArg(0), b.CreateAddrSpaceCast(function->getArg(2), b.getPtrTy()), b.getInt64(bytes),
                b.getInt32(space | (is_load ? host::kReadAccess : host::kWriteAccess))});
  if (is_load) {
    b.CreateRet(b.CreateAlignedLoad(value_type, function->getArg(2), llvm::Align(1)));
  } else {
    b.CreateAlignedStore(function->getArg(3), function->getArg(2), llvm::Align(1));
    b.CreateBr(skip);
  }
  b.SetInsertPoint(skip);
  is_load ? b.CreateRet(function->getArg(3)) : b.CreateRetVoid();
  return function;
}

}  // namespace

absl::Status ExpandMaskedAccesses(llvm::Module& module) {
  llvm::SmallVector<llvm::IntrinsicInst*> calls;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
          call && (call->getIntrinsicID() == llvm::Intrinsic::masked_load ||
                   call->getIntrinsicID() == llvm::Intrinsic::masked_store))
        calls.push_back(call);
  std::map<std::tuple<llvm::Type*, llvm::Type*, bool>, llvm::Function*> functions;
  for (llvm::IntrinsicInst* call : calls) {
    const bool is_load = call->getIntrinsicID() == llvm::Intrinsic::masked_load;
    llvm::Value* pointer = call->getArgOperand(is_load ? 0 : 1);
    llvm::IRBuilder<> b(call);
    llvm::Value* condition = ConditionOf(call->getArgOperand(is_load ? 1 : 2), b);
    if (!condition) return absl::InvalidArgumentError("the emulator has no accesses with a mask of several conditions");
    llvm::Value* value = call->getArgOperand(is_load ? 2 : 0);
    llvm::Function*& function = functions[{pointer->getType(), value->getType(), is_load}];
    if (!function) function = Define(module, pointer->getType(), value->getType(), is_load);
    llvm::CallInst* replaced =
        b.CreateCall(function, {llvm::ConstantPointerNull::get(b.getPtrTy()), condition, pointer, value});
    replaced->setDebugLoc(call->getDebugLoc());
    call->replaceAllUsesWith(replaced);
    call->eraseFromParent();
  }
  return absl::OkStatus();
}

}  // namespace tritond::compiler::emulated
