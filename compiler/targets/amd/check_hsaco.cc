// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/targets/amd/codegen.h"
#include "compiler/targets/elf_image.h"

namespace tritond::compiler::amd {
namespace {

constexpr uint32_t kMachineMask = 0xff;  // EF_AMDGPU_MACH
constexpr uint8_t kAbiVersion5 = 3;      // ELFABIVERSION_AMDGPU_HSA_V5

}  // namespace

std::string KernelOf(absl::string_view text) {
  constexpr absl::string_view kDirective = "\t.amdhsa_kernel ";
  const size_t at = text.find(kDirective);
  if (at == absl::string_view::npos) return "";
  absl::string_view name = text.substr(at + kDirective.size());
  name = absl::StripAsciiWhitespace(name.substr(0, name.find('\n')));
  // Unusual names are quoted.
  if (name.size() > 2 && absl::ConsumePrefix(&name, "\"")) absl::ConsumeSuffix(&name, "\"");
  return std::string(name);
}

BinaryResources ResourcesOfAssembly(absl::string_view text) {
  // LLVM writes what a code object's notes say, one field a line.
  const absl::string_view notes = text.substr(std::min(text.size(), text.find("\t.amdgpu_metadata")));
  const auto field = [notes](absl::string_view name) -> std::optional<int64_t> {
    const size_t at = notes.find(absl::StrCat(" ", name, ":"));
    if (at == absl::string_view::npos) return std::nullopt;
    const absl::string_view rest = notes.substr(at + name.size() + 2);
    int64_t value = 0;
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(rest.substr(0, rest.find('\n'))), &value)) return std::nullopt;
    return value;
  };
  return {field(".vgpr_count"), field(".private_segment_fixed_size")};
}

absl::Status CheckHsaco(absl::string_view hsaco, const Architecture& arch, absl::string_view kernel) {
  absl::StatusOr<ElfImage> image = ElfImage::Parse(hsaco);
  if (!image.ok()) return image.status();
  if (image->machine() != kElfMachineAmdgpu || image->type() != kElfSharedObject)
    return absl::InternalError("the binary is no code object for AMD GPUs");
  if (image->abi_version() != kAbiVersion5)
    return absl::InternalError(absl::StrCat("the code object has ABI version ", image->abi_version(), ", not ",
                                            kAbiVersion5, " (code object version 5)"));
  if (const uint32_t machine = image->flags() & kMachineMask; machine != arch.machine)
    return absl::InternalError(absl::StrCat("the code object is for machine ", machine, ", not for ", arch.name));
  bool described = false;
  const std::string descriptor = absl::StrCat(kernel, ".kd");
  for (const ElfImage::Symbol& symbol : image->symbols()) {
    if (!symbol.name.empty() && symbol.undefined)
      return absl::InternalError(absl::StrCat("the code object leaves ", symbol.name, " open"));
    described |= symbol.name == descriptor && symbol.defined;
  }
  if (!described)
    return absl::InternalError(absl::StrCat("the code object has no descriptor of kernel '", kernel, "'"));
  return image->RequireFunction(kernel);
}

}  // namespace tritond::compiler::amd
