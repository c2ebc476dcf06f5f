// SPDX-License-Identifier: Apache-2.0
// The stages of one compile: ttir -> ttgir -> llir -> asm -> binary. What each stage runs is the target's pipeline;
// here is their order, what may go wrong in each and what a result says.
#include "compiler/driver/pipeline_run.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "compiler/analysis/global_scratch.h"
#include "compiler/driver/call_sites.h"
#include "compiler/driver/diagnostics.h"
#include "compiler/driver/foreign_assembly.h"
#include "compiler/driver/parse_llvm.h"
#include "compiler/ir/encodings.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/compile_children.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

namespace tritond::compiler {

namespace {

// The first place of the source program that `location` names; null when it names none.
mlir::FileLineColLoc FindFile(mlir::Location location) {
  mlir::FileLineColLoc found;
  location->walk([&](mlir::Location inner) {
    found = llvm::dyn_cast<mlir::FileLineColLoc>(inner);
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return found;
}

// In ttgir every tensor is placed.
mlir::LogicalResult CheckPlacements(mlir::ModuleOp module) {
  auto unplaced = [](mlir::Type type) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    return tensor && !tensor.getEncoding();
  };
  auto walked = module.walk([&](mlir::Operation* op) -> mlir::WalkResult {
    bool complete = llvm::none_of(op->getResultTypes(), unplaced);
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region) complete &= llvm::none_of(block.getArgumentTypes(), unplaced);
    if (complete) return mlir::WalkResult::advance();
    return op->emitOpError("has a tensor without an encoding; every tensor of ttgir has one");
  });
  return mlir::failure(walked.wasInterrupted());
}

nlohmann::json ToJson(mlir::Attribute attribute) {
  if (auto flag = llvm::dyn_cast<mlir::BoolAttr>(attribute)) return flag.getValue();
  if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(attribute)) return number.getInt();
  if (auto numbers = llvm::dyn_cast<mlir::DenseI64ArrayAttr>(attribute)) return numbers.asArrayRef().vec();
  auto fields = llvm::dyn_cast<mlir::DictionaryAttr>(attribute);
  if (!fields) return nullptr;
  nlohmann::json json = nlohmann::json::object();
  for (mlir::NamedAttribute field : fields) json[field.getName().str()] = ToJson(field.getValue());
  return json;
}

// What kTensorMapsAttr says. `module` may be null.
nlohmann::json TensorMapsOf(mlir::ModuleOp module) {
  nlohmann::json maps = nlohmann::json::array();
  auto entries = module ? module->getAttrOfType<mlir::ArrayAttr>(ttg::kTensorMapsAttr) : mlir::ArrayAttr();
  if (entries)
    for (mlir::Attribute entry : entries) maps.push_back(ToJson(entry));
  return maps;
}

}  // namespace

PipelineRun::PipelineRun(mlir::MLIRContext& context, Target& target, const CompileRequest& request,
                         const StageListener& on_stage, Recall recall, CompileResult& result)
    : context_(context), target_(target), request_(request), on_stage_(on_stage), recall_(recall), result_(result) {}

PipelineRun::~PipelineRun() = default;

absl::Status PipelineRun::Run() {
  if (absl::Status status = CheckRequest(); !status.ok()) return status;
  diagnostics_ = std::make_unique<DiagnosticCollector>(&context_, parsed_, result_.diagnostics);
  for (Stage stage = request_.input;; stage = static_cast<Stage>(static_cast<int>(stage) + 1)) {
    if (absl::Status status = RunTimed(stage); !status.ok()) return status;
    if (absl::Status status = Emit(stage); !status.ok()) return status;
    if (stage == request_.input) stage = RecallSteps(stage);
    if (result_.recalled || stage >= last_) break;
  }
  if (result_.recalled) return absl::OkStatus();
  // Artifacts come in the order of the request.
  auto position = [&](const Artifact& a) {
    return std::find(request_.outputs.begin(), request_.outputs.end(), a.stage) - request_.outputs.begin();
  };
  std::stable_sort(result_.artifacts.begin(), result_.artifacts.end(),
                   [&](const Artifact& a, const Artifact& b) { return position(a) < position(b); });
  if (result_.metadata.is_null()) FillMetadata();
  RememberSteps();
  AddResources();
  return absl::OkStatus();
}

