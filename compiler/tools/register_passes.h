// SPDX-License-Identifier: Apache-2.0
// The passes that triton-opt knows.
#ifndef COMPILER_TOOLS_REGISTER_PASSES_H_
#define COMPILER_TOOLS_REGISTER_PASSES_H_

namespace tritond::compiler {

// Registers MLIR's general passes, the project's, and the printers that only tests use. Call once.
void RegisterPasses();
// --lower-to-llvm, see lower_pass.cc.
void RegisterLowering();
// --explain-costs, see explain_costs.cc.
void RegisterCosts();

}  // namespace tritond::compiler

#endif  // COMPILER_TOOLS_REGISTER_PASSES_H_
