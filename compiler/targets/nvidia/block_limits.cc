// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/block_limits.h"

#include "compiler/analysis/scratch.h"
#include "compiler/targets/nvidia/ttng_dialect.h"

namespace tritond::compiler {

int64_t MostScratchBytes(tt::FuncOp function) {
  int64_t bytes = 0;
  function.walk([&](mlir::Operation* op) { bytes = std::max(bytes, ScratchBytes(op)); });
  return bytes;
}

int64_t LeastRegisters(tt::FuncOp function) {
  int64_t words = 1;
  function.walk([&](ttng::WarpGroupDotOp dot) {
    auto sums = llvm::cast<mlir::RankedTensorType>(dot.getD().getType());
    const int64_t bits = sums.getNumElements() * sums.getElementTypeBitWidth();
    words = std::max(words, bits / 32 / (int64_t{ttg::NumWarps(dot)} * ttg::ThreadsPerWarp(dot)));
  });
  return words;
}

}  // namespace tritond::compiler
