// SPDX-License-Identifier: Apache-2.0
// How many blocks of a kernel a multiprocessor should hold at least. The assembler gives a thread as many registers as
// that leaves. Without it, the assembler orders instructions for few registers, so that as many warps as possible fit.
// It starts a load or a shuffle of a chain when the one before has arrived. That is right where many warps are there to
// wait in turn, and wrong in two cases:
//
// - Blocks of one warp. A multiprocessor holds 64 warps, but no more than 32 blocks, so half of the places are empty
//   however few registers a thread takes. It may take all. Whether that is of use shows in the code.
// - Loops that load and do little else, and kernels without loops that load 64 bytes a thread. In each iteration a
//   warp waits for what it has loaded. More loads in flight help each warp, more warps help as a whole: 32 warps with
//   64 registers load as much at once as 64 warps with 32, and wait half as often. Where the warps of a block wait for
//   each other in each iteration, 48 warps with 40 registers are better. That holds only while the registers are
//   enough, so the words that are live are counted first. It does not hold for loads at loaded addresses: these follow
//   one another whatever registers there are. Nor where an atomic operation of the loop acquires: no later load passes
//   it. Blocks of many warps come and go in large portions: one block less is more than it brings. Nor does it hold
//   where all loops have loads with masks and stores, and all warps have room for what an iteration loads. Such loads
//   do not pass the stores of earlier iterations, so more registers would be of no use.
//
// Kernels that use the matrix units have the registers that their tiles need. Where such a kernel computes in a loop,
// or has no loop at all, another block may still be worth a try. For all other kernels, as many warps as a
// multiprocessor holds may be worth one (second_assembly.cc). Where a limit of registers is given, it says how many
// there are.
#include "absl/strings/str_cat.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/memory_instructions.h"
#include "compiler/targets/nvidia/second_assembly.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tritond::compiler::nvidia {
namespace {

constexpr int kLanes = 32;
constexpr int kMultiprocessorRegisters = 65536;
constexpr int kMostRegisters = 256;       // of a thread
constexpr int kStreamWarps = 32;          // with 64 registers a thread
constexpr int kWaitingStreamWarps = 48;   // with 40
constexpr int kMostStreamBlockWarps = 4;  // of a block: eight blocks or more make up those warps
// LLVM's order starts all loads of an iteration first. The assembler gets along with two thirds of the words live in
// it.
constexpr int64_t kMostStreamWords = 64 * 3 / 2, kMostWaitingStreamWords = 40 * 3 / 2;
// The same for the 32 registers of a thread of all warps.
constexpr int64_t kMostWordsOfAllWarps = 32 * 3 / 2;
// Outside of loops, that are worth as much as those of a loop.
constexpr int kLeastFrontLoads = 4;
constexpr int64_t kLeastFrontBytes = 64;

// Whether `load` depends on what a load of `loop` has read, maybe itself in an earlier iteration; without a loop, on
// any.
bool Follows(const llvm::Instruction& load, const llvm::Loop* loop) {
  llvm::SmallVector<const llvm::Instruction*> pending{&load};
  llvm::DenseSet<const llvm::Instruction*> seen;
  while (!pending.empty())
    for (const llvm::Value* operand : pending.pop_back_val()->operands()) {
      auto* made = llvm::dyn_cast<llvm::Instruction>(operand);
      if (!made || (loop && !loop->contains(made)) || !seen.insert(made).second) continue;
      if (IsGlobalLoad(*made)) return true;
      pending.push_back(made);
    }
  return false;
}

// Whether no later load begins before it has ended: it acquires what other threads have released.
bool Acquires(const llvm::Instruction& instruction) { return AssemblyOf(instruction).contains(".acq"); }

// What is loaded at one place: in a loop, or outside of all loops.
struct Loads {
  int count = 0;
  int64_t bytes = 0;      // of a thread
  bool plain = false;     // one has no mask
  bool stores = false;    // there are stores, too
  bool follows = false;   // one waits for another one, or for what an atomic operation acquires
  bool acquires = false;  // there is such an operation
  bool barriers = false;  // warps wait for each other there
  int levels = 1;         // loads of an iteration that wait for one another, at most
};

int64_t LoadedBytes(const llvm::Instruction& load) {
  const llvm::DataLayout& layout = load.getModule()->getDataLayout();
  return layout.getTypeSizeInBits(load.getType()).getFixedValue() / 8;
}

// Of each value, the loads of its iteration that wait for one another before it is there: one more at each loaded
// address, and behind each barrier, which none passes. What comes from outside of the loop, or from an earlier
// iteration, is there.
llvm::DenseMap<const llvm::Value*, int> LoadLevels(const llvm::Function& function, const llvm::LoopInfo& loops) {
  llvm::DenseMap<const llvm::Value*, int> levels;
  llvm::DenseMap<const llvm::Loop*, int> most, behind_barriers;
  for (const llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<const llvm::Function*>(&function)) {
    const llvm::Loop* loop = loops.getLoopFor(block);
    for (const llvm::Instruction& instruction : *block) {
      if (llvm::isa<llvm::PHINode>(instruction) && loops.isLoopHeader(block)) continue;
      int level = 0;
      for (const llvm::Value* operand : instruction.operands()) {
        auto* made = llvm::dyn_cast<llvm::Instruction>(operand);
        if (made && loops.getLoopFor(made->getParent()) == loop) level = std::max(level, levels.lookup(made));
      }
      if (IsBlockBarrier(instruction)) behind_barriers[loop] = most.lookup(loop);
      if (IsGlobalLoad(instruction)) {
        level = std::max(level, behind_barriers.lookup(loop)) + 1;
        most[loop] = std::max(most.lookup(loop), level);
      }
      levels[&instruction] = level;
    }
  }
  return levels;
}

// By loops; null stands for no loop.
llvm::MapVector<const llvm::Loop*, Loads> LoadsOf(llvm::Function& function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  llvm::MapVector<const llvm::Loop*, Loads> found;
  const auto levels = LoadLevels(function, loops);
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const llvm::Loop* loop = loops.getLoopFor(instruction.getParent());
    if (IsBlockBarrier(instruction)) found[loop].barriers = true;
    if (loop && Acquires(instruction)) found[loop].follows = found[loop].acquires = true;
    if (IsGlobalStore(instruction)) found[loop].stores = true;
    if (!IsGlobalLoad(instruction)) continue;
    Loads& loads = found[loop];
    ++loads.count;
    loads.bytes += LoadedBytes(instruction);
    loads.plain |= llvm::isa<llvm::LoadInst>(instruction);
    loads.follows = loads.follows || Follows(instruction, loop);
    loads.levels = std::max(loads.levels, levels.lookup(&instruction));
  }
  return found;
}

