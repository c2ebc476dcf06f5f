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
#include "compiler/targets/nvidia/bulk_copies.h"

#include "compiler/analysis/axis_info.h"
#include "compiler/analysis/barriers.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/padding.h"
#include "compiler/pipelining/multibuffers.h"
#include "compiler/targets/nvidia/host_maps.h"
#include "compiler/targets/nvidia/tensor_boxes.h"
#include "compiler/targets/nvidia/tensor_map_maker.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::BlockArgument;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;

constexpr int kWideCopyBits = 128;

CopiedBlock CopiedBlockOf(BlockCopy copy) {
  return {copy.block, copy.block.getBlock(), copy.copy.getResult().getType(), NanFlagOf(copy.copy.getOther())};
}

// Whether the kernel may write to the tensor that the block is of.
bool MayBeWritten(tt::BlockMaskOp block) {
  auto result = block->getParentOfType<tt::FuncOp>().walk([&](Operation* op) {
    return MayAccessTensor(op, block, /*reads_too=*/false) ? mlir::WalkResult::interrupt()
                                                           : mlir::WalkResult::advance();
  });
  return result.wasInterrupted();
}

std::optional<BlockCopy> BlockCopyOf(Operation* op) {
  auto copy = llvm::cast<ttg::AsyncCopyGlobalToLocalOp>(op);
  std::optional<NamedBlock> named = NamedBlockOf(copy.getMask());
  if (!named) return std::nullopt;
  auto index = copy.getResult().getDefiningOp<ttg::MemDescIndexOp>();
  if (!index || !index.getSrc().getDefiningOp<ttg::LocalAllocOp>()) return std::nullopt;
  if (copy.getOther() && !NanFlagOf(copy.getOther())) return std::nullopt;
  if (MayBeWritten(named->block)) return std::nullopt;
  BlockCopy found{{*named}, copy};
  if (!CanMakeTensorMap(CopiedBlockOf(found))) return std::nullopt;
  return found;
}

ttg::MemDescIndexOp IndexOf(Operation* copy) {
  return llvm::cast<ttg::AsyncCopyGlobalToLocalOp>(copy).getResult().getDefiningOp<ttg::MemDescIndexOp>();
}
ttg::MemDescIndexOp IndexOf(const BlockCopy& copy) { return IndexOf(ttg::AsyncCopyGlobalToLocalOp(copy.copy)); }

// The group that the copy belongs to; null if there is none, or several.
ttg::AsyncCommitGroupOp CommitOf(const BlockCopy& copy) {
  Value token = ttg::AsyncCopyGlobalToLocalOp(copy.copy).getToken();
  return token.hasOneUse() ? llvm::dyn_cast<ttg::AsyncCommitGroupOp>(*token.getUsers().begin())
                           : ttg::AsyncCommitGroupOp();
}

// Whether `token` is that of the group of all `copies`.
bool Commits(Value token, llvm::ArrayRef<BlockCopy> copies) {
  return llvm::all_of(copies, [&](const BlockCopy& copy) {
    ttg::AsyncCommitGroupOp commit = CommitOf(copy);
    return commit && commit.getToken() == token;
  });
}

int64_t SlotsOf(const BlockCopy& copy) { return IndexOf(copy).getSrc().getType().getShape()[0]; }

int64_t BytesOf(const BlockCopy& copy) {
  ttg::MemDescType type = ttg::AsyncCopyGlobalToLocalOp(copy.copy).getResult().getType();
  return ttg::Product(type.getShape()) * type.getElementType().getIntOrFloatBitWidth() / 8;
}

// The copies of a fill in front of the loop.
llvm::SmallVector<BlockCopy> FirstsOf(const CopyRing& ring, int64_t fill) {
  llvm::SmallVector<BlockCopy> firsts;
  llvm::copy_if(ring.firsts, std::back_inserter(firsts), [&](const BlockCopy& each) {
    return mlir::getConstantIntValue(IndexOf(each).getIndex()) == (ring.first_slot + fill) % ring.slots;
  });
  return firsts;
}

