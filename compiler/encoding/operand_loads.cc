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

// What dots do along a dimension of a value.
struct Destinations {
  bool summed = false, kept = false;
};

// Of `axis` of `value`, through operations on elements and transpositions.
Destinations FollowAxis(Value value, unsigned axis) {
  Destinations found;
  llvm::SetVector<std::pair<Value, unsigned>> reached;
  reached.insert({value, axis});
  for (size_t next = 0; next < reached.size(); ++next) {
    const auto [at, dim] = reached[next];
    for (mlir::OpOperand& use : at.getUses()) {
      Operation* user = use.getOwner();
      if (auto dot = llvm::dyn_cast<tt::DotOpInterface>(user)) {
        const unsigned rank = llvm::cast<RankedTensorType>(at.getType()).getRank();
        if (at == dot.getA()) (dim == rank - 1 ? found.summed : found.kept) = true;
        if (at == dot.getB()) (dim == rank - 2 ? found.summed : found.kept) = true;
      } else if (auto trans = llvm::dyn_cast<tt::TransOp>(user)) {
        const auto* to = llvm::find(trans.getOrder(), static_cast<int32_t>(dim));
        reached.insert({trans.getResult(), static_cast<unsigned>(to - trans.getOrder().begin())});
      } else if (KeepsElements(user) && !llvm::isa<tt::ReshapeOp, tt::SplitOp, tt::JoinOp>(user)) {
        for (Value result : user->getResults()) reached.insert({result, dim});
      }
    }
  }
  return found;
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

std::optional<unsigned> SummedAxis(Operation* load) {
  if (!IsLoad(load)) return std::nullopt;
  const Value loaded = load->getResult(0);
  const auto rank = llvm::cast<RankedTensorType>(loaded.getType()).getRank();
  std::optional<unsigned> axis;
  for (unsigned from = 0; from < rank; ++from) {
    const Destinations found = FollowAxis(loaded, from);
    if (!found.summed) continue;
    if (found.kept || axis) return std::nullopt;
    axis = from;
  }
  return axis;
}

}  // namespace tritond::compiler
