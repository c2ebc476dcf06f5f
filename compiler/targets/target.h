// SPDX-License-Identifier: Apache-2.0
// A target: everything the compiler knows about one family of devices, behind one interface.
#ifndef COMPILER_TARGETS_TARGET_H_
#define COMPILER_TARGETS_TARGET_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/lowering/target_ops.h"
#include "compiler/targets/residency.h"
#include "compiler/targets/target_info.h"
#include "mlir/Pass/PassManager.h"

namespace llvm {
class Module;
}

namespace tritond::compiler {

// The options that act, checked; everything else a request holds is only echoed. Defaults are upstream's.
struct KernelOptions {
  int num_warps = 4;   // a power of two
  int num_ctas = 1;    // blocks of a cluster
  int num_stages = 3;  // depth of software pipelines
  bool enable_fp_fusion = true;
  bool debug = false;             // device assertions act
  bool debug_info = false;        // line tables in the binary
  bool foreign_asm = false;       // the assembly text is a caller's, not EmitAsm's
  int descriptor_flags = 1;       // of the launch ABI: i1 parameters after the strides of a tensor descriptor
  bool global_scratch = true;     // of the launch ABI: programs can have global memory of their own
  bool host_tensor_maps = false;  // of the launch ABI: the launcher makes tensor maps of descriptors
  OwnOptions own;                 // those of TargetInfo::own_options
};

// One target, for example "cuda:90". Made by FindTarget; used by one thread at a time. Keeps what is slow to load
// (bitcode libraries, the assembler) between compiles.
class Target {
 public:
  virtual ~Target() = default;

  // Constant.
  virtual const TargetInfo& Info() const = 0;
  virtual const TargetOps& Ops() const = 0;
  // Ok when this text of inline assembly may become part of the code though the target takes no other foreign assembly
  // (TargetInfo::takes_foreign_assembly). InvalidArgument with the reason, which follows the word "assembly".
  virtual absl::Status CheckInlineAssembly(absl::string_view text) const {
    return absl::InvalidArgumentError(absl::StrCat(
        "which target ", Info().name, " does not take; write it as operations, or compile for another target"));
  }
  // Completes the target's own options, each of which keeps its rule. InvalidArgument: what no rule can tell is wrong.
  virtual absl::Status FinishOptions(OwnOptions& own) const { return absl::OkStatus(); }

  // Adds the passes from parsed to canonical ttir, then to ttgir, then to what LowerToLlvm takes. Each in one function
  // of one file: <target>/pipeline.cc.
  virtual void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const = 0;
  virtual void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const = 0;
  virtual void AddLlirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const = 0;

  // `module` is fresh from the LLVM dialect. Verifies it, which nobody has done yet. Links the device library where
  // symbols are open, marks the kernels (functions with the string attribute "tritond.kernel") and optimises. Failure
  // names the unresolved symbol.
  virtual absl::Status Optimize(llvm::Module& module, const KernelOptions& options) = 0;
  // Assembly text of an optimised module.
  virtual absl::StatusOr<std::string> EmitAsm(llvm::Module& module, const KernelOptions& options) = 0;
  // The name of the kernel in assembly text; empty when there is none.
  virtual std::string KernelName(const std::string& text) const = 0;
  // Ok when `binary` can be what Assemble makes of a text with this kernel: format, machine and the kernel's symbol are
  // right. Internal with what is wrong.
  virtual absl::Status CheckBinary(const std::string& binary, const std::string& kernel) const = 0;
  // What artifacts call the format of `binary`, which Assemble made.
  virtual std::string BinaryFormat(const std::string& binary) const { return Info().binary_format; }
  // The binary. FailedPrecondition: no assembler on this machine. ResourceExhausted: the kernel does not fit the
  // device. Otherwise Internal with the assembler's log.
  virtual absl::StatusOr<std::string> Assemble(const std::string& text, const KernelOptions& options) = 0;
  // What the binary of this kernel takes of the device, as far as it and its assembly text tell.
  virtual BinaryResources ResourcesOf(const std::string& text, const std::string& binary,
                                      const std::string& kernel) const {
    return {};
  }
  // The binary's instructions as text, with source lines where it has line tables. FailedPrecondition: no disassembler
  // on this machine. Unimplemented: the target has none (TargetInfo::disassembly_format is empty).
  virtual absl::StatusOr<std::string> Disassemble(const std::string& binary) {
    return absl::UnimplementedError("the target has no disassembler");
  }
  // Ok when Disassemble can work on this machine, else what it would return.
  virtual absl::Status DisassemblerStatus() { return Disassemble("").status(); }
  // Ok when Assemble can work on this machine, else what it would return.
  virtual absl::Status AssemblerStatus() = 0;

  // Loads all that the steps above open. Returns the programs that they run, by their absolute paths. Also returns the
  // libraries that these load beside those that they are linked with.
  virtual std::vector<std::string> LoadTools() { return {}; }

  // Everything outside the request that can change the bytes: digests of device library and assembler.
  virtual std::string ToolsId() = 0;
  // The part of it that can change assembly text; what the assembler takes belongs to it where EmitAsm goes by that.
  virtual std::string AssemblyToolsId() = 0;
};

// Where targets look for tools, besides the vendors' usual places; first match wins.
struct TargetConfig {
  // Folders laid out as a CUDA toolkit (bin/, lib64/ or lib/, nvvm/libdevice/), or into which pip has put NVIDIA's
  // wheels. Messages propose to install what is missing into the last one.
  std::vector<std::string> tool_roots;
  // or as ROCm (amdgcn/bitcode/)
  std::vector<std::string> path_dirs;  // the entries of PATH, as the caller read it; searched for programs last
  bool search_usual_places = true;     // off: the two lists above alone, for tests
  int assembler_cpu_seconds = 100;     // what an assembler that is a program may take for a kernel
};

// All targets that the compiler has, by name, with no tool looked for yet.
std::vector<std::string> TargetNames();
// Whether some target has this option of its own.
bool IsOwnOption(const std::string& name);
// Make the targets' own passes and dialects known by name, for triton-opt.
void RegisterTargetPasses();
void RegisterTargetDialects(mlir::DialectRegistry& registry);
// InvalidArgument, naming what there is, when `name` is none of them.
absl::StatusOr<std::unique_ptr<Target>> FindTarget(absl::string_view name, const TargetConfig& config);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_TARGET_H_
