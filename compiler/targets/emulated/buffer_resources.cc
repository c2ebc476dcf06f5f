// SPDX-License-Identifier: Apache-2.0
//   %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc(ptr %base, i16 0, i64 %bytes, i32 %flags)
//   %s = phi ptr addrspace(8) [ %r, … ], …
//
//   %r.wide = … i128: bits 0 to 47 the base, 48 to 63 the stride, 64 to 95 the bytes in range, then flags
//   %s.wide = phi i128 [ %r.wide, … ], …
//
// Long ones, of gfx1250, hold the base in bits 0 to 56 and the bytes in range in bits 57 to 101. They hold the stride
// in bits 108 to 121 and flags in bits 124 to 127.
#include "absl/strings/str_cat.h"
#include "compiler/targets/emulated/amdgcn_calls.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace tritond::compiler::emulated {
namespace {

// Where the fields of a descriptor are, and how many bits they have.
struct Field {
  unsigned at, bits;
};
struct Form {
  Field base, records, stride, flags;
};
constexpr Form kShort = {{0, 48}, {64, 32}, {48, 16}, {96, 32}}, kLong = {{0, 57}, {57, 45}, {108, 14}, {124, 4}};

constexpr unsigned kBufferSpace = 8, kFatSpace = 7, kStridedSpace = 9;

// What is left would be cut to 64 bits.
absl::Status CheckSpaces(llvm::Instruction& instruction) {
  llvm::SmallVector<llvm::Type*> types = {instruction.getType()};
  for (llvm::Value* operand : instruction.operands()) types.push_back(operand->getType());
  for (llvm::Type* type : types) {
    const unsigned space = type->getScalarType()->isPointerTy() ? type->getPointerAddressSpace() : 0;
    if (space == kBufferSpace || space == kFatSpace || space == kStridedSpace)
      return absl::InvalidArgumentError(
          absl::StrCat("the emulator has no ", instruction.getOpcodeName(), " of a pointer in address space ", space));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsBufferResource(const llvm::Type* type) {
  return type->isPointerTy() && type->getPointerAddressSpace() == kBufferSpace;
}

llvm::Value* EmitBufferResource(llvm::IRBuilder<>& b, llvm::CallInst& call, bool is_long) {
  const Form& form = is_long ? kLong : kShort;
  llvm::Type* i128 = b.getIntNTy(128);
  const auto most = [](const Field& field) { return (uint64_t{1} << field.bits) - 1; };
  const auto place = [&](llvm::Value* value, const Field& field) {
    value = b.CreateAnd(b.CreateZExt(value, i128), llvm::ConstantInt::get(i128, most(field)));
    return b.CreateShl(value, llvm::ConstantInt::get(i128, field.at));
  };
  llvm::Value* base = b.CreatePtrToInt(call.getArgOperand(0), b.getInt64Ty());
  llvm::Value* records = b.CreateZExt(call.getArgOperand(2), b.getInt64Ty());
  records = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, records, b.getInt64(most(form.records)));
  llvm::Value* low = b.CreateOr(place(base, form.base), place(call.getArgOperand(1), form.stride));
  return b.CreateOr(b.CreateOr(low, place(records, form.records)), place(call.getArgOperand(3), form.flags));
}

absl::StatusOr<llvm::Value*> BufferResources::Widen(llvm::Value* value) {
  auto known = wide_.find(value);
  if (known != wide_.end()) return known->second;
  llvm::Type* i128 = llvm::Type::getIntNTy(value->getContext(), 128);
  if (llvm::isa<llvm::UndefValue>(value)) return llvm::PoisonValue::get(i128);
  if (llvm::isa<llvm::ConstantPointerNull>(value)) return llvm::ConstantInt::get(i128, 0);
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction) return absl::InvalidArgumentError("the emulator has no buffer descriptors among parameters");
  absl::StatusOr<llvm::Value*> wide = WidenInstruction(*instruction);
  if (wide.ok() && wide_.try_emplace(value, *wide).second) narrow_.push_back(instruction);
  return wide;
}

absl::StatusOr<llvm::Value*> BufferResources::WidenInstruction(llvm::Instruction& instruction) {
  llvm::IRBuilder<> b(&instruction);
  llvm::Type* i128 = b.getIntNTy(128);
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
    llvm::PHINode* wide = b.CreatePHI(i128, phi->getNumIncomingValues());
    wide_[phi] = wide;  // before the operands, which may lead back here
    narrow_.push_back(phi);
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      absl::StatusOr<llvm::Value*> incoming = Widen(phi->getIncomingValue(i));
      if (!incoming.ok()) return incoming.status();
      wide->addIncoming(*incoming, phi->getIncomingBlock(i));
    }
    return wide;
  }
  if (auto* cast = llvm::dyn_cast<llvm::IntToPtrInst>(&instruction))
    return b.CreateZExtOrTrunc(cast->getOperand(0), i128);
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    absl::StatusOr<llvm::Value*> yes = Widen(select->getTrueValue()), no = Widen(select->getFalseValue());
    if (!yes.ok()) return yes.status();
    if (!no.ok()) return no.status();
    return b.CreateSelect(select->getCondition(), *yes, *no);
  }
  if (auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(&instruction)) {
    absl::StatusOr<llvm::Value*> operand = Widen(freeze->getOperand(0));
    return operand.ok() ? absl::StatusOr<llvm::Value*>(b.CreateFreeze(*operand)) : operand.status();
  }
  // Of a call that is still to be replaced.
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    llvm::Function* callee = call->getCalledFunction();
    if (callee && callee->getIntrinsicID() == llvm::Intrinsic::amdgcn_make_buffer_rsrc)
      return EmitBufferResource(b, *call, is_long_);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the emulator has no buffer descriptor that comes from ", instruction.getOpcodeName()));
}

void BufferResources::Replace(llvm::CallInst& call, llvm::Value* wide) {
  wide_[&call] = wide;
  narrow_.push_back(&call);
}

absl::Status BufferResources::Finish(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* cast = llvm::dyn_cast<llvm::PtrToIntInst>(&instruction);
      if (!cast || !IsBufferResource(cast->getOperand(0)->getType())) continue;
      absl::StatusOr<llvm::Value*> wide = Widen(cast->getOperand(0));
      if (!wide.ok()) return wide.status();
      llvm::IRBuilder<> b(cast);
      cast->replaceAllUsesWith(b.CreateZExtOrTrunc(*wide, cast->getType()));
      cast->eraseFromParent();
    }
  }
  for (llvm::Instruction* narrow : narrow_) narrow->replaceAllUsesWith(llvm::PoisonValue::get(narrow->getType()));
  for (llvm::Instruction* narrow : narrow_) narrow->eraseFromParent();
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (absl::Status status = CheckSpaces(instruction); !status.ok()) return status;
  return absl::OkStatus();
}

}  // namespace tritond::compiler::emulated
