// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/nvidia_target.h"

#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/targets/nvidia/architecture.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/matrix_shapes.h"
#include "compiler/targets/nvidia/nvidia_ops.h"
#include "compiler/targets/nvidia/own_options.h"
#include "compiler/targets/nvidia/passes.h"
#include "compiler/targets/nvidia/pipeline.h"
#include "compiler/targets/nvidia/second_assembly.h"
#include "compiler/targets/nvidia/toolchain.h"
#include "compiler/targets/nvidia/warp_group_dots.h"

namespace tritond::compiler::nvidia {
namespace {

std::string TargetName(const Architecture& arch) { return absl::StrCat("cuda:", arch.compute_capability); }

// PTX ISA, "setmaxnreg".
constexpr RegisterExchange kRegisterExchange = {/*step=*/8, /*least=*/24, /*most=*/256};

TargetInfo Describe(const Architecture& arch) {
  TargetInfo info;
  info.name = TargetName(arch);
  info.backend = "cuda";
  info.arch = arch.compute_capability;
  info.asm_format = "ptx";
  info.binary_format = "cubin";
  info.disassembly_format = "sass";
  info.max_ctas = arch.compute_capability >= kFirstWithClusters ? 16 : 1;
  info.max_shared_bytes = arch.max_shared_bytes;
  info.registers = kRegisters;
  info.multiprocessor = {arch.max_warps, arch.max_blocks,
                         kRegisterUnit,  arch.max_shared_bytes + kReservedSharedBytes,
                         kSharedUnit,    kReservedSharedBytes};
  info.multiprocessors = arch.multiprocessors;
  info.warps_of_group = arch.compute_capability >= kFirstWithWarpGroups ? kWarpsOfGroup : 1;
  if (arch.compute_capability >= kFirstWithWarpGroups) info.register_exchange = kRegisterExchange;
  info.max_add_bytes = arch.compute_capability >= kFirstWithVectorAtomics ? 16 : 4;
  info.reads_whole_words = true;
  info.async_copies = {4, 16};
  info.matrix_instructions = MatrixShapesOf(arch);
  // Four schedulers a multiprocessor, 32 banks of four bytes.
  info.rates = {/*issued_warps=*/4, /*shared_bytes=*/128, /*pairs_share_reads=*/true,
                /*fill_bytes=*/64,  arch.clock,           arch.memory_bytes,
                kMemoryLatency,     kBlockLaunch,         arch.cache_bytes};
  // The assembler is NVIDIA's: PTX has no directive that reads a file, and the code runs on a GPU.
  info.takes_foreign_assembly = info.takes_assembly_text = true;
  info.own_options = OwnRules();
  return info;
}

class NvidiaTarget final : public Target {
 public:
  NvidiaTarget(const Architecture& arch, const TargetConfig& config)
      : arch_(arch),
        info_(Describe(arch)),
        ops_(arch.compute_capability, &TtngLowerings()),
        toolchain_(Toolchain::ForConfig(config)),
        assembler_cpu_seconds_(config.assembler_cpu_seconds) {}

  const TargetInfo& Info() const override { return info_; }
  const TargetOps& Ops() const override { return ops_; }
  absl::Status FinishOptions(OwnOptions& own) const override { return FinishPtxOptions(own); }

  void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const override {
    nvidia::AddTtirPasses(pm, options, arch_);
  }
  void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const override {
    nvidia::AddTtgirPasses(pm, options, info_, arch_);
  }
  void AddLlirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const override {
    nvidia::AddLlirPasses(pm, options, info_);
  }

  absl::Status Optimize(llvm::Module& module, const KernelOptions& options) override {
    absl::StatusOr<llvm::TargetMachine*> machine = Machine(options);
    if (!machine.ok()) return machine.status();
    return OptimizeModule(module, **machine, *toolchain_, options);
  }

  absl::StatusOr<std::string> EmitAsm(llvm::Module& module, const KernelOptions& options) override {
    absl::StatusOr<llvm::TargetMachine*> machine = Machine(options);
    if (!machine.ok()) return machine.status();
    if (!writer_) writer_ = std::make_unique<AssemblyWriter>(**machine, kPtxMotion);
    absl::StatusOr<std::string> text = EmitPtx(module, *writer_, arch_, PtxVersion(options), options);
    // What a fatal error leaves of them is not known.
    if (!text.ok()) {
      writer_.reset();
      machine_.reset();
    }
    return text;
  }

  std::string KernelName(const std::string& text) const override { return EntryOf(text); }

  absl::Status CheckBinary(const std::string& binary, const std::string& kernel) const override {
    return CheckCubin(binary, arch_, kernel);
  }

