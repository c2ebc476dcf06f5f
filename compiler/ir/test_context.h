// SPDX-License-Identifier: Apache-2.0
// For unit tests: a context with every dialect of TTIR and TTGIR, and the corpus of real kernels.
#ifndef COMPILER_IR_TEST_CONTEXT_H_
#define COMPILER_IR_TEST_CONTEXT_H_

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/ir/ttg_dialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"

namespace tritond::compiler {

inline std::unique_ptr<mlir::MLIRContext> MakeTestContext() {
  auto context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  context->loadDialect<tt::TTDialect, ttg::TTGDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                       mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  return context;
}

// The .ttir files of the corpus beside the project, sorted; empty where it is missing.
inline std::vector<std::filesystem::path> CorpusFiles() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"../shared/corpus/dev", "../shared/corpus/inductor"}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
      if (entry.path().extension() == ".ttir") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline std::string ReadFile(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace tritond::compiler

#endif  // COMPILER_IR_TEST_CONTEXT_H_
