// SPDX-License-Identifier: Apache-2.0
// Where the buffers of ttg.global_scratch_alloc lie in the global scratch memory of a program.
#ifndef COMPILER_ANALYSIS_GLOBAL_SCRATCH_H_
#define COMPILER_ANALYSIS_GLOBAL_SCRATCH_H_

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace tritond::compiler {

// i32 attribute: a byte offset from the beginning of its function's frame in global scratch. A ttg.global_scratch_alloc
// lies there, or the callee's frame for a tt.call. Absent where nothing is needed.
inline constexpr llvm::StringLiteral kGlobalScratchOffsetAttr = "ttg.global_scratch_memory_offset";
// i32 attributes of the module: what one program needs, and its alignment; of a function: its frame. Absent when zero.
inline constexpr llvm::StringLiteral kGlobalScratchSizeAttr = "ttg.global_scratch_memory_size";
inline constexpr llvm::StringLiteral kGlobalScratchAlignmentAttr = "ttg.global_scratch_memory_alignment";

// Sets these attributes. The frames of called functions are part of their callers', each call has one of its own.
// Failure, with a diagnostic: functions that call themselves, memory that another program allocates, frames too large.
mlir::LogicalResult AllocateGlobalScratch(mlir::ModuleOp module);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_GLOBAL_SCRATCH_H_
