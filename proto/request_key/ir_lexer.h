// SPDX-License-Identifier: Apache-2.0
#ifndef PROTO_REQUEST_KEY_IR_LEXER_H_
#define PROTO_REQUEST_KEY_IR_LEXER_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/request_key/source_map.h"

namespace tritond::proto {

struct IrToken {
  enum class Kind {
    kEnd,
    kError,   // the text has no further tokens; IrLexer::error() says why
    kWord,    // module, tt.func, loc
    kSymbol,  // %x, ^bb0, #loc1, !tt.ptr, @f, @"f": with their sigil
    kString,
    kNumber,  // a run of decimal digits, or 0x and hexadecimal digits
    kOther,   // one character of punctuation, or ->, {-#, #-}
  };
  Kind kind = Kind::kEnd;
  absl::string_view text;
  size_t begin = 0, end = 0;  // in the whole text
  TextPlace place;            // of its first byte
  bool new_line = false;      // the gap before it, which is white space and comments, ends a line
  size_t line_begin = 0;      // offset of the line that it is in

  bool Is(absl::string_view spelling) const { return text == spelling; }
};

// Splits MLIR's textual IR into tokens as MLIR's own lexer does, in time linear in its size. Where MLIR's lexer would
// go on with a longer token (a float, say), this one may give several that touch.
//
// Not every text has tokens. It refuses characters that MLIR has no token for, and strings that do not end or have an
// escape that MLIR does not know. It also refuses comments inside the brackets of a dialect's type or attribute. MLIR
// takes their brackets for code at first and for a comment later.
//
// Copy it to look ahead. The text must outlive it.
class IrLexer final {
 public:
  explicit IrLexer(absl::string_view text) : text_(text) {}

  // kEnd, or kError, for ever once there is no more.
  IrToken Next();

  // "line 3, column 7: the string does not end"; after a token of kind kError.
  const std::string& error() const { return error_; }

 private:
  void SkipGap(IrToken* token);
  size_t EndOfToken(size_t begin, IrToken::Kind* kind);
  size_t EndOfString(size_t begin);
  size_t EndOfSymbol(size_t begin);
  void CountBrackets(size_t at);
  size_t Fail(size_t at, absl::string_view what);

  absl::string_view text_;
  size_t position_ = 0;
  int line_ = 1;
  size_t line_begin_ = 0;
  size_t symbol_end_ = 0;  // the end of the latest # or ! symbol: a < there opens its brackets
  int symbol_depth_ = 0;   // of brackets, from that of a dialect's type or attribute on; 0: in none
  std::string error_;
};

}  // namespace tritond::proto

#endif  // PROTO_REQUEST_KEY_IR_LEXER_H_
