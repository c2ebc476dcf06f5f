// SPDX-License-Identifier: Apache-2.0
// A branch of a loop that loads and computes little becomes loads under its condition, and choices:
//
//   scf.for … {                                             scf.for … {
//     %r = scf.if %c -> (tensor<128xf32>) {                   %m = tt.splat %c
//       %x = tt.load %p                                       %x = tt.load %p, %m
//       %s = arith.addf %sum, %x                       ->     %s = arith.addf %sum, %x
//       scf.yield %s                                          %r = arith.select %c, %s, %sum
//     } else {                                                scf.yield %r
//       scf.yield %sum                                      }
//     }
//     scf.yield %r
//   }
//
// and the loop goes several iterations at a time. No instruction moves across a branch: after one, each iteration
// starts its loads when it gets there, and waits for them alone. Under a condition they start together with those of
// the next iterations. Where the condition is false, nothing is loaded, and what is computed is of no use. So it has to
// be cheaper than the time that a load takes.
//
// This is done to innermost loops that hold nothing but loads and what may be computed without being asked for, in
// branches or not.
#include "compiler/encoding/conversion_cost.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/speculation.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_PREDICATEBRANCHESPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::IfOp;

// Instructions of a thread. Ten warps of a scheduler issue as many as a branch may hold in the time of one load, about
// 600 cycles.
constexpr double kMaxCost = 60, kMaxLoopCost = 512;
// Iterations at a time: eight loads in flight, or four where the number of iterations is not known.
constexpr int64_t kMostIterations = 8, kMostUnknownIterations = 4;

int64_t RegistersOf(mlir::Type type) {
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getEncoding()) return 1;
  return ttg::ToLinearLayout(tensor).InSize("register");
}

// Nullopt where `op` must not run unless it is asked for.
std::optional<double> CostOf(Operation& op) {
  if (llvm::isa<mlir::scf::YieldOp>(op)) return 0;
  if (op.getNumResults() != 1) return {};
  auto load = llvm::dyn_cast<tt::LoadOp>(op);
  if (load ? load.getIsVolatile() ||
                 mlir::isa<RankedTensorType>(load.getType()) != mlir::isa<RankedTensorType>(load.getPtr().getType())
           : !mlir::isPure(&op))
    return {};
  std::optional<double> cost = load ? 1 : CostModel::ElementCost(&op);
  if (!cost || llvm::isa<ttg::ConvertLayoutOp>(op)) return {};
  return *cost * RegistersOf(op.getResult(0).getType());
}

// Nullopt where it stays a branch: one that loads nothing, or does too much.
std::optional<double> CostOfBranch(IfOp branch) {
  double cost = 0;
  bool loads = false;
  for (mlir::Region& region : branch->getRegions()) {
    if (region.empty()) continue;
    for (Operation& op : region.front()) {
      std::optional<double> more = CostOf(op);
      if (!more) return {};
      cost += *more;
      loads |= llvm::isa<tt::LoadOp>(op);
    }
  }
  for (mlir::Type type : branch.getResultTypes()) cost += RegistersOf(type);
  return loads && cost <= kMaxCost ? std::optional<double>(cost) : std::nullopt;
}

// `mask` where `condition` holds; a load without a mask has none of either.
Value Under(mlir::OpBuilder& b, tt::LoadOp load, Value condition) {
  Value mask = load.getMask();
  if (auto type = llvm::dyn_cast<RankedTensorType>(load.getType()))
    condition = tt::SplatOp::create(
        b, load.getLoc(), RankedTensorType::get(type.getShape(), b.getI1Type(), type.getEncoding()), condition);
  return mask ? arith::AndIOp::create(b, load.getLoc(), mask, condition).getResult() : condition;
}

// Moves what `region` computes in front of its branch.
void Hoist(mlir::Region& region, IfOp branch, Value condition) {
  mlir::OpBuilder b(branch);
  for (Operation& op : llvm::make_early_inc_range(region.front().without_terminator())) {
    op.moveBefore(branch);
    MarkSpeculated(&op);
    auto load = llvm::dyn_cast<tt::LoadOp>(op);
    if (!load) continue;
    b.setInsertionPoint(load);
    load.getMaskMutable().assign(Under(b, load, condition));
  }
}

void Predicate(IfOp branch) {
  mlir::OpBuilder b(branch);
  Value condition = branch.getCondition();
  Hoist(branch.getThenRegion(), branch, condition);
  if (!branch.getElseRegion().empty()) {
    Value yes = arith::ConstantIntOp::create(b, branch.getLoc(), 1, 1);
    Hoist(branch.getElseRegion(), branch, arith::XOrIOp::create(b, branch.getLoc(), condition, yes));
  }
  b.setInsertionPoint(branch);
  for (mlir::OpResult result : branch.getResults()) {
    Value then = branch.thenYield().getOperand(result.getResultNumber());
    Value otherwise = branch.elseYield().getOperand(result.getResultNumber());
    result.replaceAllUsesWith(arith::SelectOp::create(b, branch.getLoc(), condition, then, otherwise));
  }
  branch.erase();
}

// The instructions of an iteration, branches included. Nullopt where something has to stay where it is, or no branch is
// there.
std::optional<double> CostOfIteration(mlir::scf::ForOp loop) {
  double cost = 0;
  bool branches = false;
  for (Operation& op : *loop.getBody()) {
    auto branch = llvm::dyn_cast<IfOp>(op);
    std::optional<double> more = branch ? CostOfBranch(branch) : CostOf(op);
    if (!more) return {};
    branches |= branch != nullptr;
    cost += *more;
  }
  return branches ? std::optional<double>(cost) : std::nullopt;
}

// How many iterations may go at a time.
int64_t Iterations(mlir::scf::ForOp loop, double cost) {
  std::optional<llvm::APInt> count = loop.getStaticTripCount();
  int64_t most = count ? kMostIterations : kMostUnknownIterations;
  while (most > 1 && (most * cost > kMaxLoopCost || (count && count->urem(most) != 0))) most /= 2;
  return most;
}

// Makes a loop that runs no iteration begin where it ends. Whoever unrolls it divides the distance of its bounds by its
// step, and takes both for positive.
void MakeDistancePositive(mlir::scf::ForOp loop) {
  mlir::OpBuilder b(loop);
  Value begin = loop.getLowerBound(), step = loop.getStep();
  loop.setUpperBound(arith::MaxSIOp::create(b, loop.getLoc(), begin, loop.getUpperBound()));
  if (mlir::getConstantIntValue(step)) return;
  auto one = arith::ConstantOp::create(b, loop.getLoc(), b.getIntegerAttr(step.getType(), 1));
  loop.setStep(arith::MaxSIOp::create(b, loop.getLoc(), step, one));
}

class PredicateBranchesPass : public impl::PredicateBranchesPassBase<PredicateBranchesPass> {
  void runOnOperation() override {
    llvm::SmallVector<mlir::scf::ForOp> loops;
    getOperation().walk([&](mlir::scf::ForOp loop) { loops.push_back(loop); });
    for (mlir::scf::ForOp loop : loops) {
      std::optional<double> cost = CostOfIteration(loop);
      const int64_t iterations = cost ? Iterations(loop, *cost) : 1;
      if (iterations == 1) continue;
      for (IfOp branch : llvm::to_vector(loop.getOps<IfOp>())) Predicate(branch);
      if (!loop.getStaticTripCount()) MakeDistancePositive(loop);
      if (failed(mlir::loopUnrollByFactor(loop, iterations))) return signalPassFailure();
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
