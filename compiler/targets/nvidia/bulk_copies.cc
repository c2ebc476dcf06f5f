// SPDX-License-Identifier: Apache-2.0
// Copies of a pipelined loop by tensor maps. One thread starts the copy of a whole block; the mbarrier of the slot that
// it fills takes its bytes. So no thread computes addresses, and warps wait for each other no more: each for the slot
// that it reads, and the one that copies for the slot that all have read.
//
//                                                  %full = ttg.local_alloc, ttng.init_barrier of each slot, 1
//                                                  %empty = …, ttng.init_barrier of each slot, number of warps
//   scf.for … iter_args(%u = %g0, %slot = …) {     scf.for … iter_args(%slot = …, %phase = 0) {
//     ttg.async_wait %u                              ttng.wait_barrier %full[%read], %phase
//     (a barrier)                                    ttng.wait_barrier %empty[%read - 1], …     // the first warp
//     ttg.async_copy_global_to_local %p,        ->   ttng.barrier_expect %full[%slot], bytes
//         %bufs[%slot] mask (tt.block_mask …)        ttng.async_tma_copy_global_to_local %map[…] %bufs[%slot],
//     %g = ttg.async_commit_group                        %full[%slot]
//     ttng.warp_group_dot %bufs[%read]               ttng.warp_group_dot %bufs[%read]
//     …                                              ttng.arrive_barrier_by_warps %empty[%read]
//     scf.yield %g                                   scf.yield %phase ^ (%read is the last slot)
//   }                                              }
//
// %read is the slot that was filled `distance` iterations before. Slots are filled one after the other, the first ones
// in front of the loop, so a slot's phase is the parity of the turns of the ring. The wait for %empty of the iteration
// before is, in the first iteration, one for a phase that a new mbarrier takes to be over. A warp that has arrived at a
// slot of %empty cannot come there again before all have: between lies a copy that waits for that, as there are more
// slots than `distance`.
//
// Where a read goes on until the next iteration is about to copy to its slot, warps arrive there, at %empty[%read], and
// the first one waits for the others at once.
//
// Where the loop has no iteration left for a copy, it is not made, but its slot's phase ends all the same. So waits
// need no condition. There is one wherever the threads waited for copies: also in front of the loop, and behind it for
// what the last iteration does there.
//
// Where the loop lies in one over tiles, its last iterations may copy for the next tile (tile_copies.cc). Then both
// loops carry slots and phases, mbarriers are made in front of the outer one, and a copy that is not made ends no
// phase: it is one past the last tile.
//
// The tensors may be written by the kernel itself where nothing is known of their pointers. Then all writes lie before
// the first copy or after the loop, and in front of the first copy each thread makes its own known to the path that
// bulk copies take (ttng.fence_async_global), and all meet. After the loop all copies have ended.
#include "compiler/targets/nvidia/bulk_copies.h"

#include "compiler/analysis/barriers.h"
#include "compiler/targets/nvidia/tensor_boxes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::BlockArgument;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;

void SetOrdered(Operation* op) { op->setAttr(kOrderedAttr, mlir::UnitAttr::get(op->getContext())); }

// The bulk copy to `buffer` in place of `copy`, of what is at `coordinates`.
void MakeCopy(mlir::OpBuilder& b, BlockCopy copy, mlir::ValueRange coordinates, Value buffer, Value barrier, Value acts,
              const TensorMapMaker& maps) {
  auto alloc = IndexOf(copy).getSrc().getDefiningOp<ttg::LocalAllocOp>();
  const int64_t alignment = ttng::BoxAlignment(ttng::SwizzleBytesOf(CopiedBlockOf(copy).buffer));
  if (ttg::AlignmentOf(alloc.getType()) < alignment) alloc.setAlignment(static_cast<uint32_t>(alignment));
  Value map = maps.MapFor(CopiedBlockOf(copy));
  const llvm::SmallVector<Value> at = maps.CoordinatesFor(b, CopiedBlockOf(copy), coordinates);
  SetOrdered(ttng::AsyncTMACopyGlobalToLocalOp::create(b, copy.copy.getLoc(), map, at, buffer, barrier, acts,
                                                       /*multicast=*/false));
}

