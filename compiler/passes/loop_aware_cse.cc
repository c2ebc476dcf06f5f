// SPDX-License-Identifier: Apache-2.0
// Values that a loop carries and that are equal in every iteration become one:
//
//   %r:2 = scf.for … iter_args(%a = %x, %b = %x) {         %r = scf.for … iter_args(%a = %x) {
//     %c = arith.addi %a, %s                                 %c = arith.addi %a, %s
//     %d = arith.addi %b, %s                          ->     use %a, %a
//     use %a, %b                                             scf.yield %c
//     scf.yield %c, %d                                     }
//   }                                                      use %r, %r
//   use %r#0, %r#1
//
// Then ordinary elimination of common subexpressions.
//
// Two carried values are equal if they start equal and, supposing that they are equal, become equal. The supposition
// may rest on others, of the same loop, of an outer or of an inner one. All of them hold together or fall together. So
// the search below supposes each pair it meets for the first time. If it finds a difference, it takes back what it has
// supposed since. A difference found under suppositions is one without them, too: it is remembered.
//
// Operations are equal that are of one kind and have no effects, with equal operands. So are two results of one loop or
// branch that is passed equal values for them. The search for one pair is bounded.
#include <vector>

#include "compiler/passes/passes.h"
#include "llvm/ADT/DenseSet.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/CSE.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_LOOPAWARECSEPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::BlockArgument;
using mlir::Operation;
using mlir::OpResult;
using mlir::Value;
using mlir::scf::ForOp;
using mlir::scf::IfOp;

constexpr int kMaxVisits = 2000;

class Equality final {
 public:
  bool AreEqual(Value a, Value b) {
    visits_ = 0;
    return Suppose(a, b);
  }

 private:
  using Pair = std::pair<Value, Value>;

  bool Suppose(Value a, Value b) {
    if (a == b) return true;
    Pair pair{a, b};
    if (a.getType() != b.getType() || ++visits_ > kMaxVisits || different_.contains(pair)) return false;
    if (!equal_.insert(pair).second) return true;
    size_t before = supposed_.size();
    supposed_.push_back(pair);
    if (Follows(a, b)) return true;
    for (size_t i = before; i < supposed_.size(); ++i) equal_.erase(supposed_[i]);
    supposed_.resize(before);
    if (visits_ <= kMaxVisits) different_.insert(pair);
    return false;
  }

  // Whether a and b are equal if what they come from is.
  bool Follows(Value a, Value b) {
    auto argument = llvm::dyn_cast<BlockArgument>(a), other = llvm::dyn_cast<BlockArgument>(b);
    if (argument && other) return ArgumentsFollow(argument, other);
    if (argument || other) return false;
    auto x = llvm::cast<OpResult>(a), y = llvm::cast<OpResult>(b);
    if (x.getOwner() == y.getOwner()) return ResultsFollow(x, y);
    return x.getResultNumber() == y.getResultNumber() && OperationsFollow(x.getOwner(), y.getOwner());
  }

  bool ArgumentsFollow(BlockArgument a, BlockArgument b) {
    auto loop = llvm::dyn_cast_if_present<ForOp>(a.getOwner()->getParentOp());
    if (!loop || a.getOwner() != b.getOwner() || a.getArgNumber() == 0 || b.getArgNumber() == 0) return false;
    return CarriedFollow(loop, a.getArgNumber() - 1, b.getArgNumber() - 1);
  }

  bool CarriedFollow(ForOp loop, unsigned i, unsigned j) {
    return Suppose(loop.getInitArgs()[i], loop.getInitArgs()[j]) &&
           Suppose(loop.getYieldedValues()[i], loop.getYieldedValues()[j]);
  }

