// SPDX-License-Identifier: Apache-2.0
// One buffer after another: there are few, and the memory is the device's.
#include "compiler/analysis/global_scratch.h"

#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

namespace tritond::compiler {
namespace {

using mlir::LogicalResult;
using mlir::Operation;

struct Frame {
  bool done = false;
  int64_t bytes = 0;
  int64_t alignment = 1;

  int64_t Add(int64_t size, int64_t align) {
    int64_t offset = llvm::alignTo(bytes, align);
    bytes = offset + size;
    alignment = std::max(alignment, align);
    return offset;
  }
};

void SetOrRemove(Operation* op, llvm::StringRef name, int64_t value, bool present) {
  if (present)
    op->setAttr(name, mlir::Builder(op->getContext()).getI32IntegerAttr(static_cast<int32_t>(value)));
  else
    op->removeAttr(name);
}

class Allocator final {
 public:
  explicit Allocator(mlir::ModuleOp module) : symbols_(module) {}

  LogicalResult Visit(tt::FuncOp function) {
    auto [it, added] = frames_.try_emplace(function);
    if (!added) {
      if (it->second.done) return mlir::success();
      return function.emitError("calls itself, so the size of its global scratch has no bound");
    }
    Frame frame;
    mlir::WalkResult result = function.walk([&](Operation* op) { return Place(op, frame); });
    if (result.wasInterrupted()) return mlir::failure();
    frame.done = true;
    if (frame.bytes > INT32_MAX) return function.emitError() << "needs " << frame.bytes << " bytes of global scratch";
    frames_[function] = frame;
    SetOrRemove(function, kGlobalScratchSizeAttr, frame.bytes, frame.bytes > 0);
    return mlir::success();
  }
  const Frame& Of(tt::FuncOp function) { return frames_[function]; }

 private:
  mlir::WalkResult Place(Operation* op, Frame& frame) {
    if (auto alloc = llvm::dyn_cast<ttg::GlobalScratchAllocOp>(op)) {
      bool ours = !alloc.getThirdPartyAllocation() && alloc.getBackend().value_or("default") == "default";
      if (!ours) return alloc.emitOpError("is not for this compiler to place"), mlir::WalkResult::interrupt();
      if (alloc.getSharedClusterState())
        return alloc.emitOpError("shared by a cluster is not supported"), mlir::WalkResult::interrupt();
      SetOrRemove(op, kGlobalScratchOffsetAttr, frame.Add(alloc.getNbytes(), alloc.getAlignment()), true);
    } else if (auto call = llvm::dyn_cast<tt::CallOp>(op)) {
      auto callee = symbols_.lookup<tt::FuncOp>(call.getCallee());
      if (!callee) return mlir::WalkResult::advance();
      if (failed(Visit(callee))) return mlir::WalkResult::interrupt();
      Frame inner = frames_[callee];
      SetOrRemove(op, kGlobalScratchOffsetAttr, inner.bytes > 0 ? frame.Add(inner.bytes, inner.alignment) : 0,
                  inner.bytes > 0);
    }
    return mlir::WalkResult::advance();
  }

  mlir::SymbolTable symbols_;
  llvm::DenseMap<Operation*, Frame> frames_;
};

}  // namespace

LogicalResult AllocateGlobalScratch(mlir::ModuleOp module) {
  Allocator allocator(module);
  int64_t bytes = 0, alignment = 1;
  for (auto function : module.getOps<tt::FuncOp>()) {
    if (failed(allocator.Visit(function))) return mlir::failure();
    const Frame& frame = allocator.Of(function);
    bytes = std::max(bytes, frame.bytes);
    alignment = std::max(alignment, frame.alignment);
  }
  // Programs have theirs one after the other.
  bytes = llvm::alignTo(bytes, alignment);
  if (bytes > INT32_MAX) return module.emitError() << "needs " << bytes << " bytes of global scratch";
  SetOrRemove(module, kGlobalScratchSizeAttr, bytes, bytes > 0);
  SetOrRemove(module, kGlobalScratchAlignmentAttr, alignment, bytes > 0);
  return mlir::success();
}

}  // namespace tritond::compiler
