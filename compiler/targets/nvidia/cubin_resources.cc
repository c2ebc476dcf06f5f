// SPDX-License-Identifier: Apache-2.0
// The section .nv.info has an entry for each attribute of each function, as `cuobjdump --dump-elf` prints them. An
// entry has a byte for the form, a byte for the attribute, and two more bytes. These two are a value or the size of
// what follows.
#include <cstring>

#include "compiler/targets/elf_image.h"
#include "compiler/targets/nvidia/codegen.h"

namespace tritond::compiler::nvidia {
namespace {

constexpr uint8_t kSized = 4;                           // EIFMT_SVAL
constexpr uint8_t kFrameSize = 0x11, kRegCount = 0x2f;  // EIATTR_…: the number of a symbol, and a value
constexpr size_t kHeadBytes = 4, kValueOfSymbolBytes = 8;

template <typename T>
T At(absl::string_view bytes, size_t offset) {
  T value;
  memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

void ReadEntries(absl::string_view info, const std::vector<ElfImage::Symbol>& symbols, absl::string_view kernel,
                 BinaryResources* resources) {
  while (info.size() >= kHeadBytes) {
    const uint8_t form = At<uint8_t>(info, 0), attribute = At<uint8_t>(info, 1);
    const size_t size = form == kSized ? At<uint16_t>(info, 2) : 0;
    info.remove_prefix(kHeadBytes);
    if (size > info.size()) return;
    if (size >= kValueOfSymbolBytes && (attribute == kFrameSize || attribute == kRegCount)) {
      const uint32_t symbol = At<uint32_t>(info, 0), value = At<uint32_t>(info, 4);
      const bool ours = symbol < symbols.size() && symbols[symbol].name == kernel;
      if (ours) (attribute == kRegCount ? resources->registers : resources->local_bytes) = value;
    }
    info.remove_prefix(size);
  }
}

}  // namespace

BinaryResources ResourcesOfCubin(absl::string_view cubin, absl::string_view kernel) {
  BinaryResources resources;
  const absl::StatusOr<ElfImage> image = ElfImage::Parse(cubin);
  if (!image.ok()) return resources;
  for (const ElfImage::Section& section : image->sections()) {
    if (section.name == ".nv.info") ReadEntries(section.bytes, image->symbols(), kernel, &resources);
  }
  return resources;
}

}  // namespace tritond::compiler::nvidia
