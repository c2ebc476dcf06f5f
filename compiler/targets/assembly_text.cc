// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/assembly_text.h"

#include "absl/strings/str_cat.h"
#include "compiler/targets/fatal_errors.h"
#include "llvm/Analysis/RuntimeLibcallInfo.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"

namespace tritond::compiler {
namespace {

// Without a handler of its own, LLVMContext ends the process at the first error.
class CollectErrors final : public llvm::DiagnosticHandler {
 public:
  explicit CollectErrors(std::string& errors) : errors_(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(errors_);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    if (!errors_.empty()) stream << "; ";
    info.print(printer);
    return true;
  }

 private:
  std::string& errors_;
};

// Straight-line strength reduction takes sums of 32 bits for sums of 64 (LLVM 22, mended in 23): share_addresses.h.
class WithoutStrengthReduction final : public llvm::OptPassGate {
 public:
  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override { return pass != "slsr"; }
};

// As TargetMachine::addPassesToEmitFile, but for the passes that move what is not to be moved. True: the target writes
// no assembly.
bool AddPasses(CodeMotion motion, llvm::TargetMachine& machine, llvm::legacy::PassManager& passes,
               llvm::raw_pwrite_stream& stream) {
  auto* module_info = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  if (!motion.hoists) config->disablePass(&llvm::EarlyMachineLICMID);
  if (!motion.sinks) config->disablePass(&llvm::MachineSinkingLegacyID);
  const llvm::TargetOptions& options = machine.Options;
  passes.add(new llvm::RuntimeLibraryInfoWrapper(machine.getTargetTriple(), options.ExceptionModel,
                                                 options.FloatABIType, options.EABIVersion, options.MCOptions.ABIName,
                                                 options.VecLib));
  passes.add(config);  // owns the passes
  passes.add(module_info);
  if (config->addISelPasses()) return true;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile,
                            module_info->getMMI().getContext()))
    return true;
  passes.add(llvm::createFreeMachineFunctionPass());
  return false;
}

}  // namespace

AssemblyWriter::AssemblyWriter(llvm::TargetMachine& machine, CodeMotion motion)
    : machine_(machine), motion_(motion), stream_(text_) {}

absl::StatusOr<std::string> AssemblyWriter::Write(llvm::Module& module) {
  // Set already unless the caller's input is LLVM IR, which may name no target.
  module.setTargetTriple(machine_.getTargetTriple());
  module.setDataLayout(machine_.createDataLayout());
  llvm::LLVMContext& context = module.getContext();
  const std::string name = machine_.getTarget().getName();
  if (!passes_) {
    auto passes = std::make_unique<llvm::legacy::PassManager>();
    if (AddPasses(motion_, machine_, *passes, stream_))
      return absl::InternalError(absl::StrCat("LLVM's ", name, " back end writes no assembly"));
    passes_ = std::move(passes);
  }
  std::string errors;
  std::unique_ptr<llvm::DiagnosticHandler> previous = context.getDiagnosticHandler();
  context.setDiagnosticHandler(std::make_unique<CollectErrors>(errors));
  static WithoutStrengthReduction* const gate = new WithoutStrengthReduction();
  context.setOptPassGate(*gate);
  text_.clear();
  absl::Status status = CatchFatalErrors([&] { passes_->run(module); });
  context.setDiagnosticHandler(std::move(previous));
  if (!status.ok()) passes_.release();  // torn out of their work, passes cannot even be destroyed
  if (!status.ok()) return absl::InternalError(absl::StrCat("LLVM's ", name, " back end: ", status.message()));
  // A back end remembers variables of one function by its address, which the next module's may have.
  const bool has_variables = llvm::any_of(
      module.globals(), [](const llvm::GlobalVariable& each) { return each.hasLocalLinkage() && !each.isConstant(); });
  if (!errors.empty() || has_variables) passes_.reset();
  if (errors.empty()) return std::string(text_.str());
  return absl::InternalError(absl::StrCat("LLVM's ", name, " back end: ", errors));
}

absl::StatusOr<std::string> WriteAssemblyText(llvm::Module& module, llvm::TargetMachine& machine, CodeMotion motion) {
  return AssemblyWriter(machine, motion).Write(module);
}

}  // namespace tritond::compiler
