// SPDX-License-Identifier: Apache-2.0
// Gives wgmma a copy of operands that a loop does not change, in each iteration. Where another product of the loop has
// its operand a in registers, too, ptxas may make that one in the registers of the first, and read it there in the next
// iteration (seen in 13.0, in attention whose queries wait in registers):
//
//   q = ldmatrix; q = q * s                        q = ldmatrix; q = q * s
//   loop: s = wgmma q k                            loop: r = q, by a permutation of bytes that changes nothing
//         p = exp(s)            (in q's    ->            s = wgmma r k
//         o += wgmma p v         registers)              p = exp(s);  o += wgmma p v
//
// That is done where the loop waits for all products after it, so that none is in flight which reads the last copy.
//
// What one product takes at the end of an iteration, and another one in the next, is copied for this one, too. Else the
// check of the assembler's code (lost_operands.cc) could not tell it from operands that are lost.
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/disguise.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

constexpr llvm::StringLiteral kWait = "wgmma.wait_group.sync.aligned 0;";

llvm::InlineAsm* AssemblyOf(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
}

bool WaitsForAll(const llvm::Instruction& instruction) {
  const llvm::InlineAsm* assembly = AssemblyOf(instruction);
  return assembly && llvm::StringRef(assembly->getAsmString()).contains(kWait);
}

// The arguments that are words of operand a: descriptors have 64 bits, and sums share registers with results.
llvm::SmallVector<unsigned> WordsOfA(const llvm::CallInst& product) {
  llvm::SmallVector<unsigned> words;
  unsigned at = 0;
  for (const llvm::InlineAsm::ConstraintInfo& each : AssemblyOf(product)->ParseConstraints()) {
    if (each.Type != llvm::InlineAsm::isInput) continue;
    if (each.Codes.front() == "r" && product.getArgOperand(at)->getType()->isIntegerTy(32)) words.push_back(at);
    ++at;
  }
  return words;
}

const llvm::Value* WithoutCasts(const llvm::Value* value) {
  while (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value)) value = cast->getOperand(0);
  return value;
}

class Renewer final {
 public:
  explicit Renewer(llvm::Function& function) : dominators_(function), loops_(dominators_) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (IsWgmma(instruction)) products_.push_back(llvm::cast<llvm::CallInst>(&instruction));
      if (WaitsForAll(instruction)) waits_.push_back(&instruction);
    }
  }

  void Run() {
    llvm::SmallVector<llvm::CallInst*> renewed;
    for (llvm::CallInst* product : products_)
      if (IsAtRisk(*product) || IsTakenLater(*product)) renewed.push_back(product);
    for (llvm::CallInst* product : renewed) Renew(*product);
  }

 private:
  static bool IsMadeIn(const llvm::Loop& loop, const llvm::CallInst& product) {
    return llvm::any_of(WordsOfA(product), [&](unsigned word) {
      auto* made = llvm::dyn_cast<llvm::Instruction>(product.getArgOperand(word));
      return made && loop.contains(made);
    });
  }

  bool IsAtRisk(const llvm::CallInst& product) const {
    const llvm::Loop* outer = nullptr;
    for (const llvm::Loop* loop = loops_.getLoopFor(product.getParent()); loop; loop = loop->getParentLoop())
      if (!IsMadeIn(*loop, product)) outer = loop;
    if (!outer || WordsOfA(product).empty()) return false;
    const bool others_are_made = llvm::any_of(products_, [&](const llvm::CallInst* other) {
      return other != &product && outer->contains(other) && IsMadeIn(*outer, *other);
    });
    const llvm::BasicBlock* latch = loops_.getLoopFor(product.getParent())->getLoopLatch();
    return others_are_made && latch && llvm::any_of(waits_, [&](const llvm::Instruction* wait) {
             return (wait == &product || dominators_.dominates(&product, wait)) &&
                    dominators_.dominates(wait, latch->getTerminator());
           });
  }

  // Whether another product of a loop takes in an iteration what this one takes in the next.
  bool IsTakenLater(const llvm::CallInst& product) const {
    return llvm::any_of(WordsOfA(product), [&](unsigned word) {
      auto* carried = llvm::dyn_cast<llvm::PHINode>(WithoutCasts(product.getArgOperand(word)));
      const llvm::Loop* loop = carried ? loops_.getLoopFor(carried->getParent()) : nullptr;
      if (!loop || loop->getHeader() != carried->getParent() || !loop->getLoopLatch()) return false;
      const llvm::Value* next = WithoutCasts(carried->getIncomingValueForBlock(loop->getLoopLatch()));
      return llvm::any_of(products_, [&](const llvm::CallInst* other) {
        return other != &product && loop->contains(other) && llvm::any_of(WordsOfA(*other), [&](unsigned of_other) {
                 return WithoutCasts(other->getArgOperand(of_other)) == next;
               });
      });
    });
  }

  static void Renew(llvm::CallInst& product) {
    llvm::IRBuilder<> b(&product);
    for (const unsigned word : WordsOfA(product))
      product.setArgOperand(word, DisguiseWord(b, product.getArgOperand(word), /*stays=*/true));
  }

  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::SmallVector<llvm::CallInst*> products_;
  llvm::SmallVector<llvm::Instruction*> waits_;
};

}  // namespace

void RenewOperands(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) Renewer(function).Run();
}

}  // namespace tritond::compiler::nvidia
