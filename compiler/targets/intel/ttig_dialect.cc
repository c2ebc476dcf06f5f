// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/ttig_dialect.h"

#include "compiler/targets/intel/ttig_dialect.cc.inc"

#define GET_OP_CLASSES
#include "compiler/targets/intel/ttig_ops.cc.inc"

namespace tritond::ttig {

void TTIGDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/targets/intel/ttig_ops.cc.inc"
      >();
}

mlir::LogicalResult BlockReadOp::verify() {
  auto type = llvm::cast<mlir::RankedTensorType>(getResult().getType());
  auto pointer = llvm::cast<tt::PtrType>(getBase().getType());
  if (pointer.getPointeeType() != type.getElementType())
    return emitOpError() << "reads " << type.getElementType() << " through " << pointer;
  if (type.getRank() != 2 || getContiguous() > 1) return emitOpError("reads matrices");
  if (!getLimits().empty() && getLimits().size() != 2) return emitOpError("takes a limit for each dimension, or none");
  return mlir::success();
}

mlir::Value BlockReadOp::EmitPrefetch(mlir::OpBuilder& b, const mlir::IRMapping& mapping, mlir::Value exists) {
  llvm::SmallVector<mlir::Value> limits;
  for (mlir::Value limit : getLimits()) limits.push_back(mapping.lookupOrDefault(limit));
  llvm::ArrayRef<int64_t> shape = llvm::cast<mlir::RankedTensorType>(getType()).getShape();
  return BlockPrefetchOp::create(b, getLoc(), ttg::AsyncTokenType::get(getContext()),
                                 mapping.lookupOrDefault(getBase()), mapping.lookupOrDefault(getPitch()), limits,
                                 exists, getContiguous(), shape);
}

mlir::LogicalResult BlockPrefetchOp::verify() {
  mlir::Type element = llvm::cast<tt::PtrType>(getBase().getType()).getPointeeType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return emitOpError() << "brings whole bytes, not " << element;
  if (getShape().size() != 2 || getContiguous() > 1) return emitOpError("brings tiles of matrices");
  for (int64_t size : getShape())
    if (size < 1 || !llvm::isPowerOf2_64(size)) return emitOpError() << "has a side of " << size << ", no power of two";
  if (!getLimits().empty() && getLimits().size() != 2) return emitOpError("takes a limit for each dimension, or none");
  return mlir::success();
}

}  // namespace tritond::ttig
