// SPDX-License-Identifier: Apache-2.0
// LLVM IR to a shared object: the steps after HostTarget::Optimize, EmitAsm and Assemble.
#ifndef COMPILER_TARGETS_HOST_CODEGEN_H_
#define COMPILER_TARGETS_HOST_CODEGEN_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/targets/target.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace tritond::compiler::host {

inline constexpr char kTriple[] = "x86_64-unknown-linux-gnu";
inline constexpr char kCpu[] = "x86-64-v3";

// target_machine.cc. Makes LLVM's x86 back end known; any number of times, from any thread.
void InitializeBackEnd();
// LLVM's description of the processor, position-independent. Internal: this LLVM has no x86 back end.
absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine();

// optimize.cc. All steps below in their order, around LLVM's own passes. InvalidArgument: no kernel, a kernel named
// like a function of the C library, or a call of an unknown function, which the message names.
absl::Status OptimizeModule(llvm::Module& module, llvm::TargetMachine& machine, const KernelOptions& options);

// export_kernels.cc. Each function with the attribute "tritond.kernel" becomes an internal body and an exported
// function that takes its parameters by address; other functions become internal. InvalidArgument as above.
absl::Status ExportKernels(llvm::Module& module);

// bind_shared_memory.cc. The uses of the shared memory symbol become the pointer that the run-time gives.
void BindSharedMemory(llvm::Module& module);

// instrument_accesses.cc. A check before every access to global and shared memory; the places of all calls that tell
// one.
void InstrumentAccesses(llvm::Module& module);

// guard_divisions.cc. Integer divisions that would trap do not.
void GuardDivisions(llvm::Module& module);

// split_blocks.cc. Cuts basic blocks that LLVM would take too long for.
void SplitLargeBlocks(llvm::Module& module);

// narrow_floats.cc. Adds the conversions to bf16 and f16 that x86 code calls and no C library has.
void AddNarrowFloatFunctions(llvm::Module& module);

// bind_runtime.cc. Gives the declared run-time functions bodies, and adds the exported variables.
void BindRuntime(llvm::Module& module);

// target_machine.cc. The name of the kernel in assembly text that LLVM wrote: its one exported function. Empty when
// there is none.
std::string KernelNameIn(const std::string& text);

// assemble.cc. The ELF object of assembly text (see AssembleText).
absl::StatusOr<std::string> AssembleObject(const std::string& text);

// assemble.cc. The shared object of one object. Internal with the linker's log, or naming a symbol that neither the
// object nor the C library has. As LinkSharedObject.
absl::StatusOr<std::string> LinkObject(const std::string& object);

}  // namespace tritond::compiler::host

#endif  // COMPILER_TARGETS_HOST_CODEGEN_H_
