// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/ptx_builder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

namespace tritond::compiler::nvidia {
namespace LLVM = mlir::LLVM;

mlir::Value EmitIntrinsic(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, mlir::Type result,
                          mlir::ValueRange args) {
  if (!result) {
    b.create<LLVM::CallIntrinsicOp>(loc, mlir::TypeRange{}, name, args);
    return nullptr;
  }
  return b.create<LLVM::CallIntrinsicOp>(loc, mlir::TypeRange{result}, name, args).getResult(0);
}

mlir::Value EmitI32(mlir::OpBuilder& b, mlir::Location loc, int64_t value) {
  return b.create<LLVM::ConstantOp>(loc, b.getI32Type(), b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

char RegisterConstraint(mlir::Type type) {
  if (type.isF32()) return 'f';
  if (type.isF64()) return 'd';
  if (mlir::isa<LLVM::LLVMPointerType>(type)) return 'l';
  switch (type.getIntOrFloatBitWidth()) {
    case 1:
      return 'b';
    case 64:
      return 'l';
    case 32:
      return 'r';
    default:
      return 'h';
  }
}

std::string PtxBuilder::AddOutput(mlir::Type type) {
  if (!constraints_.empty()) constraints_ += ',';
  constraints_ += {'=', RegisterConstraint(type)};
  outputs_.push_back(type);
  return "$" + std::to_string(outputs_.size() - 1);
}

std::string PtxBuilder::Add(mlir::Value value, std::string constraint) {
  if (!constraints_.empty()) constraints_ += ',';
  constraints_ += constraint;
  inputs_.push_back(value);
  return "$" + std::to_string(outputs_.size() + inputs_.size() - 1);
}

std::string PtxBuilder::AddInput(mlir::Value value) {
  return Add(value, std::string(1, RegisterConstraint(value.getType())));
}

std::string PtxBuilder::AddPredicate(mlir::Value value) { return Add(value, "b"); }

void PtxBuilder::TieOutput(int index, mlir::Value value) { Add(value, std::to_string(index)); }

llvm::SmallVector<mlir::Value> PtxBuilder::Emit(llvm::StringRef text, bool touches_memory) {
  mlir::Type result;
  if (outputs_.size() == 1) result = outputs_[0];
  if (outputs_.size() > 1) result = LLVM::LLVMStructType::getLiteral(b_.getContext(), outputs_);
  if (touches_memory) constraints_ += constraints_.empty() ? "~{memory}" : ",~{memory}";
  auto op = b_.create<LLVM::InlineAsmOp>(loc_, result, inputs_, text, constraints_, touches_memory,
                                         /*is_align_stack=*/false, LLVM::AsmDialectAttr(), mlir::ArrayAttr());
  llvm::SmallVector<mlir::Value> values;
  if (outputs_.size() == 1) values.push_back(op.getRes());
  if (outputs_.size() > 1) {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      values.push_back(b_.create<LLVM::ExtractValueOp>(loc_, op.getRes(), static_cast<int64_t>(i)));
    }
  }
  return values;
}

namespace {

mlir::ModuleOp ModuleAround(mlir::OpBuilder& b) {
  mlir::Operation* op = b.getInsertionBlock()->getParentOp();
  if (auto module = mlir::dyn_cast<mlir::ModuleOp>(op)) return module;
  return op->getParentOfType<mlir::ModuleOp>();
}

}  // namespace

LLVM::LLVMFuncOp DeclareFunction(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name,
                                 LLVM::LLVMFunctionType type) {
  mlir::ModuleOp module = ModuleAround(b);
  if (mlir::Operation* found = module.lookupSymbol(name)) {
    auto func = mlir::dyn_cast<LLVM::LLVMFuncOp>(found);
    return func && func.getFunctionType() == type ? func : nullptr;
  }
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  return b.create<LLVM::LLVMFuncOp>(loc, name, type);
}

mlir::Value EmitString(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef text) {
  // Named after their contents, so that equal strings share one constant without any state here.
  auto digest = llvm::SHA256::hash(llvm::ArrayRef(text.bytes_begin(), text.size()));
  std::string name = "tritond_string_" + llvm::toHex(llvm::ArrayRef(digest.data(), 8), /*LowerCase=*/true);
  mlir::ModuleOp module = ModuleAround(b);
  if (!module.lookupSymbol(name)) {
    std::string bytes = text.str();
    bytes.push_back('\0');
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    b.create<LLVM::GlobalOp>(loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name, b.getStringAttr(bytes),
                             /*alignment=*/1);
  }
  return b.create<LLVM::AddressOfOp>(loc, LLVM::LLVMPointerType::get(b.getContext()), name);
}

}  // namespace tritond::compiler::nvidia
