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
//
// The same holds for addresses that an iteration computes anew from a number of 32 bits while products are in flight.
// Of a product and a sum ptxas makes an IMAD.WIDE, but of one instruction for both it makes a shift and two additions
// with a carry. Where a loop has several copies of its body, they stay: ptxas finds that addresses of these differ by
// constants, which are part of the copies then.
//
//   mul.wide.s32 %o, %i, 2;  add.s64 %p, %q, %o;      ->   mad.wide.s32 %p, %i, 2, %q;
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/memory_instructions.h"
#include "compiler/targets/nvidia/register_pressure.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace tritond::compiler::nvidia {
namespace {

using llvm::Instruction;
using llvm::Value;
using llvm::PatternMatch::m_ConstantInt;
using llvm::PatternMatch::m_Shl;
using llvm::PatternMatch::m_Value;
using llvm::PatternMatch::match;

constexpr char kSum[] =
    "{\n"
    ".reg .b32 al, ah, bl, bh;\n"
    "mov.b64 {al, ah}, $1;\n"
    "mov.b64 {bl, bh}, $2;\n"
    "add.cc.u32 al, al, bl;\n"
    "addc.u32 ah, ah, bh;\n"
    "mov.b64 $0, {al, ah};\n"
    "}";

// Of what is copied together.
constexpr int64_t kMostElementBytes = 16;

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

// A number of 32 bits that is widened, and by how much it is multiplied.
struct Widened {
  Value* number;
  int64_t factor;
  bool is_signed;
};

// How far the address is from its base, if the loop computes that in 32 bits, and an element has more than one byte.
std::optional<Widened> DistanceOf(const llvm::GetElementPtrInst& address, const llvm::Loop& loop) {
  if (address.getNumIndices() != 1) return std::nullopt;
  auto factor =
      static_cast<int64_t>(address.getDataLayout().getTypeAllocSize(address.getSourceElementType()).getFixedValue());
  Value* index = address.getOperand(1);
  uint64_t shift = 0;
  if (Value* wide = nullptr; match(index, m_Shl(m_Value(wide), m_ConstantInt(shift)))) index = wide;
  auto* extension = llvm::dyn_cast<llvm::CastInst>(index);
  if (!extension || !llvm::isa<llvm::SExtInst, llvm::ZExtInst>(extension) || loop.isLoopInvariant(extension))
    return std::nullopt;
  if (!extension->getSrcTy()->isIntegerTy(32) || !extension->getType()->isIntegerTy(64)) return std::nullopt;
  if (factor > kMostElementBytes || shift >= kMostElementBytes) return std::nullopt;
  factor <<= shift;
  if (factor == 1 || factor > kMostElementBytes) return std::nullopt;
  return Widened{extension->getOperand(0), factor, llvm::isa<llvm::SExtInst>(extension)};
}

void AddDistance(llvm::GetElementPtrInst& address, const Widened& distance) {
  llvm::IRBuilder<> b(&address);
  llvm::Type *wide = b.getInt64Ty(), *narrow = b.getInt32Ty();
  const std::string text = std::string("mad.wide.") + (distance.is_signed ? 's' : 'u') + "32 $0, $1, " +
                           std::to_string(distance.factor) + ", $2;";
  auto* sum = llvm::InlineAsm::get(llvm::FunctionType::get(wide, {narrow, wide}, false), text, "=l,r,l",
                                   /*hasSideEffects=*/false);
  Value* base = b.CreatePtrToInt(address.getPointerOperand(), wide);
  address.replaceAllUsesWith(b.CreateIntToPtr(b.CreateCall(sum, {distance.number, base}), address.getType()));
  address.eraseFromParent();
}

// Whether products are in flight beside other instructions of the loop: its only wait leaves some. A loop with several
// waits has been unrolled, or has several products.
bool LeavesProducts(const llvm::Loop& loop) {
  constexpr llvm::StringLiteral kWait = "wgmma.wait_group.sync.aligned ";
  int waits = 0;
  bool leaves = false;
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const Instruction& op : *block) {
      const llvm::StringRef text = AssemblyOf(op);
      const size_t at = text.find(kWait);
      if (at == llvm::StringRef::npos) continue;
      ++waits;
      leaves |= !text.substr(at + kWait.size()).starts_with("0");
    }
  return leaves && waits == 1;
}

// Computes addresses of copies that are at a distance from others.
void AddDistances(const llvm::Loop& loop, const llvm::LoopInfo& loops) {
  if (!LeavesProducts(loop)) return;
  llvm::SmallVector<std::pair<llvm::GetElementPtrInst*, Widened>> found;
  for (llvm::BasicBlock* block : loop.blocks()) {
    if (loops.getLoopFor(block) != &loop) continue;
    for (Instruction& op : *block) {
      auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&op);
      if (!address || !IsCopied(*address)) continue;
      if (std::optional<Widened> distance = DistanceOf(*address, loop)) found.emplace_back(address, *distance);
    }
  }
  for (auto& [address, distance] : found) AddDistance(*address, distance);
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
    for (llvm::Loop* loop : LoopsOfProducts(function, loops)) {
      for (llvm::GetElementPtrInst* address : AdvancesOf(*loop, loops)) CarrySum(*address);
      AddDistances(*loop, loops);
    }
  }
}

}  // namespace tritond::compiler::nvidia