absl::Status PipelineRun::RunTimed(Stage stage) {
  diagnostics_->SetStage(stage);
  if (on_stage_) {
    if (absl::Status status = on_stage_(stage, request_); !status.ok()) return status;
  }
  if (absl::Status status = CompileChildren::Get().StillWanted(); !status.ok()) return status;
  const auto start = std::chrono::steady_clock::now();
  absl::Status status = RunStage(stage);
  result_.stages.push_back({stage, std::chrono::steady_clock::now() - start});
  return status;
}

// After the first stage: names what is being made and asks whether it was made before. The stage that is done then,
// which is a later one when its text was recalled. Diagnostics speak of this request's text, so that a compile that has
// some neither takes nor leaves anything.
Stage PipelineRun::RecallSteps(Stage done) {
  if (!recall_.memory || done > Stage::kTtgir || done >= last_) return done;
  if (request_.debug_info || target_.Info().needs_locations || !result_.diagnostics.empty()) return done;
  result_.keys = NameSteps(CanonicalModule(*module_), request_, recall_.identity);
  CachedSteps known = recall_.memory(result_.keys);
  if (known.result) {
    result_.recalled = true;
    result_.artifacts.clear();
  } else if (known.assembly.has_value() && !result_.keys.assembly.empty() &&
             !target_.KernelName(known.assembly->text).empty()) {
    asm_ = std::move(known.assembly->text);
    result_.metadata = std::move(known.assembly->metadata);
    if (Emit(Stage::kAsm).ok()) return Stage::kAsm;
  }
  return done;
}

void PipelineRun::RememberSteps() {
  if (!result_.diagnostics.empty()) result_.keys = {};
  const bool fresh = std::any_of(result_.stages.begin(), result_.stages.end(),
                                 [](const StageTime& time) { return time.stage == Stage::kAsm; });
  if (!result_.keys.assembly.empty() && fresh) result_.assembly = AssemblyStep{asm_, result_.metadata};
}

absl::Status PipelineRun::CheckRequest() {
  if (request_.outputs.empty()) return absl::InvalidArgumentError("no output asked for");
  for (Stage stage : request_.outputs) {
    if (stage < request_.input)
      return absl::InvalidArgumentError(
          absl::StrCat("output ", StageName(stage), " lies before the input, which is ", StageName(request_.input)));
    last_ = std::max(last_, stage);
  }
  if (request_.input >= Stage::kBinary)
    return absl::InvalidArgumentError(
        absl::StrCat("input ", StageName(request_.input), ": a compile begins before it"));
  if (last_ == Stage::kDisassembly && target_.Info().disassembly_format.empty())
    return absl::InvalidArgumentError(absl::StrCat("output disassembly: target ", target_.Info().name,
                                                   " has none; ask for asm, its text before the binary"));
  if (request_.input == Stage::kAsm && !target_.Info().takes_assembly_text)
    return absl::InvalidArgumentError(
        absl::StrCat("input asm: target ", target_.Info().name, " takes no assembly; begin at ttir, ttgir or llir"));
  auto options = ParseOptions(request_.options, target_, request_.input);
  if (!options.ok()) return options.status();
  options_ = options->kernel;
  options_.descriptor_flags = request_.abi.descriptor_flags;
  options_.global_scratch = request_.abi.global_scratch;
  options_.host_tensor_maps = request_.abi.host_tensor_maps;
  options_.debug_info = request_.debug_info;
  options_.foreign_asm = request_.input == Stage::kAsm;
  result_.ignored_options = options->ignored;
  return absl::OkStatus();
}

absl::Status PipelineRun::RunStage(Stage stage) {
  switch (stage) {
    case Stage::kTtir:
      return MakeTtir();
    case Stage::kTtgir:
      return MakeTtgir();
    case Stage::kLlir:
      return MakeLlir();
    case Stage::kAsm:
      return MakeAsm();
    case Stage::kBinary:
      return MakeBinary();
    case Stage::kDisassembly:
      return MakeDisassembly();
  }
  return absl::InternalError("no such stage");
}

