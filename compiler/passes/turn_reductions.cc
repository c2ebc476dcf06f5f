// SPDX-License-Identifier: Apache-2.0
// A reduction along the lanes of a warp takes shuffles for each result that a lane has, and leaves copies of the result
// in these lanes. A thread that holds the whole axis takes none. An operand may be made of smaller tensors: the product
// of a row and a column, say. Then these change their encodings at little cost. So bits of the lane that move along the
// axis change places with bits of the register that do not, as for scans (turn_scans.cc):
//
//   #a: lanes lie along the axis, registers hold many columns
//   #b: registers hold the axis, lanes lie along the columns
//
//   %p = arith.mulf %x, %y : #a                       %u = ttg.convert_layout of what %x is spread from : -> #b
//   %s = "tt.reduce"(%p) <{axis = 1}>           ->    %v = ttg.convert_layout of what %y is spread from : -> #b
//   %c = ttg.convert_layout %s : -> #store            %q = arith.mulf %u, %v : #b
//                                                     %s = "tt.reduce"(%q) <{axis = 1}>
//                                                     %c = ttg.convert_layout %s : -> #store
//
// The cost model compares. An operand costs a conversion, or what its operands cost if its operation is cheap to do
// under #b. MoveConversions then finds where these conversions go. Where as many elements as the operand has would be
// converted, nothing changes: that takes registers for both. It has to pay for a further trip through shared memory,
// since other uses of what the operand is made of may take conversions. Integers stay: devices have instructions that
// combine those of all lanes.
#include <algorithm>
#include <limits>

#include "compiler/analysis/scratch.h"
#include "compiler/encoding/conversion_cost.h"
#include "compiler/encoding/encoding_rules.h"
#include "compiler/encoding/exchange_cost.h"
#include "compiler/encoding/layout_rematerialization.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/exchangeable_bits.h"
#include "compiler/passes/passes.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_TURNREDUCTIONSPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Attribute;
using mlir::Operation;
using mlir::OpOperand;
using mlir::RankedTensorType;
using mlir::Value;

// Operations that are looked through from a reduction upwards.
constexpr int kMaxDepth = 12;

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

Attribute ResultEncoding(tt::ReduceOp reduce, Attribute encoding) {
  return ttg::SliceEncodingAttr::get(reduce.getContext(), reduce.getAxis(),
                                     llvm::cast<ttg::DistributedEncoding>(encoding));
}

class ReductionTurner final {
 public:
  // The cheapest encoding for the reduction, with what it takes to have its operands so and its results as before.
  Attribute Choose(tt::ReduceOp reduce) {
    const RankedTensorType type = reduce.InputType();
    const LinearLayout layout = ttg::ToLinearLayout(type);
    Attribute best = type.getEncoding();
    if (!IsReducible(layout, reduce.getAxis())) return best;
    const ExchangeableBits bits = FindExchangeableBits(layout, reduce.getAxis());
    double least = costs_.Reduction(reduce, best) - kBarrier;
    elements_ = type.getNumElements();
    LinearLayout::Columns columns = layout.columns();
    for (auto [lane, reg] : llvm::zip(bits.lanes, bits.registers)) {
      std::swap(columns[lane], columns[reg]);
      const LinearLayout turned = LinearLayout::FromColumns(layout.InDims(), layout.OutDims(), columns);
      if (!IsReducible(turned, reduce.getAxis())) continue;
      const Attribute encoding = ttg::LinearEncodingAttr::get(reduce.getContext(), turned);
      double cost = costs_.Reduction(reduce, encoding) + Results(reduce, encoding);
      for (Value src : reduce.getSrcs()) cost += Operand(src, encoding, /*dies=*/true, 0);
      if (cost < least) best = encoding, least = cost;
    }
    return best;
  }

