// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/cubin_instructions.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "compiler/targets/elf_image.h"

namespace tritond::compiler::nvidia {

int64_t Distance(const Instruction& branch, int compute_capability) {
  // A signed number of bytes; from sm_90 on of words, with its low eight bits apart.
  if (compute_capability < 90) return static_cast<int32_t>(branch.low >> 32) / 16;
  const auto words = static_cast<int64_t>(branch.low & ~((uint64_t{1} << 34) - 1)) >> 34;
  return ((words << 8) + static_cast<int64_t>(branch.low >> 16 & 0xff)) / 4;
}

std::vector<Instruction> InstructionsOf(absl::string_view cubin, absl::string_view kernel) {
  const absl::StatusOr<ElfImage> image = ElfImage::Parse(cubin);
  if (!image.ok()) return {};
  for (const ElfImage::Section& section : image->sections()) {
    if (section.name != absl::StrCat(".text.", kernel)) continue;
    std::vector<Instruction> instructions(section.bytes.size() / sizeof(Instruction));
    memcpy(instructions.data(), section.bytes.data(), instructions.size() * sizeof(Instruction));
    return instructions;
  }
  return {};
}

}  // namespace tritond::compiler::nvidia
