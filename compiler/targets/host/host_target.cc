// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/host/host_target.h"

#include "absl/strings/str_cat.h"
#include "compiler/targets/assembly_text.h"
#include "compiler/targets/elf_image.h"
#include "compiler/targets/host/codegen.h"
#include "compiler/targets/host/host_ops.h"
#include "compiler/targets/host/pipeline.h"
#include "compiler/targets/host/runtime.h"
#include "compiler/targets/isolated_work.h"
#include "compiler/targets/work_process.h"
#include "llvm/Config/llvm-config.h"

namespace tritond::compiler::host {
namespace {

constexpr int64_t kMaxSharedBytes = 256 << 10;  // as workers/device/host_device.cc has it
constexpr int kMaxThreads = 1024;

constexpr int kLinkSeconds = 100;

absl::StatusOr<std::string> AssembleAndLink(absl::string_view text) {
  absl::StatusOr<std::string> object = AssembleObject(std::string(text));
  if (!object.ok()) return object.status();
  return LinkObject(*object);
}

TargetInfo Describe(std::string name, int lanes) {
  TargetInfo info;
  info.name = std::move(name);
  info.backend = "host";
  info.arch = lanes == 32 ? 0 : lanes;
  info.asm_format = "s";
  info.binary_format = "so";
  info.lanes = lanes;
  info.max_threads = kMaxThreads;
  info.max_shared_bytes = kMaxSharedBytes;
  info.async_copies = {4, 16};
  info.needs_locations = true;
  return info;
}

class HostTarget final : public Target {
 public:
  HostTarget(std::string name, int warp_size)
      : info_(Describe(std::move(name), warp_size)), ops_(warp_size), linker_("the linker", AssembleAndLink) {}

  const TargetInfo& Info() const override { return info_; }
  const TargetOps& Ops() const override { return ops_; }

  void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const override {
    host::AddTtirPasses(pm, options);
  }
  void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const override {
    host::AddTtgirPasses(pm, options, info_);
  }
  void AddLlirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const override {
    host::AddLlirPasses(pm, options);
  }

  absl::Status Optimize(llvm::Module& module, const KernelOptions& options) override {
    absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = MakeTargetMachine();
    if (!machine.ok()) return machine.status();
    return OptimizeModule(module, **machine, options);
  }

  absl::StatusOr<std::string> EmitAsm(llvm::Module& module, const KernelOptions& options) override {
    absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = MakeTargetMachine();
    if (!machine.ok()) return machine.status();
    return WriteAssemblyText(module, **machine);
  }

  std::string KernelName(const std::string& text) const override { return KernelNameIn(text); }

  absl::Status CheckBinary(const std::string& binary, const std::string& kernel) const override {
    absl::StatusOr<ElfImage> image = ElfImage::Parse(binary);
    if (!image.ok()) return image.status();
    if (image->machine() != kElfMachineX86 || image->type() != kElfSharedObject)
      return absl::InternalError("the binary is no shared object for x86-64");
    return image->RequireFunction(kernel);
  }

  absl::StatusOr<std::string> Assemble(const std::string& text, const KernelOptions& options) override {
    // lld resets the options of all of LLVM, which other targets go by: it never runs in this process.
    if (!options.foreign_asm) return linker_.Run(text, kLinkSeconds);
    // LLVM's assembler takes its own text; it crashes on some that others write.
    return RunIsolated("the assembler", [&] { return AssembleAndLink(text); });
  }

  absl::Status AssemblerStatus() override { return absl::OkStatus(); }

  std::string ToolsId() override {
    return absl::StrCat("host ABI ", kAbiVersion, " ", kCpu, " lld ", LLVM_VERSION_STRING);
  }

  std::string AssemblyToolsId() override { return ToolsId(); }

 private:
  const TargetInfo info_;
  const HostOps ops_;
  WorkProcess linker_;
};

}  // namespace

std::vector<std::string> TargetNames() { return {"host", "host:64"}; }

std::unique_ptr<Target> MakeTarget(absl::string_view name, const TargetConfig&) {
  if (name == "host") return std::make_unique<HostTarget>("host", 32);
  if (name == "host:64") return std::make_unique<HostTarget>("host:64", 64);
  return nullptr;
}

}  // namespace tritond::compiler::host
