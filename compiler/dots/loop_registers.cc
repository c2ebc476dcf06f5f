// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/loop_registers.h"

#include "compiler/dots/dot_slices.h"
#include "compiler/ir/encodings.h"

namespace tritond::compiler {
namespace {

using mlir::RankedTensorType;
using mlir::Value;

constexpr int kWordBits = 32;

int64_t BitsOf(mlir::Type element) { return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64; }

bool HoldsNumbers(Value value) { return mlir::getElementTypeOrSelf(value.getType()).isIntOrFloat(); }

int64_t RegistersOf(RankedTensorType type) {
  return (ttg::ToLinearLayout(type).InSize("register") * BitsOf(type.getElementType()) + kWordBits - 1) / kWordBits;
}

// Elements along K of operand `index` that are multiplied at once: the kWidth of all lanes, or a slice of
// multiply-adds.
int64_t StepAlongK(RankedTensorType type, int index) {
  auto encoding = llvm::dyn_cast_or_null<ttg::DotOperandEncodingAttr>(type.getEncoding());
  if (!encoding || encoding.getKWidth() == 0) return 1;
  const LinearLayout layout = ttg::ToLinearLayout(type);
  const std::string k = ttg::DimNames(type.getRank())[DimOfK(type.getRank(), index)];
  int64_t step = encoding.getKWidth();
  for (int bit = 0; bit < layout.InBits("lane"); ++bit)
    if (layout.Basis("lane", bit, k) != 0) step *= 2;
  return std::min(step, type.getDimSize(DimOfK(type.getRank(), index)));
}

int64_t StepRegisters(tt::DotOp dot, int index) {
  auto type = llvm::cast<RankedTensorType>((index == 0 ? dot.getA() : dot.getB()).getType());
  return RegistersOf(SliceType(type, index, StepAlongK(type, index)));
}

}  // namespace

int64_t RegistersOf(Value value) {
  auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
  return type && type.getEncoding() ? RegistersOf(type) : 1;
}

int64_t RegistersOfDots(mlir::scf::ForOp loop) {
  int64_t stay = 0, largest = 0;
  for (Value value : loop.getRegionIterArgs())
    if (HoldsNumbers(value)) stay += RegistersOf(value);
  llvm::SmallPtrSet<mlir::Operation*, 4> unchanged;
  for (auto dot : loop.getBody()->getOps<tt::DotOp>()) {
    int64_t needs = loop.isDefinedOutsideOfLoop(dot.getC()) ? RegistersOf(dot.getResult()) : 0;
    for (const int index : {0, 1}) {
      Value operand = index == 0 ? dot.getA() : dot.getB();
      if (!loop.isDefinedOutsideOfLoop(operand)) {
        needs += StepRegisters(dot, index);
      } else if (unchanged.insert(operand.getDefiningOp()).second) {
        stay += RegistersOf(operand);
      }
    }
    largest = std::max(largest, needs);
  }
  return stay + largest;
}

}  // namespace tritond::compiler
