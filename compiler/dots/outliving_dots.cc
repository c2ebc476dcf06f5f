// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/outliving_dots.h"

#include "compiler/ir/encodings.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

constexpr int kMatrixRank = 2;

// Whether the unit of `operand` reads it from a buffer that holds `type` in `order`.
bool ReadsBuffer(RankedTensorType type, llvm::ArrayRef<unsigned> order, ttg::DotOperandEncodingAttr operand,
                 bool is_transposed) {
  auto unit = llvm::dyn_cast<ttg::MatrixEncoding>(operand.getParent());
  if (!unit || type.getRank() != kMatrixRank) return false;
  unsigned k = operand.getOpIdx() == 0 ? 1 : 0;
  return unit.OperandBuffer(type, order, is_transposed ? 1 - k : k) != mlir::Attribute();
}

// Whether a dot that outlives its iteration reads `value`, the tile of `load` or its transposition.
bool IsReadOn(Value value, RankedTensorType type, llvm::ArrayRef<unsigned> order, bool is_transposed, ForOp loop) {
  return llvm::any_of(value.getUsers(), [&](Operation* user) {
    if (auto trans = llvm::dyn_cast<tt::TransOp>(user); trans && !is_transposed)
      return IsReadOn(trans.getResult(), type, order, /*is_transposed=*/true, loop);
    auto convert = llvm::dyn_cast<ttg::ConvertLayoutOp>(user);
    auto operand = convert ? llvm::dyn_cast<ttg::DotOperandEncodingAttr>(convert.getType().getEncoding())
                           : ttg::DotOperandEncodingAttr();
    return operand && ReadsBuffer(type, order, operand, is_transposed) && FeedsOutlivingDot(convert, loop);
  });
}

}  // namespace

bool OutlivesIteration(tt::DotOp dot, ForOp loop) {
  auto type = llvm::cast<RankedTensorType>(dot.getType());
  auto b = llvm::cast<RankedTensorType>(dot.getB().getType());
  auto unit = llvm::dyn_cast_if_present<ttg::MatrixEncoding>(type.getEncoding());
  if (dot->getBlock() != loop.getBody() || !unit) return false;
  // Others are rounded as soon as they are there.
  if (!unit.AddsToResult(b.getElementType(), type.getElementType())) return false;
  auto operand = llvm::dyn_cast_if_present<ttg::DotOperandEncodingAttr>(b.getEncoding());
  if (!operand || !ReadsBuffer(b, {0, 1}, operand, /*is_transposed=*/false)) return false;
  Operation* yield = loop.getBody()->getTerminator();
  return !dot->use_empty() && llvm::all_of(dot->getUsers(), [&](Operation* user) { return user == yield; });
}

bool FeedsOutlivingDot(ttg::ConvertLayoutOp convert, ForOp loop) {
  return llvm::any_of(convert->getUsers(), [&](Operation* op) {
    auto dot = llvm::dyn_cast<tt::DotOp>(op);
    bool is_operand = dot && (dot.getA() == convert.getResult() || dot.getB() == convert.getResult());
    return is_operand && OutlivesIteration(dot, loop);
  });
}

bool IsReadOn(tt::LoadOp load, ForOp loop) {
  auto type = llvm::dyn_cast<RankedTensorType>(load.getType());
  auto blocked =
      type ? llvm::dyn_cast_if_present<ttg::BlockedEncodingAttr>(type.getEncoding()) : ttg::BlockedEncodingAttr();
  return blocked && IsReadOn(load.getResult(), type, blocked.getOrder(), /*is_transposed=*/false, loop);
}

}  // namespace tritond::compiler
