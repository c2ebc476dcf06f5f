// SPDX-License-Identifier: Apache-2.0
// Pieces from which encodings build their linear layouts.
#ifndef COMPILER_IR_LAYOUT_BLOCKS_H_
#define COMPILER_IR_LAYOUT_BLOCKS_H_

#include <string>

#include "compiler/ir/ttg_dialect.h"

namespace tritond::ttg {

// No bits yet, but register, lane, warp and block, and all the dimensions in their order.
compiler::LinearLayout EmptyLayout(llvm::ArrayRef<std::string> dims);
// rank - 1, …, 0.
llvm::SmallVector<unsigned> RowMajor(unsigned rank);
// Lanes or warps along `dim`, or copies of each element across them.
compiler::LinearLayout Spread(unsigned count, llvm::StringRef in, const std::string& dim, bool copies);
// Fits the tile of one block to `shape`: the part of the tensor that a block has is the shape divided by `cga`. There,
// more registers cover what is missing, in `order`, and bases that lead outside become zero. Then come the blocks.
compiler::LinearLayout FitToShape(compiler::LinearLayout layout, llvm::ArrayRef<int64_t> shape,
                                  llvm::ArrayRef<unsigned> order, const compiler::LinearLayout& cga);
// `cga` on a tensor of `shape`, which may have fewer elements than the cluster has blocks.
compiler::LinearLayout FitCga(const compiler::LinearLayout& cga, llvm::ArrayRef<int64_t> shape);
// Blocks that lie along `dim` hold copies instead.
compiler::LinearLayout WithoutSplit(const compiler::LinearLayout& cga, unsigned dim);

// Operand `operand` of a dot, by its parent.
compiler::LinearLayout MatrixOperandLayout(DotOperandEncodingAttr operand, llvm::ArrayRef<int64_t> shape);

}  // namespace tritond::ttg

#endif  // COMPILER_IR_LAYOUT_BLOCKS_H_
