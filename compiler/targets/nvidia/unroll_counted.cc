// SPDX-License-Identifier: Apache-2.0
// Unrolls loops that have a known number of iterations but do not count in equal steps, as a binary search in a table
// of known size:
//
//   n = 1000                                         n = 1000: body; n = 500: body; …; n = 1: body
//   loop: body(n); n = n / 2; if n > 0: loop    ->
//
// All that depends on n alone is constant then. Ranges of other values follow, and decide masks: a search that begins
// in the table does not leave it. The assembler unrolls loops that count in equal steps by itself, and knows better how
// often. Of others it does not know how many iterations they have. Nor does it unroll loops with masked loads, or with
// divisions of 64 bits, which it calls: short ones are unrolled here, so that loads of all iterations start at once.
//
// A loop of wgmma has as many copies of its body as its buffers have slots, so that addresses and descriptors of slots
// are constants:
//
//   for i < 48: { copy to slots[s]; s = s + 1 == 5 ? 0 : s + 1; wgmma slots[(s + 1) % 5] }
//     ->  for i < 45, by 5: { copy to slots[3]; wgmma slots[0]; …; copy to slots[2]; wgmma slots[4] }  and three more
//
// A dozen instructions that wait for one another stand between the barrier of an iteration and its products otherwise.
// The assembler computes addresses of several iterations ahead then, and so takes more registers. That is done where
// shared memory, not registers, decides how many blocks a multiprocessor holds, and the text asks for that many. Loops
// whose accumulators threads change are left alone (keep_loops.cc).
#include "compiler/targets/nvidia/unroll_counted.h"

#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/nvidia/architecture.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/register_pressure.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"
#include "llvm/Transforms/Scalar/SCCP.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

namespace tritond::compiler::nvidia {
namespace {

// 32 KiB of code.
constexpr unsigned kMostInstructions = 2048;
// Of a loop that the assembler would unroll but for its masks or calls.
constexpr unsigned kMostInSteps = 512;

bool IsMaskedLoad(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  auto* assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
  return assembly && llvm::StringRef(assembly->getAsmString()).contains("ld.global");
}

// Slots that a buffer of a loop has at most.
constexpr unsigned kMostSlots = 8;
// Of a multiprocessor of sm_90, the only one that has wgmma.
constexpr unsigned kMultiprocessorSharedBytes = 228 * 1024, kMultiprocessorThreads = 2048;
// Of a thread in a loop of products, beside the values of LLVM's.
constexpr int64_t kOtherRegisters = 16;
// Operations of a number that goes round.
constexpr int kMostRoundOperations = 8;

// What `value` is where `phi` is `number`, if it depends on nothing else; or null.
llvm::Constant* ValueAt(llvm::Value* value, const llvm::PHINode& phi, llvm::Constant* number, int& operations) {
  if (value == &phi) return number;
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(value)) return constant;
  auto* made = llvm::dyn_cast<llvm::Instruction>(value);
  if (!made || !llvm::isa<llvm::BinaryOperator, llvm::ICmpInst, llvm::SelectInst>(made) || operations-- == 0)
    return nullptr;
  llvm::SmallVector<llvm::Constant*> operands;
  for (llvm::Value* operand : made->operands()) {
    operands.push_back(ValueAt(operand, phi, number, operations));
    if (!operands.back()) return nullptr;
  }
  return llvm::ConstantFoldInstOperands(made, operands, made->getDataLayout());
}

// After how many iterations the number that a loop carries is what it was at first: 5 for a slot of five. 0: it does
// not go round, or depends on others.
unsigned RoundOf(const llvm::PHINode& phi, const llvm::Loop& loop) {
  auto* first = llvm::dyn_cast<llvm::ConstantInt>(phi.getIncomingValueForBlock(loop.getLoopPreheader()));
  if (!first) return 0;
  llvm::Constant* number = first;
  for (unsigned iterations = 1; iterations <= kMostSlots; ++iterations) {
    int operations = kMostRoundOperations;
    number = ValueAt(phi.getIncomingValueForBlock(loop.getLoopLatch()), phi, number, operations);
    if (!number || number == first) return number ? iterations : 0;
  }
  return 0;
}

// What names a register, as parts of accumulators do, takes no instruction.
bool IsInstruction(const llvm::Instruction& i) { return !llvm::isa<llvm::PHINode, llvm::ExtractValueInst>(i); }

// Whether all products of wgmma in the loop add to what others have made in it, which nothing else changes.
bool OnlyAccumulates(const llvm::Loop& loop) {
  auto is_product = [](const llvm::Value* value) {
    auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(value);
    auto* made = llvm::dyn_cast<llvm::Instruction>(part ? part->getAggregateOperand() : value);
    return made && IsWgmma(*made);
  };
  auto is_sum = [&](const llvm::Value* value) {
    auto* phi = llvm::dyn_cast<llvm::PHINode>(value);
    if (!phi) return is_product(value);
    return phi->getParent() == loop.getHeader() && is_product(phi->getIncomingValueForBlock(loop.getLoopLatch()));
  };
  bool found = false;
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block) {
      if (!IsWgmma(instruction)) continue;
      found = true;
      auto& product = llvm::cast<llvm::CallInst>(instruction);
      const auto* text = llvm::cast<llvm::InlineAsm>(product.getCalledOperand());
      unsigned at = 0;
      for (const llvm::InlineAsm::ConstraintInfo& each : text->ParseConstraints()) {
        if (each.Type != llvm::InlineAsm::isInput) continue;
        const llvm::Value* operand = product.getArgOperand(at++);
        if (llvm::isDigit(each.Codes.front().front()) && !is_sum(operand)) return false;
      }
    }
  return found;
}

