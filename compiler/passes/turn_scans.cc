// SPDX-License-Identifier: Apache-2.0
// A scan along the lanes of a warp takes a shuffle for each doubling of the distance. Each register that holds another
// row takes shuffles of its own. A thread that holds neighbours of the axis itself takes none. So where a warp has many
// rows in registers, its lanes hand them out. Bits of the lane that move along the axis change places with bits of the
// register that do not. The data stay in their warp, and go through shared memory once there and once back:
//
//   #a: registers hold 8 rows, lanes 32 positions of the axis
//   #b: registers hold 8 positions, lanes the others, for 8 rows
//
//   %s = "tt.scan"(%x) <{axis = 1 …}> : #a            %y = ttg.convert_layout %x : #a -> #b
//                                               ->    %t = "tt.scan"(%y) <{axis = 1 …}> : #b
//                                                     %s = ttg.convert_layout %t : #b -> #a
//
// A thread may also have positions of one row that are far from each other, as accesses give them to it. Then it holds
// many chunks, and each takes shuffles and a total of each warp. So the same bits are tried in the order of registers,
// lanes and warps along the axis, too: each thread holds neighbours.
//
// The cost model compares: a conversion is paid for each element, shuffles for each chunk of the axis that a thread
// holds. Conversions of what is cheap to compute again under #b then go (MoveConversions).
#include "compiler/analysis/scratch.h"
#include "compiler/encoding/conversion_cost.h"
#include "compiler/encoding/layout_rematerialization.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/operands.h"
#include "compiler/passes/exchangeable_bits.h"
#include "compiler/passes/passes.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_TURNSCANSPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Attribute;
using mlir::RankedTensorType;
using mlir::Value;

RankedTensorType TypeOf(tt::ScanOp scan) { return llvm::cast<RankedTensorType>(scan.getSrcs()[0].getType()); }

// The layout in which registers hold the nearest neighbours along the axis, lanes the next ones, and warps the
// farthest; nothing where bits move along several dimensions.
std::optional<LinearLayout> InOrder(const LinearLayout& layout, unsigned axis) {
  const LayoutDim& out = layout.OutDims()[axis];
  const uint64_t along = out.mask() << out.shift;
  llvm::SmallVector<int> places;  // of registers, lanes and warps along the axis, in this order
  for (const char* in : {"register", "lane", "warp"})
    for (int bit = 0; bit < layout.InBits(in); ++bit) {
      const int place = layout.In(in).shift + bit;
      const uint64_t column = layout.columns()[place];
      if ((column & along) == 0) continue;
      if ((column & ~along) != 0) return std::nullopt;
      places.push_back(place);
    }
  LinearLayout::Columns columns = layout.columns();
  llvm::SmallVector<uint64_t> sorted;
  for (int place : places) sorted.push_back(columns[place]);
  llvm::sort(sorted);
  for (auto [place, column] : llvm::zip(places, sorted)) columns[place] = column;
  return LinearLayout::FromColumns(layout.InDims(), layout.OutDims(), columns);
}

class ScanTurner final {
 public:
  // The cheapest encoding for the scan, conversions of its operands and results included.
  Attribute Choose(tt::ScanOp scan) {
    const RankedTensorType type = TypeOf(scan);
    const LinearLayout layout = ttg::ToLinearLayout(type);
    if (!IsScannable(layout, scan.getAxis())) return type.getEncoding();
    const ExchangeableBits bits = FindExchangeableBits(layout, scan.getAxis());
    Attribute best = type.getEncoding();
    double least = costs_.Scan(scan, best);
    auto attempt = [&](const LinearLayout& turned) {
      if (!IsScannable(turned, scan.getAxis())) return;
      const Attribute encoding = ttg::LinearEncodingAttr::get(scan.getContext(), turned);
      const double cost = costs_.Scan(scan, encoding) + Conversions(scan, encoding);
      if (cost < least) best = encoding, least = cost;
    };
    LinearLayout::Columns columns = layout.columns();
    for (auto [lane, reg] : llvm::zip(bits.lanes, bits.registers)) {
      std::swap(columns[lane], columns[reg]);
      attempt(LinearLayout::FromColumns(layout.InDims(), layout.OutDims(), columns));
    }
    if (std::optional<LinearLayout> in_order = InOrder(layout, scan.getAxis()); in_order && *in_order != layout)
      attempt(*in_order);
    return best;
  }

 private:
  double Conversions(tt::ScanOp scan, Attribute encoding) {
    double cost = 0;
    for (Value src : scan.getSrcs()) cost += Conversion(src, encoding);
    for (Value result : scan.getResult()) {
      auto type = llvm::cast<RankedTensorType>(result.getType());
      auto turned = RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
      if (!result.use_empty()) cost += costs_.Conversion(turned, type.getEncoding());
    }
    return cost;
  }

  // Of `src`, or of what it is made from by itself, as a mask is that is widened to be counted.
  double Conversion(Value src, Attribute encoding) {
    const auto type = llvm::cast<RankedTensorType>(src.getType());
    const double cost = costs_.Conversion(type, encoding);
    mlir::Operation* op = src.getDefiningOp();
    if (!op || !op->hasTrait<mlir::OpTrait::Elementwise>()) return cost;
    const std::optional<double> again = CostModel::ElementCost(op);
    Value from;
    for (Value operand : op->getOperands()) {
      if (SplatConstant(operand)) continue;
      if (from || !llvm::isa<RankedTensorType>(operand.getType())) return cost;
      from = operand;
    }
    if (!again || !from) return cost;
    const auto elements = static_cast<double>(costs_.Registers(type, encoding));
    return std::min(cost, *again * elements + Conversion(from, encoding));
  }

  CostModel costs_;
};

void Reencode(tt::ScanOp scan, Attribute encoding) {
  mlir::OpBuilder b(scan);
  auto under = [&](Value value) {
    auto type = llvm::cast<RankedTensorType>(value.getType());
    return RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
  };
  for (mlir::OpOperand& operand : scan->getOpOperands())
    operand.set(ttg::ConvertLayoutOp::create(b, scan.getLoc(), under(operand.get()), operand.get()));
  b.setInsertionPointAfter(scan);
  for (Value result : scan.getResult()) {
    auto type = llvm::cast<RankedTensorType>(result.getType());
    result.setType(under(result));
    auto back = ttg::ConvertLayoutOp::create(b, scan.getLoc(), type, result);
    result.replaceAllUsesExcept(back, back);
  }
}

class TurnScansPass : public impl::TurnScansPassBase<TurnScansPass> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<tt::FuncOp>()) {
      bool changed = false;
      ScanTurner turner;
      func.walk([&](tt::ScanOp scan) {
        const RankedTensorType type = TypeOf(scan);
        const Attribute encoding = turner.Choose(scan);
        if (encoding == type.getEncoding()) return;
        Reencode(scan, encoding);
        changed = true;
      });
      if (changed) MoveConversions(func);
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
