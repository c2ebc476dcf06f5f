// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_ELF_IMAGE_H_
#define COMPILER_TARGETS_ELF_IMAGE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tritond::compiler {

// As <elf.h> has them, whose macros and LLVM's headers do not go together.
inline constexpr uint16_t kElfExecutable = 2, kElfSharedObject = 3;  // type()
inline constexpr uint16_t kElfMachineX86 = 62;                       // machine()
inline constexpr uint16_t kElfMachineCuda = 190;
inline constexpr uint16_t kElfMachineAmdgpu = 224;

// The parts of a 64-bit little-endian ELF file that tell whether it can be what it should be: header, sections and
// symbols. Every offset, size and index in them is checked against the file. The bytes must outlive the image.
class ElfImage {
 public:
  struct Symbol {
    absl::string_view name;
    bool function = false;
    bool defined = false;    // in a section of this file, within its bounds
    bool undefined = false;  // in no section: left to another file
  };

  struct Section {
    absl::string_view name, bytes;  // no bytes where the file holds none
  };

  // Internal, with what is wrong: not such a file, cut off, or with a part that lies outside it.
  static absl::StatusOr<ElfImage> Parse(absl::string_view bytes);

  uint16_t type() const { return type_; }        // ET_EXEC, ET_DYN
  uint16_t machine() const { return machine_; }  // EM_CUDA
  uint32_t flags() const { return flags_; }
  uint8_t abi_version() const { return abi_version_; }
  const std::vector<Symbol>& symbols() const { return symbols_; }  // of the static table, then of the dynamic one
  const std::vector<Section>& sections() const { return sections_; }

  // Internal unless the file defines a function of this name.
  absl::Status RequireFunction(absl::string_view name) const;

 private:
  ElfImage() = default;

  uint16_t type_ = 0, machine_ = 0;
  uint32_t flags_ = 0;
  uint8_t abi_version_ = 0;
  std::vector<Symbol> symbols_;
  std::vector<Section> sections_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_ELF_IMAGE_H_
