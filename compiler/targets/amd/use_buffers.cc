// SPDX-License-Identifier: Apache-2.0
// Accesses to global memory by a buffer's descriptor, which lies in scalar registers, and an offset of 32 bits. The
// pointer must be such a sum (split_pointer.h, small_buffers.h). A lane needs one register for the address then, and
// two for a pointer. The hardware leaves out what is beyond the buffer's end. So lanes that a mask leaves out need
// neither a branch nor another place to read zeros from:
//
//   %v = masked.load(%q, splat %c, zeros)    ->    %r = make.buffer.rsrc(%base, 0, 2^31 - 1, …)
//                                                  %o = select %c, %offset, 2^31
//                                                  %v = raw.ptr.buffer.load(%r, %o, 0, …)
//
// Offsets are below 2^31 wherever a lane takes part, so nothing else is left out. What all lanes read from one place
// stays as it is: scalar loads are cheaper.
//
// Atomic operations do so too (buffer_atomics.h). Those that order nothing else need no branch either. Where a branch
// holds nothing but such operations and what computes their operands, these move in front of it. Those with fences keep
// the branch, so that waves without lanes that take part do not run the fences. Without a branch to save, a descriptor
// for atomic operations alone would cost more instructions than it saves: they use those that other accesses have.
#include "compiler/targets/amd/buffer_atomics.h"
#include "compiler/targets/amd/codegen.h"
#include "compiler/targets/amd/masked_accesses.h"
#include "compiler/targets/amd/small_buffers.h"
#include "compiler/targets/amd/split_pointer.h"
#include "compiler/targets/llvm_analyses.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace tritond::compiler::amd {
namespace {

using llvm::Value;

constexpr unsigned kGlobalSpace = 1;
// Bytes of a buffer, and an offset that is beyond its end.
constexpr uint32_t kBufferBytes = 0x7fffffff, kNowhere = 0x80000000;

// A load or a store, masked or not.
struct Access {
  llvm::Instruction* instruction;
  Value* pointer;
  llvm::Type* type;
  Value* stored = nullptr;     // null: a load
  Value* condition = nullptr;  // i1; null: always
  Value* other = nullptr;      // of a masked load
  llvm::Align align;
};

std::optional<Access> AccessOf(llvm::Instruction& instruction) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction); load && load->isSimple())
    return Access{load, load->getPointerOperand(), load->getType(), nullptr, nullptr, nullptr, load->getAlign()};
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction); store && store->isSimple()) {
    Value* value = store->getValueOperand();
    return Access{store, store->getPointerOperand(), value->getType(), value, nullptr, nullptr, store->getAlign()};
  }
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  const llvm::Intrinsic::ID id = call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic;
  if (id == llvm::Intrinsic::masked_load) {
    Value* condition = ConditionOfMask(call->getArgOperand(1));
    if (!condition) return std::nullopt;
    return Access{call,
                  call->getArgOperand(0),
                  call->getType(),
                  nullptr,
                  condition,
                  call->getArgOperand(2),
                  call->getParamAlign(0).valueOrOne()};
  }
  if (id == llvm::Intrinsic::masked_store) {
    Value *condition = ConditionOfMask(call->getArgOperand(2)), *value = call->getArgOperand(0);
    if (!condition) return std::nullopt;
    return Access{
        call, call->getArgOperand(1), value->getType(), value, condition, nullptr, call->getParamAlign(1).valueOrOne()};
  }
  return std::nullopt;
}

// As what the value travels; null: the instructions do not take it.
llvm::Type* WordsOf(llvm::Type* type, llvm::Align align, const llvm::DataLayout& layout) {
  const uint64_t bits = layout.getTypeSizeInBits(type), bytes = layout.getTypeStoreSize(type);
  if (type->isAggregateType() || type->isPtrOrPtrVectorTy() || bits != 8 * bytes) return nullptr;
  llvm::LLVMContext& context = type->getContext();
  const bool is_part = bytes == 1 || bytes == 2, is_words = bytes % 4 == 0 && bytes >= 4 && bytes <= 16;
  if ((!is_part && !is_words) || align.value() < std::min<uint64_t>(bytes, 4)) return nullptr;
  if (bytes <= 4) return llvm::Type::getIntNTy(context, bits);
  return llvm::FixedVectorType::get(llvm::Type::getInt32Ty(context), bytes / 4);
}

