// SPDX-License-Identifier: Apache-2.0
// Device prints are calls of OpenCL's printf, whose format is a constant in address space 2:
//
//   call i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) @tritond_format_…, i32 %x, float %y)
#include "compiler/targets/intel/intel_ops.h"
#include "compiler/targets/llvm_emitters.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

namespace {

using mlir::Value;

constexpr unsigned kConstantSpace = 2;
constexpr llvm::StringLiteral kPrintFunction = "printf";

// A constant named after its contents, so that equal formats share one.
Value EmitFormat(mlir::OpBuilder& b, mlir::Location loc, mlir::ModuleOp module, llvm::StringRef format) {
  auto digest = llvm::SHA256::hash(llvm::ArrayRef(format.bytes_begin(), format.size()));
  const std::string name = "tritond_format_" + llvm::toHex(llvm::ArrayRef(digest.data(), 8), /*LowerCase=*/true);
  if (!module.lookupSymbol(name)) {
    std::string bytes = format.str();
    bytes.push_back('\0');
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()), /*isConstant=*/true,
                           LLVM::Linkage::Internal, name, b.getStringAttr(bytes), /*alignment=*/1, kConstantSpace);
  }
  return LLVM::AddressOfOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), kConstantSpace), name);
}

// OpenCL promotes floats to f64 only where the device has it: f32 goes as it is.
Value WithoutPromotion(mlir::OpBuilder& b, mlir::Location loc, Value value) {
  auto extended = value.getDefiningOp<LLVM::FPExtOp>();
  if (!extended || !value.getType().isF64()) return value;
  Value narrow = extended.getArg();
  return narrow.getType().isF32() ? narrow : LLVM::FPExtOp::create(b, loc, b.getF32Type(), narrow).getResult();
}

bool CanPrint(mlir::Type type) {
  return type.isF32() || type.isF64() || type.isInteger(32) || type.isInteger(64) ||
         mlir::isa<LLVM::LLVMPointerType>(type);
}

}  // namespace

void IntelOps::Assert(mlir::OpBuilder& b, mlir::Location loc, Value condition, const AssertSite& site) const {
  mlir::emitError(loc) << device_.arch.name << " has no trap, which the assertion '" << site.message
                       << "' would need; compile without the option debug";
}

mlir::LogicalResult IntelOps::Print(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef format,
                                    mlir::ValueRange args) const {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<mlir::ModuleOp>();
  llvm::SmallVector<Value> operands = {EmitFormat(b, loc, module, format)};
  for (Value arg : args) {
    operands.push_back(WithoutPromotion(b, loc, arg));
    if (!CanPrint(operands.back().getType()))
      return mlir::emitError(loc) << "device print cannot take a value of " << arg.getType();
  }
  auto type = LLVM::LLVMFunctionType::get(b.getI32Type(), {operands[0].getType()}, /*isVarArg=*/true);
  LLVM::LLVMFuncOp print = DeclareFunction(b, loc, kPrintFunction, type);
  if (!print) return mlir::emitError(loc) << "'" << kPrintFunction << "' is something else in this module";
  LLVM::CallOp::create(b, loc, print, operands);
  return mlir::success();
}

}  // namespace tritond::compiler
