// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/block_limits.h"

#include "compiler/analysis/scratch.h"
#include "compiler/pipelining/programs_of_loop.h"
#include "compiler/targets/nvidia/ttng_dialect.h"

namespace tritond::compiler {

int64_t BlocksOfGrid(mlir::Operation* place, int64_t multiprocessors) {
  std::optional<int64_t> programs;
  place->walk([&](ttng::WarpGroupDotOp dot) {
    auto loop = dot->getParentOfType<mlir::scf::ForOp>();
    if (loop && !programs) programs = ProgramsOf(loop);
  });
  if (!programs || multiprocessors == 0) return std::numeric_limits<int64_t>::max();
  return std::max<int64_t>(*programs / multiprocessors, 1);
}

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
