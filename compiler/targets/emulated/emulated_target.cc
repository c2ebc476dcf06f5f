// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/emulated/emulated_target.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/targets/emulated/emulate.h"
#include "compiler/targets/host/host_target.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace tritond::compiler::emulated {
namespace {

constexpr char kPrefix[] = "emulated:";

using Emulate = absl::Status (*)(llvm::Module& module, const KernelOptions& options, const TargetInfo& device);

// Vendors whose instructions there are tables of, by how their targets' names begin.
struct Family {
  absl::string_view prefix;
  Emulate emulate;
};
constexpr Family kFamilies[] = {{"cuda:", EmulateNvidia}, {"hip:", EmulateAmd}, {"xpu:", EmulateIntel}};

const Family* FamilyOf(absl::string_view target) {
  for (const Family& family : kFamilies)
    if (absl::StartsWith(target, family.prefix)) return &family;
  return nullptr;
}

TargetInfo Describe(const TargetInfo& device, const TargetInfo& host) {
  TargetInfo info = device;
  info.name = absl::StrCat(kPrefix, device.name);
  info.backend = absl::StrCat(kPrefix, device.backend);
  info.asm_format = host.asm_format;
  info.binary_format = host.binary_format;
  info.needs_locations = true;
  // Every piece of inline assembly is understood and becomes calls; none of it is assembled, and no text is taken.
  info.takes_assembly_text = false;
  return info;
}

class EmulatedTarget final : public Target {
 public:
  explicit EmulatedTarget(std::unique_ptr<Target> device)
      : device_(std::move(device)), host_(host::MakeTarget("host")), info_(Describe(device_->Info(), host_->Info())) {}

  const TargetInfo& Info() const override { return info_; }
  const TargetOps& Ops() const override { return device_->Ops(); }
  absl::Status CheckInlineAssembly(absl::string_view text) const override { return device_->CheckInlineAssembly(text); }
  absl::Status FinishOptions(OwnOptions& own) const override { return device_->FinishOptions(own); }

  void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const override {
    device_->AddTtirPasses(pm, options);
  }
  void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const override {
    device_->AddTtgirPasses(pm, options);
  }
  void AddLlirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const override {
    device_->AddLlirPasses(pm, options);
  }

  absl::Status Optimize(llvm::Module& module, const KernelOptions& options) override {
    KernelOptions with_places = options;
    with_places.debug_info = true;
    return device_->Optimize(module, with_places);
  }

  absl::StatusOr<std::string> EmitAsm(llvm::Module& module, const KernelOptions& options) override {
    std::unique_ptr<llvm::Module> clone = llvm::CloneModule(module);
    const Emulate emulate = FamilyOf(device_->Info().name)->emulate;
    if (absl::Status status = emulate(*clone, options, device_->Info()); !status.ok()) return status;
    if (absl::Status status = host_->Optimize(*clone, options); !status.ok()) return status;
    return host_->EmitAsm(*clone, options);
  }

  std::string KernelName(const std::string& text) const override { return host_->KernelName(text); }
  absl::Status CheckBinary(const std::string& binary, const std::string& kernel) const override {
    return host_->CheckBinary(binary, kernel);
  }
  absl::StatusOr<std::string> Assemble(const std::string& text, const KernelOptions& options) override {
    return host_->Assemble(text, options);
  }
  absl::Status AssemblerStatus() override { return host_->AssemblerStatus(); }

  std::string ToolsId() override { return device_->ToolsId(); }
  std::string AssemblyToolsId() override {
    return absl::StrCat(device_->AssemblyToolsId(), "; ", host_->AssemblyToolsId());
  }

 private:
  const std::unique_ptr<Target> device_;
  const std::unique_ptr<Target> host_;
  const TargetInfo info_;
};

}  // namespace

std::vector<std::string> TargetNames(const std::vector<std::string>& names) {
  std::vector<std::string> emulated;
  for (const std::string& name : names)
    if (FamilyOf(name)) emulated.push_back(absl::StrCat(kPrefix, name));
  return emulated;
}

std::unique_ptr<Target> MakeTarget(absl::string_view name,
                                   const std::function<std::unique_ptr<Target>(absl::string_view)>& find) {
  if (!absl::ConsumePrefix(&name, kPrefix) || !FamilyOf(name)) return nullptr;
  std::unique_ptr<Target> device = find(name);
  return device ? std::make_unique<EmulatedTarget>(std::move(device)) : nullptr;
}

}  // namespace tritond::compiler::emulated
