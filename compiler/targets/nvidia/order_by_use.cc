// SPDX-License-Identifier: Apache-2.0
// Computes values where they are needed. Lowering emits an operation for all elements of a thread, then the next one:
//
//   %p0 = gep …; %p1 = gep …                           %p0 = gep …; %a0 = load %p0
//   %a0 = load %p0; %a1 = load %p1                     %p1 = gep …; %a1 = load %p1
//   %b0 = f %a0; %b1 = f %a1                      ->   %b0 = f %a0; %c0 = g %b0; %s = add %x, %c0
//   %c0 = g %b0; %c1 = g %b1                           %b1 = f %a1; %c1 = g %b1; %t = add %s, %c1
//   %s = add %x, %c0; %t = add %s, %c1
//
// In the order on the left, what all elements need is live at once. Where this takes too many registers, ptxas orders
// the instructions anew, and starts loads one after another.
//
// An instruction without effects moves to the first one in its block that needs it, if one alone needs it, or if all
// its operands move or come from elsewhere, as those of indices do. All others keep their order: several instructions
// need them, as in a sort, and none of these is more urgent. What other blocks or the next iteration need comes last,
// in the old order.
//
// A second order goes further. It computes that result by result, too: in a sum of what a thread has, each element is
// worked on until it has been added. What several instructions need also moves, if its operands are live until there
// anyway. The second order is taken where less is live at once in it. Where several sums share factors, it is the first
// one that keeps these for a short time.
//
// Of the operands of an instruction, either order has those first that are written first. A thread may lack registers
// then. If less is live at once, those come first whose computation takes most words beside their results: a sum before
// the element that is added to it. Else all elements would wait until the sum begins.
//
// Neither order is good where much comes in and little results. What waits for its use then keeps alive more than it
// makes. A block in which far less is live at once in the old order keeps it, unless no less is live elsewhere.
//
// Where functions use the matrix units, their tiles decide what is live in loops of products, which stay as they are.
// What is done once, and after the last product of a block, is ordered if a multiprocessor has registers for one block
// more then. What only that needs goes there, too.
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/register_pressure.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

// Of the words that are live at once, for which the old order is kept: one in four. The assembler makes good for less.
constexpr int64_t kShareSaved = 4;
// A multiprocessor has so many registers for each thread that it can hold.
constexpr int64_t kRegistersOfAllWarps = 32;

bool IsPure(const Instruction& instruction) {
  return !llvm::isa<llvm::PHINode, llvm::AllocaInst>(instruction) && !instruction.isTerminator() &&
         !instruction.mayHaveSideEffects() && !instruction.mayReadFromMemory();
}

// The instruction of `block`, after its phis, that makes `value`; or null.
Instruction* MadeIn(const BasicBlock& block, llvm::Value* value) {
  auto* made = llvm::dyn_cast<Instruction>(value);
  return made && made->getParent() == &block && !llvm::isa<llvm::PHINode>(made) ? made : nullptr;
}

// Finds the new order of a block's instructions, without its phis. `weighs`: operands that take most words come first.
class BlockOrder final {
 public:
  BlockOrder(BasicBlock& block, bool weighs) : block_(block), weighs_(weighs) {}

  std::vector<Instruction*> Find(bool second) {
    std::vector<Instruction*> all;
    for (Instruction& instruction : block_) {
      if (llvm::isa<llvm::PHINode>(instruction)) continue;
      position_[&instruction] = all.size();
      all.push_back(&instruction);
    }
    for (Instruction* instruction : all)
      if (IsPure(*instruction) &&
          (instruction->hasOneUse() || AllMove(*instruction) || (second && OperandsOutlive(*instruction))))
        moving_.insert(instruction);
    for (Instruction* instruction : all)
      if (moving_.contains(instruction)) needs_[instruction] = NeedOf(*instruction);
    for (Instruction* instruction : all)
      if ((!moving_.contains(instruction) || (second && IsNeededElsewhere(*instruction))) &&
          !instruction->isTerminator())
        Place(instruction);
    // What is left, as it was, and the terminator.
    for (Instruction* instruction : all) Place(instruction);
    return std::move(order_);
  }

 private:
  bool AllMove(Instruction& instruction) {
    return llvm::all_of(instruction.operands(), [&](llvm::Value* operand) {
      const Instruction* made = MadeIn(block_, operand);
      return !made || moving_.contains(made);
    });
  }

  // In other blocks, or in the next iteration of a loop.
  bool IsNeededElsewhere(Instruction& instruction) {
    return llvm::any_of(instruction.users(), [&](llvm::User* user) { return PositionOf(user) == position_.size(); });
  }

