// SPDX-License-Identifier: Apache-2.0
// An address in a block is often a sum of indices of rows, of columns and of the whole block, spread over the block one
// by one. A thread would add all of them, in 64 bits, for each of its elements. Where the pointers can carry them, they
// are added first:
//
//   %p = tt.splat %base  : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>>
//   %q = tt.addptr %p, (tt.broadcast %columns : tensor<1x32xi32> …)
//   %r = tt.addptr %q, (tt.broadcast %rows    : tensor<128x1xi32> …)
//   %s = tt.addptr %r, (tt.broadcast %more    : tensor<128x1xi32> …)
//   ->
//   %p = tt.splat %base : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
//   %q = tt.addptr %p, %rows : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
//   %r = tt.addptr %q, %more
//   %s = tt.addptr (tt.broadcast %r : … -> tensor<128x32x!tt.ptr<f16>>), (tt.broadcast %columns)
//
// Each index is extended to 64 bits by itself, as before, so nothing overflows that did not. It is done in loops with
// dots, where threads then have less to add in the loop. Indices from outer loops come first, for they can leave the
// loop. Pointers with hints of their own stay.
#include "compiler/encoding/encoding_rules.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/spread_terms.h"
#include "llvm/ADT/MapVector.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_JOININDICESPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::RankedTensorType;
using mlir::Type;
using mlir::Value;

Type PointersLike(Value indices, Value pointers) {
  return tt::WithElement(llvm::cast<RankedTensorType>(indices.getType()),
                         llvm::cast<RankedTensorType>(pointers.getType()).getElementType());
}

class JoinedAddress final {
 public:
  explicit JoinedAddress(tt::AddPtrOp root)
      : root_(root), type_(llvm::cast<RankedTensorType>(root.getType())), depth_(LoopDepth(root->getBlock())) {}

  void Rewrite() {
    if (!Collect() || !ChooseCarrier() || CostAfter() >= cost_before_) return;
    mlir::OpBuilder b(root_);
    mlir::Location loc = root_.getLoc();
    auto add = [&](Value pointer, llvm::SmallVector<Value>& indices) {
      llvm::stable_sort(indices, IsFromFurtherOutside);
      for (Value index : indices) pointer = tt::AddPtrOp::create(b, loc, pointer.getType(), pointer, index);
      return pointer;
    };
    llvm::SmallVector<Value> carried = rows_[carrier_];
    Value pointer = base_;
    if (auto splat = base_.getDefiningOp<tt::SplatOp>()) {
      pointer = tt::SplatOp::create(b, loc, PointersLike(carried[0], base_), add(splat.getSrc(), scalars_));
    } else {
      pointer = base_.getDefiningOp<tt::BroadcastOp>().getSrc();
      for (Value scalar : scalars_)
        carried.push_back(tt::SplatOp::create(
            b, loc, tt::WithElement(llvm::cast<RankedTensorType>(pointer.getType()), scalar.getType()), scalar));
    }
    pointer = tt::BroadcastOp::create(b, loc, type_, add(pointer, carried));
    for (auto& [shape, indices] : rows_) {
      if (shape == carrier_) continue;
      for (Value index : indices)
        wholes_.push_back(tt::BroadcastOp::create(
            b, loc, tt::WithElement(type_, llvm::cast<RankedTensorType>(index.getType()).getElementType()), index));
    }
    root_.replaceAllUsesWith(add(pointer, wholes_));
  }

 private:
  // Types of indices are told apart by all but their elements.
  static Type ShapeOf(Value tensor) {
    auto type = llvm::cast<RankedTensorType>(tensor.getType());
    return tt::WithElement(type, mlir::IntegerType::get(type.getContext(), 1));
  }
  bool IsHere(Value value) const { return LoopDepth(value.getParentBlock()) == depth_; }

  // False where an addition has hints.
  bool Collect() {
    base_ = root_.getResult();
    while (auto sum = base_.getDefiningOp<tt::AddPtrOp>()) {
      if (!sum->getDiscardableAttrs().empty()) return false;
      if (IsHere(sum)) cost_before_ += ElementsOfThread(type_);
      Value index = sum.getOffset();
      if (auto broadcast = index.getDefiningOp<tt::BroadcastOp>()) {
        rows_[ShapeOf(broadcast.getSrc())].push_back(broadcast.getSrc());
      } else if (auto splat = index.getDefiningOp<tt::SplatOp>()) {
        scalars_.push_back(splat.getSrc());
      } else {
        wholes_.push_back(index);
      }
      base_ = sum.getPtr();
    }
    return true;
  }

  // The dimensions whose indices the pointers take: those of the first pointer, or those with most indices.
  bool ChooseCarrier() {
    if (auto broadcast = base_.getDefiningOp<tt::BroadcastOp>()) {
      carrier_ = ShapeOf(broadcast.getSrc());
      return true;
    }
    if (!base_.getDefiningOp<tt::SplatOp>() || rows_.empty()) return false;
    auto by_number = [](auto& l, auto& r) { return l.second.size() < r.second.size(); };
    carrier_ = llvm::max_element(rows_, by_number)->first;
    return true;
  }

  // Of what does not come from further outside.
  int64_t CostAfter() {
    auto is_here = [&](Value value) { return IsHere(value); };
    const auto scalars = static_cast<int64_t>(scalars_.size());
    int64_t carried = base_.getDefiningOp<tt::SplatOp>() ? 0 : scalars, whole = wholes_.size();
    for (auto& [shape, indices] : rows_)
      (shape == carrier_ ? carried : whole) +=
          shape == carrier_ ? llvm::count_if(indices, is_here) : static_cast<int64_t>(indices.size());
    return carried * ElementsOfThread(carrier_) + whole * ElementsOfThread(type_);
  }

  tt::AddPtrOp root_;
  RankedTensorType type_;
  int depth_;
  int64_t cost_before_ = 0;
  Value base_;
  Type carrier_;
  llvm::MapVector<Type, llvm::SmallVector<Value>> rows_;  // sources of broadcasts, by their shape
  llvm::SmallVector<Value> scalars_, wholes_;
};

class JoinIndicesPass : public impl::JoinIndicesPassBase<JoinIndicesPass> {
  void runOnOperation() override {
    llvm::SmallVector<tt::AddPtrOp> roots;
    getOperation().walk([&](tt::AddPtrOp op) {
      auto type = llvm::dyn_cast<RankedTensorType>(op.getType());
      if (!type || !type.getEncoding() || type.getRank() < 2 || !IsBesideDots(op)) return;
      const bool goes_on = llvm::all_of(op->getUsers(), [](auto* user) { return llvm::isa<tt::AddPtrOp>(user); });
      if (!goes_on && op->getDiscardableAttrs().empty()) roots.push_back(op);
    });
    for (tt::AddPtrOp root : roots) JoinedAddress(root).Rewrite();
  }
};

}  // namespace
}  // namespace tritond::compiler
