// SPDX-License-Identifier: Apache-2.0
// The ttg dialect: Triton IR with the placement of every element. Operations: ttg_ops.td, encodings: ttg_types.td.
#ifndef COMPILER_IR_TTG_DIALECT_H_
#define COMPILER_IR_TTG_DIALECT_H_

#include "compiler/ir/tt_dialect.h"
#include "compiler/layout/linear_layout.h"
#include "llvm/ADT/Hashing.h"
#include "mlir/IR/TensorEncoding.h"

namespace tritond::compiler {
llvm::hash_code hash_value(const LinearLayout& layout);
}  // namespace tritond::compiler

#include "compiler/ir/ttg_dialect.h.inc"
#include "compiler/ir/ttg_interfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/ir/ttg_attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/ir/ttg_types.h.inc"

#define GET_OP_CLASSES
#include "compiler/ir/ttg_ops.h.inc"

#endif  // COMPILER_IR_TTG_DIALECT_H_
