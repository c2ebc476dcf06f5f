// SPDX-License-Identifier: Apache-2.0
// Moves conversions to where they cost least.
//
// To have a value under another encoding one may convert it, or compute it again from operands under the encodings that
// this takes, and so on upwards. The best way to have %v under X is the cheapest of
//
//   Best(v, X) = 0                                                  if it is there already
//              = Conversion(v, X)
//              = Cost(op of v under X) + sum of Best(operand, X of the operand)
//
// each weighted by how often its block runs. An operation whose only user moves away dies, which its copy gets credit
// for; so a conversion climbs over an extension or a broadcast to the smaller tensor, out of a loop, or dissolves in
// constants and ranges:
//
//   %w = arith.extf %v : f16 to f32, #a                  %c = ttg.convert_layout %v : f16, #a -> #b
//   %c = ttg.convert_layout %w : f32, #a -> #b     =>    %w = arith.extf %c : f16 to f32, #b
//
// Copies stand beside their originals, conversions beside the value's definition: what dominated the old conversion
// dominates them. The search visits a bounded number of operations for each conversion, so the pass stays linear.
#include "compiler/passes/layout_rematerialization.h"

#include <vector>

#include "compiler/ir/encodings.h"
#include "compiler/passes/conversion_cost.h"
#include "compiler/passes/encoding_rules.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tritond::compiler {
namespace {

using mlir::Attribute;
using mlir::Operation;
using mlir::OpOperand;
using mlir::RankedTensorType;
using mlir::Value;

constexpr int kMaxVisits = 400;
constexpr int kMaxDepth = 200;

using Placed = std::pair<Value, Attribute>;

RankedTensorType TensorType(Value value) { return llvm::dyn_cast<RankedTensorType>(value.getType()); }

RankedTensorType WithEncoding(Value value, Attribute encoding) {
  RankedTensorType type = TensorType(value);
  return RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
}

class ConversionMover final {
 public:
  explicit ConversionMover(tt::FuncOp func) : func_(func) {}

  bool Run() {
    llvm::SmallVector<ttg::ConvertLayoutOp> converts;
    func_.walk([&](ttg::ConvertLayoutOp convert) { converts.push_back(convert); });
    bool changed = false;
    for (ttg::ConvertLayoutOp convert : converts)
      changed |= Move(convert);
    EraseDead();
    return changed;
  }

 private:
  struct Choice {
    double cost = 0;
    bool recompute = false;
  };

  bool Move(ttg::ConvertLayoutOp convert) {
    Value src = convert.getSrc();
    Attribute encoding = convert.getType().getEncoding();
    if (dead_.contains(convert)) return false;
    choices_.clear();
    visits_ = 0;
    Choice choice = Best(src, encoding, OnlyUse(src), 0);
    double stay = ConversionCost(src, encoding) * Frequency(convert->getBlock());
    bool leaves_loop = LoopDepth(convert->getBlock()) > LoopDepth(src.getParentBlock());
    if (!leaves_loop && (!choice.recompute || choice.cost >= stay) && !Made(src, encoding)) return false;
    Value moved = Make(src, encoding);
    if (moved == convert.getResult()) return false;
    convert.getResult().replaceAllUsesWith(moved);
    Kill(convert);
    return true;
  }

  //-- Choosing ------------------------------------------------------------------------------------------------------//

  // `dies`: nothing but what moves away uses `value`.
  Choice Best(Value value, Attribute encoding, bool dies, int depth) {
    if (Made(value, encoding)) return {};
    auto known = choices_.find({value, encoding});
    if (known != choices_.end()) return known->second;
    mlir::Block* block = value.getParentBlock();
    Choice best{ConversionCost(value, encoding) * Frequency(block), false};
    // An unfinished choice is a conversion; there are no cycles to meet it, as block arguments are not recomputed.
    choices_[{value, encoding}] = best;
    if (++visits_ > kMaxVisits || depth > kMaxDepth) return best;
    std::optional<double> recompute = RecomputeCost(value, encoding, dies, depth);
    if (recompute && *recompute < best.cost) best = {*recompute, true};
    return choices_[{value, encoding}] = best;
  }

  std::optional<double> RecomputeCost(Value value, Attribute encoding, bool dies, int depth) {
    Operation* op = value.getDefiningOp();
    std::optional<double> element = op ? CostModel::ElementCost(op) : std::nullopt;
    if (!element || !MayRetype(op)) return std::nullopt;
    RankedTensorType type = TensorType(value);
    double cost = *element * costs_.Registers(type, encoding);
    if (dies) cost -= CostOf(op, *element);
    cost *= Frequency(op->getBlock());
    for (OpOperand& operand : op->getOpOperands()) {
      if (!TensorType(operand.get())) continue;
      Attribute needed = TiedOperandEncoding(operand, encoding);
      if (!needed) return std::nullopt;
      cost += Best(operand.get(), needed, dies && OnlyUse(operand.get()), depth + 1).cost;
    }
    return cost;
  }

