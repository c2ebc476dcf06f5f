// SPDX-License-Identifier: Apache-2.0
// Device assertions and prints. A print is a call of one function with C's variable arguments,
//
//   call void (ptr, ...) @tritond.print(ptr %format, i32 %x, double %y)
//
// which stays a call until assembly text is made. What becomes of it then is a conversation with the host through the
// device library (expand_prints.cc), which no optimisation should have to look at.
#include "compiler/targets/amd/amd_ops.h"
#include "compiler/targets/amd/codegen.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

namespace {

constexpr llvm::StringLiteral kAssertFunction = "tritond.assert";

LLVM::LLVMFuncOp PrintFunction(mlir::OpBuilder& b, mlir::Location loc) {
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                          {LLVM::LLVMPointerType::get(b.getContext())}, /*isVarArg=*/true);
  return DeclareFunction(b, loc, amd::kPrintFunction, type);
}

// void tritond.assert(i1 condition, ptr message): a function of its own, so that the caller's blocks stay as they are.
LLVM::LLVMFuncOp AssertFunction(mlir::OpBuilder& b, mlir::Location loc, LLVM::LLVMFuncOp print) {
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {b.getI1Type(), ptr});
  LLVM::LLVMFuncOp func = DeclareFunction(b, loc, kAssertFunction, type);
  if (!func || !func.isExternal()) return func;
  func.setLinkage(LLVM::Linkage::Internal);
  mlir::OpBuilder::InsertionGuard guard(b);
  mlir::Block* entry = func.addEntryBlock(b);
  mlir::Block* failed = b.createBlock(&func.getBody());
  mlir::Block* passed = b.createBlock(&func.getBody());
  b.setInsertionPointToEnd(entry);
  LLVM::CondBrOp::create(b, loc, entry->getArgument(0), passed, failed);
  b.setInsertionPointToEnd(failed);
  LLVM::CallOp::create(b, loc, print, mlir::ValueRange{entry->getArgument(1)});
  LLVM::Trap::create(b, loc);
  LLVM::UnreachableOp::create(b, loc);
  b.setInsertionPointToEnd(passed);
  LLVM::ReturnOp::create(b, loc, mlir::ValueRange());
  return func;
}

// As C promotes the arguments of a variadic function; null for what printf cannot take.
mlir::Value Promote(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value) {
  mlir::Type type = value.getType();
  if (type.isF64() || mlir::isa<LLVM::LLVMPointerType>(type)) return value;
  if (type.isF16() || type.isBF16() || type.isF32()) return LLVM::FPExtOp::create(b, loc, b.getF64Type(), value);
  if (!type.isSignlessInteger() || type.getIntOrFloatBitWidth() > 64) return nullptr;
  const unsigned width = type.getIntOrFloatBitWidth();
  if (width == 1) return LLVM::ZExtOp::create(b, loc, b.getI32Type(), value);
  return width < 32 ? LLVM::SExtOp::create(b, loc, b.getI32Type(), value) : value;
}

std::string WithoutConversions(std::string text) {
  for (size_t at = 0; (at = text.find('%', at)) != std::string::npos; at += 2) text.insert(at, "%");
  return text;
}

}  // namespace

void AmdOps::Assert(mlir::OpBuilder& b, mlir::Location loc, mlir::Value condition, const AssertSite& site) const {
  LLVM::LLVMFuncOp print = PrintFunction(b, loc);
  LLVM::LLVMFuncOp func = print ? AssertFunction(b, loc, print) : nullptr;
  if (!func) {
    mlir::emitError(loc) << "'" << kAssertFunction << "' or '" << amd::kPrintFunction
                         << "' is something else in this module";
    return;
  }
  const std::string text =
      (site.file + ":" + llvm::Twine(site.line) + ": " + site.function + ": assertion failed: " + site.message + "\n")
          .str();
  LLVM::CallOp::create(b, loc, func, mlir::ValueRange{condition, EmitString(b, loc, WithoutConversions(text))});
}

mlir::LogicalResult AmdOps::Print(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef format,
                                  mlir::ValueRange args) const {
  llvm::SmallVector<mlir::Value> operands = {EmitString(b, loc, format)};
  for (mlir::Value arg : args) {
    mlir::Value promoted = Promote(b, loc, arg);
    if (!promoted) return mlir::emitError(loc) << "device print cannot take a value of " << arg.getType();
    operands.push_back(promoted);
  }
  LLVM::LLVMFuncOp print = PrintFunction(b, loc);
  if (!print) return mlir::emitError(loc) << "'" << amd::kPrintFunction << "' is something else in this module";
  LLVM::CallOp::create(b, loc, print, operands);
  return mlir::success();
}

}  // namespace tritond::compiler
