// SPDX-License-Identifier: Apache-2.0
// Overlaps the iterations of scheduled loops (see schedule_loops.cc). Loads with a latency become copies to buffers in
// shared memory that go on while the loop computes:
//
//   scf.for %i … iter_args(%p = …) {                     %bufs = ttg.local_alloc : !ttg.memdesc<3x…>
//     %a = tt.load %p, %m {tt.latency = 2}               // iterations 0 and 1: copies into slots 0 and 1, groups %g0,
//     %g1 %x = ttg.convert_layout %a : … -> #dot_op     ->   scf.for %i … iter_args(%p = …, %u = %g0, %v = %g1, %slot =
//     2) { %d = tt.dot %x, …                                    %next = %slot + 1, or 0 after the last
//                                                          %done = ttg.async_wait %u {num = 1}
//                                                          %w = ttg.memdesc_index %bufs[%slot]
//                                                          %c = ttg.async_copy_global_to_local %p, %w mask %m & %there
//                                                          %g = ttg.async_commit_group tokens %c
//                                                          %r = ttg.memdesc_index %bufs[%next]
//                                                          %x = ttg.local_load %r token %done : … -> #dot_op
//                                                          %d = tt.dot %x, …
//                                                          scf.yield …, %v, %g, %next
//                                                        }
//                                                        ttg.async_wait {num = 0}
//                                                        ttg.local_dealloc %bufs
//
// The tokens say what waits for what. A group waits for its copies, a wait for the groups whose data it makes readable,
// a read for its wait. All copies of an iteration of the new loop are one group. A wait takes the token of the last
// group whose data the iteration reads, which the loop carries from the iteration that committed it.
//
// A read that a cache can be told of stays a read at its use. Its prefetch runs in the early stage, under the condition
// that its iteration exists. Nothing waits for the token.
//
// Other loads in early stages stay loads, with a mask that leaves out iterations that are not there; what they load
// waits in registers.
#include "compiler/analysis/element_ranges.h"
#include "compiler/dots/load_buffers.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/padding.h"
#include "compiler/ir/prefetchable.h"
#include "compiler/passes/passes.h"
#include "compiler/pipelining/expand_loop.h"
#include "compiler/pipelining/loop_schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_PIPELINEPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

struct BufferedLoad {
  tt::LoadOp load;
  int stage = 0, latency = 0;
  std::optional<int> all{};  // so many iterations at most, whose copies all begin before the loop
  llvm::SmallVector<BufferRead> reads;
  Value multibuffer;

  RankedTensorType Type() const { return llvm::cast<RankedTensorType>(tt::LoadOp(load).getType()); }
  bool Has(llvm::StringRef attr) const { return tt::LoadOp(load)->hasAttr(attr); }
  int Size() const {
    const int size = latency + (Has(kInPlaceAttr) ? 0 : Has(kReadOnAttr) ? 2 : 1);
    return all ? std::min(*all, size) : size;
  }
  // From the slot that an iteration fills to the one that it reads, which was filled `latency` iterations ago.
  int Ahead() const { return Size() - latency; }
  int ReadStage() const { return stage + latency; }
};

ttg::MemDescType BufferType(llvm::ArrayRef<int64_t> shape, mlir::Type element, mlir::Attribute encoding) {
  mlir::MLIRContext* context = element.getContext();
  return ttg::MemDescType::get(context, shape, element, encoding, ttg::SharedMemorySpaceAttr::get(context),
                               /*mutableMemory=*/true, shape);
}

Value MakeMultibuffer(OpBuilder& b, mlir::Location loc, const BufferedLoad& buffered) {
  RankedTensorType type = buffered.Type();
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), buffered.Size());
  return ttg::LocalAllocOp::create(b, loc,
                                   BufferType(shape, type.getElementType(), LoadBufferEncoding(type, buffered.reads)),
                                   /*src=*/Value(), /*alignment=*/mlir::IntegerAttr());
}

Value BufferAt(OpBuilder& b, mlir::Location loc, Value multibuffer, Value slot) {
  auto type = llvm::cast<ttg::MemDescType>(multibuffer.getType());
  return ttg::MemDescIndexOp::create(
      b, loc, BufferType(type.getShape().drop_front(), type.getElementType(), type.getEncoding()), multibuffer, slot);
}

