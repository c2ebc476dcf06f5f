// SPDX-License-Identifier: Apache-2.0
// What is made of gathered elements alone is made of the elements of their table, once, and gathered then:
//
//   %j = arith.subi %i, %one                           %k = (0 … 15) - 1, modulo 16
//   %a = tt.gather %t[%i] : 2048 elements of 16        %u = tt.gather %t[%k] : 16 elements
//   %b = tt.gather %t[%j]                        ->    %v = arith.addf %t, %u : tensor<16xf32>
//   %s = arith.addf %a, %b : tensor<2048xf32>          %w = arith.mulf %v, %half
//   %r = arith.mulf %s, %half                          %r = tt.gather %w[%i]
//
// Codebooks are small: a thread then computes for one element in place of many, and half as many elements move. Indices
// of one operation may lie a constant apart. No table has an element for an index that leads out of it, so what the
// table gets where neighbours lie on the other side does not matter.
//
// Here: where a thread has fewer elements of the table than of what is gathered; far fewer where neighbours are moved.
// Products stay beside sums, with which they are one instruction.
#include "compiler/ir/operands.h"
#include "compiler/ir/tt_dialect.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_COMPUTETABLESPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::RankedTensorType;
using mlir::Value;

constexpr int64_t kFarFewer = 4;
constexpr unsigned kLeastBits = 8, kWordBits = 32;

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

// An index as a value and a number; without a value, all of it is the number.
struct Place {
  Value base;
  int64_t offset = 0;
};

std::optional<int64_t> IntegerOf(Value value) {
  auto number = llvm::dyn_cast_if_present<mlir::IntegerAttr>(SplatConstant(value));
  return number ? std::optional(number.getValue().getSExtValue()) : std::nullopt;
}

Place PlaceOf(Value index) {
  int64_t offset = 0;
  while (mlir::Operation* op = index.getDefiningOp()) {
    const bool is_difference = llvm::isa<mlir::arith::SubIOp>(op);
    if (!is_difference && !llvm::isa<mlir::arith::AddIOp>(op)) break;
    const auto number = IntegerOf(op->getOperand(1));
    if (!number) break;
    offset += is_difference ? -*number : *number;
    index = op->getOperand(0);
  }
  if (const auto number = IntegerOf(index)) return {Value(), *number + offset};
  return {index, offset};
}

// The gather that made `operand` for `user` alone.
tt::GatherOp GatherFor(mlir::Operation* user, Value operand) {
  auto gather = operand.getDefiningOp<tt::GatherOp>();
  const bool is_only = gather && llvm::all_of(gather->getUsers(), [&](auto* other) { return other == user; });
  return is_only && gather->getBlock() == user->getBlock() ? gather : nullptr;
}

bool IsEqualEverywhere(Value operand) { return operand.getDefiningOp<tt::SplatOp>() || SplatConstant(operand); }

bool IsTensorOfNumbers(mlir::Type type) {
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isIntOrFloat();
}

// Whether `op` makes one number of the numbers at one place.
bool IsOfNumbers(mlir::Operation* op) {
  const bool is_known = llvm::isa<tt::FpToFpOp>(op) ||
                        llvm::isa_and_present<mlir::arith::ArithDialect, mlir::math::MathDialect>(op->getDialect());
  return is_known && op->hasTrait<mlir::OpTrait::Elementwise>() && op->getNumResults() == 1 &&
         llvm::all_of(op->getResultTypes(), IsTensorOfNumbers) &&
         llvm::all_of(op->getOperandTypes(), IsTensorOfNumbers);
}

bool IsAdded(mlir::Operation* product) {
  return llvm::isa<mlir::arith::MulFOp>(product) && llvm::any_of(product->getUsers(), [](mlir::Operation* user) {
           return llvm::isa<mlir::arith::AddFOp, mlir::arith::SubFOp>(user);
         });
}

class Mover {
 public:
  explicit Mover(int64_t threads) : threads_(threads) {}

  void Move(mlir::Operation* op) const {
    tt::GatherOp first = FirstGather(op);
    if (!first || !Gains(op, first)) return;
    mlir::OpBuilder b(op);
    mlir::IRMapping table;
    for (Value operand : op->getOperands()) table.map(operand, OfTable(b, op, first, operand));
    mlir::Operation* made = b.clone(*op, table);
    const RankedTensorType type = TypeOf(op->getResult(0));
    made->getResult(0).setType(RankedTensorType::get(TypeOf(first.getSrc()).getShape(), type.getElementType()));
    auto gathered = tt::GatherOp::create(b, op->getLoc(), type, made->getResult(0), first.getIndices(),
                                         first.getAxisAttr(), first.getEfficientLayoutAttr());
    op->replaceAllUsesWith(gathered);
    op->erase();
  }

