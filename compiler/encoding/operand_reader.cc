// SPDX-License-Identifier: Apache-2.0
#include "compiler/encoding/operand_reader.h"

#include "compiler/ir/encodings.h"

namespace tritond::compiler {

OperandReader ReaderOf(mlir::RankedTensorType type) {
  auto operand = llvm::dyn_cast_or_null<ttg::DotOperandEncodingAttr>(type.getEncoding());
  if (!operand) return OperandReader::kThread;
  auto unit = llvm::dyn_cast<ttg::MatrixEncoding>(operand.getParent());
  if (!unit) return OperandReader::kMultiplyAdds;
  const unsigned rank = type.getRank(), k = rank - 2;
  if (operand.getOpIdx() != 1 || rank != 2) return OperandReader::kThread;
  const bool is_read = unit.OperandBuffer(type, {k, rank - 1}, k) || unit.OperandBuffer(type, {rank - 1, k}, k);
  return is_read ? OperandReader::kUnit : OperandReader::kThread;
}

}  // namespace tritond::compiler
