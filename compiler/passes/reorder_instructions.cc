// SPDX-License-Identifier: Apache-2.0
// Moves operations so that fewer registers are taken at once. Lowering and the assembler keep much of the order that
// they find. A tensor takes its registers from where it is made to where it is used last.
//
//   %x = arith.sitofp %a : i8 to f16              %s = ttg.local_alloc %v     (%v dies)
//   %v = tt.load %p                               …
//   …                                       ->    %x = arith.sitofp %a : i8 to f16
//   %s = ttg.local_alloc %v                       tt.dot %x, …
//   tt.dot %x, …
//
// 1. An operation without effects moves down to its first user, if its result takes more registers than those operands
//    that would have to live longer for it: extensions, conversions to operands of matrix units, which many threads
//    hold, pointers made of offsets, constants. If all users are in one branch of an scf.if, it moves into that branch.
//    It does not move to the end of a block, where what a loop carries is scheduled on purpose, nor into loops. What
//    needs scratch in shared memory does not pass the making of a buffer, with which it would have to share that
//    memory. Past a loop it moves also if it takes as many registers as they, and many: what only the end of a kernel
//    needs would have its registers all along. Operands count by what differs in them, as one register where all
//    elements are the same, or are counted from one on.
// 2. A buffer that is filled from registers moves up to where these are made, as far as only light operations come in
//    between. A load from global memory should be on its way before the buffer waits for its own; a conversion would
//    find less shared memory free. It passes those that take little: the registers would wait at their barriers.
// 3. A conversion through shared memory holds a barrier. What reads copies after an asynchronous wait needs one, too:
//    the conversion moves up to the wait, if its source is there, so that one barrier serves both.
// 4. A load from global memory that comes after such a conversion begins before it, if it takes few registers: the
//    assembler moves no load past shared memory, so threads would wait for memory twice. Loops are left alone, whose
//    loads are scheduled.
// 5. An operand of a dot that the threads of other warps make is read behind a barrier. Reads of the dot's other
//    operand stay in front of it, and hold their registers there. Where these are many, the operand behind the barrier
//    is read first. The assembler then reads the other one step by step, between the dot's products.
//
// Operations with effects keep their order, except that a new buffer is filled earlier, which nobody else sees.
#include "compiler/analysis/scratch.h"
#include "compiler/encoding/conversion_cost.h"
#include "compiler/passes/passes.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Analysis/SliceAnalysis.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_REORDERINSTRUCTIONSPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Block;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

// A thread has as many registers to spare in most loops.
constexpr double kWordsPastLoops = 16;

class Sinker final {
 public:
  // From the last operation to the first, so that users have moved before what they use.
  void Run(Block& block) {
    llvm::SmallVector<Operation*> order;
    for (Operation& op : block) order.push_back(&op);
    for (Operation* op : llvm::reverse(order)) {
      if (MayMove(op)) Sink(op);
      for (mlir::Region& region : op->getRegions())
        for (Block& inner : region) pending_.push_back(&inner);
    }
    // An operand that several operations share lives on in any case once the first of them has moved.
    for (bool moved = true; std::exchange(moved, false);)
      for (Operation* op : llvm::reverse(order))
        if (op->getBlock() == &block && MayMove(op)) moved |= SinkPastLoop(op);
  }

  void RunAll(mlir::Region& region) {
    for (Block& block : region) pending_.push_back(&block);
    // What has moved into a branch may move on there: outer blocks first.
    for (size_t next = 0; next < pending_.size(); ++next) Run(*pending_[next]);
  }

 private:
  static bool MayMove(Operation* op) {
    return op->getNumRegions() == 0 && op->getNumResults() == 1 && !op->use_empty() && mlir::isPure(op) &&
           llvm::isa<RankedTensorType>(op->getResult(0).getType());
  }

