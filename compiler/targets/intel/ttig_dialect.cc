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

}  // namespace tritond::ttig
