// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/packed_operands.h"

#include <algorithm>
#include <tuple>

#include "compiler/ir/encodings.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/SetVector.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

// A tensor, its dimension, and how many elements along that one an element of it becomes.
using Origin = std::tuple<Value, unsigned, unsigned>;

bool IsContiguousAlong(tt::LoadOp load, unsigned dim) {
  auto type = llvm::cast<RankedTensorType>(load.getType());
  auto blocked = llvm::dyn_cast_or_null<ttg::BlockedEncodingAttr>(type.getEncoding());
  return blocked && blocked.getOrder()[0] == dim;
}

// Adds what neighbours along the last dimension of the result are made from. These are neighbours before the reshape,
// too, or stand in the two halves of a join by turns.
void AddOriginsOfReshape(tt::ReshapeOp reshape, unsigned parts, llvm::SetVector<Origin>& origins) {
  auto join = reshape.getSrc().getDefiningOp<tt::JoinOp>();
  llvm::SmallVector<Value, 2> sources{reshape.getSrc()};
  if (join) sources.assign({join.getLhs(), join.getRhs()});
  for (Value source : sources)
    if (auto type = llvm::cast<RankedTensorType>(source.getType()); type.getRank() > 0)
      origins.insert({source, type.getRank() - 1, join ? 2 * parts : parts});
}

// Adds what `op`, which makes elements along `dim`, makes them from; nothing where that is not known.
void AddOrigins(Operation* op, unsigned dim, unsigned parts, llvm::SetVector<Origin>& origins) {
  if (auto trans = llvm::dyn_cast<tt::TransOp>(op)) {
    origins.insert({trans.getSrc(), static_cast<unsigned>(trans.getOrder()[dim]), parts});
  } else if (auto reshape = llvm::dyn_cast<tt::ReshapeOp>(op)) {
    const bool is_last = dim + 1 == reshape.getType().getRank() && !reshape.getAllowReorder();
    if (is_last) AddOriginsOfReshape(reshape, parts, origins);
  } else if (auto widen = llvm::dyn_cast<ttg::Fp4ToFpOp>(op)) {
    origins.insert({widen.getSrc(), dim, static_cast<unsigned>(widen.getAxis()) == dim ? 2 * parts : parts});
  } else if (op->hasTrait<mlir::OpTrait::Elementwise>() || llvm::isa<ttg::ConvertLayoutOp>(op)) {
    for (Value operand : op->getOperands())
      if (llvm::isa<RankedTensorType>(operand.getType())) origins.insert({operand, dim, parts});
  }
}

}  // namespace

std::optional<int64_t> BitsInMemory(Value value, unsigned dim) {
  llvm::SetVector<Origin> origins;
  origins.insert({value, dim, 1});
  std::optional<int64_t> fewest;
  for (size_t i = 0; i < origins.size(); ++i) {
    auto [origin, along, parts] = origins[i];
    Operation* op = origin.getDefiningOp();
    if (!op) continue;
    auto load = llvm::dyn_cast<tt::LoadOp>(op);
    if (!load) {
      AddOrigins(op, along, parts, origins);
      continue;
    }
    mlir::Type element = tt::ElementOf(load.getType());
    if (!element.isIntOrFloat() || !IsContiguousAlong(load, along)) continue;
    const int64_t bits = element.getIntOrFloatBitWidth() / parts;
    fewest = std::min(fewest.value_or(bits), bits);
  }
  return fewest;
}

}  // namespace tritond::compiler