class BufferUser final {
 public:
  BufferUser(llvm::Function& function, const Architecture& arch, llvm::FunctionAnalysisManager& manager)
      : function_(function),
        arch_(arch),
        dominators_(manager.getResult<llvm::DominatorTreeAnalysis>(function)),
        splitter_(function, manager.getResult<llvm::UniformityInfoAnalysis>(function),
                  manager.getResult<llvm::LoopAnalysis>(function),
                  manager.getResult<llvm::AssumptionAnalysis>(function), dominators_),
        small_buffers_(function) {}

  bool Run() {
    llvm::SmallVector<llvm::Instruction*> instructions;
    for (llvm::Instruction& instruction : llvm::instructions(function_)) instructions.push_back(&instruction);
    bool changed = false;
    for (llvm::Instruction* instruction : instructions)
      if (std::optional<Access> access = AccessOf(*instruction)) changed |= Replace(*access);
    // Those that need a descriptor to lose a branch come first. Only then it is known which descriptors there are.
    for (const bool with_branch : {false, true})
      for (llvm::Instruction* instruction : instructions)
        if (std::optional<BufferAtomic> atomic = FindBufferAtomic(*instruction, arch_))
          changed |= Replace(*atomic, with_branch);
    // Only now, so that all values are those that the analyses have seen.
    for (auto [instruction, value] : replaced_) {
      if (value) instruction->replaceAllUsesWith(value);
      instruction->eraseFromParent();
    }
    for (llvm::BasicBlock* guarded : guarded_) Hoist(*guarded);
    return changed;
  }

  // Whether blocks have lost all that they did.
  bool DropsBranches() const { return !guarded_.empty(); }

 private:
  bool Replace(const Access& access) {
    if (access.pointer->getType()->getPointerAddressSpace() != kGlobalSpace) return false;
    const bool is_shared =
        splitter_.IsShared(access.pointer) && (!access.condition || splitter_.IsShared(access.condition));
    llvm::Type* words = WordsOf(access.type, access.align, function_.getDataLayout());
    if (is_shared || !words) return false;
    const uint64_t most = kBufferBytes - function_.getDataLayout().getTypeStoreSize(words).getFixedValue();
    std::optional<SplitPointer> split = splitter_.Split(access.pointer, access.condition, most, access.instruction);
    if (!split) split = small_buffers_.Split(access.pointer);
    if (!split) return false;
    replaced_.push_back({access.instruction, Emit(access, words, *split)});
    return true;
  }

  // Replaces those that keep the branch around them, or have none, or the others.
  bool Replace(const BufferAtomic& atomic, bool with_branch) {
    if (atomic.pointer->getType()->getPointerAddressSpace() != kGlobalSpace || splitter_.IsShared(atomic.pointer))
      return false;
    llvm::BasicBlock* block = atomic.instruction->getParent();
    Value* condition = ConditionOf(*block);
    if (with_branch != (!condition || atomic.ordering != llvm::AtomicOrdering::Monotonic)) return false;
    llvm::Type* type = atomic.data[0]->getType();
    const uint64_t most = kBufferBytes - function_.getDataLayout().getTypeStoreSize(type).getFixedValue();
    std::optional<SplitPointer> split = splitter_.Split(atomic.pointer, condition, most, atomic.instruction);
    if (!split) split = small_buffers_.Split(atomic.pointer);
    if (!split || (with_branch && !HasBuffer(split->base, atomic.instruction))) return false;
    llvm::IRBuilder<> b(atomic.instruction);
    Value* offset = with_branch ? split->offset : b.CreateSelect(condition, split->offset, b.getInt32(kNowhere));
    Value* buffer = BufferOf(split->base, atomic.instruction);
    const EmittedAtomic emitted = EmitBufferAtomic(b, atomic, arch_, buffer, offset);
    if (!with_branch) {
      guarded_.insert(block);
      unguarded_.insert(emitted.call);
    }
    replaced_.push_back({atomic.instruction, emitted.value});
    return true;
  }

  // The condition of the branch that alone leads to `block`, which goes where the branch goes otherwise; null: there is
  // no such branch.
  static Value* ConditionOf(llvm::BasicBlock& block) {
    llvm::BasicBlock *before = block.getSinglePredecessor(), *after = block.getSingleSuccessor();
    auto* branch = before ? llvm::dyn_cast<llvm::BranchInst>(before->getTerminator()) : nullptr;
    if (!branch || !branch->isConditional() || branch->getSuccessor(0) != &block || branch->getSuccessor(1) != after)
      return nullptr;
    return branch->getCondition();
  }

  // Moves what `block` does in front of the branch to it, where that has no effect if the branch is not taken.
  void Hoist(llvm::BasicBlock& block) const {
    for (llvm::Instruction& instruction : block)
      if (!instruction.isTerminator() && !unguarded_.contains(&instruction) &&
          !llvm::isSafeToSpeculativelyExecute(&instruction))
        return;
    llvm::BasicBlock* before = block.getSinglePredecessor();
    before->splice(before->getTerminator()->getIterator(), &block, block.begin(), block.getTerminator()->getIterator());
  }

