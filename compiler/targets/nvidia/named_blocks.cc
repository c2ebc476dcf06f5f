// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/named_blocks.h"

#include "compiler/analysis/pointer_roots.h"
#include "compiler/ir/ttg_dialect.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
using mlir::Value;

bool MayAccessTensor(mlir::Operation* op, tt::BlockMaskOp block, bool reads_too) {
  if (llvm::isa<tt::CallOp>(op)) return true;
  const bool writes = llvm::isa<tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op);
  const bool reads = llvm::isa<tt::LoadOp, ttg::AsyncCopyGlobalToLocalOp>(op);
  if (!writes && !(reads && reads_too)) return false;
  const std::optional<PointerRoots> own = RootsOfPointer(block.getBase()), other = RootsOfPointer(op->getOperand(0));
  return !own || !other || llvm::any_of(*other, [&](Value root) { return own->contains(root); });
}

bool MayHearOfOthers(mlir::Operation* op) {
  if (auto load = llvm::dyn_cast<tt::LoadOp>(op)) return load.getIsVolatile();
  if (auto rmw = llvm::dyn_cast<tt::AtomicRMWOp>(op)) return rmw.getSem() != tt::MemSemantic::kRelaxed;
  return llvm::isa<tt::AtomicCASOp, tt::AtomicPollOp, tt::CallOp, tt::ClusterBarrierOp, ttg::WarpSpecializeOp>(op) ||
         IsOpaqueAccess(op);
}

bool IsOpaqueAccess(mlir::Operation* op) {
  auto effects = llvm::dyn_cast<mlir::MemoryEffectOpInterface>(op);
  return llvm::isa<tt::ElementwiseInlineAsmOp, tt::ExternElementwiseOp>(op) && (!effects || !effects.hasNoEffect());
}

void EraseDead(tt::FuncOp function) {
  function->walk<mlir::WalkOrder::PostOrder, mlir::ReverseIterator>([](mlir::Operation* op) {
    if (mlir::isOpTriviallyDead(op)) op->erase();
  });
}

}  // namespace tritond::compiler
