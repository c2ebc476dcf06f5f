// SPDX-License-Identifier: Apache-2.0
#include "compiler/driver/compile.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "compiler/driver/build_id.h"
#include "compiler/driver/pipeline_run.h"
#include "compiler/ir/ttg_dialect.h"
#include "compiler/passes/canonicalize.h"
#include "compiler/targets/compile_children.h"
#include "compiler/targets/target.h"
#include "llvm/Config/llvm-config.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

namespace tritond::compiler {
namespace {

mlir::DialectRegistry AllDialects() {
  mlir::DialectRegistry registry;
  registry.insert<tt::TTDialect, ttg::TTGDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  // Those of all targets, of which a first request's ttgir may have operations.
  RegisterTargetDialects(registry);
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  return registry;
}

class WarmCompiler final : public Compiler {
 public:
  explicit WarmCompiler(CompilerConfig config)
      : config_(std::move(config)), context_(AllDialects(), mlir::MLIRContext::Threading::DISABLED) {
    context_.loadAllAvailableDialects();
    KeepCanonicalPatterns(context_);
    context_.printOpOnDiagnostic(false);
  }

  CompileResult Compile(const CompileRequest& request) override {
    CompileChildren::Get().Begin();
    CompileResult result;
    auto target = GetTarget(request.target);
    if (!target.ok()) {
      result.status = target.status();
      return result;
    }
    const CompilerIdentity identity{absl::StrCat(OwnId(), ", ", (*target)->AssemblyToolsId()), BuildId()};
    PipelineRun run(context_, **target, request, on_stage_, {memory_, identity}, result);
    result.status = run.Run();
    const CompileChildren::Usage usage = CompileChildren::Get().usage();
    result.children_cpu = absl::ToChronoNanoseconds(usage.cpu);
    result.children_peak_bytes = usage.peak_bytes;
    return result;
  }

  void Abandon() override { CompileChildren::Get().Abandon(); }

  void OnStage(StageListener listener) override { on_stage_ = std::move(listener); }

  void UseMemory(StepMemory memory) override { memory_ = std::move(memory); }

  std::string BuildId() const override {
    if (!build_id_.empty()) return build_id_;
    std::set<std::string> tools;
    build_id_ = OwnId();
    for (const std::string& name : TargetNames()) {
      auto target = GetTarget(name);
      // Targets of one family share their tools: what one says stands for all.
      if (target.ok() && tools.insert((*target)->ToolsId()).second) build_id_ += ", " + (*target)->ToolsId();
    }
    return build_id_;
  }

  std::vector<Offer> Targets() const override {
    std::vector<Offer> offers;
    for (const std::string& name : TargetNames()) {
      auto target = GetTarget(name);
      if (!target.ok()) continue;
      absl::Status assembler = (*target)->AssemblerStatus();
      const TargetInfo& info = (*target)->Info();
      offers.push_back({name, info.binary_format, OptionRulesOf(info), assembler.ok(), std::string(assembler.message()),
                        assembler.ok() && (*target)->DisassemblerStatus().ok()});
    }
    return offers;
  }

  std::vector<std::string> LoadTools() override {
    std::set<std::string> programs;
    for (const std::string& name : TargetNames()) {
      auto target = GetTarget(name);
      if (!target.ok()) continue;
      for (std::string& program : (*target)->LoadTools()) programs.insert(std::move(program));
    }
    return {programs.begin(), programs.end()};
  }

 private:
  static std::string OwnId() {
    return absl::StrCat("tritond ", kCompilerVersion, " ", kCompilerSourceDigest, ", LLVM ", LLVM_VERSION_STRING);
  }

  // Targets keep their libraries warm, so each is made once.
  absl::StatusOr<Target*> GetTarget(const std::string& name) const {
    auto it = targets_.find(name);
    if (it != targets_.end()) return it->second.get();
    TargetConfig config;
    config.tool_roots = config_.tool_roots;
    config.path_dirs = config_.path_dirs;
    config.assembler_cpu_seconds = config_.assembler_cpu_seconds;
    auto target = FindTarget(name, config);
    if (!target.ok()) return target.status();
    return (targets_[name] = *std::move(target)).get();
  }

  const CompilerConfig config_;
  mlir::MLIRContext context_;
  StageListener on_stage_;
  StepMemory memory_;
  mutable std::map<std::string, std::unique_ptr<Target>> targets_;
  mutable std::string build_id_;  // empty before it is asked for; tools are found once
};

}  // namespace

const char* StageName(Stage stage) {
  switch (stage) {
    case Stage::kTtir:
      return "ttir";
    case Stage::kTtgir:
      return "ttgir";
    case Stage::kLlir:
      return "llir";
    case Stage::kAsm:
      return "asm";
    case Stage::kBinary:
      return "binary";
    case Stage::kDisassembly:
      return "disassembly";
  }
  return "?";
}

absl::StatusOr<Stage> ParseStage(const std::string& name) {
  for (Stage stage : {Stage::kTtir, Stage::kTtgir, Stage::kLlir, Stage::kAsm, Stage::kBinary, Stage::kDisassembly})
    if (name == StageName(stage)) return stage;
  return absl::InvalidArgumentError(
      absl::StrCat("no stage '", name, "'; there are ttir, ttgir, llir, asm, binary, disassembly"));
}

std::unique_ptr<Compiler> Compiler::Create(CompilerConfig config) {
  return std::make_unique<WarmCompiler>(std::move(config));
}

}  // namespace tritond::compiler
