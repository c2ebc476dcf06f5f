// SPDX-License-Identifier: Apache-2.0
// The parts of EmulateAmd.
#ifndef COMPILER_TARGETS_EMULATED_AMDGCN_CALLS_H_
#define COMPILER_TARGETS_EMULATED_AMDGCN_CALLS_H_

#include <map>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::emulated {

// amdgcn_intrinsics.cc. What becomes of an intrinsic, by its name without "llvm.amdgcn." and without types.
enum class AmdUse {
  kUnknown,
  kDrop,           // it steers the device's scheduling or caches, or waits for what happens at once here
  kRun,            // the run-time knows it by its name
  kRunTogether,    // the same, with all lanes of the wave
  kWorkitemX,      // the thread's index
  kZero,           // always 0 here: programs have one dimension of threads
  kWorkgroup,      // a program's index along an axis
  kWaveId,         // of the thread's wave
  kWaveSize,       // a constant
  kBarrier,        // of all threads
  kWaveBarrier,    // of the lanes of a wave
  kSignal,         // the first half of a barrier
  kWait,           // the second
  kMaskedCount,    // mbcnt.lo and hi
  kHiddenPointer,  // to what the launch passes beside the kernel's arguments, and to its dispatch packet
  kMakeBuffer,
  kIsShared,
  kAtomicFloat,  // minimum and maximum
};
AmdUse AmdUseOf(llvm::StringRef name);

// buffer_resources.cc. Buffer descriptors, ptr addrspace(8), have 128 bits on the device and only 64 where the code
// runs. Each such value gets a twin of type i128.
class BufferResources final {
 public:
  // `is_long`: with 57 bits of address and 45 of size.
  explicit BufferResources(bool is_long = false) : is_long_(is_long) {}
  // The twin of `value`. InvalidArgument when it comes from memory or from an operation that no back end emits.
  absl::StatusOr<llvm::Value*> Widen(llvm::Value* value);
  // What the call, which makes a descriptor or passes one on, has become.
  void Replace(llvm::CallInst& call, llvm::Value* wide);
  // Erases the narrow ones, when no call uses them any more.
  absl::Status Finish(llvm::Module& module);

 private:
  absl::StatusOr<llvm::Value*> WidenInstruction(llvm::Instruction& instruction);

  const bool is_long_;
  llvm::DenseMap<llvm::Value*, llvm::Value*> wide_;
  llvm::SmallVector<llvm::Instruction*> narrow_;
};
bool IsBufferResource(const llvm::Type* type);
// The descriptor that llvm.amdgcn.make.buffer.rsrc makes.
llvm::Value* EmitBufferResource(llvm::IRBuilder<>& b, llvm::CallInst& call, bool is_long);

// amdgcn_function.cc. Calls of the functions that execute intrinsics by name, one for each name and types. `set`: what
// the run-time calls the set of instructions, which may be another vendor's.
class AmdCalls final {
 public:
  AmdCalls(llvm::Module& module, std::string arch, BufferResources& resources, std::string set = "amdgcn")
      : module_(module), set_(std::move(set)), arch_(std::move(arch)), resources_(resources) {}

  // Replaces `call` by one that does the instruction `name` with the operands. `order`: how early in the code it is,
  // for those that waves execute together; 0: it is none.
  absl::Status Replace(llvm::CallInst& call, const std::string& name, unsigned order);

 private:
  llvm::Function* Define(const std::string& name, llvm::FunctionType* type, llvm::FunctionType* declared,
                         bool together);

  llvm::Module& module_;
  const std::string set_, arch_;
  BufferResources& resources_;
  std::map<std::tuple<std::string, llvm::FunctionType*, llvm::FunctionType*>, llvm::Function*> functions_;
};

// call_order.cc. The function's blocks, each after those that lead to it, and all of a loop before what follows it.
llvm::SmallVector<llvm::BasicBlock*> BlocksInOrder(llvm::Function& function);

// amdgcn_fences.cc. Whether accesses to shared memory on both sides of the barrier, or of the split barrier's wait, are
// in order. A fence before it and one after it say so, or a wait before it.
bool OrdersShared(const llvm::CallInst& barrier, llvm::StringRef arch);

// hidden_arguments.cc. The calls of llvm.amdgcn.implicitarg.ptr and dispatch.ptr get memory that says how the grid is.
void BindHiddenArguments(llvm::ArrayRef<llvm::CallInst*> calls, int threads);

// amdgcn_assembly.cc. Known inline assembly becomes calls of intrinsics, which join `calls`, or nothing.
// InvalidArgument, naming the instruction, for all other.
absl::Status ReplaceAmdAssembly(llvm::CallInst& call, llvm::StringRef arch,
                                llvm::SmallVectorImpl<llvm::CallInst*>& calls);

}  // namespace tritond::compiler::emulated

#endif  // COMPILER_TARGETS_EMULATED_AMDGCN_CALLS_H_
