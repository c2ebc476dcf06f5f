// SPDX-License-Identifier: Apache-2.0
// The surfaces that the functions for blocks take: how a part of a matrix lies in memory.
#ifndef COMPILER_TARGETS_INTEL_BLOCK_SURFACES_H_
#define COMPILER_TARGETS_INTEL_BLOCK_SURFACES_H_

#include <map>

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler::intel {

// A matrix as the operations of the ttig dialect describe it (ttig_ops.td).
struct BlockMatrix {
  mlir::Value base, pitch;  // a pointer, and i64 elements
  llvm::SmallVector<mlir::Value, 2> limits;
  unsigned contiguous = 0;
  mlir::Value exists;  // i1 of the LLVM dialect; null: always
  int bytes = 1;       // of an element
};

// Of the blocks that begin in one column.
struct Surface {
  mlir::Value base, width;  // width and first_byte in bytes
  mlir::Value first_byte;   // of the blocks in each row
};

// The surfaces of a part of `rows` rows that begins at an element. All values are i32, the same in all lanes of a warp.
// Used while one function is lowered.
class BlockSurfaces final {
 public:
  BlockSurfaces(FunctionLowering& f, const BlockMatrix& matrix, mlir::Value row, mlir::Value column, int rows);

  // For blocks of `columns` elements that begin `column` elements after the part.
  const Surface& At(int column, int columns);

  // Calls `function`, as it is mangled, for the block that begins at row `row` and at the surface's first byte, which
  // is element `x`. `words` points to where a read puts what it reads; null: it is a prefetch. Does nothing, with a
  // diagnostic, where the module has something else under that name.
  void Call(const std::string& function, const Surface& surface, mlir::Value x, int row, mlir::Value words);

 private:
  bool IsCut() const { return !matrix_.limits.empty() || matrix_.exists; }
  mlir::Value Below(unsigned dim, mlir::Value first, int most);
  mlir::LLVM::LLVMFuncOp Declare(const std::string& function, bool writes);

  Emitter& e_;
  FunctionLowering& f_;
  const BlockMatrix matrix_;
  mlir::Value first_, column_, pitch_bytes_;  // of the part
  mlir::Value rows_, height_;
  std::map<std::pair<int, int>, Surface> surfaces_;
};

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_BLOCK_SURFACES_H_
