// SPDX-License-Identifier: Apache-2.0
#ifndef PROTO_REQUEST_KEY_SOURCE_MAP_H_
#define PROTO_REQUEST_KEY_SOURCE_MAP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tritond::proto {

// A line and a column of a text, both from 1; columns count bytes. {0, 0}: no place.
struct TextPlace {
  int line = 0;
  int column = 0;
  friend bool operator==(TextPlace a, TextPlace b) { return a.line == b.line && a.column == b.column; }
};

// Leads from places of a canonical text back to the text as sent. A map without steps leads each place to itself.
// Holds only the places where the distance between the two texts changes.
class SourceMap final {
 public:
  // From `canonical` on, up to the next step or the end of the line, bytes come from `source` on. Steps are added in
  // the order of the canonical text.
  void Add(TextPlace canonical, TextPlace source);

  // The place in the text as sent; {0, 0} stays {0, 0}.
  TextPlace ToSource(TextPlace canonical) const;

  // The map as bytes, and back; Parse gives nothing for other bytes than Serialize's.
  std::string Serialize() const;
  static std::optional<SourceMap> Parse(absl::string_view bytes);

  bool empty() const { return lines_.empty() && columns_.empty(); }

 private:
  struct LineStep {  // From this line on, lines are `ahead` further down in the text as sent.
    int line;
    int ahead;
  };
  struct ColumnStep {  // From this column on, within the line, columns are `ahead` further right.
    int line;
    int column;
    int ahead;
  };
  std::vector<LineStep> lines_;
  std::vector<ColumnStep> columns_;
};

}  // namespace tritond::proto

#endif  // PROTO_REQUEST_KEY_SOURCE_MAP_H_
