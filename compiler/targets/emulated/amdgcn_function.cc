// SPDX-License-Identifier: Apache-2.0
// An intrinsic becomes a function that hands its operands to the run-time, an element a slot:
//
//   %d = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x16f16(<4 x half> %a, <4 x half> %b, <4 x float> %c, i32 0, …)
//
//   %a1 = bitcast <4 x half> %a to <4 x i16>
//   %d = call <4 x float> @tritond.amdgcn(ptr null, i64 17, <4 x i16> %a1, <4 x i16> %b1, <4 x float> %c, i32 0, …)
//
// which calls tritond.execute of "amdgcn:mfma/f32/16x16x16f16 gfx942 4x32 : 4x16 4x16 4x32 1x32 1x32 1x32". Narrow
// floats pass as integers: not every machine has registers for vectors of them. The number before the operands is how
// early in the code the call is; it follows the operands' slots where lanes come together.
#include "absl/strings/str_cat.h"
#include "compiler/targets/emulated/amdgcn_calls.h"
#include "compiler/targets/emulated/any_device.h"
#include "compiler/targets/host/runtime.h"
#include "llvm/IR/Constants.h"

namespace tritond::compiler::emulated {
namespace {

// The type as which a value passes.
llvm::Type* PassedType(llvm::Type* type) {
  llvm::LLVMContext& context = type->getContext();
  if (IsBufferResource(type)) return llvm::Type::getIntNTy(context, 128);
  if (type->getScalarType()->isHalfTy() || type->getScalarType()->isBFloatTy())
    return type->getWithNewType(llvm::Type::getInt16Ty(context));
  return type;
}

struct Shape {
  unsigned count = 1;
  unsigned bits = 0;
};

// Of a passed type: wide integers are several slots. Nothing to pass has no bits.
Shape ShapeOf(llvm::Type* type) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  llvm::Type* element = type->getScalarType();
  const unsigned bits = element->isPointerTy() ? 64 : element->getPrimitiveSizeInBits().getFixedValue();
  if (bits > 64) return {bits / 64, 64};
  return {vector ? vector->getNumElements() : 1, bits};
}

std::string ShapeText(llvm::Type* declared) {
  const Shape shape = ShapeOf(PassedType(declared));
  return absl::StrCat(" ", shape.count, "x", shape.bits, declared->getScalarType()->isBFloatTy() ? "b" : "");
}

llvm::SmallVector<llvm::Type*> ResultsOf(llvm::Type* type) {
  if (type->isVoidTy()) return {};
  if (auto* fields = llvm::dyn_cast<llvm::StructType>(type)) return {fields->element_begin(), fields->element_end()};
  return {type};
}

// The slots of a passed value.
void AppendSlots(llvm::IRBuilder<>& b, llvm::Value* value, llvm::SmallVectorImpl<llvm::Value*>& slots) {
  llvm::Type* type = value->getType();
  const Shape shape = ShapeOf(type);
  if (type->isIntegerTy(128)) {
    for (unsigned i = 0; i < shape.count; ++i)
      slots.push_back(b.CreateTrunc(b.CreateLShr(value, 64 * i), b.getInt64Ty()));
    return;
  }
  for (unsigned i = 0; i < shape.count; ++i) {
    llvm::Value* element = type->isVectorTy() ? b.CreateExtractElement(value, i) : value;
    element = element->getType()->isPointerTy() ? b.CreatePtrToInt(element, b.getInt64Ty())
                                                : b.CreateBitCast(element, b.getIntNTy(shape.bits));
    slots.push_back(b.CreateZExt(element, b.getInt64Ty()));
  }
}

// A passed value from its slots, of which it takes the first ones.
llvm::Value* FromSlots(llvm::IRBuilder<>& b, llvm::Type* type, llvm::ArrayRef<llvm::Value*>& slots) {
  const Shape shape = ShapeOf(type);
  llvm::Type* element = type->getScalarType();
  llvm::Value* value = llvm::PoisonValue::get(type);
  if (type->isIntegerTy(128)) value = llvm::ConstantInt::get(type, 0);
  for (unsigned i = 0; i < shape.count; ++i) {
    llvm::Value* word = slots[i];
    if (type->isIntegerTy(128)) {
      value = b.CreateOr(value, b.CreateShl(b.CreateZExt(word, type), 64 * i));
      continue;
    }
    llvm::Value* part = element->isPointerTy() ? b.CreateIntToPtr(word, element)
                                               : b.CreateBitCast(b.CreateTrunc(word, b.getIntNTy(shape.bits)), element);
    value = type->isVectorTy() ? b.CreateInsertElement(value, part, i) : part;
  }
  slots = slots.drop_front(shape.count);
  return value;
}

llvm::FunctionType* PassedFunction(llvm::FunctionType* declared) {
  llvm::LLVMContext& context = declared->getContext();
  llvm::SmallVector<llvm::Type*> params = {llvm::PointerType::get(context, 0), llvm::Type::getInt64Ty(context)};
  for (llvm::Type* param : declared->params()) params.push_back(PassedType(param));
  llvm::SmallVector<llvm::Type*> results;
  for (llvm::Type* result : ResultsOf(declared->getReturnType())) results.push_back(PassedType(result));
  llvm::Type* result = results.empty()       ? llvm::Type::getVoidTy(context)
                       : results.size() == 1 ? results[0]
                                             : llvm::StructType::get(context, results);
  return llvm::FunctionType::get(result, params, false);
}

}  // namespace

