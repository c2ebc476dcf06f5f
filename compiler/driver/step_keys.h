// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_DRIVER_STEP_KEYS_H_
#define COMPILER_DRIVER_STEP_KEYS_H_

#include <string>

#include "compiler/driver/compile.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritond::compiler {

// Who compiles. What makes assembly and what makes everything: the latter knows of the assembler.
struct CompilerIdentity {
  std::string assembly;
  std::string whole;
};

// A text that tells modules apart, and nothing else: MLIR's generic form, which holds every attribute and property,
// without locations. The operations' own syntax may leave some out.
std::string CanonicalModule(mlir::ModuleOp module);

// The names of what `request` gives when `canonical` is the text of its module after the first stage. Options count
// whether they act or not, because the metadata echoes them.
StepKeys NameSteps(const std::string& canonical, const CompileRequest& request, const CompilerIdentity& identity);

}  // namespace tritond::compiler

#endif  // COMPILER_DRIVER_STEP_KEYS_H_
