// SPDX-License-Identifier: Apache-2.0
// Take two steps, A and B. A is in stage 0, makes %x from the loop's %p, and yields the next %p. B is in stage 2 and
// uses %x:
//
//   scf.for %i … iter_args(%p = %p0) {         %x0, %p1 = A(%p0)             (if there is an iteration 0)
//     %x, %q = A(%p)                           %x1, %p2 = A(%p1)             (if there is an iteration 1)
//     B(%x)                              ->    scf.for %i … iter_args(%u = %x0, %v = %x1, %p = %p2) {
//     yield %q                                   %x, %q = A(%p)              (if there is an iteration %i + 2)
//   }                                            B(%u)
//                                                yield %v, %x, %q
//                                              }
//
// In each iteration of the new loop a value has an age: the new loop's iterations since its own began. A step of stage
// s sees all values at age s; a step's result comes into being at the age of its stage. Values that are needed at a
// higher age are carried on, one argument of the new loop for each age. The loop's own arguments are carried likewise:
// at age a, the next iteration sees what the yielded value is at age a in this one. Values that follow from the counter
// alone by few operations are made anew at each age, as carrying them would hold registers.
#include "compiler/pipelining/expand_loop.h"

#include <array>
#include <limits>

#include "compiler/ir/speculation.h"
#include "compiler/ir/tt_dialect.h"
#include "compiler/pipelining/loop_iterations.h"
#include "llvm/ADT/MapVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::BlockArgument;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;

// Operations up to the counter that are rather done again than carried.
constexpr int kMaxRepeatedOps = 8;
// Beyond this, distances of iterations might overflow 64 bits.
constexpr int64_t kMaxWideStep = int64_t{1} << 40;

unsigned WidthOf(mlir::Type counter) {
  return llvm::isa<mlir::IndexType>(counter) ? 64 : counter.getIntOrFloatBitWidth();
}

// Upper bounds for the counter's value `iterations` iterations before: clamped where they would lie below all
// numbers.
class EarlyBounds final {
 public:
  explicit EarlyBounds(ForOp loop) : loop_(loop) {}

  Value Get(mlir::OpBuilder& b, int iterations) {
    Value upper = loop_.getUpperBound(), step = loop_.getStep();
    if (iterations == 0) return upper;
    mlir::Location loc = loop_.getLoc();
    mlir::Type type = upper.getType();
    unsigned width = WidthOf(type);
    auto constant = [&](mlir::Type of, int64_t value) {
      return arith::ConstantOp::create(b, loc, b.getIntegerAttr(of, value)).getResult();
    };
    int64_t lowest = -(int64_t{1} << (width - 1));
    if (width == 64) {
      Value distance = b.createOrFold<arith::MulIOp>(loc, step, constant(type, iterations));
      Value least = b.createOrFold<arith::AddIOp>(loc, distance, constant(type, lowest));
      return b.createOrFold<arith::SubIOp>(loc, b.createOrFold<arith::MaxSIOp>(loc, upper, least), distance);
    }
    mlir::Type wide = b.getI64Type();
    Value distance =
        b.createOrFold<arith::MulIOp>(loc, b.createOrFold<arith::ExtSIOp>(loc, wide, step), constant(wide, iterations));
    Value bound = b.createOrFold<arith::SubIOp>(loc, b.createOrFold<arith::ExtSIOp>(loc, wide, upper), distance);
    bound = b.createOrFold<arith::MaxSIOp>(loc, bound, constant(wide, lowest));
    return b.createOrFold<arith::TruncIOp>(loc, type, bound);
  }

 private:
  ForOp loop_;
};

class Expander final {
 public:
  Expander(ForOp loop, int max_stage, llvm::ArrayRef<LoopStep> steps, llvm::ArrayRef<int> multibuffers, bool last_after)
      : loop_(loop),
        b_(loop),
        loc_(loop.getLoc()),
        max_stage_(max_stage),
        steps_(steps),
        multibuffers_(multibuffers),
        last_after_(last_after),
        bounds_(loop) {
    for (const LoopStep& step : steps)
      for (Value value : step.defines) made_at_[value] = step.stage;
  }

  ExpandedLoop Run() {
    for (int new_iteration = 0; new_iteration < max_stage_; ++new_iteration) EmitPrologue(new_iteration);
    Demand();
    EmitLoop();
    last_after_ ? EmitLastStage() : TakeResults();
    Operation* end = loop_->getPrevNode();  // everything was made in front of it
    loop_.erase();
    return {new_loop_, end};
  }

 private:
  using Aged = std::pair<Value, int>;
  // By the size of a multibuffer: its slot in this new iteration, in the next one, and in the one after.
  using Slots = llvm::DenseMap<int, std::array<Value, 3>>;
  class PrologueContext;
  class LoopContext;

