// SPDX-License-Identifier: Apache-2.0
#include "proto/request_key/ir_lexer.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tritond::proto {
namespace {

using Kind = IrToken::Kind;

enum CharClass : unsigned char {
  kAlpha = 1,      // begins a word
  kDigit = 2,      //
  kPunct = 4,      // $ . : further in words, with letters and digits
  kDash = 8,       // - : further in symbols
  kHex = 16,       //
  kSpace = 32,     //
  kPrintable = 64  // what may be a token of its own
};

constexpr std::array<unsigned char, 256> MakeClasses() {
  std::array<unsigned char, 256> classes{};
  for (int c = '!'; c <= '~'; ++c) classes[c] |= kPrintable;
  for (int c = '0'; c <= '9'; ++c) classes[c] |= kDigit | kHex;
  for (int c = 'a'; c <= 'z'; ++c) classes[c] |= kAlpha;
  for (int c = 'A'; c <= 'Z'; ++c) classes[c] |= kAlpha;
  for (int c = 'a'; c <= 'f'; ++c) classes[c] |= kHex;
  for (int c = 'A'; c <= 'F'; ++c) classes[c] |= kHex;
  classes['_'] |= kAlpha;
  classes['$'] |= kPunct;
  classes['.'] |= kPunct;
  classes['-'] |= kDash;
  for (char c : {' ', '\t', '\n', '\r'}) classes[static_cast<unsigned char>(c)] |= kSpace;
  return classes;
}
constexpr std::array<unsigned char, 256> kClasses = MakeClasses();

bool Is(char c, unsigned char classes) { return (kClasses[static_cast<unsigned char>(c)] & classes) != 0; }

size_t SkipWhile(absl::string_view text, size_t position, unsigned char classes) {
  while (position < text.size() && Is(text[position], classes)) ++position;
  return position;
}

}  // namespace

// Remembers what is wrong; nothing is read from here on. npos, for callers that look for an end.
size_t IrLexer::Fail(size_t at, absl::string_view what) {
  error_ = absl::StrCat("line ", line_, ", column ", at - line_begin_ + 1, ": ", what);
  position_ = text_.size();
  return absl::string_view::npos;
}

// White space and comments.
void IrLexer::SkipGap(IrToken* token) {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n' || c == '\r') {
      token->new_line = true;
      ++position_;
      if (c == '\n') {
        ++line_;
        line_begin_ = position_;
      }
    } else if (c == ' ' || c == '\t') {
      ++position_;
    } else if (c == '/' && position_ + 1 < text_.size() && text_[position_ + 1] == '/') {
      if (symbol_depth_ > 0) {
        Fail(position_, "a comment inside the brackets of a type or an attribute; put it outside of them");
        return;
      }
      // Both end a comment for MLIR.
      position_ = std::min(text_.find_first_of("\n\r", position_), text_.size());
    } else {
      break;
    }
  }
}

// One past the string literal that opens at `begin`; npos, with error_ set, where it is none.
size_t IrLexer::EndOfString(size_t begin) {
  for (size_t i = begin + 1; i < text_.size(); ++i) {
    const char c = text_[i];
    if (c == '"') return i + 1;
    if (c == '\n' || c == '\v' || c == '\f') break;
    if (c == 0) return Fail(i, "a string holds a byte of value 0");
    if (c != '\\') continue;
    const absl::string_view escape = text_.substr(i + 1, 2);
    if (!escape.empty() && absl::string_view("\"\\nt").find(escape[0]) != absl::string_view::npos) {
      i += 1;
    } else if (escape.size() == 2 && Is(escape[0], kHex) && Is(escape[1], kHex)) {
      i += 2;
    } else {
      return Fail(i, "a string has an unknown escape; use \\\", \\\\, \\n, \\t or two hexadecimal digits");
    }
  }
  return Fail(begin, "the string does not end in its line");
}

// One past the symbol whose sigil stands at `begin`; npos, with error_ set, where it is none.
size_t IrLexer::EndOfSymbol(size_t begin) {
  const char next = begin + 1 < text_.size() ? text_[begin + 1] : ' ';
  if (text_[begin] == '@') {
    if (next == '"') return EndOfString(begin + 1);
    if (Is(next, kAlpha)) return SkipWhile(text_, begin + 1, kAlpha | kDigit | kPunct);
  } else if (Is(next, kDigit)) {
    return SkipWhile(text_, begin + 1, kDigit);
  } else if (Is(next, kAlpha | kPunct | kDash)) {
    return SkipWhile(text_, begin + 1, kAlpha | kDigit | kPunct | kDash);
  }
  return Fail(begin, absl::StrFormat("%c is not followed by a name", text_[begin]));
}

// MLIR finds the end of a dialect's type or attribute by its brackets alone, before it reads what is in them.
void IrLexer::CountBrackets(size_t at) {
  switch (text_[at]) {
    case '<':
      if (symbol_depth_ > 0 || (at == symbol_end_ && at > 0)) ++symbol_depth_;
      break;
    case '(':
    case '[':
    case '{':
      if (symbol_depth_ > 0) ++symbol_depth_;
      break;
    case ')':
    case ']':
    case '}':
    case '>':
      if (symbol_depth_ > 0) --symbol_depth_;
      break;
  }
}

// The end of the token that begins at `begin`, which sets its kind.
size_t IrLexer::EndOfToken(size_t begin, Kind* kind) {
  const char c = text_[begin];
  const char next = begin + 1 < text_.size() ? text_[begin + 1] : ' ';
  if (Is(c, kAlpha)) {
    *kind = Kind::kWord;
    return SkipWhile(text_, begin + 1, kAlpha | kDigit | kPunct);
  }
  if (Is(c, kDigit)) {
    *kind = Kind::kNumber;
    const bool hex = c == '0' && next == 'x' && begin + 2 < text_.size() && Is(text_[begin + 2], kHex);
    return hex ? SkipWhile(text_, begin + 2, kHex) : SkipWhile(text_, begin + 1, kDigit);
  }
  if (c == '"') {
    *kind = Kind::kString;
    return EndOfString(begin);
  }
  // The brackets of a file's metadata.
  const absl::string_view three = text_.substr(begin, 3);
  if (three == "{-#" || three == "#-}") {
    *kind = Kind::kOther;
    return begin + 3;
  }
  if (c == '%' || c == '^' || c == '#' || c == '!' || c == '@') {
    *kind = Kind::kSymbol;
    const size_t end = EndOfSymbol(begin);
    if (c == '#' || c == '!') symbol_end_ = end;
    return end;
  }
  if (!Is(c, kPrintable)) return Fail(begin, absl::StrFormat("unexpected byte 0x%02x", static_cast<unsigned char>(c)));
  *kind = Kind::kOther;
  if (c == '-' && next == '>') return begin + 2;
  CountBrackets(begin);
  return begin + 1;
}

IrToken IrLexer::Next() {
  IrToken token;
  if (error_.empty()) SkipGap(&token);
  token.begin = token.end = position_;
  token.line_begin = line_begin_;
  token.place = {line_, static_cast<int>(position_ - line_begin_) + 1};
  if (error_.empty() && position_ < text_.size()) {
    const size_t end = EndOfToken(position_, &token.kind);
    if (error_.empty()) {
      token.text = text_.substr(token.begin, end - token.begin);
      token.end = position_ = end;
    }
  }
  if (!error_.empty()) token.kind = Kind::kError;
  return token;
}

}  // namespace tritond::proto
