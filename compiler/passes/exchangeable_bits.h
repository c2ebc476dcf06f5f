// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_PASSES_EXCHANGEABLE_BITS_H_
#define COMPILER_PASSES_EXCHANGEABLE_BITS_H_

#include "compiler/layout/linear_layout.h"
#include "llvm/ADT/SmallVector.h"

namespace tritond::compiler {

// Columns of a layout that may change places: of lanes along the axis, and of registers off it. The lanes begin with
// the nearest neighbours. The registers begin with the farthest ones, so that accesses of neighbours stay wide.
struct ExchangeableBits {
  llvm::SmallVector<int> lanes, registers;
};

ExchangeableBits FindExchangeableBits(const LinearLayout& layout, unsigned axis);

}  // namespace tritond::compiler

#endif  // COMPILER_PASSES_EXCHANGEABLE_BITS_H_
