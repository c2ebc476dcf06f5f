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
// divisions of 64 bits, which it calls: short ones are unrolled here, so that loads of all iterations start at once. So
// are nests of such loops, as those over the taps of a convolution: masks of all taps then leave the loop around them.
// The assembler unrolls what is left of a longer nest, so its outer loops stay.
//
// Loops that divide their counter again and again, as convolutions do that count channels and taps as one, are unrolled
// even with products. Quotients are constants then, and so is what is made of them alone. Masks and addresses of
// different iterations are equal, or differ by constants:
//
//   loop i < 5: 32 times (i * 32 + j) / 7, % 7; …; wgmma    ->    5 times …; wgmma
//
// Loops of wgmma get a copy of their body for each slot of their buffers (unroll_slots.h).
#include "compiler/targets/nvidia/unroll_counted.h"

#include <numeric>

#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/unroll_slots.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/InstructionSimplify.h"
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
#include "llvm/Transforms/Utils/LoopRotationUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

namespace tritond::compiler::nvidia {
namespace {

// 32 KiB of code.
constexpr unsigned kMostInstructions = 2048;
// Of a loop that the assembler would unroll but for its masks or calls.
constexpr unsigned kMostInSteps = 512;
// Of a longer loop it makes this many copies, if they are short.
constexpr unsigned kMostCopies = 4, kMostInCopies = 256;

bool IsMaskedLoad(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  auto* assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
  return assembly && llvm::StringRef(assembly->getAsmString()).contains("ld.global");
}

// Of loops that divide counters often, without what depends on these alone. Of the rest half is equal in all copies.
constexpr unsigned kMostWithDivisions = 4 * kMostInstructions;
// Instructions of such a loop for each division.
constexpr unsigned kMostForDivision = 16;

// The instructions of a loop that depend on constants and on carried numbers that are constants at first.
llvm::SmallPtrSet<const llvm::Instruction*, 16> DecidedByCounters(const llvm::Loop& loop) {
  llvm::SmallPtrSet<const llvm::Instruction*, 16> decided;
  auto is_decided = [&](const llvm::Value* value) {
    auto* made = llvm::dyn_cast<llvm::Instruction>(value);
    return made ? decided.contains(made) : llvm::isa<llvm::ConstantInt>(value);
  };
  llvm::SmallVector<const llvm::PHINode*> carried;
  for (const llvm::PHINode& phi : loop.getHeader()->phis())
    if (llvm::isa<llvm::ConstantInt>(phi.getIncomingValueForBlock(loop.getLoopPreheader()))) carried.push_back(&phi);
  for (bool holds = false; !holds;) {
    decided = {carried.begin(), carried.end()};
    for (size_t before = 0; before != decided.size();) {
      before = decided.size();
      for (const llvm::BasicBlock* block : loop.blocks())
        for (const llvm::Instruction& i : *block)
          if (llvm::isa<llvm::BinaryOperator, llvm::CmpInst, llvm::SelectInst, llvm::CastInst>(i) &&
              llvm::all_of(i.operands(), is_decided))
            decided.insert(&i);
    }
    const size_t before = carried.size();
    llvm::erase_if(carried, [&](const llvm::PHINode* phi) {
      return !is_decided(phi->getIncomingValueForBlock(loop.getLoopLatch()));
    });
    holds = before == carried.size();
  }
  return decided;
}

// Not those of accumulators that threads change (keep_loops.cc).
bool MayCopyProducts(const llvm::Loop& loop) {
  const bool has_wgmma =
      llvm::any_of(loop.blocks(), [](const llvm::BasicBlock* block) { return llvm::any_of(*block, IsWgmma); });
  return !has_wgmma || OnlyAccumulates(loop);
}

// The size of a loop that divides its counter often, without what depends on that alone. 0: it does not.
unsigned SizeWithoutDivisions(const llvm::Loop& loop) {
  if (!loop.getLoopPreheader() || !loop.getLoopLatch()) return 0;
  const llvm::SmallPtrSet<const llvm::Instruction*, 16> decided = DecidedByCounters(loop);
  unsigned size = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) size += block->size();
  const auto divisions = static_cast<unsigned>(llvm::count_if(decided, [](auto* i) { return i->isIntDivRem(); }));
  return divisions * kMostForDivision >= size ? size - decided.size() : 0;
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
    const std::optional<LoopOfSlots> of_slots = FindLoopOfSlots(loops_, evolution_, function, kMostInstructions);
    // Inner loops first: where all of them are unrolled, the loop around them is an innermost one.
    const auto outer_first = loops_.getLoopsInPreorder();
    llvm::DenseSet<llvm::Loop*> innermost;
    for (llvm::Loop* loop : outer_first)
      if (loop->isInnermost()) innermost.insert(loop);
    for (llvm::Loop* loop : llvm::reverse(outer_first)) {
      if (of_slots && of_slots->loop == loop) {
        UnrollBy(loop, of_slots->slots);
        changed = true;
        function.addFnAttr("nvvm.minctasm", llvm::utostr(of_slots->blocks));
      } else if (innermost.contains(loop)) {
        changed |= Unroll(loop, /*times=*/1) || Copy(loop);
      } else if (loop->isInnermost()) {
        changed |= Unroll(loop, IterationsAround(*loop));
      }
    }
    return changed;
  }

 private:
  // Of all loops of known length around `loop`.
  unsigned IterationsAround(const llvm::Loop& loop) {
    unsigned times = 1;
    for (llvm::Loop* around = loop.getParentLoop(); around; around = around->getParentLoop()) {
      const unsigned iterations = evolution_.getSmallConstantTripCount(around);
      if (iterations == 0 || times > kMostInstructions) break;
      times *= std::min(iterations, kMostInstructions);
    }
    return times;
  }

  // `times`: how often there will be a copy of it.
  bool Unroll(llvm::Loop* loop, unsigned times) {
    const unsigned iterations = evolution_.getSmallConstantTripCount(loop);
    if (iterations < 2) return false;
    unsigned size = MayCopyProducts(*loop) ? SizeWithoutDivisions(*loop) : 0, most = kMostWithDivisions;
    if (size == 0) {
      size = SizeOf(*loop);
      most = kMostInstructions;
      if (size > kMostInstructions) return false;
      if (CountsInSteps(*loop)) {
        if (!AssemblerKeeps(*loop)) return false;
        most = kMostInSteps;
      }
    }
    if (iterations * size > most / times) return false;
    UnrollBy(loop, iterations);
    return true;
  }

  // Makes as many copies as the assembler does of a loop without masks.
  bool Copy(llvm::Loop* loop) {
    const unsigned size = SizeOf(*loop);
    if (evolution_.getSmallConstantTripCount(loop) < 2 || 2 * size > kMostInCopies) return false;
    if (!CountsInSteps(*loop) || !AssemblerKeeps(*loop)) return false;
    const llvm::SimplifyQuery query(loop->getHeader()->getDataLayout());
    // Else the condition at its beginning counts as an iteration more.
    const bool rotated = llvm::LoopRotation(loop, &loops_, &costs_, &assumptions_, &dominators_, &evolution_, nullptr,
                                            query, /*RotationOnly=*/true, /*Threshold=*/size, /*IsUtilMode=*/false);
    unsigned copies = std::gcd(evolution_.getSmallConstantTripCount(loop), kMostCopies);
    while (copies > 1 && copies * size > kMostInCopies) copies /= 2;
    if (copies > 1) UnrollBy(loop, copies);
    return rotated || copies > 1;
  }

  void UnrollBy(llvm::Loop* loop, unsigned count) {
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
