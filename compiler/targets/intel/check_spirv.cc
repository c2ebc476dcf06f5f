// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/targets/intel/check_values.h"
#include "compiler/targets/intel/codegen.h"
#include "compiler/targets/intel/plan_block_prefetch.h"
#include "compiler/targets/intel/plan_block_reads.h"
#include "compiler/targets/intel/spirv_grammar.h"
#include "compiler/targets/intel/spirv_words.h"

namespace tritond::compiler::intel {
namespace {

constexpr uint32_t kNewestVersion = 0x00010400;
constexpr uint32_t kEntryPoint = 15, kExecutionMode = 16, kCapability = 17, kFunction = 54, kFunctionEnd = 56,
                   kDecorate = 71;
constexpr uint32_t kKernel = 6, kSubgroupSize = 35, kLinkageAttributes = 41, kImport = 1;

// Functions that drivers provide, besides those that read blocks: those of cl_intel_subgroup_matrix_multiply_accumulate
// and its …_tf32, as mangled. Of 8, 4, 2 and 1 rows; one row of tf32 is not used. Those whose rows of a are words of 16
// bits are for sub-groups of 16 lanes, the others for 8.
constexpr absl::string_view kMatrixFunctions[] = {
    "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f",
    "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv4_sDv8_iDv4_f",
    "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv2_sDv8_iDv2_f",
    "_Z38intel_sub_group_f16_f16_matrix_mad_k16sDv8_if",
    "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv8_sDv8_iDv8_f",
    "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv4_sDv8_iDv4_f",
    "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv2_sDv8_iDv2_f",
    "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16sDv8_if",
    "_Z36intel_sub_group_i8_i8_matrix_mad_k32Dv8_sDv8_iS0_",
    "_Z36intel_sub_group_i8_i8_matrix_mad_k32Dv4_sDv8_iDv4_i",
    "_Z36intel_sub_group_i8_i8_matrix_mad_k32Dv2_sDv8_iDv2_i",
    "_Z36intel_sub_group_i8_i8_matrix_mad_k32sDv8_ii",
    "_Z39intel_sub_group_tf32_tf32_matrix_mad_k8Dv4_fDv8_fS0_",
    "_Z39intel_sub_group_tf32_tf32_matrix_mad_k8Dv2_fDv8_fDv4_f",
    "_Z39intel_sub_group_tf32_tf32_matrix_mad_k8fDv8_fDv2_f",
    "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_iS_Dv8_f",
    "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv4_iDv8_iDv4_f",
    "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv2_iDv8_iDv2_f",
    "_Z38intel_sub_group_f16_f16_matrix_mad_k16iDv8_if",
    "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv8_iS_Dv8_f",
    "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv4_iDv8_iDv4_f",
    "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv2_iDv8_iDv2_f",
    "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16iDv8_if",
    "_Z36intel_sub_group_i8_i8_matrix_mad_k32Dv8_iS_S_",
    "_Z36intel_sub_group_i8_i8_matrix_mad_k32Dv4_iDv8_iS_",
    "_Z36intel_sub_group_i8_i8_matrix_mad_k32Dv2_iDv8_iS_",
    "_Z36intel_sub_group_i8_i8_matrix_mad_k32iDv8_ii",
};

// What drivers have for all of these GPUs. bf16 as a type is not among them, nor are integers of other widths.
constexpr absl::string_view kCapabilities[] = {"Addresses",
                                               "AtomicFloat32AddEXT",
                                               "BFloat16ConversionINTEL",
                                               "Float16",
                                               "Float16Buffer",
                                               "Float64",
                                               "GenericPointer",
                                               "GroupNonUniform",
                                               "GroupNonUniformShuffle",
                                               "Groups",
                                               "Int16",
                                               "Int64",
                                               "Int64Atomics",
                                               "Int8",
                                               "Kernel",
                                               "Linkage",
                                               "SubgroupDispatch",
                                               "Vector16"};

absl::Status CheckCapability(uint32_t capability) {
  const Enumerant* known = FindEnumerant('C', capability);
  const absl::string_view name = known ? known->name : "";
  if (std::find(std::begin(kCapabilities), std::end(kCapabilities), name) != std::end(kCapabilities))
    return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("the module needs the capability ", capability, " ", name, ", which drivers may not have"));
}

bool IsProvided(absl::string_view function) {
  return std::find(std::begin(kMatrixFunctions), std::end(kMatrixFunctions), function) != std::end(kMatrixFunctions) ||
         IsBlockFunction(llvm::StringRef(function.data(), function.size())) ||
         IsBlockPrefetch(llvm::StringRef(function.data(), function.size()));
}

// What CheckSpirv gathers.
struct Facts {
  uint32_t kernel = 0;                      // the entry point's id; 0: there is none of the name
  std::map<uint32_t, uint32_t> sub_groups;  // sizes by entry point
  std::map<uint32_t, std::string> imports;
  std::set<uint32_t> functions;
};

absl::Status Gather(Words words, absl::string_view kernel, Facts& facts) {
  const uint32_t opcode = OpcodeOf(words);
  if (opcode == kCapability && words.size() == 2) return CheckCapability(words[1]);
  if (opcode == kEntryPoint && words.size() > 3 && words[1] == kKernel) {
    size_t at = 3;
    absl::StatusOr<std::string> name = ReadString(words, at);
    if (name.ok() && *name == kernel) facts.kernel = words[2];
  } else if (opcode == kExecutionMode && words.size() == 4 && words[2] == kSubgroupSize) {
    facts.sub_groups[words[1]] = words[3];
  } else if (opcode == kDecorate && words.size() > 4 && words[2] == kLinkageAttributes && words.back() == kImport) {
    size_t at = 3;
    absl::StatusOr<std::string> name = ReadString(words, at);
    if (name.ok()) facts.imports[words[1]] = *name;
  } else if (opcode == kFunction && words.size() == 5) {
    facts.functions.insert(words[2]);
  }
  return absl::OkStatus();
}

}  // namespace

