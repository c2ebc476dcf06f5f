// SPDX-License-Identifier: Apache-2.0
// A row that several loops read is read once where threads have the registers for it:
//
//   %m = scf.for %i = 0 to 2048 step 1024 {            %x0 = tt.load (%row + [0 … 1023])
//     %x = tt.load (%row + %i + [0 … 1023])            %x1 = tt.load (%row + 1024 + [0 … 1023])
//     …                                                … %x0 …
//   }                                          ->      … %x1 …
//   scf.for %i = 0 to 2048 step 1024 {
//     %x = tt.load (%row + %i + [0 … 1023])            … %x0 …
//     … %x … %m …                                      … %x1 …
//   }
//
// The loops run equally often, which is known, and few times. All of the row is on its way at once then. Loops that
// only read would start it by themselves, but a loop that stores what it makes waits for each load. What both loops
// compute of the row is computed once, if registers are left for that, too: elimination of common subexpressions finds
// it now.
//
// Nothing may write what is loaded from the first loop to the last one, nor synchronise with other programs. Two
// arguments count as different memory, as for the pipeliner.
#include "compiler/analysis/element_ranges.h"
#include "compiler/dots/loop_registers.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/spread_terms.h"
#include "compiler/pipelining/loop_effects.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_KEEPROWSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;

// All iterations of a loop together; more is code that takes long to compile.
constexpr int64_t kMostOperations = 2000;
// What a load takes of a thread's registers once it is computed with: halves become words.
int64_t RegistersToKeep(tt::LoadOp load) { return std::max(RegistersOf(load), ElementsOfThread(load.getType())); }

// A loop over tiles of a row, whose iterations may stand one after the other.
struct RowLoop {
  ForOp loop;
  ConstantLoop range;

  bool RunsAs(RowLoop other) {
    return loop->getBlock() == other.loop->getBlock() && range.begin == other.range.begin &&
           range.step == other.range.step && range.iterations == other.range.iterations &&
           loop.getInductionVar().getType() == other.loop.getInductionVar().getType();
  }

  Value Counter(mlir::OpBuilder& b, int64_t iteration) {
    return arith::ConstantOp::create(
        b, loop.getLoc(), b.getIntegerAttr(loop.getInductionVar().getType(), range.begin + iteration * range.step));
  }
};

std::optional<RowLoop> AsRowLoop(ForOp loop) {
  const std::optional<ConstantLoop> range = ConstantLoopOf(loop);
  if (!range || range->iterations < 2) return std::nullopt;
  int64_t operations = 0;
  auto walked = loop.getBody()->walk([&](Operation* op) {
    const bool is_large = llvm::isa<mlir::LoopLikeOpInterface, tt::DotOpInterface, tt::CallOp>(op);
    const bool fits = !is_large && ++operations * range->iterations <= kMostOperations;
    return fits ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
  });
  return walked.wasInterrupted() ? std::nullopt : std::optional(RowLoop{loop, *range});
}

// Whether the counter alone tells `value` of an iteration, by operations that may stand anywhere.
bool FollowsCounter(Value value, ForOp loop) {
  if (loop.isDefinedOutsideOfLoop(value) || value == loop.getInductionVar()) return true;
  Operation* op = value.getDefiningOp();
  return op && op->getBlock() == loop.getBody() && op->getNumRegions() == 0 && mlir::isPure(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return FollowsCounter(operand, loop); });
}

// Whether `value` of an iteration of `loop` is what `other` is in that iteration of `again`.
bool AreEqual(Value value, ForOp loop, Value other, ForOp again) {
  if (value == other) return true;
  if (value == loop.getInductionVar()) return other == again.getInductionVar();
  Operation *op = value.getDefiningOp(), *op_again = other.getDefiningOp();
  if (!op || !op_again || op->getNumRegions() > 0 || !mlir::isPure(op) || !mlir::isPure(op_again)) return false;
  if (llvm::cast<mlir::OpResult>(value).getResultNumber() != llvm::cast<mlir::OpResult>(other).getResultNumber())
    return false;
  return mlir::OperationEquivalence::isEquivalentTo(
      op, op_again, [&](Value a, Value b) { return mlir::success(AreEqual(a, loop, b, again)); },
      /*markEquivalent=*/nullptr, mlir::OperationEquivalence::IgnoreLocations);
}

// Loads that mean the same in each iteration of their loops.
struct SharedLoad {
  llvm::SmallVector<tt::LoadOp> loads;  // in the order of their loops
  llvm::SmallVector<Value> tiles;       // once they are loaded, by iteration

  ForOp LoopOf(tt::LoadOp load) const { return llvm::cast<ForOp>(load->getParentOp()); }
  ForOp First() const { return LoopOf(loads.front()); }
  ForOp Last() const { return LoopOf(loads.back()); }

  bool IsReadBy(ForOp loop) const {
    return llvm::any_of(loads, [&](tt::LoadOp load) { return LoopOf(load) == loop; });
  }

  bool Means(tt::LoadOp load) const {
    tt::LoadOp known = loads.front();
    if (known.getType() != load.getType() || known->getNumOperands() != load->getNumOperands()) return false;
    return llvm::all_of(llvm::zip(known->getOperands(), load->getOperands()), [&](auto pair) {
      return AreEqual(std::get<0>(pair), First(), std::get<1>(pair), LoopOf(load));
    });
  }