// The bulk copies of one slot, in place of `copies`, which are in one block and made under the same conditions.
void MakeCopies(llvm::ArrayRef<BlockCopy> copies, const SlotBarriers& full, const TensorMapMaker& maps) {
  mlir::OpBuilder b(copies.front().copy);
  mlir::Location loc = copies.front().copy->getLoc();
  Value yes = arith::ConstantIntOp::create(b, loc, 1, 1), acts = yes;
  for (Value condition : copies.front().conditions) acts = arith::AndIOp::create(b, loc, acts, condition);
  Value barrier = full.At(b, loc, IndexOf(copies.front()).getIndex());
  SetOrdered(ttng::BarrierExpectOp::create(b, loc, barrier, static_cast<int>(BytesOf(copies)), acts, nullptr));
  if (!copies.front().conditions.empty())
    SetOrdered(ttng::ArriveBarrierOp::create(b, loc, barrier, 1, arith::XOrIOp::create(b, loc, acts, yes), nullptr, 0));
  for (BlockCopy copy : copies) {
    b.setInsertionPoint(copy.copy);
    MakeCopy(b, copy, copy.block.getIndices(), copy.copy.getResult(), barrier, acts, maps);
  }
}

// Erases `copy`, and its group if there is no other in it.
void Erase(ttg::AsyncCopyGlobalToLocalOp copy, Value no_token) {
  llvm::SmallVector<Operation*> users(copy.getToken().getUsers());
  copy.getToken().replaceAllUsesWith(no_token);
  copy.erase();
  for (Operation* user : users) {
    auto commit = llvm::dyn_cast<ttg::AsyncCommitGroupOp>(user);
    if (!commit || llvm::any_of(commit.getInputTokens(), [&](Value token) { return token != no_token; })) continue;
    commit.getToken().replaceAllUsesWith(no_token);
    commit.erase();
  }
}

}  // namespace

void BulkCopies::Apply(TensorMapMaker& maps) {
  tt::FuncOp function = loop_->getParentOfType<tt::FuncOp>();
  MakeMaps(maps);
  mlir::IRRewriter b(tiles_ ? tiles_->Tiles().getOperation() : Begin());
  Value no_token = ttg::AsyncCommitGroupOp::create(b, loop_.getLoc(), mlir::ValueRange());
  if (follows_writes_) {
    ttng::FenceAsyncGlobalOp::create(b, loop_.getLoc());
    ttg::BarrierOp::create(b, loop_.getLoc(), "all");
  }
  MakeBarriers(b);
  llvm::SmallVector<Value> inits = FirstPhases(b);
  if (tiles_) inits = CarryFromTileToTile(b, inits, maps);
  CarryPhases(b, inits);
  WaitForCopies(b);
  WaitForReads(b);
  WaitBehindLoop(b);
  ReplaceCopies(maps);
  WaitBeforeLoop(b);
  EraseCopies(b, no_token);
  EraseDead(function);
}

// The first of the copies in front of the loop; without one, the loop.
Operation* BulkCopies::Begin() {
  Operation* begin = loop_;
  for (const CopyRing& ring : rings_)
    for (const BlockCopy& first : ring.firsts)
      if (first.copy->isBeforeInBlock(begin)) begin = ttg::AsyncCopyGlobalToLocalOp(first.copy);
  return begin;
}

// The first one of the body.
Operation* BulkCopies::FirstCopy() {
  Operation* first = rings_.front().copies.front().copy;
  for (const CopyRing& ring : rings_)
    if (ring.copies.front().copy->isBeforeInBlock(first))
      first = ttg::AsyncCopyGlobalToLocalOp(ring.copies.front().copy);
  return first;
}

