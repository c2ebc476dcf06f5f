// SPDX-License-Identifier: Apache-2.0
// Addresses of a block that advance in a loop are those of its rows and the distances of its columns:
//
//   loop:                                               loop:
//     %p00 = phi [ %a0 + %c0, … ], [ %n00, … ]            %r0 = phi [ %a0, … ], [ %m0, … ]
//     %p01 = phi [ %a0 + %c1, … ], [ %n01, … ]            %r1 = phi [ %a1, … ], [ %m1, … ]
//     %p10 = phi [ %a1 + %c0, … ], [ %n10, … ]            load %r0 + %c0;  load %r0 + %c1
//     %p11 = phi [ %a1 + %c1, … ], [ %n11, … ]     ->     load %r1 + %c0;  load %r1 + %c1
//     load %p00; load %p01; load %p10; load %p11          %m0 = gep %r0, %step
//     %n00 = gep %p00, %step; …                           %m1 = gep %r1, %step
//
// A thread that loads 64 elements one by one has 64 addresses of two words each, and 16 rows and 4 distances. The
// distances are mostly of 32 bits: one instruction multiplies, widens and adds them. So this is done where what the
// loop keeps takes more words than a thread has registers, with what an iteration loads: all of that should start at
// once.
//
// LLVM's loop strength reduction would give each load an address of its own again, since a load adds constants alone.
// So the loop takes the distances through assembly that does nothing.
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/memory_instructions.h"
#include "compiler/targets/nvidia/register_pressure.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::GetElementPtrInst;
using llvm::Instruction;
using llvm::Value;

// An address that a loop carries: it starts at a row and a distance.
struct Carried {
  llvm::PHINode* phi;
  GetElementPtrInst *start, *next;

  Value* Row() const { return start->getPointerOperand(); }
  Value* Distance() const { return start->getOperand(1); }
};

// `address`, if it is some bytes or elements from another one; or null.
GetElementPtrInst* AtDistance(Value* address) {
  auto* gep = llvm::dyn_cast<GetElementPtrInst>(address);
  const bool is_plain = gep && gep->getNumIndices() == 1 && gep->getOperand(1)->getType()->isIntegerTy(64);
  return is_plain ? gep : nullptr;
}

// From the same distance.
Value* From(llvm::IRBuilder<>& b, const GetElementPtrInst& gep, Value* address, Value* distance) {
  return b.CreateGEP(gep.getSourceElementType(), address, distance);
}

// What is widened to `distance`, so that 32 bits tell it; or null.
Value* NarrowOf(Value* distance) {
  Value* narrow = nullptr;
  auto extended = llvm::PatternMatch::m_SExt(llvm::PatternMatch::m_Value(narrow));
  const bool is_extended =
      llvm::PatternMatch::match(distance, extended) ||
      llvm::PatternMatch::match(distance, llvm::PatternMatch::m_Shl(extended, llvm::PatternMatch::m_ConstantInt()));
  return is_extended && narrow->getType()->isIntegerTy(32) ? narrow : nullptr;
}

// The same number, which LLVM does not know to be the same.
Value* Hide(llvm::IRBuilder<>& b, Value* number) {
  llvm::Type* type = number->getType();
  const bool is_long = type->isIntegerTy(64);
  return b.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false),
                                           is_long ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;", is_long ? "=l,l" : "=r,r",
                                           /*hasSideEffects=*/false),
                      {number});
}

Value* Distance(llvm::IRBuilder<>& b, Value* distance) {
  Value* narrow = NarrowOf(distance);
  if (!narrow) return Hide(b, distance);
  Value* wide = b.CreateSExt(Hide(b, narrow), b.getInt64Ty());
  auto* shift = llvm::dyn_cast<llvm::BinaryOperator>(distance);
  return shift ? b.CreateShl(wide, shift->getOperand(1)) : wide;
}

int64_t WordsOf(Value* distance) { return NarrowOf(distance) ? 1 : 2; }

// The addresses that a loop carries, each with the others that take the same steps.
class AddressesOfLoop final {
 public:
  explicit AddressesOfLoop(const llvm::Loop& loop)
      : loop_(loop), before_(loop.getLoopPredecessor()), latch_(loop.getLoopLatch()) {
    if (!before_ || !latch_) return;
    for (llvm::PHINode& phi : loop.getHeader()->phis()) Add(phi);
  }

