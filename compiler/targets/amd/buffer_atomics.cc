// SPDX-License-Identifier: Apache-2.0
// The instructions themselves order nothing. What an atomic operation of LLVM's does beside its update is done by
// fences of its scope, which is what LLVM makes of it, too:
//
//   %v = atomicrmw add %q, %x syncscope("agent") acq_rel  ->  fence syncscope("agent") release
//                                                             %v = raw.ptr.buffer.atomic.add(%x, %r, %o, 0, …)
//                                                             fence syncscope("agent") acquire
#include "compiler/targets/amd/buffer_atomics.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/Support/AtomicOrdering.h"

namespace tritond::compiler::amd {
namespace {

namespace Intrinsic = llvm::Intrinsic;

// What optimize.cc promises of the memory where float additions by instructions are allowed.
constexpr char kCoarseMemory[] = "amdgpu.no.fine.grained.memory";

bool Adds(const Architecture& arch, llvm::Type* type) {
  unsigned needed = 0;
  if (type->isFloatTy()) needed = kAddF32;
  if (type->isDoubleTy()) needed = kAddF64;
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type); vector && vector->getNumElements() == 2)
    needed = vector->getElementType()->isHalfTy()     ? kAddF16Pair
             : vector->getElementType()->isBFloatTy() ? kAddBf16Pair
                                                      : 0;
  return needed != 0 && (arch.buffers.adds & needed) != 0;
}

Intrinsic::ID IntrinsicOf(const llvm::AtomicRMWInst& update, const Architecture& arch) {
  using Op = llvm::AtomicRMWInst;
  if (update.getOperation() == Op::FAdd)
    return update.hasMetadata(kCoarseMemory) && Adds(arch, update.getType())
               ? Intrinsic::amdgcn_raw_ptr_buffer_atomic_fadd
               : Intrinsic::not_intrinsic;
  if (!update.getType()->isIntegerTy(32) && !update.getType()->isIntegerTy(64)) return Intrinsic::not_intrinsic;
  switch (update.getOperation()) {
    case Op::Xchg:
      return Intrinsic::amdgcn_raw_ptr_buffer_atomic_swap;
    case Op::Add:
      return Intrinsic::amdgcn_raw_ptr_buffer_atomic_add;
    case Op::Sub:
      return Intrinsic::amdgcn_raw_ptr_buffer_atomic_sub;
    case Op::And:
      return Intrinsic::amdgcn_raw_ptr_buffer_atomic_and;
    case Op::Or:
      return Intrinsic::amdgcn_raw_ptr_buffer_atomic_or;
    case Op::Xor:
      return Intrinsic::amdgcn_raw_ptr_buffer_atomic_xor;
    case Op::Max:
      return Intrinsic::amdgcn_raw_ptr_buffer_atomic_smax;
    case Op::Min:
      return Intrinsic::amdgcn_raw_ptr_buffer_atomic_smin;
    case Op::UMax:
      return Intrinsic::amdgcn_raw_ptr_buffer_atomic_umax;
    case Op::UMin:
      return Intrinsic::amdgcn_raw_ptr_buffer_atomic_umin;
    default:
      return Intrinsic::not_intrinsic;
  }
}

bool IsOfDevice(const llvm::Instruction& instruction, llvm::SyncScope::ID scope) {
  return scope == instruction.getContext().getOrInsertSyncScopeID("agent");
}

}  // namespace

std::optional<BufferAtomic> FindBufferAtomic(llvm::Instruction& instruction, const Architecture& arch) {
  BufferAtomic atomic;
  atomic.instruction = &instruction;
  if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    if (update->isVolatile()) return std::nullopt;
    atomic.pointer = update->getPointerOperand();
    atomic.intrinsic = IntrinsicOf(*update, arch);
    atomic.data = {update->getValOperand()};
    atomic.ordering = update->getOrdering();
    atomic.scope = update->getSyncScopeID();
  } else if (auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    llvm::Type* type = swap->getNewValOperand()->getType();
    if (swap->isVolatile() || (!type->isIntegerTy(32) && !type->isIntegerTy(64))) return std::nullopt;
    atomic.pointer = swap->getPointerOperand();
    atomic.intrinsic = Intrinsic::amdgcn_raw_ptr_buffer_atomic_cmpswap;
    atomic.data = {swap->getNewValOperand(), swap->getCompareOperand()};
    atomic.ordering = swap->getMergedOrdering();
    atomic.scope = swap->getSyncScopeID();
  }
  const bool is_known = atomic.intrinsic != Intrinsic::not_intrinsic && IsOfDevice(instruction, atomic.scope) &&
                        atomic.ordering != llvm::AtomicOrdering::SequentiallyConsistent;
  return is_known ? std::optional(atomic) : std::nullopt;
}

EmittedAtomic EmitBufferAtomic(llvm::IRBuilderBase& b, const BufferAtomic& atomic, const Architecture& arch,
                               llvm::Value* buffer, llvm::Value* offset) {
  if (llvm::isReleaseOrStronger(atomic.ordering)) b.CreateFence(llvm::AtomicOrdering::Release, atomic.scope);
  llvm::SmallVector<llvm::Value*> operands(atomic.data.begin(), atomic.data.end());
  operands.append({buffer, offset, b.getInt32(0), b.getInt32(arch.buffers.device_scope)});
  llvm::CallInst* before = b.CreateIntrinsic(atomic.intrinsic, {atomic.data[0]->getType()}, operands);
  before->setAAMetadata(atomic.instruction->getAAMetadata());
  if (llvm::isAcquireOrStronger(atomic.ordering)) b.CreateFence(llvm::AtomicOrdering::Acquire, atomic.scope);
  if (!llvm::isa<llvm::AtomicCmpXchgInst>(atomic.instruction)) return {before, before};
  llvm::Value* result = b.CreateInsertValue(llvm::PoisonValue::get(atomic.instruction->getType()), before, 0);
  return {before, b.CreateInsertValue(result, b.CreateICmpEQ(before, atomic.data[1]), 1)};
}

}  // namespace tritond::compiler::amd