  // What goes when `op` dies. A wide load is cheap for its elements.
  double CostOf(Operation* op, double element) {
    if (auto convert = llvm::dyn_cast<ttg::ConvertLayoutOp>(op))
      return ConversionCost(convert.getSrc(), convert.getType().getEncoding());
    RankedTensorType type = TensorType(op->getResult(0));
    return llvm::isa<tt::LoadOp>(op) ? element : element * costs_.Registers(type, type.getEncoding());
  }

  static bool MayRetype(Operation* op) {
    EncodingRule rule = EncodingRuleOf(op);
    return rule == EncodingRule::kTied || rule == EncodingRule::kFree || llvm::isa<tt::LoadOp>(op);
  }

  double ConversionCost(Value value, Attribute encoding) {
    double cost = costs_.Conversion(TensorType(value), encoding);
    // A load in a loop that feeds a dot becomes an asynchronous copy to shared memory, which the dot reads.
    bool streams = value.getDefiningOp<tt::LoadOp>() && LoopDepth(value.getParentBlock()) > 0 &&
                   llvm::isa<ttg::DotOperandEncodingAttr>(encoding);
    return streams ? cost / 4 : cost;
  }

  double Frequency(mlir::Block* block) {
    auto [entry, is_new] = frequencies_.try_emplace(block, 1);
    if (!is_new) return entry->second;
    double frequency = 1;
    for (Operation* op = block->getParentOp(); op; op = op->getParentOp()) {
      if (llvm::isa<mlir::LoopLikeOpInterface>(op)) frequency *= 8;
      if (llvm::isa<mlir::scf::IfOp>(op)) frequency /= 2;
    }
    return entry->second = frequency;
  }

  bool LiveUse(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation* user) { return !dead_.contains(user); });
  }

  // One live operation uses the result, and the operation has no other.
  bool OnlyUse(Value value) {
    Operation* op = value.getDefiningOp();
    if (!op || op->getNumResults() != 1) return false;
    Operation* only = nullptr;
    for (Operation* user : value.getUsers()) {
      if (dead_.contains(user) || user == only) continue;
      if (only) return false;
      only = user;
    }
    return true;
  }

  //-- Rewriting -----------------------------------------------------------------------------------------------------//

  // `value` under `encoding` if that is there; available wherever `value` is.
  Value Made(Value value, Attribute encoding) {
    if (TensorType(value).getEncoding() == encoding) return value;
    auto made = made_.find({value, encoding});
    if (made == made_.end()) return {};
    Operation* op = made->second.getDefiningOp();
    return op && dead_.contains(op) ? Value() : made->second;
  }

  // The same, made as chosen if it is not.
  Value Make(Value value, Attribute encoding) {
    if (Value made = Made(value, encoding)) return made;
    mlir::OpBuilder builder(func_.getContext());
    builder.setInsertionPointAfterValue(value);
    auto choice = choices_.find({value, encoding});
    if (choice == choices_.end() || !choice->second.recompute)
      return made_[{value, encoding}] =
                 builder.create<ttg::ConvertLayoutOp>(value.getLoc(), WithEncoding(value, encoding), value);
    return Recompute(value, encoding, builder);
  }

  Value Recompute(Value value, Attribute encoding, mlir::OpBuilder& builder) {
    Operation* op = value.getDefiningOp();
    if (llvm::isa<ttg::ConvertLayoutOp>(op)) return made_[{value, encoding}] = Make(op->getOperand(0), encoding);
    mlir::IRMapping mapping;
    for (OpOperand& operand : op->getOpOperands())
      if (TensorType(operand.get()))
        mapping.map(operand.get(), Make(operand.get(), TiedOperandEncoding(operand, encoding)));
    Operation* copy = builder.clone(*op, mapping);
    for (auto [result, copied] : llvm::zip(op->getResults(), copy->getResults())) {
      copied.setType(WithEncoding(result, encoding));
      made_[{result, encoding}] = copied;
    }
    if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(copy))
      constant.setValueAttr(llvm::cast<mlir::DenseElementsAttr>(constant.getValue())
                                .reshape(llvm::cast<RankedTensorType>(constant.getType())));
    return made_[{value, encoding}];
  }

  // Marks an unused operation and what it alone used.
  void Kill(Operation* op) {
    llvm::SmallVector<Operation*> work{op};
    while (!work.empty()) {
      Operation* next = work.pop_back_val();
      if (!dead_.insert(next)) continue;
      for (Value operand : next->getOperands()) {
        Operation* def = operand.getDefiningOp();
        if (def && mlir::wouldOpBeTriviallyDead(def) &&
            llvm::none_of(def->getResults(), [&](Value result) { return LiveUse(result); }))
          work.push_back(def);
      }
    }
  }

  void EraseDead() {
    for (Operation* op : dead_) op->dropAllUses();
    for (Operation* op : dead_) op->erase();
  }

  tt::FuncOp func_;
  CostModel costs_;
  llvm::DenseMap<Placed, Choice> choices_;  // for the conversion at hand
  llvm::DenseMap<Placed, Value> made_;
  llvm::DenseMap<mlir::Block*, double> frequencies_;
  llvm::SetVector<Operation*> dead_;
  int visits_ = 0;
};

}  // namespace

bool MoveConversions(tt::FuncOp func) { return ConversionMover(func).Run(); }

}  // namespace tritond::compiler
