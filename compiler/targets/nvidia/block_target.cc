// SPDX-License-Identifier: Apache-2.0
// How many blocks of a kernel a multiprocessor should hold at least. The assembler gives a thread as many registers as
// that leaves. Without it, the assembler orders instructions for few registers, so that as many warps as possible fit.
// It starts a load or a shuffle of a chain when the one before has arrived. That is right where many warps are there to
// wait in turn, and wrong in two cases:
//
// - Blocks of one warp. A multiprocessor holds 64 warps, but no more than 32 blocks, so half of the places are empty
//   however few registers a thread takes. It may take all.
// - Loops that load and do little else. In each iteration a warp waits for what it has loaded. More loads in flight
//   help each warp, more warps help as a whole: 32 warps with 64 registers load as much at once as 64 warps with 32,
//   and wait half as often. Where the warps of a block wait for each other in each iteration, 48 warps with 40
//   registers are better. That holds only while the registers are enough, so the words that are live are counted first.
//   It does not hold for loads at loaded addresses: these follow one another whatever registers there are. Blocks of
//   many warps come and go in large portions: one block less is more than it brings.
//
// Kernels that use the matrix units have the registers that their tiles need. Where such a kernel computes in a loop, a
// second block may still be worth a try. For all other kernels, as many warps as a multiprocessor holds may be worth
// one (second_assembly.cc). Where a limit of registers is given, it says how many there are.
#include "absl/strings/str_cat.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/second_assembly.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

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
constexpr unsigned kGlobalAddressSpace = 1;

llvm::StringRef AssemblyOf(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  auto* assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
  return assembly ? assembly->getAsmString() : llvm::StringRef();
}

bool IsGlobalLoad(const llvm::Instruction& instruction) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return load->getPointerAddressSpace() == kGlobalAddressSpace;
  return AssemblyOf(instruction).contains("ld.global");
}

bool IsMatrixInstruction(const llvm::Instruction& instruction) {
  auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return AssemblyOf(instruction).contains("mma") ||
         (intrinsic && intrinsic->getCalledFunction()->getName().contains("mma"));
}

// Whether `load` depends on what another load of `loop` has read.
bool Follows(const llvm::Instruction& load, const llvm::Loop& loop) {
  llvm::SmallVector<const llvm::Instruction*> pending{&load};
  llvm::DenseSet<const llvm::Instruction*> seen{&load};
  while (!pending.empty())
    for (const llvm::Value* operand : pending.pop_back_val()->operands()) {
      auto* made = llvm::dyn_cast<llvm::Instruction>(operand);
      if (!made || !loop.contains(made) || !seen.insert(made).second) continue;
      if (IsGlobalLoad(*made)) return true;
      pending.push_back(made);
    }
  return false;
}

bool IsBarrier(const llvm::Instruction& instruction) {
  auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return intrinsic && intrinsic->getCalledFunction()->getName().starts_with("llvm.nvvm.barrier");
}

// What the loops that load have in them.
struct LoadingLoops {
  bool loads = false;     // and no load waits for another one
  bool barriers = false;  // where warps wait for each other
};

LoadingLoops FindLoadingLoops(llvm::Function& function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  LoadingLoops found;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const llvm::Loop* loop = loops.getLoopFor(instruction.getParent());
    if (!loop) continue;
    found.barriers |= IsBarrier(instruction);
    if (!IsGlobalLoad(instruction)) continue;
    if (Follows(instruction, *loop)) return {};
    found.loads = true;
  }
  return found;
}

bool MultipliesInLoops(llvm::Function& function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  return llvm::any_of(llvm::instructions(function), [&](const llvm::Instruction& instruction) {
    return IsMatrixInstruction(instruction) && loops.getLoopFor(instruction.getParent());
  });
}

// Warps that a multiprocessor should hold of a kernel whose loops load and do little else; 0: it is none.
int StreamWarps(llvm::Function& function) {
  if (llvm::any_of(llvm::instructions(function), IsMatrixInstruction)) return 0;
  const LoadingLoops loops = FindLoadingLoops(function);
  if (!loops.loads) return 0;
  const int64_t words = MaxLiveWords(function);
  if (loops.barriers) return words <= kMostWaitingStreamWords ? kWaitingStreamWarps : 0;
  return words <= kMostStreamWords ? kStreamWarps : 0;
}

}  // namespace

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
  if (!kernel.hasFnAttribute(kSharedBytesAttr) || num_warps == 1) return;
  if (MultipliesInLoops(kernel))
    kernel.addFnAttr(kMoreBlocksAttr, kSecondBlock);
  else if (llvm::none_of(llvm::instructions(kernel), IsMatrixInstruction))
    kernel.addFnAttr(kMoreBlocksAttr, kAllWarps);
}

}  // namespace tritond::compiler::nvidia
