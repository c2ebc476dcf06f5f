// SPDX-License-Identifier: Apache-2.0
// A branch that sets the accumulators of wgmma to zero, as the end of a tile does in a loop over all iterations of all
// tiles, writes their registers. While it may, no dot can be in flight there. So the next dot leaves them out instead:
//
//   scf.for … iter_args(%sum = %zero) {                 scf.for … iter_args(%sum = %zero, %use = false) {
//     %d = ttng.warp_group_dot %a, %b, %sum               %d = ttng.warp_group_dot %a, %b, %sum, %use
//     %e = scf.if %is_last {                              %e = scf.if %is_last {
//       … %d …                                              … %d …
//       scf.yield %zero                           ->        scf.yield %d
//     } else {                                            } else {
//       scf.yield %d                                        scf.yield %d
//     }                                                   }
//     scf.yield %e                                        scf.yield %e, (not %is_last)
//   }                                                   }
//
// The accumulators stay where they are on either way (carried_accumulators.h), so overlap_warp_group_dots.cc lets the
// dot go on.
#include "compiler/lowering/zero_constants.h"
#include "compiler/targets/nvidia/carried_accumulators.h"
#include "compiler/targets/nvidia/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_RESTARTACCUMULATORSPASS
#include "compiler/targets/nvidia/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;
using mlir::scf::IfOp;
using ttng::WarpGroupDotOp;

// Accumulators that a branch sets to zero.
struct Restart {
  WarpGroupDotOp first, last;  // of the dots of an iteration that add to them
  mlir::OpOperand* zero;       // what the branch yields
  IfOp branch;
  unsigned carried;  // among what the loop carries
};

// The dot of `loop` that adds to `sum`, which the loop carries, before `last` does. Null: something else uses it.
WarpGroupDotOp FirstOfChain(WarpGroupDotOp last, Value sum) {
  WarpGroupDotOp first = last;
  while (first.getC() != sum) {
    if (first.getUseC() || !first.getC().hasOneUse()) return nullptr;
    auto before = first.getC().getDefiningOp<WarpGroupDotOp>();
    if (!before || before->getBlock() != last->getBlock() || !ttng::AddsToResult(before)) return nullptr;
    first = before;
  }
  return first.getUseC() || !sum.hasOneUse() ? nullptr : first;
}

std::optional<Restart> FindRestart(IfOp branch, unsigned result, ForOp loop) {
  Operation* yield = loop.getBody()->getTerminator();
  Value merged = branch.getResult(result);
  if (!merged.hasOneUse() || merged.use_begin()->getOwner() != yield) return std::nullopt;
  mlir::OpOperand* then = &branch.thenYield()->getOpOperand(result);
  mlir::OpOperand* other = &branch.elseYield()->getOpOperand(result);
  const bool then_clears = IsZero(then->get());
  auto last = (then_clears ? other : then)->get().getDefiningOp<WarpGroupDotOp>();
  mlir::OpOperand* zero = then_clears ? then : other;
  if (!last || !IsZero(zero->get()) || last->getBlock() != loop.getBody() || !ttng::AddsToResult(last))
    return std::nullopt;
  auto mma = llvm::cast<ttg::NvidiaMmaEncodingAttr>(last.getD().getType().getEncoding());
  if (mma.getVersionMajor() != 3) return std::nullopt;
  const unsigned carried = merged.use_begin()->getOperandNumber();
  WarpGroupDotOp first = FirstOfChain(last, loop.getRegionIterArg(carried));
  if (!first || BranchOfUses(last.getD()) != branch) return std::nullopt;
  return Restart{first, last, zero, branch, carried};
}

std::optional<Restart> FindRestart(ForOp loop) {
  for (auto branch : loop.getBody()->getOps<IfOp>())
    for (unsigned result = 0; result < branch.getNumResults(); ++result)
      if (std::optional<Restart> restart = FindRestart(branch, result, loop)) return restart;
  return std::nullopt;
}

// Returns the loop that takes the place of `loop`.
ForOp Apply(Restart restart, ForOp loop) {
  mlir::IRRewriter b(loop);
  mlir::Location loc = loop.getLoc();
  auto constant = [&](bool value) -> Value { return arith::ConstantIntOp::create(b, loc, value, 1); };
  Value zero = restart.zero->get(), initial = constant(!IsZero(loop.getInitArgs()[restart.carried]));
  const bool then_clears = restart.zero->getOwner() == restart.branch.thenYield();
  auto yields = [&](mlir::OpBuilder& inner, mlir::Location at, llvm::ArrayRef<mlir::BlockArgument>) {
    Value condition = restart.branch.getCondition();
    if (!then_clears) return llvm::SmallVector<Value>{condition};
    Value holds = arith::ConstantIntOp::create(inner, at, 1, 1);
    return llvm::SmallVector<Value>{arith::XOrIOp::create(inner, at, condition, holds)};
  };
  auto with_flag = llvm::cast<ForOp>(
      (*loop.replaceWithAdditionalYields(b, initial, /*replaceInitOperandUsesInLoop=*/false, yields)).getOperation());
  WarpGroupDotOp first = restart.first, last = restart.last;
  first.getUseCMutable().assign(with_flag.getRegionIterArgs().back());
  restart.zero->set(last.getD());
  Value result = with_flag.getResult(restart.carried);
  if (result.use_empty()) return with_flag;
  b.setInsertionPointAfter(with_flag);
  auto type = llvm::cast<mlir::RankedTensorType>(result.getType());
  Value holds = tt::SplatOp::create(b, loc, type.clone(b.getI1Type()), with_flag.getResults().back());
  auto selected = arith::SelectOp::create(b, loc, holds, result, zero);
  result.replaceAllUsesExcept(selected, selected);
  return with_flag;
}

class RestartAccumulatorsPass : public impl::RestartAccumulatorsPassBase<RestartAccumulatorsPass> {
 public:
  using RestartAccumulatorsPassBase::RestartAccumulatorsPassBase;

 private:
  void runOnOperation() override {
    llvm::SmallVector<ForOp> loops;
    getOperation().walk([&](ForOp loop) { loops.push_back(loop); });
    for (ForOp loop : loops)
      while (std::optional<Restart> restart = FindRestart(loop)) loop = Apply(*restart, loop);
  }
};

}  // namespace
}  // namespace tritond::compiler
