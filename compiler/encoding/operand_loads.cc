// SPDX-License-Identifier: Apache-2.0
#include "compiler/encoding/operand_loads.h"

#include "compiler/ir/dot_interface.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/SetVector.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

bool IsLoad(Operation* op) { return llvm::isa<tt::LoadOp, tt::DescriptorLoadOp>(op); }

// Whether each element of a result is made of one element of each operand.
bool KeepsElements(Operation* op) {
  return llvm::isa<tt::TransOp, tt::ReshapeOp, tt::SplitOp, tt::JoinOp, ttg::ConvertLayoutOp>(op) ||
         (op->hasTrait<mlir::OpTrait::Elementwise>() && mlir::isPure(op));
}

// The operations on elements between `value` and dots; nullopt where something else needs it.
std::optional<llvm::SetVector<Operation*>> WayToDots(Value value) {
  llvm::SetVector<Operation*> way;
  llvm::SmallVector<Value> pending{value};
  bool arrives = false;
  while (!pending.empty())
    for (mlir::OpOperand& use : pending.pop_back_val().getUses()) {
      Operation* user = use.getOwner();
      if (auto dot = llvm::dyn_cast<tt::DotOpInterface>(user); dot && llvm::is_contained(dot.Inputs(), &use)) {
        arrives = true;
      } else if (KeepsElements(user)) {
        if (way.insert(user)) llvm::append_range(pending, user->getResults());
      } else {
        return std::nullopt;
      }
    }
  if (!arrives) return std::nullopt;
  return way;
}

// The loads that give operands of `way`, by operations on elements.
llvm::SetVector<Operation*> LoadsInto(const llvm::SetVector<Operation*>& way) {
  llvm::SetVector<Operation*> reached(way.begin(), way.end()), loads;
  for (size_t next = 0; next < reached.size(); ++next)
    for (Value operand : reached[next]->getOperands()) {
      Operation* made = operand.getDefiningOp();
      if (!made || !llvm::isa<RankedTensorType>(operand.getType())) continue;
      if (IsLoad(made))
        loads.insert(made);
      else if (KeepsElements(made))
        reached.insert(made);
    }
  return loads;
}

int ElementBytes(Operation* load) {
  return std::max(1u, tt::ElementOf(load->getResult(0).getType()).getIntOrFloatBitWidth() / 8);
}

}  // namespace

int OperandBytes(Operation* load) {
  if (!IsLoad(load)) return 0;
  std::optional<llvm::SetVector<Operation*>> way = WayToDots(load->getResult(0));
  if (!way) return 0;
  int bytes = ElementBytes(load);
  for (Operation* other : LoadsInto(*way)) {
    if (!WayToDots(other->getResult(0))) return 0;
    bytes = std::max(bytes, ElementBytes(other));
  }
  return bytes;
}

}  // namespace tritond::compiler
