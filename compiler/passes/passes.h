// SPDX-License-Identifier: Apache-2.0
// Constructors, options and registration of the passes of passes.td.
#ifndef COMPILER_PASSES_PASSES_H_
#define COMPILER_PASSES_PASSES_H_

#include "compiler/ir/ttg_dialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tritond::compiler {

#define GEN_PASS_DECL
#include "compiler/passes/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/passes/passes.h.inc"

}  // namespace tritond::compiler

#endif  // COMPILER_PASSES_PASSES_H_
