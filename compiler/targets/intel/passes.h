// SPDX-License-Identifier: Apache-2.0
// Constructors and registration of the passes of passes.td.
#ifndef COMPILER_TARGETS_INTEL_PASSES_H_
#define COMPILER_TARGETS_INTEL_PASSES_H_

#include "compiler/targets/intel/ttig_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tritond::compiler {

#define GEN_PASS_DECL
#include "compiler/targets/intel/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/targets/intel/passes.h.inc"

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_INTEL_PASSES_H_
