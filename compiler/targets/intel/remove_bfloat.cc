// SPDX-License-Identifier: Apache-2.0
// Drivers of several generations take SPIR-V's 16-bit float type for f16, whatever its encoding is said to be. So bf16
// travels as i16. Where it is computed with, it is the upper half of an f32:
//
//   %y = fpext bfloat %x to float          %y = bitcast (zext i16 %x to i32) << 16
//   %z = fptrunc float %y to bfloat   ->   %z = call i16 @__spirv_ConvertFToBF16INTEL(float %y)
//   %w = fmul bfloat %x, %z                as fpext, fmul float, fptrunc: f32 has more than twice the bits of bf16
//
// First the arithmetic goes, with casts between the types where old and new meet. Then every bfloat that is left is
// only moved, and all types change at once.
#include "absl/strings/str_cat.h"
#include "compiler/targets/intel/codegen.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tritond::compiler::intel {
namespace {

constexpr char kConvert[] = "_Z27__spirv_ConvertFToBF16INTELf";
constexpr unsigned kLowerBits = 16;

// The type with i16 for bfloat, also inside.
llvm::Type* MapType(llvm::Type* type) {
  if (type->isBFloatTy()) return llvm::Type::getInt16Ty(type->getContext());
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    return llvm::FixedVectorType::get(MapType(vector->getElementType()), vector->getNumElements());
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
    return llvm::ArrayType::get(MapType(array->getElementType()), array->getNumElements());
  auto* structure = llvm::dyn_cast<llvm::StructType>(type);
  if (!structure || structure->isOpaque()) return type;
  llvm::SmallVector<llvm::Type*> members;
  for (llvm::Type* member : structure->elements()) members.push_back(MapType(member));
  if (llvm::ArrayRef(members) == structure->elements()) return type;
  return llvm::StructType::get(type->getContext(), members, structure->isPacked());
}

bool HoldsBfloat(llvm::Type* type) { return MapType(type) != type; }

// The constant of the new type; null: no constant that is known.
llvm::Constant* MapConstant(llvm::Constant* constant) {
  llvm::Type* type = MapType(constant->getType());
  if (type == constant->getType()) return constant;
  if (llvm::isa<llvm::PoisonValue>(constant)) return llvm::PoisonValue::get(type);
  if (llvm::isa<llvm::UndefValue>(constant)) return llvm::UndefValue::get(type);
  if (constant->isNullValue()) return llvm::Constant::getNullValue(type);
  if (auto* number = llvm::dyn_cast<llvm::ConstantFP>(constant); number && !type->isVectorTy())
    return llvm::ConstantInt::get(type, number->getValueAPF().bitcastToAPInt());
  llvm::SmallVector<llvm::Constant*> elements;
  for (unsigned i = 0; llvm::Constant* element = constant->getAggregateElement(i); ++i) {
    elements.push_back(MapConstant(element));
    if (!elements.back()) return nullptr;
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type); vector && i + 1 == vector->getNumElements()) break;
  }
  if (elements.empty()) return nullptr;
  if (type->isVectorTy()) return llvm::ConstantVector::get(elements);
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) return llvm::ConstantArray::get(array, elements);
  return llvm::ConstantStruct::get(llvm::cast<llvm::StructType>(type), elements);
}

absl::Status Refuse(const llvm::Value& value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.print(stream);
  return absl::InvalidArgumentError(absl::StrCat("Intel GPUs do not compute this with bf16:", text));
}

// Arithmetic with bf16 in terms of f32.
class ArithmeticExpander final {
 public:
  explicit ArithmeticExpander(llvm::Module& module) : module_(module), b_(module.getContext()) {}

  // Whether `instruction` was arithmetic; then nothing uses it any more.
  absl::StatusOr<bool> Expand(llvm::Instruction& instruction) {
    b_.SetInsertPoint(&instruction);
    llvm::Value* result = nullptr;
    if (auto* extension = llvm::dyn_cast<llvm::FPExtInst>(&instruction)) {
      result = b_.CreateFPExt(Widen(extension->getOperand(0)), extension->getType());
    } else if (auto* truncation = llvm::dyn_cast<llvm::FPTruncInst>(&instruction)) {
      llvm::Value* from = truncation->getOperand(0);
      if (!from->getType()->getScalarType()->isFloatTy()) return Refuse(instruction);
      result = Narrow(from, truncation->getType());
    } else if (auto* negation = llvm::dyn_cast<llvm::UnaryOperator>(&instruction)) {
      llvm::Value* bits = BitsOf(negation->getOperand(0));
      result =
          b_.CreateBitCast(b_.CreateXor(bits, llvm::ConstantInt::get(bits->getType(), 0x8000)), negation->getType());
    } else if (auto* comparison = llvm::dyn_cast<llvm::FCmpInst>(&instruction)) {
      result =
          b_.CreateFCmp(comparison->getPredicate(), Widen(comparison->getOperand(0)), Widen(comparison->getOperand(1)));
    } else if (auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
      if (operation->getOpcode() == llvm::Instruction::FRem) return Refuse(instruction);
      result = Narrow(
          b_.CreateBinOp(operation->getOpcode(), Widen(operation->getOperand(0)), Widen(operation->getOperand(1))),
          operation->getType());
    } else if (llvm::isa<llvm::FPToSIInst, llvm::FPToUIInst>(&instruction)) {
      auto& cast = llvm::cast<llvm::CastInst>(instruction);
      result = b_.CreateCast(cast.getOpcode(), Widen(cast.getOperand(0)), cast.getType());
    } else if (llvm::isa<llvm::CallBase, llvm::SIToFPInst, llvm::UIToFPInst>(&instruction)) {
      return Refuse(instruction);
    } else {
      return false;
    }
    instruction.replaceAllUsesWith(result);
    return true;
  }

