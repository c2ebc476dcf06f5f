// SPDX-License-Identifier: Apache-2.0
// Loads of whole blocks by tensor maps of the launcher, where a program without dots loads each block once:
//
//                                                  %full = ttg.local_alloc, ttng.init_barrier of each load, 1
//                                                  %buf = ttg.local_alloc
//   %x = tt.load %pointers, (tt.block_mask …)      ttng.barrier_expect %full[0], bytes
//                                             ->   ttng.async_tma_copy_global_to_local %map[…] %buf, %full[0]
//   …                                              …
//                                                  ttng.wait_barrier %full[0], 0
//   use of %x                                      %x = ttg.local_load %buf
//
// One thread starts the copies of all blocks. No thread computes addresses or masks, nor has registers for them. The
// map costs nothing, for the launcher makes it.
//
// Buffers and mbarriers are there from the beginning, so no thread has written there before a copy does. The kernel
// writes to memory after its loads, and hears nothing of other programs. So a copy may read earlier or later than a
// thread would.
#include "compiler/analysis/scratch.h"
#include "compiler/ir/contains.h"
#include "compiler/ir/encodings.h"
#include "compiler/targets/nvidia/block_limits.h"
#include "compiler/targets/nvidia/host_maps.h"
#include "compiler/targets/nvidia/passes.h"
#include "compiler/targets/nvidia/slot_barriers.h"
#include "compiler/targets/nvidia/store_plan.h"
#include "compiler/targets/nvidia/tensor_boxes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_BULKLOADSPASS
#include "compiler/targets/nvidia/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;

constexpr int64_t kWordBytes = 4, kMostEarlyWords = 16;
// For mbarriers.
constexpr int64_t kSmallBytes = 1024;

struct BlockLoad {
  tt::LoadOp load;
  tt::BlockMaskOp block;
  ttg::MemDescType buffer;

  CopiedBlock Copied() const { return {block, tt::BlockMaskOp(block).getBlock(), buffer}; }
};

// Of a thread; of a scalar, one.
int64_t WordsOf(tt::LoadOp load) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(load.getType());
  if (!type) return 1;
  const int64_t elements = ttg::ToLinearLayout(type).InSize("register");
  return llvm::divideCeil(elements * ElementBytes(type.getElementType()), kWordBytes);
}

bool MayWrite(Operation* op) { return Contains<tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op); }

// The first operation behind the load, of its block, that uses the value or may write to memory.
Operation* EndOf(tt::LoadOp load) {
  Operation* end = load->getNextNode();
  auto uses = [&](Operation* op) {
    return llvm::any_of(load->getUsers(), [&](Operation* user) { return op->isAncestor(user); });
  };
  while (!end->hasTrait<mlir::OpTrait::IsTerminator>() && !uses(end) && !MayWrite(end)) end = end->getNextNode();
  return end;
}

std::optional<BlockLoad> BlockLoadOf(tt::LoadOp load) {
  std::optional<NamedBlock> named = NamedBlockOf(load.getMask());
  const auto type = llvm::dyn_cast<mlir::RankedTensorType>(load.getType());
  if (!named || !named->conditions.empty() || !HasHostMap(named->block.getBase()) || type.getRank() != 2 ||
      load->use_empty() || !llvm::isa<tt::FuncOp>(load->getParentOp()))
    return std::nullopt;
  for (Operation* op = load->getPrevNode(); op; op = op->getPrevNode())
    if (MayWrite(op)) return std::nullopt;
  const BlockLoad found{load, named->block, SlotFor(type)};
  if (!found.buffer || !IsMadeAtEntry(found.block) || !CanMakeTensorMap(found.Copied())) return std::nullopt;
  return found;
}

// Lets the other loads of the block that a thread has few words of begin before the first wait, which stands in front
// of `place`. The assembler moves nothing over a wait.
void StartLoadsInFrontOf(Operation* place) {
  for (Operation* op = place->getNextNode(); op && !MayWrite(op);) {
    Operation* next = op->getNextNode();
    auto load = llvm::dyn_cast<tt::LoadOp>(op);
    auto is_early = [&](Value operand) { return MoveInFrontOf(operand, place); };
    if (load && !NamedBlockOf(load.getMask()) && WordsOf(load) <= kMostEarlyWords &&
        llvm::all_of(load->getOperands(), is_early))
      load->moveBefore(place);
    op = next;
  }
}

