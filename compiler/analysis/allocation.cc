// SPDX-License-Identifier: Apache-2.0
// Functions are laid out before those that call them. In a function, buffers live as BufferLifetimes says, scratch
// areas and callees' frames during their operation; PlaceBuffers then packs them.
//
// Partitions of a warp-specialised kernel run at the same time as each other and as what follows their start. So each
// has a frame of its own, which is packed likewise and lives from the start of the partitions to their join.
#include "compiler/analysis/allocation.h"

#include <algorithm>
#include <climits>
#include <vector>

#include "compiler/analysis/alias.h"
#include "compiler/analysis/buffer_lifetimes.h"
#include "compiler/analysis/place_buffers.h"
#include "compiler/analysis/scratch.h"
#include "compiler/ir/encodings.h"
#include "llvm/ADT/MapVector.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
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

// The shared memory of the threads that run one region.
struct Frame {
  std::vector<TimedBuffer> buffers;
  std::vector<Operation*> owners;

  void Add(Operation* owner, TimedBuffer buffer, Steps steps) {
    buffer.first = steps.first;
    buffer.last = steps.last;
    buffers.push_back(buffer);
    owners.push_back(owner);
  }
  int64_t Alignment() const {
    int64_t alignment = 1;
    for (const TimedBuffer& buffer : buffers) alignment = std::max(alignment, buffer.alignment);
    return alignment;
  }
};

// Keeps the places of neighbours in a row of small scratch areas apart, where control flow does not. From a loop to
// what comes after it, there may be large buffers in between; where there are none, the places stay apart, too. Areas
// of which a program uses only one may have one place: code that differs in nothing else is joined later.
void SeparateNeighbours(Frame& frame, const mlir::DominanceInfo& dominance) {
  int64_t all = 0;
  for (const TimedBuffer& buffer : frame.buffers) all += buffer.bytes;
  TimedBuffer* before = nullptr;
  mlir::Block* block = nullptr;
  for (auto [buffer, owner] : llvm::zip_equal(frame.buffers, frame.owners)) {
    if (llvm::isa<ttg::LocalAllocOp, tt::CallOp, ttg::StartPartitionsOp, tt::FuncOp>(owner)) continue;
    bool small = buffer.bytes <= kSmallScratch;
    auto follows = [&] {
      return block == owner->getBlock() ||
             (all <= kSmallScratch && dominance.properlyDominates(block, owner->getBlock()));
    };
    if (before && small && follows()) before->last = std::max(before->last, buffer.first + 1);
    before = small ? &buffer : nullptr;
    block = owner->getBlock();
  }
}

// The buffer that `op` makes, or its scratch area; a call has neither.
TimedBuffer OwnBuffer(Operation* op) {
  TimedBuffer buffer;
  if (auto allocation = llvm::dyn_cast<ttg::LocalAllocOp>(op)) {
    buffer.bytes = BufferBytes(allocation.getType());
    buffer.alignment = std::max<int64_t>(
        {AlignmentFor(buffer.bytes), ttg::AlignmentOf(allocation.getType()), allocation.getAlignment().value_or(1)});
  } else {
    buffer.bytes = ScratchBytes(op);
    buffer.alignment = AlignmentFor(buffer.bytes);
  }
  return buffer;
}

bool IsBufferType(mlir::Type type) { return llvm::isa<ttg::MemDescType>(type); }