std::string KernelOf(absl::string_view text) {
  const size_t at = text.find("\nOpEntryPoint Kernel %");
  const size_t begin = at == absl::string_view::npos ? at : text.find('"', at);
  if (begin == absl::string_view::npos) return "";
  const size_t end = text.find('"', begin + 1);
  return end == absl::string_view::npos ? "" : std::string(text.substr(begin + 1, end - begin - 1));
}

absl::Status CheckSpirv(absl::string_view binary, const Device& device, absl::string_view kernel) {
  absl::StatusOr<SpirvWords> module = SpirvWords::Parse(binary);
  if (!module.ok()) return module.status();
  if (module->version > kNewestVersion)
    return absl::InternalError(
        absl::StrCat("the module's version is 0x", absl::Hex(module->version), ", newer than drivers take"));
  if (module->instructions.empty() || OpcodeOf(module->instructions.back()) != kFunctionEnd)
    return absl::InternalError("the module does not end with a function");
  Facts facts;
  for (const Words words : module->instructions)
    if (absl::Status status = Gather(words, kernel, facts); !status.ok()) return status;
  if (facts.kernel == 0) return absl::InternalError(absl::StrCat("the module has no entry point '", kernel, "'"));
  if (const uint32_t size = facts.sub_groups[facts.kernel]; size != static_cast<uint32_t>(device.lanes))
    return absl::InternalError(
        absl::StrCat("the kernel is made for sub-groups of ", size, ", not of ", device.lanes, " lanes"));
  for (const auto& [id, name] : facts.imports)
    if (facts.functions.count(id) > 0 && !IsProvided(name))
      return absl::InternalError(absl::StrCat("the module leaves the function ", name, " open"));
  return CheckValues(*module);
}

}  // namespace tritond::compiler::intel
