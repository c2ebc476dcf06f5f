// SPDX-License-Identifier: Apache-2.0
// For which loops bulk copies can take the place of copies by threads (bulk_copies.cc), and which gain by it.
#include "compiler/analysis/axis_info.h"
#include "compiler/analysis/pointer_roots.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/padding.h"
#include "compiler/pipelining/multibuffers.h"
#include "compiler/targets/nvidia/bulk_copies.h"
#include "compiler/targets/nvidia/host_maps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace tritond::compiler {
namespace {

using mlir::BlockArgument;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;

constexpr int kWideCopyBits = 128;

// The operations by which the kernel may write to the tensor that the block is of.
llvm::SmallVector<Operation*> WritesTo(tt::BlockMaskOp block) {
  llvm::SmallVector<Operation*> writes;
  block->getParentOfType<tt::FuncOp>().walk([&](Operation* op) {
    if (MayAccessTensor(op, block, /*reads_too=*/false)) writes.push_back(op);
  });
  return writes;
}

std::optional<BlockCopy> BlockCopyOf(Operation* op, bool loop_maps) {
  auto copy = llvm::cast<ttg::AsyncCopyGlobalToLocalOp>(op);
  std::optional<NamedBlock> named = NamedBlockOf(copy.getMask());
  if (!named) return std::nullopt;
  auto index = copy.getResult().getDefiningOp<ttg::MemDescIndexOp>();
  if (!index || !index.getSrc().getDefiningOp<ttg::LocalAllocOp>()) return std::nullopt;
  if (copy.getOther() && !NanFlagOf(copy.getOther())) return std::nullopt;
  if (!loop_maps && !IsMadeAtEntry(named->block)) return std::nullopt;
  // A pointer that the kernel loads may be one to any tensor.
  const bool is_known = !loop_maps || RootsOfPointer(named->block.getBase());
  if (is_known && !WritesTo(named->block).empty()) return std::nullopt;
  BlockCopy found{{*named}, copy};
  if (!CanMakeTensorMap(CopiedBlockOf(found))) return std::nullopt;
  return found;
}

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

}  // namespace

std::optional<BulkCopies> BulkCopies::Find(ForOp loop, ttg::AsyncWaitOp wait, llvm::ArrayRef<Operation*> copies,
                                           llvm::ArrayRef<Operation*> firsts, Operation* arrival, bool loop_maps) {
  BulkCopies bulk;
  bulk.loop_ = loop;
  bulk.loop_maps_ = loop_maps;
  bulk.wait_ = wait;
  bulk.arrival_ = arrival;
  for (Operation* copy : copies)
    if (!bulk.AddCopy(copy)) return std::nullopt;
  for (Operation* first : firsts)
    if (!bulk.AddFirst(first)) return std::nullopt;
  for (CopyRing& ring : bulk.rings_)
    if (!bulk.FindFills(ring)) return std::nullopt;
  if (!bulk.HaveOwnGroups() || !bulk.AreMapsKnown() || !bulk.FindWrites()) return std::nullopt;
  if (!bulk.FindDistance() || !bulk.FindFirstWaits()) return std::nullopt;
  // One that the loop reads from its first slot on, if there is any, says when all have read.
  auto front = llvm::find_if(bulk.rings_, [&](const CopyRing& ring) { return ring.fills == bulk.distance_; });
  if (front != bulk.rings_.end()) std::swap(*front, bulk.rings_.front());
  return bulk;
}