 private:
  // The first of the gathers that make operands of `op`, where all others are equal everywhere; else null.
  static tt::GatherOp FirstGather(mlir::Operation* op) {
    tt::GatherOp first;
    for (Value operand : op->getOperands()) {
      tt::GatherOp gather = GatherFor(op, operand);
      if (!gather && !IsEqualEverywhere(operand)) return nullptr;
      if (!first) first = gather;
    }
    return first;
  }

  static int64_t Distance(tt::GatherOp first, tt::GatherOp gather) {
    return PlaceOf(gather.getIndices()).offset - PlaceOf(first.getIndices()).offset;
  }

  bool Gains(mlir::Operation* op, tt::GatherOp first) const {
    const RankedTensorType source = TypeOf(first.getSrc()), type = TypeOf(op->getResult(0));
    const unsigned bits = type.getElementTypeBitWidth();
    if (bits < kLeastBits || bits > std::max(kWordBits, source.getElementTypeBitWidth())) return false;
    bool moves = false;
    for (Value operand : op->getOperands()) {
      tt::GatherOp gather = GatherFor(op, operand);
      if (!gather) continue;
      if (TypeOf(gather.getSrc()).getShape() != source.getShape() || gather.getAxis() != first.getAxis() ||
          PlaceOf(gather.getIndices()).base != PlaceOf(first.getIndices()).base)
        return false;
      moves |= Distance(first, gather) != 0;
    }
    if (moves && source.getRank() > 1) return false;
    return moves ? kFarFewer * OfThread(source) <= OfThread(type) : OfThread(source) < OfThread(type);
  }

  int64_t OfThread(RankedTensorType type) const { return llvm::divideCeil(type.getNumElements(), threads_); }

  // What `operand` is for each element of the table that `first` reads.
  static Value OfTable(mlir::OpBuilder& b, mlir::Operation* op, tt::GatherOp first, Value operand) {
    const mlir::Location loc = op->getLoc();
    const RankedTensorType source = TypeOf(first.getSrc());
    if (tt::GatherOp gather = GatherFor(op, operand)) {
      const int64_t distance = Distance(first, gather), size = source.getDimSize(0);
      if (distance == 0) return gather.getSrc();
      auto type = RankedTensorType::get(source.getShape(), b.getI32Type());
      auto number = [&](int64_t of_all) -> Value {
        auto all = mlir::DenseElementsAttr::get(type, b.getI32IntegerAttr(static_cast<int32_t>(of_all)));
        return mlir::arith::ConstantOp::create(b, loc, all);
      };
      Value range = tt::MakeRangeOp::create(b, loc, type, 0, static_cast<int32_t>(size));
      Value at = mlir::arith::AddIOp::create(b, loc, range, number(distance & (size - 1)));
      at = mlir::arith::AndIOp::create(b, loc, at, number(size - 1));
      return tt::GatherOp::create(b, loc, gather.getSrc().getType(), gather.getSrc(), at, gather.getAxisAttr(),
                                  mlir::UnitAttr());
    }
    auto type = RankedTensorType::get(source.getShape(), TypeOf(operand).getElementType());
    if (auto splat = operand.getDefiningOp<tt::SplatOp>()) return tt::SplatOp::create(b, loc, type, splat.getSrc());
    return mlir::arith::ConstantOp::create(b, loc, mlir::DenseElementsAttr::get(type, SplatConstant(operand)));
  }

  int64_t threads_;
};

struct ComputeTablesPass final : impl::ComputeTablesPassBase<ComputeTablesPass> {
  using ComputeTablesPassBase::ComputeTablesPassBase;

  void runOnOperation() override {
    if (threads == 0) return;
    llvm::SmallVector<mlir::Operation*> found;
    getOperation().walk([&](mlir::Operation* op) {
      if (IsOfNumbers(op) && mlir::isPure(op) && !IsAdded(op)) found.push_back(op);
    });
    for (mlir::Operation* op : found) Mover(threads).Move(op);
  }
};

}  // namespace
}  // namespace tritond::compiler
