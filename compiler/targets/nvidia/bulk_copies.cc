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
#include "compiler/pipelining/multibuffers.h"
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
  return {copy.block, copy.block.getBlock(), copy.copy.getResult().getType()};
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

// mbarriers of the slots of a ring.
class SlotBarriers final {
 public:
  SlotBarriers(mlir::OpBuilder& b, mlir::Location loc, int64_t slots, int count) : slots_(slots) {
    row_ = ttg::LocalAllocOp::create(b, loc, Type(b, {slots, 1}), Value());
    for (int64_t slot = 0; slot < slots; ++slot)
      ttng::InitBarrierOp::create(b, loc, At(b, loc, arith::ConstantIntOp::create(b, loc, slot, 32)), count);
  }
  Value At(mlir::OpBuilder& b, mlir::Location loc, Value slot) const {
    return ttg::MemDescIndexOp::create(b, loc, Type(b, {1}), row_, slot);
  }
  void End(mlir::OpBuilder& b, mlir::Location loc) const {
    for (int64_t slot = 0; slot < slots_; ++slot)
      ttng::InvalBarrierOp::create(b, loc, At(b, loc, arith::ConstantIntOp::create(b, loc, slot, 32)));
  }

 private:
  static ttg::MemDescType Type(mlir::OpBuilder& b, llvm::ArrayRef<int64_t> shape) {
    return ttng::PlainBufferType(shape, b.getI64Type());
  }

  Value row_;
  int64_t slots_;
};

Value Equals(mlir::OpBuilder& b, mlir::Location loc, Value value, int64_t constant) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value,
                               arith::ConstantIntOp::create(b, loc, constant, 32));
}

// `slot` and `ahead` more, in a ring of so many.
Value Advanced(mlir::OpBuilder& b, mlir::Location loc, Value slot, int64_t ahead, int64_t slots) {
  if (ahead % slots == 0) return slot;
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, loc, value, 32); };
  Value sum = arith::AddIOp::create(b, loc, slot, constant(ahead % slots));
  Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, sum, constant(slots));
  return arith::SelectOp::create(b, loc, wraps, arith::SubIOp::create(b, loc, sum, constant(slots)), sum);
}