bool BulkCopies::AddCopy(Operation* op) {
  std::optional<BlockCopy> copy = BlockCopyOf(op, loop_maps_);
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
  std::optional<BlockCopy> first = BlockCopyOf(op, loop_maps_);
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

// Whether all maps can be made in front of the first copies.
bool BulkCopies::AreMapsKnown() {
  Operation* begin = Begin();
  return llvm::all_of(rings_, [&](const CopyRing& ring) {
    auto is_known = [&](const BlockCopy& copy) {
      return IsMadeAtEntry(copy.block) || IsKnownBefore(copy.block, begin);
    };
    return llvm::all_of(ring.copies, is_known) && llvm::all_of(ring.firsts, is_known);
  });
}

// Whether all that may write to a tensor of the copies is over before the first copy, or begins after the loop. By then
// all copies have been waited for.
bool BulkCopies::FindWrites() {
  Operation* begin = Begin();
  auto is_apart = [&](Operation* write) {
    Operation* at = loop_->getBlock()->findAncestorOpInBlock(*write);
    return !at || at->isBeforeInBlock(begin) || loop_->isBeforeInBlock(at);
  };
  for (const CopyRing& ring : rings_)
    for (const auto& copies : {ring.copies, ring.firsts})
      for (const BlockCopy& copy : copies)
        for (Operation* write : WritesTo(copy.block)) {
          if (!is_apart(write)) return false;
          follows_writes_ = true;
        }
  return true;
}

// Whether no other copy is of a group of theirs, whose waits will be gone. Copies in front of a short loop may be those
// of all its iterations: there is none of their kind in its body.
bool BulkCopies::HaveOwnGroups() {
  if (wait_.getTokens().size() != 1) return false;
  llvm::SmallVector<BlockCopy> all;
  for (const CopyRing& ring : rings_) {
    llvm::append_range(all, ring.copies);
    llvm::append_range(all, ring.firsts);
  }
  llvm::SmallDenseSet<Value> tokens;
  for (const BlockCopy& copy : all) tokens.insert(ttg::AsyncCopyGlobalToLocalOp(copy.copy).getToken());
  return llvm::all_of(all, [&](const BlockCopy& copy) {
    ttg::AsyncCommitGroupOp commit = CommitOf(copy);
    return commit && llvm::all_of(commit.getInputTokens(), [&](Value token) { return tokens.contains(token); });
  });
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

// Whether there is a loop around this one in each of the blocks where maps are made.
bool BulkCopies::IsRepeatedByMap() {
  return llvm::all_of(rings_, [&](const CopyRing& ring) {
    return llvm::all_of(ring.copies, [&](const BlockCopy& copy) {
      Operation* around = MapBlockOf(copy.block)->getParentOp();
      auto repeats = loop_->getParentOfType<mlir::LoopLikeOpInterface>();
      return repeats && around->isProperAncestor(repeats);
    });
  });
}

// A program makes its maps in about a microsecond. A loop that does nothing but add products to accumulators waits for
// the matrix unit, not for the threads that copy. It gets that time back only if the program runs it many times by the
// same maps, or if threads could not copy 16 bytes at once. Maps that the launcher makes cost it nothing. Those that
// are made in a loop cost the time again and again, so that more work in an iteration of the dots does not make up for
// it.
bool BulkCopies::Pays() {
  auto has_host_map = [](const BlockCopy& copy) { return HasHostMap(tt::BlockMaskOp(copy.block).getBase()); };
  auto is_made_at_entry = [](const BlockCopy& copy) { return IsMadeAtEntry(copy.block); };
  auto all_copies = [&](llvm::function_ref<bool(const BlockCopy&)> holds) {
    return llvm::all_of(rings_, [&](const CopyRing& ring) { return llvm::all_of(ring.copies, holds); });
  };
  if (all_copies(has_host_map) || IsRepeatedByMap()) return true;
  return (all_copies(is_made_at_entry) && DoesMoreThanAdd()) || HasNarrowCopies();
}

// Whether the loop does anything with products but add them to accumulators. Threads that add up parts of products do:
// the matrix unit waits for them, too.
bool BulkCopies::DoesMoreThanAdd() {
  mlir::Block* body = loop_.getBody();
  for (auto dot : body->getOps<ttng::WarpGroupDotOp>()) {
    auto carried = llvm::dyn_cast<BlockArgument>(dot.getC());
    const bool adds =
        carried && carried.getOwner() == body && llvm::all_of(dot.getD().getUsers(), [&](Operation* user) {
          return user == body->getTerminator() || llvm::isa<ttng::WarpGroupWaitOp>(user);
        });
    if (!adds || !ttng::AddsToResult(dot)) return true;
  }
  return false;
}

// Whether threads could not copy 16 bytes at once.
bool BulkCopies::HasNarrowCopies() {
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

// Where there is one ring, which nothing uses but the loop and the copies in front of it.
void BulkCopies::GoOnFromTileToTile() {
  const CopyRing& ring = rings_.front();
  if (rings_.size() > 1 || ring.fills == 0 || !ring.first_waits.empty() || late_wait_ || follows_writes_) return;
  // All tiles are copied by the same maps.
  Operation* tiles = loop_->getParentOp();
  auto has_map = [&](const BlockCopy& copy) { return IsMadeAtEntry(copy.block) || IsKnownBefore(copy.block, tiles); };
  if (!llvm::all_of(ring.copies, has_map)) return;
  CopiedBlocks body(ring.copies.begin(), ring.copies.end());
  llvm::SmallVector<CopiedBlocks> firsts;
  for (int64_t fill = 0; fill < ring.fills; ++fill) {
    firsts.emplace_back();
    for (const BlockCopy& copy : ring.copies) firsts.back().push_back(FirstOf(copy, fill));
  }
  auto is_of_loop = [&](Operation* user) {
    if (loop_->isProperAncestor(user) || llvm::isa<ttg::LocalDeallocOp, ttng::WarpGroupWaitOp>(user)) return true;
    return llvm::all_of(user->getUsers(), [&](Operation* copy) {
      return llvm::any_of(ring.firsts, [&](const BlockCopy& first) { return first.copy == copy; });
    });
  };
  for (const BlockCopy& copy : ring.copies)
    if (!llvm::all_of(IndexOf(copy).getSrc().getUsers(), is_of_loop)) return;
  tiles_ = TileCopies::Find(loop_, body, firsts);
}

// The copy in front of the loop that fills the buffer of `copy`, one of the body, for the iteration of this number.
BlockCopy BulkCopies::FirstOf(const BlockCopy& copy, int64_t fill) const {
  return *llvm::find_if(FirstsOf(rings_.front(), fill),
                        [&](const BlockCopy& first) { return IndexOf(first).getSrc() == IndexOf(copy).getSrc(); });
}

}  // namespace tritond::compiler