  absl::StatusOr<std::string> Assemble(const std::string& text, const KernelOptions& options) override {
    absl::StatusOr<const Assembler*> assembler = toolchain_->GetAssembler();
    if (!assembler.ok()) return assembler.status();
    AssembleOptions assemble;
    assemble.arch = arch_.name;
    assemble.fp_fusion = options.enable_fp_fusion;
    assemble.line_info = options.debug_info;
    assemble.cpu_seconds = assembler_cpu_seconds_;
    assemble.extra = absl::StrSplit(options.own.Text(kAssemblerFlags), absl::ByAnyChar(" \t\n"), absl::SkipEmpty());
    return AssembleBest(**assembler, text, assemble, options.num_warps, info_);
  }

  BinaryResources ResourcesOf(const std::string& text, const std::string& binary,
                              const std::string& kernel) const override {
    return ResourcesOfCubin(binary, kernel);
  }

  absl::StatusOr<std::string> Disassemble(const std::string& binary) override {
    absl::StatusOr<const Disassembler*> disassembler = toolchain_->GetDisassembler();
    if (!disassembler.ok()) return disassembler.status();
    return (*disassembler)->Disassemble(binary, assembler_cpu_seconds_);
  }

  absl::Status DisassemblerStatus() override { return toolchain_->GetDisassembler().status(); }

  absl::Status AssemblerStatus() override {
    absl::StatusOr<const Assembler*> assembler = toolchain_->GetAssembler();
    if (!assembler.ok()) return assembler.status();
    if ((*assembler)->PtxVersion() >= arch_.min_ptx_version) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat((*assembler)->Name(), " is too old for ", arch_.name));
  }

  std::vector<std::string> LoadTools() override {
    toolchain_->Id();  // It reads them all.
    std::vector<std::string> programs;
    if (absl::StatusOr<const Assembler*> found = toolchain_->GetAssembler(); found.ok() && (*found)->IsProgram())
      programs.push_back(std::filesystem::absolute((*found)->Path()).string());
    if (absl::StatusOr<const Disassembler*> found = toolchain_->GetDisassembler(); found.ok())
      programs.push_back(std::filesystem::absolute((*found)->path()).string());
    return programs;
  }

  std::string ToolsId() override { return toolchain_->Id(); }

  std::string AssemblyToolsId() override {
    return absl::StrCat("PTX ", PtxVersion(KernelOptions()), "; ", toolchain_->LibdeviceId());
  }

 private:
  // The option's, else the assembler's, else the oldest that will do.
  int PtxVersion(const KernelOptions& options) {
    if (const int asked = options.own.Integer(kPtxVersion, 0); asked > 0) return asked;
    absl::StatusOr<const Assembler*> assembler = toolchain_->GetAssembler();
    const int newest = assembler.ok() ? (*assembler)->PtxVersion() : kMaxLlvmPtxVersion;
    return std::max(newest, arch_.min_ptx_version);
  }

  // For these options; the last one is kept, for most kernels have the same.
  absl::StatusOr<llvm::TargetMachine*> Machine(const KernelOptions& options) {
    const int version = PtxVersion(options);
    if (version < arch_.min_ptx_version) {
      return absl::InvalidArgumentError(
          absl::StrCat("ptx_version ", version, " has no ", arch_.name, "; it needs at least ", arch_.min_ptx_version));
    }
    if (!machine_ || machine_version_ != version || machine_fuses_ != options.enable_fp_fusion) {
      absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> made = MakeTargetMachine(arch_, version, options);
      if (!made.ok()) return made.status();
      writer_.reset();
      machine_ = *std::move(made);
      machine_version_ = version;
      machine_fuses_ = options.enable_fp_fusion;
    }
    return machine_.get();
  }

  const Architecture& arch_;
  const TargetInfo info_;
  NvidiaOps ops_;
  std::shared_ptr<Toolchain> toolchain_;
  const int assembler_cpu_seconds_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  std::unique_ptr<AssemblyWriter> writer_;  // for it
  int machine_version_ = 0;                 // of PTX
  bool machine_fuses_ = false;
};

}  // namespace

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const Architecture& arch : kArchitectures) names.push_back(TargetName(arch));
  return names;
}

std::unique_ptr<Target> MakeTarget(absl::string_view name, const TargetConfig& config) {
  for (const Architecture& arch : kArchitectures) {
    if (TargetName(arch) == name) return std::make_unique<NvidiaTarget>(arch, config);
  }
  return nullptr;
}

void RegisterPasses() { registerTritondNvidiaPasses(); }

void RegisterDialects(mlir::DialectRegistry& registry) { registry.insert<ttng::TTNGDialect>(); }

}  // namespace tritond::compiler::nvidia
