// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/dot_buffers.h"

#include "compiler/pipelining/multibuffers.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::Value;
using ttng::WarpGroupDotOp;

ttg::MemDescIndexOp IndexOf(Value buffer) {
  while (IsView(buffer.getDefiningOp()) && !buffer.getDefiningOp<ttg::MemDescIndexOp>())
    buffer = buffer.getDefiningOp()->getOperand(0);
  return buffer.getDefiningOp<ttg::MemDescIndexOp>();
}

// Whether they are different memory, with `written` as it is `iterations` iterations after `read`.
bool AreApart(Value written, Value read, int iterations, mlir::scf::ForOp loop, const BufferAliases& aliases) {
  llvm::ArrayRef<Operation*> writes = aliases.Of(written), reads = aliases.Of(read);
  bool known = !writes.empty() && !reads.empty();
  if (known && llvm::none_of(writes, [&](Operation* owner) { return llvm::is_contained(reads, owner); })) return true;
  ttg::MemDescIndexOp write = IndexOf(written), of = IndexOf(read);
  if (!loop || !write || !of || write.getSrc() != of.getSrc()) return false;
  int64_t size = write.getSrc().getType().getShape()[0];
  std::optional<MultibufferSlot> x = SlotOf(write.getIndex(), loop, size), y = SlotOf(of.getIndex(), loop, size);
  return x && y && x->argument == y->argument && (x->ahead + iterations - y->ahead) % size != 0;
}

// The same of `op` alone.
bool MayWriteItself(Operation* op, llvm::ArrayRef<Value> buffers, mlir::scf::ForOp loop, int iterations,
                    const BufferAliases& aliases) {
  auto declared = llvm::dyn_cast<mlir::MemoryEffectOpInterface>(op);
  if (!declared) return true;
  llvm::SmallVector<mlir::MemoryEffects::EffectInstance> effects;
  declared.getEffects(effects);
  return llvm::any_of(effects, [&](const mlir::MemoryEffects::EffectInstance& effect) {
    Value written = effect.getValue();
    if (!written || !llvm::isa<ttg::MemDescType>(written.getType())) return false;
    bool changes = llvm::isa<mlir::MemoryEffects::Write, mlir::MemoryEffects::Free>(effect.getEffect());
    return changes &&
           llvm::any_of(buffers, [&](Value read) { return !AreApart(written, read, iterations, loop, aliases); });
  });
}

}  // namespace

bool IsView(Operation* op) {
  return llvm::isa_and_present<ttg::MemDescIndexOp, ttg::MemDescSubsliceOp, ttg::MemDescTransOp, ttg::MemDescReshapeOp,
                               ttg::MemDescReinterpretOp>(op);
}

Value RootOf(Value buffer) {
  while (IsView(buffer.getDefiningOp())) buffer = buffer.getDefiningOp()->getOperand(0);
  return buffer;
}

llvm::SmallVector<Value> BuffersOf(WarpGroupDotOp dot) {
  llvm::SmallVector<Value> buffers;
  for (Value operand : {Value(dot.getA()), Value(dot.getB())})
    if (llvm::isa<ttg::MemDescType>(operand.getType())) buffers.push_back(operand);
  return buffers;
}

bool HasTensorMemory(WarpGroupDotOp dot) {
  auto d = llvm::cast<mlir::RankedTensorType>(dot.getD().getType());
  return llvm::cast<ttg::NvidiaMmaEncodingAttr>(d.getEncoding()).getVersionMajor() == 5;
}

bool MayWrite(Operation* op, WarpGroupDotOp dot, int iterations, const BufferAliases& aliases) {
  return MayWrite(op, BuffersOf(dot), llvm::dyn_cast<mlir::scf::ForOp>(dot->getParentOp()), iterations, aliases);
}

bool MayWrite(Operation* op, llvm::ArrayRef<Value> buffers, mlir::scf::ForOp loop, int iterations,
              const BufferAliases& aliases) {
  auto result = op->walk([&](Operation* inner) {
    bool harmless = mlir::isMemoryEffectFree(inner) ||
                    llvm::isa<ttg::AsyncWaitOp, ttg::AsyncCommitGroupOp, WarpGroupDotOp>(inner) ||
                    (inner->getNumRegions() != 0 && inner->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>());
    return harmless || !MayWriteItself(inner, buffers, loop, iterations, aliases) ? mlir::WalkResult::advance()
                                                                                  : mlir::WalkResult::interrupt();
  });
  return result.wasInterrupted();
}

}  // namespace tritond::compiler
