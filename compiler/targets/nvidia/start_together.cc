// SPDX-License-Identifier: Apache-2.0
// Lets a block of a loop start all of its loads from memory before it stores the first loaded word to shared memory.
// The assembler orders instructions for few registers. Where no barrier keeps it from that, it starts a load when the
// store of another one has freed its registers, and so waits for memory again and again:
//
//   %x0 = load %p0                                      %x0 = load %p0
//   %x1 = load %p1                                      %x1 = load %p1
//   store %x0, %shared0                        ->       bar.warp.sync
//   store %x1, %shared1                                 store %x0, %shared0
//   barrier                                             store %x1, %shared1
//                                                       barrier
//
// Neither loads nor stores pass a barrier of the warp. Where the lanes are together, as in front of a barrier of all
// threads in the same block, the assembler makes a no-op of it. Blocks without such a barrier stay as they are, for not
// all lanes may come there. So do those where a thread lacks the registers: it would store values to memory.
#include <optional>

#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/memory_instructions.h"
#include "compiler/targets/nvidia/register_pressure.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

// Loads that would wait for each other.
constexpr unsigned kLeastLoads = 2;
// Words that may be live at once: all registers of a thread, but for addresses and what else the assembler needs.
constexpr int64_t kMostWords = 232;
constexpr unsigned kAllLanes = 0xffffffff;

// Whether it keeps memory accesses on their side of it.
bool IsBarrier(const Instruction& instruction) {
  auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!intrinsic) return false;
  const llvm::StringRef name = intrinsic->getCalledFunction()->getName();
  return name.starts_with("llvm.nvvm.barrier.cta") || name.starts_with("llvm.nvvm.bar.warp");
}

bool IsOfAllThreads(const Instruction& instruction) {
  auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return intrinsic && intrinsic->getIntrinsicID() == llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all;
}

// What a block does between two barriers.
class Part final {
 public:
  explicit Part(unsigned loads) : loads_(loads), stored_(loads) {}

  void Add(Instruction& instruction) {
    llvm::BitVector of(loads_);
    for (llvm::Value* operand : instruction.operands())
      if (auto found = of_.find(operand); found != of_.end()) of |= found->second;
    if (IsSharedStore(instruction) && of.any()) return AddStore(instruction, of);
    if (IsGlobalLoad(instruction)) of.set(next_++);
    if (of.any()) of_[&instruction] = of;
  }

  // The first store of loaded words, if loads that it does not need come before it, and later stores need them.
  Instruction* FirstStore() const { return first_ && stored_.anyCommon(before_first_) ? first_ : nullptr; }

 private:
  void AddStore(Instruction& store, const llvm::BitVector& of) {
    if (!first_) {
      first_ = &store;
      before_first_.resize(loads_);
      before_first_.set(0, next_);
      before_first_.reset(of);
    }
    stored_ |= of;
  }

  unsigned loads_, next_ = 0;                               // of the block; of the part, so far
  llvm::DenseMap<const llvm::Value*, llvm::BitVector> of_;  // the loads that a value is made of
  llvm::BitVector stored_;                                  // of the part's stores
  llvm::BitVector before_first_;                            // but for those of the first store
  Instruction* first_ = nullptr;
};

// The stores in front of which `block` shall have started loads: one of each part between barriers, at most.
llvm::SmallVector<Instruction*> FirstStores(BasicBlock& block) {
  const auto loads = static_cast<unsigned>(llvm::count_if(block, IsGlobalLoad));
  llvm::SmallVector<Instruction*> found;
  if (loads < kLeastLoads) return found;
  std::optional<Part> part(std::in_place, loads);
  auto end = [&] {
    if (Instruction* store = part->FirstStore()) found.push_back(store);
    part.emplace(loads);
  };
  for (Instruction& instruction : block) {
    if (IsBarrier(instruction)) end();
    part->Add(instruction);
  }
  end();
  return found;
}

}  // namespace

void StartTogether(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    llvm::SmallVector<Instruction*> stores;
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    for (BasicBlock& block : function)
      if (loops.getLoopFor(&block) && llvm::any_of(block, IsOfAllThreads)) stores.append(FirstStores(block));
    if (stores.empty()) continue;
    const LiveWords live(function);
    llvm::erase_if(stores, [&](Instruction* store) { return live.Before(*store) > kMostWords; });
    for (Instruction* store : stores) {
      llvm::IRBuilder<> b(store);
      b.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {}, {b.getInt32(kAllLanes)});
    }
  }
}

}  // namespace tritond::compiler::nvidia