Value Transposed(OpBuilder& b, mlir::Location loc, Value buffer, llvm::ArrayRef<int32_t> order) {
  if (order.empty()) return buffer;
  auto type = llvm::cast<ttg::MemDescType>(buffer.getType());
  llvm::SmallVector<int64_t> shape;
  for (int32_t from : order) shape.push_back(type.getShape()[from]);
  mlir::Attribute encoding = ttg::TransBufferEncoding(type.getEncoding(), order);
  return ttg::MemDescTransOp::create(b, loc, BufferType(shape, type.getElementType(), encoding), buffer, order);
}

// `condition` for all elements of `type`, a type of masks.
Value Spread(OpBuilder& b, mlir::Location loc, Value condition, mlir::Type type) {
  return llvm::isa<RankedTensorType>(type) ? tt::SplatOp::create(b, loc, type, condition).getResult() : condition;
}

// `mask`, which may be null, and in iterations that there are; null: always.
Value GuardedMask(OpBuilder& b, tt::LoadOp load, Value mask, Value exists) {
  if (!exists) return mask;
  Value guard = Spread(b, load.getLoc(), exists, tt::MaskTypeOf(load.getPtr().getType()));
  return mask ? arith::AndIOp::create(b, load.getLoc(), mask, guard).getResult() : guard;
}

// What the copy of `load` takes. A mask that names a block is made where the copy is, so that it does not come from
// another iteration.
llvm::SmallVector<Value> UsesOfCopy(tt::LoadOp load) {
  llvm::SmallVector<Value> uses = {load.getPtr()};
  if (Value mask = load.getMask()) {
    if (auto block = mask.getDefiningOp<tt::BlockMaskOp>()) {
      llvm::append_range(uses, block->getOperands());
    } else {
      uses.push_back(mask);
    }
    if (NanFlagOf(load.getOther())) uses.push_back(load.getOther());
  }
  return uses;
}

Value MaskOfCopy(OpBuilder& b, tt::LoadOp load, StepContext& context) {
  Value mask = load.getMask();
  auto block = mask ? mask.getDefiningOp<tt::BlockMaskOp>() : tt::BlockMaskOp();
  if (!block) return mask ? context.Get(mask) : Value();
  mlir::IRMapping mapping;
  for (Value operand : block->getOperands()) mapping.map(operand, context.Get(operand));
  Operation* clone = b.clone(*block, mapping);
  EraseScheduleAttrs(clone);
  return clone->getResult(0);
}

// Appends its token to `tokens`.
LoopStep CopyStep(const BufferedLoad& buffered, llvm::SmallVector<Value>& tokens) {
  LoopStep step;
  tt::LoadOp load = buffered.load;
  step.stage = buffered.stage;
  step.uses = UsesOfCopy(load);
  step.emit = [load, multibuffer = buffered.multibuffer, size = buffered.Size(), is_early = buffered.all.has_value(),
               &tokens](OpBuilder& b, StepContext& context) mutable {
    if (is_early && context.HasRun()) return llvm::SmallVector<Value>();
    mlir::Location loc = load.getLoc();
    Value mask = GuardedMask(b, load, MaskOfCopy(b, load, context), context.Exists());
    Value buffer = BufferAt(b, loc, multibuffer, context.Slot(size, 0));
    Value other = mask && NanFlagOf(load.getOther()) ? context.Get(load.getOther()) : Value();
    tokens.push_back(ttg::AsyncCopyGlobalToLocalOp::create(b, loc, context.Get(load.getPtr()), buffer, mask, other,
                                                           load.getCache(), load.getEvict()));
    return llvm::SmallVector<Value>();
  };
  return step;
}

