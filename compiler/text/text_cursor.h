// SPDX-License-Identifier: Apache-2.0
// Reads IR text token by token: words, names, strings, numbers, single characters; knows comments and strings.
#ifndef COMPILER_TEXT_TEXT_CURSOR_H_
#define COMPILER_TEXT_TEXT_CURSOR_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace tritond::compiler {

struct TextToken {
  enum class Kind {
    kEnd,
    kWord,    // scf.for
    kName,    // %x, @f, ^bb0, with their sigil; %x#1 too
    kSigil,   // #blocked, !tt.ptr
    kString,  // with its quotes
    kNumber,  // 12, 1.0e5, 128x64xf16
    kArrow,   // ->
    kOther,   // one character
  };
  Kind kind = Kind::kEnd;
  size_t begin = 0, end = 0;
  absl::string_view text;

  bool Is(absl::string_view spelling) const { return text == spelling; }
};

// A position in a text that outlives it. Copy it to look ahead.
class TextCursor {
 public:
  explicit TextCursor(absl::string_view text, size_t position = 0) : text_(text), position_(position) {}

  // Skips white space and comments, then one token; kEnd forever at the end of the text.
  TextToken Next();
  // Skips the next token if it is `spelling`.
  bool Take(absl::string_view spelling);
  // Skips to after the bracket that closes the one just read; `<`, `(`, `[`, `{` nest. False at the end of the text.
  bool SkipToClosing();
  // After the last token read.
  size_t position() const { return position_; }

 private:
  TextToken Token(TextToken::Kind kind, size_t begin, size_t end);

  absl::string_view text_;
  size_t position_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_TEXT_TEXT_CURSOR_H_
