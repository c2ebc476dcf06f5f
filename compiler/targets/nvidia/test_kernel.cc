// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/test_kernel.h"

#include "compiler/targets/nvidia/codegen.h"
#include "llvm/IR/LLVMContext.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

namespace tritond::compiler::nvidia {
namespace LLVM = mlir::LLVM;
namespace {

std::unique_ptr<mlir::MLIRContext> MakeContext() {
  mlir::DialectRegistry registry;
  registry.insert<LLVM::LLVMDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  auto context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

}  // namespace

TestKernel::TestKernel(const std::string& params)
    : context_(MakeContext()), builder_(context_.get()), module_(mlir::ModuleOp::create(loc())) {
  context_->getDiagEngine().registerHandler([this](mlir::Diagnostic& diagnostic) {
    if (error_.empty()) error_ = diagnostic.str();
    return mlir::success();
  });
  llvm::SmallVector<mlir::Type> types;
  for (char letter : params) types.push_back(TypeOf(letter));
  builder_.setInsertionPointToStart(module_->getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context_.get()), types);
  kernel_ = LLVM::LLVMFuncOp::create(builder_, loc(), "kernel", type);
  kernel_.setPassthroughAttr(builder_.getArrayAttr({builder_.getStringAttr("tritond.kernel")}));
  mlir::Block* entry = kernel_.addEntryBlock(builder_);
  builder_.setInsertionPointToEnd(entry);
  auto end = LLVM::ReturnOp::create(builder_, loc(), mlir::ValueRange());
  builder_.setInsertionPoint(end);
}

mlir::Type TestKernel::TypeOf(char letter) {
  switch (letter) {
    case 'p':
      return LLVM::LLVMPointerType::get(context_.get(), 1);
    case 'b':
      return builder_.getI1Type();
    case 'c':
      return builder_.getI8Type();
    case 'h':
      return builder_.getI16Type();
    case 'i':
      return builder_.getI32Type();
    case 'l':
      return builder_.getI64Type();
    case 'e':
      return builder_.getF16Type();
    case 'g':
      return builder_.getBF16Type();
    case 'f':
      return builder_.getF32Type();
    default:
      return builder_.getF64Type();
  }
}

void TestKernel::Keep(int index, mlir::Value value) {
  LLVM::StoreOp::create(builder_, loc(), value, arg(index), /*alignment=*/0, /*isVolatile=*/true);
}

absl::StatusOr<std::string> TestKernel::ToPtx(int compute_capability, Toolchain& toolchain,
                                              const KernelOptions& options, int ptx_version) {
  llvm::LLVMContext llvm_context;
  std::unique_ptr<llvm::Module> module = mlir::translateModuleToLLVMIR(*module_, llvm_context);
  if (!module) return absl::InternalError("translation: " + error_);
  const Architecture& arch = ArchitectureOf(compute_capability);
  auto machine = MakeTargetMachine(arch, ptx_version, options);
  if (!machine.ok()) return machine.status();
  if (absl::Status status = OptimizeModule(*module, **machine, toolchain, options); !status.ok()) return status;
  AssemblyWriter writer(**machine, kPtxMotion);
  return EmitPtx(*module, writer, arch, ptx_version, options);
}

const Architecture& ArchitectureOf(int compute_capability) {
  const Architecture* found = nullptr;
  for (const Architecture& arch : kArchitectures) {
    if (arch.compute_capability == compute_capability) found = &arch;
  }
  return *found;
}

}  // namespace tritond::compiler::nvidia