  // Whether the row may be read before its first loop, and is then what the last one would read. Between the loops, a
  // barrier orders what the block itself has written, which is other memory.
  bool MayStayInRegisters() const {
    if (First() == Last()) return false;
    for (Operation* op = First(); op != Last()->getNextNode(); op = op->getNextNode())
      if (!llvm::isa<ttg::BarrierOp>(op) && !MayStartEarly(loads.front(), op)) return false;
    return true;
  }
};

// The loads of loops that run equally often, each kind once.
llvm::SmallVector<SharedLoad> FindSharedLoads(llvm::ArrayRef<RowLoop> loops) {
  llvm::SmallVector<SharedLoad> found;
  for (RowLoop row : loops) {
    for (auto load : row.loop.getBody()->getOps<tt::LoadOp>()) {
      const bool is_plain = !load.getIsVolatile() && load.getCache() != tt::CacheModifier::kCv &&
                            llvm::isa<mlir::RankedTensorType>(load.getType());
      if (!is_plain || !llvm::all_of(load->getOperands(), [&](Value v) { return FollowsCounter(v, row.loop); }))
        continue;
      auto known = llvm::find_if(found, [&](const SharedLoad& shared) { return shared.Means(load); });
      if (known != found.end())
        known->loads.push_back(load);
      else
        found.push_back({{load}, {}});
    }
  }
  return found;
}

// The operation of the loop's body in an iteration, after what it needs.
Operation* CloneWithOperands(mlir::OpBuilder& b, Operation* op, ForOp loop, mlir::IRMapping& iteration) {
  for (Value operand : op->getOperands()) {
    Operation* defining = operand.getDefiningOp();
    if (defining && defining->getBlock() == loop.getBody() && !iteration.contains(operand))
      CloneWithOperands(b, defining, loop, iteration);
  }
  return b.clone(*op, iteration);
}

void LoadTiles(SharedLoad& shared, RowLoop first) {
  mlir::OpBuilder b(first.loop);
  for (int64_t i = 0; i < first.range.iterations; ++i) {
    mlir::IRMapping iteration;
    iteration.map(first.loop.getInductionVar(), first.Counter(b, i));
    shared.tiles.push_back(CloneWithOperands(b, shared.loads.front(), first.loop, iteration)->getResult(0));
  }
}

// Puts the loop's iterations one after the other, with tiles in place of their loads.
void Unroll(RowLoop row, llvm::ArrayRef<SharedLoad> kept) {
  ForOp loop = row.loop;
  mlir::OpBuilder b(loop);
  llvm::SmallVector<Value> carried(loop.getInitArgs());
  for (int64_t i = 0; i < row.range.iterations; ++i) {
    mlir::IRMapping iteration;
    iteration.map(loop.getInductionVar(), row.Counter(b, i));
    iteration.map(loop.getRegionIterArgs(), carried);
    for (const SharedLoad& shared : kept)
      for (tt::LoadOp load : shared.loads)
        if (shared.LoopOf(load) == loop) iteration.map(load.getResult(), shared.tiles[i]);
    for (Operation& op : loop.getBody()->without_terminator())
      if (op.getNumResults() != 1 || !iteration.contains(op.getResult(0))) b.clone(op, iteration);
    for (auto [value, yielded] : llvm::zip(carried, loop.getYieldedValues()))
      value = iteration.lookupOrDefault(yielded);
  }
  loop.replaceAllUsesWith(carried);
}

struct KeepRowsPass : impl::KeepRowsPassBase<KeepRowsPass> {
  using KeepRowsPassBase::KeepRowsPassBase;

  // Of the registers of a thread, `most_registers` or half of what a block of that many warps leaves it.
  int64_t RegistersForRows(Operation* op) const {
    const int64_t threads = int64_t{ttg::NumWarps(op)} * ttg::ThreadsPerWarp(op);
    return std::min<int64_t>(most_registers, registers / threads / 2);
  }

  // Whether it changed something.
  bool KeepRowsOf(llvm::ArrayRef<RowLoop> loops) const {
    int64_t left = RegistersForRows(loops.front().loop);
    llvm::SmallVector<SharedLoad> kept;
    for (SharedLoad& shared : FindSharedLoads(loops)) {
      const int64_t taken = RegistersToKeep(shared.loads.front()) * loops.front().range.iterations;
      if (taken > left || !shared.MayStayInRegisters()) continue;
      left -= taken;
      kept.push_back(std::move(shared));
    }
    for (SharedLoad& shared : kept)
      LoadTiles(shared, *llvm::find_if(loops, [&](RowLoop row) { return row.loop == shared.First(); }));
    llvm::SmallVector<ForOp> unrolled;
    for (RowLoop row : loops) {
      if (llvm::none_of(kept, [&](const SharedLoad& shared) { return shared.IsReadBy(row.loop); })) continue;
      Unroll(row, kept);
      unrolled.push_back(row.loop);
    }
    for (ForOp loop : unrolled) loop.erase();
    return !unrolled.empty();
  }

  void runOnOperation() override {
    llvm::SmallVector<llvm::SmallVector<RowLoop>> groups;
    getOperation().walk([&](ForOp loop) {
      std::optional<RowLoop> row = AsRowLoop(loop);
      if (!row) return;
      auto group = llvm::find_if(groups, [&](const auto& known) { return row->RunsAs(known.front()); });
      if (group == groups.end()) group = groups.insert(groups.end(), llvm::SmallVector<RowLoop>());
      group->push_back(*row);
    });
    bool changed = false;
    for (const auto& group : groups) changed |= group.size() > 1 && KeepRowsOf(group);
    if (changed) DecideComparisons(getOperation());
  }
};

}  // namespace
}  // namespace tritond::compiler