 private:
  // What it costs to have `value` under `encoding`, less what goes if nothing needs it as it is. `dies`: its user goes.
  double Operand(Value value, Attribute encoding, bool dies, int depth) {
    const RankedTensorType type = TypeOf(value);
    if (type.getEncoding() == encoding) return 0;
    const double conversion = type.getNumElements() >= elements_ ? std::numeric_limits<double>::infinity()
                                                                 : costs_.Conversion(type, encoding);
    Operation* op = value.getDefiningOp();
    const std::optional<double> element = op ? CostModel::ElementCost(op) : std::nullopt;
    if (!element || llvm::isa<tt::LoadOp>(op) || depth >= kMaxDepth) return conversion;
    dies = dies && value.hasOneUse();
    if (auto convert = llvm::dyn_cast<ttg::ConvertLayoutOp>(op)) {
      const double gone = dies ? costs_.Conversion(TypeOf(convert.getSrc()), type.getEncoding()) : 0;
      return std::min(conversion, Operand(convert.getSrc(), encoding, dies, depth + 1) - gone);
    }
    const EncodingRule rule = EncodingRuleOf(op);
    if (rule != EncodingRule::kTied && rule != EncodingRule::kFree) return conversion;
    const int64_t registers = costs_.Registers(type, encoding);
    double cost = *element * (registers - (dies ? costs_.Registers(type, type.getEncoding()) : 0));
    for (OpOperand& operand : op->getOpOperands()) {
      if (!llvm::isa<RankedTensorType>(operand.get().getType())) continue;
      const Attribute needed = TiedOperandEncoding(operand, encoding);
      if (!needed) return conversion;
      cost += Operand(operand.get(), needed, dies, depth + 1);
    }
    return std::min(conversion, cost);
  }

  // Results go where they went before. Those that are converted anyhow are converted from the new encoding.
  double Results(tt::ReduceOp reduce, Attribute encoding) {
    double cost = 0;
    for (Value result : reduce.getResult()) {
      RankedTensorType type = TypeOf(result);
      const auto turned = type.cloneWithEncoding(ResultEncoding(reduce, encoding));
      if (!llvm::all_of(result.getUsers(), llvm::IsaPred<ttg::ConvertLayoutOp>)) {
        cost += costs_.Conversion(turned, type.getEncoding());
        continue;
      }
      for (Operation* user : result.getUsers()) {
        const Attribute target = TypeOf(user->getResult(0)).getEncoding();
        cost += costs_.Conversion(turned, target) - costs_.Conversion(type, target);
      }
    }
    return cost;
  }

  CostModel costs_;
  int64_t elements_ = 0;  // of the reduction at hand
};

void Reencode(tt::ReduceOp reduce, Attribute encoding) {
  mlir::OpBuilder b(reduce);
  for (OpOperand& operand : reduce->getOpOperands())
    operand.set(ttg::ConvertLayoutOp::create(b, reduce.getLoc(), TypeOf(operand.get()).cloneWithEncoding(encoding),
                                             operand.get()));
  b.setInsertionPointAfter(reduce);
  for (Value result : reduce.getResult()) {
    RankedTensorType type = TypeOf(result);
    result.setType(type.cloneWithEncoding(ResultEncoding(reduce, encoding)));
    auto back = ttg::ConvertLayoutOp::create(b, reduce.getLoc(), type, result);
    result.replaceAllUsesExcept(back, back);
  }
}

class TurnReductionsPass : public impl::TurnReductionsPassBase<TurnReductionsPass> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<tt::FuncOp>()) {
      bool changed = false;
      ReductionTurner turner;
      func.walk([&](tt::ReduceOp reduce) {
        const RankedTensorType type = reduce.InputType();
        if (type.getRank() < 2 || !llvm::isa<mlir::FloatType>(type.getElementType())) return;
        const Attribute encoding = turner.Choose(reduce);
        if (encoding == type.getEncoding()) return;
        Reencode(reduce, encoding);
        changed = true;
      });
      if (changed) MoveConversions(func);
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
