// SPDX-License-Identifier: Apache-2.0
#include "compiler/lowering/zero_constants.h"

#include "compiler/ir/tt_dialect.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

bool IsZero(mlir::Value value) {
  if (auto splat = value.getDefiningOp<tt::SplatOp>()) value = splat.getSrc();
  mlir::Attribute constant;
  if (!mlir::matchPattern(value, mlir::m_Constant(&constant))) return false;
  if (auto dense = llvm::dyn_cast<mlir::SplatElementsAttr>(constant)) constant = dense.getSplatValue<mlir::Attribute>();
  if (auto number = llvm::dyn_cast<mlir::FloatAttr>(constant)) return number.getValue().isPosZero();
  auto number = llvm::dyn_cast<mlir::IntegerAttr>(constant);
  return number && number.getValue().isZero();
}

}  // namespace tritond::compiler
