// SPDX-License-Identifier: Apache-2.0
//   %p = phi ptr addrspace(1) [ %start, … ], [ %q, … ]         %o = phi i32 [ %start.o, … ], [ %r, … ]
//   %q = getelementptr half, ptr addrspace(1) %p, i64 %i   ->  %r = add i32 %o, (mul i32 (trunc %i), 2)
#include "compiler/targets/amd/small_buffers.h"

#include "compiler/lowering/lower_to_llvm.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Operator.h"

namespace tritond::compiler::amd {
namespace {

using llvm::Value;

constexpr unsigned kAddressBits = 64;

// `value`, cut to 32 bits.
Value* Low(llvm::IRBuilder<>& b, Value* value) {
  if (auto* extension = llvm::dyn_cast<llvm::CastInst>(value);
      extension && llvm::isa<llvm::SExtInst, llvm::ZExtInst>(extension) && extension->getSrcTy()->isIntegerTy(32))
    return extension->getOperand(0);
  return b.CreateSExtOrTrunc(value, b.getInt32Ty());
}

}  // namespace

SmallBuffers::SmallBuffers(llvm::Function& function) {
  llvm::SmallVector<llvm::StringRef> numbers;
  function.getFnAttribute(kSmallBuffersAttr).getValueAsString().split(numbers, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef text : numbers) {
    unsigned number;
    if (!text.getAsInteger(10, number) && number < function.arg_size()) arguments_.insert(function.getArg(number));
  }
}

bool SmallBuffers::ComesFrom(Value* pointer, llvm::Argument*& argument, llvm::SmallPtrSetImpl<Value*>& seen) const {
  if (!seen.insert(pointer).second) return true;
  if (auto* found = llvm::dyn_cast<llvm::Argument>(pointer)) {
    if (!arguments_.contains(found) || (argument && argument != found)) return false;
    argument = found;
    return true;
  }
  if (auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer))
    return ComesFrom(step->getPointerOperand(), argument, seen);
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(pointer))
    return ComesFrom(select->getTrueValue(), argument, seen) && ComesFrom(select->getFalseValue(), argument, seen);
  auto* phi = llvm::dyn_cast<llvm::PHINode>(pointer);
  return phi && llvm::all_of(phi->incoming_values(), [&](Value* from) { return ComesFrom(from, argument, seen); });
}

Value* SmallBuffers::OffsetOf(Value* pointer) {
  if (Value* known = offsets_.lookup(pointer)) return known;
  llvm::Type* i32 = llvm::Type::getInt32Ty(pointer->getContext());
  if (llvm::isa<llvm::Argument>(pointer)) return llvm::ConstantInt::get(i32, 0);
  auto* instruction = llvm::cast<llvm::Instruction>(pointer);
  llvm::IRBuilder<> b(instruction);
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction)) {
    llvm::PHINode* twin = b.CreatePHI(i32, phi->getNumIncomingValues());
    offsets_[phi] = twin;  // before the operands, which may lead back here
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      twin->addIncoming(OffsetOf(phi->getIncomingValue(i)), phi->getIncomingBlock(i));
    return twin;
  }
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(instruction)) {
    Value *yes = OffsetOf(select->getTrueValue()), *no = OffsetOf(select->getFalseValue());
    return offsets_[pointer] = b.CreateSelect(select->getCondition(), yes, no);
  }
  auto* step = llvm::cast<llvm::GEPOperator>(instruction);
  Value* offset = OffsetOf(step->getPointerOperand());
  llvm::SmallMapVector<Value*, llvm::APInt, 4> variables;
  llvm::APInt constant(kAddressBits, 0);
  step->collectOffset(instruction->getDataLayout(), kAddressBits, variables, constant);
  for (const auto& [value, scale] : variables)
    offset = b.CreateAdd(offset, b.CreateMul(Low(b, value), llvm::ConstantInt::get(i32, scale.trunc(32))));
  offset = b.CreateAdd(offset, llvm::ConstantInt::get(i32, constant.trunc(32)));
  return offsets_[pointer] = offset;
}

std::optional<SplitPointer> SmallBuffers::Split(Value* pointer) {
  llvm::Argument* argument = nullptr;
  llvm::SmallPtrSet<Value*, 16> seen;
  if (arguments_.empty() || !ComesFrom(pointer, argument, seen) || !argument) return std::nullopt;
  // collectOffset knows no vectors.
  if (llvm::any_of(seen, [](Value* value) { return value->getType()->isVectorTy(); })) return std::nullopt;
  return SplitPointer{argument, OffsetOf(pointer)};
}

}  // namespace tritond::compiler::amd
