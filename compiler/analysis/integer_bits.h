// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ANALYSIS_INTEGER_BITS_H_
#define COMPILER_ANALYSIS_INTEGER_BITS_H_

#include "mlir/IR/Value.h"

namespace tritond::compiler {

// How many bits the magnitude of an integer, or of each element of a tensor, takes at most: |x| < 2^bits. A number
// whose sign is not known counts as signed. Looks at a bounded number of operations; what it does not know takes all
// bits.
int MagnitudeBits(mlir::Value value);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_INTEGER_BITS_H_
