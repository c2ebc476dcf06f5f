// SPDX-License-Identifier: Apache-2.0
// What dots of matrices have in common, whether or not their operands come with scales.
#ifndef COMPILER_IR_DOT_INTERFACE_TD_
#define COMPILER_IR_DOT_INTERFACE_TD_

include "mlir/IR/OpBase.td"

def TT_DotOpInterface : OpInterface<"DotOpInterface"> {
  let cppNamespace = "::tritond::tt";
  let description = [{d = a * b + c over matrices, or batches of matrices, with tensors as operands.}];
  let methods = [InterfaceMethod<"The left operand.", "::mlir::Value", "getA">,
      InterfaceMethod<"The right operand.", "::mlir::Value", "getB">,
      InterfaceMethod<"The accumulators before.", "::mlir::Value", "getC">,
      InterfaceMethod<"The accumulators after, of the type of those before.", "::mlir::Value", "getD">,
      InterfaceMethod<"What is multiplied: a, b, and the scales of those that have some.",
      "::llvm::SmallVector<::mlir::OpOperand *>", "Inputs">];
}

#endif  // COMPILER_IR_DOT_INTERFACE_TD_
