// SPDX-License-Identifier: Apache-2.0
#include "compiler/encoding/gathered_axes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/analysis/gather_plan.h"
#include "compiler/encoding/encoding_rules.h"
#include "compiler/encoding/exchange_width.h"

namespace tritond::compiler {
namespace {

constexpr double kAccess = 4;  // issue slots of an instruction that accesses memory, besides what it moves

// How often an operation runs, if each loop around it has eight iterations.
double TimesOf(mlir::Operation* op) { return std::pow(8, LoopDepth(op->getBlock())); }

}  // namespace

GatheredAxes::GatheredAxes(tt::FuncOp func) : warps_(ttg::NumWarps(func)), lanes_(ttg::ThreadsPerWarp(func)) {
  func.walk([&](tt::GatherOp gather) {
    auto shape = llvm::cast<mlir::RankedTensorType>(gather.getSrc().getType()).getShape();
    if (shape != llvm::cast<mlir::RankedTensorType>(gather.getType()).getShape()) return;
    gathered_.try_emplace(shape.vec(), gather.getAxis());
    gathers_[shape.vec()].push_back(gather);
    Add(gather.getSrc(), gather.getAxis());
  });
  func.walk([&](tt::ReduceOp reduce) {
    Add(reduce.getSrcs()[0], reduce.getAxis());
    if (gathers_.count(reduce.InputType().getShape().vec()) == 0)
      exchanged_.insert(reduce.InputType().getNumElements());
  });
  func.walk([&](tt::ScanOp scan) {
    Add(scan.getSrcs()[0], scan.getAxis());
    exchanged_.insert(llvm::cast<mlir::RankedTensorType>(scan.getSrcs()[0].getType()).getNumElements());
  });
}

void GatheredAxes::Add(mlir::Value tensor, unsigned axis) {
  auto found = gathered_.find(llvm::cast<mlir::RankedTensorType>(tensor.getType()).getShape().vec());
  if (found != gathered_.end() && found->second != axis) found->second = std::nullopt;
}

ttg::BlockedEncodingAttr GatheredAxes::Whole(ttg::BlockedEncodingAttr encoding, llvm::ArrayRef<int64_t> shape) const {
  auto found = gathered_.find(shape.vec());
  if (found == gathered_.end() || !found->second) return encoding;
  const unsigned axis = *found->second;
  auto warps = llvm::to_vector(encoding.getWarpsPerCTA());
  auto apart = [&](unsigned dim) {  // warps that have elements of their own
    return std::max<int64_t>(1, shape[dim] / (encoding.getSizePerThread()[dim] * encoding.getThreadsPerWarp()[dim]));
  };
  for (unsigned dim : encoding.getOrder())
    while (dim != axis && warps[axis] > 1 && warps[dim] < apart(dim)) warps[axis] /= 2, warps[dim] *= 2;
  // What is left are copies, if anything.
  if (warps[axis] > 1 && apart(axis) > 1) return encoding;
  return ttg::BlockedEncodingAttr::get(encoding.getContext(), encoding.getSizePerThread(), encoding.getThreadsPerWarp(),
                                       warps, encoding.getOrder());
}

double GatheredAxes::SlotsOf(const Shape& shape, ttg::BlockedEncodingAttr encoding) {
  auto [known, is_new] = slots_[shape].try_emplace(encoding, 0);
  if (!is_new) return known->second;
  const LinearLayout layout = encoding.ToLinearLayout(shape);
  double& slots = known->second;
  for (tt::GatherOp gather : gathers_.at(shape)) slots += TimesOf(gather) * PlanGather(gather, layout, layout).slots;
  return slots;
}

bool GatheredAxes::MayHaveFewer(mlir::RankedTensorType type, ttg::BlockedEncodingAttr encoding) const {
  const LinearLayout layout = encoding.ToLinearLayout(type.getShape());
  return exchanged_.count(type.getNumElements()) == 0 &&
         llvm::any_of(gathers_.at(type.getShape().vec()), [&](tt::GatherOp gather) {
           return PlanGather(gather, layout, layout).kind == GatherPlan::Kind::kShared &&
                  SpreadOfGather(gather, layout, SharedMemoryShape()).mask != 0;
         });
}

ttg::BlockedEncodingAttr GatheredAxes::EncodingFor(mlir::RankedTensorType type,
                                                   llvm::ArrayRef<unsigned> size_per_thread,
                                                   llvm::ArrayRef<unsigned> order,
                                                   llvm::ArrayRef<WideAccess> accesses) {
  const llvm::ArrayRef<int64_t> shape = type.getShape();
  llvm::SmallVector<unsigned> sizes(size_per_thread);
  unsigned& width = sizes[order[0]];
  auto encoding = [&] {
    return Whole(ttg::BlockedEncodingAttr::ForShape(type.getContext(), shape, sizes, order, warps_, lanes_), shape);
  };
  ttg::BlockedEncodingAttr best = encoding();
  if (accesses.empty() || gathers_.count(shape.vec()) == 0) return best;
  auto slots = [&](ttg::BlockedEncodingAttr with) {
    const double elements = with.ToLinearLayout(shape).InSize("register");
    double sum = SlotsOf(shape.vec(), with);
    for (const WideAccess& access : accesses)
      sum += TimesOf(access.op) * elements *
             (TimeOfAccess(access, width) + kAccess / std::min<double>(width, access.width));
    return sum;
  };
  double fewest = slots(best);
  const unsigned least = width;
  for (width = MayHaveFewer(type, best) ? least / 2 : 0; width > 0; width /= 2) {
    const ttg::BlockedEncodingAttr narrower = encoding();
    if (const double now = slots(narrower); now < fewest) best = narrower, fewest = now;
  }
  width = least;
  const int64_t share = std::max<int64_t>(1, type.getNumElements() / (int64_t{warps_} * lanes_));
  auto fits = [&] {
    const int64_t all = std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
    return 2 * all <= share && 2 * width <= shape[order[0]];
  };
  while (fits()) {
    width *= 2;
    const ttg::BlockedEncodingAttr wider = encoding();
    if (const double now = slots(wider); now < fewest) best = wider, fewest = now;
  }
  return best;
}

}  // namespace tritond::compiler