  bool IsOutside(Value value) { return loop_.isDefinedOutsideOfLoop(value); }
  bool IsCounter(Value value) { return value == loop_.getInductionVar(); }
  Value YieldedFor(BlockArgument argument) { return loop_.getTiedLoopYieldedValue(argument)->get(); }
  Value I32(int value) { return arith::ConstantIntOp::create(b_, loc_, value, 32); }

  // slot + 1, or 0 after the last
  Value NextSlot(Value slot, int size) {
    if (size == 1) return I32(0);
    Value next = arith::AddIOp::create(b_, loc_, slot, I32(1));
    Value wraps = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, next, I32(size));
    return arith::SelectOp::create(b_, loc_, wraps, I32(0), next);
  }

  // counter + iterations * step
  Value Advanced(Value counter, int iterations) {
    if (iterations == 0) return counter;
    Value factor = arith::ConstantOp::create(b_, loc_, b_.getIntegerAttr(counter.getType(), iterations));
    Value distance = b_.createOrFold<arith::MulIOp>(loc_, loop_.getStep(), factor);
    return b_.createOrFold<arith::AddIOp>(loc_, counter, distance);
  }

  // The value in iteration `iteration`, made before the new loop.
  Value InIteration(Value value, int iteration) {
    if (IsOutside(value)) return value;
    if (auto made = first_values_.find({value, iteration}); made != first_values_.end()) return made->second;
    if (IsCounter(value)) return first_values_[{value, iteration}] = Advanced(loop_.getLowerBound(), iteration);
    auto argument = llvm::cast<BlockArgument>(value);
    if (iteration == 0) return loop_.getTiedLoopInit(argument)->get();
    return InIteration(YieldedFor(argument), iteration - 1);
  }

  void EmitPrologue(int new_iteration);
  void EmitStep(const LoopStep& step, StepContext& context, llvm::function_ref<void(Value, Value)> define) {
    llvm::SmallVector<Value> made = step.emit(b_, context);
    for (auto [old_value, new_value] : llvm::zip_equal(step.defines, made)) define(old_value, new_value);
  }

  // Whether `value` follows from the counter and values from outside by few cheap operations.
  bool IsRepeatable(Value value) {
    auto [entry, is_new] = repeatable_.try_emplace(value, false);
    if (is_new) entry->second = CountRepeated(value) <= kMaxRepeatedOps;
    return entry->second;
  }
  int CountRepeated(Value value) {
    if (IsOutside(value) || IsCounter(value)) return 0;
    Operation* op = value.getDefiningOp();
    if (!op || op->getNumResults() != 1 || op->getNumRegions() || !mlir::isPure(op)) return kMaxRepeatedOps + 1;
    bool cheap = op->hasTrait<mlir::OpTrait::Elementwise>() || mlir::matchPattern(op, mlir::m_Constant()) ||
                 llvm::isa<arith::ArithDialect>(op->getDialect()) ||
                 llvm::isa<tt::SplatOp, tt::MakeRangeOp, tt::ExpandDimsOp, tt::BroadcastOp, tt::AddPtrOp>(op);
    if (!cheap) return kMaxRepeatedOps + 1;
    int count = 1;
    for (Value operand : op->getOperands()) {
      count += CountRepeated(operand);
      if (count > kMaxRepeatedOps) break;
    }
    return count;
  }

  // Notes which values have to be carried at which ages.
  void Demand() {
    for (const LoopStep& step : steps_)
      for (Value use : step.uses) Demand(use, step.stage);
    for (BlockArgument argument : loop_.getRegionIterArgs())
      if (!loop_.getTiedLoopResult(argument).use_empty()) Demand(argument, max_stage_);
  }
  void Demand(Value value, int age) {
    if (IsOutside(value) || IsCounter(value)) return;
    auto argument = llvm::dyn_cast<BlockArgument>(value);
    if (!argument && (made_at_.lookup(value) == age || IsRepeatable(value))) return;
    if (!carried_.insert({{value, age}, Value()}).second) return;
    argument ? Demand(YieldedFor(argument), age) : Demand(value, age - 1);
  }

  // The value in this new iteration of the new loop.
  Value AtAge(Value value, int age) {
    if (IsOutside(value)) return value;
    if (auto made = new_values_.find({value, age}); made != new_values_.end()) return made->second;
    if (IsCounter(value)) return new_values_[{value, age}] = Advanced(Counter(), max_stage_ - age);
    Operation* op = value.getDefiningOp();
    if (!IsRepeatable(value)) llvm::report_fatal_error("the schedule is not legal");
    mlir::IRMapping mapping;
    for (Value operand : op->getOperands()) mapping.map(operand, AtAge(operand, age));
    Operation* again = b_.clone(*op, mapping);
    MarkSpeculated(again);
    return new_values_[{value, age}] = again->getResult(0);
  }

  // Of the new loop; after it, of the old one's last iteration.
  Value Counter() {
    if (b_.getBlock() == new_loop_.getBody()) return new_loop_.getInductionVar();
    mlir::Type type = loop_.getUpperBound().getType();
    Value before = arith::SubIOp::create(b_, loc_, CountIterations(b_, loop_),
                                         arith::ConstantOp::create(b_, loc_, b_.getI64IntegerAttr(1)));
    if (llvm::isa<mlir::IndexType>(type)) {
      before = arith::IndexCastOp::create(b_, loc_, type, before);
    } else if (WidthOf(type) < 64) {
      before = arith::TruncIOp::create(b_, loc_, type, before);
    }
    Value distance = b_.createOrFold<arith::MulIOp>(loc_, loop_.getStep(), before);
    return b_.createOrFold<arith::AddIOp>(loc_, loop_.getLowerBound(), distance);
  }

  void EmitLoop();
  void TakeResults();
  void EmitLastStage();

  ForOp loop_, new_loop_;
  mlir::OpBuilder b_;
  mlir::Location loc_;
  int max_stage_;
  llvm::ArrayRef<LoopStep> steps_;
  llvm::ArrayRef<int> multibuffers_;
  bool last_after_;
  EarlyBounds bounds_;
  llvm::DenseMap<Value, int> made_at_;
  llvm::DenseMap<Value, bool> repeatable_;
  llvm::DenseMap<Aged, Value> first_values_;  // by iteration
  llvm::DenseMap<Aged, Value> new_values_;    // by age
  llvm::MapVector<Aged, Value> carried_;      // the arguments of the new loop
};

