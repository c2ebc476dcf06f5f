// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_DRIVER_PIPELINE_RUN_H_
#define COMPILER_DRIVER_PIPELINE_RUN_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/inline_assembly.h"
#include "compiler/driver/options.h"
#include "compiler/driver/step_keys.h"
#include "compiler/ir/parse_module.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace tritond::compiler {

class DiagnosticCollector;

// One compile, from the request's stage to the last that it asks for. Lives for one call of Run.
class PipelineRun final {
 public:
  // What the run may recall of earlier ones. `memory` may be null.
  struct Recall {
    const StepMemory& memory;
    const CompilerIdentity& identity;
  };

  // Borrows everything; fills `result` but its status.
  PipelineRun(mlir::MLIRContext& context, Target& target, const CompileRequest& request, const StageListener& on_stage,
              Recall recall, CompileResult& result);
  ~PipelineRun();

  // See CompileResult::status.
  absl::Status Run();

 private:
  absl::Status CheckRequest();
  absl::Status RunTimed(Stage stage);
  absl::Status RunStage(Stage stage);
  Stage RecallSteps(Stage done);
  void RememberSteps();
  absl::Status Parse();
  absl::Status RunPasses(Stage stage, const std::function<void(mlir::OpPassManager&)>& add);
  absl::Status CheckKernel();
  absl::Status CheckLimits();
  absl::Status MakeTtir();
  absl::Status MakeTtgir();
  void PlaceOperationsInText();
  absl::Status MakeLlir();
  void CollectInlineAssembly();
  absl::Status CheckAssembly();
  void MeasureParameters();
  absl::Status MakeAsm();
  absl::Status CheckHasKernel() const;
  absl::Status BackEndError(const absl::Status& status) const;
  absl::Status MakeBinary();
  absl::Status MakeDisassembly();
  absl::Status Emit(Stage stage);
  std::string KernelName() const;
  std::string Text(Stage stage) const;
  std::string FormatOf(Stage stage) const;
  void FillMetadata();
  void AddResources();

  mlir::MLIRContext& context_;
  Target& target_;
  const CompileRequest& request_;
  const StageListener& on_stage_;
  const Recall recall_;
  CompileResult& result_;
  KernelOptions options_;
  Stage last_ = Stage::kTtir;
  ParsedModule parsed_;
  std::unique_ptr<DiagnosticCollector> diagnostics_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::unique_ptr<llvm::LLVMContext> llvm_context_;
  std::unique_ptr<llvm::Module> llvm_module_;
  std::vector<InlineAssembly> inline_assembly_;  // the caller's
  std::string kernel_name_;
  int64_t shared_bytes_ = 0;
  int64_t global_scratch_bytes_ = 0, global_scratch_alignment_ = 1;
  std::optional<std::vector<int64_t>> parameter_bytes_;  // nullopt: the request began after ttgir
  std::string asm_;
  std::string binary_, disassembly_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_DRIVER_PIPELINE_RUN_H_