// Parses and verifies the request's text as a module.
absl::Status PipelineRun::Parse() {
  parsed_ = ParseModule(request_.ir, &context_, /*keep_locations=*/request_.debug_info);
  for (const IrDiagnostic& d : parsed_.diagnostics()) diagnostics_->Add(d.severity, d.where, d.message);
  module_ = parsed_.TakeModule();
  if (!module_ || (!target_.Info().takes_foreign_assembly && failed(CheckNoAssembly(*module_, target_))))
    return diagnostics_->FirstError(parsed_.NamesUnknown() ? absl::StatusCode::kUnimplemented
                                                           : absl::StatusCode::kInvalidArgument);
  return CheckKernel();
}

// The one public function is the kernel.
absl::Status PipelineRun::CheckKernel() {
  std::vector<std::string> kernels;
  for (auto func : module_->getOps<tt::FuncOp>()) {
    if (func.getName().starts_with("tritond."))
      return absl::InvalidArgumentError(
          absl::StrCat("function ", func.getName().str(), ": names that begin with tritond. are the compiler's own"));
    if (!func.isPublic()) continue;
    if (!func.getResultTypes().empty())
      return absl::InvalidArgumentError(
          absl::StrCat("kernel ", func.getName().str(), " returns values; none would take them"));
    kernels.push_back(func.getName().str());
  }
  if (kernels.size() != 1)
    return absl::InvalidArgumentError(
        absl::StrCat("the module must have one public tt.func, the kernel, but has ", kernels.size()));
  kernel_name_ = kernels[0];
  return absl::OkStatus();
}

absl::Status PipelineRun::RunPasses(Stage stage, const std::function<void(mlir::OpPassManager&)>& add) {
  mlir::PassManager pm(&context_, mlir::ModuleOp::getOperationName());
  // Every pass is tested to leave valid IR; verifying between all of them would cost as much as some passes.
  pm.enableVerifier(false);
  add(pm);
  if (failed(pm.run(*module_))) return diagnostics_->FirstError(absl::StatusCode::kUnimplemented);
  if (failed(mlir::verify(*module_))) return diagnostics_->FirstError(absl::StatusCode::kInternal);
  return absl::OkStatus();
}

absl::Status PipelineRun::MakeTtir() {
  if (absl::Status status = Parse(); !status.ok()) return status;
  return RunPasses(Stage::kTtir, [&](mlir::OpPassManager& pm) { target_.AddTtirPasses(pm, options_); });
}

absl::Status PipelineRun::MakeTtgir() {
  if (request_.input == Stage::kTtgir) {
    if (absl::Status status = Parse(); !status.ok()) return status;
    // The module says for how many warps its encodings are made.
    if (!(*module_)->hasAttr(ttg::kNumWarpsAttr))
      return absl::InvalidArgumentError(absl::StrCat("a ttgir module needs the attribute ", ttg::kNumWarpsAttr.str()));
    options_.num_warps = ttg::NumWarps(*module_);
    if (const int lanes = ttg::ThreadsPerWarp(*module_); lanes != target_.Info().lanes)
      return absl::InvalidArgumentError(absl::StrCat("the ttgir module is for warps of ", lanes, " threads (",
                                                     ttg::kThreadsPerWarpAttr.str(), "), but those of ",
                                                     target_.Info().name, " have ", target_.Info().lanes));
    if (failed(CheckPlacements(*module_))) return diagnostics_->FirstError(absl::StatusCode::kInvalidArgument);
    return absl::OkStatus();
  }
  return RunPasses(Stage::kTtgir, [&](mlir::OpPassManager& pm) { target_.AddTtgirPasses(pm, options_); });
}

absl::Status PipelineRun::CheckLimits() {
  if (auto shared = (*module_)->getAttrOfType<mlir::IntegerAttr>(ttg::kSharedAttr)) shared_bytes_ = shared.getInt();
  if (auto size = (*module_)->getAttrOfType<mlir::IntegerAttr>(kGlobalScratchSizeAttr))
    global_scratch_bytes_ = size.getInt();
  if (auto alignment = (*module_)->getAttrOfType<mlir::IntegerAttr>(kGlobalScratchAlignmentAttr))
    global_scratch_alignment_ = alignment.getInt();
  if (auto warps = (*module_)->getAttrOfType<mlir::IntegerAttr>(ttg::kTotalNumWarpsAttr))
    options_.num_warps = static_cast<int>(warps.getInt());
  if (const int most_warps = MaxWarps(target_.Info()); options_.num_warps > most_warps)
    return absl::InvalidArgumentError(absl::StrCat("the kernel needs ", options_.num_warps, " warps, but a block of ",
                                                   target_.Info().name, " has at most ", most_warps));
  int64_t most = target_.Info().max_shared_bytes;
  if (shared_bytes_ > most)
    return absl::ResourceExhaustedError(absl::StrCat("the kernel needs ", shared_bytes_,
                                                     " bytes of shared memory, but ", target_.Info().name, " has ",
                                                     most, " a block; use smaller blocks or fewer stages"));
  return absl::OkStatus();
}

