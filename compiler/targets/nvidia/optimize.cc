// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "compiler/lowering/lower_to_llvm.h"
#include "compiler/targets/llvm_analyses.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/decide_magnitudes.h"
#include "compiler/targets/nvidia/matrix_shapes.h"
#include "compiler/targets/nvidia/own_options.h"
#include "compiler/targets/nvidia/unroll_counted.h"
#include "compiler/targets/share_addresses.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Verifier.h"

namespace tritond::compiler::nvidia {
namespace {

// Entry points get their launch bounds; all other functions are nobody else's business.
absl::Status MarkKernels(llvm::Module& module, const KernelOptions& options) {
  int kernels = 0;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const llvm::StringRef attribute = kKernelAttr;
    if (function.hasFnAttribute(attribute)) {
      function.removeFnAttr(attribute);
      function.setLinkage(llvm::GlobalValue::ExternalLinkage);
      function.setCallingConv(llvm::CallingConv::PTX_Kernel);
      function.addFnAttr("nvvm.reqntid", absl::StrCat(32 * options.num_warps));
      int most = options.own.Integer(kMaxRegisters, 0);
      function.getFnAttribute(kEntryRegistersAttr).getValueAsString().getAsInteger(10, most);
      function.removeFnAttr(kEntryRegistersAttr);
      if (most > 0) function.addFnAttr("nvvm.maxnreg", absl::StrCat(most));
      // Read where the launch has put it, which is the same for all threads.
      for (llvm::Argument& argument : function.args())
        if (argument.hasByValAttr()) argument.addAttr(llvm::Attribute::get(module.getContext(), "nvvm.grid_constant"));
    } else if (function.getCallingConv() != llvm::CallingConv::PTX_Kernel) {
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
      continue;
    }
    ++kernels;
  }
  return kernels > 0 ? absl::OkStatus() : absl::InvalidArgumentError("the module has no kernel");
}

// Functions of libdevice that are one instruction. Replacing them here spares most kernels the link.
struct OneInstruction {
  const char* name;
  llvm::Intrinsic::ID exact, flushing;  // by what happens to subnormals
};
constexpr std::array<OneInstruction, 3> kOneInstruction = {{
    {"__nv_exp2f", llvm::Intrinsic::nvvm_ex2_approx, llvm::Intrinsic::nvvm_ex2_approx_ftz},
    {"__nv_rsqrtf", llvm::Intrinsic::nvvm_rsqrt_approx_f, llvm::Intrinsic::nvvm_rsqrt_approx_ftz_f},
    {"__nv_sqrtf", llvm::Intrinsic::nvvm_sqrt_approx_f, llvm::Intrinsic::nvvm_sqrt_approx_ftz_f},
}};

void ReplaceOneInstructionFunctions(llvm::Module& module, bool flush_subnormals) {
  for (const OneInstruction& entry : kOneInstruction) {
    llvm::Function* function = module.getFunction(entry.name);
    if (!function || !function->isDeclaration()) continue;
    llvm::Type* f32 = llvm::Type::getFloatTy(module.getContext());
    if (function->getFunctionType() != llvm::FunctionType::get(f32, {f32}, false)) continue;
    const llvm::Intrinsic::ID id = flush_subnormals ? entry.flushing : entry.exact;
    llvm::SmallVector<llvm::Type*, 1> overloads;
    if (llvm::Intrinsic::isOverloaded(id)) overloads.push_back(f32);
    function->replaceAllUsesWith(llvm::Intrinsic::getOrInsertDeclaration(&module, id, overloads));
    function->eraseFromParent();
  }
}

// LLVM assumes that any inline assembly may access memory. Ours (and users') without side effects and without a memory
// clobber does not; saying so lets it be merged, moved out of loops and removed.
void MarkPureAssembly(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      auto* assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
      if (!assembly || assembly->hasSideEffects() ||
          llvm::StringRef(assembly->getConstraintString()).contains("~{memory}")) {
        continue;
      }
      call->setDoesNotAccessMemory();
      call->setDoesNotThrow();
      call->addFnAttr(llvm::Attribute::WillReturn);
    }
  }
}

// The functions that the CUDA driver gives every kernel.
bool IsDriverFunction(llvm::StringRef name) {
  constexpr std::array<const char*, 4> kNames = {"__assertfail", "vprintf", "malloc", "free"};
  return llvm::is_contained(kNames, name);
}

absl::Status CheckResolved(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() || function.isIntrinsic() || function.use_empty()) continue;
    if (function.getName() == "__nvvm_reflect" || IsDriverFunction(function.getName())) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the kernel calls ", std::string(function.getName()), ", which no library has"));
  }
  return absl::OkStatus();
}

// TTGIR that was made for another GPU may ask for its matrix units.
absl::Status CheckProducts(const llvm::Module& module, llvm::StringRef cpu) {
  int capability = 0;
  cpu.drop_front(cpu.find_first_of("0123456789")).take_while(llvm::isDigit).getAsInteger(10, capability);
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const bool is_wgmma = IsWgmma(instruction);
      if ((is_wgmma && (capability < kFirstWithWgmma || capability > kLastWithWgmma)) ||
          (IsTensorMemoryProduct(instruction) && capability < kFirstWithTensorMemory))
        return absl::InvalidArgumentError(
            absl::StrCat("the kernel uses ", is_wgmma ? "wgmma" : "tcgen05.mma", ", which ", cpu.str(), " lacks"));
    }
  }
  return absl::OkStatus();
}

