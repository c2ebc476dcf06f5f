// SPDX-License-Identifier: Apache-2.0
// MLIR's canonicaliser, which collects the patterns of all dialects anew for each pass of each compile. For a small
// kernel that takes as long as the passes themselves. Here a context keeps them.
#ifndef COMPILER_PASSES_CANONICALIZE_H_
#define COMPILER_PASSES_CANONICALIZE_H_

#include <memory>

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"

namespace tritond::compiler {

// Collects the patterns of the dialects that are loaded now. To be called once for a context, when it has all of them.
void KeepCanonicalPatterns(mlir::MLIRContext& context);

// Does what createCanonicalizerPass() does, by the patterns that the context keeps; else it collects them itself.
std::unique_ptr<mlir::Pass> CreateCanonicalizePass();

// createInlinerPass(), with the pass above after each call that is inlined.
std::unique_ptr<mlir::Pass> CreateInlinePass();

}  // namespace tritond::compiler

#endif  // COMPILER_PASSES_CANONICALIZE_H_
