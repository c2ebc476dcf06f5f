// SPDX-License-Identifier: Apache-2.0
// The order in which a persistent kernel's copies go on from tile to tile.
#ifndef COMPILER_TARGETS_NVIDIA_TILE_COPIES_H_
#define COMPILER_TARGETS_NVIDIA_TILE_COPIES_H_

#include <optional>

#include "compiler/ir/named_block.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace tritond::compiler {

// Blocks that are copied at once.
using CopiedBlocks = llvm::SmallVector<NamedBlock>;

// Counts the copies of a loop of dots that lies in a loop over tiles and has as many iterations in each. The copies are
// ahead of the dots, maybe in a tile after theirs.
class TileCopies final {
 public:
  // Where the copies are: the tile, its iteration, and the values that the tile's number decides.
  using State = llvm::SmallVector<mlir::Value>;
  struct Copies {
    mlir::Value acts;  // i1: there are any
    State at, next;
  };

  // An iteration of `dots` copies `body`, as many iterations ahead as there are `firsts`, which are copied in front of
  // it. Nothing where it is in no loop over tiles, or what another tile's copies read cannot be told.
  static std::optional<TileCopies> Find(mlir::scf::ForOp dots, const CopiedBlocks& body,
                                        llvm::ArrayRef<CopiedBlocks> firsts);

  mlir::scf::ForOp Tiles() const { return tiles_; }
  // Lets that loop carry more values, and returns them as its body has them. What it yields of them is set later.
  mlir::ValueRange Carry(mlir::RewriterBase& b, mlir::ValueRange inits);

  // At the first tile's first copies.
  State Begin(mlir::OpBuilder& b);
  // The copies at `at`.
  Copies CopiesAt(mlir::OpBuilder& b, State at);
  // What the block of this number is copied from, as the first warp has it. `in_dots`: in the loop of dots.
  llvm::SmallVector<mlir::Value> Coordinates(mlir::OpBuilder& b, size_t block, const State& at, bool in_dots);

 private:
  // The counter of the loop of dots, whose bounds are the same in all tiles.
  struct Counter {
    mlir::Value first, end, step;
    bool is_unsigned = false;
  };

  TileCopies(mlir::scf::ForOp tiles, Counter dots) : tiles_(tiles), dots_(dots) {}
  bool FindTileValues(mlir::Value coordinate);
  bool DependsOnTile(mlir::Value value);
  mlir::Value InTile(mlir::OpBuilder& b, mlir::Value value, mlir::IRMapping& values);
  mlir::Value ValueAt(mlir::Value value, const State& at);

  mlir::scf::ForOp tiles_;
  Counter dots_;
  CopiedBlocks body_;
  llvm::SmallVector<CopiedBlocks> firsts_;
  llvm::SetVector<mlir::Value> tile_values_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_TILE_COPIES_H_
