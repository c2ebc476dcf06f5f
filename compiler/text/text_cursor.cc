// SPDX-License-Identifier: Apache-2.0
#include "compiler/text/text_cursor.h"

#include "absl/strings/ascii.h"

namespace tritond::compiler {
namespace {

bool StartsWord(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool InWord(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '$'; }
bool InName(char c) { return InWord(c) || c == '-'; }

template <typename Predicate>
size_t SkipWhile(absl::string_view text, size_t position, Predicate predicate) {
  while (position < text.size() && predicate(text[position])) ++position;
  return position;
}

size_t SkipSpaceAndComments(absl::string_view text, size_t position) {
  while (true) {
    position = SkipWhile(text, position, absl::ascii_isspace);
    if (text.substr(position, 2) != "//") return position;
    position = SkipWhile(text, position, [](char c) { return c != '\n' && c != '\r'; });  // as MLIR's lexer
  }
}

// After the closing quote, or the end of the text.
size_t SkipString(absl::string_view text, size_t quote) {
  size_t position = quote + 1;
  while (position < text.size() && text[position] != '"') position += text[position] == '\\' ? 2 : 1;
  return position < text.size() ? position + 1 : text.size();
}

}  // namespace

TextToken TextCursor::Token(TextToken::Kind kind, size_t begin, size_t end) {
  position_ = end;
  return TextToken{kind, begin, end, text_.substr(begin, end - begin)};
}

TextToken TextCursor::Next() {
  using Kind = TextToken::Kind;
  size_t begin = SkipSpaceAndComments(text_, position_);
  if (begin >= text_.size()) return Token(Kind::kEnd, text_.size(), text_.size());
  char c = text_[begin];
  if (StartsWord(c)) return Token(Kind::kWord, begin, SkipWhile(text_, begin, InWord));
  if (absl::ascii_isdigit(c)) {
    size_t end = SkipWhile(text_, begin, InWord);
    // 1.0e+5: the sign belongs to the number.
    bool exponent = end < text_.size() && (text_[end] == '+' || text_[end] == '-') && text_[end - 1] == 'e' &&
                    text_.substr(begin, end - begin).find('.') != absl::string_view::npos;
    return Token(Kind::kNumber, begin, exponent ? SkipWhile(text_, end + 1, absl::ascii_isdigit) : end);
  }
  if (c == '"') return Token(Kind::kString, begin, SkipString(text_, begin));
  if (c == '%' || c == '^') {
    size_t end = SkipWhile(text_, begin + 1, InName);
    if (end < text_.size() && text_[end] == '#') end = SkipWhile(text_, end + 1, absl::ascii_isdigit);
    return Token(Kind::kName, begin, end);
  }
  if (c == '@') {
    bool quoted = begin + 1 < text_.size() && text_[begin + 1] == '"';
    return Token(Kind::kName, begin, quoted ? SkipString(text_, begin + 1) : SkipWhile(text_, begin + 1, InName));
  }
  if (c == '#' || c == '!') return Token(Kind::kSigil, begin, SkipWhile(text_, begin + 1, InWord));
  if (text_.substr(begin, 2) == "->") return Token(Kind::kArrow, begin, begin + 2);
  return Token(Kind::kOther, begin, begin + 1);
}

bool TextCursor::Take(absl::string_view spelling) {
  TextCursor ahead = *this;
  if (!ahead.Next().Is(spelling)) return false;
  *this = ahead;
  return true;
}

bool TextCursor::SkipToClosing() {
  for (int depth = 1; depth > 0;) {
    TextToken token = Next();
    if (token.kind == TextToken::Kind::kEnd) return false;
    if (token.kind != TextToken::Kind::kOther) continue;
    if (absl::string_view("<([{").find(token.text) != absl::string_view::npos) ++depth;
    if (absl::string_view(">)]}").find(token.text) != absl::string_view::npos) --depth;
  }
  return true;
}

}  // namespace tritond::compiler