// Functions that no source location is kept for are located in the request's text, under the name of its stage. A
// function has one file: operations that the other kind of place is known of are at its line 0.
void PipelineRun::PlaceOperationsInText() {
  auto text = mlir::StringAttr::get(&context_, StageName(request_.input));
  for (auto func : module_->getOps<tt::FuncOp>()) {
    mlir::FileLineColLoc source = FindFile(func.getLoc());
    const bool in_text = !source || parsed_.PositionOf(func.getLoc()).line > 0;
    auto nowhere = mlir::FileLineColLoc::get(in_text ? text : source.getFilename(), 0, 0);
    func->walk([&](mlir::Operation* op) {
      TextPosition where = parsed_.PositionOf(op->getLoc());
      if (in_text) {
        op->setLoc(where.line > 0 ? mlir::FileLineColLoc::get(text, where.line, where.column) : nowhere);
      } else if (where.line > 0) {
        op->setLoc(nowhere);
      }
    });
  }
}

absl::Status PipelineRun::MakeLlir() {
  llvm_context_ = std::make_unique<llvm::LLVMContext>();
  if (request_.input == Stage::kLlir) {
    LlvmTextError error;
    auto parsed = ParseLlvm(request_.ir, *llvm_context_, &error);
    if (parsed.ok()) {
      llvm_module_ = *std::move(parsed);
      return CheckAssembly();
    }
    if (error.message.empty())
      return absl::Status(parsed.status().code(), absl::StrCat("stage llir: ", parsed.status().message()));
    diagnostics_->Add(mlir::DiagnosticSeverity::Error, {error.line, error.column}, error.message);
    return diagnostics_->FirstError(absl::StatusCode::kInvalidArgument);
  }
  absl::Status status = RunPasses(Stage::kLlir, [&](mlir::OpPassManager& pm) { target_.AddLlirPasses(pm, options_); });
  if (!status.ok()) return status;
  if (status = CheckLimits(); !status.ok()) return status;
  CollectInlineAssembly();
  LoweringOptions lowering;
  lowering.global_scratch = request_.abi.global_scratch;
  lowering.profile_scratch = request_.abi.profile_scratch;
  // Passes see locations of the text until here, which diagnostics refer to.
  const bool needs_locations = target_.Info().needs_locations;
  if (needs_locations) PlaceOperationsInText();
  lowering.source_locations = request_.debug_info || needs_locations;
  lowering.debug = options_.debug;
  lowering.fp_fusion = options_.enable_fp_fusion;
  // A target says by a diagnostic alone that it lacks an instruction whose emission cannot fail.
  if (failed(LowerToLlvm(*module_, target_.Ops(), lowering)) || diagnostics_->HasError())
    return diagnostics_->FirstError(absl::StatusCode::kUnimplemented);
  if (request_.debug_info || needs_locations) {
    // Debug locations need a scope for each function.
    DropCalleesWithoutFile(*module_);
    mlir::PassManager scopes(&context_, mlir::ModuleOp::getOperationName());
    scopes.addPass(mlir::LLVM::createDIScopeForLLVMFuncOpPass());
    if (failed(scopes.run(*module_))) return diagnostics_->FirstError(absl::StatusCode::kInternal);
  }
  // Target::Optimize verifies what comes out.
  llvm_module_ = mlir::translateModuleToLLVMIR(*module_, *llvm_context_, kernel_name_, /*disableVerification=*/true);
  if (!llvm_module_) return diagnostics_->FirstError(absl::StatusCode::kInternal);
  if (status = CheckAssembly(); !status.ok()) return status;
  MeasureParameters();
  return target_.Optimize(*llvm_module_, options_);
}

