// SPDX-License-Identifier: Apache-2.0
#include "proto/request_key/source_map.h"

#include <algorithm>
#include <cstddef>

namespace tritond::proto {
namespace {

constexpr size_t kIntBytes = 4;

// Little-endian, whatever the machine.
void Append(int value, std::string* out) {
  for (size_t i = 0; i < kIntBytes; ++i) out->push_back(static_cast<char>(static_cast<uint32_t>(value) >> 8 * i));
}

int IntAt(absl::string_view bytes, size_t index) {
  uint32_t value = 0;
  for (size_t i = 0; i < kIntBytes; ++i)
    value |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[index * kIntBytes + i])) << 8 * i;
  return static_cast<int>(value);
}

}  // namespace

void SourceMap::Add(TextPlace canonical, TextPlace source) {
  const int lines_ahead = source.line - canonical.line;
  if (lines_ahead != (lines_.empty() ? 0 : lines_.back().ahead)) lines_.push_back({canonical.line, lines_ahead});
  const bool same_line = !columns_.empty() && columns_.back().line == canonical.line;
  const int columns_ahead = source.column - canonical.column;
  if (columns_ahead != (same_line ? columns_.back().ahead : 0))
    columns_.push_back({canonical.line, canonical.column, columns_ahead});
}

TextPlace SourceMap::ToSource(TextPlace canonical) const {
  if (canonical.line <= 0) return {};
  TextPlace source = canonical;
  auto line = std::upper_bound(lines_.begin(), lines_.end(), canonical.line,
                               [](int wanted, const LineStep& step) { return wanted < step.line; });
  if (line != lines_.begin()) source.line += std::prev(line)->ahead;
  auto column = std::upper_bound(
      columns_.begin(), columns_.end(), canonical, [](const TextPlace& wanted, const ColumnStep& step) {
        return wanted.line != step.line ? wanted.line < step.line : wanted.column < step.column;
      });
  if (column != columns_.begin() && std::prev(column)->line == canonical.line)
    source.column += std::prev(column)->ahead;
  return source;
}

// The number of line steps, then those, then the column steps.
std::string SourceMap::Serialize() const {
  std::string bytes;
  Append(static_cast<int>(lines_.size()), &bytes);
  for (const LineStep& step : lines_) {
    Append(step.line, &bytes);
    Append(step.ahead, &bytes);
  }
  for (const ColumnStep& step : columns_) {
    Append(step.line, &bytes);
    Append(step.column, &bytes);
    Append(step.ahead, &bytes);
  }
  return bytes;
}

std::optional<SourceMap> SourceMap::Parse(absl::string_view bytes) {
  const size_t ints = bytes.size() / kIntBytes;
  if (ints == 0 || bytes.size() % kIntBytes != 0) return std::nullopt;
  const auto lines = static_cast<size_t>(static_cast<uint32_t>(IntAt(bytes, 0)));
  if (lines > (ints - 1) / 2 || (ints - 1 - 2 * lines) % 3 != 0) return std::nullopt;
  SourceMap map;
  size_t next = 1;
  const auto take = [&] { return IntAt(bytes, next++); };
  for (size_t i = 0; i < lines; ++i) {
    const int line = take();
    map.lines_.push_back({line, take()});
  }
  while (next < ints) {
    const int line = take(), column = take();
    map.columns_.push_back({line, column, take()});
  }
  return map;
}

}  // namespace tritond::proto
