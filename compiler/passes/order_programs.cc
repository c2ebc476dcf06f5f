// SPDX-License-Identifier: Apache-2.0
// Lets the longest programs of a grid start first. A device starts programs in the order of their indices, each as soon
// as another one ends. Under a causal mask the programs of great indices take longest:
//
//   %end = (%x + 1) * 128,  where %x = tt.get_program_id x
//   scf.for %n = 0 to %end step 128 { … }                =>   ttg.program_order = {axes = x, y; descending; wave = 264}
//
// Where these start last, the device waits for them at the end, and most of it has nothing to do. If short ones start
// last, they fill what is left. A grid of 32 by 32 such programs takes 1.16 times what the work needs on 132
// multiprocessors, and 1.002 times with the order above.
//
// Lowering permutes the grid (lowering/program_place.cc): a program gets other indices than its place has. Programs of
// one wave stay together, so that they share caches as before.
//
// Programs may run in any order, as long as none waits for another one. So kernels stay as they are that could wait:
// they have loops without bounds, volatile loads, results of atomic operations, or assembly. Kernels that print do,
// too. What the slopes below say decides about time alone.
#include "compiler/ir/program_order.h"
#include "compiler/passes/passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_ORDERPROGRAMSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;

constexpr tt::ProgramDim kAxes[] = {tt::ProgramDim::kX, tt::ProgramDim::kY, tt::ProgramDim::kZ};

// How a scalar changes where the index of the program along an axis grows.
enum class Slope { kNone, kUp, kDown, kUnknown };

Slope Negated(Slope slope) { return slope == Slope::kUp ? Slope::kDown : slope == Slope::kDown ? Slope::kUp : slope; }

Slope Joined(Slope a, Slope b) {
  if (a == Slope::kNone) return b;
  return b == Slope::kNone || a == b ? a : Slope::kUnknown;
}

// Whether a step is a multiple of a number of programs.
bool StridesGrid(Value step) {
  Operation* op = step.getDefiningOp();
  if (!op || !llvm::isa<arith::MulIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(op))
    return llvm::isa_and_nonnull<tt::GetNumProgramsOp>(op);
  return llvm::any_of(op->getOperands(), StridesGrid);
}

class Slopes final {
 public:
  explicit Slopes(tt::ProgramDim axis) : axis_(axis) {}

  Slope Of(Value value) {
    auto [known, is_new] = known_.try_emplace(value, Slope::kUnknown);
    if (!is_new) return known->second;
    const Slope slope = Find(value);
    return known_[value] = slope;
  }

  // Of the number of iterations.
  Slope Of(ForOp loop) {
    // From any index of the grid on, at most one iteration less than from the first one.
    if (StridesGrid(loop.getStep()) && Of(loop.getUpperBound()) == Slope::kNone) return Slope::kNone;
    if (Of(loop.getStep()) != Slope::kNone) return Slope::kUnknown;
    return Joined(Of(loop.getUpperBound()), Negated(Of(loop.getLowerBound())));
  }

 private:
  Slope Find(Value value) {
    Operation* op = value.getDefiningOp();
    if (!op) return OfArgument(llvm::cast<mlir::BlockArgument>(value));
    if (auto id = llvm::dyn_cast<tt::GetProgramIdOp>(op)) return id.getAxis() == axis_ ? Slope::kUp : Slope::kNone;
    const bool depends = llvm::any_of(op->getOperands(), [&](Value x) { return Of(x) != Slope::kNone; });
    if (!depends && op->getNumRegions() == 0) return Slope::kNone;
    return llvm::TypeSwitch<Operation*, Slope>(op)
        .Case([&](arith::AddIOp sum) { return Joined(Of(sum.getLhs()), Of(sum.getRhs())); })
        .Case<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>([&](auto bound) {
          // The last chunk is shorter than the constant, all others are as long.
          const bool is_chunk = mlir::getConstantIntValue(bound.getLhs()) || mlir::getConstantIntValue(bound.getRhs());
          return is_chunk ? Slope::kUnknown : Joined(Of(bound.getLhs()), Of(bound.getRhs()));
        })
        .Case([&](arith::SubIOp sub) { return Joined(Of(sub.getLhs()), Negated(Of(sub.getRhs()))); })
        .Case([&](arith::SelectOp select) { return Joined(Of(select.getTrueValue()), Of(select.getFalseValue())); })
        .Case([&](arith::MulIOp mul) { return Times(mul.getLhs(), mul.getRhs()); })
        // Remainders grow from one multiple to the next one.
        .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::ShLIOp, arith::ShRSIOp,
              arith::ShRUIOp>([&](auto scaled) { return OfScaled(scaled.getLhs(), scaled.getRhs()); })
        .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(
            [&](auto cast) { return Of(cast.getIn()); })
        .Default(Slope::kUnknown);
  }

