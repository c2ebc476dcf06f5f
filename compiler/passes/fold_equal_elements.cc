// SPDX-License-Identifier: Apache-2.0
// Computes what is the same for all elements of a tensor once:
//
//   %k = tt.splat %start : i32 -> tensor<64xi32>                 %q = arith.divsi %start, 128 : i32
//   %i = arith.addi %k, (tt.make_range 0 to 64)             ->   %g = tt.splat %q : i32 -> tensor<64xi32>
//   %g = arith.divsi %i, dense<128> : tensor<64xi32>
//
// where %start is a multiple of 64. So the indices of scales are made, one for each group of a quantized operand's
// rows. Loads by them read one row then, which tt-reorder-broadcast spreads.
#include "compiler/analysis/axis_info.h"
#include "compiler/ir/operands.h"
#include "compiler/passes/passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_FOLDEQUALELEMENTSPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

// Operations that give one result for neighbours which are not equal.
bool MakesEqual(Operation* op) {
  return llvm::isa<mlir::arith::DivSIOp, mlir::arith::DivUIOp, mlir::arith::ShRSIOp, mlir::arith::ShRUIOp,
                   mlir::arith::AndIOp>(op) &&
         llvm::isa<RankedTensorType>(op->getResult(0).getType());
}

bool IsElementwise(Operation* op) {
  return op->hasTrait<mlir::OpTrait::Elementwise>() && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         llvm::isa_and_present<mlir::arith::ArithDialect>(op->getDialect());
}

bool KeepsFirst(Operation* op) { return llvm::isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(op); }

// The first elements of tensors, as scalars.
class FirstElements final {
 public:
  // Whether that of `value` is known without the tensor, and takes few operations one after the other.
  bool Has(Value value) { return DepthOf(value, /*seen=*/0) < kUnknown; }

  // Made where `b` is, for values that are there and have one.
  static Value Make(mlir::OpBuilder& b, Value value) {
    llvm::DenseMap<Value, Value> made;
    return Make(b, value, made);
  }

 private:
  static constexpr int kUnknown = 64;

  // Of operations one after the other, beneath `seen` others; kUnknown where there is no way.
  int DepthOf(Value value, int seen) {
    if (!llvm::isa<RankedTensorType>(value.getType())) return 0;
    if (seen >= kUnknown) return kUnknown;
    if (auto known = known_.find(value); known != known_.end()) return known->second;
    Operation* op = value.getDefiningOp();
    int depth = kUnknown;
    if (op && (llvm::isa<tt::SplatOp, tt::MakeRangeOp>(op) || SplatConstant(value))) {
      depth = 0;
    } else if (op && (KeepsFirst(op) || IsElementwise(op))) {
      depth = 0;
      for (Value operand : op->getOperands()) depth = std::max(depth, DepthOf(operand, seen + 1));
      depth = std::min(depth + 1, kUnknown);
    }
    known_[value] = depth;
    return depth;
  }

  static Value Make(mlir::OpBuilder& b, Value value, llvm::DenseMap<Value, Value>& made) {
    if (!llvm::isa<RankedTensorType>(value.getType())) return value;
    if (Value known = made.lookup(value)) return known;
    return made[value] = MakeNew(b, value, made);
  }

  static Value MakeNew(mlir::OpBuilder& b, Value value, llvm::DenseMap<Value, Value>& made) {
    Operation* op = value.getDefiningOp();
    if (auto splat = llvm::dyn_cast<tt::SplatOp>(op)) return splat.getSrc();
    if (auto range = llvm::dyn_cast<tt::MakeRangeOp>(op))
      return mlir::arith::ConstantIntOp::create(b, op->getLoc(), range.getStart(), 32);
    if (mlir::TypedAttr number = SplatConstant(value)) return mlir::arith::ConstantOp::create(b, op->getLoc(), number);
    if (KeepsFirst(op)) return Make(b, op->getOperand(0), made);
    llvm::SmallVector<Value> operands;
    for (Value operand : op->getOperands()) operands.push_back(Make(b, operand, made));
    mlir::OperationState state(op->getLoc(), op->getName(), operands, tt::ElementOf(value.getType()));
    state.propertiesAttr = op->getPropertiesAsAttribute();
    return b.create(state)->getResult(0);
  }

  llvm::DenseMap<Value, int> known_;
};

class FoldEqualElementsPass : public impl::FoldEqualElementsPassBase<FoldEqualElementsPass> {
  void runOnOperation() override {
    llvm::SmallVector<Operation*> candidates;
    FirstElements first;
    getOperation().walk([&](Operation* op) {
      if (op->getNumResults() == 1 && MakesEqual(op) && first.Has(op->getResult(0))) candidates.push_back(op);
    });
    if (candidates.empty()) return;
    const AxisInfoAnalysis axes(getOperation());
    llvm::erase_if(candidates, [&](Operation* op) {
      auto type = llvm::cast<RankedTensorType>(op->getResult(0).getType());
      const AxisInfo info = axes.Get(op->getResult(0));
      return type.getNumElements() == 1 || !llvm::all_of(llvm::zip_equal(info.dims, type.getShape()), [](auto pair) {
               return std::get<0>(pair).constancy >= std::get<1>(pair);
             });
    });
    for (Operation* op : candidates) {
      mlir::OpBuilder b(op);
      Value element = FirstElements::Make(b, op->getResult(0));
      op->getResult(0).replaceAllUsesWith(tt::SplatOp::create(b, op->getLoc(), op->getResult(0).getType(), element));
      op->erase();
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
