// SPDX-License-Identifier: Apache-2.0
// Accesses to whole blocks, as their masks name them (tt.block_mask).
#ifndef COMPILER_IR_NAMED_BLOCK_H_
#define COMPILER_IR_NAMED_BLOCK_H_

#include <optional>

#include "compiler/ir/tt_dialect.h"
#include "llvm/ADT/SmallVector.h"

namespace tritond::compiler {

// An access to a whole block.
struct NamedBlock {
  tt::BlockMaskOp block;
  llvm::SmallVector<mlir::Value> conditions;  // i1: it is made where all hold
};

// The block that `mask` names. Nothing where the mask says something else, or more.
std::optional<NamedBlock> NamedBlockOf(mlir::Value mask);

}  // namespace tritond::compiler

#endif  // COMPILER_IR_NAMED_BLOCK_H_