  void Sink(Operation* op) {
    Block* block = op->getBlock();
    Operation* first = FirstUser(op, block);
    if (!first || first->hasTrait<mlir::OpTrait::IsTerminator>()) return;
    if (MakesBuffers(op->getNextNode(), first) && ScratchBytes(op) > 0) return;
    if (Block* branch = OnlyBranch(op, first)) {
      if (Words(op->getResult(0)) < WordsHeldUntil(op, first)) return;
      op->moveBefore(branch, branch->begin());
    } else if (op->getNextNode() != first && Words(op->getResult(0)) > WordsHeldUntil(op, first)) {
      op->moveBefore(first);
    }
  }

  // Whether it has moved.
  bool SinkPastLoop(Operation* op) {
    Operation* first = FirstUser(op, op->getBlock());
    if (!first || first->hasTrait<mlir::OpTrait::IsTerminator>() || ScratchBytes(op) > 0) return false;
    Operation* loop = nullptr;  // the last one in between
    for (Operation* between = op->getNextNode(); between != first; between = between->getNextNode())
      if (llvm::isa<mlir::LoopLikeOpInterface>(between)) loop = between;
    if (!loop || Words(op->getResult(0)) < kWordsPastLoops ||
        DistinctWords(op->getResult(0)) < WordsHeldUntil(op, loop, /*distinct=*/true))
      return false;
    op->moveBefore(first);
    return true;
  }

  static bool MakesBuffers(Operation* from, Operation* to) {
    for (Operation* op = from; op != to; op = op->getNextNode())
      if (llvm::isa<ttg::LocalAllocOp>(op) || op->getNumRegions() != 0) return true;
    return false;
  }

  // The first operation of `block` that uses `op` or has a user inside; null if some user is in another block.
  static Operation* FirstUser(Operation* op, Block* block) {
    Operation* first = nullptr;
    for (Operation* user : op->getUsers()) {
      Operation* here = block->findAncestorOpInBlock(*user);
      if (!here) return nullptr;
      if (!first || here->isBeforeInBlock(first)) first = here;
    }
    return first;
  }

  // The block of the scf.if `branch` in which all users of `op` are; not if one is its terminator.
  static Block* OnlyBranch(Operation* op, Operation* branch) {
    if (!llvm::isa<mlir::scf::IfOp>(branch)) return nullptr;
    for (mlir::Region& region : branch->getRegions()) {
      bool all_here = llvm::all_of(op->getUsers(), [&](Operation* user) {
        return region.isAncestor(user->getParentRegion()) && !llvm::isa<mlir::scf::YieldOp>(user);
      });
      if (all_here && !region.empty()) return &region.front();
    }
    return nullptr;
  }

  // Words of the operands of `op` that nothing at or after `place` uses anyway.
  double WordsHeldUntil(Operation* op, Operation* place, bool distinct = false) {
    double words = 0;
    llvm::SmallPtrSet<Value, 4> seen;
    for (Value operand : op->getOperands()) {
      // A value of an outer block lives as long as that needs it; in a loop, all along.
      if (operand.getParentBlock() != op->getBlock() || !seen.insert(operand).second) continue;
      bool lives_on = llvm::any_of(operand.getUsers(), [&](Operation* user) {
        if (user == op) return false;
        Operation* here = op->getBlock()->findAncestorOpInBlock(*user);
        return !here || !here->isBeforeInBlock(place);
      });
      if (!lives_on) words += distinct ? DistinctWords(operand) : Words(operand);
    }
    return words;
  }

