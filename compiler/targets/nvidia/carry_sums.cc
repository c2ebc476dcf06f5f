// SPDX-License-Identifier: Apache-2.0
// Addresses that advance in a loop of products, added word by word with a carry. ptxas puts the widening of a step into
// each of its additions, if the step was a number of 32 bits, and drops the register pair of the step:
//
//   before the loop:  mul.wide.s32 %step, %n, 2;
//   in the loop:      add.s64 %p, %p, %step;          ->   IMAD.WIDE p, n, 2, p
//
// An IMAD.WIDE reads and writes pairs of registers, and so does the accumulator of a wgmma that is in flight. Warps
// then wait for each other's registers: a loop with twelve such additions takes 1,197 cycles for 1,024 of products, and
// 1,060 with carries. ptxas leaves the additions as they are here:
//
//   add.cc.u32 %l, %l, %step_l;  addc.u32 %h, %h, %step_h;
//
// An address takes a pair of registers all the time then. Where the loop needs more than a thread has, it stays with
// ptxas, which stores fewer of them in memory.
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/register_pressure.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr char kSum[] =
    "{\n"
    ".reg .b32 al, ah, bl, bh;\n"
    "mov.b64 {al, ah}, $1;\n"
    "mov.b64 {bl, bh}, $2;\n"
    "add.cc.u32 al, al, bl;\n"
    "addc.u32 ah, ah, bh;\n"
    "mov.b64 $0, {al, ah};\n"
    "}";

int64_t WordsOf(const Instruction& op) {
  if (!op.getType()->isSized()) return 0;
  return llvm::divideCeil(op.getDataLayout().getTypeSizeInBits(op.getType()).getFixedValue(), 32);
}

Value* Sum(llvm::IRBuilder<>& b, Value* x, Value* y) {
  llvm::Type* type = b.getInt64Ty();
  auto* text = llvm::InlineAsm::get(llvm::FunctionType::get(type, {type, type}, false), kSum, "=l,l,l",
                                    /*hasSideEffects=*/false);
  return b.CreateCall(text, {x, y});
}

// Whether a copy to shared memory reads this address.
bool IsCopied(const Value& address) {
  return llvm::any_of(address.users(), [](const llvm::User* user) {
    if (auto* number = llvm::dyn_cast<llvm::PtrToIntInst>(user)) return IsCopied(*number);
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    auto* text = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
    return text && llvm::StringRef(text->getAsmString()).contains("cp.async.c");
  });
}

// Whether the loop carries it to where it starts from.
bool Advances(const llvm::GetElementPtrInst& address) {
  auto* phi = llvm::dyn_cast<llvm::PHINode>(address.getPointerOperand());
  return phi && llvm::is_contained(phi->incoming_values(), &address);
}

// The bytes from its base to the address, if no other instruction of the loop makes them; or null.
Value* StepOf(const llvm::GetElementPtrInst& address, const llvm::Loop& loop) {
  const llvm::DataLayout& layout = address.getDataLayout();
  const bool is_bytes = address.getNumIndices() == 1 && layout.getTypeAllocSize(address.getSourceElementType()) == 1;
  if (!is_bytes || layout.getPointerTypeSizeInBits(address.getType()) != 64) return nullptr;
  Value* step = address.getOperand(1);
  if (!step->getType()->isIntegerTy(64)) return nullptr;
  // The other constants are part of the copy.
  const bool is_there = llvm::isa<llvm::Constant>(step) ? Advances(address) : loop.isLoopInvariant(step);
  return is_there || llvm::isa<llvm::PHINode>(step) ? step : nullptr;
}

void CarrySum(llvm::GetElementPtrInst& address) {
  llvm::IRBuilder<> b(&address);
  Value* base = b.CreatePtrToInt(address.getPointerOperand(), b.getInt64Ty());
  address.replaceAllUsesWith(b.CreateIntToPtr(Sum(b, base, address.getOperand(1)), address.getType()));
  address.eraseFromParent();
}

// What advances in the loop. Addresses with constant steps are left to LLVM beside others: it makes them of one number
// that all share.
llvm::SmallVector<llvm::GetElementPtrInst*> AdvancesOf(const llvm::Loop& loop, const llvm::LoopInfo& loops) {
  llvm::SmallVector<llvm::GetElementPtrInst*> found;
  for (llvm::BasicBlock* block : loop.blocks()) {
    if (loops.getLoopFor(block) != &loop) continue;
    for (Instruction& op : *block) {
      auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&op);
      if (address && StepOf(*address, loop) && (IsCopied(*address) || IsCopied(*address->getPointerOperand())))
        found.push_back(address);
    }
  }
  auto is_variable = [](const llvm::GetElementPtrInst* each) {
    return !llvm::isa<llvm::Constant>(each->getOperand(1));
  };
  if (llvm::any_of(found, is_variable)) llvm::erase_if(found, std::not_fn(is_variable));
  return found;
}

// Loops that issue wgmma, and whose values find room in registers.
llvm::SmallSetVector<llvm::Loop*, 4> LoopsOfProducts(llvm::Function& function, const llvm::LoopInfo& loops) {
  llvm::MapVector<llvm::Loop*, int64_t> sums;  // the words of the most accumulators
  for (const Instruction& op : llvm::instructions(function)) {
    llvm::Loop* loop = IsWgmma(op) ? loops.getLoopFor(op.getParent()) : nullptr;
    if (loop) sums[loop] = std::max(sums[loop], WordsOf(op));
  }
  llvm::SmallSetVector<llvm::Loop*, 4> found;
  if (sums.empty()) return found;
  const LiveWords live(function);
  for (auto [loop, words] : sums) {
    int64_t most = 0;
    for (const llvm::BasicBlock* block : loop->blocks()) most = std::max(most, live.MostIn(*block));
    // The accumulators before a product and those after it are the same registers.
    if (most - words <= RegistersOf(function)) found.insert(loop);
  }
  return found;
}

}  // namespace

void CarrySums(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    for (llvm::Loop* loop : LoopsOfProducts(function, loops))
      for (llvm::GetElementPtrInst* address : AdvancesOf(*loop, loops)) CarrySum(*address);
  }
}

}  // namespace tritond::compiler::nvidia
