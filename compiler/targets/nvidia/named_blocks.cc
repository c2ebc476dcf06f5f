// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/named_blocks.h"

#include "compiler/analysis/pointer_roots.h"
#include "compiler/ir/ttg_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::Value;

// Takes `mask` apart; false where it is not one block's under conditions.
bool Parse(Value mask, NamedBlock& named) {
  if (auto block = mask.getDefiningOp<tt::BlockMaskOp>()) {
    const bool is_first = !named.block;
    named.block = block;
    return is_first;
  }
  if (auto both = mask.getDefiningOp<arith::AndIOp>())
    return Parse(both.getLhs(), named) && Parse(both.getRhs(), named);
  if (auto convert = mask.getDefiningOp<ttg::ConvertLayoutOp>()) return Parse(convert.getSrc(), named);
  auto splat = mask.getDefiningOp<tt::SplatOp>();
  if (splat && !llvm::is_contained(named.conditions, splat.getSrc())) named.conditions.push_back(splat.getSrc());
  return splat || mlir::matchPattern(mask, mlir::m_One());
}

}  // namespace

std::optional<NamedBlock> NamedBlockOf(Value mask) {
  NamedBlock named;
  if (!mask || !Parse(mask, named) || !named.block) return std::nullopt;
  return named;
}

bool MayAccessTensor(mlir::Operation* op, tt::BlockMaskOp block, bool reads_too) {
  if (llvm::isa<tt::CallOp>(op)) return true;
  const bool writes = llvm::isa<tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op);
  const bool reads = llvm::isa<tt::LoadOp, ttg::AsyncCopyGlobalToLocalOp>(op);
  if (!writes && !(reads && reads_too)) return false;
  const std::optional<PointerRoots> own = RootsOfPointer(block.getBase()), other = RootsOfPointer(op->getOperand(0));
  return !own || !other || llvm::any_of(*other, [&](Value root) { return own->contains(root); });
}

void EraseDead(tt::FuncOp function) {
  function->walk<mlir::WalkOrder::PostOrder, mlir::ReverseIterator>([](mlir::Operation* op) {
    if (mlir::isOpTriviallyDead(op)) op->erase();
  });
}

}  // namespace tritond::compiler