void BulkCopies::MakeBarriers(mlir::OpBuilder& b) {
  for (const CopyRing& ring : rings_) full_.emplace_back(b, loop_.getLoc(), ring.slots, 1);
  empty_.emplace(b, loop_.getLoc(), rings_.front().slots, ttg::NumWarps(loop_));
}

llvm::SmallVector<Value> BulkCopies::FirstPhases(mlir::OpBuilder& b) {
  mlir::Location loc = loop_.getLoc();
  llvm::SmallVector<Value> phases(rings_.size(), arith::ConstantIntOp::create(b, loc, 0, 32));
  if (HasTurn()) phases.push_back(arith::ConstantIntOp::create(b, loc, arrival_ ? 1 : 0, 32));
  return phases;
}

// The first copies of the first tile, in front of the loop over tiles. From there on it carries what the loop of dots
// does, `phases` and the place of the copies: returns these.
llvm::SmallVector<Value> BulkCopies::CarryFromTileToTile(mlir::RewriterBase& b, llvm::ArrayRef<Value> phases,
                                                         const TensorMapMaker& maps) {
  mlir::Location loc = loop_.getLoc();
  CopyRing& ring = rings_.front();
  for (const BlockCopy& copy : ring.copies) {
    Value buffer = IndexOf(copy).getSrc();
    if (!tiles_->Tiles().isDefinedOutsideOfLoop(buffer)) b.moveOpBefore(buffer.getDefiningOp(), tiles_->Tiles());
    for (Operation* user : llvm::to_vector(buffer.getUsers()))
      if (llvm::isa<ttg::LocalDeallocOp>(user)) b.moveOpAfter(user, tiles_->Tiles());
  }
  b.setInsertionPoint(tiles_->Tiles());
  TileCopies::State state = tiles_->Begin(b);
  for (int64_t fill = 0; fill < ring.fills; ++fill) {
    TileCopies::Copies copies = tiles_->CopiesAt(b, state);
    Value slot = arith::ConstantIntOp::create(b, loc, (ring.first_slot + fill) % ring.slots, 32);
    Value barrier = full_.front().At(b, loc, slot);
    const auto bytes = static_cast<int>(BytesOf(ring.copies));
    SetOrdered(ttng::BarrierExpectOp::create(b, loc, barrier, bytes, copies.acts, nullptr));
    for (auto [i, copy] : llvm::enumerate(ring.copies)) {
      ttg::MemDescIndexOp view = IndexOf(copy);
      Value buffer = ttg::MemDescIndexOp::create(b, loc, view.getType(), view.getSrc(), slot);
      MakeCopy(b, copy, tiles_->Coordinates(b, i, copies.at, /*in_dots=*/false), buffer, barrier, copies.acts, maps);
    }
    state = copies.next;
  }
  mlir::OpOperand* slot = loop_.getTiedLoopInit(ring.slot);
  llvm::SmallVector<Value> inits = {slot->get()};
  llvm::append_range(inits, phases);
  llvm::append_range(inits, state);
  mlir::ValueRange carried = tiles_->Carry(b, inits);
  loop_.getInitArgsMutable()[ring.slot.getArgNumber() - loop_.getNumInductionVars()].set(carried[0]);
  return llvm::to_vector(carried.drop_front());
}

