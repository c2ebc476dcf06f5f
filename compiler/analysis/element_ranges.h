// SPDX-License-Identifier: Apache-2.0
// The least and the greatest element of a tensor of integers.
#ifndef COMPILER_ANALYSIS_ELEMENT_RANGES_H_
#define COMPILER_ANALYSIS_ELEMENT_RANGES_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// No element, read as an integer with a sign, is outside of it.
struct ElementRange {
  int64_t least = 0, most = 0;
};

// Of a loop whose bounds are constants with a sign: how often it runs, and where.
struct ConstantLoop {
  int64_t begin = 0, step = 1, iterations = 0;
};
std::optional<ConstantLoop> ConstantLoopOf(mlir::scf::ForOp loop);
// The loop's iterations, or the greatest number where they are not known.
int64_t MostIterations(mlir::scf::ForOp loop);

// Ranges of values of constants, make_range, and the numbers of iterations of loops with constant bounds. Nothing is
// known of other values, and of sums and products that may not fit into their type. Trusts no flags.
class ElementRanges final {
 public:
  // As if the loop ran only for these iterations, from its iteration number `first` on.
  void Limit(mlir::scf::ForOp loop, int64_t first, int64_t iterations);

  std::optional<ElementRange> Of(mlir::Value value);

  // What a comparison says of all elements, where they agree.
  std::optional<bool> Decides(mlir::arith::CmpIOp compare);

 private:
  std::optional<ElementRange> Find(mlir::Value value);

  llvm::DenseMap<mlir::Operation*, std::pair<int64_t, int64_t>> limits_;
  llvm::DenseMap<mlir::Value, std::optional<ElementRange>> known_;
};

// Makes constants of the comparisons in `op` that ranges decide.
void DecideComparisons(mlir::Operation* op);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_ELEMENT_RANGES_H_
