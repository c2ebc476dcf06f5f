// SPDX-License-Identifier: Apache-2.0
// The part of .ze_info that is read here:
//
//   kernels:
//     - name: kernel
//       execution_env: {grf_count: 128, simd_size: 16, spill_size: 8192}
//       per_thread_memory_buffers:                     # what says the same before spill_size was there
//         - {type: scratch, usage: spill_fill_space, size: 8192}
#include "compiler/targets/intel/zebin.h"

#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/targets/elf_image.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

namespace tritond::compiler::intel {
namespace {

constexpr absl::string_view kElfMagic = "\177ELF";
constexpr uint16_t kElfMachineIntelGt = 205;
constexpr int kDeepest = 16;  // of nested values

// Scalars are strings. Null for what is none of these, or nested too deep.
nlohmann::json ToJson(llvm::yaml::Node* node, int depth = 0) {
  if (depth > kDeepest) return nullptr;
  if (auto* scalar = llvm::dyn_cast_or_null<llvm::yaml::ScalarNode>(node)) {
    llvm::SmallString<32> storage;
    return scalar->getValue(storage).str();
  }
  if (auto* sequence = llvm::dyn_cast_or_null<llvm::yaml::SequenceNode>(node)) {
    nlohmann::json list = nlohmann::json::array();
    for (llvm::yaml::Node& one : *sequence) list.push_back(ToJson(&one, depth + 1));
    return list;
  }
  if (auto* mapping = llvm::dyn_cast_or_null<llvm::yaml::MappingNode>(node)) {
    nlohmann::json map = nlohmann::json::object();
    for (llvm::yaml::KeyValueNode& one : *mapping) {
      const nlohmann::json key = ToJson(one.getKey(), depth + 1);
      nlohmann::json value = ToJson(one.getValue(), depth + 1);
      if (key.is_string()) map[key.get<std::string>()] = std::move(value);
    }
    return map;
  }
  return nullptr;
}

nlohmann::json ParseYaml(absl::string_view text) {
  llvm::SourceMgr sources;
  sources.setDiagHandler([](const llvm::SMDiagnostic&, void*) {});
  llvm::yaml::Stream stream(llvm::StringRef(text.data(), text.size()), sources);
  llvm::yaml::document_iterator document = stream.begin();
  if (document == stream.end()) return nullptr;
  nlohmann::json root = ToJson(document->getRoot());
  return stream.failed() ? nlohmann::json() : root;
}

// A member of `object`; null where there is none.
nlohmann::json Member(const nlohmann::json& object, const char* name) {
  return object.is_object() && object.contains(name) ? object[name] : nlohmann::json();
}

std::optional<int64_t> Number(const nlohmann::json& object, const char* name) {
  const nlohmann::json value = Member(object, name);
  int64_t number = 0;
  if (!value.is_string() || !absl::SimpleAtoi(value.get_ref<const std::string&>(), &number)) return std::nullopt;
  return number;
}

// What .ze_info says of the kernel; null where it says nothing.
nlohmann::json InfoOf(const ElfImage& image, absl::string_view kernel) {
  for (const ElfImage::Section& section : image.sections()) {
    if (section.name != ".ze_info") continue;
    for (const nlohmann::json& one : Member(ParseYaml(section.bytes), "kernels"))
      if (Member(one, "name") == std::string(kernel)) return one;
  }
  return nullptr;
}

std::optional<int64_t> SpilledBytes(const nlohmann::json& info) {
  const nlohmann::json environment = Member(info, "execution_env");
  if (!environment.is_object()) return std::nullopt;
  if (std::optional<int64_t> bytes = Number(environment, "spill_size")) return bytes;
  int64_t bytes = 0;
  for (const nlohmann::json& one : Member(info, "per_thread_memory_buffers"))
    if (Member(one, "usage") == "spill_fill_space") bytes += Number(one, "size").value_or(0);
  return bytes;
}

}  // namespace

bool IsNative(absl::string_view binary) { return binary.substr(0, kElfMagic.size()) == kElfMagic; }

absl::Status CheckNative(absl::string_view binary, int lanes, absl::string_view kernel) {
  const absl::StatusOr<ElfImage> image = ElfImage::Parse(binary);
  if (!image.ok()) return image.status();
  if (image->machine() != kElfMachineIntelGt)
    return absl::InternalError(absl::StrCat("the ELF file is for machine ", image->machine(), ", no Intel GPU"));
  for (const ElfImage::Symbol& symbol : image->symbols())
    if (symbol.undefined && !symbol.name.empty())
      return absl::InternalError(
          absl::StrCat("the module leaves the function ", symbol.name,
                       " open, which this ocloc does not know; option block_reads = false avoids those "
                       "that read blocks"));
  if (absl::Status status = image->RequireFunction(kernel); !status.ok()) return status;
  const nlohmann::json info = InfoOf(*image, kernel);
  if (info.is_null()) return absl::InternalError(absl::StrCat(".ze_info says nothing of '", kernel, "'"));
  const int64_t simd = Number(Member(info, "execution_env"), "simd_size").value_or(0);
  if (simd == lanes) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the kernel is made for sub-groups of ", simd, ", not of ", lanes, " lanes"));
}

BinaryResources ResourcesOfNative(absl::string_view binary, absl::string_view kernel) {
  BinaryResources resources;
  const absl::StatusOr<ElfImage> image = ElfImage::Parse(binary);
  if (!image.ok()) return resources;
  const nlohmann::json info = InfoOf(*image, kernel);
  resources.registers = Number(Member(info, "execution_env"), "grf_count");
  resources.local_bytes = SpilledBytes(info);
  return resources;
}

}  // namespace tritond::compiler::intel