class Expander::PrologueContext final : public StepContext {
 public:
  PrologueContext(Expander& expander, int new_iteration, int stage)
      : x_(expander), new_iteration_(new_iteration), iteration_(new_iteration - stage) {}
  Value Get(Value value) override { return x_.InIteration(value, iteration_); }
  Value OfNewIteration(Value value) override {
    return x_.InIteration(value, new_iteration_ - x_.made_at_.lookup(value));
  }
  Value Exists() override {
    auto [exists, is_new] = x_.first_values_.try_emplace({Value(), iteration_}, Value());
    if (is_new) {
      Value bound = x_.bounds_.Get(x_.b_, iteration_);
      Value condition =
          x_.b_.createOrFold<arith::CmpIOp>(x_.loc_, arith::CmpIPredicate::slt, x_.loop_.getLowerBound(), bound);
      exists->second = mlir::matchPattern(condition, mlir::m_One()) ? Value() : condition;
    }
    return exists->second;
  }
  bool HasRun() const override { return false; }
  Value Slot(int size, int ahead) override { return x_.I32((new_iteration_ + ahead) % size); }

 private:
  Expander& x_;
  int new_iteration_, iteration_;
};

class Expander::LoopContext final : public StepContext {
 public:
  LoopContext(Expander& expander, int stage, llvm::ArrayRef<Value> bounds, const Slots& slots)
      : x_(expander), stage_(stage), bounds_(bounds), slots_(slots) {}
  Value Get(Value value) override { return x_.AtAge(value, stage_); }
  Value OfNewIteration(Value value) override { return x_.AtAge(value, x_.made_at_.lookup(value)); }
  Value Exists() override {
    if (stage_ >= x_.max_stage_ - (x_.last_after_ ? 1 : 0)) return {};
    Value& exists = x_.new_values_[{Value(), stage_}];
    if (!exists)
      exists = arith::CmpIOp::create(x_.b_, x_.loc_, arith::CmpIPredicate::slt, x_.new_loop_.getInductionVar(),
                                     bounds_[x_.max_stage_ - stage_]);
    return exists;
  }
  bool HasRun() const override { return true; }
  Value Slot(int size, int ahead) override { return slots_.lookup(size)[ahead]; }

 private:
  Expander& x_;
  int stage_;
  llvm::ArrayRef<Value> bounds_;
  const Slots& slots_;
};

void Expander::EmitPrologue(int new_iteration) {
  for (const LoopStep& step : steps_) {
    if (step.stage > new_iteration) continue;
    PrologueContext context(*this, new_iteration, step.stage);
    EmitStep(step, context, [&](Value old_value, Value made) {
      first_values_[{old_value, new_iteration - step.stage}] = made;
    });
  }
}