  // Whether something after the first use of the instruction needs each of its operands, too.
  bool OperandsOutlive(Instruction& instruction) {
    size_t first = position_.size();
    for (llvm::User* user : instruction.users()) first = std::min(first, PositionOf(user));
    if (first == position_.size()) return false;
    return llvm::all_of(instruction.operands(), [&](llvm::Value* operand) {
      auto* made = llvm::dyn_cast<Instruction>(operand);
      return !made || made->getParent() != &block_ ||
             llvm::any_of(operand->users(), [&](llvm::User* user) { return PositionOf(user) > first; });
    });
  }

  // In the block; after all where it is in another one, or in the next iteration.
  size_t PositionOf(llvm::User* user) {
    auto found = position_.find(llvm::cast<Instruction>(user));
    return found == position_.end() ? position_.size() : found->second;
  }

  // What an instruction needs of this block, in the order in which it is computed. What takes most words beside its
  // result does so while no other result waits (Sethi and Ullman).
  llvm::SmallVector<Instruction*> OperandsOf(Instruction& instruction) {
    llvm::SmallVector<Instruction*> operands;
    for (llvm::Value* operand : instruction.operands())
      if (Instruction* made = MadeIn(block_, operand)) operands.push_back(made);
    auto takes_more = [&](Instruction* a, Instruction* b) {
      return needs_.lookup(a) - WordsOf(*a) > needs_.lookup(b) - WordsOf(*b);
    };
    if (weighs_) llvm::stable_sort(operands, takes_more);
    return operands;
  }

  // The words that are live at once while the instruction is computed with all that moves to it.
  int64_t NeedOf(Instruction& instruction) {
    int64_t waiting = 0, most = WordsOf(instruction);
    for (Instruction* operand : OperandsOf(instruction)) {
      if (!moving_.contains(operand)) continue;
      most = std::max(most, waiting + needs_.lookup(operand));
      waiting += WordsOf(*operand);
    }
    return most;
  }

  int64_t WordsOf(const Instruction& instruction) { return RegisterWords(instruction, block_.getDataLayout()); }

  // After the operands that it has in this block.
  void Place(Instruction* root) {
    llvm::SmallVector<Instruction*> pending{root};
    while (!pending.empty()) {
      Instruction* instruction = pending.back();
      const size_t before = pending.size();
      if (entered_.insert(instruction).second) {
        const llvm::SmallVector<Instruction*> operands = OperandsOf(*instruction);
        for (Instruction* operand : llvm::reverse(operands))
          if (!placed_.contains(operand)) pending.push_back(operand);
      }
      if (pending.size() > before) continue;
      if (placed_.insert(instruction).second) order_.push_back(instruction);
      pending.pop_back();
    }
  }

  BasicBlock& block_;
  const bool weighs_;
  llvm::DenseMap<const Instruction*, size_t> position_;
  llvm::DenseSet<const Instruction*> moving_, entered_, placed_;
  llvm::DenseMap<const Instruction*, int64_t> needs_;  // of what moves
  std::vector<Instruction*> order_;
};

// Instructions of a block, its phis left out, with the terminator last.
using Order = std::vector<Instruction*>;

// An order of a block, and the most words that are live at once in it.
struct Choice {
  Order order;
  int64_t words = 0;
};

struct Choices {
  Choice first, second, old;
};

Order OrderOf(BasicBlock& block) {
  Order order;
  for (Instruction& instruction : block)
    if (!llvm::isa<llvm::PHINode>(instruction)) order.push_back(&instruction);
  return order;
}

void Apply(const Order& order) {
  Instruction* terminator = order.back();
  for (Instruction* instruction : order)
    if (instruction != terminator) instruction->moveBefore(terminator->getIterator());
}

Choices ChoicesOf(BasicBlock& block, const LiveWords& live, bool apart = false) {
  auto find = [&](bool second, bool weighs) { return BlockOrder(block, weighs).Find(second); };
  Order old = OrderOf(block), first = find(false, false), weighed_first = find(false, true);
  Order second = find(true, false), weighed_second = find(true, true);
  auto measure = [&](Order& order) {
    Apply(order);
    return Choice{std::move(order), live.MostIn(block, apart)};
  };
  const int64_t most = RegistersOf(*block.getParent());
  auto better = [&](Order& order, Order& weighed) {
    Choice choice = measure(order), other = measure(weighed);
    return choice.words > most && other.words < choice.words ? other : choice;
  };
  return {better(first, weighed_first), better(second, weighed_second), measure(old)};
}

void OrderFunction(llvm::Function& function) {
  const LiveWords live(function);
  std::vector<Choices> blocks;
  int64_t first = 0, second = 0, needed = 0;
  for (BasicBlock& block : function) {
    blocks.push_back(ChoicesOf(block, live));
    first = std::max(first, blocks.back().first.words);
    second = std::max(second, blocks.back().second.words);
  }
  for (Choices& block : blocks) {
    if (second < first) std::swap(block.first, block.second);
    needed = std::max(needed, std::min(block.first.words, block.old.words));
  }
  for (const Choices& block : blocks) {
    const bool saves = block.old.words + block.first.words / kShareSaved <= block.first.words;
    Apply((block.first.words > needed && saves ? block.old : block.first).order);
  }
}

