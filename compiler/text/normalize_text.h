// SPDX-License-Identifier: Apache-2.0
// Brings the IR text of any Triton release from 3.0 on to the spelling that this parser reads. Works on characters,
// before parsing; every position in the result leads back to the original.
#ifndef COMPILER_TEXT_NORMALIZE_TEXT_H_
#define COMPILER_TEXT_NORMALIZE_TEXT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tritond::compiler {

// Line and column of a byte, both from 1. {0, 0}: unknown.
struct TextPosition {
  int line = 0;
  int column = 0;
  friend bool operator==(TextPosition a, TextPosition b) { return a.line == b.line && a.column == b.column; }
};

// Where byte `offset` of `text` stands.
TextPosition PositionAt(absl::string_view text, size_t offset);

// Bytes [begin, end) of the original become `text`.
struct TextEdit {
  size_t begin = 0;
  size_t end = 0;
  std::string text;
};

struct TextError {
  TextPosition where;  // in the original
  std::string message;
  bool is_unknown = false;  // the text may well be right: it names what this compiler does not have
};

// A text and where each of its bytes comes from. Immutable.
class NormalizedText {
 public:
  NormalizedText() = default;
  // `edits` are in order, do not overlap and keep the number of lines.
  NormalizedText(std::string original, std::vector<TextEdit> edits);

  const std::string& text() const { return text_; }
  // Where the byte at `position` of text() stood in the original; inserted bytes stand where they were inserted.
  // {0, 0} for a position outside the text.
  TextPosition ToOriginal(TextPosition position) const;

 private:
  std::string text_;
  std::string original_;  // empty without edits
  std::vector<TextEdit> edits_;
};

struct NormalizeOptions {
  // Drops loc(...) and #loc lines: operations are then located in the IR itself.
  bool strip_locations = false;
};

struct NormalizeResult {
  NormalizedText text;
  std::optional<TextError> error;  // a construct that has no equivalent here; `text` is then empty
};

// Linear in the size of `ir`. What is changed, and why it means the same, stands in normalize_text.cc. Text that is no
// IR at all passes through: complaining is the parser's task.
NormalizeResult NormalizeText(std::string ir, NormalizeOptions options = {});

}  // namespace tritond::compiler

#endif  // COMPILER_TEXT_NORMALIZE_TEXT_H_