  void Split() {
    for (auto& [step, carried] : by_step_)
      if (Saves(carried)) Split(carried);
  }

 private:
  void Add(llvm::PHINode& phi) {
    if (!phi.getType()->isPointerTy()) return;
    auto* start = AtDistance(phi.getIncomingValueForBlock(before_));
    auto* next = AtDistance(phi.getIncomingValueForBlock(latch_));
    if (!start || !next || next->getPointerOperand() != &phi || !next->hasOneUse()) return;
    // Constants are part of a load.
    if (llvm::isa<llvm::Constant>(start->getOperand(1)) || next->getParent() != latch_) return;
    const bool is_used_here = llvm::all_of(phi.users(), [&](llvm::User* user) {
      return !llvm::isa<llvm::PHINode>(user) && loop_.contains(llvm::cast<Instruction>(user));
    });
    if (is_used_here) by_step_[{next->getOperand(1), next->getSourceElementType()}].push_back({&phi, start, next});
  }

  static bool Saves(llvm::ArrayRef<Carried> carried) {
    llvm::SmallSetVector<Value*, 16> rows, distances;
    int64_t words = 0;
    for (const Carried& each : carried) {
      if (rows.insert(each.Row())) words += 2;
      if (distances.insert(each.Distance())) words += WordsOf(each.Distance());
    }
    return words < 2 * static_cast<int64_t>(carried.size());
  }

  void Split(llvm::ArrayRef<Carried> carried) {
    llvm::DenseMap<Value*, llvm::PHINode*> rows;
    for (const Carried& each : carried) {
      llvm::PHINode*& row = rows[each.Row()];
      if (!row) row = CarryRow(each);
      each.phi->setIncomingValueForBlock(latch_, llvm::PoisonValue::get(each.phi->getType()));
      each.next->eraseFromParent();
      for (llvm::Use& use : llvm::make_early_inc_range(each.phi->uses())) {
        llvm::IRBuilder<> b(llvm::cast<Instruction>(use.getUser()));
        use.set(From(b, *each.start, row, Distance(b, each.Distance())));
      }
      each.phi->eraseFromParent();
    }
  }

  llvm::PHINode* CarryRow(const Carried& carried) {
    llvm::IRBuilder<> b(carried.phi);
    llvm::PHINode* row = b.CreatePHI(carried.phi->getType(), 2);
    b.SetInsertPoint(carried.next);
    row->addIncoming(carried.Row(), before_);
    row->addIncoming(From(b, *carried.next, row, carried.next->getOperand(1)), latch_);
    return row;
  }

  const llvm::Loop& loop_;
  llvm::BasicBlock *before_, *latch_;
  llvm::MapVector<std::pair<Value*, llvm::Type*>, llvm::SmallVector<Carried>> by_step_;
};

// The words that an iteration loads.
int64_t LoadedWords(const llvm::Loop& loop) {
  const llvm::DataLayout& layout = loop.getHeader()->getDataLayout();
  int64_t words = 0;
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const Instruction& instruction : *block)
      if (IsGlobalLoad(instruction)) words += RegisterWords(instruction, layout);
  return words;
}

// Whether the loop keeps so many words that a thread has no registers for what it loads, whatever the order of its
// instructions.
bool LacksRegisters(const llvm::Loop& loop, const LiveWords& live) {
  const int64_t most = RegistersOf(*loop.getHeader()->getParent()) - LoadedWords(loop);
  return llvm::all_of(loop.blocks(),
                      [&](const llvm::BasicBlock* block) { return live.KeptAtEnd(*block, loop) > most; });
}

}  // namespace

void CarryRows(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    if (loops.empty()) continue;
    const LiveWords live(function);
    llvm::SmallVector<llvm::Loop*> lacking;
    for (llvm::Loop* loop : loops.getLoopsInPreorder())
      if (LacksRegisters(*loop, live)) lacking.push_back(loop);
    for (llvm::Loop* loop : lacking) AddressesOfLoop(*loop).Split();
  }
}

}  // namespace tritond::compiler::nvidia
