// SPDX-License-Identifier: Apache-2.0
// Drops source locations from MLIR text with a lexer. Before and after:
//
//   #loc = loc("k.py":46:0)                                   module {
//   module {                                             =>     %0 = arith.addi %a, %b : i32
//     %0 = arith.addi %a, %b : i32 loc(#loc1)                 }
//   } loc(#loc)
//   #loc1 = loc("k.py":47:25)
//
// MLIR's printer always puts white space before a trailing `loc(`, which tells it from names that end in "loc"
// (`@loc(`, `tt.loc(`). Inside the parentheses stand strings, nested locations and `<…>`; only strings and parentheses
// matter.
#include "absl/strings/match.h"
#include "proto/request_key/request_key.h"

namespace tritond::proto {
namespace {

// One past the string literal that opens at `begin`; the end of the line when it is not closed, as MLIR's strings do
// not span lines.
size_t EndOfString(absl::string_view text, size_t begin) {
  for (size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    } else if (text[i] == '\n') {
      return i;
    }
  }
  return text.size();
}

// One past the parenthesis that closes the one at `open`; npos when none does.
size_t EndOfParentheses(absl::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size();) {
    if (text[i] == '"') {
      i = EndOfString(text, i);
      continue;
    }
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    ++i;
    if (depth == 0) return i;
  }
  return absl::string_view::npos;
}

size_t EndOfLine(absl::string_view text, size_t begin) {
  size_t end = text.find('\n', begin);
  return end == absl::string_view::npos ? text.size() : end;
}

// One past `#locN = loc(…)` when that is what the line at `begin` is; else `begin`.
size_t SkipAlias(absl::string_view text, size_t begin) {
  absl::string_view rest = text.substr(begin);
  if (!absl::StartsWith(rest, "#loc")) return begin;
  size_t i = begin + 4;
  while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
  if (!absl::StartsWith(text.substr(i), " = loc(")) return begin;
  size_t end = EndOfParentheses(text, i + 6);
  return end == absl::string_view::npos ? begin : end;
}

void TrimTrailingSpace(std::string* out) {
  while (!out->empty() && (out->back() == ' ' || out->back() == '\t' || out->back() == '\r')) out->pop_back();
}

// Ends the line that `out` is in, unless it is empty.
void EndLine(std::string* out) {
  TrimTrailingSpace(out);
  if (!out->empty() && out->back() != '\n') out->push_back('\n');
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// One past the trailing `loc(…)` at `begin` when that is what stands there; else `begin`.
size_t SkipLocation(absl::string_view text, size_t begin) {
  if (begin != 0 && !IsSpace(text[begin - 1])) return begin;
  if (!absl::StartsWith(text.substr(begin), "loc(")) return begin;
  const size_t end = EndOfParentheses(text, begin + 3);
  return end == absl::string_view::npos ? begin : end;
}

}  // namespace

std::string StripLocations(absl::string_view ir) {
  std::string out;
  out.reserve(ir.size());
  size_t begin = 0;  // of what is not copied yet
  size_t i = 0;
  // Copies up to i and goes on at `after`.
  auto skip_to = [&](size_t after) {
    out.append(ir.data() + begin, i - begin);
    begin = i = after;
  };
  while (i < ir.size()) {
    switch (ir[i]) {
      case '#': {
        const size_t after = i == 0 || ir[i - 1] == '\n' ? SkipAlias(ir, i) : i;
        after == i ? static_cast<void>(++i) : skip_to(after);
        break;
      }
      case '"':
        i = EndOfString(ir, i);
        break;
      case '/':
        i = i + 1 < ir.size() && ir[i + 1] == '/' ? EndOfLine(ir, i) : i + 1;
        break;
      case 'l': {
        const size_t after = SkipLocation(ir, i);
        if (after == i) {
          ++i;
        } else {
          skip_to(after);
          TrimTrailingSpace(&out);
        }
        break;
      }
      case '\n':
        skip_to(i + 1);
        EndLine(&out);
        break;
      default:
        ++i;
    }
  }
  skip_to(ir.size());
  EndLine(&out);
  return out;
}

}  // namespace tritond::proto
