// SPDX-License-Identifier: Apache-2.0
// --explain-costs: what a launch of each kernel costs, and how long it takes. The cost is by the model that passes
// choose encodings by, the time by the rates of the device:
//
//   triton-opt softmax.ttgir --explain-costs="grid=4096 arguments=67108864,67108864,4096 registers=48" -o /dev/null
#include "absl/strings/str_format.h"
#include "compiler/costs/kernel_time.h"
#include "compiler/targets/target.h"
#include "compiler/tools/register_passes.h"
#include "mlir/Pass/Pass.h"

namespace tritond::compiler {
namespace {

class ExplainCostsPass : public mlir::PassWrapper<ExplainCostsPass, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExplainCostsPass)
  ExplainCostsPass() = default;
  ExplainCostsPass(const ExplainCostsPass& other) : PassWrapper(other) {}

  llvm::StringRef getArgument() const final { return "explain-costs"; }
  llvm::StringRef getDescription() const final { return "prints what a launch of each kernel in TTGIR costs"; }

  void runOnOperation() final {
    auto target = FindTarget(target_name_.getValue(), TargetConfig());
    if (!target.ok()) {
      getOperation().emitError(std::string(target.status().message()));
      return signalPassFailure();
    }
    if (!getOperation()->hasAttr("ttg.num-warps")) {
      getOperation().emitError("is not TTGIR; its tensors have no encodings yet");
      return signalPassFailure();
    }
    const TargetInfo& info = (*target)->Info();
    // Copies: the module goes on as it was.
    mlir::OwningOpRef<mlir::ModuleOp> module = getOperation().clone();
    for (auto function : module->getOps<tt::FuncOp>())
      if (function.isPublic() && !function.isExternal() && failed(Explain(function, info))) return signalPassFailure();
  }

 private:
  mlir::LogicalResult Explain(tt::FuncOp function, const TargetInfo& info) {
    // The program in the middle stands for all.
    llvm::SmallVector<int64_t> middle;
    Launch launch;
    for (int64_t size : grid_) {
      middle.push_back(size / 2);
      launch.programs *= static_cast<double>(size);
    }
    if (failed(FixLaunch(function, arguments_, middle))) return mlir::failure();
    launch.warps = ttg::NumWarps(function);
    launch.registers = registers_;
    launch.shared_bytes = shared_bytes_;
    for (auto [argument, bytes] : llvm::zip(function.getArguments(), arguments_))
      if (llvm::isa<tt::PtrType>(argument.getType())) launch.buffer_bytes[argument] = static_cast<double>(bytes);
    const ProgramCosts costs = CostsOf(function, info);
    Print(function.getName(), costs, launch, TimeOf(costs, launch, info));
    return mlir::success();
  }

  static void Print(llvm::StringRef name, const ProgramCosts& costs, const Launch& launch, const KernelTime& time) {
    const double programs = launch.programs;
    auto line = [](absl::string_view what, double value, absl::string_view unit) {
      llvm::outs() << absl::StrFormat("  %-24s %12.2f %s\n", what, value, unit);
    };
    llvm::outs() << "kernel " << name << "\n";
    line("memory", time.memory_bytes / 1e6, "MB");
    line("caches", programs * costs.global_bytes / 1e6, "MB");
    line("shared memory", programs * costs.shared_bytes / 1e6, "MB");
    line("dots", programs * 2 * costs.products / 1e9, "GFLOP");
    line("issue slots", programs * costs.issue_slots / 1e6, "million");
    if (time.waves > 0) llvm::outs() << absl::StrFormat("  %-24s %9.0f\n", "waves", time.waves);
    for (const Resource& resource : time.resources)
      if (resource.microseconds > 0) line("time: " + resource.name, resource.microseconds, "us");
    if (!time.resources.empty())
      llvm::outs() << absl::StrFormat("  predicted %.1f us, by %s\n", time.microseconds(), time.resources[0].name);
    if (costs.unknown_loops > 0)
      llvm::outs() << "  loops with unknown iterations, counted once: " << costs.unknown_loops << "\n";
    if (costs.unknown_dots > 0) llvm::outs() << "  dots without a known rate: " << costs.unknown_dots << "\n";
  }

  Option<std::string> target_name_{*this, "target", llvm::cl::desc("name of the target"), llvm::cl::init("cuda:90")};
  ListOption<int64_t> grid_{*this, "grid", llvm::cl::desc("programs along x, y and z")};
  ListOption<int64_t> arguments_{*this, "arguments",
                                 llvm::cl::desc("for each argument: bytes of its buffer, or its value")};
  Option<int64_t> registers_{*this, "registers", llvm::cl::desc("of a thread; 0: not known"), llvm::cl::init(0)};
  Option<int64_t> shared_bytes_{*this, "shared-bytes", llvm::cl::desc("of a block"), llvm::cl::init(0)};
};

}  // namespace

void RegisterCosts() { mlir::PassRegistration<ExplainCostsPass>(); }

}  // namespace tritond::compiler
