// SPDX-License-Identifier: Apache-2.0
// A dot that runs on into the next iteration keeps it from filling its buffer. With two buffers it does not:
//
//   scf.for … {                                            %bufs = ttg.local_alloc : !ttg.memdesc<2x64x128xf16>
//     %m = ttg.local_alloc %x : !ttg.memdesc<64x128xf16>   scf.for … iter_args(…, %slot = 0) {
//     %d = ttng.warp_group_dot %a, %m, %sum         ->       %m = ttg.memdesc_index %bufs[%slot]
//     scf.yield %d                                           ttg.local_store %x, %m
//   }                                                        %d = ttng.warp_group_dot %a, %m, %sum
//                                                            scf.yield %d, (%slot + 1, or 0 after the last)
//                                                          }
#include "compiler/targets/nvidia/multibuffer_operands.h"

#include "compiler/analysis/scratch.h"
#include "compiler/dots/loop_registers.h"
#include "compiler/targets/nvidia/carried_accumulators.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {
namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;

constexpr int64_t kSlots = 2;
// What a thread has in registers beside accumulators.
constexpr int64_t kOtherRegisters = 40;

ttg::MemDescType Mutable(ttg::MemDescType type, llvm::ArrayRef<int64_t> shape) {
  return ttg::MemDescType::get(type.getContext(), shape, type.getElementType(), type.getEncoding(),
                               type.getMemorySpace(), /*mutableMemory=*/true, shape);
}

bool FeedsOutlivingDots(ttg::LocalAllocOp alloc, ForOp loop) {
  return alloc.getSrc() && !alloc->use_empty() &&
         llvm::all_of(alloc->getUsers(), [&](Operation* user) { return AccumulatorsOutliveIteration(user, loop); });
}

Value NextSlot(mlir::OpBuilder& b, mlir::Location loc, Value slot) {
  auto constant = [&](int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 32).getResult(); };
  Value next = arith::AddIOp::create(b, loc, slot, constant(1));
  Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next, constant(kSlots));
  return arith::SelectOp::create(b, loc, wraps, constant(0), next);
}

}  // namespace

bool AccumulatorsOutliveIteration(Operation* op, ForOp loop) {
  auto dot = llvm::dyn_cast<ttng::WarpGroupDotOp>(op);
  if (!dot || dot->getBlock() != loop.getBody() || dot->use_empty()) return false;
  if (!ttng::AddsToResult(dot)) return false;
  Operation* yield = loop.getBody()->getTerminator();
  return CarriedAccumulatorsOf(dot) || llvm::all_of(dot->getUsers(), [&](Operation* user) { return user == yield; });
}

ForOp MultibufferOperands(ForOp loop, int64_t& free_bytes, BlockLimits& limits) {
  llvm::SmallVector<ttg::LocalAllocOp> allocs;
  int64_t words = kOtherRegisters;
  for (auto dot : loop.getBody()->getOps<ttng::WarpGroupDotOp>()) words += RegistersOf(dot.getD());
  for (auto alloc : loop.getBody()->getOps<ttg::LocalAllocOp>()) {
    if (!FeedsOutlivingDots(alloc, loop)) continue;
    // The one that it takes already may have shared its place with others.
    int64_t bytes = kSlots * BufferBytes(alloc.getType());
    if (bytes > free_bytes) continue;
    const int64_t more_bytes = bytes / kSlots;
    if (limits.registers > 0 && limits.Blocks(loop, words, more_bytes) < limits.Blocks(loop, words)) continue;
    limits.buffer_bytes += more_bytes;
    free_bytes -= bytes;
    allocs.push_back(alloc);
  }
  if (allocs.empty()) return loop;
  mlir::IRRewriter b(loop);
  mlir::Location loc = loop.getLoc();
  Value first = arith::ConstantIntOp::create(b, loc, 0, 32);
  auto yields = [&](mlir::OpBuilder& inner, mlir::Location at, llvm::ArrayRef<mlir::BlockArgument> arguments) {
    return llvm::SmallVector<Value>{NextSlot(inner, at, arguments[0])};
  };
  auto rotated = llvm::cast<ForOp>(
      (*loop.replaceWithAdditionalYields(b, first, /*replaceInitOperandUsesInLoop=*/false, yields)).getOperation());
  Value slot = rotated.getRegionIterArgs().back();
  for (ttg::LocalAllocOp alloc : allocs) {
    ttg::MemDescType type = alloc.getType();
    llvm::SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin(), kSlots);
    b.setInsertionPoint(rotated);
    Value multibuffer = ttg::LocalAllocOp::create(b, alloc.getLoc(), Mutable(type, shape), Value());
    b.setInsertionPoint(alloc);
    Value buffer = ttg::MemDescIndexOp::create(b, alloc.getLoc(), Mutable(type, type.getShape()), multibuffer, slot);
    ttg::LocalStoreOp::create(b, alloc.getLoc(), alloc.getSrc(), buffer);
    b.replaceOp(alloc, buffer);
  }
  return rotated;
}

}  // namespace tritond::compiler