// Whether the matrix units work in a loop, or the function has none.
bool MultipliesAsLongAsItRuns(llvm::Function& function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  return llvm::any_of(llvm::instructions(function), [&](const llvm::Instruction& instruction) {
    return IsMatrixInstruction(instruction) && (loops.empty() || loops.getLoopFor(instruction.getParent()));
  });
}

bool HasLoops(llvm::Function& function) {
  llvm::DominatorTree dominators(function);
  return !llvm::LoopInfo(dominators).empty();
}

// What a thread could load at once, and how often one after the other: means of all loops, or of the code without any.
struct AtOnce {
  int64_t bytes = 0;
  int64_t waits = 0;
};

AtOnce LoadsAtOnce(llvm::Function& function) {
  AtOnce sum;
  int64_t count = 0;
  const bool has_loops = HasLoops(function);
  for (const auto& [loop, found] : LoadsOf(function)) {
    if ((loop != nullptr) != has_loops || found.acquires || found.bytes == 0) continue;
    sum.bytes += found.bytes / found.levels;
    sum.waits += found.levels;
    ++count;
  }
  return count > 0 ? AtOnce{sum.bytes / count, sum.waits / count} : AtOnce{};
}

bool IsProgramNumber(const llvm::Value* value, llvm::Intrinsic::ID axis = llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x) {
  auto* read = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  return read && read->getIntrinsicID() == axis;
}

