// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/outliving_dots.h"

#include "compiler/dots/matrix_buffers.h"
#include "compiler/ir/encodings.h"
#include "mlir/IR/Matchers.h"

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

using OperandTest = llvm::function_ref<bool(ttg::ConvertLayoutOp)>;

// Whether the unit of an operand that `test` holds for reads `value`, a tile or its transposition, from a buffer.
bool IsRead(Value value, RankedTensorType type, llvm::ArrayRef<unsigned> order, bool is_transposed, OperandTest test) {
  return llvm::any_of(value.getUsers(), [&](Operation* user) {
    if (auto trans = llvm::dyn_cast<tt::TransOp>(user); trans && !is_transposed)
      return IsRead(trans.getResult(), type, order, /*is_transposed=*/true, test);
    auto convert = llvm::dyn_cast<ttg::ConvertLayoutOp>(user);
    auto operand = convert ? llvm::dyn_cast<ttg::DotOperandEncodingAttr>(convert.getType().getEncoding())
                           : ttg::DotOperandEncodingAttr();
    return operand && ReadsBuffer(type, order, operand, is_transposed) && test(convert);
  });
}

bool IsRead(tt::LoadOp load, OperandTest test) {
  auto type = llvm::dyn_cast<RankedTensorType>(load.getType());
  auto blocked =
      type ? llvm::dyn_cast_if_present<ttg::BlockedEncodingAttr>(type.getEncoding()) : ttg::BlockedEncodingAttr();
  return blocked && IsRead(load.getResult(), type, blocked.getOrder(), /*is_transposed=*/false, test);
}

}  // namespace

bool IsPromoted(tt::DotOp dot) {
  auto b = llvm::cast<RankedTensorType>(dot.getB().getType());
  if (!llvm::isa<mlir::FloatType>(b.getElementType()) || b.getElementTypeBitWidth() != 8) return false;
  const int64_t most = dot.getMaxNumImpreciseAcc(), k = b.getShape()[b.getRank() - 2];
  // The unit alone makes a sum of so many.
  if (most == k && mlir::matchPattern(dot.getC(), mlir::m_AnyZeroFloat())) return false;
  return most > 0 && most <= k;
}

bool OutlivesIteration(tt::DotOp dot, ForOp loop) {
  auto type = llvm::cast<RankedTensorType>(dot.getType());
  auto b = llvm::cast<RankedTensorType>(dot.getB().getType());
  auto unit = llvm::dyn_cast_if_present<ttg::MatrixEncoding>(type.getEncoding());
  if (dot->getBlock() != loop.getBody() || !unit || IsPromoted(dot)) return false;
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
  return IsRead(load, [&](ttg::ConvertLayoutOp convert) { return FeedsOutlivingDot(convert, loop); });
}

bool IsReadByUnit(ttg::ConvertLayoutOp convert) {
  auto from = llvm::cast<RankedTensorType>(convert.getSrc().getType());
  auto operand = llvm::dyn_cast<ttg::DotOperandEncodingAttr>(convert.getType().getEncoding());
  return operand && llvm::isa<ttg::BlockedEncodingAttr>(from.getEncoding()) &&
         ReadsBuffer(from, OrderInThread(from), operand, /*is_transposed=*/false);
}

bool IsReadByUnit(tt::LoadOp load) {
  return IsRead(load, [](ttg::ConvertLayoutOp) { return true; });
}

}  // namespace tritond::compiler
