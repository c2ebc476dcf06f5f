// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/amd/amd_target.h"

#include "absl/strings/str_cat.h"
#include "compiler/targets/amd/amd_ops.h"
#include "compiler/targets/amd/architecture.h"
#include "compiler/targets/amd/codegen.h"
#include "compiler/targets/amd/inline_assembly.h"
#include "compiler/targets/amd/matrix_instructions.h"
#include "compiler/targets/amd/own_options.h"
#include "compiler/targets/amd/passes.h"
#include "compiler/targets/amd/pipeline.h"
#include "compiler/targets/work_process.h"
#include "llvm/Config/llvm-config.h"

namespace tritond::compiler::amd {
namespace {

constexpr int kAssembleSeconds = 100;

std::string TargetName(const Architecture& arch) { return absl::StrCat("hip:", arch.name); }

AsyncCopies CopiesOf(DirectCopies copies) {
  AsyncCopies info;
  for (int bytes : {16, 8, 4}) {
    if (!HasCopyOf(copies, bytes)) continue;
    info.least_bytes = bytes;
    info.most_bytes = std::max(info.most_bytes, bytes);
  }
  info.in_lane_order = info.any() && WriteInLaneOrder(copies);
  return info;
}

TargetInfo Describe(const Architecture& arch) {
  TargetInfo info;
  info.name = TargetName(arch);
  info.backend = "hip";
  info.arch = arch.name;
  info.asm_format = "amdgcn";
  info.binary_format = "hsaco";
  info.lanes = arch.lanes;
  info.max_shared_bytes = arch.max_shared_bytes;
  info.async_copies = CopiesOf(arch.copies);
  info.matrix_instructions = MatrixShapesOf(arch);
  info.default_stages = 2;
  info.own_options = OwnRules();
  return info;
}

class AmdTarget final : public Target {
 public:
  AmdTarget(const Architecture& arch, const TargetConfig& config)
      : arch_(arch),
        info_(Describe(arch)),
        ops_(arch),
        library_(DeviceLibrary::ForConfig(config)),
        // lld resets the options of all of LLVM, which other targets go by: it never runs in this process.
        assembler_("the assembler",
                   [&arch](absl::string_view text) { return AssembleAmdgcn(std::string(text), arch); }) {}

  const TargetInfo& Info() const override { return info_; }
  const TargetOps& Ops() const override { return ops_; }
  absl::Status CheckInlineAssembly(absl::string_view text) const override { return amd::CheckInlineAssembly(text); }
  absl::Status FinishOptions(OwnOptions& own) const override {
    if (absl::Status status = CheckTileRows(own); !status.ok()) return status;
    return CheckScheduleHint(own);
  }

  void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const override {
    amd::AddTtirPasses(pm, options);
  }
  void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const override {
    amd::AddTtgirPasses(pm, options, info_, arch_);
  }
  void AddLlirPasses(mlir::OpPassManager& pm, const KernelOptions& /*options*/) const override {
    amd::AddLlirPasses(pm, info_);
  }

  absl::Status Optimize(llvm::Module& module, const KernelOptions& options) override {
    absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = MakeTargetMachine(arch_, options);
    if (!machine.ok()) return machine.status();
    return OptimizeModule(module, **machine, arch_, *library_, options);
  }

  absl::StatusOr<std::string> EmitAsm(llvm::Module& module, const KernelOptions& options) override {
    absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = MakeTargetMachine(arch_, options);
    if (!machine.ok()) return machine.status();
    return EmitAmdgcn(module, **machine, arch_, *library_);
  }

  std::string KernelName(const std::string& text) const override { return KernelOf(text); }

  absl::Status CheckBinary(const std::string& binary, const std::string& kernel) const override {
    return CheckHsaco(binary, arch_, kernel);
  }

  BinaryResources ResourcesOf(const std::string& text, const std::string& binary,
                              const std::string& kernel) const override {
    return ResourcesOfAssembly(text);
  }

  absl::StatusOr<std::string> Assemble(const std::string& text, const KernelOptions& options) override {
    return assembler_.Run(text, kAssembleSeconds);
  }

  absl::Status AssemblerStatus() override { return absl::OkStatus(); }

  std::vector<std::string> LoadTools() override {
    library_->Id();  // It reads them all.
    return {};
  }

  std::string ToolsId() override { return absl::StrCat("lld ", LLVM_VERSION_STRING, "; ", library_->Id()); }
  std::string AssemblyToolsId() override { return library_->Id(); }

 private:
  const Architecture& arch_;
  const TargetInfo info_;
  const AmdOps ops_;
  const std::shared_ptr<DeviceLibrary> library_;
  WorkProcess assembler_;
};

}  // namespace

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const Architecture& arch : kArchitectures) names.push_back(TargetName(arch));
  return names;
}

std::unique_ptr<Target> MakeTarget(absl::string_view name, const TargetConfig& config) {
  for (const Architecture& arch : kArchitectures) {
    if (TargetName(arch) == name) return std::make_unique<AmdTarget>(arch, config);
  }
  return nullptr;
}

void RegisterPasses() { registerTritondAmdPasses(); }

}  // namespace tritond::compiler::amd