Steps StepsOf(Operation* op, const BufferLifetimes& lifetimes) {
  if (auto allocation = llvm::dyn_cast<ttg::LocalAllocOp>(op)) return lifetimes.Of(allocation);
  if (auto start = llvm::dyn_cast<ttg::StartPartitionsOp>(op)) return lifetimes.Of(start);
  return lifetimes.Of(op);
}

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

  using Frames = llvm::MapVector<mlir::Region*, Frame>;  // by partition; null: of the function

  LogicalResult LayOut(tt::FuncOp function) {
    Frames frames;
    frames[nullptr];
    mlir::WalkResult whole_groups = function.walk([](ttg::WarpSpecializeOp op) {
      op.emitOpError("is whole; its default region has to become blocks of the function first");
      return mlir::WalkResult::interrupt();
    });
    if (whole_groups.wasInterrupted()) return mlir::failure();
    if (!function.isExternal()) FindBuffers(function, frames);
    Frame& whole = frames[nullptr];
    int64_t total = PlaceBuffers(absl::MakeSpan(whole.buffers));
    if (total > INT32_MAX) return function.emitError() << "needs " << total << " bytes of shared memory";
    for (auto [buffer, owner] : llvm::zip_equal(whole.buffers, whole.owners))
      if (!PlacePartition(owner, buffer, frames)) SetOrRemove(owner, kAllocationOffsetAttr, buffer.offset);
    SetOrRemove(function, kFrameBytesAttr, total == 0 ? std::nullopt : std::optional<int64_t>(total));
    alignments_[function] = whole.Alignment();
    return mlir::success();
  }

  void FindBuffers(tt::FuncOp function, Frames& frames) {
    BufferAliases aliases(function);
    BufferLifetimes lifetimes(function, aliases);
    llvm::SmallVector<ttg::StartPartitionsOp> starts;
    function.walk([&](Operation* op) {
      SetOrRemove(op, kAllocationOffsetAttr, std::nullopt);
      if (op == function) return;
      if (auto start = llvm::dyn_cast<ttg::StartPartitionsOp>(op)) starts.push_back(start);
      TimedBuffer buffer = Needed(op);
      if (buffer.bytes == 0) return;
      frames[ttg::PartitionAround(op->getParentRegion())].Add(op, buffer, StepsOf(op, lifetimes));
    });
    const mlir::DominanceInfo dominance(function);
    for (auto& [partition, frame] : frames) SeparateNeighbours(frame, dominance);
    if (starts.empty()) return;
    frames[nullptr].Add(function, {kPartitionsStateBytes, kSmallAlignment}, {0, INT_MAX});
    for (ttg::StartPartitionsOp start : starts)
      for (mlir::Region& partition : start.getPartitionRegions()) AddPartition(partition, lifetimes.Of(start), frames);
  }

  // Packs the frame of a partition, and makes it a buffer of the function's. Its owner is the partition's terminator,
  // which needs no memory of its own.
  void AddPartition(mlir::Region& partition, Steps steps, Frames& frames) {
    auto own = frames.find(&partition);
    if (own == frames.end()) return;
    Frame& frame = own->second;
    TimedBuffer all;
    all.bytes = PlaceBuffers(absl::MakeSpan(frame.buffers));
    all.alignment = frame.Alignment();
    frames[nullptr].Add(partition.back().getTerminator(), all, steps);
  }

  // False where `owner` does not stand for a partition, whose frame `place` is.
  static bool PlacePartition(Operation* owner, const TimedBuffer& place, Frames& frames) {
    mlir::Region* partition = ttg::PartitionAround(owner->getParentRegion());
    if (!partition) return false;
    Frame& frame = frames[partition];
    for (auto [buffer, inner] : llvm::zip_equal(frame.buffers, frame.owners))
      SetOrRemove(inner, kAllocationOffsetAttr, place.offset + buffer.offset);
    return true;
  }

  TimedBuffer Needed(Operation* op) {
    auto call = llvm::dyn_cast<tt::CallOp>(op);
    if (!call) return OwnBuffer(op);
    TimedBuffer buffer;
    tt::FuncOp callee = CalleeOf(call);
    buffer.bytes = callee ? IntAttr(callee, kFrameBytesAttr) : 0;
    buffer.alignment = std::max(kSmallAlignment, alignments_.lookup(callee));
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

std::optional<int64_t> FrameBytes(tt::FuncOp function) {
  mlir::WalkResult others = function.walk([](Operation* op) {
    return llvm::isa<tt::CallOp, ttg::WarpSpecializeOp, ttg::StartPartitionsOp>(op) ? mlir::WalkResult::interrupt()
                                                                                    : mlir::WalkResult::advance();
  });
  if (others.wasInterrupted() || function.isExternal()) return std::nullopt;
  BufferAliases aliases(function);
  BufferLifetimes lifetimes(function, aliases);
  Frame frame;
  function.walk([&](Operation* op) {
    TimedBuffer buffer = OwnBuffer(op);
    if (buffer.bytes > 0) frame.Add(op, buffer, StepsOf(op, lifetimes));
  });
  SeparateNeighbours(frame, mlir::DominanceInfo(function));
  return PlaceBuffers(absl::MakeSpan(frame.buffers));
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
