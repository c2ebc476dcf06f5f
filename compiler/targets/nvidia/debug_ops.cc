// SPDX-License-Identifier: Apache-2.0
// Device assertions and device prints. They use the two functions that every CUDA driver offers to kernels:
// __assertfail and vprintf ("CUDA C++ Programming Guide", "PTX Writer's Guide to Interoperability").
//
// Both need a branch or a stack slot, so each is a small function of its own. The caller's blocks stay as they are.
// LLVM inlines assertions: a call would take conditions that are still needed out of their predicates.
#include "compiler/targets/nvidia/nvidia_ops.h"
#include "compiler/targets/nvidia/ptx_builder.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

namespace {

constexpr llvm::StringLiteral kAssertFunction = "tritond_assert";

LLVM::LLVMFunctionType FunctionType(mlir::OpBuilder& b, mlir::Type result, llvm::ArrayRef<mlir::Type> args) {
  return LLVM::LLVMFunctionType::get(result ? result : LLVM::LLVMVoidType::get(b.getContext()), args);
}

// void tritond_assert(i1 condition, ptr message, ptr file, i32 line, ptr function)
LLVM::LLVMFuncOp AssertFunction(mlir::OpBuilder& b, mlir::Location loc) {
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  mlir::Type i32 = b.getI32Type();
  auto fail = DeclareFunction(b, loc, "__assertfail", FunctionType(b, nullptr, {ptr, ptr, i32, ptr, b.getI64Type()}));
  auto func = DeclareFunction(b, loc, kAssertFunction, FunctionType(b, nullptr, {b.getI1Type(), ptr, ptr, i32, ptr}));
  if (!fail || !func || !func.isExternal()) return fail ? func : nullptr;
  func.setLinkage(LLVM::Linkage::Internal);
  func.setAlwaysInline(true);
  mlir::OpBuilder::InsertionGuard guard(b);
  mlir::Block* entry = func.addEntryBlock(b);
  mlir::Block* failed = b.createBlock(&func.getBody());
  mlir::Block* passed = b.createBlock(&func.getBody());
  b.setInsertionPointToEnd(entry);
  LLVM::CondBrOp::create(b, loc, entry->getArgument(0), passed, failed);
  b.setInsertionPointToEnd(failed);
  mlir::Value char_size = LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(1));
  LLVM::CallOp::create(b, loc, fail,
                       mlir::ValueRange{entry->getArgument(1), entry->getArgument(2), entry->getArgument(3),
                                        entry->getArgument(4), char_size});
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
  if (type.isF16() || type.isF32()) return LLVM::FPExtOp::create(b, loc, b.getF64Type(), value);
  if (!type.isSignlessInteger() || type.getIntOrFloatBitWidth() > 64) return nullptr;
  const unsigned width = type.getIntOrFloatBitWidth();
  if (width == 1) return LLVM::ZExtOp::create(b, loc, b.getI32Type(), value);
  return width < 32 ? LLVM::SExtOp::create(b, loc, b.getI32Type(), value) : value;
}

std::string LetterOf(mlir::Type type) {
  if (mlir::isa<LLVM::LLVMPointerType>(type)) {
    return "p" + std::to_string(mlir::cast<LLVM::LLVMPointerType>(type).getAddressSpace());
  }
  return type.isF64() ? "d" : type.isInteger(64) ? "l" : "i";
}

// void tritond_print_<letters>(ptr format, arguments…): puts the arguments into a struct and calls vprintf.
LLVM::LLVMFuncOp PrintFunction(mlir::OpBuilder& b, mlir::Location loc, llvm::ArrayRef<mlir::Type> types) {
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  std::string name = "tritond_print";
  llvm::SmallVector<mlir::Type> params = {ptr};
  for (mlir::Type type : types) {
    name += "_" + LetterOf(type);
    params.push_back(type);
  }
  auto vprintf = DeclareFunction(b, loc, "vprintf", FunctionType(b, b.getI32Type(), {ptr, ptr}));
  auto func = DeclareFunction(b, loc, name, FunctionType(b, nullptr, params));
  if (!vprintf || !func || !func.isExternal()) return vprintf ? func : nullptr;
  func.setLinkage(LLVM::Linkage::Internal);
  mlir::OpBuilder::InsertionGuard guard(b);
  mlir::Block* entry = func.addEntryBlock(b);
  b.setInsertionPointToEnd(entry);
  mlir::Value buffer = LLVM::ZeroOp::create(b, loc, ptr);
  if (!types.empty()) {
    auto layout = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
    buffer = LLVM::AllocaOp::create(b, loc, ptr, layout, EmitI32(b, loc, 1), /*alignment=*/8);
    for (size_t i = 0; i < types.size(); ++i) {
      mlir::Value slot =
          LLVM::GEPOp::create(b, loc, ptr, layout, buffer, llvm::ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
      LLVM::StoreOp::create(b, loc, entry->getArgument(i + 1), slot);
    }
  }
  LLVM::CallOp::create(b, loc, vprintf, mlir::ValueRange{entry->getArgument(0), buffer});
  LLVM::ReturnOp::create(b, loc, mlir::ValueRange());
  return func;
}

}  // namespace

void NvidiaOps::Assert(mlir::OpBuilder& b, mlir::Location loc, mlir::Value condition, const AssertSite& site) const {
  LLVM::LLVMFuncOp func = AssertFunction(b, loc);
  if (!func) {
    mlir::emitError(loc) << "'" << kAssertFunction << "' or '__assertfail' is something else in this module";
    return;
  }
  LLVM::CallOp::create(b, loc, func,
                       mlir::ValueRange{condition, EmitString(b, loc, site.message), EmitString(b, loc, site.file),
                                        EmitI32(b, loc, site.line), EmitString(b, loc, site.function)});
}

mlir::LogicalResult NvidiaOps::Print(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef format,
                                     mlir::ValueRange args) const {
  llvm::SmallVector<mlir::Value> operands = {EmitString(b, loc, format)};
  llvm::SmallVector<mlir::Type> types;
  for (mlir::Value arg : args) {
    if (arg.getType().isBF16()) {
      arg = ConvertFloat(b, loc, b.getBF16Type(), b.getF32Type(), tt::RoundingMode::kRtne, arg)[0];
    }
    mlir::Value promoted = Promote(b, loc, arg);
    if (!promoted) return mlir::emitError(loc) << "device print cannot take a value of " << arg.getType();
    operands.push_back(promoted);
    types.push_back(promoted.getType());
  }
  LLVM::LLVMFuncOp func = PrintFunction(b, loc, types);
  if (!func) return mlir::emitError(loc) << "'vprintf' is something else in this module";
  LLVM::CallOp::create(b, loc, func, operands);
  return mlir::success();
}

}  // namespace tritond::compiler
