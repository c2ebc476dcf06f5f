// SPDX-License-Identifier: Apache-2.0
// What an assembler says, "ptxas kernel.ptx, line 12; error : Not a name of any known instruction: 'frobnicate'", and
// what LLVM has written there:
//
//   12: // begin inline asm
//   13: frobnicate.b32 %r1, %r2;
//   14: // end inline asm
//
// A block is a piece's when the piece's text, cut at its operands, fits it from end to end.
#include "compiler/driver/inline_assembly.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tritond::compiler {
namespace {

constexpr absl::string_view kBegin = "// begin inline asm", kEnd = "// end inline asm";

// The numbers of the lines in which the complaint sees errors: "…, line 12; error …".
std::set<size_t> ErrorLines(absl::string_view complaint) {
  std::set<size_t> lines;
  for (absl::string_view said : absl::StrSplit(complaint, '\n')) {
    const size_t at = said.find("line ");
    if (at == absl::string_view::npos) continue;
    absl::string_view rest = said.substr(at + 5);
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    size_t line = 0;
    if (!absl::SimpleAtoi(rest.substr(0, digits), &line)) continue;
    rest = absl::StripLeadingAsciiWhitespace(absl::StripPrefix(rest.substr(digits), ";"));
    if (absl::StartsWith(rest, "error") || absl::StartsWith(rest, "fatal")) lines.insert(line);
  }
  return lines;
}

// The inline assembly around the first of these lines that lies in one; "" when none does.
std::string BlockAround(absl::string_view assembly, const std::set<size_t>& lines) {
  size_t number = 0;
  bool inside = false, hit = false;
  std::vector<absl::string_view> block;
  for (absl::string_view line : absl::StrSplit(assembly, '\n')) {
    ++number;
    const absl::string_view words = absl::StripAsciiWhitespace(line);
    if (words == kBegin) {
      inside = true;
      block.clear();
    } else if (inside && words == kEnd) {
      if (hit) break;
      inside = false;
    } else if (inside) {
      block.push_back(line);
      hit |= lines.count(number) > 0;
    }
  }
  return hit ? absl::StrJoin(block, "\n") : "";
}

// What stands between the operands of a piece, as LLVM writes it.
std::vector<std::string> Literals(absl::string_view text) {
  std::vector<std::string> literals(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      literals.back().push_back(text[i]);
    } else if (absl::ascii_isdigit(text[i + 1])) {
      while (i + 1 < text.size() && absl::ascii_isdigit(text[i + 1])) ++i;
      literals.emplace_back();
    } else if (text[i + 1] == '{') {
      i = std::min(text.find('}', i), text.size());
      literals.emplace_back();
    } else {
      literals.back().push_back(text[++i]);  // $$ is $; $( $| $) are the signs of alternatives
    }
  }
  return literals;
}

bool Fits(const InlineAssembly& piece, absl::string_view block) {
  std::vector<std::string> literals = Literals(absl::StripAsciiWhitespace(piece.text));
  block = absl::StripAsciiWhitespace(block);
  if (!absl::ConsumePrefix(&block, literals.front())) return false;
  if (literals.size() == 1) return block.empty();
  if (!absl::ConsumeSuffix(&block, literals.back())) return false;
  for (size_t i = 1; i + 1 < literals.size(); ++i) {
    const size_t at = block.find(literals[i]);
    if (at == absl::string_view::npos) return false;
    block.remove_prefix(at + literals[i].size());
  }
  return true;
}

// Whether what follows the piece is read as something else than it is. A brace, a comment or a string goes on after
// it, or it writes marks as LLVM does.
bool LeavesOpen(absl::string_view text) {
  if (absl::StrContains(text, kBegin) || absl::StrContains(text, kEnd)) return true;
  int braces = 0, parentheses = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const absl::string_view rest = text.substr(i);
    size_t end = i;
    if (absl::StartsWith(rest, "//")) {
      end = std::min(text.find('\n', i), text.size() - 1);
    } else if (absl::StartsWith(rest, "/*")) {
      end = text.find("*/", i + 2);
      if (end == absl::string_view::npos) return true;
      ++end;
    } else if (text[i] == '"') {
      end = text.find('"', i + 1);
      if (end == absl::string_view::npos) return true;
    } else if (absl::StartsWith(rest, "${")) {
      end = std::min(text.find('}', i), text.size() - 1);
    }
    braces += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
    parentheses += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (braces < 0) return true;
    i = end;
  }
  const absl::string_view words = absl::StripTrailingAsciiWhitespace(text);
  const bool ends = words.empty() || words.back() == ';' || words.back() == '}' || absl::StrContains(words, "//") ||
                    absl::EndsWith(words, "*/") || words.back() == ':';
  return braces != 0 || parentheses != 0 || !ends;
}

// Whether the complaint quotes a word of the text: "Unresolved extern function 'nothing'".
bool Quotes(absl::string_view complaint, absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(complaint, '\'');
  for (size_t i = 1; i + 1 < parts.size(); i += 2)
    if (!parts[i].empty() && absl::StrContains(text, parts[i])) return true;
  return false;
}

}  // namespace

const InlineAssembly* FindCulprit(const std::vector<InlineAssembly>& pieces, absl::string_view assembly,
                                  absl::string_view complaint) {
  const auto find = [&pieces](const auto& is_it) {
    auto it = std::find_if(pieces.begin(), pieces.end(), is_it);
    return it == pieces.end() ? nullptr : &*it;
  };
  if (pieces.empty()) return nullptr;
  if (assembly.empty()) {
    const bool of_inline = absl::StrContains(complaint, "inline asm") || absl::StrContains(complaint, "constraint");
    return of_inline ? &pieces.front() : nullptr;
  }
  const std::set<size_t> lines = ErrorLines(complaint);
  const std::string block = BlockAround(assembly, lines);
  if (!block.empty()) {
    if (auto* piece = find([&](const InlineAssembly& p) { return Fits(p, block); })) return piece;
  }
  if (auto* piece = find([](const InlineAssembly& p) { return LeavesOpen(p.text); })) return piece;
  if (!lines.empty()) return nullptr;
  return find([&](const InlineAssembly& p) { return Quotes(complaint, p.text); });
}

}  // namespace tritond::compiler