// Blocks of the kernel for which a multiprocessor has shared memory; 0: not known.
unsigned BlocksOf(const llvm::Function& kernel) {
  unsigned threads = 0, shared_bytes = 0;
  kernel.getFnAttribute("nvvm.reqntid").getValueAsString().getAsInteger(10, threads);
  kernel.getFnAttribute(kSharedBytesAttr).getValueAsString().getAsInteger(10, shared_bytes);
  if (threads == 0 || shared_bytes == 0 || kernel.hasFnAttribute("nvvm.maxnreg")) return 0;
  const auto reserved = static_cast<unsigned>(kReservedSharedBytes);
  return std::min(kMultiprocessorSharedBytes / (shared_bytes + reserved), kMultiprocessorThreads / threads);
}

// Whether the loop of products has registers enough where a multiprocessor holds so many blocks.
bool HasRoom(const llvm::Loop& loop, unsigned blocks) {
  const llvm::Function& kernel = *loop.getHeader()->getParent();
  const LiveWords live(kernel);
  int64_t most = 0, sums = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    most = std::max(most, live.MostIn(*block));
    for (const llvm::Instruction& i : *block)
      if (IsWgmma(i)) sums = std::max<int64_t>(sums, i.getDataLayout().getTypeSizeInBits(i.getType()) / 32);
  }
  // The accumulators before a product and those after it are the same registers.
  return most - sums + kOtherRegisters <= RegistersOf(kernel, blocks);
}

// Whether the assembler does not unroll loops with it.
bool KeepsLoops(const llvm::Instruction& instruction) { return IsMaskedLoad(instruction) || DividesLong(instruction); }

