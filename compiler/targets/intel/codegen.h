// SPDX-License-Identifier: Apache-2.0
// LLVM IR to SPIR-V: the steps after IntelTarget::Optimize, EmitAsm and Assemble.
#ifndef COMPILER_TARGETS_INTEL_CODEGEN_H_
#define COMPILER_TARGETS_INTEL_CODEGEN_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/targets/intel/architecture.h"
#include "compiler/targets/target.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace tritond::compiler::intel {

// A constant i32 of the module from note_shared_memory.cc to SetKernelSignature: the bytes of shared memory.
inline constexpr char kSharedBytes[] = "tritond.shared_bytes";

// target_machine.cc. LLVM's description of SPIR-V for OpenCL. Internal: this LLVM has no SPIR-V back end.
absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine();

// optimize.cc. Gives functions with the attribute "tritond.kernel" the calling convention, the signature and the launch
// bounds of a kernel. Inlines everything else into them, and runs LLVM's O3. InvalidArgument: no kernel, LLVM IR that
// SPIR-V cannot express, or f64 where the device has none.
absl::Status OptimizeModule(llvm::Module& module, llvm::TargetMachine& machine, const Device& device,
                            const KernelOptions& options);

// kernel_signature.cc. Shared memory becomes the kernel's last parameter, and bf16 ones become integers. The kernel
// that replaces `kernel`, which is gone. InvalidArgument: another function uses shared memory.
absl::StatusOr<llvm::Function*> SetKernelSignature(llvm::Function* kernel);

// guard_divisions.cc. Divisions by zero, and by values that are not defined, have some result.
void GuardDivisions(llvm::Module& module);

// fused_bfloat.cc. Fused multiply-adds of bf16 are computed in f64, and round once.
void ExpandFusedBfloat(llvm::Module& module);

// remove_bfloat.cc. bf16 becomes i16, and arithmetic with it that of f32. InvalidArgument, naming the instruction,
// where that is not the same.
absl::Status RemoveBfloat(llvm::Module& module);

// widen_integers.cc. Integers of odd widths become i32 where their bits only change places.
void WidenIntegers(llvm::Function& function);

// expand_intrinsics.cc. What the back end lacks, or makes something else of, in terms of what it has. InvalidArgument,
// naming it, for what cannot be expressed.
absl::Status ExpandIntrinsics(llvm::Module& module);

// write_spirv.cc. The binary of a module. Internal, with the back end's words or the signal that it died of, when it
// rejects the module; others as RunIsolated.
absl::StatusOr<std::string> WriteSpirv(llvm::Module& module);

// check_spirv.cc. The name of the first entry point of SPIR-V text; empty when there is none.
std::string KernelOf(absl::string_view text);
// Ok when the bytes are a SPIR-V module of the version and for the capabilities that we write. The module must have the
// entry point `kernel` for sub-groups of the device's size, and be as CheckValues wants it. It must leave no function
// open that drivers do not provide. Internal with what is wrong.
absl::Status CheckSpirv(absl::string_view binary, const Device& device, absl::string_view kernel);

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_CODEGEN_H_
