// SPDX-License-Identifier: Apache-2.0
// The back end keeps what it knows of a module in variables of the process. It goes by options of LLVM's command line,
// and ends the process where it meets what it does not expect. So each module gets a process of its own, a copy of this
// one with the module in it. The options are set there and never here.
#include "absl/strings/str_cat.h"
#include "compiler/targets/fatal_errors.h"
#include "compiler/targets/intel/codegen.h"
#include "compiler/targets/isolated_work.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/CommandLine.h"

namespace tritond::compiler::intel {
namespace {

constexpr char kName[] = "LLVM's SPIR-V back end";
constexpr IsolationLimits kLimits = {/*cpu_seconds=*/100, /*memory_bytes=*/uint64_t{4} << 30};
// Extensions that drivers have for all of these GPUs, but for no_integer_wrap: without it the back end aborts at
// additions that do not wrap.
constexpr char kExtensions[] =
    "--spirv-ext=+SPV_KHR_no_integer_wrap_decoration,+SPV_EXT_shader_atomic_float_add,+SPV_INTEL_bfloat16_conversion,"
    "+SPV_INTEL_subgroups";
// Passes that prepare code for processors: they make integers of odd widths, which SPIR-V does not have.
constexpr char kNoReduction[] = "--disable-lsr", kNoPreparation[] = "--disable-cgp";

void AddError(const llvm::DiagnosticInfo* info, void* errors) {
  if (info->getSeverity() != llvm::DS_Error) return;
  llvm::raw_string_ostream stream(*static_cast<std::string*>(errors));
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
  stream << "; ";
}

// In the other process, which ends afterwards: nothing is cleared away.
absl::StatusOr<std::string> Emit(llvm::Module& module) {
  const char* arguments[] = {"spirv", kExtensions, kNoReduction, kNoPreparation};
  llvm::cl::ParseCommandLineOptions(std::size(arguments), arguments);
  // It reads the options when it is made.
  absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = MakeTargetMachine();
  if (!machine.ok()) return machine.status();
  auto* errors = new std::string;
  module.getContext().setDiagnosticHandlerCallBack(AddError, errors);
  auto* binary = new llvm::SmallString<0>;
  auto* stream = new llvm::raw_svector_ostream(*binary);
  auto* passes = new llvm::legacy::PassManager;
  if ((*machine)->addPassesToEmitFile(*passes, *stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return absl::InternalError(absl::StrCat(kName, " writes no binaries"));
  absl::Status status = CatchFatalErrors([&] { passes->run(module); });
  if (!status.ok() || !errors->empty())
    return absl::InternalError(absl::StrCat(kName, ": ", *errors, std::string(status.message())));
  return std::string(binary->str());
}

}  // namespace

absl::StatusOr<std::string> WriteSpirv(llvm::Module& module) {
  absl::StatusOr<std::string> binary = RunIsolated(
      kName, [&] { return Emit(module); }, kLimits);
  // The module is ours, whatever its source.
  if (absl::IsInvalidArgument(binary.status())) return absl::InternalError(binary.status().message());
  return binary;
}

}  // namespace tritond::compiler::intel
