// SPDX-License-Identifier: Apache-2.0
// What a launch passes beside the kernel's own arguments, for a grid that is whole programs of one dimension of
// threads. That is the hidden arguments (LLVM, "User Guide for AMDGPU Backend", code object version 5) and the HSA
// dispatch packet. Fields that are not written here are zero.
//
//   hidden arguments   block_count x, y, z: u32 at 0; group_size x, y, z: u16 at 12; grid_dims: u16 at 64
//   dispatch packet    workgroup_size x, y, z: u16 at 4; grid_size x, y, z: u32 at 12, in threads
#include "compiler/targets/emulated/amdgcn_calls.h"
#include "compiler/targets/host/runtime.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace tritond::compiler::emulated {
namespace {

constexpr uint64_t kHiddenBytes = 256, kPacketBytes = 64;

class Fields {
 public:
  Fields(llvm::IRBuilder<>& b, uint64_t bytes)
      : b_(b), memory_(b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), bytes))) {
    memory_->setAlignment(llvm::Align(16));
    b.CreateMemSet(memory_, b.getInt8(0), bytes, llvm::Align(16));
  }

  void Set16(uint64_t offset, uint16_t value) { Store(offset, b_.getInt16(value)); }
  void Set32(uint64_t offset, llvm::Value* value) { Store(offset, value); }
  llvm::Value* Programs(int axis) {
    llvm::Module& module = *b_.GetInsertBlock()->getModule();
    return b_.CreateCall(host::DeclareRuntime(module, host::RuntimeFunction::kNumPrograms), {b_.getInt32(axis)});
  }
  llvm::AllocaInst* memory() const { return memory_; }

 private:
  void Store(uint64_t offset, llvm::Value* value) {
    b_.CreateStore(value, b_.CreateConstGEP1_64(b_.getInt8Ty(), memory_, offset));
  }

  llvm::IRBuilder<>& b_;
  llvm::AllocaInst* memory_;
};

llvm::Value* EmitHiddenArguments(llvm::IRBuilder<>& b, int threads) {
  Fields fields(b, kHiddenBytes);
  for (int axis : {0, 1, 2}) {
    fields.Set32(4 * axis, fields.Programs(axis));
    fields.Set16(12 + 2 * axis, axis == 0 ? threads : 1);
  }
  fields.Set16(64, 3);
  return fields.memory();
}

llvm::Value* EmitPacket(llvm::IRBuilder<>& b, int threads) {
  Fields fields(b, kPacketBytes);
  for (int axis : {0, 1, 2}) {
    const int size = axis == 0 ? threads : 1;
    fields.Set16(4 + 2 * axis, size);
    fields.Set32(12 + 4 * axis, b.CreateMul(fields.Programs(axis), b.getInt32(size)));
  }
  return fields.memory();
}

}  // namespace

void BindHiddenArguments(llvm::ArrayRef<llvm::CallInst*> calls, int threads) {
  llvm::DenseMap<std::pair<llvm::Function*, llvm::Function*>, llvm::Value*> memory;
  for (llvm::CallInst* call : calls) {
    llvm::Value*& known = memory[{call->getFunction(), call->getCalledFunction()}];
    if (!known) {
      llvm::BasicBlock& entry = call->getFunction()->getEntryBlock();
      llvm::IRBuilder<> b(&entry, entry.getFirstInsertionPt());
      const bool is_packet = call->getIntrinsicID() == llvm::Intrinsic::amdgcn_dispatch_ptr;
      known =
          b.CreateAddrSpaceCast(is_packet ? EmitPacket(b, threads) : EmitHiddenArguments(b, threads), call->getType());
    }
    call->replaceAllUsesWith(known);
    call->eraseFromParent();
  }
}

}  // namespace tritond::compiler::emulated
