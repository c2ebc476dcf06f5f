// SPDX-License-Identifier: Apache-2.0
// The passes that only Intel's pipeline has.
#ifndef COMPILER_TARGETS_INTEL_PASSES_TD_
#define COMPILER_TARGETS_INTEL_PASSES_TD_

include "mlir/Pass/PassBase.td"

def IntelNoteSharedMemoryPass : Pass<"intel-note-shared-memory", "::mlir::ModuleOp"> {
  let summary = "keeps the size of shared memory where LLVM IR shows it, too";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def IntelAccelerateMatmulPass : Pass<"intel-accelerate-matmul", "::mlir::ModuleOp"> {
  let summary = "gives dots the encoding of the matrix instruction";
  let options = [Option<"arch", "arch", "std::string", "\"pvc\"", "of the GPU">];
}

def IntelReadBlocksPass : Pass<"intel-read-blocks", "::mlir::ModuleOp"> {
  let summary = "reads operands of dots from memory by blocks, into the registers that the dots take them from";
  let dependentDialects = ["::tritond::ttig::TTIGDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

#endif  // COMPILER_TARGETS_INTEL_PASSES_TD_
