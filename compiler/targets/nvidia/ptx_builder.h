// SPDX-License-Identifier: Apache-2.0
// Small emitters of LLVM dialect operations that the files of this folder share: intrinsics and inline PTX.
#ifndef COMPILER_TARGETS_NVIDIA_PTX_BUILDER_H_
#define COMPILER_TARGETS_NVIDIA_PTX_BUILDER_H_

#include <string>

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritond::compiler::nvidia {

// A call of the LLVM intrinsic `name`; null when `result` is null, which means that it has none.
mlir::Value EmitIntrinsic(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, mlir::Type result,
                          mlir::ValueRange args);

mlir::Value EmitI32(mlir::OpBuilder& b, mlir::Location loc, int64_t value);

// One inline PTX statement under construction. Outputs come first, then inputs in the order they are added; each Add
// returns the operand's place in the text, "$0", "$1", …
class PtxBuilder {
 public:
  PtxBuilder(mlir::OpBuilder& b, mlir::Location loc) : b_(b), loc_(loc) {}

  // Before any input. `type` is i16, i32, i64, f32 or f64.
  std::string AddOutput(mlir::Type type);
  std::string AddInput(mlir::Value value);
  // `value` (an i1) is in a predicate register.
  std::string AddPredicate(mlir::Value value);
  // The register of output `index` holds `value` when the statement starts.
  void TieOutput(int index, mlir::Value value);

  // One value for each output. `touches_memory`: the statement is kept, and in order with other accesses.
  llvm::SmallVector<mlir::Value> Emit(llvm::StringRef text, bool touches_memory);

 private:
  std::string Add(mlir::Value value, std::string constraint);

  mlir::OpBuilder& b_;
  mlir::Location loc_;
  llvm::SmallVector<mlir::Type> outputs_;
  llvm::SmallVector<mlir::Value> inputs_;
  std::string constraints_;
};

// The letter of LLVM's NVPTX back end for a register of `type`.
char RegisterConstraint(mlir::Type type);

// The function `name`, declared in the module around the builder's insertion point if it is not there yet. Null when
// the module has something else of that name.
mlir::LLVM::LLVMFuncOp DeclareFunction(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name,
                                       mlir::LLVM::LLVMFunctionType type);

// A pointer (address space 0) to a constant with the bytes of `text` and a final zero; one constant a text and module.
mlir::Value EmitString(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef text);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_PTX_BUILDER_H_