llvm::Function* AmdCalls::Define(const std::string& name, llvm::FunctionType* type, llvm::FunctionType* declared,
                                 bool together) {
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "tritond." + set_, module_);
  function->addFnAttr(host::kSiteAttr);
  function->addFnAttr(llvm::Attribute::NoInline);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(module_.getContext(), "", function));
  std::string text = absl::StrCat(set_, ":", name, " ", arch_);
  const llvm::SmallVector<llvm::Type*> results = ResultsOf(declared->getReturnType());
  size_t result_slots = 0;
  for (llvm::Type* result : results) {
    absl::StrAppend(&text, ShapeText(result));
    result_slots += ShapeOf(PassedType(result)).count;
  }
  absl::StrAppend(&text, " :");
  llvm::SmallVector<llvm::Value*> in;
  for (unsigned i = 0; i < declared->getNumParams(); ++i) {
    absl::StrAppend(&text, ShapeText(declared->getParamType(i)));
    AppendSlots(b, function->getArg(2 + i), in);
  }
  if (together) in.push_back(function->getArg(1));
  const std::vector<llvm::Value*> out = EmitExecute(b, function->getArg(0), text, in, result_slots);
  llvm::ArrayRef<llvm::Value*> slots = out;
  llvm::SmallVector<llvm::Value*> values;
  for (llvm::Type* result : results) values.push_back(FromSlots(b, PassedType(result), slots));
  if (values.empty()) {
    b.CreateRetVoid();
  } else if (values.size() == 1) {
    b.CreateRet(values[0]);
  } else {
    b.CreateAggregateRet(values.data(), values.size());
  }
  return function;
}

absl::Status AmdCalls::Replace(llvm::CallInst& call, const std::string& name, unsigned order) {
  llvm::FunctionType* declared = call.getFunctionType();
  llvm::FunctionType* type = PassedFunction(declared);
  llvm::Function*& function = functions_[{name, type, declared}];
  if (!function) function = Define(name, type, declared, order > 0);
  llvm::IRBuilder<> b(&call);
  llvm::SmallVector<llvm::Value*> arguments = {llvm::ConstantPointerNull::get(b.getPtrTy()), b.getInt64(order)};
  for (llvm::Value* argument : call.args()) {
    if (IsBufferResource(argument->getType())) {
      absl::StatusOr<llvm::Value*> wide = resources_.Widen(argument);
      if (!wide.ok()) return wide.status();
      arguments.push_back(*wide);
    } else {
      arguments.push_back(b.CreateBitCast(argument, PassedType(argument->getType())));
    }
  }
  llvm::CallInst* replaced = b.CreateCall(function, arguments);
  replaced->setDebugLoc(call.getDebugLoc());
  if (IsBufferResource(call.getType())) {
    resources_.Replace(call, replaced);
    return absl::OkStatus();
  }
  const bool is_plain = call.getType()->isVoidTy() || call.getType()->isStructTy();
  call.replaceAllUsesWith(is_plain ? replaced : b.CreateBitCast(replaced, call.getType()));
  call.eraseFromParent();
  return absl::OkStatus();
}

}  // namespace tritond::compiler::emulated
