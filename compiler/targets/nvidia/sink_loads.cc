// SPDX-License-Identifier: Apache-2.0
// Moves loads from shared memory down to their first use. Lowering reads a whole operand of a dot before the first
// matrix instruction, which for a large operand is more than the registers hold. ptxas keeps that order and spills:
//
//   %x0 = load %p0 ; %x1 = load %p1 ; … ; %y0 = mma %x0 ; %y1 = mma %x1 ; …
//   ->
//   %x0 = load %p0 ; %y0 = mma %x0 ; %x1 = load %p1 ; %y1 = mma %x1 ; …
//
// With a load go the instructions that only take its words apart or put them together. Each of these moves to the first
// instruction of the block that stays and needs it ("anchor"). Sorting by anchors, equal ones in the old order, keeps
// every definition before its uses. A load stays where memory may be written between it and its anchor.
#include <numeric>

#include "compiler/targets/nvidia/codegen.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

constexpr unsigned kSharedAddressSpace = 3;

bool IsSharedLoad(const llvm::Instruction& instruction) {
  if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return call->getCalledFunction()->getName().starts_with("llvm.nvvm.ldmatrix.");
  auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  return load && load->isSimple() && load->getPointerAddressSpace() == kSharedAddressSpace;
}

bool IsMovable(const llvm::Instruction& instruction) {
  return IsSharedLoad(instruction) ||
         llvm::isa<llvm::ExtractElementInst, llvm::ExtractValueInst, llvm::InsertElementInst, llvm::BitCastInst,
                   llvm::ShuffleVectorInst>(instruction);
}

void SinkInBlock(llvm::BasicBlock& block) {
  std::vector<llvm::Instruction*> instructions;
  llvm::DenseMap<const llvm::Instruction*, size_t> index;
  for (llvm::Instruction& instruction : block) {
    index[&instruction] = instructions.size();
    instructions.push_back(&instruction);
  }
  if (llvm::none_of(block, IsSharedLoad)) return;
  std::vector<size_t> anchor(instructions.size());
  std::iota(anchor.begin(), anchor.end(), size_t{0});
  size_t next_write = instructions.size();
  for (size_t i = instructions.size(); i-- > 0;) {
    llvm::Instruction& instruction = *instructions[i];
    if (instruction.mayWriteToMemory()) next_write = i;
    if (!IsMovable(instruction)) continue;
    size_t first = instructions.size();
    for (const llvm::User* user : instruction.users()) {
      auto* in_block = llvm::dyn_cast<llvm::Instruction>(user);
      auto it = index.find(in_block);
      if (it != index.end() && !llvm::isa<llvm::PHINode>(in_block)) first = std::min(first, anchor[it->second]);
    }
    bool stays = first == instructions.size() || (IsSharedLoad(instruction) && next_write < first);
    if (!stays) anchor[i] = first;
  }
  std::vector<size_t> order(instructions.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) { return anchor[x] < anchor[y]; });
  for (size_t i : order) instructions[i]->moveBefore(block, block.end());
}

}  // namespace

void SinkSharedLoads(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function) SinkInBlock(block);
}

}  // namespace tritond::compiler::nvidia
