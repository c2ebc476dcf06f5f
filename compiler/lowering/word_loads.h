// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LOWERING_WORD_LOADS_H_
#define COMPILER_LOWERING_WORD_LOADS_H_

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler {

// Neighbours in memory that may begin anywhere in a word: registers [k * vec, (k + 1) * vec).
struct WordGroups {
  int vec = 1;
  unsigned dim = 0;  // along which they are neighbours
  int run = 1;       // so many elements are neighbours
};

// Nullopt if the target does not read whole words, if words are not fewer than elements, or if there is a mask.
// `element` is the LLVM type in memory.
std::optional<WordGroups> FindWordGroups(FunctionLowering& f, tt::LoadOp op, mlir::Type element);

// The elements of `op` as they lie in memory, one for each register.
Values LoadWords(FunctionLowering& f, tt::LoadOp op, mlir::Type element, const WordGroups& groups);

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_WORD_LOADS_H_
