// SPDX-License-Identifier: Apache-2.0
#include "proto/plain_text/plain_text.h"

#include <cstddef>
#include <cstdint>

namespace tritond::proto {
namespace {

struct Character {
  size_t bytes = 1;
  bool plain = false;  // false for bytes that are no UTF-8
};

bool IsPlainCodePoint(uint32_t c) {
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  const bool separator = c == 0x2028 || c == 0x2029;
  const bool direction =
      c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return !control && !separator && !direction;
}

// The first character of `text`, which is not empty. Overlong forms, surrogates and what is beyond Unicode are no
// UTF-8.
Character First(absl::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {1, IsPlainCodePoint(lead)};
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {};
  uint32_t code = lead & (0xff >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool valid = code >= kLeast[size] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return valid ? Character{size, IsPlainCodePoint(code)} : Character{};
}

// How many bytes of plain text `text` begins with.
size_t PlainPrefix(absl::string_view text) {
  size_t size = 0;
  while (size < text.size()) {
    const Character next = First(text.substr(size));
    if (!next.plain) break;
    size += next.bytes;
  }
  return size;
}

}  // namespace

bool IsPlainText(absl::string_view text) { return PlainPrefix(text) == text.size(); }

std::string EscapeToPlain(absl::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  while (true) {
    const size_t plain = PlainPrefix(text);
    out.append(text.data(), plain);
    text.remove_prefix(plain);
    if (text.empty()) return out;
    const size_t bytes = First(text).bytes;
    for (const char c : text.substr(0, bytes)) {
      const auto byte = static_cast<uint8_t>(c);
      out.append({'\\', 'x', kDigits[byte >> 4], kDigits[byte & 0xf]});
    }
    text.remove_prefix(bytes);
  }
}

}  // namespace tritond::proto
