// SPDX-License-Identifier: Apache-2.0
// Where both branches of an scf.if end in the same conversion, there is one conversion after it:
//
//   %r = scf.if %c {                                      %s = scf.if %c {
//     …                                                     …
//     %a = ttg.convert_layout %x : #mma -> #blocked         scf.yield %x
//     scf.yield %a                                        } else {
//   } else {                                        ->      scf.yield %zero : …, #mma
//     scf.yield %zero : …, #blocked                       }
//   }                                                     %r = ttg.convert_layout %s : #mma -> #blocked
//
// There it may meet its inverse, or another one that goes on to a third encoding. A branch that yields a constant, a
// splat or poison takes any encoding. At least one must convert, and no other use may want the converted tensor. The
// conversion is done either way, so it costs as much after as inside.
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SINKLAYOUTCONVERSIONSPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Attribute;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::IfOp;

// The conversion whose only use is here, from the same block.
ttg::ConvertLayoutOp ConversionOf(Value yielded, IfOp branch) {
  auto convert = yielded.getDefiningOp<ttg::ConvertLayoutOp>();
  bool here = convert && convert->hasOneUse() && convert->getParentOp() == branch.getOperation();
  return here ? convert : ttg::ConvertLayoutOp();
}

// What costs nothing under another encoding.
bool IsFree(Value value) {
  Operation* op = value.getDefiningOp();
  if (llvm::isa_and_present<tt::SplatOp, mlir::ub::PoisonOp>(op)) return true;
  auto constant = llvm::dyn_cast_if_present<mlir::arith::ConstantOp>(op);
  auto elements = constant ? llvm::dyn_cast<mlir::DenseElementsAttr>(constant.getValue()) : mlir::DenseElementsAttr();
  return elements && elements.isSplat();
}

// The encoding from which the branches convert; null if they disagree or none does.
Attribute SourceEncoding(Value from_then, Value from_else, IfOp branch) {
  Attribute source;
  for (Value yielded : {from_then, from_else}) {
    if (auto convert = ConversionOf(yielded, branch)) {
      Attribute encoding = convert.getSrc().getType().getEncoding();
      if (source && source != encoding) return {};
      source = encoding;
    } else if (!IsFree(yielded)) {
      return {};
    }
  }
  return source;
}

void YieldUnder(mlir::OpOperand& yielded, IfOp branch, RankedTensorType type) {
  if (auto convert = ConversionOf(yielded.get(), branch)) {
    yielded.set(convert.getSrc());
    convert.erase();
    return;
  }
  mlir::OpBuilder b(yielded.getOwner());
  Operation* copy = b.clone(*yielded.get().getDefiningOp());
  copy->getResult(0).setType(type);
  if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(copy))
    constant.setValueAttr(llvm::cast<mlir::DenseElementsAttr>(constant.getValue()).reshape(type));
  yielded.set(copy->getResult(0));
}

void SinkOutOf(IfOp branch) {
  if (branch.getNumResults() == 0) return;
  mlir::scf::YieldOp yields[] = {branch.thenYield(), branch.elseYield()};
  mlir::OpBuilder b(branch->getContext());
  b.setInsertionPointAfter(branch);
  for (mlir::OpResult result : branch.getResults()) {
    auto type = llvm::dyn_cast<RankedTensorType>(result.getType());
    unsigned i = result.getResultNumber();
    if (!type) continue;
    Attribute source = SourceEncoding(yields[0].getOperand(i), yields[1].getOperand(i), branch);
    if (!source) continue;
    auto inside = RankedTensorType::get(type.getShape(), type.getElementType(), source);
    for (mlir::scf::YieldOp yield : yields) YieldUnder(yield->getOpOperand(i), branch, inside);
    result.setType(inside);
    auto convert = ttg::ConvertLayoutOp::create(b, branch.getLoc(), type, result);
    result.replaceAllUsesExcept(convert, convert);
  }
}

class SinkLayoutConversionsPass : public impl::SinkLayoutConversionsPassBase<SinkLayoutConversionsPass> {
  void runOnOperation() override {
    // Inner branches first: what leaves them may leave the outer ones too.
    getOperation().walk([](IfOp branch) { SinkOutOf(branch); });
  }
};

}  // namespace
}  // namespace tritond::compiler
