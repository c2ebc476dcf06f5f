// SPDX-License-Identifier: Apache-2.0
// Atomic operations of Triton as LLVM dialect operations, for targets whose back ends take LLVM's own.
#ifndef COMPILER_TARGETS_LLVM_ATOMICS_H_
#define COMPILER_TARGETS_LLVM_ATOMICS_H_

#include <optional>

#include "compiler/ir/tt_dialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tritond::compiler {

// The operation on values of `type`, an integer or a float; nullopt: LLVM has none.
std::optional<mlir::LLVM::AtomicBinOp> BinOp(tt::RmwOp op, mlir::Type type);

mlir::LLVM::AtomicOrdering OrderingOf(tt::MemSemantic semantic);
// What a compare-and-swap that fails may be: a load.
mlir::LLVM::AtomicOrdering FailureOrderingOf(tt::MemSemantic semantic);

// Whether values of so many bits have atomic operations.
bool IsAtomicWidth(int bits);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_LLVM_ATOMICS_H_
