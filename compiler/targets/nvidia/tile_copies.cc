// SPDX-License-Identifier: Apache-2.0
// A persistent kernel has a loop over tiles around that of the dots. While the last dots of a tile and its stores go
// on, memory would stand still. So the copies go on with the next tile: they have a counter of their own.
//
//   scf.for %tile = %first to %end step %step {        %t, %k = %first, 0; the first copies, as in the loop
//     %row = f(%tile)                                  scf.for %tile … iter_args(%t, %k, %row') {
//     copy [%row, 0], copy [%row, 64]                    scf.for %i = 0 to %n … iter_args(%t, %k, %row') {
//     scf.for %i = 0 to %n {                       ->      %row'' = scf.if (%k == 0) { f(%t) } else { %row' }
//       copy [%row, (%i + 2) * 64]                         copy [%row'', %k == 0 ? 0 : %k == 1 ? 64 : (%i + 2) * 64]
//       dots                                                   where %t < %end
//     }                                                    dots
//     the tile's stores                                    (%t, %k) advance: %k + 1, or 0 of %t + %step
//   }                                                    }
//                                                        the tile's stores
//                                                      }
//
// An iteration of another number than the first ones is copied while the dots are in the same tile: the copies are as
// many iterations ahead as there are first ones. So its coordinates are those that the loop computes anyway. Where a
// tile has fewer iterations than that, the copies are more than one tile ahead, and none is of that kind.
//
// The kernel does not write to what bulk copies read (bulk_copies.cc), so they may come before a tile's stores. Nor
// does it hear there of other programs, which may have written the next tile's operands.
#include "compiler/targets/nvidia/tile_copies.h"

#include "compiler/ir/ttg_dialect.h"
#include "compiler/targets/nvidia/named_blocks.h"
#include "compiler/targets/nvidia/slot_barriers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;

Value IsLess(OpBuilder& b, Location loc, Value a, Value b_value, bool is_unsigned) {
  return arith::CmpIOp::create(b, loc, is_unsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, a, b_value);
}

Value IsEqual(OpBuilder& b, Location loc, Value a, Value b_value) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, a, b_value);
}

// Whether the condition says that the loop has an iteration for the copy.
bool IsOfCounter(Value condition, ForOp loop) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  return compare && compare.getLhs() == loop.getInductionVar() && loop.isDefinedOutsideOfLoop(compare.getRhs());
}

}  // namespace

std::optional<TileCopies> TileCopies::Find(ForOp dots, const CopiedBlocks& body, llvm::ArrayRef<CopiedBlocks> firsts) {
  auto tiles = llvm::dyn_cast<ForOp>(dots->getParentOp());
  if (!tiles || firsts.empty()) return std::nullopt;
  for (Value bound : {dots.getLowerBound(), dots.getUpperBound(), dots.getStep()})
    if (!tiles.isDefinedOutsideOfLoop(bound)) return std::nullopt;
  auto heard = tiles->walk(
      [](Operation* op) { return MayHearOfOthers(op) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance(); });
  if (heard.wasInterrupted()) return std::nullopt;
  TileCopies copies(tiles, {dots.getLowerBound(), dots.getUpperBound(), dots.getStep(), dots.getUnsignedCmp()});
  copies.body_ = body;
  copies.firsts_.assign(firsts.begin(), firsts.end());
  for (NamedBlock& block : copies.body_)
    if (block.conditions.size() != 1 || !IsOfCounter(block.conditions[0], dots)) return std::nullopt;
  for (CopiedBlocks& first : copies.firsts_)
    for (NamedBlock& block : first)
      for (Value coordinate : block.block.getIndices())
        if (!copies.FindTileValues(coordinate)) return std::nullopt;
  return copies;
}

// Whether another tile's `coordinate` can be computed. If so, it is one of those that the loop carries.
bool TileCopies::FindTileValues(Value coordinate) {
  if (tiles_.isDefinedOutsideOfLoop(coordinate)) return true;
  if (!DependsOnTile(coordinate)) return false;
  tile_values_.insert(coordinate);
  return true;
}

// And on nothing else of the loop over tiles, in front of the loop of dots.
bool TileCopies::DependsOnTile(Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    if (tiles_.isDefinedOutsideOfLoop(values[i]) || values[i] == tiles_.getInductionVar()) continue;
    Operation* op = values[i].getDefiningOp();
    if (!op || op->getBlock() != tiles_.getBody() || op->getNumRegions() > 0 || !mlir::isMemoryEffectFree(op))
      return false;
    values.insert(op->operand_begin(), op->operand_end());
  }
  return true;
}

