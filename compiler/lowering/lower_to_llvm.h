// SPDX-License-Identifier: Apache-2.0
// The door of lowering: a ttg module becomes an LLVM dialect module.
#ifndef COMPILER_LOWERING_LOWER_TO_LLVM_H_
#define COMPILER_LOWERING_LOWER_TO_LLVM_H_

#include "compiler/lowering/target_ops.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritond::compiler {

struct LoweringOptions {
  bool global_scratch = true;  // kernels take these hidden pointer parameters, in this order, after their own
  bool profile_scratch = true;
  // Locations of operations are places in the source program. Otherwise they are places in the IR's text, which must
  // not reach the code: it would differ with the spelling of the same kernel.
  bool source_locations = false;
  bool debug = false;     // tt.assert acts
  bool fp_fusion = true;  // a * b + c may become one rounding
};

// Name of the shared memory symbol (external, zero-sized, address space 3); its size is in ttg.shared.
inline constexpr llvm::StringLiteral kSharedMemorySymbol = "global_smem";
// Unit attribute on the llvm.func of a kernel (as opposed to a device function).
inline constexpr llvm::StringLiteral kKernelAttr = "tritond.kernel";
// Attribute there: the registers that a thread has when the kernel starts, in decimal digits. Absent: as many as it
// needs.
inline constexpr llvm::StringLiteral kEntryRegistersAttr = "tritond.registers";
// Attribute there: the bytes of shared memory that a block of the kernel has, in decimal digits.
inline constexpr llvm::StringLiteral kSharedBytesAttr = "tritond.shared";
// Attribute there: the numbers of parameters that have tt.pointer_range = 32, in decimal digits with commas between.
inline constexpr llvm::StringLiteral kSmallBuffersAttr = "tritond.small_buffers";

// Replaces every tt.func of `module` by an llvm.func. Expects cf control flow (no scf), shared memory allocated and
// barriers placed. The module keeps its ttg.* attributes. Failure: a diagnostic at the operation that has no lowering;
// `module` is then half lowered and must be dropped.
mlir::LogicalResult LowerToLlvm(mlir::ModuleOp module, const TargetOps& target, const LoweringOptions& options);

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_LOWER_TO_LLVM_H_