  // 32-bit registers of a thread; those for scalars are not counted.
  double Words(Value value) {
    auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.getEncoding()) return 0;
    mlir::Type element = type.getElementType();
    double bits = llvm::isa<tt::PtrType>(element) ? 64 : std::max(8u, element.getIntOrFloatBitWidth());
    return bits / 32 * costs_.Registers(type, type.getEncoding());
  }

  // Those whose values are not known from others, but for a number that the program says.
  double DistinctWords(Value value) {
    Operation* op = value.getDefiningOp();
    if (!op) return Words(value);
    if (op->hasTrait<mlir::OpTrait::ConstantLike>()) return 0;
    if (llvm::isa<tt::SplatOp, tt::MakeRangeOp>(op))
      return llvm::isa<tt::PtrType>(tt::ElementOf(value.getType())) || tt::ElementOf(value.getType()).isInteger(64) ? 2
                                                                                                                    : 1;
    if (llvm::isa<tt::ExpandDimsOp, tt::BroadcastOp>(op)) return DistinctWords(op->getOperand(0));
    return Words(value);
  }

  CostModel costs_;
  std::vector<Block*> pending_;
};

// Operations that need neither time nor shared memory: a buffer above them lives no longer in any way that counts.
bool IsLight(Operation* op) {
  return mlir::isPure(op) && op->getNumRegions() == 0 &&
         (op->hasTrait<mlir::OpTrait::Elementwise>() || op->hasTrait<mlir::OpTrait::ConstantLike>() ||
          llvm::isa<tt::SplatOp, tt::MakeRangeOp, tt::ExpandDimsOp, tt::BroadcastOp>(op));
}

// Whether `op` is a conversion that takes little shared memory beside that of `alloc`.
bool IsSmallConversion(Operation* op, ttg::LocalAllocOp alloc) {
  constexpr int64_t kLeastRatio = 16;
  return llvm::isa<ttg::ConvertLayoutOp>(op) && ScratchBytes(op) * kLeastRatio <= BufferBytes(alloc.getType());
}

void HoistFilledBuffer(ttg::LocalAllocOp alloc) {
  if (!alloc.getSrc()) return;
  Operation* def = alloc.getSrc().getDefiningOp();
  Operation* place = alloc;
  for (Operation* op = place->getPrevNode(); op && op != def; op = op->getPrevNode()) {
    if (!IsLight(op) && !IsSmallConversion(op, alloc)) break;
    place = op;
  }
  if (place != alloc.getOperation()) alloc->moveBefore(place);
}

// The operations after `wait` in its block that `convert` needs, itself last. Empty where these are not light, or
// where the result would take many registers for long.
llvm::SetVector<Operation*> SliceAfter(ttg::AsyncWaitOp wait, ttg::ConvertLayoutOp convert) {
  constexpr int kMostRegisters = 16;
  llvm::SetVector<Operation*> slice;
  if (ttg::ToLinearLayout(convert.getType()).InSize("register") > kMostRegisters) return slice;
  mlir::BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  options.filter = [&](Operation* op) { return op->getBlock() == wait->getBlock() && wait->isBeforeInBlock(op); };
  (void)mlir::getBackwardSlice(convert.getOperation(), &slice, options);
  if (!llvm::all_of(slice, [&](Operation* op) { return op == convert.getOperation() || IsLight(op); })) slice.clear();
  return slice;
}

void AdvanceConversion(ttg::AsyncWaitOp wait) {
  Operation* reader = nullptr;
  for (Operation* user : wait->getUsers())
    if (user->getBlock() == wait->getBlock() && (!reader || user->isBeforeInBlock(reader))) reader = user;
  if (!reader || reader->hasTrait<mlir::OpTrait::IsTerminator>()) return;
  for (auto convert : wait->getBlock()->getOps<ttg::ConvertLayoutOp>()) {
    if (!reader->isBeforeInBlock(convert)) continue;
    Scratch scratch = ScratchOf(convert);
    if (scratch.bytes == 0 || scratch.stays_in_warp) continue;
    llvm::SetVector<Operation*> slice = SliceAfter(wait, convert);
    if (slice.empty()) continue;
    Operation* place = wait;
    for (Operation* op : slice) {
      op->moveAfter(place);
      place = op;
    }
    return;
  }
}

// Words of an operand whose reads may be on their way at a barrier. These are enough to fill the time until it opens.
constexpr double kWordsAtBarrier = 64;

