// SPDX-License-Identifier: Apache-2.0
// The steps from a GPU's LLVM IR to LLVM IR for x86-64 that calls the emulator's run-time for what only the GPU has.
#ifndef COMPILER_TARGETS_EMULATED_EMULATE_H_
#define COMPILER_TARGETS_EMULATED_EMULATE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/targets/target.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::emulated {

// What the translation of a piece of PTX needs to know.
struct PtxCall {
  std::string text;  // with operands as $0, $1, …
  llvm::FunctionType* type = nullptr;
  llvm::InlineAsm::ConstraintInfoVector constraints;
  int threads = 0;  // of a program
};

// ptx_function.cc. The function, marked with host::kSiteAttr, that does what the text says; its parameters are a place
// and then the inputs. InvalidArgument, naming the instruction, for what the emulator does not know.
absl::StatusOr<llvm::Function*> DefinePtxFunction(llvm::Module& module, const PtxCall& call);
// What such a function returned, as a value of the type that the text has. Floats are returned as their bits.
llvm::Value* FromReturnedBits(llvm::IRBuilder<>& b, llvm::Value* returned, llvm::Type* type);

// nvvm_intrinsics.cc. The inline PTX that does what an intrinsic of LLVM's NVPTX back end does, operands as $0, $1, …,
// results first. Empty when there is none.
std::string PtxOfIntrinsic(llvm::StringRef name);

// emulate_nvidia.cc. Everything of NVIDIA's in a module that NvidiaTarget::Optimize has left becomes calls and code for
// any machine; its kernels get the attribute "tritond.kernel". InvalidArgument as above.
absl::Status EmulateNvidia(llvm::Module& module, const KernelOptions& options, const TargetInfo& device = {});

// emulate_amd.cc. The same for a module that AMD's back end would take: kernels by their calling convention, intrinsics
// llvm.amdgcn.*, buffer descriptors, hidden arguments.
absl::Status EmulateAmd(llvm::Module& module, const KernelOptions& options, const TargetInfo& device);

// emulate_intel.cc. The same for a module that IntelTarget::Optimize has left: kernels by their calling convention, and
// the functions of OpenCL and SPIR-V that they call.
absl::Status EmulateIntel(llvm::Module& module, const KernelOptions& options, const TargetInfo& device);

}  // namespace tritond::compiler::emulated

#endif  // COMPILER_TARGETS_EMULATED_EMULATE_H_
