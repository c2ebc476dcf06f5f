// SPDX-License-Identifier: Apache-2.0
// --lower-to-llvm: lowering as a pass, so that its tests read like those of the passes.
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/target.h"
#include "compiler/tools/register_passes.h"
#include "mlir/Pass/Pass.h"

namespace tritond::compiler {
namespace {

class LowerToLlvmPass : public mlir::PassWrapper<LowerToLlvmPass, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerToLlvmPass)
  LowerToLlvmPass() = default;
  LowerToLlvmPass(const LowerToLlvmPass& other) : PassWrapper(other) {}

  llvm::StringRef getArgument() const final { return "lower-to-llvm"; }
  llvm::StringRef getDescription() const final { return "ttg without scf, with shared memory placed, to LLVM"; }
  void getDependentDialects(mlir::DialectRegistry& registry) const final { registry.insert<mlir::LLVM::LLVMDialect>(); }

  void runOnOperation() final {
    auto target = FindTarget(target_name.getValue(), TargetConfig());
    if (!target.ok()) {
      getOperation().emitError(std::string(target.status().message()));
      return signalPassFailure();
    }
    LoweringOptions options;
    options.debug = debug;
    if (failed(LowerToLlvm(getOperation(), (*target)->Ops(), options))) signalPassFailure();
  }

  Option<std::string> target_name{*this, "target", llvm::cl::desc("name of the target"), llvm::cl::init("cuda:90")};
  Option<bool> debug{*this, "debug", llvm::cl::desc("assertions act"), llvm::cl::init(false)};
};

}  // namespace

void RegisterLowering() { mlir::PassRegistration<LowerToLlvmPass>(); }

}  // namespace tritond::compiler