  // The loaded value; null for a store.
  Value* Emit(const Access& access, llvm::Type* words, const SplitPointer& split) {
    llvm::IRBuilder<> b(access.instruction);
    Value* offset = split.offset;
    if (access.condition) offset = b.CreateSelect(access.condition, offset, b.getInt32(kNowhere));
    const bool streams = access.instruction->hasMetadata(llvm::LLVMContext::MD_nontemporal);
    const unsigned policy = !streams ? 0 : access.stored ? arch_.buffers.stream_store : arch_.buffers.stream_load;
    Value *buffer = BufferOf(split.base, access.instruction), *none = b.getInt32(0);
    if (access.stored) {
      Value* value = b.CreateBitCast(access.stored, words);
      b.CreateIntrinsic(llvm::Intrinsic::amdgcn_raw_ptr_buffer_store, {words},
                        {value, buffer, offset, none, b.getInt32(policy)})
          ->setAAMetadata(access.instruction->getAAMetadata());
      return nullptr;
    }
    llvm::CallInst* load = b.CreateIntrinsic(llvm::Intrinsic::amdgcn_raw_ptr_buffer_load, {words},
                                             {buffer, offset, none, b.getInt32(policy)});
    load->setAAMetadata(access.instruction->getAAMetadata());
    Value* value = b.CreateBitCast(load, access.type);
    if (access.other && !ReadsZeros(access.other)) value = b.CreateSelect(access.condition, value, access.other);
    return value;
  }

  bool HasBuffer(Value* base, llvm::Instruction* at) {
    return llvm::any_of(buffers_[base], [&](Value* buffer) { return dominators_.dominates(buffer, at); });
  }

  // The descriptor of what begins at `base`, once for all accesses that it reaches.
  Value* BufferOf(Value* base, llvm::Instruction* at) {
    auto& made = buffers_[base];
    for (Value* buffer : made)
      if (dominators_.dominates(buffer, at)) return buffer;
    llvm::IRBuilder<> b(at);
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(base);
    if (!instruction) {
      b.SetInsertPoint(function_.getEntryBlock().getFirstInsertionPt());
    } else if (llvm::isa<llvm::PHINode>(instruction)) {
      b.SetInsertPoint(instruction->getParent()->getFirstInsertionPt());
    } else {
      b.SetInsertPoint(std::next(instruction->getIterator()));
    }
    made.push_back(b.CreateIntrinsic(llvm::Intrinsic::amdgcn_make_buffer_rsrc,
                                     {llvm::PointerType::get(function_.getContext(), kBufferSpace), base->getType()},
                                     {base, b.getInt16(0), b.getInt64(kBufferBytes), b.getInt32(arch_.buffers.flags)}));
    return made.back();
  }

  static constexpr unsigned kBufferSpace = 8;

  llvm::Function& function_;
  const Architecture& arch_;
  const llvm::DominatorTree& dominators_;
  PointerSplitter splitter_;
  SmallBuffers small_buffers_;
  llvm::DenseMap<Value*, llvm::SmallVector<Value*, 1>> buffers_;
  llvm::SmallVector<std::pair<llvm::Instruction*, Value*>> replaced_;
  llvm::SmallSetVector<llvm::BasicBlock*, 4> guarded_;  // hold atomic operations that need no branch
  llvm::SmallPtrSet<llvm::Instruction*, 4> unguarded_;  // these
};

}  // namespace

void UseBuffers(llvm::Module& module, llvm::TargetMachine& machine, const Architecture& arch) {
  LlvmAnalyses analyses(machine);
  // What the pointers were computed by goes; what several offsets have in common is computed once.
  llvm::FunctionPassManager cleanup;
  cleanup.addPass(llvm::EarlyCSEPass());
  cleanup.addPass(llvm::ADCEPass());
  llvm::FunctionPassManager branches;  // that do nothing any more
  branches.addPass(llvm::SimplifyCFGPass());
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    bool drops_branches = false;
    {
      BufferUser user(function, arch, analyses.functions);
      if (!user.Run()) continue;
      drops_branches = user.DropsBranches();
    }
    analyses.functions.invalidate(function, llvm::PreservedAnalyses::none());
    cleanup.run(function, analyses.functions);
    if (!drops_branches) continue;
    analyses.functions.invalidate(function, llvm::PreservedAnalyses::none());
    branches.run(function, analyses.functions);
  }
}

}  // namespace tritond::compiler::amd
