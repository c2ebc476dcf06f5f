// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/late_dots.h"

#include "compiler/dots/outliving_dots.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/ttg_dialect.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

using mlir::BlockArgument;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;
using Slice = llvm::SetVector<Operation*>;

// What `value` is made of in the body of `loop`.
Slice SliceOf(Value value, ForOp loop) {
  mlir::BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  options.filter = [&](Operation* op) { return op->getBlock() == loop.getBody(); };
  Slice slice;
  (void)mlir::getBackwardSlice(value, &slice, options);
  return slice;
}

bool HasDot(const Slice& slice) {
  return llvm::any_of(slice, [](Operation* op) { return llvm::isa<tt::DotOp>(op); });
}

// From `carried` on to the dot's accumulators, by operations that nothing else uses. False where there is another way.
bool AddScaling(BlockArgument carried, LateDot& late) {
  Value value = carried;
  while (value != late.dot.getC()) {
    if (!value.hasOneUse()) return false;
    Operation* op = *value.user_begin();
    const bool scales = op->getBlock() == late.dot->getBlock() && op->getNumResults() == 1 && mlir::isPure(op) &&
                        op->hasTrait<mlir::OpTrait::Elementwise>();
    if (!scales) return false;
    late.operations.insert(op);
    value = op->getResult(0);
  }
  late.operations.insert(late.dot);
  return value.hasOneUse();
}

// Rows and columns are spread over a tensor where it is used: until then they take few registers.
void AddSpreading(LateDot& late) {
  for (size_t i = 0; i < late.operations.size(); ++i) {
    if (late.operations[i] == late.dot.getOperation()) continue;
    for (Value operand : late.operations[i]->getOperands()) {
      Operation* op = operand.getDefiningOp();
      if (!op || op->getBlock() != late.dot->getBlock()) continue;
      const bool is_late =
          llvm::all_of(op->getUsers(), [&](Operation* user) { return late.operations.contains(user); });
      if (is_late && Spreads(op)) late.operations.insert(op);
    }
  }
}

// Whether what the iteration makes for the scaling has a register for each row or column at most.
bool ScalesByRows(LateDot& late) {
  for (Operation* op : late.operations) {
    if (op == late.dot.getOperation()) continue;
    for (Value operand : op->getOperands()) {
      Operation* made = operand.getDefiningOp();
      if (!made || made->getBlock() != late.dot->getBlock() || late.operations.contains(made)) continue;
      auto type = llvm::dyn_cast<mlir::RankedTensorType>(operand.getType());
      if (type && type.getNumElements() > *llvm::max_element(type.getShape())) return false;
    }
  }
  return true;
}

// Operand b and its load, with nothing but views of what that loads in between.
bool AddLoad(LateDot& late) {
  Value value = late.dot.getB();
  while (true) {
    Operation* op = value.getDefiningOp();
    if (!op || op->getBlock() != late.dot->getBlock() || !value.hasOneUse()) return false;
    if (auto load = llvm::dyn_cast<tt::LoadOp>(op)) {
      late.load = load;
      return true;
    }
    if (!llvm::isa<tt::TransOp, ttg::ConvertLayoutOp>(op)) return false;
    late.operations.insert(op);
    value = op->getOperand(0);
  }
}

std::optional<LateDot> AsLateDot(tt::DotOp dot, ForOp loop) {
  LateDot late{dot, {}, {}, {}};
  const Slice a = SliceOf(dot.getA(), loop);
  if (!HasDot(a) || !OutlivesIteration(dot, loop) || !dot->hasOneUse()) return std::nullopt;
  BlockArgument carried = loop.getRegionIterArg(dot->use_begin()->getOperandNumber());
  if (!AddScaling(carried, late)) return std::nullopt;
  AddSpreading(late);
  if (!ScalesByRows(late) || !AddLoad(late)) return std::nullopt;
  for (Operation* op : a) {
    if (late.operations.contains(op) || op == late.load.getOperation()) return std::nullopt;
    if (llvm::isa<tt::DotOp>(op)) late.feeding.insert_range(SliceOf(op->getResult(0), loop));
  }
  return late;
}

}  // namespace

std::optional<LateDot> FindLateDot(ForOp loop) {
  std::optional<LateDot> found;
  for (auto dot : loop.getBody()->getOps<tt::DotOp>()) {
    std::optional<LateDot> late = AsLateDot(dot, loop);
    if (late && found) return std::nullopt;
    if (late) found = std::move(late);
  }
  return found;
}

}  // namespace tritond::compiler
