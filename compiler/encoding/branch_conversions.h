// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ENCODING_BRANCH_CONVERSIONS_H_
#define COMPILER_ENCODING_BRANCH_CONVERSIONS_H_

#include "compiler/ir/tt_dialect.h"

namespace tritond::compiler {

// Moves conversions of what branches yield into the branches.
void MoveConversionsIntoBranches(tt::FuncOp func);

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_BRANCH_CONVERSIONS_H_
