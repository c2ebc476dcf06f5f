// SPDX-License-Identifier: Apache-2.0
// LLVM IR to a code object: the steps after AmdTarget::Optimize, EmitAsm and Assemble.
#ifndef COMPILER_TARGETS_AMD_CODEGEN_H_
#define COMPILER_TARGETS_AMD_CODEGEN_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/targets/amd/architecture.h"
#include "compiler/targets/amd/device_library.h"
#include "compiler/targets/target.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace tritond::compiler::amd {

// void (ptr format, ...): what a device print is until ExpandPrints. The same name as on the host, where it is a
// function of the run-time.
inline constexpr char kPrintFunction[] = "tritond.print";

// target_machine.cc. LLVM's description of the device. Internal: this LLVM has no AMDGPU back end.
absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(const Architecture& arch,
                                                                       const KernelOptions& options);

// optimize.cc. Sets the module's triple and data layout. Gives functions with the attribute "tritond.kernel" the
// calling convention and the launch bounds of a kernel, and everything else internal linkage. Links the device library
// when one of its functions is called; runs LLVM's O3. InvalidArgument: no kernel, or a call of an unknown function,
// which the message names. FailedPrecondition: the device library is needed and not there.
absl::Status OptimizeModule(llvm::Module& module, llvm::TargetMachine& machine, const Architecture& arch,
                            DeviceLibrary& library, const KernelOptions& options);

// link_device_library.cc. Resolves the module's open functions of ocml and ockl. Ok at once when there are none.
absl::Status LinkDeviceLibrary(llvm::Module& module, const Architecture& arch, DeviceLibrary& library);

// expand_prints.cc. Calls of kPrintFunction become calls of ockl, which LinkDeviceLibrary then resolves. Whether there
// were any. InvalidArgument: the format is no constant.
absl::StatusOr<bool> ExpandPrints(llvm::Module& module);

// The attribute of functions that names the back end's scheduler; one that reorders for parallelism, and one of fewest
// registers.
inline constexpr char kScheduleAttr[] = "amdgpu-sched-strategy", kParallelSchedule[] = "iterative-ilp",
                      kFewestRegisters[] = "iterative-minreg";

// schedule_hints.cc. What the option schedule_hint, which CheckScheduleHint takes, says to the back end.
void ApplyScheduleHints(llvm::Module& module, const KernelOptions& options);

// use_buffers.cc. Accesses to global memory become those to buffers, where 32 bits tell the distance from what all
// lanes share. Nothing on devices whose buffers have another descriptor.
void UseBuffers(llvm::Module& module, llvm::TargetMachine& machine, const Architecture& arch);

// expand_masked.cc. Masked loads and stores become accesses that the back end has.
void ExpandMaskedAccesses(llvm::Module& module);

// place_copy_waits.cc. Whether a function stands for a commit of copies to LDS or for a wait.
bool IsCopyMark(llvm::StringRef name);
// place_copy_waits.cc. Tells LLVM that commits and waits use nothing of what a launch gives a kernel, and no
// accumulators. It takes them for calls of unknown functions otherwise, and asks for all hidden arguments. Before O3.
void DescribeCopyMarks(llvm::Module& module);
// place_copy_waits.cc. Commits and waits become waits by counters; accesses to LDS are told from copies. After all
// passes that move or repeat code.
void PlaceCopyWaits(llvm::Module& module, const Architecture& arch, int num_warps);

// emit_amdgcn.cc. Assembly text of an optimised module. Internal: LLVM's back end rejects it. Others as OptimizeModule.
absl::StatusOr<std::string> EmitAmdgcn(llvm::Module& module, llvm::TargetMachine& machine, const Architecture& arch,
                                       DeviceLibrary& library);

// emit_amdgcn.cc. The code object of text that EmitAmdgcn wrote. As AssembleText and LinkSharedObject.
absl::StatusOr<std::string> AssembleAmdgcn(const std::string& text, const Architecture& arch);

// check_hsaco.cc. The vector registers of a thread, accumulators included, and its private memory, as the text's
// metadata has them; nothing where it has none.
BinaryResources ResourcesOfAssembly(absl::string_view text);
// check_hsaco.cc. The name of the first kernel of assembly text; empty when there is none.
std::string KernelOf(absl::string_view text);
// Ok when the bytes are a code object of version 5 for `arch` that defines the kernel and its descriptor, with nothing
// left open. Internal with what is wrong.
absl::Status CheckHsaco(absl::string_view hsaco, const Architecture& arch, absl::string_view kernel);

}  // namespace tritond::compiler::amd

#endif  // COMPILER_TARGETS_AMD_CODEGEN_H_