class Unroller final {
 public:
  Unroller(llvm::Function& function, llvm::FunctionAnalysisManager& analyses)
      : loops_(analyses.getResult<llvm::LoopAnalysis>(function)),
        evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(function)),
        dominators_(analyses.getResult<llvm::DominatorTreeAnalysis>(function)),
        assumptions_(analyses.getResult<llvm::AssumptionAnalysis>(function)),
        costs_(analyses.getResult<llvm::TargetIRAnalysis>(function)),
        remarks_(analyses.getResult<llvm::OptimizationRemarkEmitterAnalysis>(function)) {}

  bool Run(llvm::Function& function) {
    bool changed = false;
    const unsigned blocks = BlocksOf(function);
    // What several loops of products need together is not known.
    const bool is_only_one =
        llvm::count_if(loops_.getLoopsInPreorder(), [](llvm::Loop* loop) { return OnlyAccumulates(*loop); }) == 1;
    // An unrolled loop leaves the others as they are.
    for (llvm::Loop* loop : loops_.getLoopsInPreorder()) {
      if (const unsigned slots = blocks > 0 && is_only_one ? SlotsOf(*loop) : 0; slots > 1 && HasRoom(*loop, blocks)) {
        Unroll(loop, slots);
        changed = true;
        function.addFnAttr("nvvm.minctasm", llvm::utostr(blocks));
      } else if (loop->isInnermost()) {
        changed |= Unroll(loop);
      }
    }
    return changed;
  }

 private:
  bool Unroll(llvm::Loop* loop) {
    const unsigned size = SizeOf(*loop);
    if (size > kMostInstructions) return false;
    unsigned most = kMostInstructions;
    if (CountsInSteps(*loop)) {
      if (!AssemblerKeeps(*loop)) return false;
      most = kMostInSteps;
    }
    const unsigned iterations = evolution_.getSmallConstantTripCount(loop);
    if (iterations < 2 || iterations * size > most) return false;
    Unroll(loop, iterations);
    return true;
  }

  // Copies of the body that a loop of products should have; at most 1: it stays as it is.
  unsigned SlotsOf(const llvm::Loop& loop) {
    if (!loop.getLoopPreheader() || !loop.getLoopLatch() || !OnlyAccumulates(loop)) return 0;
    unsigned size = 0, slots = 0;
    for (const llvm::BasicBlock* block : loop.blocks()) size += llvm::count_if(*block, IsInstruction);
    for (const llvm::PHINode& phi : loop.getHeader()->phis()) slots = std::max(slots, RoundOf(phi, loop));
    slots = std::min(slots, evolution_.getSmallConstantTripCount(&loop));
    return slots * size <= kMostInstructions ? slots : 0;
  }

  void Unroll(llvm::Loop* loop, unsigned count) {
    llvm::simplifyLoop(loop, &dominators_, &loops_, &evolution_, &assumptions_, nullptr, /*PreserveLCSSA=*/false);
    llvm::formLCSSARecursively(*loop, dominators_, &loops_, &evolution_);
    llvm::UnrollLoopOptions options{};
    options.Count = count;
    options.ForgetAllSCEV = true;
    llvm::UnrollLoop(loop, options, &loops_, &evolution_, &dominators_, &assumptions_, &costs_, &remarks_,
                     /*PreserveLCSSA=*/true);
  }

  // In instructions; too many where it has one of the matrix units.
  static unsigned SizeOf(const llvm::Loop& loop) {
    unsigned size = 0;
    for (const llvm::BasicBlock* block : loop.blocks()) {
      size += block->size();
      if (llvm::any_of(*block, IsMatrixInstruction)) return kMostInstructions + 1;
    }
    return size;
  }

  static bool AssemblerKeeps(const llvm::Loop& loop) {
    return llvm::any_of(loop.blocks(), [](const llvm::BasicBlock* block) { return llvm::any_of(*block, KeepsLoops); });
  }

  // Whether it ends by one condition, of what grows in equal steps. Also where it ends in another way.
  bool CountsInSteps(const llvm::Loop& loop) {
    llvm::BasicBlock* exiting = loop.getExitingBlock();
    auto* branch = exiting ? llvm::dyn_cast<llvm::BranchInst>(exiting->getTerminator()) : nullptr;
    auto* comparison = branch ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
    return !comparison || llvm::any_of(comparison->operands(), [&](llvm::Value* operand) {
      return evolution_.isSCEVable(operand->getType()) &&
             llvm::SCEVExprContains(evolution_.getSCEV(operand),
                                    [](const llvm::SCEV* part) { return llvm::isa<llvm::SCEVAddRecExpr>(part); });
    });
  }

  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
  llvm::DominatorTree& dominators_;
  llvm::AssumptionCache& assumptions_;
  llvm::TargetTransformInfo& costs_;
  llvm::OptimizationRemarkEmitter& remarks_;
};

}  // namespace

llvm::PreservedAnalyses UnrollCounted::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  if (!Unroller(function, analyses).Run(function)) return llvm::PreservedAnalyses::all();
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SCCPPass());
  passes.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setVerifyFixpoint(false)));
  passes.addPass(llvm::CorrelatedValuePropagationPass());
  passes.run(function, analyses);
  return llvm::PreservedAnalyses::none();
}

}  // namespace tritond::compiler::nvidia