// The bulk copies of one slot, in place of `copies`, which are in one block and made under the same conditions.
void MakeCopies(llvm::ArrayRef<BlockCopy> copies, const SlotBarriers& full, const TensorMapMaker& maps) {
  mlir::OpBuilder b(copies.front().copy);
  mlir::Location loc = copies.front().copy->getLoc();
  int64_t bytes = 0;
  for (const BlockCopy& copy : copies) bytes += BytesOf(copy);
  Value yes = arith::ConstantIntOp::create(b, loc, 1, 1), acts = yes;
  for (Value condition : copies.front().conditions) acts = arith::AndIOp::create(b, loc, acts, condition);
  Value barrier = full.At(b, loc, IndexOf(copies.front()).getIndex());
  auto order = [&](Operation* op) { op->setAttr(kOrderedAttr, b.getUnitAttr()); };
  order(ttng::BarrierExpectOp::create(b, loc, barrier, static_cast<int>(bytes), acts, nullptr));
  if (!copies.front().conditions.empty())
    order(ttng::ArriveBarrierOp::create(b, loc, barrier, 1, arith::XOrIOp::create(b, loc, acts, yes), nullptr, 0));
  for (BlockCopy copy : copies) {
    auto alloc = IndexOf(copy).getSrc().getDefiningOp<ttg::LocalAllocOp>();
    const int64_t alignment = ttng::BoxAlignment(ttng::SwizzleBytesOf(CopiedBlockOf(copy).buffer));
    if (ttg::AlignmentOf(alloc.getType()) < alignment) alloc.setAlignment(static_cast<uint32_t>(alignment));
    b.setInsertionPoint(copy.copy);
    Value map = maps.MapFor(CopiedBlockOf(copy));
    order(ttng::AsyncTMACopyGlobalToLocalOp::create(b, copy.copy.getLoc(), map, copy.block.getIndices(),
                                                    copy.copy.getResult(), barrier, acts, /*multicast=*/false));
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

std::optional<BulkCopies> BulkCopies::Find(ForOp loop, ttg::AsyncWaitOp wait, llvm::ArrayRef<Operation*> copies,
                                           llvm::ArrayRef<Operation*> firsts, Operation* arrival) {
  BulkCopies bulk;
  bulk.loop_ = loop;
  bulk.wait_ = wait;
  bulk.arrival_ = arrival;
  for (Operation* copy : copies)
    if (!bulk.AddCopy(copy)) return std::nullopt;
  for (Operation* first : firsts)
    if (!bulk.AddFirst(first)) return std::nullopt;
  for (CopyRing& ring : bulk.rings_)
    if (!bulk.FindFills(ring)) return std::nullopt;
  if (!bulk.FindDistance() || !bulk.FindFirstWaits()) return std::nullopt;
  // One that the loop reads from its first slot on, if there is any, says when all have read.
  auto front = llvm::find_if(bulk.rings_, [&](const CopyRing& ring) { return ring.fills == bulk.distance_; });
  if (front != bulk.rings_.end()) std::swap(*front, bulk.rings_.front());
  return bulk;
}

bool BulkCopies::AddCopy(Operation* op) {
  std::optional<BlockCopy> copy = BlockCopyOf(op);
  if (!copy) return false;
  const int64_t slots = SlotsOf(*copy);
  std::optional<MultibufferSlot> slot = SlotOf(IndexOf(*copy).getIndex(), loop_, slots);
  if (!slot) return false;
  auto ring = llvm::find_if(rings_, [&](const CopyRing& each) {
    return each.slot == slot->argument && each.ahead == slot->ahead && each.slots == slots &&
           each.copies.front().conditions == copy->conditions;
  });
  if (ring == rings_.end()) {
    rings_.push_back({slots, slot->argument, slot->ahead, {}, {}});
    ring = std::prev(rings_.end());
  }
  ring->copies.push_back(*copy);
  return true;
}

bool BulkCopies::AddFirst(Operation* op) {
  std::optional<BlockCopy> first = BlockCopyOf(op);
  if (!first || !mlir::getConstantIntValue(IndexOf(*first).getIndex())) return false;
  for (CopyRing& ring : rings_) {
    auto is_of = [&](const BlockCopy& copy) { return IndexOf(copy).getSrc() == IndexOf(*first).getSrc(); };
    if (llvm::none_of(ring.copies, is_of)) continue;
    ring.firsts.push_back(*first);
    return true;
  }
  return false;
}

// Whether the slots in front of the one that the loop begins with are filled once before the loop, each under the same
// conditions.
bool BulkCopies::FindFills(CopyRing& ring) {
  ring.fills = ring.firsts.size() / ring.copies.size();
  std::optional<int64_t> begin = mlir::getConstantIntValue(loop_.getTiedLoopInit(ring.slot)->get());
  if (!begin || ring.fills > ring.slots) return false;
  ring.first_slot = (*begin + ring.ahead + ring.slots - ring.fills) % ring.slots;
  for (int64_t fill = 0; fill < ring.fills; ++fill) {
    const llvm::SmallVector<BlockCopy> firsts = FirstsOf(ring, fill);
    if (firsts.size() != ring.copies.size()) return false;
    llvm::SmallDenseSet<Value> buffers;
    for (const BlockCopy& first : firsts) {
      buffers.insert(IndexOf(first).getSrc());
      if (first.conditions != firsts.front().conditions) return false;
    }
    if (buffers.size() != firsts.size()) return false;
  }
  return true;
}

// By the tokens that the loop carries from the commit to the wait.
bool BulkCopies::FindDistance() {
  llvm::SmallVector<Value> inits;
  Value token = wait_.getTokens()[0];
  for (; !token.getDefiningOp(); ++distance_) {
    auto argument = llvm::cast<BlockArgument>(token);
    if (argument.getOwner() != loop_.getBody() || distance_ == rings_.front().slots) return false;
    inits.push_back(loop_.getTiedLoopInit(argument)->get());
    if (!FindLateWait(loop_.getTiedLoopResult(loop_.getTiedLoopInit(argument)))) return false;
    token = loop_.getTiedLoopYieldedValue(argument)->get();
  }
  for (const CopyRing& ring : rings_) {
    if (ring.slots < distance_ + (arrival_ ? 1 : 0) || ring.fills < distance_ || !Commits(token, ring.copies))
      return false;
    for (auto [i, init] : llvm::enumerate(inits))
      if (!Commits(init, FirstsOf(ring, ring.fills - distance_ + i))) return false;
  }
  return true;
}

// The last iteration may wait behind the loop. Nothing else waits for `token`, a result of the loop.
bool BulkCopies::FindLateWait(Value token) {
  if (token.use_empty()) return true;
  auto wait = llvm::dyn_cast<ttg::AsyncWaitOp>(*token.getUsers().begin());
  if (!token.hasOneUse() || distance_ > 0 || !wait || wait->getBlock() != loop_->getBlock()) return false;
  late_wait_ = wait;
  return true;
}

// The copies in front of the loop that no iteration waits for have a wait there, too.
bool BulkCopies::FindFirstWaits() {
  for (CopyRing& ring : rings_) {
    for (int64_t fill = 0; fill < ring.fills; ++fill) {
      bool is_waited_for = fill >= ring.fills - distance_;
      for (const BlockCopy& first : FirstsOf(ring, fill)) {
        for (Operation* user : CommitOf(first).getToken().getUsers()) {
          auto wait = llvm::dyn_cast<ttg::AsyncWaitOp>(user);
          if (!wait && user != loop_) return false;
          if (!wait) continue;
          is_waited_for = true;
          if (wait->getBlock() != loop_->getBlock() || wait.getTokens().size() != 1) return false;
          ring.first_waits.insert({wait, (ring.first_slot + fill) % ring.slots});
        }
      }
      if (!is_waited_for) return false;
    }
  }
  return true;
}

// A program makes its maps in about a microsecond. A loop that does nothing but add products to accumulators waits for
// the matrix unit, not for the threads that copy. It gets that time back only if the program runs it many times, or if
// threads could not copy 16 bytes at once. Maps that the launcher makes cost it nothing.
bool BulkCopies::Pays() {
  auto has_host_map = [](const BlockCopy& copy) { return HasHostMap(tt::BlockMaskOp(copy.block).getBase()); };
  if (llvm::all_of(rings_, [&](const CopyRing& ring) { return llvm::all_of(ring.copies, has_host_map); })) return true;
  if (loop_->getParentOfType<mlir::LoopLikeOpInterface>()) return true;
  mlir::Block* body = loop_.getBody();
  for (auto dot : body->getOps<ttng::WarpGroupDotOp>()) {
    auto carried = llvm::dyn_cast<BlockArgument>(dot.getC());
    const bool adds =
        carried && carried.getOwner() == body && llvm::all_of(dot.getD().getUsers(), [&](Operation* user) {
          return user == body->getTerminator() || llvm::isa<ttng::WarpGroupWaitOp>(user);
        });
    if (!adds) return true;
  }
  AxisInfoAnalysis axes(loop_->getParentOfType<mlir::ModuleOp>());
  for (const CopyRing& ring : rings_) {
    for (const BlockCopy& each : ring.copies) {
      ttg::AsyncCopyGlobalToLocalOp copy = each.copy;
      const unsigned last = copy.getSrc().getType().getRank() - 1;
      const int run = std::min(axes.PointerContiguity(copy.getSrc(), last), axes.MaskConstancy(copy.getMask(), last));
      if (run * copy.getResult().getType().getElementType().getIntOrFloatBitWidth() < kWideCopyBits) return true;
    }
  }
  return false;
}

void BulkCopies::Apply(TensorMapMaker& maps) {
  tt::FuncOp function = loop_->getParentOfType<tt::FuncOp>();
  mlir::IRRewriter b(Begin());
  Value no_token = ttg::AsyncCommitGroupOp::create(b, loop_.getLoc(), mlir::ValueRange());
  MakeBarriers(b);
  CarryPhases(b);
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

// The slots that an iteration reads, and their phases. The phase in which all have read what the iteration before did
// follows from that of the slot where the loop reads the ring's slots from the first one on.
void BulkCopies::CarryPhases(mlir::RewriterBase& b) {
  mlir::Location loc = loop_.getLoc();
  b.setInsertionPoint(loop_);
  llvm::SmallVector<Value> inits(rings_.size(), arith::ConstantIntOp::create(b, loc, 0, 32));
  if (HasTurn()) inits.push_back(arith::ConstantIntOp::create(b, loc, arrival_ ? 1 : 0, 32));
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
    if (HasTurn()) next.push_back(Toggled(inner, at, arguments.back(), Equals(inner, at, slot, last)));
    return next;
  };
  loop_ = llvm::cast<ForOp>(
      (*loop_.replaceWithAdditionalYields(b, inits, /*replaceInitOperandUsesInLoop=*/false, yields)).getOperation());
  for (auto [ring, number, slot] : llvm::zip(rings_, arguments_of_slots, slots_)) {
    ring.slot = loop_.getBody()->getArgument(number);
    if (!slot) slot = ring.slot;
  }
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
  Value turn = HasTurn() ? Value(loop_.getRegionIterArgs().back()) : phases_.front();
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
  b.setInsertionPointAfter(loop_);
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

void BulkCopies::ReplaceCopies(TensorMapMaker& maps) {
  llvm::SmallVector<CopiedBlock> blocks;
  for (const CopyRing& ring : rings_)
    for (const auto& copies : {ring.copies, ring.firsts})
      for (const BlockCopy& copy : copies) blocks.push_back(CopiedBlockOf(copy));
  maps.Make(blocks);
  for (auto [ring, barriers] : llvm::zip(rings_, full_)) {
    MakeCopies(ring.copies, barriers, maps);
    for (int64_t fill = 0; fill < ring.fills; ++fill) MakeCopies(FirstsOf(ring, fill), barriers, maps);
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