void PipelineRun::CollectInlineAssembly() {
  module_->walk([this](tt::ElementwiseInlineAsmOp op) {
    inline_assembly_.push_back({op.getAsmString().str(), parsed_.PositionOf(op.getLoc())});
  });
}

// Before the target adds code of its own. Whatever way assembly came in, it is seen here.
absl::Status PipelineRun::CheckAssembly() {
  if (target_.Info().takes_foreign_assembly) return absl::OkStatus();
  const bool is_text = request_.input == Stage::kLlir;
  const std::optional<AssemblyPlace> found = FindAssembly(*llvm_module_, is_text ? request_.ir : "", target_);
  if (!found) return absl::OkStatus();
  diagnostics_->Add(mlir::DiagnosticSeverity::Error, found->where,
                    absl::StrCat(found->what, ": target ", target_.Info().name, " takes no assembly; write it as IR"));
  return diagnostics_->FirstError(absl::StatusCode::kInvalidArgument);
}

// The scratch pointers that follow the kernel's own parameters do not count: the launch provides them.
void PipelineRun::MeasureParameters() {
  const llvm::Function* kernel = llvm_module_->getFunction(kernel_name_);
  if (!kernel) return;
  size_t own = kernel->arg_size() - request_.abi.global_scratch - request_.abi.profile_scratch;
  parameter_bytes_.emplace();
  for (const llvm::Argument& argument : kernel->args()) {
    if (argument.getArgNo() >= own) break;
    llvm::Type* type = argument.hasByValAttr() ? argument.getParamByValType() : argument.getType();
    parameter_bytes_->push_back(llvm_module_->getDataLayout().getTypeStoreSize(type).getFixedValue());
  }
}

absl::Status PipelineRun::MakeAsm() {
  if (request_.input == Stage::kAsm) {
    asm_ = request_.ir;
  } else {
    auto text = target_.EmitAsm(*llvm_module_, options_);
    if (!text.ok()) return BackEndError(text.status());
    asm_ = *std::move(text);
  }
  // What is wrong with a caller's text the assembler tells better.
  return request_.input == Stage::kAsm && last_ > Stage::kAsm ? absl::OkStatus() : CheckHasKernel();
}

absl::Status PipelineRun::CheckHasKernel() const {
  if (!target_.KernelName(asm_).empty()) return absl::OkStatus();
  return BackEndError(absl::InternalError(absl::StrCat("the ", target_.Info().asm_format, " text has no kernel")));
}

// After ttgir, input that a back end cannot make sense of is the fault of the back end's caller. The fault is ours,
// unless the request began after ttgir or the trouble is in assembly that the request brought along.
absl::Status PipelineRun::BackEndError(const absl::Status& status) const {
  if (!absl::IsInternal(status)) return status;
  if (request_.input >= Stage::kLlir) return absl::InvalidArgumentError(status.message());
  const InlineAssembly* culprit = FindCulprit(inline_assembly_, asm_, status.message());
  if (culprit == nullptr) return status;
  diagnostics_->Add(mlir::DiagnosticSeverity::Error, culprit->where,
                    absl::StrCat("'tt.elementwise_inline_asm' op has assembly that is refused: ", status.message()));
  return diagnostics_->FirstError(absl::StatusCode::kInvalidArgument);
}

absl::Status PipelineRun::MakeBinary() {
  auto binary = target_.Assemble(asm_, options_);
  if (!binary.ok()) return BackEndError(binary.status());
  binary_ = *std::move(binary);
  if (absl::Status status = CheckHasKernel(); !status.ok()) return status;
  const absl::Status sound = target_.CheckBinary(binary_, KernelName());
  if (sound.ok()) return sound;
  return BackEndError(absl::InternalError(absl::StrCat("what the assembler made of the ", target_.Info().asm_format,
                                                       " text cannot be launched: ", sound.message())));
}

absl::Status PipelineRun::MakeDisassembly() {
  auto text = target_.Disassemble(binary_);
  if (!text.ok()) return text.status();
  disassembly_ = *std::move(text);
  return absl::OkStatus();
}

// Compiles that start after ttgir do not compute it: it is read off the assembly.
std::string PipelineRun::KernelName() const { return kernel_name_.empty() ? target_.KernelName(asm_) : kernel_name_; }