// Reads what the threads of this block's iteration make before what was there already, if the latter is large.
void ReadMadeFirst(tt::DotOp dot) {
  auto read_of = [&](Value operand) {
    auto read = operand.getDefiningOp<ttg::LocalLoadOp>();
    return read && read->getBlock() == dot->getBlock() ? read : ttg::LocalLoadOp();
  };
  ttg::LocalLoadOp a = read_of(dot.getA()), b = read_of(dot.getB());
  if (!a || !b) return;
  auto [before, after] = a->isBeforeInBlock(b) ? std::pair(a, b) : std::pair(b, a);
  auto made = after.getSrc().getDefiningOp<ttg::LocalAllocOp>();
  if (!made || !made.getSrc() || made->getBlock() != dot->getBlock() || !made->isBeforeInBlock(before)) return;
  if (before.getSrc().getDefiningOp<ttg::LocalAllocOp>() && before.getSrc().getParentBlock() == dot->getBlock()) return;
  auto type = llvm::cast<RankedTensorType>(before.getType());
  const double words = CostModel().Registers(type, type.getEncoding()) * type.getElementTypeBitWidth() / 32;
  if (words > kWordsAtBarrier) after->moveBefore(before);
}

// Lets loads of a block begin before conversions through shared memory.
class LoadAdvancer final {
 public:
  void Run(Block& block) {
    words_ = 0;
    llvm::SmallVector<tt::LoadOp> loads(block.getOps<tt::LoadOp>());
    for (tt::LoadOp load : loads)
      if (!load.getIsVolatile()) Advance(load);
  }

 private:
  // Of a thread, which waiting values may take: a quarter of its registers.
  static constexpr double kMostWords = 64;

  static bool MayPass(Operation* op) {
    if (auto load = llvm::dyn_cast<tt::LoadOp>(op)) return !load.getIsVolatile();
    return llvm::isa<tt::ReduceOp>(op) || (mlir::isPure(op) && op->getNumRegions() == 0);
  }

  void Advance(tt::LoadOp load) {
    llvm::SetVector<Operation*> needed;  // what moves, the last one first
    needed.insert(load);
    Operation* place = nullptr;
    size_t moves = 0;
    for (Operation* op = load->getPrevNode(); op && MayPass(op); op = op->getPrevNode()) {
      const bool is_needed = llvm::any_of(op->getUsers(), [&](Operation* user) { return needed.contains(user); });
      if (is_needed && !IsLight(op)) break;
      if (is_needed) needed.insert(op);
      if (is_needed || !llvm::isa<ttg::ConvertLayoutOp>(op) || ScratchBytes(op) == 0) continue;
      place = op;
      moves = needed.size();
    }
    const double words = Words(load.getType());
    if (!place || words_ + words > kMostWords) return;
    words_ += words;
    for (Operation* op : llvm::reverse(llvm::ArrayRef(needed.getArrayRef()).take_front(moves))) op->moveBefore(place);
  }

  double Words(mlir::Type type) {
    mlir::Type element = tt::ElementOf(type);
    const double bits = llvm::isa<tt::PtrType>(element) ? 64 : std::max(8u, element.getIntOrFloatBitWidth());
    auto tensor = llvm::dyn_cast<RankedTensorType>(type);
    return bits / 32 * (tensor ? costs_.Registers(tensor, tensor.getEncoding()) : 1);
  }

  CostModel costs_;
  double words_ = 0;  // of loads that have moved
};

class ReorderInstructionsPass : public impl::ReorderInstructionsPassBase<ReorderInstructionsPass> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<tt::FuncOp>()) {
      Sinker().RunAll(func.getBody());
      func.walk([](ttg::LocalAllocOp alloc) { HoistFilledBuffer(alloc); });
      func.walk([](ttg::AsyncWaitOp wait) { AdvanceConversion(wait); });
      func.walk([](tt::DotOp dot) { ReadMadeFirst(dot); });
      for (Block& block : func.getBody()) LoadAdvancer().Run(block);
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
