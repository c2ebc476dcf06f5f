// SPDX-License-Identifier: Apache-2.0
// Sines and cosines of the device library take a loop over an array in memory for angles of 105615 and more. Many
// programs make angles of integers: the twiddles of a Fourier transform of indices, normal numbers of 32 random bits.
// The integer's range then says that the angle stays small:
//
//   %f = sitofp i32 %bits to float
//   %u = fmul float %f, 4.656613e-10                        // at most 1
//   %x = fmul float %u, 6.283185e+00
//   %m = call float @llvm.nvvm.fabs.f32(float %x)
//   %c = fcmp oge float %m, 1.056150e+05             ->     false
//
// Nothing that has a bound here is NaN. Each operation may round its bound up. Only comparisons that branches ask
// count: others cost little, and the assembler's registers change with all that is left out.
#include "compiler/targets/nvidia/decide_magnitudes.h"

#include <cmath>
#include <optional>

#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/WithCache.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::Instruction;
using llvm::Value;

// Steps back from a comparison.
constexpr int kMostSteps = 8;
// More than an operation on f32 may add by rounding; and what none of them is near to overflow with.
constexpr double kRoundedUp = 1 + 0x1p-22, kGreatest = 0x1p100;

double GreatestOf(const Instruction& cast) {
  const bool is_signed = cast.getOpcode() == Instruction::SIToFP;
  const llvm::ConstantRange range = llvm::computeConstantRangeIncludingKnownBits(
      llvm::WithCache<const Value*>(cast.getOperand(0)), is_signed, llvm::SimplifyQuery(cast.getDataLayout(), &cast));
  if (range.isEmptySet()) return 0;
  if (!is_signed) return range.getUnsignedMax().roundToDouble(/*isSigned=*/false);
  return std::max(std::abs(range.getSignedMin().roundToDouble(true)),
                  std::abs(range.getSignedMax().roundToDouble(true)));
}

std::optional<double> MagnitudeOf(const Value* value, int steps);

// Of an operation on numbers with bounds.
std::optional<double> BoundOf(const Instruction& op, int steps) {
  const auto of = [&](unsigned operand) { return MagnitudeOf(op.getOperand(operand), steps); };
  switch (op.getOpcode()) {
    case Instruction::SIToFP:
    case Instruction::UIToFP:
      return GreatestOf(op);
    case Instruction::FNeg:
    case Instruction::FPExt:
      return of(0);
    case Instruction::FMul:
    case Instruction::FAdd:
    case Instruction::FSub: {
      const auto a = of(0), b = a ? of(1) : std::nullopt;
      if (!b) return std::nullopt;
      return op.getOpcode() == Instruction::FMul ? *a * *b : *a + *b;
    }
    case Instruction::Select: {
      const auto a = of(1), b = a ? of(2) : std::nullopt;
      return b ? std::optional(std::max(*a, *b)) : std::nullopt;
    }
    default:
      break;
  }
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
  const auto id = call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic;
  const bool is_magnitude =
      id == llvm::Intrinsic::fabs || id == llvm::Intrinsic::nvvm_fabs || id == llvm::Intrinsic::nvvm_fabs_ftz;
  return is_magnitude ? of(0) : std::nullopt;
}

// What no element of `value`, a number, is greater than; nor less than its negative.
std::optional<double> MagnitudeOf(const Value* value, int steps) {
  if (!value->getType()->isFloatTy() && !value->getType()->isDoubleTy()) return std::nullopt;
  std::optional<double> bound;
  if (auto* number = llvm::dyn_cast<llvm::ConstantFP>(value); number && number->getValueAPF().isFinite())
    bound = std::abs(number->getValueAPF().convertToDouble());
  if (auto* op = llvm::dyn_cast<Instruction>(value); op && steps > 0) bound = BoundOf(*op, steps - 1);
  if (!bound || *bound > kGreatest) return std::nullopt;
  return *bound * kRoundedUp;
}

// What `compare` says of all numbers, if that is known.
std::optional<bool> Decided(const llvm::FCmpInst& compare) {
  auto* constant = llvm::dyn_cast<llvm::ConstantFP>(compare.getOperand(1));
  if (!constant || constant->isNaN() || constant->isZero()) return std::nullopt;
  const std::optional<double> bound = MagnitudeOf(compare.getOperand(0), kMostSteps);
  if (!bound || *bound >= std::abs(constant->getValueAPF().convertToDouble())) return std::nullopt;
  return (compare.getPredicate() & (constant->isNegative() ? llvm::FCmpInst::FCMP_OGT : llvm::FCmpInst::FCMP_OLT)) != 0;
}

}  // namespace

llvm::PreservedAnalyses DecideMagnitudes::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (Instruction& op : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* compare = llvm::dyn_cast<llvm::FCmpInst>(&op);
    if (!compare || !llvm::any_of(compare->users(), llvm::IsaPred<llvm::BranchInst>)) continue;
    const std::optional<bool> decided = Decided(*compare);
    if (!decided) continue;
    compare->replaceAllUsesWith(llvm::ConstantInt::getBool(compare->getType(), *decided));
    compare->eraseFromParent();
    changed = true;
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace tritond::compiler::nvidia
