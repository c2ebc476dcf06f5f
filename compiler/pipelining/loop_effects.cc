// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipelining/loop_effects.h"

#include "compiler/analysis/pointer_roots.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;

// Whether `op`, what is in its regions left out, does nothing but read.
bool OnlyReadsItself(Operation* op) {
  if (op->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>() || llvm::isa<mlir::LLVM::AssumeOp>(op) ||
      mlir::isMemoryEffectFree(op))
    return true;
  auto effects = llvm::dyn_cast<mlir::MemoryEffectOpInterface>(op);
  return effects && effects.onlyHasEffect<mlir::MemoryEffects::Read>();
}

// Whether `holds` for all operations in the outer one that do more than read.
bool AllEffects(Operation* outer, llvm::function_ref<bool(Operation*)> holds) {
  auto result = outer->walk([&](Operation* op) {
    return OnlyReadsItself(op) || holds(op) ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

// Where `op` writes, if that is all that the program sees of it; else null. A result that nobody looks at tells no
// program that another one has come to some point. So loads may pass such an atomic operation, whatever its memory
// order.
mlir::Value WrittenOnly(Operation* op) {
  if (auto store = llvm::dyn_cast<tt::StoreOp>(op)) return store.getPtr();
  auto atomic = llvm::dyn_cast<tt::AtomicRMWOp>(op);
  return atomic && atomic->use_empty() ? atomic.getPtr() : mlir::Value();
}

}  // namespace

bool OnlyReads(Operation* op) {
  return AllEffects(op, [](Operation*) { return false; });
}

bool MayStartEarly(tt::LoadOp load, Operation* outer) {
  std::optional<PointerRoots> read;
  return AllEffects(outer, [&](Operation* op) {
    mlir::Value pointer = WrittenOnly(op);
    if (!pointer) return false;
    if (!read) read = RootsOfPointer(load.getPtr());
    std::optional<PointerRoots> written = RootsOfPointer(pointer);
    return read && written && llvm::none_of(*written, [&](mlir::Value root) { return read->contains(root); });
  });
}

}  // namespace tritond::compiler
