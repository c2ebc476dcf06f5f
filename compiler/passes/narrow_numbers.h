// SPDX-License-Identifier: Apache-2.0
// Numbers of 64 bits that have been made of 32.
#ifndef COMPILER_PASSES_NARROW_NUMBERS_H_
#define COMPILER_PASSES_NARROW_NUMBERS_H_

#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace tritond::compiler {

constexpr unsigned kWideBits = 64, kNarrowBits = 32;

// Whether the operation spreads what it is given over another shape, and no attribute says more of its result.
bool ChangesShape(mlir::Operation* op);

// Whether `value`, of 64 bits, is a number of 32 that has been made longer, also one spread over a shape, or a constant
// that 32 bits hold. `is_wanted` is asked of the longer number, and constants must not be negative then.
bool IsNarrow(mlir::Value value, llvm::function_ref<bool(mlir::Value longer)> is_wanted = nullptr);

// The same number in 32 bits, of what IsNarrow, or of what has no more bits for other reasons.
mlir::Value InNarrowBits(mlir::OpBuilder& b, mlir::Value value);

// `division`, a quotient or remainder of 64 bits, of the same numbers in 32 bits. Returns it made longer.
mlir::Value DividedInNarrowBits(mlir::OpBuilder& b, mlir::Operation* division, mlir::Value dividend);

}  // namespace tritond::compiler

#endif  // COMPILER_PASSES_NARROW_NUMBERS_H_
