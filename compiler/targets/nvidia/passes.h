// SPDX-License-Identifier: Apache-2.0
// Constructors, options and registration of the passes of passes.td.
#ifndef COMPILER_TARGETS_NVIDIA_PASSES_H_
#define COMPILER_TARGETS_NVIDIA_PASSES_H_

#include "compiler/targets/nvidia/ttng_dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tritond::compiler {

#define GEN_PASS_DECL
#include "compiler/targets/nvidia/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/targets/nvidia/passes.h.inc"

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_PASSES_H_