// A pipeline of our own. Lowering has chosen vectors, unrolling and what stands in loops. What is left to LLVM is to
// inline the device library, to fold, and to move what does not change out of loops. LLVM's -O3 costs five times as
// much and rotates loops, which puts a guard in front of a loop. The guard joins the accumulators of wgmma with zeros
// after the loop. This makes ptxas wait for each product (its warning C7515).
constexpr char kInlining[] = "nvvm-reflect,always-inline,";
// A thread's number is less than the block's size: sums of it and of multiples of that size never overflow.
constexpr char kRanges[] = "nvvm-intr-range,";
// Counts of bits, searches for one and rotations that a program spells out have instructions; `aggressive-instcombine`
// finds them. Small angles take no branch for large ones: `decide-magnitudes`, once integers are simple.
constexpr char kFolding[] =
    "infer-alignment,sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,decide-magnitudes,"
    "aggressive-instcombine,unroll-counted,"
    "loop-mssa(licm),early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg";
// Brings sums of indices into one order, so that code generation sees what they share, and parts of them leave loops.
// These parts take registers, which accumulators of wgmma leave none of.
constexpr char kSharing[] = ",reassociate,loop-mssa(licm),early-cse";
constexpr char kCleaning[] = ",adce";
// Divides in 32 bits where ranges say that these are enough. A division of 64 bits is a loop's worth of instructions,
// and a branch around them if numbers turn out to be small.
constexpr char kNarrowing[] = ",correlated-propagation";

std::string PassesFor(const llvm::Module& module) {
  auto has = [&](bool (*is)(const llvm::Instruction&)) {
    return llvm::any_of(module,
                        [&](const llvm::Function& function) { return llvm::any_of(llvm::instructions(function), is); });
  };
  return absl::StrCat(kInlining, "function(", kRanges, kFolding, has(DividesLong) ? kNarrowing : "",
                      has(IsWgmma) ? "" : kSharing, kCleaning, "),globaldce");
}

absl::Status RunPasses(llvm::Module& module, llvm::TargetMachine& machine) {
  LlvmAnalyses analyses(machine);
  analyses.builder.registerPipelineParsingCallback([](llvm::StringRef name, llvm::FunctionPassManager& passes, auto) {
    if (name == "unroll-counted") return passes.addPass(UnrollCounted()), true;
    if (name == "decide-magnitudes") return passes.addPass(DecideMagnitudes()), true;
    return false;
  });
  llvm::ModulePassManager passes;
  if (llvm::Error error = analyses.builder.parsePassPipeline(passes, PassesFor(module)))
    return absl::InternalError(absl::StrCat("LLVM's passes: ", llvm::toString(std::move(error))));
  passes.run(module, analyses.modules);
  return absl::OkStatus();
}

}  // namespace

bool DividesLong(const llvm::Instruction& instruction) {
  constexpr unsigned kLongBits = 64;
  switch (instruction.getOpcode()) {
    case llvm::Instruction::SDiv:
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SRem:
    case llvm::Instruction::URem:
      return instruction.getType()->isIntegerTy(kLongBits);
    default:
      return false;
  }
}

absl::Status OptimizeModule(llvm::Module& module, llvm::TargetMachine& machine, Toolchain& toolchain,
                            const KernelOptions& options) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream)) return absl::InternalError(absl::StrCat("broken LLVM IR: ", problem));
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  if (!options.debug_info) llvm::StripDebugInfo(module);
  if (absl::Status status = CheckProducts(module, machine.getTargetCPU()); !status.ok()) return status;
  if (absl::Status status = MarkKernels(module, options); !status.ok()) return status;
  const bool flush_subnormals = options.own.Boolean(kFlushSubnormals, true);
  ReplaceOneInstructionFunctions(module, flush_subnormals);
  // Read by LLVM's NVVMReflect pass, which decides the branches inside libdevice.
  if (!module.getModuleFlag("nvvm-reflect-ftz")) {
    module.addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", flush_subnormals ? 1 : 0);
  }
  if (absl::Status status = LinkLibdevice(module, toolchain); !status.ok()) return status;
  if (absl::Status status = CheckResolved(module); !status.ok()) return status;
  BranchTanh(module);
  ComputeInHalves(module);
  MarkPureAssembly(module);
  if (absl::Status status = RunPasses(module, machine); !status.ok()) return status;
  JoinBounds(module);
  ShareSums(module);
  // What reassociation has put off.
  JoinEarly(module);
  ShareAddresses(module);
  ShareOffsets(module);
  ExpandAbs(module);
  WidenExtrema(module);
  GuardMagnitudes(module);
  GuardHighProducts(module);
  GuardRotations(module);
  GuardUnsigned(module);
  SignProducts(module);
  SelectSignedBits(module);
  SelectWords(module);
  MaskWords(module);
  // The passes above would take the vectors apart again.
  PackPhis(module);
  PairBytes(module);
  ExtendBytes(module);
  DefinePhis(module);
  // Last: the passes above move loads up where they can.
  SinkSharedLoads(module);
  FillMaskedLoads(module);
  WidenAgain(module);
  // Once no pass looks any more for what a block has in common.
  UndoSinking(module);
  BranchDivisions(module);
  CarryRows(module);
  // Nothing after it but fences changes the order.
  OrderByUse(module);
  StartTogether(module);
  CarrySums(module);
  RenewOperands(module);
  OrderAsyncProxy(module);
  KeepWgmmaLoops(module);
  for (llvm::Function& function : module) SetBlockTarget(function);
  // Counted were the loads of each version.
  MergeTails(module);
  return absl::OkStatus();
}

}  // namespace tritond::compiler::nvidia