// The slots that an iteration reads, and their phases. The phase in which all have read what the iteration before did
// follows from that of the slot where the loop reads the ring's slots from the first one on.
void BulkCopies::CarryPhases(mlir::RewriterBase& b, llvm::ArrayRef<Value> inits) {
  b.setInsertionPoint(loop_);
  llvm::SmallVector<unsigned> arguments_of_slots;
  for (const CopyRing& ring : rings_) arguments_of_slots.push_back(ring.slot.getArgNumber());
  auto yields = [&](mlir::OpBuilder& inner, mlir::Location at, llvm::ArrayRef<BlockArgument> arguments) {
    mlir::OpBuilder before(wait_);
    llvm::SmallVector<Value> next;
    for (auto [ring, phase] : llvm::zip(rings_, arguments)) {
      Value slot = Advanced(before, at, ring.slot, ring.ahead + ring.slots - distance_, ring.slots);
      // The argument itself is another one in the new loop.
      slots_.push_back(slot == ring.slot ? Value() : slot);
      phases_.push_back(phase);
      const int64_t last = (ring.first_slot + ring.slots - 1) % ring.slots;
      next.push_back(Toggled(inner, at, phase, Equals(inner, at, slot, last)));
    }
    const CopyRing& first_ring = rings_.front();
    Value slot = slots_.front() ? slots_.front() : Value(first_ring.slot);
    const int64_t last = arrival_ ? FirstRead() : (FirstRead() + first_ring.slots - 1) % first_ring.slots;
    if (HasTurn()) {
      turn_ = arguments[rings_.size()];
      next.push_back(Toggled(inner, at, turn_, Equals(inner, at, slot, last)));
    }
    if (tiles_) {
      mlir::OpBuilder before_copies(FirstCopy());
      auto place = arguments.drop_front(next.size());
      tile_copies_ = tiles_->CopiesAt(before_copies, TileCopies::State(place.begin(), place.end()));
      llvm::append_range(next, tile_copies_.next);
    }
    return next;
  };
  loop_ = llvm::cast<ForOp>(
      (*loop_.replaceWithAdditionalYields(b, inits, /*replaceInitOperandUsesInLoop=*/false, yields)).getOperation());
  for (auto [ring, number, slot] : llvm::zip(rings_, arguments_of_slots, slots_)) {
    ring.slot = loop_.getBody()->getArgument(number);
    if (!slot) slot = ring.slot;
  }
  if (!tiles_) return;
  llvm::SmallVector<Value> carried = {loop_.getTiedLoopResult(loop_.getTiedLoopInit(rings_.front().slot))};
  llvm::append_range(carried, loop_.getResults().take_back(inits.size()));
  Operation* yield = tiles_->Tiles().getBody()->getTerminator();
  yield->setOperands(yield->getNumOperands() - carried.size(), carried.size(), carried);
}

void BulkCopies::WaitForCopies(mlir::OpBuilder& b) {
  mlir::Location loc = loop_.getLoc();
  b.setInsertionPoint(wait_);
  for (auto [barriers, slot, phase] : llvm::zip(full_, slots_, phases_))
    ttng::WaitBarrierOp::create(b, loc, barriers.At(b, loc, slot), phase, Value(), mlir::ValueRange());
}

// The first copy of the body waits for the iteration before.
void BulkCopies::WaitForReads(mlir::OpBuilder& b) {
  mlir::Location loc = loop_.getLoc();
  Operation* first_copy = FirstCopy();
  b.setInsertionPoint(first_copy);
  const int64_t slots = rings_.front().slots;
  Value slot = slots_.front();
  Value turn = HasTurn() ? turn_ : phases_.front();
  Value emptied = arrival_ ? Advanced(b, loc, slot, slots - 1, slots) : slot;
  if (arrival_ && !HasTurn()) turn = Toggled(b, loc, turn, Equals(b, loc, slot, FirstRead()));
  Value acts = Equals(b, loc, ttg::WarpIdOp::create(b, loc, b.getI32Type(), nullptr), 0);
  if (arrival_) b.setInsertionPoint(arrival_);
  ttng::ArriveBarrierByWarpsOp::create(b, loc, empty_->At(b, loc, slot));
  b.setInsertionPoint(first_copy);
  ttng::WaitBarrierOp::create(b, loc, empty_->At(b, loc, emptied), turn, acts, mlir::ValueRange());
}

