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
using mlir::Value;

struct Access {
  Value pointer;
  std::optional<PointerRoots> roots;
  bool is_divided = false, writes = false;
};

bool IsInLoop(Value value) {
  Operation* around = value.getParentRegion()->getParentOp();
  return llvm::isa<mlir::LoopLikeOpInterface>(around) || around->getParentOfType<mlir::LoopLikeOpInterface>();
}

// Whether one block may access what another one accesses, and one of them writes. What is not divided one block writes.
// Of what is divided, one pointer for both gives each block its own elements, in all iterations of a loop in which it
// stays the same.
bool MayMeet(const Access& a, const Access& b) {
  if (!a.writes && !b.writes) return false;
  const bool by_one_block = !a.is_divided && !b.is_divided && a.writes && b.writes;
  const bool of_own = a.is_divided && b.is_divided && a.pointer == b.pointer && !IsInLoop(a.pointer);
  if (by_one_block || of_own) return false;
  if (!a.roots || !b.roots) return !a.roots && !b.roots;
  return llvm::any_of(*a.roots, [&](Value root) { return b.roots->contains(root); });
}

class OrderFinder final {
 public:
  explicit OrderFinder(llvm::function_ref<bool(Operation*)> is_divided) : is_divided_(is_divided) {}

  void Visit(mlir::Region& region) {
    for (Operation& op : region.getOps()) {
      if (llvm::isa<mlir::scf::IfOp>(op))
        VisitBranches(op.getRegions());
      else if (llvm::isa<mlir::LoopLikeOpInterface>(op))
        VisitLoop(&op);
      else if (BlockAccessedBy(&op))
        VisitAccess(&op);
    }
  }

  llvm::SmallVector<Operation*> TakeMeetings() { return meetings_.takeVector(); }

 private:
  void VisitBranches(llvm::MutableArrayRef<mlir::Region> branches) {
    const auto before = since_;
    auto after = since_;
    after.clear();
    for (mlir::Region& branch : branches) {
      since_ = before;
      Visit(branch);
      after.insert(since_.begin(), since_.end());
    }
    since_ = std::move(after);
  }

  // Once more, behind an iteration. It may have none, too.
  void VisitLoop(Operation* loop) {
    const auto before = since_;
    for (int i = 0; i < 2; ++i)
      for (mlir::Region& body : loop->getRegions()) Visit(body);
    since_.insert(before.begin(), before.end());
  }

  void VisitAccess(Operation* op) {
    const Access& access = Find(op);
    if (meetings_.contains(op) ||
        llvm::any_of(since_, [&](Operation* other) { return MayMeet(access, Find(other)); })) {
      meetings_.insert(op);
      since_.clear();
    }
    since_.insert(op);
  }

  const Access& Find(Operation* op) {
    std::unique_ptr<Access>& access = accesses_[op];
    if (!access)
      access = std::make_unique<Access>(Access{op->getOperand(0), RootsOfPointer(op->getOperand(0)), is_divided_(op),
                                               mlir::hasEffect<mlir::MemoryEffects::Write>(op)});
    return *access;
  }

  llvm::function_ref<bool(Operation*)> is_divided_;
  using Accesses = llvm::SetVector<Operation*, llvm::SmallVector<Operation*>>;
  Accesses since_;  // the blocks have met
  Accesses meetings_;
  llvm::DenseMap<Operation*, std::unique_ptr<Access>> accesses_;
};

}  // namespace

llvm::SmallVector<Operation*> AccessesBehindOtherBlocks(tt::FuncOp function,
                                                        llvm::function_ref<bool(Operation*)> is_divided) {
  OrderFinder finder(is_divided);
  finder.Visit(function.getBody());
  return finder.TakeMeetings();
}

}  // namespace tritond::compiler