// `wait`: what the iteration's wait defines.
LoopStep ReadStep(const BufferedLoad& buffered, const BufferRead& read, Value wait) {
  LoopStep step;
  tt::LoadOp load = buffered.load;
  step.stage = buffered.ReadStage();
  step.defines.push_back(read.defines);
  bool has_fill = HasFill(load);
  if (has_fill) step.uses.append({load.getMask(), load.getOther()});
  step.emit = [=, multibuffer = buffered.multibuffer, size = buffered.Size(), ahead = buffered.Ahead()](
                  OpBuilder& b, StepContext& context) mutable {
    mlir::Location loc = load.getLoc();
    Value buffer = Transposed(b, loc, BufferAt(b, loc, multibuffer, context.Slot(size, ahead)), read.order);
    Value value = ttg::LocalLoadOp::create(b, loc, read.defines.getType(), buffer, context.OfNewIteration(wait));
    if (has_fill)
      value = arith::SelectOp::create(b, loc, context.Get(load.getMask()), value, context.Get(load.getOther()));
    return llvm::SmallVector<Value>{value};
  };
  return step;
}

// Whether the operation could do harm in an iteration that is not there. A division cannot by what divides in all
// iterations, once the loop has run.
bool NeedsGuard(Operation* op, ForOp loop, const StepContext& context) {
  if (!IsDivision(op)) return llvm::isa<tt::LoadOp>(op);
  mlir::Attribute divisor;
  bool is_constant = mlir::matchPattern(op->getOperand(1), mlir::m_Constant(&divisor));
  return !is_constant && !(context.HasRun() && loop.isDefinedOutsideOfLoop(op->getOperand(1)));
}

// What divides where nobody looks at the quotient: a multiple of all that divisors are known to be multiples of. So it
// hides nothing of that.
Value AnyDivisor(OpBuilder& b, mlir::Location loc, mlir::Type type) {
  auto element = llvm::dyn_cast<mlir::IntegerType>(mlir::getElementTypeOrSelf(type));
  if (!element || element.getWidth() < 2) return arith::ConstantOp::create(b, loc, b.getOneAttr(type));
  mlir::TypedAttr divisor =
      b.getIntegerAttr(element, llvm::APInt::getOneBitSet(element.getWidth(), element.getWidth() - 2));
  if (auto shaped = llvm::dyn_cast<mlir::ShapedType>(type)) divisor = mlir::DenseElementsAttr::get(shaped, divisor);
  return arith::ConstantOp::create(b, loc, divisor);
}

// Keeps `op` from that where `exists` (null: always) is false.
void Guard(OpBuilder& b, Operation* op, Value exists) {
  if (!exists) return;
  OpBuilder::InsertionGuard at_end(b);
  b.setInsertionPoint(op);
  if (auto load = llvm::dyn_cast<tt::LoadOp>(op)) {
    // Nobody looks at what an iteration that there is not has loaded.
    if (!load.getMask())
      load.getOtherMutable().assign(
          mlir::ub::PoisonOp::create(b, load.getLoc(), load.getType(), mlir::ub::PoisonAttr()));
    return load.getMaskMutable().assign(GuardedMask(b, load, load.getMask(), exists));
  }
  mlir::Location loc = op->getLoc();
  mlir::Type type = op->getResult(0).getType();
  Value condition = Spread(b, loc, exists, tt::WithElement(type, b.getI1Type()));
  op->setOperand(1, arith::SelectOp::create(b, loc, condition, op->getOperand(1), AnyDivisor(b, loc, type)));
}

LoopStep PlainStep(Operation* op, ForOp loop, int stage) {
  LoopStep step;
  step.stage = stage;
  step.uses = UsesOf(op);
  step.defines.append(op->result_begin(), op->result_end());
  step.emit = [op, loop, uses = step.uses](OpBuilder& b, StepContext& context) {
    mlir::IRMapping mapping;
    for (Value use : uses) mapping.map(use, context.Get(use));
    Value exists = NeedsGuard(op, loop, context) ? context.Exists() : Value();
    Operation* clone = b.clone(*op, mapping);
    EraseScheduleAttrs(clone);
    Guard(b, clone, exists);
    return llvm::SmallVector<Value>(clone->getResults());
  };
  return step;
}

