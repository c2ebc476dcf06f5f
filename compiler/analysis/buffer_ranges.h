// SPDX-License-Identifier: Apache-2.0
// Which bytes of shared memory a view of a buffer covers.
#ifndef COMPILER_ANALYSIS_BUFFER_RANGES_H_
#define COMPILER_ANALYSIS_BUFFER_RANGES_H_

#include "compiler/analysis/alias.h"
#include "compiler/analysis/allocation.h"

namespace tritond::compiler {

using MemoryRanges = llvm::SmallVector<MemoryRange, 1>;

// Bytes of the function's frame that hold all elements of `buffer`, and maybe others. They are as few as its views by
// constant indices and offsets tell, otherwise the whole allocation. A buffer of unknown origin may be anywhere.
// Expects what AllocateSharedMemory has placed.
MemoryRanges RangesOf(mlir::Value buffer, const BufferAliases& aliases);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_BUFFER_RANGES_H_
