// SPDX-License-Identifier: Apache-2.0
// Assembly that a caller wrote into IR. Targets whose TargetInfo::takes_foreign_assembly says no compile none of it,
// except the inline assembly that Target::CheckInlineAssembly allows. The reason: LLVM assembles callers' assembly
// inside the compiler, where directives such as .incbin read files.
#ifndef COMPILER_DRIVER_FOREIGN_ASSEMBLY_H_
#define COMPILER_DRIVER_FOREIGN_ASSEMBLY_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "compiler/ir/parse_module.h"
#include "compiler/targets/target.h"
#include "llvm/IR/Module.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

namespace tritond::compiler {

// Fails, with an error on the first operation of `module` that holds assembly which `target` does not allow.
mlir::LogicalResult CheckNoAssembly(mlir::ModuleOp module, const Target& target);

// One place of a module that holds assembly.
struct AssemblyPlace {
  std::string what;    // "module asm", "inline asm in function k"
  TextPosition where;  // in the text; line 0 where the text does not show it
};

// The first such place of a module that `text` spells and that `target` does not allow; nullopt when it has none.
std::optional<AssemblyPlace> FindAssembly(const llvm::Module& module, absl::string_view text, const Target& target);

}  // namespace tritond::compiler

#endif  // COMPILER_DRIVER_FOREIGN_ASSEMBLY_H_
