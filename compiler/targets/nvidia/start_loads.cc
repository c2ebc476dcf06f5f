// SPDX-License-Identifier: Apache-2.0
// Beside the copies of its operands, a loop of dots may load rows or blocks to registers: scales, biases. It needs them
// once the dots are done. Where they begin after the dots, threads wait for memory. Where they begin after the wait for
// copies, they do so among the reads of shared memory. The assembler has few scoreboards, and gives one to both, so
// that threads wait for memory where they want an operand:
//
//   scf.for … {                                          scf.for … {
//     ttg.async_wait                                       %s = tt.load %p
//     %w = ttg.local_load …                ->              ttg.async_wait
//     %s = tt.load %p                                      %w = ttg.local_load …
//     %d = ttng.warp_group_dot … %w …                      %d = ttng.warp_group_dot … %w …
//     arith.mulf %d, %s                                    arith.mulf %d, %s
//
// So these loads come before the wait, with what they are made of. They pass nothing that writes to global memory. Nor
// do they pass a barrier where the loop may write what they read, for threads see by it what others have written. A
// load for the next iteration stays, for it takes the registers that this one's values leave.
#include "compiler/analysis/pointer_roots.h"
#include "compiler/dots/loop_registers.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/targets/nvidia/passes.h"
#include "compiler/targets/nvidia/ttng_dialect.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_STARTLOADSPASS
#include "compiler/targets/nvidia/passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;

// Words of a thread that wait for the dots.
constexpr int64_t kMostWords = 64;

bool IsDot(Operation& op) { return llvm::isa<tt::DotOpInterface, ttng::WarpGroupDotOp>(op); }

bool IsWait(Operation& op) { return llvm::isa<ttg::AsyncWaitOp, ttng::WaitBarrierOp>(op); }

// Whether a load may come before `op`, which it follows.
bool MayPass(Operation* op) {
  if (auto load = llvm::dyn_cast<tt::LoadOp>(op)) return !load.getIsVolatile();
  return mlir::isMemoryEffectFree(op) || IsWait(*op) || IsDot(*op) ||
         llvm::isa<ttg::AsyncCommitGroupOp, ttg::AsyncCopyGlobalToLocalOp, ttg::LocalLoadOp, ttg::LocalStoreOp,
                   ttg::LocalAllocOp, ttng::ArriveBarrierOp, ttng::ArriveBarrierByWarpsOp, ttng::BarrierExpectOp,
                   ttng::AsyncTMACopyGlobalToLocalOp, ttng::FenceAsyncSharedOp, ttng::WarpGroupWaitOp>(op);
}

// Whether an iteration may write what `load` reads.
bool MayWrite(mlir::scf::ForOp loop, tt::LoadOp load) {
  const std::optional<PointerRoots> read = RootsOfPointer(load.getPtr());
  auto result = loop.getBody()->walk([&](Operation* op) {
    Value pointer;
    if (auto store = llvm::dyn_cast<tt::StoreOp>(op)) pointer = store.getPtr();
    if (auto atomic = llvm::dyn_cast<tt::AtomicRMWOp>(op)) pointer = atomic.getPtr();
    if (auto atomic = llvm::dyn_cast<tt::AtomicCASOp>(op)) pointer = atomic.getPtr();
    const std::optional<PointerRoots> written = pointer ? RootsOfPointer(pointer) : std::nullopt;
    const bool is_apart = read && written && llvm::none_of(*written, [&](Value root) { return read->contains(root); });
    const bool may = llvm::isa<tt::CallOp>(op) || (pointer && !is_apart);
    return may ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return result.wasInterrupted();
}

// `load` and what it is made of from `wait` on, in order; empty where that cannot come before it.
llvm::SmallVector<Operation*> SliceFrom(Operation* wait, tt::LoadOp load, mlir::scf::ForOp loop) {
  mlir::BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  options.filter = [&](Operation* op) { return op->getBlock() == wait->getBlock() && wait->isBeforeInBlock(op); };
  llvm::SetVector<Operation*> slice;
  (void)mlir::getBackwardSlice(load.getOperation(), &slice, options);
  const bool may_move = llvm::all_of(slice, [&](Operation* op) {
    auto read = llvm::dyn_cast<tt::LoadOp>(op);
    return read ? !read.getIsVolatile() && !MayWrite(loop, read) : mlir::isMemoryEffectFree(op);
  });
  llvm::SmallVector<Operation*> order;
  for (Operation* op = wait; may_move && op != load->getNextNode(); op = op->getNextNode())
    if (slice.contains(op)) order.push_back(op);
  return order;
}

// Whether the next iteration uses what `load` reads.
bool IsForNextIteration(tt::LoadOp load) {
  return llvm::any_of(load->getUsers(), [](Operation* user) { return llvm::isa<mlir::scf::YieldOp>(user); });
}

void StartLoads(mlir::scf::ForOp loop) {
  mlir::Block& body = *loop.getBody();
  auto wait = llvm::find_if(body, IsWait);
  if (wait == body.end()) return;
  Operation* first = &*wait;
  int64_t words = 0;
  llvm::SmallVector<tt::LoadOp> loads;
  for (Operation* op = first; op && MayPass(op); op = op->getNextNode())
    if (auto load = llvm::dyn_cast<tt::LoadOp>(op); load && !IsForNextIteration(load)) loads.push_back(load);
  for (tt::LoadOp load : loads) {
    if (!first->isBeforeInBlock(load)) continue;  // another one has taken it along
    const llvm::SmallVector<Operation*> slice = SliceFrom(first, load, loop);
    if (slice.empty()) continue;
    words += RegistersOf(load.getResult());
    if (words > kMostWords) return;
    for (Operation* op : slice) op->moveBefore(first);
  }
}

class StartLoadsPass : public impl::StartLoadsPassBase<StartLoadsPass> {
  void runOnOperation() override {
    getOperation().walk([](mlir::scf::ForOp loop) {
      if (llvm::any_of(*loop.getBody(), IsDot)) StartLoads(loop);
    });
  }
};

}  // namespace
}  // namespace tritond::compiler