mlir::ValueRange TileCopies::Carry(mlir::RewriterBase& b, mlir::ValueRange inits) {
  b.setInsertionPoint(tiles_);
  const Value number = tiles_.getInductionVar();
  auto yields = [](OpBuilder&, Location, llvm::ArrayRef<mlir::BlockArgument> arguments) {
    return llvm::SmallVector<Value>(arguments.begin(), arguments.end());
  };
  tiles_ = llvm::cast<ForOp>(
      (*tiles_.replaceWithAdditionalYields(b, inits, /*replaceInitOperandUsesInLoop=*/false, yields)).getOperation());
  // A coordinate may be the tile's number itself, which the new loop has another value for.
  llvm::SetVector<Value> values;
  for (Value value : tile_values_) values.insert(value == number ? tiles_.getInductionVar() : value);
  tile_values_ = std::move(values);
  return tiles_.getRegionIterArgs().take_back(inits.size());
}

TileCopies::State TileCopies::Begin(OpBuilder& b) {
  State state = {tiles_.getLowerBound(), dots_.first};
  // Read by nobody before they are computed.
  for (Value value : tile_values_)
    state.push_back(arith::ConstantOp::create(b, tiles_.getLoc(), b.getZeroAttr(value.getType())));
  return state;
}

// `value` in another tile, whose number `values` has.
Value TileCopies::InTile(OpBuilder& b, Value value, mlir::IRMapping& values) {
  if (tiles_.isDefinedOutsideOfLoop(value)) return value;
  if (Value known = values.lookupOrNull(value)) return known;
  Operation* op = value.getDefiningOp();
  for (Value operand : op->getOperands()) InTile(b, operand, values);
  b.clone(*op, values);
  return values.lookup(value);
}

TileCopies::Copies TileCopies::CopiesAt(OpBuilder& b, State at) {
  Location loc = tiles_.getLoc();
  Value tile = at[0], iteration = at[1];
  const Value is_tile = IsLess(b, loc, tile, tiles_.getUpperBound(), tiles_.getUnsignedCmp());
  const Value runs = IsLess(b, loc, dots_.first, dots_.end, dots_.is_unsigned);
  const Value acts = arith::AndIOp::create(b, loc, is_tile, runs);
  if (!tile_values_.empty()) {
    Value begins = arith::AndIOp::create(b, loc, acts, IsEqual(b, loc, iteration, dots_.first));
    // The warp that copies.
    Value copies = Equals(b, loc, ttg::WarpIdOp::create(b, loc, b.getI32Type(), nullptr), 0);
    begins = arith::AndIOp::create(b, loc, begins, copies);
    auto computed = [&](OpBuilder& inner, Location) {
      mlir::IRMapping values;
      values.map(tiles_.getInductionVar(), tile);
      llvm::SmallVector<Value> results;
      for (Value value : tile_values_) results.push_back(InTile(inner, value, values));
      mlir::scf::YieldOp::create(inner, loc, results);
    };
    auto carried = [&](OpBuilder& inner, Location) {
      mlir::scf::YieldOp::create(inner, loc, llvm::ArrayRef<Value>(at).drop_front(2));
    };
    auto branch = mlir::scf::IfOp::create(b, loc, begins, computed, carried);
    llvm::copy(branch.getResults(), at.begin() + 2);
  }
  State next = at;
  Value following = arith::AddIOp::create(b, loc, iteration, dots_.step);
  Value goes_on = IsLess(b, loc, following, dots_.end, dots_.is_unsigned);
  next[1] = arith::SelectOp::create(b, loc, goes_on, following, dots_.first);
  Value next_tile = arith::AddIOp::create(b, loc, tile, tiles_.getStep());
  Value stays = arith::SelectOp::create(b, loc, is_tile, next_tile, tile);
  next[0] = arith::SelectOp::create(b, loc, goes_on, tile, stays);
  return {acts, std::move(at), std::move(next)};
}

Value TileCopies::ValueAt(Value value, const State& at) {
  auto found = llvm::find(tile_values_, value);
  return found == tile_values_.end() ? value : at[2 + (found - tile_values_.begin())];
}

llvm::SmallVector<Value> TileCopies::Coordinates(OpBuilder& b, size_t block, const State& at, bool in_dots) {
  Location loc = tiles_.getLoc();
  llvm::SmallVector<Value> coordinates(in_dots ? body_[block].block.getIndices()
                                               : firsts_.back()[block].block.getIndices());
  for (auto [dim, coordinate] : llvm::enumerate(coordinates)) coordinate = ValueAt(coordinate, at);
  for (size_t fill = firsts_.size(); fill-- > 0;) {
    Value number = dots_.first;
    for (size_t i = 0; i < fill; ++i) number = arith::AddIOp::create(b, loc, number, dots_.step);
    Value is_this;
    for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
      Value of_first = ValueAt(firsts_[fill][block].block.getIndices()[dim], at);
      if (of_first == coordinate) continue;
      if (!is_this) is_this = IsEqual(b, loc, at[1], number);
      coordinate = arith::SelectOp::create(b, loc, is_this, of_first, coordinate);
    }
  }
  return coordinates;
}

}  // namespace tritond::compiler
