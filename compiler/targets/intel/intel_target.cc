// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/intel_target.h"

#include "absl/strings/str_cat.h"
#include "compiler/targets/intel/architecture.h"
#include "compiler/targets/intel/block_reads.h"
#include "compiler/targets/intel/codegen.h"
#include "compiler/targets/intel/intel_ops.h"
#include "compiler/targets/intel/matrix_instructions.h"
#include "compiler/targets/intel/ocloc.h"
#include "compiler/targets/intel/own_options.h"
#include "compiler/targets/intel/passes.h"
#include "compiler/targets/intel/pipeline.h"
#include "compiler/targets/intel/spirv_text.h"
#include "compiler/targets/intel/ttig_dialect.h"
#include "compiler/targets/intel/zebin.h"

namespace tritond::compiler::intel {
namespace {

constexpr int kMaxThreads = 1024;

std::string TargetName(const Device& device) {
  const std::string name = absl::StrCat("xpu:", device.arch.name);
  return device.lanes == kSubGroupSizes[0] ? name : absl::StrCat(name, ":", device.lanes);
}

TargetInfo Describe(const Device& device) {
  TargetInfo info;
  info.name = TargetName(device);
  info.backend = "xpu";
  info.arch = device.arch.name;
  info.asm_format = "spirv";
  info.binary_format = "spv";
  info.lanes = device.lanes;
  info.max_threads = kMaxThreads;
  info.max_shared_bytes = device.arch.max_shared_bytes;
  info.matrix_instructions = MatrixShapesOf(device);
  info.default_stages = 2;
  info.own_options = OwnRules();
  return info;
}

class IntelTarget final : public Target {
 public:
  IntelTarget(const Device& device, const TargetConfig& config)
      : device_(device),
        info_(Describe(device)),
        ops_(device, &TtigLowerings()),
        ocloc_(Ocloc::Find(config)),
        cpu_seconds_(config.assembler_cpu_seconds) {}

  const TargetInfo& Info() const override { return info_; }
  const TargetOps& Ops() const override { return ops_; }
  absl::Status FinishOptions(OwnOptions& own) const override { return CheckRegisterMode(own); }

  void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const override {
    intel::AddTtirPasses(pm, options);
  }
  void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options) const override {
    intel::AddTtgirPasses(pm, options, info_, device_.arch);
  }
  void AddLlirPasses(mlir::OpPassManager& pm, const KernelOptions& /*options*/) const override {
    intel::AddLlirPasses(pm, info_);
  }

  absl::Status Optimize(llvm::Module& module, const KernelOptions& options) override {
    absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = MakeTargetMachine();
    if (!machine.ok()) return machine.status();
    return OptimizeModule(module, **machine, device_, options);
  }

  absl::StatusOr<std::string> EmitAsm(llvm::Module& module, const KernelOptions& options) override {
    absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = MakeTargetMachine();
    if (!machine.ok()) return machine.status();
    // Set already unless the caller's input is LLVM IR.
    module.setTargetTriple((*machine)->getTargetTriple());
    module.setDataLayout((*machine)->createDataLayout());
    if (absl::Status status = RemoveBfloat(module); !status.ok()) return status;
    if (absl::Status status = ExpandIntrinsics(module); !status.ok()) return status;
    absl::StatusOr<std::string> binary = WriteSpirv(module);
    if (!binary.ok()) return binary.status();
    return TextOf(*binary);
  }

  std::string KernelName(const std::string& text) const override { return KernelOf(text); }

  absl::Status CheckBinary(const std::string& binary, const std::string& kernel) const override {
    return IsNative(binary) ? CheckNative(binary, device_.lanes, kernel) : CheckSpirv(binary, device_, kernel);
  }

  std::string BinaryFormat(const std::string& binary) const override {
    return IsNative(binary) ? "zebin" : info_.binary_format;
  }

  absl::StatusOr<std::string> Assemble(const std::string& text, const KernelOptions& options) override {
    absl::StatusOr<std::string> spirv = AssembleSpirv(text);
    if (!spirv.ok() || !options.own.Boolean(kNative, false)) return spirv;
    // ocloc takes what is no whole module, too.
    const std::string kernel = KernelName(text);
    if (absl::Status sound = CheckSpirv(*spirv, device_, kernel); !sound.ok()) return sound;
    return CompileNative(*spirv, kernel, options.own.Text(kRegisterMode));
  }

  BinaryResources ResourcesOf(const std::string& text, const std::string& binary,
                              const std::string& kernel) const override {
    return IsNative(binary) ? ResourcesOfNative(binary, kernel) : BinaryResources{};
  }

  absl::Status AssemblerStatus() override { return absl::OkStatus(); }

  std::vector<std::string> LoadTools() override {
    if (!ocloc_.ok()) return {};
    (*ocloc_)->Id();  // It reads them all.
    return (*ocloc_)->Files();
  }

  // Without ocloc LLVM and nothing else, whose version every build id names.
  std::string ToolsId() override { return ocloc_.ok() ? (*ocloc_)->Id() : ""; }
  std::string AssemblyToolsId() override { return ""; }

 private:
  // The text is what is kept: it must give the back end's bytes again.
  static absl::StatusOr<std::string> TextOf(const std::string& binary) {
    absl::StatusOr<std::string> text = DisassembleSpirv(binary);
    if (!text.ok()) return text.status();
    absl::StatusOr<std::string> again = AssembleSpirv(*text);
    if (!again.ok()) return again.status();
    if (*again != binary) return absl::InternalError("the SPIR-V module is not what its text says");
    return text;
  }

  // A kernel that spills is compiled once more, with all registers, and what spills less is kept. A thread with more
  // registers leaves room for fewer threads.
  absl::StatusOr<std::string> CompileNative(const std::string& spirv, const std::string& kernel,
                                            const std::string& mode) const {
    if (!ocloc_.ok()) return ocloc_.status();
    const auto compile = [&](const std::string& options) {
      return (*ocloc_)->Compile(spirv, device_.arch.name, options, cpu_seconds_);
    };
    absl::StatusOr<std::string> binary = compile(RegisterFlags(mode));
    if (!binary.ok() || RegisterFlags(mode) != RegisterFlags("")) return binary;
    const int64_t spilled = ResourcesOfNative(*binary, kernel).local_bytes.value_or(0);
    if (spilled == 0) return binary;
    absl::StatusOr<std::string> large = compile(RegisterFlags("256"));
    const bool is_better = large.ok() && ResourcesOfNative(*large, kernel).local_bytes.value_or(spilled) < spilled;
    return is_better ? large : binary;
  }

  const Device device_;
  const TargetInfo info_;
  const IntelOps ops_;
  const absl::StatusOr<std::shared_ptr<Ocloc>> ocloc_;
  const int cpu_seconds_;
};

}  // namespace

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const Device& device : Devices()) names.push_back(TargetName(device));
  return names;
}

std::unique_ptr<Target> MakeTarget(absl::string_view name, const TargetConfig& config) {
  for (const Device& device : Devices()) {
    if (TargetName(device) == name) return std::make_unique<IntelTarget>(device, config);
  }
  return nullptr;
}

void RegisterPasses() { registerTritondIntelPasses(); }

void RegisterDialects(mlir::DialectRegistry& registry) { registry.insert<ttig::TTIGDialect>(); }

}  // namespace tritond::compiler::intel