std::string PipelineRun::Text(Stage stage) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  switch (stage) {
    case Stage::kTtir:
    case Stage::kTtgir: {
      mlir::OpPrintingFlags flags;
      if (request_.debug_info) flags.enableDebugInfo();
      module_.get()->print(os, flags);
      break;
    }
    case Stage::kLlir:
      llvm_module_->print(os, nullptr);
      break;
    case Stage::kAsm:
      return asm_;
    case Stage::kBinary:
      return binary_;
    case Stage::kDisassembly:
      return disassembly_;
  }
  return text;
}

std::string PipelineRun::FormatOf(Stage stage) const {
  if (stage == Stage::kAsm) return target_.Info().asm_format;
  if (stage == Stage::kDisassembly) return target_.Info().disassembly_format;
  return stage == Stage::kBinary ? target_.BinaryFormat(binary_) : StageName(stage);
}

// Internal when there is nothing to hand out: a result without bytes would be kept and served as if it were one.
absl::Status PipelineRun::Emit(Stage stage) {
  if (std::find(request_.outputs.begin(), request_.outputs.end(), stage) == request_.outputs.end())
    return absl::OkStatus();
  std::string bytes = Text(stage);
  if (bytes.empty()) return absl::InternalError(absl::StrCat("stage ", StageName(stage), " made nothing"));
  result_.artifacts.push_back({stage, FormatOf(stage), std::move(bytes)});
  return absl::OkStatus();
}

// Upstream's names, for its launcher. What the compiler computes overrides an option of the same name. Compiles that
// start after ttgir compute neither name nor shared memory: the one is read off the assembly, the other is the option.
void PipelineRun::FillMetadata() {
  nlohmann::json metadata = request_.options.is_object() ? request_.options : nlohmann::json::object();
  const TargetInfo& info = target_.Info();
  metadata["target"] = {{"backend", info.backend}, {"arch", info.arch}, {"warp_size", info.lanes}};
  metadata["name"] = KernelName();
  if (request_.input <= Stage::kTtgir || !metadata.contains("shared")) metadata["shared"] = shared_bytes_;
  metadata["num_warps"] = options_.num_warps;
  metadata["num_ctas"] = options_.num_ctas;
  metadata["num_stages"] = options_.num_stages;
  metadata["warp_size"] = info.lanes;
  metadata["tmem_size"] = 0;
  if (request_.input <= Stage::kTtgir || !metadata.contains("global_scratch_size")) {
    metadata["global_scratch_size"] = global_scratch_bytes_;
    metadata["global_scratch_align"] = global_scratch_alignment_;
  }
  metadata["profile_scratch_size"] = 0;
  metadata["profile_scratch_align"] = 1;
  metadata["tensordesc_meta"] = TensorMapsOf(module_.get());
  metadata["cluster_dims"] = {options_.num_ctas, 1, 1};
  // Not of upstream's: lets a launch be refused that gives other arguments.
  if (parameter_bytes_) metadata["parameter_bytes"] = *parameter_bytes_;
  result_.metadata = std::move(metadata);
}

// For people, and not for the launcher: what the binary takes, under one name that upstream does not have.
void PipelineRun::AddResources() {
  if (binary_.empty()) return;
  const BinaryResources taken = target_.ResourcesOf(asm_, binary_, KernelName());
  nlohmann::json resources = nlohmann::json::object();
  if (taken.registers.has_value()) resources["registers"] = *taken.registers;
  if (taken.local_bytes.has_value()) resources["local_bytes"] = *taken.local_bytes;
  const nlohmann::json& shared = result_.metadata["shared"];  // Of a compile that starts late it is the caller's.
  const int64_t shared_bytes = shared.is_number_integer() ? shared.get<int64_t>() : 0;
  const nlohmann::json& warps = result_.metadata["num_warps"];  // those of all partitions
  const auto residency =
      ResidencyOf(taken, shared_bytes, warps.is_number_integer() ? warps.get<int64_t>() : 0, target_.Info());
  if (residency.has_value()) {
    resources["blocks"] = residency->blocks;
    resources["warps"] = residency->warps;
    resources["most_warps"] = residency->most_warps;
    resources["limit"] = residency->limit;
  }
  if (!resources.empty()) result_.metadata["resources"] = std::move(resources);
}

}  // namespace tritond::compiler
