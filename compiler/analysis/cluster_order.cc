// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/cluster_order.h"

#include <memory>

#include "compiler/analysis/pointer_roots.h"
#include "compiler/analysis/tied_dimensions.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;

struct Access {
  std::optional<PointerRoots> roots;
  bool reads = false, writes = false;
};

bool MayMeet(const Access& a, const Access& b) {
  if (!a.roots || !b.roots) return true;
  return llvm::any_of(*a.roots, [&](mlir::Value root) { return b.roots->contains(root); });
}

class OrderFinder final {
 public:
  void Visit(mlir::Region& region, bool in_loop) {
    for (Operation& op : region.getOps()) {
      if (llvm::isa<mlir::scf::IfOp>(op))
        VisitBranches(op.getRegions(), in_loop);
      else if (llvm::isa<mlir::LoopLikeOpInterface>(op))
        VisitLoop(&op);
      else if (BlockAccessedBy(&op))
        VisitAccess(&op, in_loop);
    }
  }

  llvm::SmallVector<Operation*> TakeMeetings() { return meetings_.takeVector(); }

 private:
  void VisitBranches(llvm::MutableArrayRef<mlir::Region> branches, bool in_loop) {
    const auto before = since_;
    auto after = since_;
    after.clear();
    for (mlir::Region& branch : branches) {
      since_ = before;
      Visit(branch, in_loop);
      after.insert(since_.begin(), since_.end());
    }
    since_ = std::move(after);
  }

  // Once more, behind an iteration. It may have none, too.
  void VisitLoop(Operation* loop) {
    const auto before = since_;
    for (int i = 0; i < 2; ++i)
      for (mlir::Region& body : loop->getRegions()) Visit(body, /*in_loop=*/true);
    since_.insert(before.begin(), before.end());
  }

  void VisitAccess(Operation* op, bool in_loop) {
    const Access& access = AccessOf(op);
    const bool waits = meetings_.contains(op) || llvm::any_of(since_, [&](Operation* other) {
                         const Access& earlier = AccessOf(other);
                         return (access.writes || earlier.writes) && (!in_loop || MayMeet(access, earlier));
                       });
    if (waits) {
      meetings_.insert(op);
      since_.clear();
    }
    since_.insert(op);
  }

  const Access& AccessOf(Operation* op) {
    std::unique_ptr<Access>& access = accesses_[op];
    if (!access)
      access = std::make_unique<Access>(Access{RootsOfPointer(op->getOperand(0)),
                                               mlir::hasEffect<mlir::MemoryEffects::Read>(op),
                                               mlir::hasEffect<mlir::MemoryEffects::Write>(op)});
    return *access;
  }

  using Accesses = llvm::SetVector<Operation*, llvm::SmallVector<Operation*>>;
  Accesses since_;  // the blocks have met
  Accesses meetings_;
  llvm::DenseMap<Operation*, std::unique_ptr<Access>> accesses_;
};

}  // namespace

llvm::SmallVector<Operation*> AccessesBehindOtherBlocks(tt::FuncOp function) {
  OrderFinder finder;
  finder.Visit(function.getBody(), /*in_loop=*/false);
  return finder.TakeMeetings();
}

}  // namespace tritond::compiler
