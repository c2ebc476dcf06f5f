// SPDX-License-Identifier: Apache-2.0
// A SPIR-V binary as the words that it is made of.
#ifndef COMPILER_TARGETS_INTEL_SPIRV_WORDS_H_
#define COMPILER_TARGETS_INTEL_SPIRV_WORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tritond::compiler::intel {

using Words = absl::Span<const uint32_t>;

struct SpirvWords {
  uint32_t version = 0;    // 0x00010400 for 1.4
  uint32_t generator = 0;  // the program that wrote it
  uint32_t bound = 0;      // all ids are less
  std::vector<uint32_t> body;
  std::vector<Words> instructions;  // parts of body, each with its first word; move this object, but do not copy it

  // Internal: no SPIR-V of this machine's byte order, or cut off.
  static absl::StatusOr<SpirvWords> Parse(absl::string_view binary);
  // The binary of a body.
  std::string Serialize() const;
};

inline uint32_t OpcodeOf(Words instruction) { return instruction[0] & 0xffff; }

// The string that begins at `at`, and after its last word; NotFound when there is no end.
absl::StatusOr<std::string> ReadString(Words instruction, size_t& at);
// The words of a string with its final zero.
void AppendString(absl::string_view text, std::vector<uint32_t>& words);

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_SPIRV_WORDS_H_
