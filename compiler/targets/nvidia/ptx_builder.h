// SPDX-License-Identifier: Apache-2.0
// Inline PTX, as an operation of the LLVM dialect.
#ifndef COMPILER_TARGETS_NVIDIA_PTX_BUILDER_H_
#define COMPILER_TARGETS_NVIDIA_PTX_BUILDER_H_

#include <string>

#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler::nvidia {

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
  std::string Constraints(llvm::StringRef text) const;

  mlir::OpBuilder& b_;
  mlir::Location loc_;
  llvm::SmallVector<mlir::Type> outputs_;
  llvm::SmallVector<mlir::Value> inputs_;
  std::string constraints_;
};

// Packs elements of 8, 16 or 32 bits into words (i32), the first one lowest.
llvm::SmallVector<mlir::Value> Words(mlir::OpBuilder& b, mlir::Location loc, mlir::ValueRange elements);

// The elements of `type` (8, 16 or 32 bits) that lie in words so.
llvm::SmallVector<mlir::Value> ElementsOfWords(mlir::OpBuilder& b, mlir::Location loc, mlir::ValueRange words,
                                               mlir::Type type);

// The letter of LLVM's NVPTX back end for a register of `type`.
char RegisterConstraint(mlir::Type type);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_PTX_BUILDER_H_
