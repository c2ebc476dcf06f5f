// SPDX-License-Identifier: Apache-2.0
// Asks once, in front of a loop, what does not change in it:
//
//   scf.for … {                            scf.if %c {
//     %x = tt.load …                         scf.for … { %x = tt.load … ; tt.store … }
//     scf.if %c { tt.store … }      ->     } else {
//   }                                        scf.for … { %x = tt.load … }
//                                          }
//
// The assembler does not unroll a loop with a branch. So each iteration starts its loads when it gets there, and waits
// for them alone. A mask that is one condition for the whole program costs no branch, but an instruction for each
// element that it selects: the program's rows may be inside the tensor or not. Where it is known, the elements are not
// chosen, and the assembler unrolls a loop of known length. It unrolls one of few iterations anyway. There the branch
// would keep loads in front of it from starting together with those of the loop.
//
// A copy that stores nothing goes four iterations at a time: the assembler may not see how many there are.
//
// Only small innermost loops without dots are copied.
#include "compiler/ir/dot_interface.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/tt_dialect.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_UNSWITCHLOOPSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;
using mlir::scf::IfOp;

// Values of a thread in the body up to which it is copied.
constexpr int64_t kMostValues = 1024;
// Iterations of known loops from which on a branch pays for elements that are selected.
constexpr uint64_t kLeastIterations = 8;
constexpr llvm::StringLiteral kFactorAttr = "tt.loop_unroll_factor";
constexpr int64_t kIterationsAtATime = 4;

int64_t ElementsOf(mlir::Type type) {
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getEncoding() ? ttg::ToLinearLayout(tensor).InSize("register") : 1;
}

// The scalar that a mask is for all elements; null if it is none.
Value ConditionOf(Value mask) {
  auto splat = mask.getDefiningOp<tt::SplatOp>();
  return splat && splat.getSrc().getType().isInteger(1) ? Value(splat.getSrc()) : Value();
}

bool HasManyIterations(ForOp loop) {
  const std::optional<llvm::APInt> count = loop.getStaticTripCount();
  return count && count->uge(kLeastIterations);
}

// The condition that an operation of `loop` asks for in each iteration though it does not change; null if there is
// none.
Value AskedBy(Operation* op, ForOp loop) {
  Value condition;
  if (auto branch = llvm::dyn_cast<IfOp>(op); branch && !mlir::isPure(op)) condition = branch.getCondition();
  if (auto select = llvm::dyn_cast<arith::SelectOp>(op); select && HasManyIterations(loop))
    condition = ConditionOf(select.getCondition());
  const bool stays = condition && loop.isDefinedOutsideOfLoop(condition);
  return stays && !mlir::matchPattern(condition, mlir::m_Constant()) ? condition : Value();
}

int64_t ValuesOf(ForOp loop) {
  int64_t values = 0;
  loop.getBody()->walk([&](Operation* op) {
    for (mlir::Type type : op->getResultTypes()) values += ElementsOf(type);
  });
  return values;
}

bool IsSmall(ForOp loop) {
  auto result = loop.getBody()->walk([](Operation* op) {
    const bool stays = llvm::isa<mlir::LoopLikeOpInterface, tt::DotOpInterface, tt::CallOp>(op);
    return stays ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return !result.wasInterrupted() && ValuesOf(loop) <= kMostValues;
}

bool OnlyLoads(ForOp loop) {
  return llvm::all_of(loop.getBody()->without_terminator(), [](Operation& op) {
    auto load = llvm::dyn_cast<tt::LoadOp>(op);
    return load ? !load.getIsVolatile() : mlir::isPure(&op);
  });
}

// The condition to ask for in front of `loop`; null: it stays.
Value FindCondition(ForOp loop) {
  // What the author asked for is asked for of one loop.
  if (!loop->getDiscardableAttrs().empty() || !IsSmall(loop)) return {};
  Value found;
  bool loads = false;
  for (Operation& op : *loop.getBody()) {
    loads |= llvm::isa<tt::LoadOp>(op);
    if (!found) found = AskedBy(&op, loop);
  }
  return loads ? found : Value();
}

// `value` where `condition` is as `holds` says.
Value Chosen(Value value, Value condition, bool holds) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select || ConditionOf(select.getCondition()) != condition) return value;
  return holds ? select.getTrueValue() : select.getFalseValue();
}

// Leaves of a branch what runs.
void Inline(IfOp branch, bool holds) {
  mlir::Region& region = holds ? branch.getThenRegion() : branch.getElseRegion();
  if (!region.empty()) {
    Operation* yield = region.front().getTerminator();
    branch.replaceAllUsesWith(yield->getOperands());
    yield->erase();
    branch->getBlock()->getOperations().splice(branch->getIterator(), region.front().getOperations());
  }
  branch.erase();
}

// Decides in a copy of the loop what the condition decides.
void Specialize(ForOp loop, Value condition, bool holds) {
  for (mlir::OpOperand& start : loop.getInitArgsMutable()) start.set(Chosen(start.get(), condition, holds));
  llvm::SmallVector<Operation*> body;
  loop.getBody()->walk([&](Operation* op) { body.push_back(op); });
  for (Operation* op : body) {
    if (auto branch = llvm::dyn_cast<IfOp>(op); branch && branch.getCondition() == condition) {
      Inline(branch, holds);
    } else if (auto select = llvm::dyn_cast<arith::SelectOp>(op);
               select && Chosen(select, condition, holds) != select) {
      select.replaceAllUsesWith(Chosen(select, condition, holds));
      select.erase();
    } else if (auto load = llvm::dyn_cast<tt::LoadOp>(op);
               load && holds && load.getMask() && ConditionOf(load.getMask()) == condition) {
      load.getMaskMutable().clear();
      load.getOtherMutable().clear();
    }
  }
}

void Unswitch(ForOp loop, Value condition) {
  mlir::OpBuilder b(loop);
  auto branch = IfOp::create(b, loop.getLoc(), loop.getResultTypes(), condition, /*addThenBlock=*/true,
                             /*addElseBlock=*/true);
  for (const bool holds : {true, false}) {
    mlir::Block* block = holds ? branch.thenBlock() : branch.elseBlock();
    b.setInsertionPointToStart(block);
    auto copy = llvm::cast<ForOp>(b.clone(*loop));
    if (block->back().hasTrait<mlir::OpTrait::IsTerminator>()) block->back().erase();
    b.setInsertionPointToEnd(block);
    mlir::scf::YieldOp::create(b, loop.getLoc(), copy.getResults());
    Specialize(copy, condition, holds);
    if (!copy.getStaticTripCount() && OnlyLoads(copy) && ValuesOf(copy) * kIterationsAtATime <= kMostValues)
      copy->setAttr(kFactorAttr, b.getI32IntegerAttr(kIterationsAtATime));
  }
  loop.replaceAllUsesWith(branch.getResults());
  loop.erase();
}

struct UnswitchLoopsPass final : impl::UnswitchLoopsPassBase<UnswitchLoopsPass> {
  void runOnOperation() override {
    llvm::SmallVector<ForOp> loops;
    getOperation().walk([&](ForOp loop) {
      if (FindCondition(loop)) loops.push_back(loop);
    });
    // A condition may be what a loop before has found.
    for (ForOp loop : loops) Unswitch(loop, FindCondition(loop));
  }
};

}  // namespace
}  // namespace tritond::compiler
