// SPDX-License-Identifier: Apache-2.0
// Functions are laid out before those that call them. In a function, buffers live as BufferLifetimes says, scratch
// areas and callees' frames during their operation; PlaceBuffers then packs them.
#include "compiler/analysis/allocation.h"

#include <algorithm>
#include <vector>

#include "compiler/analysis/alias.h"
#include "compiler/analysis/buffer_lifetimes.h"
#include "compiler/analysis/place_buffers.h"
#include "compiler/analysis/scratch.h"
#include "compiler/ir/encodings.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

namespace tritond::compiler {
namespace {

using mlir::LogicalResult;
using mlir::Operation;

// A wide access needs 16 bytes; from 128 on, a buffer that begins with a row of banks has the fewest conflicts.
constexpr int64_t kSmallAlignment = 16;
constexpr int64_t kLargeAlignment = 128;
// Scratch up to this size is small: a place of its own costs less than a barrier.
constexpr int64_t kSmallScratch = 2048;

int64_t AlignmentFor(int64_t bytes) { return bytes >= kLargeAlignment ? kLargeAlignment : kSmallAlignment; }

int64_t IntAttr(Operation* op, llvm::StringRef name) {
  auto value = op->getAttrOfType<mlir::IntegerAttr>(name);
  return value ? value.getInt() : 0;
}

void SetOrRemove(Operation* op, llvm::StringRef name, std::optional<int64_t> value) {
  if (value) {
    op->setAttr(name, mlir::Builder(op->getContext()).getI32IntegerAttr(static_cast<int32_t>(*value)));
  } else {
    op->removeAttr(name);
  }
}

// Keeps the places of neighbours in a row of small scratch areas apart.
void SeparateNeighbours(std::vector<TimedBuffer>& buffers, const std::vector<Operation*>& owners) {
  TimedBuffer* before = nullptr;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (llvm::isa<ttg::LocalAllocOp, tt::CallOp>(owners[i])) continue;
    bool small = buffers[i].bytes <= kSmallScratch;
    if (before && small) before->last = std::max(before->last, buffers[i].first + 1);
    before = small ? &buffers[i] : nullptr;
  }
}

bool IsBufferType(mlir::Type type) { return llvm::isa<ttg::MemDescType>(type); }

class Allocator final {
 public:
  explicit Allocator(mlir::ModuleOp module) : symbols_(module) {}

  // Lays out `function` and what it calls, each once.
  LogicalResult Visit(tt::FuncOp function) {
    auto [state, added] = states_.try_emplace(function, State::kOpen);
    if (!added) {
      if (state->second == State::kDone) return mlir::success();
      return function.emitError("calls itself, so the size of its shared memory has no bound");
    }
    if (llvm::any_of(function.getArgumentTypes(), IsBufferType) ||
        llvm::any_of(function.getResultTypes(), IsBufferType)) {
      return function.emitError("passes buffers in shared memory between functions, which is not supported");
    }
    LogicalResult calls = mlir::success();
    function.walk([&](tt::CallOp call) {
      tt::FuncOp callee = CalleeOf(call);
      if (succeeded(calls) && callee) calls = Visit(callee);
    });
    if (failed(calls)) return calls;
    if (failed(LayOut(function))) return mlir::failure();
    states_[function] = State::kDone;
    return mlir::success();
  }

 private:
  enum class State { kOpen, kDone };

  tt::FuncOp CalleeOf(tt::CallOp call) { return symbols_.lookup<tt::FuncOp>(call.getCallee()); }

  LogicalResult LayOut(tt::FuncOp function) {
    std::vector<TimedBuffer> buffers;
    std::vector<Operation*> owners;
    if (!function.isExternal()) {
      mlir::WalkResult groups = function.walk([](ttg::WarpSpecializeOp op) {
        op.emitOpError("is not supported by this compiler yet");
        return mlir::WalkResult::interrupt();
      });
      if (groups.wasInterrupted()) return mlir::failure();
      BufferAliases aliases(function);
      BufferLifetimes lifetimes(function, aliases);
      function.walk([&](Operation* op) {
        if (op == function) return;
        TimedBuffer buffer = Needed(op);
        SetOrRemove(op, kAllocationOffsetAttr, std::nullopt);
        if (buffer.bytes == 0) return;
        auto allocation = llvm::dyn_cast<ttg::LocalAllocOp>(op);
        Steps steps = allocation ? lifetimes.Of(allocation) : lifetimes.Of(op);
        buffer.first = steps.first;
        buffer.last = steps.last;
        buffers.push_back(buffer);
        owners.push_back(op);
      });
    }
    SeparateNeighbours(buffers, owners);
    int64_t total = PlaceBuffers(absl::MakeSpan(buffers));
    if (total > INT32_MAX) return function.emitError() << "needs " << total << " bytes of shared memory";
    for (size_t i = 0; i < owners.size(); ++i) SetOrRemove(owners[i], kAllocationOffsetAttr, buffers[i].offset);
    SetOrRemove(function, kFrameBytesAttr, total == 0 ? std::nullopt : std::optional<int64_t>(total));
    int64_t& alignment = alignments_[function];
    for (const TimedBuffer& buffer : buffers) alignment = std::max(alignment, buffer.alignment);
    return mlir::success();
  }

  TimedBuffer Needed(Operation* op) {
    TimedBuffer buffer;
    if (auto allocation = llvm::dyn_cast<ttg::LocalAllocOp>(op)) {
      buffer.bytes = BufferBytes(allocation.getType());
      buffer.alignment = std::max<int64_t>(
          {AlignmentFor(buffer.bytes), ttg::AlignmentOf(allocation.getType()), allocation.getAlignment().value_or(1)});
    } else if (auto call = llvm::dyn_cast<tt::CallOp>(op)) {
      tt::FuncOp callee = CalleeOf(call);
      buffer.bytes = callee ? IntAttr(callee, kFrameBytesAttr) : 0;
      buffer.alignment = std::max(kSmallAlignment, alignments_.lookup(callee));
    } else {
      buffer.bytes = ScratchBytes(op);
      buffer.alignment = AlignmentFor(buffer.bytes);
    }
    return buffer;
  }

  mlir::SymbolTable symbols_;
  llvm::DenseMap<Operation*, State> states_;
  llvm::DenseMap<Operation*, int64_t> alignments_;
};

}  // namespace

LogicalResult AllocateSharedMemory(mlir::ModuleOp module) {
  Allocator allocator(module);
  int64_t largest = 0;
  for (auto function : module.getOps<tt::FuncOp>()) {
    if (failed(allocator.Visit(function))) return mlir::failure();
    largest = std::max(largest, IntAttr(function, kFrameBytesAttr));
  }
  SetOrRemove(module, ttg::kSharedAttr, largest);
  return mlir::success();
}

std::optional<MemoryRange> AllocatedRange(Operation* op) {
  auto offset = op->getAttrOfType<mlir::IntegerAttr>(kAllocationOffsetAttr);
  if (!offset) return std::nullopt;
  int64_t bytes = 0;
  if (auto allocation = llvm::dyn_cast<ttg::LocalAllocOp>(op)) {
    bytes = BufferBytes(allocation.getType());
  } else if (auto call = llvm::dyn_cast<tt::CallOp>(op)) {
    auto callee = mlir::SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(op, call.getCalleeAttr());
    bytes = callee ? IntAttr(callee, kFrameBytesAttr) : 0;
  } else {
    bytes = ScratchBytes(op);
  }
  return MemoryRange{offset.getInt(), offset.getInt() + bytes};
}

}  // namespace tritond::compiler
