// SPDX-License-Identifier: Apache-2.0
#include "compiler/encoding/divided_axes.h"

#include <numeric>

#include "compiler/ir/tt_dialect.h"
#include "llvm/ADT/MapVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

constexpr int kNone = -1;
// Loops of so few iterations may be unrolled. Then indices of which a thread has all are constants.
constexpr unsigned kFewIterations = 8;
// For each dimension of a tensor the one of the access, or kNone where there is one element.
using Dims = llvm::SmallVector<int, 4>;

bool IsDivision(Operation* op) {
  return llvm::isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp>(op);
}

// What `op` makes a tensor of whose dimensions are `dims`.
Dims DimsOfOperand(Operation* op, Dims dims) {
  if (auto expand = llvm::dyn_cast<tt::ExpandDimsOp>(op)) dims.erase(dims.begin() + expand.getAxis());
  if (auto broadcast = llvm::dyn_cast<tt::BroadcastOp>(op))
    for (auto [dim, size] : llvm::zip(dims, llvm::cast<RankedTensorType>(broadcast.getSrc().getType()).getShape()))
      if (size == 1) dim = kNone;
  return dims;
}

bool KeepsDims(Operation* op) {
  return llvm::isa<tt::ExpandDimsOp, tt::BroadcastOp, ttg::ConvertLayoutOp>(op) ||
         op->hasTrait<mlir::OpTrait::Elementwise>();
}

// Adds to `counts` the divisions along one dimension alone that each iteration of the loop around `access` takes.
void CountDivisions(Operation* access, llvm::MutableArrayRef<int> counts) {
  auto loop = access->getParentOfType<mlir::LoopLikeOpInterface>();
  if (!loop) return;
  if (auto counted = llvm::dyn_cast<mlir::scf::ForOp>(loop.getOperation()))
    if (auto iterations = counted.getStaticTripCount(); iterations && iterations->ule(kFewIterations)) return;
  llvm::MapVector<Value, Dims> reached;
  auto reach = [&](Operation* op, const Dims& dims) {
    for (Value operand : op->getOperands())
      if (llvm::isa<RankedTensorType>(operand.getType())) reached.insert({operand, dims});
  };
  Dims all(counts.size());
  std::iota(all.begin(), all.end(), 0);
  reach(access, all);
  for (size_t next = 0; next < reached.size(); ++next) {
    const auto [value, dims] = reached.begin()[next];
    Operation* op = value.getDefiningOp();
    if (!op || !loop->isAncestor(op) || !KeepsDims(op)) continue;
    reach(op, DimsOfOperand(op, dims));
    if (!IsDivision(op)) continue;
    auto varies = llvm::make_filter_range(dims, [](int dim) { return dim != kNone; });
    if (llvm::hasSingleElement(varies)) ++counts[*varies.begin()];
  }
}

}  // namespace

ttg::BlockedEncodingAttr SpreadDivisions(ttg::BlockedEncodingAttr encoding, llvm::ArrayRef<int64_t> shape,
                                         llvm::ArrayRef<WideAccess> accesses) {
  llvm::SmallVector<int> counts(shape.size(), 0);
  for (const WideAccess& access : accesses) CountDivisions(access.op, counts);
  const auto most = static_cast<unsigned>(llvm::max_element(counts) - counts.begin());
  auto warps = llvm::to_vector(encoding.getWarpsPerCTA());
  auto has_more = [&] {
    return shape[most] > int64_t{encoding.getSizePerThread()[most]} * encoding.getThreadsPerWarp()[most] * warps[most];
  };
  for (unsigned dim : encoding.getOrder())
    while (counts[dim] < counts[most] && warps[dim] > 1 && has_more()) warps[dim] /= 2, warps[most] *= 2;
  return ttg::BlockedEncodingAttr::get(encoding.getContext(), encoding.getSizePerThread(), encoding.getThreadsPerWarp(),
                                       warps, encoding.getOrder());
}

}  // namespace tritond::compiler
