// SPDX-License-Identifier: Apache-2.0
// Constant folding and identities of single tt operations.
#include "compiler/ir/tt_dialect.h"
#include "mlir/IR/Matchers.h"

namespace tritond::tt {
namespace {

using mlir::Attribute;
using mlir::OpFoldResult;
using mlir::ShapedType;
using mlir::Type;

// A constant whose elements are all one value, under the type `type`; null otherwise.
Attribute ResizeSplat(Attribute constant, Type type) {
  auto splat = llvm::dyn_cast_if_present<mlir::SplatElementsAttr>(constant);
  if (!splat) return {};
  return mlir::SplatElementsAttr::get(llvm::cast<ShapedType>(type), splat.getSplatValue<Attribute>());
}

bool IsZero(Attribute constant) {
  if (auto splat = llvm::dyn_cast_if_present<mlir::SplatElementsAttr>(constant))
    constant = splat.getSplatValue<Attribute>();
  auto integer = llvm::dyn_cast_if_present<mlir::IntegerAttr>(constant);
  return integer && integer.getValue().isZero();
}

// cast(inverse(x)) is x when the types agree.
template <typename Inverse>
mlir::Value CastOfInverse(mlir::Value src, Type type) {
  auto inner = src.getDefiningOp<Inverse>();
  return inner && inner.getSrc().getType() == type ? inner.getSrc() : mlir::Value();
}

// An f32/f16/bf16/f64 constant under another of these formats; null for the formats that MLIR's constants do not
// round as a GPU does (8-bit floats saturate).
Attribute ConvertFloat(Attribute constant, Type to, RoundingMode rounding) {
  auto element = llvm::dyn_cast<mlir::FloatType>(ElementOf(to));
  if (!element || element.getWidth() < 16 || rounding != RoundingMode::kRtne) return {};
  auto convert = [&](llvm::APFloat value) {
    bool loses;
    value.convert(element.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &loses);
    return value;
  };
  if (auto scalar = llvm::dyn_cast_if_present<mlir::FloatAttr>(constant))
    return mlir::FloatAttr::get(element, convert(scalar.getValue()));
  auto splat = llvm::dyn_cast_if_present<mlir::SplatElementsAttr>(constant);
  if (!splat || !llvm::isa<mlir::FloatType>(splat.getElementType())) return {};
  return mlir::SplatElementsAttr::get(llvm::cast<ShapedType>(to), convert(splat.getSplatValue<llvm::APFloat>()));
}

}  // namespace

OpFoldResult IntToPtrOp::fold(FoldAdaptor) { return CastOfInverse<PtrToIntOp>(getSrc(), getType()); }
OpFoldResult PtrToIntOp::fold(FoldAdaptor) { return CastOfInverse<IntToPtrOp>(getSrc(), getType()); }

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  if (getSrc().getType() == getType()) return getSrc();
  return CastOfInverse<BitcastOp>(getSrc(), getType());
}

OpFoldResult FpToFpOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType()) return getSrc();
  return ConvertFloat(adaptor.getSrc(), getType(), getRounding().value_or(RoundingMode::kRtne));
}

OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) { return IsZero(adaptor.getOffset()) ? getPtr() : mlir::Value(); }

OpFoldResult AdvanceOp::fold(FoldAdaptor adaptor) {
  bool stays = llvm::all_of(adaptor.getOffsets(), IsZero);
  return stays ? getPtr() : mlir::Value();
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  Attribute value = adaptor.getSrc();
  if (!llvm::isa_and_present<mlir::IntegerAttr, mlir::FloatAttr>(value)) return {};
  return mlir::SplatElementsAttr::get(getType(), value);
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) { return ResizeSplat(adaptor.getSrc(), getType()); }

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType()) return getSrc();
  return ResizeSplat(adaptor.getSrc(), getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType() && !getAllowReorder()) return getSrc();
  return ResizeSplat(adaptor.getSrc(), getType());
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  bool identity =
      llvm::all_of(llvm::enumerate(getOrder()), [](auto it) { return static_cast<int64_t>(it.index()) == it.value(); });
  if (identity && getSrc().getType() == getType()) return getSrc();
  return ResizeSplat(adaptor.getSrc(), getType());
}

OpFoldResult MakeRangeOp::fold(FoldAdaptor) {
  if (getType().getNumElements() != 1) return {};
  return mlir::SplatElementsAttr::get(getType(), mlir::APInt(32, getStart()));
}

}  // namespace tritond::tt
