// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/spirv_words.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace tritond::compiler::intel {
namespace {

constexpr uint32_t kMagic = 0x07230203;
constexpr size_t kHeaderWords = 5;

}  // namespace

absl::StatusOr<SpirvWords> SpirvWords::Parse(absl::string_view binary) {
  uint32_t header[kHeaderWords];
  if (binary.size() < sizeof(header) || binary.size() % sizeof(uint32_t) != 0)
    return absl::InternalError(absl::StrCat(binary.size(), " bytes are no SPIR-V module"));
  memcpy(header, binary.data(), sizeof(header));
  if (header[0] != kMagic) return absl::InternalError("the bytes do not begin as a SPIR-V module does");
  SpirvWords words;
  words.version = header[1];
  words.generator = header[2];
  words.bound = header[3];
  words.body.resize(binary.size() / sizeof(uint32_t) - kHeaderWords);
  memcpy(words.body.data(), binary.data() + sizeof(header), binary.size() - sizeof(header));
  for (size_t at = 0; at < words.body.size();) {
    const size_t count = words.body[at] >> 16;
    if (count == 0 || count > words.body.size() - at)
      return absl::InternalError(absl::StrCat("the SPIR-V module is cut off at word ", at + kHeaderWords));
    words.instructions.push_back(Words(words.body).subspan(at, count));
    at += count;
  }
  return words;
}

std::string SpirvWords::Serialize() const {
  const uint32_t header[kHeaderWords] = {kMagic, version, generator, bound, /*schema=*/0};
  std::string binary(reinterpret_cast<const char*>(header), sizeof(header));
  binary.append(reinterpret_cast<const char*>(body.data()), body.size() * sizeof(uint32_t));
  return binary;
}

absl::StatusOr<std::string> ReadString(Words instruction, size_t& at) {
  std::string text;
  for (; at < instruction.size(); ++at) {
    for (int shift = 0; shift < 32; shift += 8) {
      const char byte = static_cast<char>(instruction[at] >> shift);
      if (byte == '\0') {
        ++at;
        return text;
      }
      text.push_back(byte);
    }
  }
  return absl::NotFoundError("a string has no end");
}

void AppendString(absl::string_view text, std::vector<uint32_t>& words) {
  const size_t first = words.size();
  words.resize(first + text.size() / sizeof(uint32_t) + 1, 0);
  for (size_t i = 0; i < text.size(); ++i)
    words[first + i / sizeof(uint32_t)] |= uint32_t{static_cast<uint8_t>(text[i])} << (8 * (i % sizeof(uint32_t)));
}

}  // namespace tritond::compiler::intel