LoopStep PrefetchStep(Operation* op, int stage) {
  LoopStep step;
  step.stage = stage;
  step.uses = UsesOf(op);
  step.emit = [op, uses = step.uses](OpBuilder& b, StepContext& context) {
    mlir::IRMapping mapping;
    for (Value use : uses) mapping.map(use, context.Get(use));
    llvm::cast<ttg::PrefetchableOpInterface>(op).EmitPrefetch(b, mapping, context.Exists());
    return llvm::SmallVector<Value>();
  };
  return step;
}

class LoopPipeliner final {
 public:
  LoopPipeliner(ForOp loop, const LoopSchedule& schedule) : loop_(loop), schedule_(schedule) {}

  void Run() {
    OpBuilder b(loop_);
    FindBufferedLoads(b);
    llvm::SmallVector<int> multibuffers;
    for (auto& [op, buffered] : buffered_)
      if (!llvm::is_contained(multibuffers, buffered.Size())) multibuffers.push_back(buffered.Size());
    llvm::SmallVector<LoopStep> steps = Steps();
    auto [expanded, end] = ExpandLoop(loop_, schedule_.max_stage(), steps, multibuffers, schedule_.EndsLate());
    for (llvm::StringRef name : {kMaxStageAttr, kNumStagesAttr}) expanded->removeAttr(name);
    if (buffered_.empty()) return;
    b.setInsertionPointAfter(end);
    // The copies of iterations that are not there write zeros all the same.
    ttg::AsyncWaitOp::create(b, expanded.getLoc(), mlir::ValueRange(), /*num=*/0);
    for (auto& [op, buffered] : buffered_) ttg::LocalDeallocOp::create(b, expanded.getLoc(), buffered.multibuffer);
  }

 private:
  void FindBufferedLoads(OpBuilder& b) {
    for (Operation* op : schedule_.order()) {
      auto load = llvm::dyn_cast<tt::LoadOp>(op);
      if (!load || !IsBuffered(load)) continue;
      BufferedLoad buffered{load, schedule_.StageOf(load), LatencyOf(load), {}, {}, {}};
      buffered.reads = ReadsOf(load, loop_.getBody());
      const int64_t iterations = MostIterations(loop_);
      if (iterations <= schedule_.max_stage() - buffered.stage) buffered.all = static_cast<int>(iterations);
      buffered.multibuffer = MakeMultibuffer(b, load.getLoc(), buffered);
      for (const BufferRead& read : buffered.reads)
        for (Operation* user = read.defines.getDefiningOp(); user != op; user = user->getOperand(0).getDefiningOp())
          absorbed_.insert(user);
      buffered_.insert({load, buffered});
    }
  }

  // The steps in the order of an iteration: wait, the program's own with the copies, a commit after the last copy.
  // Reads just before the first use.
  llvm::SmallVector<LoopStep> Steps() {
    llvm::SmallVector<LoopStep> steps;
    size_t end_of_copies = 0;
    for (Operation* op : schedule_.order()) {
      auto buffered = buffered_.find(op);
      if (buffered != buffered_.end()) {
        steps.push_back(CopyStep(buffered->second, copies_));
        end_of_copies = steps.size();
      } else if (IsPrefetched(op)) {
        steps.push_back(PrefetchStep(op, schedule_.StageOf(op)));
      } else if (!absorbed_.contains(op)) {
        steps.push_back(PlainStep(op, loop_, schedule_.StageOf(op)));
      }
    }
    if (!buffered_.empty()) AddGroupSteps(steps, end_of_copies);
    for (Operation* op : schedule_.order())
      if (IsPrefetched(op)) Insert(steps, PlainStep(op, loop_, schedule_.ResultStageOf(op)));
    return steps;
  }

  // The commit, the wait and the reads.
  void AddGroupSteps(llvm::SmallVector<LoopStep>& steps, size_t end_of_copies) {
    // In the old loop they only stand for what the steps define.
    OpBuilder b(loop_.getBody()->getTerminator());
    Value group = ttg::AsyncCommitGroupOp::create(b, loop_.getLoc(), mlir::ValueRange());
    Value wait = ttg::AsyncWaitOp::create(b, loop_.getLoc(), mlir::ValueRange(), /*num=*/0);
    steps.insert(steps.begin() + end_of_copies, CommitStep(group));
    int latency = schedule_.max_stage();
    for (auto& [op, buffered] : buffered_) {
      for (const BufferRead& read : buffered.reads) Insert(steps, ReadStep(buffered, read, wait));
      latency = std::min(latency, buffered.latency);
    }
    steps.insert(steps.begin(), WaitStep(group, wait, latency));
  }