  bool ResultsFollow(OpResult a, OpResult b) {
    unsigned i = a.getResultNumber(), j = b.getResultNumber();
    if (auto loop = llvm::dyn_cast<ForOp>(a.getOwner()))
      return Suppose(loop.getRegionIterArg(i), loop.getRegionIterArg(j)) && CarriedFollow(loop, i, j);
    if (auto branch = llvm::dyn_cast<IfOp>(a.getOwner()))
      return Suppose(branch.thenYield().getOperand(i), branch.thenYield().getOperand(j)) &&
             Suppose(branch.elseYield().getOperand(i), branch.elseYield().getOperand(j));
    return false;
  }

  bool OperationsFollow(Operation* a, Operation* b) {
    if (!mlir::isMemoryEffectFree(a)) return false;
    if (a->getNumRegions() != 0 && a->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>()) return false;
    return mlir::OperationEquivalence::isEquivalentTo(
        a, b, [&](Value x, Value y) { return mlir::success(Suppose(x, y)); }, [&](Value x, Value y) { Mark(x, y); },
        mlir::OperationEquivalence::IgnoreLocations);
  }

  // Arguments and results inside the regions of two operations, which correspond.
  void Mark(Value a, Value b) {
    if (equal_.insert({a, b}).second) supposed_.push_back({a, b});
  }

  llvm::DenseSet<Pair> equal_, different_;
  std::vector<Pair> supposed_;  // what is in equal_, in the order it came there
  int visits_ = 0;
};

// For each carried value the first one that it equals, itself if there is none.
llvm::SmallVector<unsigned> FindFirstEqual(ForOp loop) {
  Equality equality;
  llvm::SmallVector<unsigned> first;
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
    unsigned j = 0;
    while (j < i && !(first[j] == j && equality.AreEqual(loop.getRegionIterArg(j), loop.getRegionIterArg(i)))) ++j;
    first.push_back(j);
  }
  return first;
}

void MergeCarried(ForOp loop) {
  llvm::SmallVector<unsigned> first = FindFirstEqual(loop);
  llvm::BitVector merged(loop.getNumRegionIterArgs());
  for (auto [i, j] : llvm::enumerate(first)) merged[i] = j != i;
  if (merged.none()) return;
  llvm::SmallVector<Value> inits;
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs()))
    if (!merged[i]) inits.push_back(init);
  mlir::OpBuilder b(loop);
  auto narrow = ForOp::create(b, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
  narrow->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  for (unsigned i : merged.set_bits()) loop.getRegionIterArg(i).replaceAllUsesWith(loop.getRegionIterArg(first[i]));
  llvm::BitVector arguments(1);  // the induction variable stays
  for (unsigned i = 0; i < merged.size(); ++i) arguments.push_back(merged[i]);
  loop.getBody()->getTerminator()->eraseOperands(merged);
  loop.getBody()->eraseArguments(arguments);
  narrow.getRegion().takeBody(loop.getRegion());
  llvm::SmallVector<unsigned> position(merged.size());
  for (unsigned i = 0, next = 0; i < merged.size(); ++i) position[i] = merged[i] ? position[first[i]] : next++;
  for (auto [i, result] : llvm::enumerate(loop.getResults())) result.replaceAllUsesWith(narrow.getResult(position[i]));
  loop.erase();
}

class LoopAwareCsePass : public impl::LoopAwareCsePassBase<LoopAwareCsePass> {
  void runOnOperation() override {
    // Before loops are compared: fewer operations to look at.
    Eliminate();
    llvm::SmallVector<ForOp>
        loops;  // outer ones first: what they no longer tell apart, their inner loops do not either
    getOperation().walk<mlir::WalkOrder::PreOrder>([&](ForOp loop) {
      if (loop.getNumRegionIterArgs() > 1) loops.push_back(loop);
    });
    for (ForOp loop : loops) MergeCarried(loop);
    if (!loops.empty()) Eliminate();
  }

  void Eliminate() {
    mlir::IRRewriter rewriter(&getContext());
    mlir::DominanceInfo dominance(getOperation());
    mlir::eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
};

}  // namespace
}  // namespace tritond::compiler