void Expander::EmitLoop() {
  llvm::SmallVector<Value> inits, bounds, yields;
  for (auto& [aged, argument] : carried_) inits.push_back(InIteration(aged.first, max_stage_ - aged.second));
  for (int size : multibuffers_) inits.push_back(I32(max_stage_ % size));
  for (int iterations = 0; iterations <= max_stage_; ++iterations) bounds.push_back(bounds_.Get(b_, iterations));
  Value upper = last_after_ ? bounds[1] : loop_.getUpperBound();
  new_loop_ = ForOp::create(b_, loc_, loop_.getLowerBound(), upper, loop_.getStep(), inits);
  new_loop_->setAttrs(loop_->getAttrs());
  if (inits.empty()) new_loop_.getBody()->getTerminator()->erase();
  b_.setInsertionPointToEnd(new_loop_.getBody());
  auto argument = new_loop_.getRegionIterArgs().begin();
  for (auto& [aged, carried] : carried_) new_values_[aged] = carried = *argument++;
  Slots slots;
  for (int size : multibuffers_) {
    Value slot = *argument++, next = NextSlot(slot, size);
    slots[size] = {slot, next, NextSlot(next, size)};
  }
  for (const LoopStep& step : steps_) {
    LoopContext context(*this, step.stage, bounds, slots);
    EmitStep(step, context, [&](Value old_value, Value made) { new_values_[{old_value, step.stage}] = made; });
  }
  for (auto& [aged, carried] : carried_) {
    auto [value, age] = aged;
    auto own = llvm::dyn_cast<BlockArgument>(value);
    yields.push_back(own ? AtAge(YieldedFor(own), age) : AtAge(value, age - 1));
  }
  for (int size : multibuffers_) yields.push_back(slots[size][1]);
  mlir::scf::YieldOp::create(b_, loc_, yields);
  b_.setInsertionPoint(loop_);
}

void Expander::TakeResults() {
  for (auto [index, old_argument] : llvm::enumerate(loop_.getRegionIterArgs())) {
    auto position = carried_.find({old_argument, max_stage_});
    if (position != carried_.end())
      loop_.getResult(index).replaceAllUsesWith(new_loop_.getResult(position - carried_.begin()));
  }
}

// A new iteration of the last stage alone. Its results count where the old loop has an iteration.
void Expander::EmitLastStage() {
  new_values_.clear();
  auto result = new_loop_.getResults().begin();
  for (auto& [aged, carried] : carried_) new_values_[aged] = *result++;
  Slots slots;
  for (int size : multibuffers_) {
    Value slot = *result++, next = NextSlot(slot, size);
    slots[size] = {slot, next, NextSlot(next, size)};
  }
  for (const LoopStep& step : steps_) {
    if (step.stage != max_stage_ && !step.runs_after) continue;
    LoopContext context(*this, step.stage, /*bounds=*/{}, slots);
    EmitStep(step, context, [&](Value old_value, Value made) { new_values_[{old_value, step.stage}] = made; });
  }
  Value runs;
  if (!CertainlyRuns(loop_))
    runs = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, loop_.getLowerBound(), loop_.getUpperBound());
  for (auto [old_argument, old_result] : llvm::zip(loop_.getRegionIterArgs(), loop_.getResults())) {
    if (old_result.use_empty()) continue;
    Value value = AtAge(YieldedFor(old_argument), max_stage_);
    if (runs) {
      Value first = loop_.getTiedLoopInit(old_argument)->get(), chosen = runs;
      if (auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType()))
        chosen = tt::SplatOp::create(b_, loc_, tt::WithElement(type, b_.getI1Type()), runs);
      value = arith::SelectOp::create(b_, loc_, chosen, value, first);
    }
    old_result.replaceAllUsesWith(value);
  }
}

}  // namespace

bool CanExpand(ForOp loop) {
  unsigned width = WidthOf(loop.getInductionVar().getType());
  if (width <= 32) return true;
  if (width != 64) return false;
  // Programs take turns with what a loop of 64 bits counts: its step is their number.
  auto extended = loop.getStep().getDefiningOp<arith::ExtSIOp>();
  if (extended && WidthOf(extended.getIn().getType()) <= 32) return true;
  auto step = mlir::getConstantIntValue(loop.getStep());
  return step && *step > 0 && *step < kMaxWideStep;
}

ExpandedLoop ExpandLoop(ForOp loop, int max_stage, llvm::ArrayRef<LoopStep> steps, llvm::ArrayRef<int> multibuffers,
                        bool last_after) {
  return Expander(loop, max_stage, steps, multibuffers, last_after).Run();
}

}  // namespace tritond::compiler