  Slope OfArgument(mlir::BlockArgument argument) {
    Operation* owner = argument.getOwner()->getParentOp();
    if (llvm::isa<tt::FuncOp>(owner) && argument.getOwner()->isEntryBlock()) return Slope::kNone;
    auto loop = llvm::dyn_cast<ForOp>(owner);
    const bool counts = loop && argument == loop.getInductionVar();
    return counts && Of(loop) == Slope::kNone && Of(loop.getLowerBound()) == Slope::kNone ? Slope::kNone
                                                                                          : Slope::kUnknown;
  }

  // Numbers that are not known are sizes, and taken for positive.
  Slope Times(Value a, Value b) {
    if (Of(a) == Slope::kNone) std::swap(a, b);
    if (Of(b) != Slope::kNone) return Slope::kUnknown;
    const int64_t factor = mlir::getConstantIntValue(b).value_or(1);
    return factor > 0 ? Of(a) : factor < 0 ? Negated(Of(a)) : Slope::kNone;
  }

  Slope OfScaled(Value value, Value by) { return Of(by) == Slope::kNone ? Of(value) : Slope::kUnknown; }

  const tt::ProgramDim axis_;
  llvm::DenseMap<Value, Slope> known_;
};

// Whether a program could wait for another one that runs `op`, or whoever looks on sees the order of both.
bool MayWait(Operation* op) {
  if (auto load = llvm::dyn_cast<tt::LoadOp>(op)) return load.getIsVolatile();
  if (llvm::isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op)) return !op->use_empty();
  // Assembly may also read the place of the block.
  if (llvm::isa<tt::ElementwiseInlineAsmOp>(op)) return true;
  if (llvm::isa<tt::ExternElementwiseOp>(op)) return !mlir::isMemoryEffectFree(op);
  return llvm::isa<mlir::scf::WhileOp, tt::AtomicPollOp, tt::PrintOp, tt::CallOp>(op);
}

bool IsWork(Operation* op) {
  return llvm::isa<tt::LoadOp, tt::StoreOp, tt::DotOp, tt::DotScaledOp, tt::DescriptorLoadOp>(op);
}

class OrderProgramsPass : public impl::OrderProgramsPassBase<OrderProgramsPass> {
 public:
  using OrderProgramsPassBase::OrderProgramsPassBase;

  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    const bool may_wait =
        module.walk([](Operation* op) { return mlir::WalkResult(mlir::failure(MayWait(op))); }).wasInterrupted();
    if (may_wait || wave < 1) return;
    for (tt::ProgramDim axis : kAxes) {
      const Slope slope = SlopeOfLoops(module, axis);
      if (slope != Slope::kUp && slope != Slope::kDown) continue;
      ProgramOrder order;
      order.axes = AxesFrom(module, axis);
      order.descending = slope == Slope::kUp;
      order.wave = wave;
      // With one axis alone, the device's order is ascending.
      if (order.descending || order.axes.size() > 1) order.SetOn(module);
      return;
    }
  }

 private:
  static Slope SlopeOfLoops(mlir::ModuleOp module, tt::ProgramDim axis) {
    Slopes slopes(axis);
    Slope all = Slope::kNone;
    module.walk([&](ForOp loop) {
      const bool works =
          loop.walk([](Operation* op) { return mlir::WalkResult(mlir::failure(IsWork(op))); }).wasInterrupted();
      const Slope own = works ? slopes.Of(loop) : Slope::kNone;
      // Loops from one multiple of an index to the next one have as many iterations everywhere.
      if (own != Slope::kUnknown) all = Joined(all, own);
    });
    return all;
  }

  // `axis`, and those of the kernel that count slower.
  static llvm::SmallVector<tt::ProgramDim> AxesFrom(mlir::ModuleOp module, tt::ProgramDim axis) {
    llvm::SmallVector<tt::ProgramDim> axes{axis};
    for (tt::ProgramDim other : kAxes) {
      if (other <= axis) continue;
      const bool is_used =
          module.walk([&](tt::GetProgramIdOp id) { return mlir::WalkResult(mlir::failure(id.getAxis() == other)); })
              .wasInterrupted();
      if (is_used) axes.push_back(other);
    }
    return axes;
  }
};

}  // namespace
}  // namespace tritond::compiler