llvm::SmallVector<Value> MakeBuffers(mlir::OpBuilder& b, llvm::ArrayRef<BlockLoad> loads) {
  llvm::SmallVector<Value> buffers;
  for (const BlockLoad& each : loads) {
    const int64_t alignment = ttng::BoxAlignment(ttng::SwizzleBytesOf(each.buffer));
    buffers.push_back(ttg::LocalAllocOp::create(b, tt::BlockMaskOp(each.block).getLoc(), each.buffer, Value(),
                                                b.getI32IntegerAttr(static_cast<int32_t>(alignment))));
  }
  return buffers;
}

void Replace(llvm::ArrayRef<BlockLoad> loads) {
  TensorMapMaker maps;
  llvm::SmallVector<CopiedBlock> blocks;
  for (const BlockLoad& each : loads) blocks.push_back(each.Copied());
  maps.Make(blocks);
  Operation* first = tt::LoadOp(loads.front().load);
  auto function = first->getParentOfType<tt::FuncOp>();
  mlir::Block& entry = function.getBody().front();
  mlir::OpBuilder b = mlir::OpBuilder::atBlockBegin(&entry);
  mlir::Location loc = function.getLoc();
  const llvm::SmallVector<Value> buffers = MakeBuffers(b, loads);
  const SlotBarriers full(b, loc, static_cast<int64_t>(loads.size()), 1);
  Value yes = arith::ConstantIntOp::create(b, loc, 1, 1), zero = arith::ConstantIntOp::create(b, loc, 0, 32);
  Operation* end = EndOf(loads.front().load);
  for (const BlockLoad& each : loads.drop_front())
    if (Operation* other = EndOf(each.load); other->isBeforeInBlock(end)) end = other;
  StartLoadsInFrontOf(end);
  for (auto [i, each, buffer] : llvm::enumerate(loads, buffers)) {
    tt::LoadOp load = each.load;
    loc = load.getLoc();
    tt::BlockMaskOp block = each.block;
    // All copies start together, as far as it is known what they read.
    auto is_early = [&](Value index) { return MoveInFrontOf(index, first); };
    b.setInsertionPoint(llvm::all_of(block.getIndices(), is_early) ? first : load);
    Value barrier = full.At(b, loc, arith::ConstantIntOp::create(b, loc, static_cast<int64_t>(i), 32));
    ttng::BarrierExpectOp::create(b, loc, barrier, static_cast<int>(BufferBytes(each.buffer)), yes, nullptr);
    ttng::AsyncTMACopyGlobalToLocalOp::create(b, loc, maps.MapFor(each.Copied()), block.getIndices(), buffer, barrier,
                                              yes, /*multicast=*/false);
    b.setInsertionPoint(EndOf(load));
    ttng::WaitBarrierOp::create(b, loc, barrier, zero, Value(), mlir::ValueRange());
    load.replaceAllUsesWith(ttg::LocalLoadOp::create(b, loc, load.getType(), buffer).getResult());
  }
  for (const BlockLoad& each : loads) tt::LoadOp(each.load).erase();
  b.setInsertionPoint(entry.getTerminator());
  full.End(b, loc);
  EraseDead(function);
}

class BulkLoadsPass : public impl::BulkLoadsPassBase<BulkLoadsPass> {
  using BulkLoadsPassBase::BulkLoadsPassBase;
  void runOnOperation() override {
    for (auto function : getOperation().getOps<tt::FuncOp>()) {
      if (!function.isPublic() || !function.getBody().hasOneBlock()) continue;
      bool may_hear = false, hears_before = false;
      llvm::SmallVector<BlockLoad> loads;
      int64_t bytes = AllocatedBytes(function) + MostScratchBytes(function);
      function.walk([&](Operation* op) {
        may_hear |= MayHearOfOthers(op);
        auto load = llvm::dyn_cast<tt::LoadOp>(op);
        std::optional<BlockLoad> found = load ? BlockLoadOf(load) : std::nullopt;
        if (!found) return;
        hears_before |= may_hear;
        loads.push_back(*found);
        bytes += BufferBytes(found->buffer);
      });
      if (!hears_before && !loads.empty() && bytes + kSmallBytes <= max_shared_bytes) Replace(loads);
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
