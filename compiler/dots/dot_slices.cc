// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/dot_slices.h"

#include "compiler/ir/encodings.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::compiler {
namespace {

using mlir::RankedTensorType;

// Multiply-adds of one thread in a row. Operands that come from a buffer are read when they are used. Others would all
// be in registers.
constexpr int64_t kMaxMultiplyAdds = 512, kMaxBufferedMultiplyAdds = 1024;
constexpr int64_t kWideAccessBits = 128, kRegisterBits = 32;

RankedTensorType TypeOf(mlir::Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

int64_t RegistersOf(RankedTensorType type) { return ttg::ToLinearLayout(type).InSize("register"); }

bool IsFromBuffer(mlir::Value operand, LoopLoads loads) {
  mlir::Block* body = operand.getParentBlock();
  if (auto convert = operand.getDefiningOp<ttg::ConvertLayoutOp>()) operand = convert.getSrc();
  if (operand.getDefiningOp<ttg::LocalLoadOp>()) return true;
  if (auto trans = operand.getDefiningOp<tt::TransOp>()) operand = trans.getSrc();
  auto load = operand.getDefiningOp<tt::LoadOp>();
  return loads == LoopLoads::kCopied && load && load->getBlock() == body;
}

// The least size of K at which a thread's registers are still a matching part of those for all of K.
int64_t LeastSlice(RankedTensorType type, int operand) {
  int64_t k = type.getDimSize(DimOfK(type.getRank(), operand)), all = RegistersOf(type), size = k;
  while (size > 1 && RegistersOf(SliceType(type, operand, size / 2)) * (2 * k / size) == all) size /= 2;
  return size;
}

}  // namespace

int DimOfK(int rank, int operand) { return operand == 0 ? rank - 1 : rank - 2; }

RankedTensorType SliceType(RankedTensorType type, int operand, int64_t size) {
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape[DimOfK(type.getRank(), operand)] = size;
  return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
}

int64_t TileThickness(tt::DotOp dot, LoopLoads loads) {
  const bool buffered = IsFromBuffer(dot.getA(), loads) && IsFromBuffer(dot.getB(), loads);
  const int64_t k = TypeOf(dot.getA()).getShape().back();
  const int64_t most = buffered ? kMaxBufferedMultiplyAdds : kMaxMultiplyAdds;
  return std::min(k, std::max<int64_t>(1, most / RegistersOf(TypeOf(dot.getD()))));
}

int64_t SliceRegisters(tt::DotOp dot, int64_t thickness) {
  int64_t bits = 0;
  for (int operand : {0, 1}) {
    RankedTensorType type = SliceType(TypeOf(operand == 0 ? dot.getA() : dot.getB()), operand, thickness);
    bits += RegistersOf(type) * type.getElementTypeBitWidth();
  }
  return llvm::divideCeil(bits, kRegisterBits);
}

int64_t PrefetchThickness(tt::DotOp dot, int64_t max_registers) {
  RankedTensorType a = TypeOf(dot.getA()), b = TypeOf(dot.getB());
  int64_t k = a.getShape().back();
  if (!llvm::isPowerOf2_64(k)) return 0;
  int64_t least = std::max(LeastSlice(a, 0), LeastSlice(b, 1)), size = least;
  if (llvm::isa<ttg::BlockedEncodingAttr>(TypeOf(dot.getD()).getEncoding()))
    for (RankedTensorType type : {a, b}) size = std::max(size, kWideAccessBits / type.getElementTypeBitWidth());
  while (size > least && (2 * size > k || SliceRegisters(dot, size) > max_registers)) size /= 2;
  return 2 * size <= k && SliceRegisters(dot, size) <= max_registers ? size : 0;
}

}  // namespace tritond::compiler
