// SPDX-License-Identifier: Apache-2.0
#include "compiler/encoding/gathered_axes.h"

#include <algorithm>

namespace tritond::compiler {

GatheredAxes::GatheredAxes(tt::FuncOp func) {
  func.walk([&](tt::GatherOp gather) {
    auto shape = llvm::cast<mlir::RankedTensorType>(gather.getSrc().getType()).getShape();
    if (shape != llvm::cast<mlir::RankedTensorType>(gather.getType()).getShape()) return;
    gathered_.try_emplace(shape.vec(), gather.getAxis());
    Add(gather.getSrc(), gather.getAxis());
  });
  func.walk([&](tt::ReduceOp reduce) { Add(reduce.getSrcs()[0], reduce.getAxis()); });
  func.walk([&](tt::ScanOp scan) { Add(scan.getSrcs()[0], scan.getAxis()); });
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

}  // namespace tritond::compiler
