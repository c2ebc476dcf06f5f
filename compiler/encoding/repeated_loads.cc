// SPDX-License-Identifier: Apache-2.0
#include "compiler/encoding/repeated_loads.h"

#include "compiler/encoding/encoding_rules.h"
#include "compiler/ir/ttg_dialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

constexpr int kMaxComparisons = 100;  // of operations, for two loads

Value WithoutConversions(Value value) {
  while (auto convert = value.getDefiningOp<ttg::ConvertLayoutOp>()) value = convert.getSrc();
  return value;
}

bool DifferInEncodingAlone(mlir::Type a, mlir::Type b) {
  auto x = llvm::dyn_cast<RankedTensorType>(a), y = llvm::dyn_cast<RankedTensorType>(b);
  return x && y ? x.getShape() == y.getShape() && x.getElementType() == y.getElementType() : a == b;
}

bool AreOneConstant(Operation* a, Operation* b) {
  mlir::DenseElementsAttr x, y;
  if (!mlir::matchPattern(a, mlir::m_Constant(&x)) || !mlir::matchPattern(b, mlir::m_Constant(&y))) return false;
  return x.isSplat() && y.isSplat() && x.getSplatValue<mlir::Attribute>() == y.getSplatValue<mlir::Attribute>();
}

// Compares what values are computed from.
class Comparison final {
 public:
  bool AreOne(Value a, Value b) {
    a = WithoutConversions(a);
    b = WithoutConversions(b);
    if (a == b) return true;
    Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    if (!x || !y || !DifferInEncodingAlone(a.getType(), b.getType()) || ++comparisons_ > kMaxComparisons) return false;
    if (!mlir::isPure(x) || x->getName() != y->getName() || x->getNumRegions() != 0) return false;
    if (x->hasTrait<mlir::OpTrait::ConstantLike>()) return AreOneConstant(x, y);
    return x->getNumResults() == 1 && x->getAttrDictionary() == y->getAttrDictionary() && HaveOneOperands(x, y);
  }

  bool HaveOneOperands(Operation* x, Operation* y) {
    return x->getNumOperands() == y->getNumOperands() &&
           llvm::all_of(llvm::zip(x->getOperands(), y->getOperands()),
                        [&](const auto& pair) { return AreOne(std::get<0>(pair), std::get<1>(pair)); });
  }

 private:
  int comparisons_ = 0;
};

bool LoadTheSame(tt::LoadOp a, tt::LoadOp b) {
  return DifferInEncodingAlone(a.getType(), b.getType()) && a->getAttrDictionary() == b->getAttrDictionary() &&
         Comparison().HaveOneOperands(a, b);
}

bool MayWrite(Operation& op) {
  return op.getNumRegions() != 0 ||
         (!mlir::isMemoryEffectFree(&op) && !mlir::hasSingleEffect<mlir::MemoryEffects::Read>(&op));
}

void ConvertRepeatedLoads(mlir::Block& block) {
  llvm::SmallVector<tt::LoadOp> loads;  // since the last operation that may write
  for (Operation& op : llvm::make_early_inc_range(block)) {
    auto load = llvm::dyn_cast<tt::LoadOp>(op);
    if (!load) {
      if (MayWrite(op)) loads.clear();
      continue;
    }
    if (load.getIsVolatile() || EncodingRuleOf(load) != EncodingRule::kTied ||
        !llvm::isa<RankedTensorType>(load.getType()))
      continue;
    auto first = llvm::find_if(loads, [&](tt::LoadOp other) { return LoadTheSame(other, load); });
    if (first == loads.end()) {
      loads.push_back(load);
      continue;
    }
    mlir::OpBuilder b(load);
    load.replaceAllUsesWith(
        ttg::ConvertLayoutOp::create(b, load.getLoc(), load.getType(), first->getResult()).getResult());
    load.erase();
  }
}

}  // namespace

void ConvertRepeatedLoads(tt::FuncOp func) {
  func.walk([](mlir::Block* block) { ConvertRepeatedLoads(*block); });
}

}  // namespace tritond::compiler
