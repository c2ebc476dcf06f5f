// SPDX-License-Identifier: Apache-2.0
// A wait for asynchronous copies names the groups that it waits for by their tokens. What devices wait for is a number:
// at most so many groups may be in flight afterwards. Groups end in the order in which they were committed. So the
// number is that of the commits since the youngest of the tokens' groups, on the path with the fewest:
//
//   %g0 = ttg.async_commit_group                        %g0 = ttg.async_commit_group
//   %g1 = ttg.async_commit_group                        %g1 = ttg.async_commit_group
//   scf.for … iter_args(%u = %g0, %v = %g1) {     ->    scf.for … iter_args(%u = %g0, %v = %g1) {
//     ttg.async_wait %u {num = 7}                         ttg.async_wait %u {num = 1}
//     %g = ttg.async_commit_group                         %g = ttg.async_commit_group
//     scf.yield %v, %g                                    scf.yield %v, %g
//   }                                                   }
//
// A number that is lower already stays, as it may stand for copies that no token names. With this pass, what moves,
// repeats or leaves out commits between a group and its wait cannot make a wait too short.
//
// Each block counts its commits up to each of its operations. An operation with regions counts for what it commits at
// least: an scf.if its smaller branch, all others nothing. Tokens then form a graph: one that a loop carries or an
// operation yields comes from others, some commits before. The smallest distance from a commit is found by relaxation,
// from infinity down.
#include <limits>

#include "compiler/ir/ttg_dialect.h"
#include "compiler/passes/passes.h"
#include "llvm/ADT/MapVector.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_COUNTASYNCGROUPSPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Block;
using mlir::BlockArgument;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;
using mlir::scf::IfOp;

constexpr int64_t kUnknown = std::numeric_limits<int32_t>::max();  // more than any program commits

class GroupCounts final {
 public:
  explicit GroupCounts(tt::FuncOp function) {
    for (Block& block : function.getBody()) Count(block);
    function.walk([&](Operation* op) {
      for (Value result : op->getResults()) AddToken(result);
      for (mlir::Region& region : op->getRegions())
        for (Value argument : region.getArguments()) AddToken(argument);
    });
    for (bool changed = true; changed;) {
      changed = false;
      for (auto& [token, fewest] : tokens_) {
        int64_t relaxed = Relax(token);
        changed |= relaxed < fewest;
        fewest = std::min(fewest, relaxed);
      }
    }
  }

  // Commits that have happened, at least, between the group of `token` and `at`, which sees the token. Zero where the
  // token comes by branches between blocks.
  int64_t Between(Value token, Operation* at) const {
    Block* block = token.getParentBlock();
    if (!block->findAncestorOpInBlock(*at)) return 0;
    int64_t count = tokens_.lookup(token);
    // From the beginning of each region around `at`: of a loop's, the first iteration has the fewest.
    for (; at->getBlock() != block; at = at->getParentOp()) count += before_.lookup(at);
    count += before_.lookup(at);
    if (Operation* made = token.getDefiningOp()) count -= before_.lookup(made) + of_.lookup(made);
    return std::min(count, kUnknown);
  }

 private:
  // Commits in `block`, at least; notes how many there are before each operation.
  int64_t Count(Block& block) {
    int64_t count = 0;
    for (Operation& op : block) {
      before_[&op] = count;
      llvm::SmallVector<int64_t> of_regions;
      for (mlir::Region& region : op.getRegions()) {
        int64_t of_region = 0;
        for (Block& inner : region) of_region = Count(inner);
        of_regions.push_back(of_region);
      }
      int64_t& own = of_[&op];
      if (llvm::isa<ttg::AsyncCommitGroupOp>(op)) own = 1;
      if (llvm::isa<IfOp>(op)) own = *llvm::min_element(of_regions);
      count += own;
    }
    return count;
  }

  void AddToken(Value value) {
    if (llvm::isa<ttg::AsyncTokenType>(value.getType())) tokens_[value] = kUnknown;
  }

  // What the tokens that `token` may stand for say by now. Zero, the safe answer, for those of unknown origin.
  int64_t Relax(Value token) const {
    if (auto argument = llvm::dyn_cast<BlockArgument>(token)) {
      auto loop = llvm::dyn_cast<ForOp>(argument.getOwner()->getParentOp());
      return loop ? OfLoop(loop, argument.getArgNumber() - loop.getNumInductionVars()) : 0;
    }
    auto result = llvm::cast<mlir::OpResult>(token);
    if (auto loop = llvm::dyn_cast<ForOp>(result.getOwner())) return OfLoop(loop, result.getResultNumber());
    auto branch = llvm::dyn_cast<IfOp>(result.getOwner());
    if (!branch) return 0;
    auto yielded = [&](mlir::scf::YieldOp yield) { return Between(yield.getOperand(result.getResultNumber()), yield); };
    return std::min(yielded(branch.thenYield()), yielded(branch.elseYield()));
  }

  int64_t OfLoop(ForOp loop, unsigned index) const {
    auto yield = llvm::cast<mlir::scf::YieldOp>(loop.getBody()->getTerminator());
    return std::min(Between(loop.getInitArgs()[index], loop), Between(yield.getOperand(index), yield));
  }

  llvm::DenseMap<Operation*, int64_t> before_, of_;
  llvm::MapVector<Value, int64_t> tokens_;  // commits from the group to where the token comes into being
};

class CountAsyncGroupsPass : public impl::CountAsyncGroupsPassBase<CountAsyncGroupsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<tt::FuncOp>()) {
      llvm::SmallVector<ttg::AsyncWaitOp> waits;
      function.walk([&](ttg::AsyncWaitOp wait) {
        if (!wait.getTokens().empty()) waits.push_back(wait);
      });
      if (waits.empty()) continue;
      GroupCounts counts(function);
      for (ttg::AsyncWaitOp wait : waits) {
        int64_t num = wait.getNum();
        for (Value token : wait.getTokens()) num = std::min(num, counts.Between(token, wait));
        wait.setNum(static_cast<uint32_t>(num));
      }
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
