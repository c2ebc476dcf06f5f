// SPDX-License-Identifier: Apache-2.0
// triton-opt: runs passes over a file of IR and prints the result; what the lit tests call.
#include <string>
#include <tuple>

#include "compiler/ir/ttg_dialect.h"
#include "compiler/targets/target.h"
#include "compiler/text/normalize_text.h"
#include "compiler/tools/register_passes.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

namespace {

void RegisterDialects(mlir::DialectRegistry& registry) {
  registry.insert<tritond::tt::TTDialect, tritond::ttg::TTGDialect, mlir::arith::ArithDialect, mlir::BuiltinDialect,
                  mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect, mlir::math::MathDialect,
                  mlir::NVVM::NVVMDialect, mlir::ROCDL::ROCDLDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  tritond::compiler::RegisterTargetDialects(registry);
}

int Fail(const std::string& message) {
  llvm::errs() << "triton-opt: " << message << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  RegisterDialects(registry);
  tritond::compiler::RegisterPasses();
  std::string input, output, error;
  std::tie(input, output) =
      mlir::registerAndParseCLIOptions(argc, argv, "runs passes over Triton IR and Triton GPU IR\n", registry);
  auto file = mlir::openInputFile(input, &error);
  if (!file) return Fail(error);
  auto normalized = tritond::compiler::NormalizeText(file->getBuffer().str());
  if (normalized.error)
    return Fail(input + ":" + std::to_string(normalized.error->where.line) + ":" +
                std::to_string(normalized.error->where.column) + ": error: " + normalized.error->message);
  file = llvm::MemoryBuffer::getMemBufferCopy(normalized.text.text(), file->getBufferIdentifier());
  auto out = mlir::openOutputFile(output, &error);
  if (!out) return Fail(error);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (failed(mlir::MlirOptMain(out->os(), std::move(file), registry, config))) return 1;
  out->keep();
  return 0;
}
