// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/padding.h"

#include "compiler/ir/tt_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

mlir::Value NanFlagOf(mlir::Value other) {
  auto splat = other ? other.getDefiningOp<tt::SplatOp>() : tt::SplatOp();
  auto select = splat ? splat.getSrc().getDefiningOp<mlir::arith::SelectOp>() : mlir::arith::SelectOp();
  if (!select || !mlir::matchPattern(select.getFalseValue(), mlir::m_PosZeroFloat()) ||
      !mlir::matchPattern(select.getTrueValue(), mlir::m_NaNFloat()))
    return {};
  return select.getCondition();
}

}  // namespace tritond::compiler