Value Toggled(mlir::OpBuilder& b, mlir::Location loc, Value phase, Value if_true) {
  Value bit = arith::ExtUIOp::create(b, loc, b.getI32Type(), if_true);
  return arith::XOrIOp::create(b, loc, phase, bit);
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
// threads could not copy 16 bytes at once.
bool BulkCopies::Pays() {
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
  mlir::Location loc = loop_.getLoc();
  Operation* begin = loop_;
  for (const CopyRing& ring : rings_)
    for (const BlockCopy& first : ring.firsts)
      if (first.copy->isBeforeInBlock(begin)) begin = ttg::AsyncCopyGlobalToLocalOp(first.copy);
  mlir::IRRewriter b(begin);
  Value no_token = ttg::AsyncCommitGroupOp::create(b, loc, mlir::ValueRange());
  llvm::SmallVector<SlotBarriers> full;
  for (const CopyRing& ring : rings_) full.emplace_back(b, loc, ring.slots, 1);
  SlotBarriers empty(b, loc, rings_.front().slots, ttg::NumWarps(loop_));

  // The slots that an iteration reads, and their phases.
  b.setInsertionPoint(loop_);
  llvm::SmallVector<Value> inits(rings_.size(), arith::ConstantIntOp::create(b, loc, 0, 32)), slots, phases;
  // The phase in which all have read what the iteration before did. Where the loop reads the ring's slots from the
  // first one on, it follows from that of the slot.
  const CopyRing& first_ring = rings_.front();
  const int64_t first_read = (first_ring.first_slot + first_ring.fills - distance_) % first_ring.slots;
  const bool has_turn = first_ring.fills != distance_;
  if (has_turn) inits.push_back(arith::ConstantIntOp::create(b, loc, arrival_ ? 1 : 0, 32));
  llvm::SmallVector<unsigned> arguments_of_slots;
  for (const CopyRing& ring : rings_) arguments_of_slots.push_back(ring.slot.getArgNumber());
  auto yields = [&](mlir::OpBuilder& inner, mlir::Location at, llvm::ArrayRef<BlockArgument> arguments) {
    mlir::OpBuilder before(wait_);
    llvm::SmallVector<Value> next;
    for (auto [ring, phase] : llvm::zip(rings_, arguments)) {
      Value slot = Advanced(before, at, ring.slot, ring.ahead + ring.slots - distance_, ring.slots);
      // The argument itself is another one in the new loop.
      slots.push_back(slot == ring.slot ? Value() : slot);
      phases.push_back(phase);
      const int64_t last = (ring.first_slot + ring.slots - 1) % ring.slots;
      next.push_back(Toggled(inner, at, phase, Equals(inner, at, slot, last)));
    }
    Value slot = slots.front() ? slots.front() : Value(first_ring.slot);
    const int64_t last = arrival_ ? first_read : (first_read + first_ring.slots - 1) % first_ring.slots;
    if (has_turn) next.push_back(Toggled(inner, at, arguments.back(), Equals(inner, at, slot, last)));
    return next;
  };
  loop_ = llvm::cast<ForOp>(
      (*loop_.replaceWithAdditionalYields(b, inits, /*replaceInitOperandUsesInLoop=*/false, yields)).getOperation());
  for (auto [ring, number, slot] : llvm::zip(rings_, arguments_of_slots, slots)) {
    ring.slot = loop_.getBody()->getArgument(number);
    if (!slot) slot = ring.slot;
  }

  b.setInsertionPoint(wait_);
  for (auto [ring, barriers, slot, phase] : llvm::zip(rings_, full, slots, phases))
    ttng::WaitBarrierOp::create(b, loc, barriers.At(b, loc, slot), phase, Value(), mlir::ValueRange());
  // The first copy of the body waits for the iteration before.
  Operation* first_copy = rings_.front().copies.front().copy;
  for (const CopyRing& ring : rings_)
    if (ring.copies.front().copy->isBeforeInBlock(first_copy))
      first_copy = ttg::AsyncCopyGlobalToLocalOp(ring.copies.front().copy);
  b.setInsertionPoint(first_copy);
  const int64_t ring_slots = rings_.front().slots;
  Value slot = slots.front();
  Value turn = has_turn ? Value(loop_.getRegionIterArgs().back()) : phases.front();
  Value emptied = arrival_ ? Advanced(b, loc, slot, ring_slots - 1, ring_slots) : slot;
  if (arrival_ && !has_turn) turn = Toggled(b, loc, turn, Equals(b, loc, slot, first_read));
  Value acts = Equals(b, loc, ttg::WarpIdOp::create(b, loc, b.getI32Type(), nullptr), 0);
  if (arrival_) b.setInsertionPoint(arrival_);
  ttng::ArriveBarrierByWarpsOp::create(b, loc, empty.At(b, loc, slot));
  b.setInsertionPoint(first_copy);
  ttng::WaitBarrierOp::create(b, loc, empty.At(b, loc, emptied), turn, acts, mlir::ValueRange());
  b.setInsertionPointAfter(loop_);
  if (late_wait_) {
    b.setInsertionPoint(late_wait_);
    for (auto [i, ring] : llvm::enumerate(rings_)) {
      Value slot = loop_.getTiedLoopResult(loop_.getTiedLoopInit(ring.slot));
      slot = Advanced(b, loc, slot, ring.ahead + ring.slots - distance_, ring.slots);
      Value phase = loop_.getResults().take_back(inits.size())[i];
      ttng::WaitBarrierOp::create(b, loc, full[i].At(b, loc, slot), phase, Value(), mlir::ValueRange());
    }
    b.setInsertionPointAfter(late_wait_);
  }
  for (const SlotBarriers& barriers : full) barriers.End(b, loc);
  empty.End(b, loc);

  llvm::SmallVector<CopiedBlock> blocks;
  for (const CopyRing& ring : rings_)
    for (const auto& copies : {ring.copies, ring.firsts})
      for (const BlockCopy& copy : copies) blocks.push_back(CopiedBlockOf(copy));
  maps.Make(blocks);
  for (auto [ring, barriers] : llvm::zip(rings_, full)) {
    MakeCopies(ring.copies, barriers, maps);
    for (int64_t fill = 0; fill < ring.fills; ++fill) MakeCopies(FirstsOf(ring, fill), barriers, maps);
    for (auto [wait, slot] : ring.first_waits) {
      b.setInsertionPoint(wait);
      Value number = arith::ConstantIntOp::create(b, loc, slot, 32), zero = arith::ConstantIntOp::create(b, loc, 0, 32);
      ttng::WaitBarrierOp::create(b, loc, barriers.At(b, loc, number), zero, Value(), mlir::ValueRange());
    }
  }
  for (const CopyRing& ring : rings_)
    for (const auto& copies : {ring.copies, ring.firsts})
      for (const BlockCopy& copy : copies) Erase(copy.copy, no_token);
  llvm::SmallSetVector<Operation*, 4> waits;
  for (const CopyRing& ring : rings_)
    for (auto [wait, slot] : ring.first_waits) waits.insert(wait);
  waits.insert(wait_);
  if (late_wait_) waits.insert(late_wait_);
  for (Operation* wait : waits) b.replaceOp(wait, no_token);
  EraseDead(function);
}

}  // namespace tritond::compiler
