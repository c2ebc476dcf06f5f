// SPDX-License-Identifier: Apache-2.0
#include "proto/request_key/source_map.h"

#include <algorithm>

namespace tritond::proto {

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

}  // namespace tritond::proto
