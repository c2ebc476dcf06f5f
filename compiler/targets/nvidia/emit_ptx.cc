// SPDX-License-Identifier: Apache-2.0
// LLVM writes the text; a few lines of it are replaced. What it writes for one version of PTX is valid for every later
// one. So an assembler newer than LLVM gets the version that it knows.
#include <map>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/second_assembly.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetOptions.h"

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace tritond::compiler::nvidia {
namespace {

constexpr char kTriple[] = "nvptx64-nvidia-cuda";
constexpr int kFirstPtxWithOneWayFences = 86;

void InitializeBackEnd() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

// Pointers to shared, constant and local memory have 32 bits: fewer registers. LLVM has no other switch for it than an
// option of the process, which any parser of options resets. So it is set for each machine, which reads it once.
void UseShortPointers() {
  auto& registered = llvm::cl::getRegisteredOptions();
  if (auto it = registered.find("nvptx-short-ptr"); it != registered.end()) {
    static_cast<llvm::cl::opt<bool>*>(it->second)->setValue(true);
  }
}

// The newest version up to `wanted` of which LLVM has a feature of its own.
int NearestLlvmPtxVersion(int wanted) {
  int version = std::clamp(wanted, 70, kMaxLlvmPtxVersion);
  return version == 79 || version == 89 ? version - 1 : version;
}

// Replaces what follows `directive` up to the end of its line.
void ReplaceDirective(std::string& text, const std::string& directive, const std::string& value) {
  size_t start = text.find("\n" + directive + " ");
  if (start == std::string::npos) return;
  start += 1 + directive.size() + 1;
  const size_t end = text.find('\n', start);
  text.replace(start, end - start, value);
}

// Here rather than where kernels are marked: a caller's LLVM IR has marked its own.
void SetClusterSize(llvm::Module& module, int num_ctas) {
  for (llvm::Function& function : module)
    if (function.getCallingConv() == llvm::CallingConv::PTX_Kernel)
      function.addFnAttr("nvvm.cluster_dim", absl::StrCat(num_ctas, ",1,1"));
}

// LLVM numbers calls in comments, "// callseq 7, 0", and counts on from one module to the next. Equal modules must give
// equal text, so the comments go.
void DropCallNumbers(std::string& text) {
  const std::string comment = " // callseq ";
  for (size_t at = text.find(comment); at != std::string::npos; at = text.find(comment, at))
    text.erase(at, std::min(text.find('\n', at), text.size()) - at);
}

// The same numbers are in the names of prototypes, which calls by address need: "prototype_7 : .callprototype ()_ ();"
// and "call (), %rd1, (), prototype_7;". They are counted anew in each text.
void RenumberPrototypes(std::string& text) {
  const llvm::StringRef word = "prototype_";
  std::map<std::string, size_t> numbers;
  std::string renumbered;
  size_t done = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t begin = at + word.size();
    const size_t end = std::min(text.find_first_not_of("0123456789", begin), text.size());
    const bool whole = begin < end && at > 0 && llvm::StringRef(" \t\n").contains(text[at - 1]) &&
                       (end == text.size() || llvm::StringRef(" ;\n").contains(text[end]));
    if (!whole) continue;
    const size_t number = numbers.try_emplace(text.substr(begin, end - begin), numbers.size()).first->second;
    absl::StrAppend(&renumbered, absl::string_view(text).substr(done, begin - done), number);
    done = end;
  }
  if (done > 0) text = absl::StrCat(renumbered, absl::string_view(text).substr(done));
}

// Before PTX 8.6 a fence releases and acquires.
void JoinFences(std::string& text) {
  absl::StrReplaceAll({{"fence.release.", "fence.acq_rel."}, {"fence.acquire.", "fence.acq_rel."}}, &text);
}

// PTX ISA, "Identifiers": a letter, then letters, digits, _ and $; or one of _ and $, then at least one of those.
bool IsIdentifier(llvm::StringRef name) {
  const auto follows = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; };
  if (name.empty() || !llvm::all_of(name, follows)) return false;
  return llvm::isAlpha(name[0]) || (!llvm::isDigit(name[0]) && name.size() > 1);
}

// LLVM renames what only this module sees, and nothing else.
absl::Status CheckNames(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    if (function.isIntrinsic() || function.hasLocalLinkage() || IsIdentifier(function.getName())) continue;
    return absl::InvalidArgumentError(absl::StrCat("function ", function.getName().str(),
                                                   ": PTX has no such name; it takes letters, digits, _ and $"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(const Architecture& arch, int ptx_version,
                                                                       const KernelOptions& options) {
  InitializeBackEnd();
  UseShortPointers();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(llvm::Triple(kTriple), error);
  if (!target) return absl::InternalError(error);
  llvm::TargetOptions llvm_options;
  // FuseMultiplyAdds has chosen.
  llvm_options.AllowFPOpFusion = options.enable_fp_fusion ? llvm::FPOpFusion::Standard : llvm::FPOpFusion::Strict;
  llvm_options.TrapUnreachable = true;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      llvm::Triple(kTriple), arch.name, absl::StrCat("+ptx", NearestLlvmPtxVersion(ptx_version)), llvm_options,
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

absl::StatusOr<std::string> EmitPtx(llvm::Module& module, AssemblyWriter& writer, const Architecture& arch,
                                    int ptx_version, const KernelOptions& options) {
  if (absl::Status names = CheckNames(module); !names.ok()) return names;
  if (options.num_ctas > 1) SetClusterSize(module, options.num_ctas);
  if (options.enable_fp_fusion) FuseMultiplyAdds(module);
  absl::StatusOr<std::string> text = writer.Write(module);
  if (!text.ok()) return text.status();
  std::string ptx = HideNegations(*text);
  ReplaceDirective(ptx, ".version", absl::StrCat(ptx_version / 10, ".", ptx_version % 10));
  // Without ", debug", which asks the assembler for -g; line numbers need none.
  ReplaceDirective(ptx, ".target", arch.name);
  if (ptx_version < kFirstPtxWithOneWayFences) JoinFences(ptx);
  DropCallNumbers(ptx);
  RenumberPrototypes(ptx);
  NoteMoreBlocks(module, ptx);
  return ptx;
}

}  // namespace tritond::compiler::nvidia
