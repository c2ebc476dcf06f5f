// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/spread_terms.h"

#include "compiler/encoding/encoding_rules.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/ir/encodings.h"

namespace tritond::compiler {

using mlir::RankedTensorType;

bool IsFromFurtherOutside(mlir::Value ahead, mlir::Value value) {
  return LoopDepth(ahead.getParentBlock()) < LoopDepth(value.getParentBlock());
}

int64_t ElementsOfThread(mlir::Type type) {
  return ttg::ToLinearLayout(llvm::cast<RankedTensorType>(type)).InSize("register");
}

bool IsBesideDots(mlir::Operation* op) {
  auto loop = llvm::dyn_cast<mlir::scf::ForOp>(op->getParentOp());
  if (!loop) return false;
  if (!loop.getBody()->getOps<tt::DotOpInterface>().empty()) return true;
  return llvm::any_of(loop.getResultTypes(), [](mlir::Type type) {
    auto tensor = llvm::dyn_cast<RankedTensorType>(type);
    return tensor && llvm::isa_and_present<ttg::MatrixEncoding>(tensor.getEncoding());
  });
}

}  // namespace tritond::compiler