Instruction* LastProduct(BasicBlock& block) {
  for (Instruction& instruction : llvm::reverse(block))
    if (IsMatrixInstruction(instruction)) return &instruction;
  return nullptr;
}

// Whether the innermost loop around the block has products of its own.
bool IsInLoopOfProducts(const BasicBlock& block, const llvm::LoopInfo& loops) {
  const llvm::Loop* loop = loops.getLoopFor(&block);
  return loop && llvm::any_of(loop->blocks(), [&](BasicBlock* other) {
           return loops.getLoopFor(other) == loop && LastProduct(*other);
         });
}

// Moves what nothing up to `last` needs behind it, unless more has to be kept for it than it makes. Returns the first
// instruction after `last` and the values that it makes, which have registers of their own.
Instruction* SinkBehind(BasicBlock& block, Instruction& last) {
  Instruction* first = last.getNextNode();
  for (Instruction& each : llvm::make_early_inc_range(llvm::make_range(first->getIterator(), block.end()))) {
    auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(&each);
    if (!part || part->getAggregateOperand() != &last) continue;
    if (part == first) first = first->getNextNode();
    part->moveBefore(first->getIterator());
  }
  llvm::DenseSet<const llvm::User*> before;
  for (Instruction& instruction : llvm::make_range(block.begin(), first->getIterator())) before.insert(&instruction);
  auto is_before = [&](const llvm::User* user) { return before.contains(user); };
  for (Instruction* next = &last; next;) {
    Instruction* instruction = next;
    next = next->getPrevNode();
    if (!IsPure(*instruction) || llvm::any_of(instruction->users(), is_before)) continue;
    int64_t kept = 0;
    for (const llvm::Value* operand : instruction->operands())
      if (llvm::isa<Instruction>(operand) && llvm::all_of(operand->users(), is_before))
        kept += RegisterWords(*operand, block.getDataLayout());
    if (kept > RegisterWords(*instruction, block.getDataLayout())) continue;
    before.erase(instruction);
    instruction->moveBefore(first->getIterator());
    first = instruction;
  }
  return first;
}

// Of a function with products. What follows the last one of a block is a block of its own meanwhile.
void OrderAroundProducts(llvm::Function& function) {
  struct Part {
    BasicBlock* block;
    Order whole;  // of the block that it is a part of, as it was
    bool is_behind = false;
  };
  llvm::MapVector<BasicBlock*, Part> parts;
  llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  llvm::SmallVector<BasicBlock*> old_blocks;
  for (BasicBlock& block : function)
    if (!IsInLoopOfProducts(block, loops)) old_blocks.push_back(&block);
  for (BasicBlock* block : old_blocks) {
    Part part{block, OrderOf(*block)};
    if (Instruction* last = LastProduct(*block)) {
      part.is_behind = true;
      part.block = block->splitBasicBlock(SinkBehind(*block, *last)->getIterator());
    }
    parts[part.block] = part;
  }
  const LiveWords live(function);
  // The words of the old order, and as many blocks as it leaves no registers for.
  llvm::SmallVector<std::pair<BasicBlock*, int64_t>> words;
  for (BasicBlock& block : function) words.emplace_back(&block, live.MostIn(block, /*apart=*/true));
  const int64_t old = std::max<int64_t>(1, llvm::max_element(words, llvm::less_second())->second);
  int64_t blocks = 2;
  while (RegistersOf(function, blocks) >= std::min(old, RegistersOf(function))) ++blocks;
  const int64_t left = RegistersOf(function, blocks), most = std::min(left, old - old / kShareSaved);
  auto stays = [&](const auto& each) { return !parts.contains(each.first) || each.second <= left; };
  bool saves = left >= kRegistersOfAllWarps &&
               llvm::all_of(words, [&](const auto& each) { return !stays(each) || each.second <= most; });
  for (const auto& each : words) {
    if (!saves || stays(each)) continue;
    const Choices choices = ChoicesOf(*each.first, live, /*apart=*/true);
    const Choice& best = choices.second.words < choices.first.words ? choices.second : choices.first;
    Apply(best.order);
    saves = best.words <= most;
  }
  for (const auto& [block, part] : parts) {
    if (part.is_behind) llvm::MergeBlockIntoPredecessor(block);
    if (!saves) Apply(part.whole);
  }
}

}  // namespace

void OrderByUse(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    if (llvm::any_of(llvm::instructions(function), IsMatrixInstruction))
      OrderAroundProducts(function);
    else
      OrderFunction(function);
  }
}

}  // namespace tritond::compiler::nvidia