void BulkCopies::WaitBehindLoop(mlir::OpBuilder& b) {
  mlir::Location loc = loop_.getLoc();
  b.setInsertionPointAfter(tiles_ ? tiles_->Tiles() : loop_);
  if (late_wait_) {
    b.setInsertionPoint(late_wait_);
    auto phases = loop_.getResults().take_back(rings_.size() + (HasTurn() ? 1 : 0));
    for (auto [ring, barriers, phase] : llvm::zip(rings_, full_, phases)) {
      Value slot = loop_.getTiedLoopResult(loop_.getTiedLoopInit(ring.slot));
      slot = Advanced(b, loc, slot, ring.ahead + ring.slots - distance_, ring.slots);
      ttng::WaitBarrierOp::create(b, loc, barriers.At(b, loc, slot), phase, Value(), mlir::ValueRange());
    }
    b.setInsertionPointAfter(late_wait_);
  }
  for (const SlotBarriers& barriers : full_) barriers.End(b, loc);
  empty_->End(b, loc);
}

void BulkCopies::MakeMaps(TensorMapMaker& maps) {
  llvm::SmallVector<CopiedBlock> blocks;
  for (const CopyRing& ring : rings_)
    for (const auto& copies : {ring.copies, ring.firsts})
      for (const BlockCopy& copy : copies) blocks.push_back(CopiedBlockOf(copy));
  maps.Make(blocks);
}

void BulkCopies::ReplaceCopies(const TensorMapMaker& maps) {
  if (tiles_) return ReplaceTileCopies(maps);
  for (auto [ring, barriers] : llvm::zip(rings_, full_)) {
    MakeCopies(ring.copies, barriers, maps);
    for (int64_t fill = 0; fill < ring.fills; ++fill) MakeCopies(FirstsOf(ring, fill), barriers, maps);
  }
}

// Those of the body.
void BulkCopies::ReplaceTileCopies(const TensorMapMaker& maps) {
  mlir::OpBuilder b(FirstCopy());
  mlir::Location loc = loop_.getLoc();
  const llvm::SmallVector<BlockCopy>& copies = rings_.front().copies;
  const auto bytes = static_cast<int>(BytesOf(copies));
  Value barrier = full_.front().At(b, loc, IndexOf(copies.front()).getIndex()), acts = tile_copies_.acts;
  SetOrdered(ttng::BarrierExpectOp::create(b, loc, barrier, bytes, acts, nullptr));
  for (auto [i, copy] : llvm::enumerate(copies)) {
    ttg::AsyncCopyGlobalToLocalOp threads = copy.copy;
    b.setInsertionPoint(threads);
    MakeCopy(b, copy, tiles_->Coordinates(b, i, tile_copies_.at, /*in_dots=*/true), threads.getResult(), barrier, acts,
             maps);
  }
}

void BulkCopies::WaitBeforeLoop(mlir::OpBuilder& b) {
  mlir::Location loc = loop_.getLoc();
  for (auto [ring, barriers] : llvm::zip(rings_, full_)) {
    for (auto [wait, slot] : ring.first_waits) {
      b.setInsertionPoint(wait);
      Value number = arith::ConstantIntOp::create(b, loc, slot, 32), zero = arith::ConstantIntOp::create(b, loc, 0, 32);
      ttng::WaitBarrierOp::create(b, loc, barriers.At(b, loc, number), zero, Value(), mlir::ValueRange());
    }
  }
}

// And the waits for them.
void BulkCopies::EraseCopies(mlir::RewriterBase& b, Value no_token) {
  for (const CopyRing& ring : rings_)
    for (const auto& copies : {ring.copies, ring.firsts})
      for (const BlockCopy& copy : copies) Erase(copy.copy, no_token);
  llvm::SmallSetVector<Operation*, 4> waits;
  for (const CopyRing& ring : rings_)
    for (auto [wait, slot] : ring.first_waits) waits.insert(wait);
  waits.insert(wait_);
  if (late_wait_) waits.insert(late_wait_);
  for (Operation* wait : waits) b.replaceOp(wait, no_token);
}

}  // namespace tritond::compiler
