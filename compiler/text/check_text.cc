// SPDX-License-Identifier: Apache-2.0
// MLIR's parser takes values that are defined further down in the text, and keeps a stand-in until it gets there. That
// may be inside a region of the operation that names the value, or parsing may fail before. In both cases the parser
// goes on with memory that it has freed. A printer writes definitions first, so such texts are refused.
//
// Names are told apart without parsing. One is a definition if it, or the list that it begins a statement with, stands
// before `=`, also with parentheses around it. One that stands before `:` inside parentheses is a definition, too:
// block and function arguments. In doubt a name is one; a use that is taken for a definition is left to the parser.
#include "compiler/text/check_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/text/text_cursor.h"

namespace tritond::compiler {
namespace {

// %x of %x and %x#1.
absl::string_view WithoutIndex(absl::string_view name) { return name.substr(0, name.find('#')); }
// %x#70000; the parser takes spaces before the # too.
bool NamesHugeResult(const TextToken& token) {
  if (token.kind != TextToken::Kind::kName && token.kind != TextToken::Kind::kSigil) return false;
  size_t hash = token.text.find('#');
  if (hash == absl::string_view::npos) return false;
  absl::string_view digits = token.text.substr(hash + 1);
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit)) return false;
  int number = 0;
  return !absl::SimpleAtoi(digits, &number) || number > kMaxResultNumber;
}
bool IsValue(const TextToken& token) { return token.kind == TextToken::Kind::kName && token.text[0] == '%'; }

class TextChecker final {
 public:
  explicit TextChecker(absl::string_view text) : text_(text), cursor_(text) {}

  std::optional<TextError> Run() {
    for (TextToken token = cursor_.Next(); token.kind != TextToken::Kind::kEnd; token = cursor_.Next()) {
      std::optional<TextError> error;
      if (NamesHugeResult(token)) {
        error = Error(token, absl::StrCat("result number is above ", kMaxResultNumber));
      } else if (token.kind == TextToken::Kind::kOther) {
        error = TakeBracket(token);
      } else if (token.Is("array")) {
        error = CheckArray(token);
      } else if (IsValue(token)) {
        error = TakeValue(token);
      } else if (absl::EndsWith(token.text, ".func")) {
        scopes_.back().names.clear();  // a function sees nothing of the one before it
      }
      if (error) return error;
      last_ = token;
    }
    return std::nullopt;
  }

 private:
  // What is between two braces: a region, or an attribute.
  struct Scope {
    absl::flat_hash_set<absl::string_view> names;
    int parentheses = 0;  // open ones
  };

  TextError Error(const TextToken& token, std::string message) const {
    return {PositionAt(text_, token.begin), std::move(message)};
  }

  std::optional<TextError> TakeBracket(const TextToken& token) {
    switch (token.text[0]) {
      case '{':
        scopes_.emplace_back();
        break;
      case '}':
        if (scopes_.size() > 1) scopes_.pop_back();
        break;
      case '(':
        ++scopes_.back().parentheses;
        break;
      case ')':
        --scopes_.back().parentheses;
        break;
    }
    constexpr absl::string_view kOpen = "{([<", kClose = "})]>";
    if (absl::StrContains(kOpen, token.text) && ++depth_ > kMaxNesting)
      return Error(token, absl::StrCat("brackets nest deeper than ", kMaxNesting));
    if (absl::StrContains(kClose, token.text)) depth_ = std::max(0, depth_ - 1);
    return std::nullopt;
  }

  // "array<index: 4>": the parser asks for the width of the elements' type without a look at it.
  std::optional<TextError> CheckArray(const TextToken& token) const {
    TextCursor ahead(text_, token.end);
    if (!ahead.Take("<")) return std::nullopt;
    const TextToken type = ahead.Next();
    if (!type.Is("index") && type.kind != TextToken::Kind::kSigil) return std::nullopt;
    return Error(type, absl::StrCat("array attributes have no elements of type ", type.text));
  }

  std::optional<TextError> TakeValue(const TextToken& token) {
    if (Defines(token) || DefinesList(token)) {
      scopes_.back().names.insert(WithoutIndex(token.text));
      return std::nullopt;
    }
    absl::string_view name = WithoutIndex(token.text);
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (scope->names.contains(name)) return std::nullopt;
    return Error(token, absl::StrCat("undeclared SSA value ", name, ": nothing before defines it"));
  }

  bool Defines(const TextToken& token) const {
    TextCursor ahead(text_, token.end);
    TextToken next = ahead.Next();
    if (next.Is("=")) return true;
    if (!next.Is(":")) return false;
    return scopes_.back().parentheses > 0 || ahead.Next().kind == TextToken::Kind::kNumber;
  }

  // Whether `token` is one of the names of "%a, %b:2 = ", of "scf.parallel (%i, %j) = " or of "scf.forall (%i) in ".
  // Such a list may follow a type, but not an operation's name.
  bool DefinesList(const TextToken& token) const {
    if (last_.Is("=") || (last_.kind == TextToken::Kind::kWord && absl::StrContains(last_.text, '.'))) return false;
    TextCursor ahead(text_, token.end);
    while (true) {
      TextToken next = ahead.Next();
      if (next.Is(":") && ahead.Next().kind == TextToken::Kind::kNumber) next = ahead.Next();
      if (next.Is(")")) next = ahead.Next();
      if (next.Is("=") || next.Is("in")) return true;
      if (!next.Is(",") || !IsValue(ahead.Next())) return false;
    }
  }

  absl::string_view text_;
  TextCursor cursor_;
  TextToken last_;
  std::vector<Scope> scopes_ = std::vector<Scope>(1);
  int depth_ = 0;
};

}  // namespace

std::optional<TextError> CheckText(absl::string_view text) { return TextChecker(text).Run(); }

}  // namespace tritond::compiler
