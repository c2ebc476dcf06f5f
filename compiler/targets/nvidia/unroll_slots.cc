// SPDX-License-Identifier: Apache-2.0
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
#include "compiler/targets/nvidia/unroll_slots.h"

#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/nvidia/architecture.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/register_pressure.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"

namespace tritond::compiler::nvidia {
namespace {

// Slots that a buffer of a loop has at most.
constexpr unsigned kMostSlots = 8;
// Of a thread in a loop of products, beside the values of LLVM's.
constexpr int64_t kOtherRegisters = 16;
// What the assembler demands for a product beside its accumulators: with fewer registers it gives up (C7602).
constexpr int64_t kRegistersOfProduct = 26;
// Of a warp.
constexpr unsigned kLanes = 32;
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

// Blocks of the kernel for which a multiprocessor has shared memory; 0: not known.
unsigned BlocksOf(const llvm::Function& kernel) {
  unsigned threads = 0, shared_bytes = 0;
  kernel.getFnAttribute("nvvm.reqntid").getValueAsString().getAsInteger(10, threads);
  kernel.getFnAttribute(kSharedBytesAttr).getValueAsString().getAsInteger(10, shared_bytes);
  if (threads == 0 || shared_bytes == 0 || kernel.hasFnAttribute("nvvm.maxnreg")) return 0;
  // The only device that has wgmma.
  const Architecture& device = *llvm::find_if(kArchitectures, [](const Architecture& each) {
    return each.group_products > 0 && each.compute_capability == kFirstWithWarpGroups;
  });
  const int64_t blocks = (device.max_shared_bytes + kReservedSharedBytes) / (shared_bytes + kReservedSharedBytes);
  return static_cast<unsigned>(std::min<int64_t>(blocks, device.max_warps * kLanes / threads));
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
  return std::max(most - sums + kOtherRegisters, sums + kRegistersOfProduct) <= RegistersOf(kernel, blocks);
}

// Copies of the body that a loop of products should have; at most 1: it stays as it is.
unsigned SlotsOf(const llvm::Loop& loop, llvm::ScalarEvolution& evolution, unsigned most_instructions) {
  if (!loop.getLoopPreheader() || !loop.getLoopLatch() || !OnlyAccumulates(loop)) return 0;
  unsigned size = 0, slots = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) size += llvm::count_if(*block, IsInstruction);
  for (const llvm::PHINode& phi : loop.getHeader()->phis()) slots = std::max(slots, RoundOf(phi, loop));
  slots = std::min(slots, evolution.getSmallConstantTripCount(&loop));
  return slots * size <= most_instructions ? slots : 0;
}

}  // namespace

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

std::optional<LoopOfSlots> FindLoopOfSlots(llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution,
                                           const llvm::Function& kernel, unsigned most_instructions) {
  const unsigned blocks = BlocksOf(kernel);
  llvm::SmallVector<llvm::Loop*> of_products;
  for (llvm::Loop* loop : loops.getLoopsInPreorder())
    if (OnlyAccumulates(*loop)) of_products.push_back(loop);
  // What several loops of products need together is not known.
  if (blocks == 0 || of_products.size() != 1) return std::nullopt;
  const unsigned slots = SlotsOf(*of_products[0], evolution, most_instructions);
  if (slots <= 1 || !HasRoom(*of_products[0], blocks)) return std::nullopt;
  return LoopOfSlots{of_products[0], slots, blocks};
}

}  // namespace tritond::compiler::nvidia