// By how much `phi` grows in each iteration of its loop where it begins at the program's number; else 0.
int64_t StepFromProgramNumber(const llvm::PHINode& phi) {
  int64_t step = 0;
  bool begins = false;
  for (const llvm::Value* value : phi.incoming_values()) {
    auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(value);
    auto* by = sum ? llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(1)) : nullptr;
    if (by && sum->getOpcode() == llvm::Instruction::Add && sum->getOperand(0) == &phi) step = by->getSExtValue();
    begins |= IsProgramNumber(value);
  }
  return begins ? std::max<int64_t>(step, 0) : 0;
}

// How many programs the kernel has if they take turns with the iterations of a loop; 0: not known. Programs of several
// dimensions may do so only in one of them.
int64_t Programs(const llvm::Function& function) {
  int64_t programs = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    if (IsProgramNumber(&instruction, llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y) ||
        IsProgramNumber(&instruction, llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z))
      return 0;
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction))
      programs = std::max(programs, StepFromProgramNumber(*phi));
  }
  return programs;
}

// Warps that a multiprocessor should hold of a kernel that waits for its loads; 0: it is none.
int StreamWarps(llvm::Function& function) {
  if (llvm::any_of(llvm::instructions(function), IsMatrixInstruction)) return 0;
  bool loads = false, barriers = false, has_loops = false, passes = false;
  const auto places = LoadsOf(function);
  for (const auto& [loop, found] : places) {
    if (!loop || found.count == 0) continue;
    has_loops = true;
    passes |= found.plain || !found.stores;
    if (found.follows) continue;
    loads = true;
    barriers |= found.barriers;
  }
  if (!has_loops) {
    const auto* front = places.find(nullptr);
    loads = front != places.end() && front->second.count >= kLeastFrontLoads &&
            front->second.bytes >= kLeastFrontBytes && !front->second.follows;
  }
  if (!loads) return 0;
  const int64_t words = MaxLiveWords(function);
  if (has_loops && !passes && !barriers && words <= kMostWordsOfAllWarps) return 0;
  if (barriers && words <= kMostWaitingStreamWords) return kWaitingStreamWarps;
  return words <= kMostStreamWords ? kStreamWarps : 0;
}

}  // namespace

bool IsMatrixInstruction(const llvm::Instruction& instruction) {
  auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return AssemblyOf(instruction).contains("mma") ||
         (intrinsic && intrinsic->getCalledFunction()->getName().contains("mma"));
}

void SetBlockTarget(llvm::Function& kernel) {
  int threads = 0, blocks = 0;
  kernel.getFnAttribute("nvvm.reqntid").getValueAsString().getAsInteger(10, threads);
  if (threads == 0 || kernel.hasFnAttribute("nvvm.maxnreg")) return;
  const int num_warps = threads / kLanes;
  if (num_warps == 1)
    blocks = kMultiprocessorRegisters / (kMostRegisters * kLanes);
  else if (num_warps <= kMostStreamBlockWarps)
    blocks = StreamWarps(kernel) / num_warps;
  if (blocks > 0) kernel.addFnAttr("nvvm.minctasm", absl::StrCat(blocks));
  if (!kernel.hasFnAttribute(kSharedBytesAttr)) return;
  if (const int64_t programs = Programs(kernel); programs > 1) kernel.addFnAttr(kProgramsAttr, absl::StrCat(programs));
  if (num_warps > 1 && MultipliesAsLongAsItRuns(kernel)) {
    kernel.addFnAttr(kMoreBlocksAttr, kSecondBlock);
  } else if (llvm::none_of(llvm::instructions(kernel), IsMatrixInstruction)) {
    kernel.addFnAttr(kMoreBlocksAttr, kAllWarps);
    const AtOnce loads = LoadsAtOnce(kernel);
    if (loads.bytes > 0) kernel.addFnAttr(kLoadsAtOnceAttr, absl::StrCat(loads.bytes));
    if (loads.waits > 1) kernel.addFnAttr(kWaitsAttr, absl::StrCat(loads.waits));
  }
}

}  // namespace tritond::compiler::nvidia