 private:
  llvm::Value* BitsOf(llvm::Value* value) { return b_.CreateBitCast(value, MapType(value->getType())); }

  llvm::Value* Widen(llvm::Value* value) {
    llvm::Value* bits = BitsOf(value);
    llvm::Type* words = bits->getType()->getWithNewType(b_.getInt32Ty());
    return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(bits, words), kLowerBits),
                            words->getWithNewType(b_.getFloatTy()));
  }

  llvm::Value* NarrowOne(llvm::Value* value) {
    llvm::FunctionCallee callee = module_.getOrInsertFunction(kConvert, b_.getInt16Ty(), b_.getFloatTy());
    auto* function = llvm::cast<llvm::Function>(callee.getCallee());
    function->setCallingConv(llvm::CallingConv::SPIR_FUNC);
    function->setDoesNotAccessMemory();
    function->setDoesNotThrow();
    function->setWillReturn();
    llvm::CallInst* call = b_.CreateCall(callee, value);
    call->setCallingConv(llvm::CallingConv::SPIR_FUNC);
    return call;
  }

  llvm::Value* Narrow(llvm::Value* value, llvm::Type* type) {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    if (!vector) return b_.CreateBitCast(NarrowOne(value), type);
    llvm::Value* bits = llvm::PoisonValue::get(MapType(type));
    for (unsigned i = 0; i < vector->getNumElements(); ++i)
      bits = b_.CreateInsertElement(bits, NarrowOne(b_.CreateExtractElement(value, i)), i);
    return b_.CreateBitCast(bits, type);
  }

  llvm::Module& module_;
  llvm::IRBuilder<> b_;
};

bool Involves(const llvm::Instruction& instruction) {
  return HoldsBfloat(instruction.getType()) ||
         llvm::any_of(instruction.operands(), [](const llvm::Use& use) { return HoldsBfloat(use->getType()); });
}

absl::Status ExpandArithmetic(llvm::Function& function) {
  llvm::SmallVector<llvm::Instruction*> all, dead;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (Involves(instruction)) all.push_back(&instruction);
  ArithmeticExpander expander(*function.getParent());
  for (llvm::Instruction* instruction : all) {
    absl::StatusOr<bool> expanded = expander.Expand(*instruction);
    if (!expanded.ok()) return expanded.status();
    if (*expanded) dead.push_back(instruction);
  }
  for (llvm::Instruction* instruction : dead) instruction->eraseFromParent();
  return absl::OkStatus();
}

absl::Status ChangeTypes(llvm::Function& function) {
  llvm::SmallVector<llvm::Instruction*> casts;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    for (llvm::Use& use : instruction.operands()) {
      auto* constant = llvm::dyn_cast<llvm::Constant>(use.get());
      if (!constant || !HoldsBfloat(constant->getType())) continue;
      llvm::Constant* mapped = MapConstant(constant);
      if (!mapped) return Refuse(instruction);
      use.set(mapped);
    }
    instruction.mutateType(MapType(instruction.getType()));
    if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
      alloca->setAllocatedType(MapType(alloca->getAllocatedType()));
    if (auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
      gep->setSourceElementType(MapType(gep->getSourceElementType()));
      gep->setResultElementType(MapType(gep->getResultElementType()));
    }
    if (llvm::isa<llvm::BitCastInst>(instruction)) casts.push_back(&instruction);
  }
  for (llvm::Instruction* cast : casts) {
    if (cast->getType() != cast->getOperand(0)->getType()) continue;
    cast->replaceAllUsesWith(cast->getOperand(0));
    cast->eraseFromParent();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RemoveBfloat(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Type* type : function.getFunctionType()->params())
      if (HoldsBfloat(type) && !function.isIntrinsic() && !function.use_empty()) return Refuse(function);
    if (function.isDeclaration()) continue;
    if (absl::Status status = ExpandArithmetic(function); !status.ok()) return status;
    if (absl::Status status = ChangeTypes(function); !status.ok()) return status;
  }
  for (llvm::GlobalVariable& global : module.globals())
    if (HoldsBfloat(global.getValueType())) return Refuse(global);
  return absl::OkStatus();
}

}  // namespace tritond::compiler::intel
