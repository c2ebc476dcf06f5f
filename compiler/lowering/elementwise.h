// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LOWERING_ELEMENTWISE_H_
#define COMPILER_LOWERING_ELEMENTWISE_H_

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler {

// One result from one element of each operand. Failure: a diagnostic has been emitted.
using ElementFn = llvm::function_ref<mlir::FailureOr<mlir::Value>(ValueList operands)>;

// Lowers an operation of one result that acts on each element alone: `emit` is called once for each distinct tuple of
// operand values. Registers that hold one value (splats, broadcasts) share its result.
mlir::LogicalResult LowerPerElement(FunctionLowering& f, mlir::Operation* op, ElementFn emit);

// Values of bf16 and f16 as f32, where the device has the function for f32 only, and the result back to `type`.
mlir::Value ExtendToF32(Emitter& e, mlir::Value x);
mlir::Value TruncFromF32(Emitter& e, mlir::Value x, mlir::Type type);

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_ELEMENTWISE_H_
