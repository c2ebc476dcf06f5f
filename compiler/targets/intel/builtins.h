// SPDX-License-Identifier: Apache-2.0
// Calls of the functions that OpenCL C and SPIR-V give names to. LLVM's SPIR-V back end turns them into instructions;
// it knows them by their mangled names (Itanium C++ ABI).
#ifndef COMPILER_TARGETS_INTEL_BUILTINS_H_
#define COMPILER_TARGETS_INTEL_BUILTINS_H_

#include <string>

#include "mlir/IR/Builders.h"

namespace tritond::compiler::intel {

// How the optimiser may move calls of a function.
enum class Effect {
  kNone,        // depends on its operands alone
  kCrossLane,   // on the lanes that call it, too: stays where it is in the control flow
  kSynchronise  // orders memory between threads
};

// Emits a call. `name` is plain: "sub_group_shuffle_xor". Null, with a diagnostic, when the module has something else
// under the mangled name. The result is a null value when `result` is null, which means that there is none.
mlir::FailureOr<mlir::Value> EmitBuiltin(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name,
                                         mlir::Type result, mlir::ValueRange args, Effect effect,
                                         bool is_signed = false);

// The mangled name for parameters of these LLVM types, with integers as `is_signed` says. Empty for other types.
std::string MangledName(llvm::StringRef name, mlir::TypeRange parameters, bool is_signed = false);

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_BUILTINS_H_
