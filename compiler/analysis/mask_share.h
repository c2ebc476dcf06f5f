// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ANALYSIS_MASK_SHARE_H_
#define COMPILER_ANALYSIS_MASK_SHARE_H_

#include "mlir/IR/Value.h"

namespace tritond::compiler {

// How much of a tensor a mask lets through, from 0 to 1: a guess, to weigh accesses. Comparisons with constants count
// where the values compared lie in a known range, as remainders do. Conditions on one value are taken together, others
// as if they had nothing to do with each other. All else lets everything through.
double MaskShare(mlir::Value mask);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_MASK_SHARE_H_
