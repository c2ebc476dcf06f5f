// SPDX-License-Identifier: Apache-2.0
#include "compiler/encoding/encoding_rules.h"

#include "compiler/ir/encodings.h"
#include "compiler/layout/linear_layout.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tritond::compiler {
namespace {

using mlir::Attribute;
using mlir::Operation;
using mlir::RankedTensorType;

bool HasTensor(mlir::TypeRange types) {
  return llvm::any_of(types, [](mlir::Type type) { return llvm::isa<RankedTensorType>(type); });
}

bool IsGatherTable(mlir::OpOperand& operand) {
  return llvm::isa<tt::GatherOp>(operand.getOwner()) && operand.getOperandNumber() == 0;
}

// Operands and results have one encoding.
bool IsIdentity(Operation* op) {
  return op->hasTrait<mlir::OpTrait::Elementwise>() || op->hasTrait<tt::SameTensorEncoding>() ||
         llvm::isa<ttg::ConvertLayoutOp, tt::GatherOp>(op);
}

// Only their linear layouts matter, to the verifier and to lowering.
bool IsReordering(Operation* op) {
  return llvm::isa<tt::TransOp, tt::ReshapeOp, tt::JoinOp, tt::SplitOp, ttg::Fp4ToFpOp>(op);
}

}  // namespace

bool IsWideAccess(Operation* op) {
  auto pointers = llvm::dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  return pointers && pointers.getNumElements() >= ttg::NumWarps(op) * ttg::ThreadsPerWarp(op);
}

EncodingRule EncodingRuleOf(Operation* op) {
  using Rule = EncodingRule;
  return llvm::TypeSwitch<Operation*, Rule>(op)
      .Case([](tt::LoadOp load) { return IsWideAccess(load) || load.getIsVolatile() ? Rule::kFixed : Rule::kTied; })
      .Case([](tt::StoreOp store) { return IsWideAccess(store) ? Rule::kFixed : Rule::kUniform; })
      .Case<tt::AtomicRMWOp, tt::AtomicCASOp>([](Operation*) { return Rule::kFixed; })
      .Case([](tt::ReduceOp reduce) { return HasTensor(reduce->getResultTypes()) ? Rule::kTied : Rule::kUniform; })
      .Case([](tt::HistogramOp) { return Rule::kUniform; })
      .Case([](tt::GatherOp gather) { return gather.getEfficientLayout() ? Rule::kFixed : Rule::kTied; })
      .Case([](tt::ReshapeOp reshape) { return reshape.getEfficientLayout() ? Rule::kFixed : Rule::kTied; })
      .Case<tt::ExpandDimsOp, tt::TransOp, tt::JoinOp, tt::SplitOp, ttg::Fp4ToFpOp>(
          [](Operation*) { return Rule::kTied; })
      .Case<tt::PrintOp, tt::AssertOp, tt::UnsplatOp, ttg::LocalAllocOp, ttg::LocalStoreOp, tt::DescriptorStoreOp,
            tt::DescriptorReduceOp>([](Operation*) { return Rule::kAny; })
      .Case<tt::SplatOp, tt::MakeRangeOp, mlir::arith::ConstantOp, mlir::ub::PoisonOp>(
          [](Operation*) { return Rule::kFree; })
      .Default([](Operation* other) { return IsIdentity(other) ? Rule::kTied : Rule::kFixed; });
}

bool TakesAnyEncoding(mlir::OpOperand& operand) { return IsGatherTable(operand); }

Attribute TiedResultEncoding(mlir::OpOperand& operand, Attribute encoding) {
  if (IsIdentity(operand.getOwner())) return encoding;
  return ttg::ResultEncodingFor(operand.getOwner(), encoding);
}

Attribute TiedOperandEncoding(mlir::OpOperand& operand, Attribute encoding) {
  if (IsIdentity(operand.getOwner())) return encoding;
  return ttg::OperandEncodingFor(operand.getOwner(), encoding);
}

Attribute SharedEncoding(Operation* op, Attribute encoding) {
  if (!llvm::isa<ttg::BlockedEncodingAttr, ttg::LinearEncodingAttr>(encoding)) return encoding;
  const bool joins = llvm::isa<tt::JoinOp>(op);
  const auto from = llvm::cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  const auto to = joins ? from : llvm::cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  const LinearLayout layout = llvm::cast<ttg::DistributedEncoding>(encoding).ToLinearLayout(to);
  uint64_t made = 0;  // the bits of places along dimensions that lanes share
  for (auto [dim, before, after] : llvm::zip(layout.OutDims(), from, to))
    if (joins || before != after) made |= dim.mask() << dim.shift;
  LinearLayout::Columns columns = layout.columns();
  auto of = [&](absl::string_view in) {
    return llvm::MutableArrayRef<uint64_t>(columns.data(), columns.size())
        .slice(layout.In(in).shift, layout.InBits(in));
  };
  bool is_shared = false;
  for (uint64_t& place : of("register")) {
    uint64_t* lane = llvm::find(of("lane"), 0);
    if (place == 0 || (place & ~made) != 0 || lane == of("lane").end()) continue;
    std::swap(place, *lane);
    is_shared = true;
  }
  if (!is_shared) return encoding;
  return ttg::LinearEncodingAttr::get(
      encoding.getContext(),
      LinearLayout::FromColumns(layout.InDims(), layout.OutDims(), columns).RemoveZeroBases("register"));
}

bool AreTied(mlir::OpOperand& operand, Attribute encoding, Attribute result) {
  Operation* op = operand.getOwner();
  // Both operands have one type, so the result alone decides what it is.
  if (llvm::isa<tt::JoinOp>(op)) return TiedOperandEncoding(operand, result) == encoding;
  Attribute yields = TiedResultEncoding(operand, encoding);
  if (yields == result) return true;
  if (!yields || !IsReordering(op)) return false;
  return ttg::SamePlacement(llvm::cast<RankedTensorType>(op->getResult(0).getType()).getShape(), yields, result);
}

int LoopDepth(mlir::Block* block) {
  int depth = 0;
  for (Operation* op = block->getParentOp(); op; op = op->getParentOp())
    depth += llvm::isa<mlir::LoopLikeOpInterface>(op);
  return depth;
}

}  // namespace tritond::compiler
