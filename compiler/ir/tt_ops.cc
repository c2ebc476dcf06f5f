// SPDX-License-Identifier: Apache-2.0
// Syntax, builders and memory effects of the tt operations.
#include "compiler/ir/tt_dialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"

#define GET_OP_CLASSES
#include "compiler/ir/tt_ops.cc.inc"

namespace tritond::tt {
namespace {

using Effects = llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>;

void AddRead(Effects& effects) { effects.emplace_back(mlir::MemoryEffects::Read::get()); }
void AddWrite(Effects& effects) { effects.emplace_back(mlir::MemoryEffects::Write::get()); }

mlir::Speculation::Speculatability SpeculatableIf(bool pure) {
  return pure ? mlir::Speculation::Speculatable : mlir::Speculation::NotSpeculatable;
}

}  // namespace

void LoadOp::build(mlir::OpBuilder& builder, mlir::OperationState& state, mlir::Value ptr, mlir::Value mask,
                   mlir::Value other, CacheModifier cache, EvictionPolicy evict, bool is_volatile) {
  build(builder, state, PointeeTypeOf(ptr.getType()), ptr, mask, other, /*boundaryCheck=*/mlir::DenseI32ArrayAttr(),
        /*padding=*/PaddingOptionAttr(), CacheModifierAttr::get(builder.getContext(), cache),
        EvictionPolicyAttr::get(builder.getContext(), evict), builder.getBoolAttr(is_volatile));
}

void StoreOp::build(mlir::OpBuilder& builder, mlir::OperationState& state, mlir::Value ptr, mlir::Value value,
                    mlir::Value mask, CacheModifier cache, EvictionPolicy evict) {
  build(builder, state, ptr, value, mask, /*boundaryCheck=*/mlir::DenseI32ArrayAttr(),
        CacheModifierAttr::get(builder.getContext(), cache), EvictionPolicyAttr::get(builder.getContext(), evict),
        /*ignore_cta=*/mlir::UnitAttr());
}

void LoadOp::getEffects(Effects& effects) {
  AddRead(effects);
  if (getIsVolatile()) AddWrite(effects);
}
void StoreOp::getEffects(Effects& effects) { AddWrite(effects); }
void AtomicRMWOp::getEffects(Effects& effects) { AddRead(effects), AddWrite(effects); }
void AtomicCASOp::getEffects(Effects& effects) { AddRead(effects), AddWrite(effects); }
void AtomicPollOp::getEffects(Effects& effects) { AddRead(effects), AddWrite(effects); }
void DescriptorLoadOp::getEffects(Effects& effects) { AddRead(effects); }
void DescriptorGatherOp::getEffects(Effects& effects) { AddRead(effects); }
void DescriptorStoreOp::getEffects(Effects& effects) { AddWrite(effects); }
void DescriptorReduceOp::getEffects(Effects& effects) { AddRead(effects), AddWrite(effects); }
void DescriptorScatterOp::getEffects(Effects& effects) { AddWrite(effects); }

void ExternElementwiseOp::getEffects(Effects& effects) {
  if (!getPure()) AddRead(effects), AddWrite(effects);
}
mlir::Speculation::Speculatability ExternElementwiseOp::getSpeculatability() { return SpeculatableIf(getPure()); }
void ElementwiseInlineAsmOp::getEffects(Effects& effects) {
  if (!getPure()) AddRead(effects), AddWrite(effects);
}
mlir::Speculation::Speculatability ElementwiseInlineAsmOp::getSpeculatability() { return SpeculatableIf(getPure()); }

mlir::ParseResult FuncOp::parse(mlir::OpAsmParser& parser, mlir::OperationState& result) {
  auto function_type = [](mlir::Builder& builder, llvm::ArrayRef<mlir::Type> arguments,
                          llvm::ArrayRef<mlir::Type> results, mlir::function_interface_impl::VariadicFlag,
                          std::string&) { return builder.getFunctionType(arguments, results); };
  return mlir::function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), function_type,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(mlir::OpAsmPrinter& printer) {
  mlir::function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                                 getArgAttrsAttrName(), getResAttrsAttrName());
}

mlir::Operation* ReduceOp::SingleCombiner() {
  mlir::Block& block = getCombineOp().front();
  if (!getCombineOp().hasOneBlock() || block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return nullptr;
  mlir::Operation* op = &block.front();
  mlir::Operation* terminator = block.getTerminator();
  bool combines = op->getNumOperands() == 2 && op->getNumResults() == 1 && terminator->getNumOperands() == 1 &&
                  terminator->getOperand(0) == op->getResult(0) && op->getOperand(0) != op->getOperand(1) &&
                  llvm::all_of(op->getOperands(), [&](mlir::Value v) { return v.getParentBlock() == &block; });
  return combines ? op : nullptr;
}

}  // namespace tritond::tt
