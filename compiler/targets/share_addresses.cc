// SPDX-License-Identifier: Apache-2.0
// Addresses share all but a number. Each is looked up once, so that thousands of them cost little.
//
//   %a = gep half, %p, sext(%i * %stride + %j)
//   %b = gep half, %p, sext(%i * %stride + %j + 8)      ->   %b = gep i8, %a, 16
//
// LLVM's own pass, straight-line strength reduction, does not run (assembly_text.cc). It compares each address with
// each. And it takes the step above where the sum of 32 bits may overflow, too (LLVM 22, mended in 23).
#include "compiler/targets/share_addresses.h"

#include <map>

#include "compiler/targets/address_terms.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"

namespace tritond::compiler {
namespace {

// Calls `visit` for each address that is computed, in an order in which the dominators of a block come before it.
void ForEachAddress(const llvm::DominatorTree& dominators, llvm::function_ref<void(llvm::GetElementPtrInst&)> visit) {
  for (const llvm::DomTreeNode* node : llvm::depth_first(dominators.getRootNode()))
    for (llvm::Instruction& op : llvm::make_early_inc_range(*node->getBlock()))
      if (auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&op); gep && !gep->getType()->isVectorTy()) visit(*gep);
}

// The last of `entries` whose address dominates `gep`; null: none. What does not dominate it is of no use for those
// that follow, either. An entry of `gep`'s block was visited before `gep`, so it stands before it. LLVM must not be
// asked for their order: after each address that is replaced it counts all instructions of the block again.
template <typename Entry>
Entry* Dominating(llvm::SmallVector<Entry, 1>& entries, const llvm::GetElementPtrInst& gep,
                  const llvm::DominatorTree& dominators) {
  while (!entries.empty() && !dominators.dominates(entries.back().gep->getParent(), gep.getParent()))
    entries.pop_back();
  return entries.empty() ? nullptr : &entries.back();
}

llvm::GetElementPtrInst* Replace(llvm::GetElementPtrInst* gep, llvm::Value* pointer, llvm::Value* bytes) {
  llvm::IRBuilder<> b(gep);
  llvm::GetElementPtrInst* fresh = b.Insert(llvm::GetElementPtrInst::Create(b.getInt8Ty(), pointer, bytes));
  fresh->takeName(gep);
  gep->replaceAllUsesWith(fresh);
  gep->eraseFromParent();
  return fresh;
}

void ShareAddresses(llvm::Function& function, llvm::ScalarEvolution& evolution, const llvm::DominatorTree& dominators) {
  const llvm::DataLayout& layout = function.getDataLayout();
  struct Known {
    llvm::GetElementPtrInst* gep;
    uint64_t number;
  };
  std::map<std::pair<llvm::Value*, Address::Terms>, llvm::SmallVector<Known, 1>> known;
  ForEachAddress(dominators, [&](llvm::GetElementPtrInst& gep) {
    const std::optional<Address> address = TermsOf(gep, evolution);
    if (!address || address->terms.empty()) return;
    llvm::SmallVector<Known, 1>& entries = known[{address->pointer, address->terms}];
    const Known* base = Dominating(entries, gep, dominators);
    if (!base) {
      entries.push_back({&gep, address->number});
      return;
    }
    evolution.forgetValue(&gep);
    base->gep->setNoWrapFlags(llvm::GEPNoWrapFlags::none());  // what holds for one address need not hold for both
    const llvm::APInt bytes(layout.getIndexTypeSizeInBits(gep.getType()), address->number - base->number,
                            /*isSigned=*/true, /*implicitTrunc=*/true);
    Replace(&gep, base->gep, llvm::ConstantInt::get(gep.getContext(), bytes));
  });
}

// Whether a loop lies between the two, in which nothing of `before` need live.
bool LoopBetween(const llvm::Instruction& before, const llvm::Instruction& after, const llvm::LoopInfo& loops,
                 const llvm::DominatorTree& dominators) {
  return llvm::any_of(loops.getLoopsInPreorder(), [&](const llvm::Loop* loop) {
    const llvm::BasicBlock* header = loop->getHeader();
    return !loop->contains(&before) && !loop->contains(&after) && dominators.dominates(before.getParent(), header) &&
           dominators.dominates(header, after.getParent());
  });
}

void ShareOffsets(llvm::Function& function, const llvm::DominatorTree& dominators) {
  const llvm::DataLayout& layout = function.getDataLayout();
  const llvm::LoopInfo loops(dominators);
  struct Known {
    llvm::GetElementPtrInst* gep;  // the first one
    llvm::Value* offset;           // null while there is no other
  };
  std::map<std::pair<llvm::Value*, uint64_t>, llvm::SmallVector<Known, 1>> known;
  ForEachAddress(dominators, [&](llvm::GetElementPtrInst& gep) {
    llvm::Value* index = gep.getOperand(1);
    const uint64_t bytes = layout.getTypeAllocSize(gep.getSourceElementType());
    if (gep.getNumIndices() != 1 || bytes <= 1 || llvm::isa<llvm::Constant>(index) ||
        index->getType() != layout.getIndexType(gep.getType()))
      return;
    llvm::SmallVector<Known, 1>& entries = known[{index, bytes}];
    Known* first = Dominating(entries, gep, dominators);
    if (!first || LoopBetween(*first->gep, gep, loops, dominators)) {
      entries.push_back({&gep, nullptr});
      return;
    }
    if (!first->offset) {
      llvm::IRBuilder<> b(first->gep);
      first->offset = llvm::isPowerOf2_64(bytes) ? b.CreateShl(index, llvm::Log2_64(bytes))
                                                 : b.CreateMul(index, llvm::ConstantInt::get(index->getType(), bytes));
      first->gep = Replace(first->gep, first->gep->getPointerOperand(), first->offset);
    }
    Replace(&gep, gep.getPointerOperand(), first->offset);
  });
}

}  // namespace

void ShareAddresses(llvm::Module& module) {
  const llvm::TargetLibraryInfoImpl functions(module.getTargetTriple());
  llvm::TargetLibraryInfo library(functions);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    llvm::AssumptionCache assumptions(function);
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    llvm::ScalarEvolution evolution(function, library, assumptions, dominators, loops);
    ShareAddresses(function, evolution, dominators);
  }
}

void ShareOffsets(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) ShareOffsets(function, llvm::DominatorTree(function));
}

}  // namespace tritond::compiler
