// SPDX-License-Identifier: Apache-2.0
// Syntax, verification and folding of the ttg operations.
#include "compiler/ir/encodings.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

#define GET_OP_CLASSES
#include "compiler/ir/ttg_ops.cc.inc"

namespace tritond::ttg {
namespace {

using compiler::LinearLayout;
using mlir::LogicalResult;
using mlir::RankedTensorType;

LogicalResult VerifyBufferAccess(mlir::Operation* op, RankedTensorType tensor, MemDescType buffer) {
  if (tensor.getShape() != buffer.getShape() || tensor.getElementType() != buffer.getElementType())
    return op->emitOpError() << "moves " << tensor << " to or from a buffer of another shape or type " << buffer;
  return mlir::success();
}

// Operations whose value is the same under every encoding can be made under the wanted one at once.
LogicalResult ConvertOfFreeOp(ConvertLayoutOp op, mlir::PatternRewriter& rewriter) {
  mlir::Operation* src = op.getSrc().getDefiningOp();
  if (!src) return mlir::failure();
  if (auto inner = llvm::dyn_cast<ConvertLayoutOp>(src)) {
    rewriter.replaceOpWithNewOp<ConvertLayoutOp>(op, op.getType(), inner.getSrc(), op.getForceWarpShuffle());
    return mlir::success();
  }
  if (auto splat = llvm::dyn_cast<tt::SplatOp>(src)) {
    rewriter.replaceOpWithNewOp<tt::SplatOp>(op, op.getType(), splat.getSrc());
    return mlir::success();
  }
  if (auto range = llvm::dyn_cast<tt::MakeRangeOp>(src)) {
    auto made = rewriter.replaceOpWithNewOp<tt::MakeRangeOp>(op, op.getType(), range.getStart(), range.getEnd());
    made->setDiscardableAttrs(range->getDiscardableAttrDictionary());
    return mlir::success();
  }
  mlir::DenseElementsAttr constant;
  if (mlir::matchPattern(src, mlir::m_Constant(&constant)) && constant.isSplat()) {
    rewriter.replaceOpWithNewOp<mlir::arith::ConstantOp>(op, op.getType(), constant.resizeSplat(op.getType()));
    return mlir::success();
  }
  return mlir::failure();
}

}  // namespace

mlir::OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  return getSrc().getType() == getType() ? getSrc() : mlir::Value();
}

void ConvertLayoutOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  patterns.add(ConvertOfFreeOp);
}

LogicalResult ConvertLayoutOp::verify() {
  auto src = llvm::cast<RankedTensorType>(getSrc().getType());
  if (src.getElementType() != getType().getElementType()) return emitOpError("changes the element type");
  if (!llvm::isa_and_present<DistributedEncoding>(src.getEncoding()) ||
      !llvm::isa_and_present<DistributedEncoding>(getType().getEncoding()))
    return emitOpError("needs a distributed encoding on both sides");
  return mlir::success();
}

mlir::ParseResult BarrierOp::parse(mlir::OpAsmParser& parser, mlir::OperationState& result) {
  static const llvm::StringSet<> kSpaces{"all", "local", "global_read", "global_write", "tensor_read", "tensor_write"};
  std::string spaces;
  do {
    llvm::StringRef space;
    mlir::SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&space)) return mlir::failure();
    if (!kSpaces.contains(space)) return parser.emitError(loc, "unknown address space '") << space << "'";
    spaces += (spaces.empty() ? "" : "|") + space.str();
  } while (succeeded(parser.parseOptionalVerticalBar()));
  result.addAttribute("addr_space", parser.getBuilder().getStringAttr(spaces));
  return parser.parseOptionalAttrDict(result.attributes);
}

void BarrierOp::print(mlir::OpAsmPrinter& printer) {
  printer << " " << getAddrSpace();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"addr_space"});
}

void LocalAllocOp::getEffects(
    llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>& effects) {
  effects.emplace_back(mlir::MemoryEffects::Allocate::get(), llvm::cast<mlir::OpResult>(getResult()));
  if (getSrc()) effects.emplace_back(mlir::MemoryEffects::Write::get(), llvm::cast<mlir::OpResult>(getResult()));
}

LogicalResult LocalAllocOp::verify() {
  if (!getSrc()) {
    if (!getType().getMutableMemory()) return emitOpError("a buffer without contents must be mutable");
    return mlir::success();
  }
  return VerifyBufferAccess(*this, llvm::cast<RankedTensorType>(getSrc().getType()), getType());
}

LogicalResult LocalLoadOp::verify() {
  return VerifyBufferAccess(*this, llvm::cast<RankedTensorType>(getType()), getSrc().getType());
}

LogicalResult MemDescIndexOp::verify() {
  MemDescType src = getSrc().getType(), result = getType();
  if (src.getShape().size() < 2 || src.getShape().drop_front() != result.getShape())
    return emitOpError() << "takes the first dimension of " << src << " away, which does not give " << result;
  if (src.getElementType() != result.getElementType()) return emitOpError("changes the element type");
  if (src.getMutableMemory() != result.getMutableMemory()) return emitOpError("changes whether the buffer is mutable");
  LinearLayout one = ToLinearLayout(result), row = ToLinearLayout(src);
  auto names = DimNames(src.getShape().size());
  llvm::SmallVector<absl::string_view> inner(names.begin() + 1, names.end());
  LinearLayout expected = one.RenameOuts(inner) * LinearLayout::Identity1D(src.getShape()[0], "offset", names[0]);
  llvm::SmallVector<absl::string_view> all(names.begin(), names.end());
  if (expected.TransposeOuts(all) != row)
    return emitOpError() << "encodings of " << src << " and " << result << " do not place a buffer alike";
  return mlir::success();
}

LogicalResult LocalStoreOp::verify() {
  if (!getDst().getType().getMutableMemory()) return emitOpError("stores to an immutable buffer");
  return VerifyBufferAccess(*this, llvm::cast<RankedTensorType>(getSrc().getType()), getDst().getType());
}

}  // namespace tritond::ttg
