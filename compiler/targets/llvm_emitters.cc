// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/llvm_emitters.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Support/SHA256.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

mlir::Value EmitIntrinsic(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, mlir::Type result,
                          mlir::ValueRange args) {
  if (!result) {
    LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr(name), args);
    return nullptr;
  }
  return LLVM::CallIntrinsicOp::create(b, loc, result, b.getStringAttr(name), args).getResult(0);
}

mlir::Value EmitI32(mlir::OpBuilder& b, mlir::Location loc, int64_t value) {
  return LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

int BitsOf(mlir::Type type) {
  if (mlir::isa<LLVM::LLVMPointerType>(type)) return 64;
  return type.isIntOrFloat() ? static_cast<int>(type.getIntOrFloatBitWidth()) : 0;
}

mlir::Value ToInteger(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value) {
  mlir::Type type = b.getIntegerType(BitsOf(value.getType()));
  if (value.getType() == type) return value;
  if (mlir::isa<LLVM::LLVMPointerType>(value.getType())) return LLVM::PtrToIntOp::create(b, loc, type, value);
  return LLVM::BitcastOp::create(b, loc, type, value);
}

mlir::Value FromInteger(mlir::OpBuilder& b, mlir::Location loc, mlir::Type type, mlir::Value value) {
  if (value.getType() == type) return value;
  if (mlir::isa<LLVM::LLVMPointerType>(type)) return LLVM::IntToPtrOp::create(b, loc, type, value);
  return LLVM::BitcastOp::create(b, loc, type, value);
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
  return LLVM::LLVMFuncOp::create(b, loc, name, type);
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
    LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name, b.getStringAttr(bytes),
                           /*alignment=*/1);
  }
  return LLVM::AddressOfOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), name);
}

mlir::FailureOr<mlir::Value> EmitInlineAssembly(mlir::OpBuilder& b, mlir::Location loc, mlir::Type result,
                                                mlir::ValueRange args, llvm::StringRef text,
                                                llvm::StringRef constraints, bool has_side_effects) {
  // A constraint string that does not parse would abort in LLVM much later, without a location.
  llvm::InlineAsm::ConstraintInfoVector parsed = llvm::InlineAsm::ParseConstraints(constraints);
  if (parsed.empty() && !constraints.empty()) {
    mlir::emitError(loc) << "inline assembly has malformed constraints '" << constraints << "'";
    return mlir::failure();
  }
  size_t inputs = 0, outputs = 0;
  for (const llvm::InlineAsm::ConstraintInfo& info : parsed) {
    if (info.Type == llvm::InlineAsm::isInput) ++inputs;
    if (info.Type == llvm::InlineAsm::isOutput) ++outputs;
  }
  auto as_struct = mlir::dyn_cast_or_null<LLVM::LLVMStructType>(result);
  size_t expected = as_struct ? as_struct.getBody().size() : result ? 1 : 0;
  if (inputs != args.size() || outputs != expected) {
    mlir::emitError(loc) << "inline assembly has " << outputs << " outputs and " << inputs << " inputs in '"
                         << constraints << "', but " << expected << " results and " << args.size() << " operands";
    return mlir::failure();
  }
  auto op = LLVM::InlineAsmOp::create(b, loc, result, args, text, constraints, has_side_effects,
                                      /*is_align_stack=*/false, LLVM::TailCallKind::None, LLVM::AsmDialectAttr(),
                                      mlir::ArrayAttr());
  return result ? op.getRes() : mlir::Value();
}

}  // namespace tritond::compiler
