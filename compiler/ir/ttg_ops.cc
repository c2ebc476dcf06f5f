// SPDX-License-Identifier: Apache-2.0
// Syntax, verification and folding of the ttg operations.
#include "compiler/ir/encodings.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

namespace tritond::ttg {

// [0, 16]: the offsets of memdesc_subslice.
static mlir::ParseResult parseOffsets(mlir::OpAsmParser& parser, mlir::DenseI32ArrayAttr& offsets) {
  llvm::SmallVector<int32_t> values;
  auto one = [&] { return parser.parseInteger(values.emplace_back()); };
  if (parser.parseCommaSeparatedList(one)) return mlir::failure();
  offsets = parser.getBuilder().getDenseI32ArrayAttr(values);
  return mlir::success();
}
static void printOffsets(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::DenseI32ArrayAttr offsets) {
  llvm::interleaveComma(offsets.asArrayRef(), printer);
}

}  // namespace tritond::ttg

#define GET_OP_CLASSES
#include "compiler/ir/ttg_ops.cc.inc"

namespace tritond::ttg {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;

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

mlir::ParseResult BarrierOp::parse(mlir::OpAsmParser& parser, mlir::OperationState& result) {
  static const llvm::StringSet<> kSpaces{"all", "local", "global_read", "global_write", "tensor_read", "tensor_write"};
  std::string spaces;
  if (succeeded(parser.parseOptionalKeyword("none"))) {
    spaces = "none";
  } else {
    do {
      llvm::StringRef space;
      mlir::SMLoc loc = parser.getCurrentLocation();
      if (parser.parseKeyword(&space)) return mlir::failure();
      if (!kSpaces.contains(space)) return parser.emitError(loc, "unknown address space '") << space << "'";
      spaces += (spaces.empty() ? "" : "|") + space.str();
    } while (succeeded(parser.parseOptionalVerticalBar()));
  }
  result.addAttribute("addr_space", parser.getBuilder().getStringAttr(spaces));
  return parser.parseOptionalAttrDict(result.attributes);
}

void BarrierOp::print(mlir::OpAsmPrinter& printer) {
  printer << " " << getAddrSpace();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"addr_space"});
}

void LocalAllocOp::getEffects(
    llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>& effects) {
  auto result = llvm::cast<mlir::OpResult>(getResult());
  effects.emplace_back(mlir::MemoryEffects::Allocate::get(), result, SharedMemory::get());
  if (getSrc()) effects.emplace_back(mlir::MemoryEffects::Write::get(), result, SharedMemory::get());
}

}  // namespace tritond::ttg
