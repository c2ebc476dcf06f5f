// SPDX-License-Identifier: Apache-2.0
// How far apart two tensors of pointers are.
#ifndef COMPILER_ANALYSIS_POINTER_DISTANCE_H_
#define COMPILER_ANALYSIS_POINTER_DISTANCE_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "compiler/analysis/loop_steps.h"
#include "compiler/ir/tt_dialect.h"
#include "llvm/ADT/SmallVector.h"

namespace tritond::compiler {

// The elements of a pointer, or of a tensor of pointers, as a sum, in elements of what they point to:
//
//   %p + splat(%h * 128 + 64) + make_range(0, 64)      of a loop over %h
//
//   fixed %p, constant 64, terms 128 * (any number) and 1 * (0 … 63)
struct PointerSum {
  struct Term {
    int64_t factor = 1;
    std::optional<int64_t> last;  // the number beside the factor is 0 … last; nothing: any number
    mlir::Value below = {};       // the number is less than this scalar, too; null: not known
  };

  // Values that are the same whenever the sum is computed, and their factors; the pointer itself among them.
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> fixed;
  int64_t constant = 0;
  llvm::SmallVector<Term> terms;
  // How far apart the sums are that the iterations of one loop make, where constants tell; for each loop.
  llvm::SmallVector<LoopSteps, 1> moves;
  mlir::Type pointee;
};

// Whether `value` has one value while the function runs.
bool IsFixed(mlir::Value value);

// Nothing where the sum is too long. As AxisInfoAnalysis does, trusts that index arithmetic of 32 bits and more does
// not wrap around. Of a function's body in which branches make the loops. Of those elements alone for which `mask`
// holds, if there is one: make_range(0, 64) is 0 … 47 where it is below 48.
std::optional<PointerSum> SumOfPointer(mlir::Value pointer, mlir::Value mask = {});

// Whether no element of one is at an address of the other, at whatever times they are computed.
bool AreApart(const PointerSum& a, const PointerSum& b);

// Whether elements at different places are at one address in different iterations of a loop, as far as constants tell:
// those of %p + splat(%i) + make_range(0, 64) are, if %i counts by less than 64, and those of %p + splat(%i & 7) +
// 2 * make_range(0, 64). Loops whose end is not known are taken to end before they come to the next row of a tile.
bool MeetsItself(const PointerSum& sum);

// Whether the indices in `pointer` come from memory, each time that it is computed. Elements at different places may be
// at one address then. Ranks, as scans of truth values make them, are taken for places that nothing else has.
bool IsGathered(mlir::Value pointer);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_POINTER_DISTANCE_H_
