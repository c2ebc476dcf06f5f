// SPDX-License-Identifier: Apache-2.0
// Masks of an access are often conditions on rows, on columns and on the whole block, spread over the block one by one.
// A thread would combine all of them for each of its elements. Conditions on the same dimensions are combined first,
// and those on the whole block with the ones that a thread has fewest of:
//
//   %a = tt.broadcast %x : tensor<32x1xi1> -> tensor<32x64xi1>         %s = arith.andi %x, %y : tensor<32x1xi1>
//   %b = tt.broadcast %y : tensor<32x1xi1> -> tensor<32x64xi1>         %t = arith.andi %s, (tt.splat %w)
//   %c = tt.broadcast %z : tensor<1x64xi1> -> tensor<32x64xi1>   ->    %a = tt.broadcast %t
//   %d = tt.splat %w     : i1 -> tensor<32x64xi1>                      %c = tt.broadcast %z
//   %m = arith.andi (arith.andi (arith.andi %a, %b), %c), %d           %m = arith.andi %a, %c
//
// This is done where threads have less to combine for it where the mask is made; what is made outside of that loop
// costs nothing there. Conditions from outer loops come first, for they can leave the loop. Masks that name blocks
// stay as they are, and so do those outside of loops with dots: elsewhere the assembler has registers enough to combine
// conditions as it likes.
#include "compiler/encoding/encoding_rules.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/spread_terms.h"
#include "llvm/ADT/MapVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_JOINMASKSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

class JoinedMask final {
 public:
  explicit JoinedMask(arith::AndIOp root)
      : root_(root), type_(llvm::cast<RankedTensorType>(root.getType())), depth_(LoopDepth(root->getBlock())) {}

  void Rewrite() {
    Collect(root_.getResult());
    if (names_block_ || parts_.empty() || CostAfter() >= cost_before_) return;
    mlir::OpBuilder b(root_);
    mlir::Location loc = root_.getLoc();
    auto both = [&](Value l, Value r) { return l ? arith::AndIOp::create(b, loc, l, r).getResult() : r; };
    auto join = [&](llvm::SmallVector<Value>& values) {
      llvm::stable_sort(values, IsFromFurtherOutside);
      Value joined;
      for (Value value : values) joined = both(joined, value);
      return joined;
    };
    if (!scalars_.empty()) {
      auto& [type, values] = Smallest();
      values.push_back(tt::SplatOp::create(b, loc, type, join(scalars_)));
    }
    for (auto& [type, values] : parts_) wholes_.push_back(tt::BroadcastOp::create(b, loc, type_, join(values)));
    Value joined = join(wholes_);
    root_.replaceAllUsesWith(joined);
  }

 private:
  void Collect(Value value) {
    if (auto both = value.getDefiningOp<arith::AndIOp>()) {
      if (LoopDepth(both->getBlock()) == depth_) cost_before_ += ElementsOfThread(type_);
      Collect(both.getLhs());
      Collect(both.getRhs());
    } else if (auto broadcast = value.getDefiningOp<tt::BroadcastOp>()) {
      Add(parts_[broadcast.getSrc().getType()], broadcast.getSrc());
    } else if (auto splat = value.getDefiningOp<tt::SplatOp>()) {
      Add(scalars_, splat.getSrc());
    } else if (!mlir::matchPattern(value, mlir::m_One())) {
      names_block_ |= value.getDefiningOp<tt::BlockMaskOp>() != nullptr;
      Add(wholes_, value);
    }
  }
  static void Add(llvm::SmallVector<Value>& values, Value value) {
    if (!llvm::is_contained(values, value)) values.push_back(value);
  }

  // The conditions of which a thread has fewest.
  std::pair<mlir::Type, llvm::SmallVector<Value>>& Smallest() {
    return *llvm::min_element(parts_,
                              [](auto& l, auto& r) { return ElementsOfThread(l.first) < ElementsOfThread(r.first); });
  }

  int64_t CostAfter() {
    auto is_here = [&](Value value) { return LoopDepth(value.getParentBlock()) == depth_; };
    int64_t cost = 0;
    for (auto& part : parts_) {
      int64_t here = llvm::count_if(part.second, is_here), outside = part.second.size() - here;
      if (&part == &Smallest()) (llvm::any_of(scalars_, is_here) ? here : outside) += scalars_.empty() ? 0 : 1;
      // What is from further outside is joined there.
      const int64_t joined = outside > 0 ? here : std::max<int64_t>(here - 1, 0);
      cost += ElementsOfThread(part.first) * joined;
    }
    return cost + ElementsOfThread(type_) * (static_cast<int64_t>(parts_.size() + wholes_.size()) - 1);
  }

  arith::AndIOp root_;
  RankedTensorType type_;
  int depth_;
  int64_t cost_before_ = 0;
  bool names_block_ = false;
  llvm::MapVector<mlir::Type, llvm::SmallVector<Value>> parts_;  // sources of broadcasts, by their type
  llvm::SmallVector<Value> scalars_, wholes_;
};

class JoinMasksPass : public impl::JoinMasksPassBase<JoinMasksPass> {
  void runOnOperation() override {
    llvm::SmallVector<arith::AndIOp> roots;
    getOperation().walk([&](arith::AndIOp op) {
      if (!IsBesideDots(op)) return;
      auto type = llvm::dyn_cast<RankedTensorType>(op.getType());
      if (!type || !type.getElementType().isInteger(1) || !type.getEncoding() || type.getRank() < 2) return;
      const bool goes_on = llvm::all_of(op->getUsers(), [](Operation* user) { return llvm::isa<arith::AndIOp>(user); });
      if (!goes_on || op->use_empty()) roots.push_back(op);
    });
    for (arith::AndIOp root : roots) {
      if (root->use_empty()) continue;
      JoinedMask(root).Rewrite();
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