  // In every iteration from the first on, so that groups count iterations.
  LoopStep CommitStep(Value group) {
    LoopStep step;
    step.defines.push_back(group);
    step.emit = [this](OpBuilder& b, StepContext&) {
      Value token = ttg::AsyncCommitGroupOp::create(b, loop_.getLoc(), copies_);
      copies_.clear();
      return llvm::SmallVector<Value>{token};
    };
    return step;
  }

  // For the group of `latency` iterations ago.
  LoopStep WaitStep(Value group, Value wait, int latency) {
    LoopStep step;
    step.stage = latency;
    step.runs_after = true;
    step.uses.push_back(group);
    step.defines.push_back(wait);
    step.emit = [this, group, latency](OpBuilder& b, StepContext& context) {
      return llvm::SmallVector<Value>{
          ttg::AsyncWaitOp::create(b, loop_.getLoc(), context.Get(group), /*num=*/latency - 1)};
    };
    return step;
  }

  // Before the first step of its stage that uses what it defines, else at the end.
  static void Insert(llvm::SmallVector<LoopStep>& steps, LoopStep read) {
    auto first = llvm::find_if(steps, [&](const LoopStep& step) {
      return step.stage == read.stage && llvm::is_contained(step.uses, read.defines[0]);
    });
    steps.insert(first, std::move(read));
  }

  ForOp loop_;
  const LoopSchedule& schedule_;
  llvm::MapVector<Operation*, BufferedLoad> buffered_;
  llvm::DenseSet<Operation*> absorbed_;
  llvm::SmallVector<Value> copies_;  // tokens of the iteration's copies, while it is emitted
};

// Whether an iteration of the new loop has read a slot before it fills the slot anew.
bool IsReadFirst(tt::LoadOp load, const LoopSchedule& schedule, ForOp loop) {
  if (!load->hasAttr(kInPlaceAttr)) return true;
  const int read_stage = schedule.StageOf(load) + LatencyOf(load);
  llvm::SmallVector<BufferRead> reads = ReadsOf(load, loop.getBody());
  for (Operation* op : schedule.order()) {
    if (op == load.getOperation()) return reads.empty();
    if (schedule.StageOf(op) == read_stage)
      llvm::erase_if(reads, [&](const BufferRead& read) { return llvm::is_contained(UsesOf(op), read.defines); });
  }
  return false;
}

// Whether every load that shall go through a buffer can.
bool CanBuffer(const LoopSchedule& schedule, ForOp loop) {
  return llvm::all_of(schedule.order(), [&](Operation* op) {
    if (!IsBuffered(op)) return true;
    auto load = llvm::dyn_cast<tt::LoadOp>(op);
    auto type = load ? llvm::dyn_cast<RankedTensorType>(load.getType()) : RankedTensorType();
    return type && type.getElementType().isIntOrFloat() && HasCopies(type) && IsReadFirst(load, schedule, loop);
  });
}

void EraseSchedule(ForOp loop) {
  loop->removeAttr(kMaxStageAttr);
  for (Operation& op : *loop.getBody()) EraseScheduleAttrs(&op);
}

class PipelinePass : public impl::PipelinePassBase<PipelinePass> {
  void runOnOperation() override {
    llvm::SmallVector<ForOp> loops;
    getOperation().walk([&](ForOp loop) { loops.push_back(loop); });
    for (ForOp loop : loops) {
      std::optional<LoopSchedule> schedule = LoopSchedule::Read(loop);
      if (schedule && schedule->IsLegal(loop) && CanBuffer(*schedule, loop) && CanExpand(loop)) {
        LoopPipeliner(loop, *schedule).Run();
      } else {
        EraseSchedule(loop);
      }
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
