// SPDX-License-Identifier: Apache-2.0
// Small emitters of LLVM dialect operations that targets share.
#ifndef COMPILER_TARGETS_LLVM_EMITTERS_H_
#define COMPILER_TARGETS_LLVM_EMITTERS_H_

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritond::compiler {

// A call of the LLVM intrinsic `name`; null when `result` is null, which means that it has none.
mlir::Value EmitIntrinsic(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, mlir::Type result,
                          mlir::ValueRange args);

mlir::Value EmitI32(mlir::OpBuilder& b, mlir::Location loc, int64_t value);

// The bits of a value of this type: an integer, a float or a pointer, which has 64; 0 for any other.
int BitsOf(mlir::Type type);
// Such a value as the integer of its width, and back.
mlir::Value ToInteger(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value);
mlir::Value FromInteger(mlir::OpBuilder& b, mlir::Location loc, mlir::Type type, mlir::Value value);

// Inline assembly in LLVM's form, as TargetOps::InlineAsm has it. Failure: a diagnostic, where the constraints are not
// those of the operands and results.
mlir::FailureOr<mlir::Value> EmitInlineAssembly(mlir::OpBuilder& b, mlir::Location loc, mlir::Type result,
                                                mlir::ValueRange args, llvm::StringRef text,
                                                llvm::StringRef constraints, bool has_side_effects);

// The function `name`, declared in the module around the builder's insertion point if it is not there yet. Null when
// the module has something else of that name.
mlir::LLVM::LLVMFuncOp DeclareFunction(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name,
                                       mlir::LLVM::LLVMFunctionType type);

// A pointer (address space 0) to a constant with the bytes of `text` and a final zero; one constant a text and module.
mlir::Value EmitString(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef text);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_LLVM_EMITTERS_H_
