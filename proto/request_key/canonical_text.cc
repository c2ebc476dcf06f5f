// SPDX-License-Identifier: Apache-2.0
// Before and after, with SourceLocations::kDrop:
//
//   #loc = loc("k.py":46:0)                                    module {
//   module {                                              =>     %0 = arith.addi %a, %b : i32
//     %0 = arith.addi %a, %b : i32 loc(#loc1)  // sum          }
//   } loc(#loc)
//   #loc1 = loc("k.py":47:25)
//
// Tokens are copied. What lies between two of them becomes one gap: a line break where there was one, then the
// indentation of the line that follows. Dropped are `loc(…)` after what an operation or an argument may end with, and
// `#locN = loc(…)` at the top level. A location elsewhere is an attribute's value and stays. When such a value refers
// to a `#locN`, its definition has to stay, so all locations do.
#include "proto/request_key/canonical_text.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/request_key/ir_lexer.h"

namespace tritond::proto {
namespace {

using Kind = IrToken::Kind;

// #loc, #loc1, …
bool IsLocationAlias(const IrToken& token) {
  return token.kind == Kind::kSymbol && absl::StartsWith(token.text, "#loc") &&
         std::all_of(token.text.begin() + 4, token.text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class Canonicalizer final {
 public:
  Canonicalizer(absl::string_view text, SourceLocations locations)
      : text_(text), lexer_(text), drop_(locations == SourceLocations::kDrop) {
    out_.text.reserve(text.size() + 1);
  }

  absl::Status Run() {
    for (IrToken token = lexer_.Next(); token.kind != Kind::kEnd; token = lexer_.Next()) {
      if (token.kind == Kind::kError) return absl::InvalidArgumentError(lexer_.error());
      new_line_ |= token.new_line;
      const absl::StatusOr<bool> dropped = drop_ ? Drop(token) : false;
      if (!dropped.ok()) return dropped.status();
      if (!*dropped) Copy(token);
    }
    return absl::OkStatus();
  }

  // Whether a location that was kept refers to one that was dropped.
  bool refers_to_dropped() const { return refers_to_alias_ && dropped_alias_; }
  CanonicalText Take() { return std::move(out_); }

 private:
  // Skips the location, or the definition of one, that begins with `token`. False when none does.
  absl::StatusOr<bool> Drop(const IrToken& token) {
    IrLexer ahead = lexer_;
    const bool alias = depth_ == 0 && IsLocationAlias(token);
    if (alias) {
      if (!ahead.Next().Is("=") || !ahead.Next().Is("loc")) return false;
    } else if (!token.Is("loc") || !MayEndOperation(last_)) {
      return false;
    }
    if (!ahead.Next().Is("(")) return false;
    lexer_ = ahead;
    for (int open = 1; open > 0;) {
      const IrToken inner = lexer_.Next();
      if (inner.kind == Kind::kError) return absl::InvalidArgumentError(lexer_.error());
      if (inner.kind == Kind::kEnd) {
        return absl::InvalidArgumentError(absl::StrCat("line ", token.place.line, ", column ", token.place.column,
                                                       ": the parenthesis of this location is not closed"));
      }
      new_line_ |= inner.new_line;
      open += inner.Is("(") ? 1 : inner.Is(")") ? -1 : 0;
      gap_begin_ = inner.end;
    }
    dropped_alias_ |= alias;
    dropped_ = true;
    return true;
  }

  static bool MayEndOperation(const IrToken& token) {
    switch (token.kind) {
      case Kind::kWord:
        return !token.Is("loc");  // Nothing valid; so that a canonical text is its own.
      case Kind::kSymbol:
      case Kind::kString:
      case Kind::kNumber:
        return true;
      case Kind::kOther:
        return token.Is(")") || token.Is("}") || token.Is("]") || token.Is(">");
      default:
        return false;
    }
  }

  void Copy(const IrToken& token) {
    AppendGap(token);
    out_.source.Add({line_, static_cast<int>(out_.text.size() - line_begin_) + 1}, token.place);
    out_.text.append(token.text.data(), token.text.size());
    depth_ += token.Is("{") ? 1 : token.Is("}") ? -1 : 0;
    refers_to_alias_ |= IsLocationAlias(token);
    last_ = token;
    gap_begin_ = token.end;
    new_line_ = dropped_ = false;
  }

  // What stands between the token before and this one.
  void AppendGap(const IrToken& token) {
    const bool first = out_.text.empty();
    if (new_line_ || first) {
      if (!first) {
        out_.text.push_back('\n');
        ++line_;
        line_begin_ = out_.text.size();
      }
      // The white space before the token, back to the line's begin or whatever was dropped from the line.
      const absl::string_view before = text_.substr(0, token.begin);
      size_t begin = before.find_last_not_of(" \t");
      begin = begin == absl::string_view::npos ? 0 : begin + 1;
      absl::StrAppend(&out_.text, before.substr(begin));
      return;
    }
    const absl::string_view gap = text_.substr(gap_begin_, token.begin - gap_begin_);
    absl::StrAppend(&out_.text, gap);
    // A dropped location kept its neighbours apart.
    const bool closes = token.Is(",") || token.Is(")") || token.Is("}") || token.Is("]");
    if (dropped_ && gap.empty() && !closes) out_.text.push_back(' ');
  }

  const absl::string_view text_;
  IrLexer lexer_;
  const bool drop_;
  CanonicalText out_;
  int line_ = 1;           // of out_.text
  size_t line_begin_ = 0;  // in out_.text
  IrToken last_;           // that was copied
  size_t gap_begin_ = 0;   // in text_: where what may be copied of the gap begins
  bool new_line_ = false;  // the gap ends a line
  bool dropped_ = false;   // something was dropped in the gap
  int depth_ = 0;          // of braces
  bool dropped_alias_ = false, refers_to_alias_ = false;
};

}  // namespace

absl::StatusOr<CanonicalText> CanonicalizeText(absl::string_view text, SourceLocations locations) {
  Canonicalizer canonicalizer(text, locations);
  if (absl::Status status = canonicalizer.Run(); !status.ok()) return status;
  if (canonicalizer.refers_to_dropped()) return CanonicalizeText(text, SourceLocations::kKeep);
  return canonicalizer.Take();
}

}  // namespace tritond::proto
